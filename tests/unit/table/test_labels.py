"""Labels and weights."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bayeskit.errors import TableError
from bayeskit.table.labels import read_labels, read_weight


def test_classes_rise_and_codes_point_to_them():
    classes, codes = read_labels(["b", "a", "b"])
    assert classes.tolist() == ["a", "b"]
    assert_array_equal(codes, [1, 0, 1])


@pytest.mark.parametrize("n_classes", [2, 254, 255, 300, 70_000])
def test_any_number_of_classes_has_codes(n_classes):
    values = np.arange(n_classes)[::-1]
    classes, codes = read_labels(values)
    assert_array_equal(classes[codes], values)
    texts = np.array([f"{value:06}" for value in values])
    classes, codes = read_labels(texts)
    assert_array_equal(classes[codes], texts)


def test_far_numbers_are_classes_too():
    classes, codes = read_labels(np.array([-(2**62), 2**62, -(2**62)]))
    assert classes.tolist() == [-(2**62), 2**62]
    assert_array_equal(codes, [0, 1, 0])


def test_a_column_of_labels_is_flattened_with_scikit_learns_warning():
    with pytest.warns(UserWarning, match="A column-vector y was passed when a 1d array was expected"):
        classes, _ = read_labels(np.array([[0], [1]]))
    assert classes.tolist() == [0, 1]


def test_weights_are_floats_and_one_number_speaks_for_all_rows():
    assert read_weight(None, 3) is None
    assert_array_equal(read_weight(2, 3), [2.0, 2.0, 2.0])
    assert read_weight(np.array([1, 2, 3])[::-1], 3).flags.c_contiguous


def test_weights_that_are_no_numbers_are_refused():
    with pytest.raises((TableError, ValueError)):
        read_weight(["a", "b"], 2)


@pytest.mark.parametrize("labels", [[10**30, 10**30 + 1], [2**63, 2**63 + 1, -1], np.array([2**70, 2**70 + 1], object)])
def test_whole_numbers_that_floats_cannot_tell_apart_are_refused_and_not_made_one_class(labels):
    with pytest.raises(TableError, match="which are one number among floats; turn its values into text"):
        read_labels(labels)
