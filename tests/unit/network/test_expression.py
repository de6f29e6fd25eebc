"""The small language of formulas: what it computes, and what it refuses with its place."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bayeskit import BayesianNetwork
from bayeskit.errors import NetworkError
from bayeskit.network import ConditionalGaussian, Equation, LinearGaussian, Table
from bayeskit.network.expression import Expression, ExpressionError
from bayeskit.network.expression_values import State

# Formula, Python's own reading of it.
SAME = [
    ("1 + 2 * 3", 1 + 2 * 3),
    ("10 - 3 - 2", 10 - 3 - 2),
    ("8 / 4 / 2", 8 / 4 / 2),
    ("2 ^ 3 ^ 2", 2**3**2),
    ("-2 ^ 2", -(2**2)),
    ("2 ** -1", 2**-1),
    ("(1 + 2) * -(3)", (1 + 2) * -(3)),
    ("7 % 4", 7 % 4),
    ("1 < 2 and not 3 <= 2", True),
    ("1 > 2 || 2 <> 2 or 1 == 1", True),
    ("not 1 > 2 and 1 > 2", False),
    ("If(1 > 2, 1 / 0, 5)", 5.0),
    ("1 < 2 ? 5 : 1 / 0", 5.0),
    ("0 ? 1 : 0 ? 2 : 3", 3.0),
    ("min(3, 1, 2) + max(1, 4) + abs(-2)", 7.0),
    ("sqrt(16) + exp(0) + ln(1) + log10(100)", 7.0),
    ("round(2.5) + floor(-0.5) + ceil(0.2) + sign(-3)", 3.0 - 1 + 1 - 1),
    ("xor(true, false, true)", False),
    ("and(1, or(0, 1), not(0))", True),
    ("1.5e-3 * 1E3", 1.5),
    ("choose(1, 10, 20, 30)", 20.0),
]


@pytest.mark.parametrize(("formula", "value"), SAME, ids=[f for f, _ in SAME])
def test_a_formula_has_the_value_that_python_gives(formula, value):
    assert Expression(formula).value({}) == value


BROKEN = [
    ("", 0, "found the end"),
    ("1 +", 3, "found the end"),
    ("(1", 2, "expected ')'"),
    ("1)", 1, "expected an operator or the end"),
    ("1 2", 2, "expected an operator or the end"),
    ("foo(1)", 0, "there is no function 'foo'"),
    ("__import__('os')", 0, "there is no function"),
    ("x.__class__", 0, "'x.__class__' is not known here"),
    ("y + 1", 0, "'y' is not known here; known: 'x'"),
    ("if(1, 2)", 0, "takes 3 arguments; got 2"),
    ("1 / 0", 2, "division by 0"),
    ("10 ^ 400", 3, "not a finite number"),
    ("sqrt(-1)", 0, "not a finite number"),
    ("(-8) ^ 0.5", 5, "no such power"),
    ("x = 'a' and 3", 8, "3 is neither true nor false"),
    ("a ? b", 5, "expected ':'"),
    ("1..2", 0, "cannot read"),
    ("(" * 5000, 60, "nested more than 60 deep"),
    ("-" * 5000 + "1", 59, "nested more than 60 deep"),
    ("not " * 5000 + "1", 236, "nested more than 60 deep"),
    ("2^" * 5000 + "2", 119, "nested more than 60 deep"),
    ("1" * 1_000_001, 0, "at most 1000000 are read"),
]


@pytest.mark.parametrize(("formula", "at", "message"), BROKEN, ids=range(len(BROKEN)))
def test_a_broken_formula_is_refused_with_its_place(formula, at, message):
    with pytest.raises(ExpressionError) as error:
        Expression(formula).value({"x": State("a")})
    assert message in str(error.value)
    assert error.value.at == at
    assert len(str(error.value)) < 400


def test_a_long_sum_is_not_deep():
    assert Expression("1" + " + 1" * 50_000).value({}) == 50_001


def test_a_table_of_a_formula_is_that_of_the_function():
    tables = {"x": [0.2, 0.3, 0.5], "y": [0.5, 0.5]}
    arcs = "x[3]->z<-y; x->s[4]<-y; y->c{red|blue}"
    rest = {"s": Table.of("x + y"), "c": Table.of("If(y == 'yes', red, 'blue')")}
    ours = BayesianNetwork(arcs, tables={**tables, **rest, "z": Table.of("x + y >= 2 and not (x == 2 and y)")})
    functions = {
        "z": Table.of(lambda x, y: int(x) + (y == "yes") >= 2 and not (x == "2" and y == "yes")),
        "s": Table.of(lambda x, y: int(x) + (y == "yes")),
        "c": Table.of(lambda y: "red" if y == "yes" else "blue"),
    }
    theirs = BayesianNetwork(arcs, tables={**tables, **functions})
    for one, two in zip(ours.tables, theirs.tables, strict=True):
        assert_array_equal(one, two)


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("x * 10", "'s' has no state '10'"),
        ("'green'", "'s' has no state 'green'"),
        ("x + q", "'q' is not known here"),
        ("distribution(0.5, 0.2, 0.2, 0.2)", "the row sums to 1.1"),
    ],
)
def test_a_formula_that_gives_no_state_is_refused(formula, message):
    with pytest.raises(NetworkError, match=r"has no state|not known|sums to") as error:
        BayesianNetwork("x[3]->s[4]", tables={"x": [0.2, 0.3, 0.5], "s": Table.of(formula)})
    assert message in str(error.value)


def test_an_equation_is_the_gaussian_that_it_says():
    rows = {"f": LinearGaussian(mean=-81.5, sd=5, h=0.9), "m": LinearGaussian(mean=-90, sd=math.hypot(3, 4), h=0.5)}
    first = {"s": [0.4, 0.6], "h": LinearGaussian(mean=170, sd=8)}
    written = BayesianNetwork("s{f|m}->w<-h", tables={**first, "w": ConditionalGaussian(rows)})
    formula = "If(s == 'f', 0.9 * h - 81.5 + Normal(0, 5), (h - 180) / 2 + Normal(0, 3) - Normal(0, 4))"
    equation = BayesianNetwork("s{f|m}->w<-h", tables={**first, "w": Equation(formula)})
    assert equation.equals(written, tol=1e-15)


@pytest.mark.parametrize(
    ("formula", "message"),
    [("2 * x", "has no noise"), ("x * x + Normal(0, 1)", "not linear"), ("max(x, 1) + Normal(0, 1)", "real variable")],
)
def test_an_equation_that_is_not_linear_gaussian_is_refused(formula, message):
    with pytest.raises(NetworkError, match=message):
        BayesianNetwork("x->y", tables={"x": LinearGaussian(), "y": Equation(formula)})


def test_states_count_as_their_numbers_or_as_yes_and_no():
    net = BayesianNetwork(
        "a{no|yes}->n{0|1|2}<-b{1.0|2.0}",
        tables={"a": [0.5, 0.5], "b": [0.5, 0.5], "n": Table.of("a * b")},
    )
    assert_array_equal(net.tables[net.index("n")].argmax(axis=-1), np.array([[0, 0], [1, 2]]))
