"""A comparison reads and encodes the table once, and counts once for all classifiers that share a statistic."""

import sys
from collections import Counter

import numpy as np
import pytest

from bayeskit import compare
from bayeskit.workflow.candidates import candidates

# The kernels that make codes: of objects, of codes with other levels, of numbers.
ENCODERS = ("encode_objects", "encode_fixed", "encode_arrow", "recode", "digitise")
COUNTERS = ("count_values", "count_subsets", "count_families", "count_moments", "count_bytes")
FOLDS = 5


@pytest.fixture
def calls(monkeypatch):
    """How often each kernel is called, from any module."""
    list(candidates())  # imports every model
    found = Counter()

    def counted(name, kernel):
        def call(*arguments, **options):
            found[name] += 1
            return kernel(*arguments, **options)

        return call

    for module in [module for name, module in sys.modules.items() if name.startswith("bayeskit")]:
        for name in (*ENCODERS, *COUNTERS):
            if hasattr(module, name) and not module.__name__.startswith("bayeskit._kernels"):
                monkeypatch.setattr(module, name, counted(name, getattr(module, name)))
    return found


def table(n_rows=600, numbers=False):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    words = {f"c{j}": [f"v{(c + k) % 3}" for c, k in zip(y, rng.integers(0, 2, n_rows), strict=True)] for j in range(4)}
    amounts = {f"x{j}": y + rng.normal(size=n_rows) for j in range(2)} if numbers else {}
    return {**words, **amounts, "y": np.array(["no", "yes"])[y].tolist()}


def test_text_is_encoded_once_for_all_classifiers_and_folds(calls):
    board = compare(table(), target="y", folds=FOLDS)
    assert {trial.name for trial in board} == {*candidates(), "majority class"} - {"NaiveBayes-MDL"}
    # Each of the four columns and the target is read, and then gets the codes of its sorted levels.
    assert calls["encode_objects"] == calls["recode"] == 4 + 1
    assert sum(calls[name] for name in ENCODERS) == 2 * (4 + 1)


def test_bins_are_made_once_for_each_fold_and_shared(calls):
    # AutoBayes cuts finer bins of its own, without the label.
    compare(table(numbers=True), target="y", folds=FOLDS, models=[name for name in candidates() if name != "AutoBayes"])
    assert calls["digitise"] == FOLDS * 2
    assert calls["encode_objects"] == calls["recode"] == 4 + 1


def test_classifiers_that_learn_from_the_same_counts_share_them(calls):
    pairs = ["TAN", "KDB", "AODE"]
    compare(table(), target="y", folds=FOLDS, models=pairs)
    assert calls["count_subsets"] == FOLDS
    calls.clear()
    compare(table(numbers=True), target="y", folds=FOLDS, models=pairs)
    assert calls["count_subsets"] == FOLDS
    calls.clear()
    compare(table(), target="y", folds=FOLDS, models=[*pairs, "A2DE"])
    assert calls["count_subsets"] == FOLDS + FOLDS  # A2DE's pairs and triples are counted together


@pytest.mark.parametrize("numbers", [False, True])
def test_shared_counts_give_each_classifier_the_scores_that_it_has_alone(numbers):
    together = compare(table(numbers=numbers), target="y", folds=FOLDS)
    classifiers = [trial for trial in together if trial is not together.majority]
    assert len(classifiers) == len(together.trials) - 1 > 5
    for trial in classifiers:
        (alone,) = [
            found
            for found in compare(table(numbers=numbers), target="y", folds=FOLDS, models=[trial.name])
            if found.name == trial.name
        ]
        np.testing.assert_array_equal(trial.posterior, alone.posterior)


def test_an_array_of_numbers_is_compared_as_a_frame_is():
    numbers = table(numbers=True)
    columns = {name: column for name, column in numbers.items() if name.startswith("x")}
    frame = compare({**columns, "y": numbers["y"]}, target="y")
    array = compare(np.column_stack(list(columns.values())), numbers["y"])
    assert {trial.name for trial in array} == {trial.name for trial in frame}
    for trial in array:
        other = next(other for other in frame if other.name == trial.name)
        # An array is read row by row and a frame column by column, so sums may differ in the last bits.
        np.testing.assert_allclose(trial.posterior, other.posterior, rtol=1e-12)


def test_a_classifier_that_is_refused_does_not_stop_those_that_share_its_counts():
    from bayeskit import AODE, TAN
    from bayeskit.table.labels import read_labels
    from bayeskit.table.read import read_table
    from bayeskit.workflow.compare import cross_validate
    from bayeskit.workflow.held_rows import HeldRows

    rows = table()
    classes, y = read_labels(rows.pop("y"))
    board = cross_validate(HeldRows(read_table(rows), y, classes), {"TAN": TAN(root="c9"), "AODE": AODE()}).board
    assert board.best.name == "AODE"
    assert "c9" in next(trial.refused for trial in board if trial.name == "TAN")
