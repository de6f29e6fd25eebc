"""Model files of every release are read, and answer as they did."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import bayeskit
from public.model_files.write import answers

FOLDER = Path(__file__).with_name("model_files")
FILES = sorted(FOLDER.glob("*/*.bayes"))


def test_there_are_files_of_a_release():
    assert FILES


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_model_file_of_a_release_is_read_and_answers_as_it_did(path):
    stored = json.loads((path.parent / "expected.json").read_text(encoding="utf-8"))[path.stem]
    rows = stored["rows"]
    if rows is not None and not isinstance(rows, dict) and not isinstance(rows[0], str):
        rows = np.array(rows)
    # Processors round the last bits in their own ways; nothing else may differ.
    for now, then in zip(answers(bayeskit.load(path), rows), stored["answers"], strict=True):
        assert_allclose(now, then, rtol=1e-9, atol=1e-12)
