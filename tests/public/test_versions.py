"""One version stands in all the files that say it, so that a release cannot forget one."""

import runpy
from pathlib import Path

import pytest

import bayeskit

RELEASE = Path(__file__).parents[2] / "packaging/release.py"


def test_every_file_says_the_version_of_the_library():
    assert runpy.run_path(str(RELEASE))["versions_agree"](bayeskit.__version__).startswith(bayeskit.__version__)


def test_another_version_is_refused_with_the_files_that_disagree():
    with pytest.raises(SystemExit, match=r"version 9\.9\.9 is asked for, and .*docs/start/cite\.md"):
        runpy.run_path(str(RELEASE))["versions_agree"]("9.9.9")
