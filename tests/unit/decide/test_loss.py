import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from bayeskit.decide.loss import Loss, read_loss, with_reject
from bayeskit.errors import BayeskitError

CLASSES = ("ill", "well")
MATRIX = [[50.0, 0.0, 2.0], [0.0, 1.0, 2.0]]
ACTIONS = ("home", "treat", "ask")
DICT = {truth: dict(zip(ACTIONS, costs, strict=True)) for truth, costs in zip(CLASSES, MATRIX, strict=True)}


@pytest.mark.parametrize(
    "loss",
    [
        DICT,
        {truth: DICT[truth] for truth in reversed(CLASSES)},
        pd.DataFrame(MATRIX, index=CLASSES, columns=ACTIONS),
        pd.DataFrame(MATRIX, index=CLASSES, columns=ACTIONS).iloc[::-1],
        pd.DataFrame(MATRIX, index=CLASSES, columns=ACTIONS).reset_index(names="truth"),
        pl.DataFrame({"truth": CLASSES, **dict(zip(ACTIONS, np.array(MATRIX).T, strict=True))}),
        pa.table({"truth": CLASSES, **dict(zip(ACTIONS, np.array(MATRIX).T, strict=True))}),
    ],
    ids=["dict", "dict in another order", "pandas", "pandas in another order", "pandas column", "polars", "arrow"],
)
def test_every_form_gives_the_same_loss(loss):
    read = read_loss(loss, CLASSES)
    assert (read.classes, read.actions) == (CLASSES, ACTIONS)
    assert_array_equal(read.matrix, MATRIX)


def test_without_a_loss_every_error_costs_one():
    assert_array_equal(read_loss(None, "abc").matrix, 1 - np.eye(3))


def test_a_square_matrix_has_the_classes_as_actions_and_any_other_numbers_its_columns():
    assert read_loss([[0, 1], [1, 0]], CLASSES).actions == CLASSES
    assert read_loss(MATRIX, CLASSES).actions == (0, 1, 2)


def test_actions_that_are_the_classes_stand_in_the_order_of_the_classes():
    loss = {"ill": {"well": 9, "ill": 0}, "well": {"well": 0, "ill": 1}}
    read = read_loss(loss, CLASSES)
    assert read.actions == CLASSES
    assert_array_equal(read.matrix, [[0, 9], [1, 0]])


def test_text_columns_of_a_frame_find_classes_that_are_numbers():
    read = read_loss(pl.DataFrame({"truth": ["0", "1"], "1": [5, 0], "0": [0, 1]}), np.array([0, 1]))
    assert read.actions == (0, 1)
    assert_array_equal(read.matrix, [[0, 5], [1, 0]])


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        ({"ill": {"a": 1}}, "lacks 'well'; the classes are 'ill', 'well'"),
        ({**DICT, "dead": {"a": 1}}, "every truth must give a cost for the same actions"),
        ({"sick": {"a": 1}, "well": {"a": 1}}, "names 'sick', which is not a class and lacks 'ill'"),
        ({"ill": {"a": 1}, "well": {"b": 1}}, "'well': every truth must give a cost for the same actions; 'a', 'b'"),
        ({"ill": {}, "well": {}}, "'ill': must be {action: cost}; got {}"),
        ({"ill": 3, "well": 4}, "'ill': must be {action: cost}; got 3"),
        ({"ill": {"a": "x"}, "well": {"a": 1}}, "truth 'ill', action 'a': must be a number; got 'x'"),
        ({"ill": {"a": float("nan")}, "well": {"a": 1}}, "truth 'ill', action 'a': must be a finite number; got nan"),
        ([[0, 1], [1, np.nan]], "truth 'well', action 'well': must be a finite number; got nan"),
        ([[0, 1], [np.inf, 0]], "truth 'well', action 'ill': must be a finite number; got inf"),
        (np.full((3, 2, 2), [[0, np.nan], [1, 0]]), "row 0, truth 'ill', action 'well'"),
        ([[0, 1]], r"one row per class, 2 for 'ill', 'well', and one column per action; got shape \(1, 2\)"),
        ([0, 1], r"got shape \(2,\)"),
        (np.zeros((2, 0)), r"got shape \(2, 0\)"),
        ("zero-one", "loss must be numbers, a frame or"),
        (pd.DataFrame({"a": [1, 2]}, index=["ill", "dead"]), "lacks"),
        (pd.DataFrame({"a": ["x", "y"]}, index=CLASSES), "must hold numbers"),
        (pl.DataFrame({"truth": ["ill", "ill"], "a": [1, 2]}), "lacks 'well'"),
        (pl.DataFrame(), "without columns"),
        (read_loss(None, "ab"), "the loss is for the classes 'a', 'b'; got 'ill', 'well'"),
    ],
)
def test_a_loss_that_does_not_fit_is_refused(loss, message):
    with pytest.raises(BayeskitError, match=message):
        read_loss(loss, CLASSES)


@pytest.mark.parametrize(
    "loss",
    [
        {"dead": {"a": 7, "b": 8}, "well": {"a": 3, "b": 4}, "ill": {"a": 1, "b": 2}},
        pd.DataFrame({"a": [7, 3, 1], "b": [8, 4, 2]}, index=["dead", "well", "ill"]),
        pd.DataFrame({"truth": ["dead", "well", "ill"], "a": [7, 3, 1], "b": [8, 4, 2]}),
        pl.DataFrame({"truth": ["dead", "well", "ill"], "a": [7, 3, 1], "b": [8, 4, 2]}),
        Loss(("dead", "well", "ill"), ("a", "b"), np.array([[7.0, 8], [3, 4], [1, 2]])),
    ],
)
def test_a_loss_may_name_truths_that_are_absent(loss):
    read = read_loss(loss, CLASSES)
    assert read.classes == CLASSES
    assert read.absent == ("dead",)
    assert_array_equal(read.matrix, [[1, 2], [3, 4]])
    priced = with_reject(read, 0.5).with_absent()
    assert priced.classes == (*CLASSES, "dead")
    assert_array_equal(priced.matrix, [[1, 2, 0.5], [3, 4, 0.5], [7, 8, 0.5]])


def test_a_frame_that_numbers_its_rows_has_the_truth_in_its_first_column():
    read = read_loss(pd.DataFrame({"truth": [2, 1, 0], "a": [5, 6, 7]}), [0, 1])
    assert read.actions == ("a",)
    assert_array_equal(read.matrix, [[7], [6]])


def test_reject_is_one_more_action_that_costs_the_same_for_every_truth():
    read = with_reject(read_loss(None, CLASSES), {"ask a human": 0.2})
    assert read.actions == (*CLASSES, "ask a human")
    assert_array_equal(read.matrix, [[0, 1, 0.2], [1, 0, 0.2]])
    assert with_reject(read, None) is read


@pytest.mark.parametrize(
    ("reject", "message"),
    [
        (np.nan, "must be a finite number; got nan"),
        ("cheap", "must be a finite number; got 'cheap'"),
        (True, "must be a finite number; got True"),
        ({"a": 1, "b": 2}, "with one name"),
        ({"ill": 0.1}, "has an action 'ill' already"),
    ],
)
def test_a_reject_that_does_not_fit_is_refused(reject, message):
    with pytest.raises(BayeskitError, match=message):
        with_reject(read_loss(None, CLASSES), reject)


def test_action_labels_have_the_dtype_of_the_classes_where_they_are_classes():
    assert read_loss(None, np.array([3, 5])).action_labels().dtype.kind == "i"
    assert read_loss(DICT, CLASSES).action_labels().dtype.kind == "U"
    mixed = with_reject(read_loss(None, np.array([3, 5])), 0.1).action_labels()
    assert mixed.dtype == object
    assert mixed.tolist() == [3, 5, "reject"]
