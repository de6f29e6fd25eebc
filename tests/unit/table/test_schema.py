"""Variables and schemas: unions, and what goes into a file."""

import json

import pytest

from bayeskit.errors import MergeError
from bayeskit.table.schema import Schema, Variable


def cat(*values, declared=False):
    return Variable("u", "categorical", values, declared=declared)


def test_values_become_their_sorted_union():
    assert cat("b", "d").union(cat("a", "c")).values == ("a", "b", "c", "d")
    assert cat(1, 3).union(cat(2.5, 4)).values == (1, 2.5, 3, 4)
    assert cat(1).union(cat(2.5)).values == cat(2.5).union(cat(1)).values


def test_declared_values_come_first_in_their_order():
    assert cat("z", "a", declared=True).union(cat("m", "b")).values == ("z", "a", "b", "m")
    assert cat("m", "b").union(cat("z", "a", declared=True)).values == ("z", "a", "b", "m")
    assert cat("m").union(cat("z", "a", declared=True)).declared


def test_an_unknown_column_takes_the_other_kind():
    unknown = Variable("u", "unknown")
    assert unknown.union(cat("a")) == cat("a")
    assert cat("a").union(unknown) == cat("a")
    assert unknown.union(unknown) == unknown


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (cat("a"), Variable("v", "categorical", ("a",)), "column 'u' on one side is column 'v'"),
        (cat("a"), Variable("u", "gaussian", numeric=True), "column 'u' is categorical on one side and gaussian"),
        (cat("a"), cat(1), "column 'u' holds text on one side and numbers"),
        (Variable("u", "binned", edges=(1.0,)), Variable("u", "binned", edges=(2.0,)), "column 'u' has bin edges"),
    ],
)
def test_what_is_not_one_column_is_refused_by_name(a, b, message):
    with pytest.raises(MergeError, match=message):
        a.union(b)


SCHEMA = Schema(
    (
        cat("深い", "", "a"),
        Variable("n", "categorical", (1, 2.5, True)),
        Variable("h", "binned", edges=(0.1, 1 / 3)),
        Variable("g", "gaussian", numeric=True),
        Variable("p", "poisson", numeric=True),
        Variable("b", "bernoulli", (0, 1), declared=True),
        Variable("x", "unknown"),
    )
)


def test_a_schema_comes_back_from_json_as_it_was():
    again = Schema.from_json(json.loads(json.dumps(SCHEMA.to_json())))
    assert again == SCHEMA
    assert [type(value) for value in again["n"].values] == [int, float, bool]


def test_columns_are_found_by_name_and_by_number():
    assert SCHEMA["h"] is SCHEMA[2]
    assert SCHEMA.discrete == (0, 1, 2, 5)
    assert SCHEMA.numeric == (3, 4)
    assert len(SCHEMA) == 7


@pytest.mark.parametrize("change", [{"kind": 5}, {"name": 5}, {"values": [[1]]}])
def test_a_column_that_is_none_is_refused_from_a_file(change):
    data = SCHEMA.to_json()
    data["variables"][0].update(change)
    with pytest.raises(ValueError, match=r"not a column|not text or numbers"):
        Schema.from_json(data)
