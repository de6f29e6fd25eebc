import numpy as np
import pytest

from bayeskit.errors import ModelFileError
from bayeskit.io.expect import expect_array, expect_field

ARRAYS = {"table": np.zeros((2, 3))}


def test_an_array_of_the_right_kind_and_shape_is_returned():
    assert expect_array(ARRAYS, "table", np.float64, (2, None)) is ARRAYS["table"]


@pytest.mark.parametrize(
    ("name", "dtype", "shape", "message"),
    [
        ("tables", np.float64, (2, 3), "array 'tables' is not there"),
        ("table", np.int64, (2, 3), r"int64 of shape \(2, 3\) is needed"),
        ("table", np.float64, (2, 4), r"float64 of shape \(2, 4\) is needed"),
        ("table", np.float64, (None,), r"float64 of shape \('any',\) is needed"),
    ],
)
def test_any_other_array_is_refused(name, dtype, shape, message):
    with pytest.raises(ModelFileError, match=message):
        expect_array(ARRAYS, name, dtype, shape)


def test_a_field_of_the_right_kind_is_returned():
    assert expect_field({"n": 3}, "n", int) == 3
    assert isinstance(expect_field({"n": 3}, "n", float), float)


@pytest.mark.parametrize(
    ("kind", "message"), [(bool, "is a int; a bool"), (str, "is a int; a str"), (list, "is a int; a list")]
)
def test_a_field_of_another_kind_is_refused(kind, message):
    with pytest.raises(ModelFileError, match=message):
        expect_field({"n": 3}, "n", kind)


def test_true_is_not_a_number():
    with pytest.raises(ModelFileError, match="is a bool; a float is needed"):
        expect_field({"n": True}, "n", float)


def test_a_field_that_is_not_there_is_refused():
    with pytest.raises(ModelFileError, match="field 'm' is not there"):
        expect_field({"n": 3}, "m", int)
