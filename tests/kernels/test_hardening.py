"""The compiled module is hardened: what its file says to the loader."""

import re
import shutil
import subprocess
import sys

import pytest

from bayeskit._kernels import _native

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("readelf") is None, reason="readelf reads modules of Linux"
)


def readelf(*options):
    return subprocess.run(["readelf", *options, _native.__file__], capture_output=True, text=True, check=True).stdout


def test_the_tables_of_the_loader_are_read_only_and_filled_at_once():
    assert "GNU_RELRO" in readelf("--program-headers", "--wide")
    assert re.search(r"BIND_NOW|Flags:.*\bNOW\b", readelf("--dynamic"))


def test_the_stack_cannot_be_executed():
    stack = re.search(r"GNU_STACK.*", readelf("--program-headers", "--wide"))[0]
    assert "RWE" not in stack


def test_writes_past_arrays_on_the_stack_are_noticed():
    assert "__stack_chk_fail" in readelf("--symbols", "--wide")
