"""`independence_test` equals scipy's tests, stratum by stratum."""

import numpy as np
import pytest
from scipy.stats import chi2, chi2_contingency

from bayeskit import independence_test
from bayeskit.errors import BayeskitError


def table(n=500, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 3, n)
    x = (z + rng.integers(0, 2, n)) % 3
    y = (z + (rng.random(n) < 0.3) * x) % 2
    return {"x": [f"x{v}" for v in x], "y": [f"y{v}" for v in y], "z": [f"z{v}" for v in z]}


def by_scipy(rows, given, kind):
    """The statistic and degrees of freedom, summed over the strata of z."""
    keys = list(zip(*(rows[name] for name in given), strict=True)) if given else [()] * len(rows["x"])
    statistic, df = 0.0, 0
    for key in set(keys):
        inside = [i for i, each in enumerate(keys) if each == key]
        xs, ys = sorted({rows["x"][i] for i in inside}), sorted({rows["y"][i] for i in inside})
        counts = np.zeros((len(xs), len(ys)))
        for i in inside:
            counts[xs.index(rows["x"][i]), ys.index(rows["y"][i])] += 1
        if min(counts.shape) > 1:
            result = chi2_contingency(counts, correction=False, lambda_=kind)
            statistic, df = statistic + result.statistic, df + result.dof
    return statistic, df, chi2.sf(statistic, df)


@pytest.mark.parametrize("given", [[], ["z"]])
@pytest.mark.parametrize(("test", "kind"), [("g2", "log-likelihood"), ("chi2", "pearson")])
@pytest.mark.parametrize("n", [40, 500])
def test_it_equals_scipys(given, test, kind, n):
    rows = table(n)
    result = independence_test(rows, "x", "y", given=given, test=test)
    assert (result.statistic, result.df, result.p_value) == pytest.approx(by_scipy(rows, given, kind), rel=1e-9)
    assert result.n_rows == n


def test_the_degrees_of_freedom_of_mi_are_those_of_all_values():
    rows = table()
    result = independence_test(rows, "x", "y", given=["z"], test="mi")
    assert result.df == 2 * 1 * 3
    assert result.statistic == independence_test(rows, "x", "y", given=["z"]).statistic


def test_the_effect_size_is_the_mutual_information_or_phi():
    rows = {"x": list("aabb") * 10, "y": list("ccdd") * 10}
    assert independence_test(rows, "x", "y").effect_size == pytest.approx(np.log(2))
    assert independence_test(rows, "x", "y", test="chi2").effect_size == pytest.approx(1.0)


def test_a_whole_weight_is_as_many_rows_and_missing_cells_are_left_out():
    rows = table(60)
    twice = {name: [*column, *column] for name, column in rows.items()}
    weighted = independence_test(rows, "x", "y", given="z", sample_weight=np.full(60, 2.0))
    assert weighted == independence_test(twice, "x", "y", given="z")
    holed = {name: [*column, None] if name == "y" else [*column, column[0]] for name, column in rows.items()}
    assert independence_test(holed, "x", "y", given="z") == independence_test(rows, "x", "y", given="z")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("x", "w"), "'w' is not a column"),
        (("x", "x"), "different columns"),
        (("x", "y", ["y"]), "different columns"),
        (("x", "y", [], "t"), "test must be one of"),
    ],
)
def test_what_cannot_be_tested_is_refused(arguments, message):
    x, y, given, test = (*arguments, *([], "g2")[len(arguments) - 2 :])
    with pytest.raises(BayeskitError, match=message):
        independence_test(table(20), x, y, given=given, test=test)


def test_no_complete_row_is_refused():
    with pytest.raises(BayeskitError, match="no row has a value in all of 'x', 'y'"):
        independence_test({"x": ["a", "b", None, None], "y": [None, None, "b", "c"]}, "x", "y")
