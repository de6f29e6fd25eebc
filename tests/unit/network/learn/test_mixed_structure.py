"""Structures with real variables: scores by other formulas, and bnlearn's test sets."""

from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_t, norm
from scipy.stats import t as student

from bayeskit import BayesianNetwork, independence_test, learn_structure
from bayeskit.errors import BayeskitError, NetworkError, TableError
from bayeskit.network import PC, BGe, Tabu
from bayeskit.network.learn.gaussian_families import GaussianFamilies
from bayeskit.network.learn.mixed_rows import read_mixed_rows
from bayeskit.network.learn.structure_score import as_score
from networks import SHARED

SAMPLES = SHARED.parent / "samples"


def sample(name):
    path = SAMPLES / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"the table {name} lies in ../shared/data/samples, which is not here")
    return pd.read_csv(path)


def small(n=40, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.choice(["x", "y"], n)
    b = rng.choice(["u", "v", "w"], n)
    x = rng.normal(size=n) + (a == "x")
    y = 2 * x - (b == "v") + rng.normal(size=n)
    return pd.DataFrame({"a": a, "b": b, "x": x, "y": y, "z": y - x + rng.normal(size=n)})


def families(frame, score):
    return GaussianFamilies(read_mixed_rows(frame, None, None), as_score(score))


@pytest.mark.parametrize("parents", [[], ["x"], ["a"], ["a", "b"], ["a", "x"], ["a", "b", "x", "z"]])
def test_bic_of_a_real_family_is_that_of_least_squares(parents):
    frame = small(90)
    names = list(frame)
    discrete = [p for p in parents if p in "ab"]
    real = [p for p in parents if p not in "ab"]
    fit = 0.0
    for _, rows in frame.groupby(discrete) if discrete else [(None, frame)]:
        design = np.column_stack([np.ones(len(rows)), rows[real]])
        b, *_ = np.linalg.lstsq(design, rows["y"], rcond=None)
        rest = rows["y"] - design @ b
        fit += norm(0, np.sqrt((rest**2).mean())).logpdf(rest).sum()
    configurations = np.prod([frame[p].nunique() for p in discrete])
    expected = fit - 0.5 * np.log(len(frame)) * configurations * (len(real) + 2)
    got = families(frame, "bic").local(names.index("y"), [names.index(p) for p in parents])
    assert got == pytest.approx(expected, rel=1e-11)


def test_bge_is_the_product_of_predictive_densities():
    """Row by row the predictive density is a multivariate t (Geiger & Heckerman 2002); the prior mean is the mean."""
    frame = small(25)[["x", "y", "z"]]
    values = frame.to_numpy()
    n, a_mu, a_w = 3, 1.0, 5.0
    mean, t = values.mean(axis=0), np.eye(3) * a_mu * (a_w - n - 1) / (a_mu + 1)
    total, count, centre, scatter = 0.0, a_mu, mean.copy(), t.copy()
    df = a_w
    for row in values:
        shape = scatter * (count + 1) / (count * (df - n + 1))
        total += multivariate_t(centre, shape, df - n + 1).logpdf(row)
        away = row - centre
        scatter = scatter + np.outer(away, away) * count / (count + 1)
        centre = centre + away / (count + 1)
        count, df = count + 1, df + 1
    assert families(frame, "bge").total([[], [0], [0, 1]]) == pytest.approx(total, rel=1e-12)


def test_equivalent_gaussian_networks_score_alike():
    frame = small()[["x", "y", "z"]]
    for score in ("bic", "bge", "aic"):
        scores = families(frame, score)
        totals = [
            scores.total([list(order[:k]) for k, _ in sorted(enumerate(order), key=lambda each: each[1])])
            for order in permutations(range(3))
        ]
        assert_allclose(totals, totals[0], rtol=1e-12)


def test_exact_search_finds_the_best_of_all_legal_networks():
    frame = small()[["a", "x", "y", "z"]]
    scores = families(frame, "bic")
    best = -np.inf
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    for choice in product([None, 0, 1], repeat=len(pairs)):
        parents = [[] for _ in range(4)]
        for (i, j), way in zip(pairs, choice, strict=True):
            if way is not None:
                parents[(j, i)[way]].append((i, j)[way])
        if not parents[0] and not cyclic(parents):
            best = max(best, scores.total(parents))
    learned = learn_structure(frame, numeric="gaussian")
    assert learned.score == pytest.approx(best, rel=1e-12)
    assert not learned.network.parents[0]


def cyclic(parents):
    from bayeskit.network import dag

    return len(dag.topological_order(parents)) < len(parents)


# The arcs that made the table; the formulas of both scores have witnesses of their own above.
@pytest.mark.parametrize("score", ["bic", "bge"])
def test_gaussian_test_of_bnlearn_has_its_arcs(score):
    learned = learn_structure(sample("gaussian-test"), numeric="gaussian", score=score, smoothing=0)
    assert set(learned.cpdag.arcs) == {("A", "C"), ("B", "C"), ("A", "F"), ("D", "F"), ("E", "F"), ("G", "F")}
    assert learned.cpdag.edges == (("B", "D"),)


def test_gaussian_test_of_bnlearn_has_the_coefficients_that_made_it():
    """C = 2 + 2 A + 2 B + N(0, .5²), F = 2 A + D + E + 1.5 G + N(0, 1)."""
    net = learn_structure(sample("gaussian-test"), numeric="gaussian", smoothing=0).network
    c, f = (net.cpds[net.index(name)] for name in "CF")
    assert_allclose([c.intercept[0], *c.slope[0], c.sd[0]], [2, 2, 2, 0.5], atol=0.02)
    assert [net.names[p] for p in net.parents[net.index("F")]] == ["A", "D", "E", "G"]
    assert_allclose([f.intercept[0], *f.slope[0], f.sd[0]], [0, 2, 1, 1, 1.5, 1], atol=0.02)


@pytest.mark.parametrize("method", ["best", "tabu"])
def test_clgaussian_test_of_bnlearn_has_its_arcs(method):
    learned = learn_structure(sample("clgaussian-test"), method, numeric="gaussian")
    arcs = ["AD", "HD", "BF", "CF", "BE", "DE", "AG", "DG", "EG", "FG"]
    assert set(learned.network.arcs) == {tuple(arc) for arc in arcs}
    assert set(learned.cpdag.arcs) == {tuple(arc) for arc in arcs}


def test_no_search_makes_a_real_parent_of_a_discrete_variable():
    for method in ("best", "hill-climb", Tabu(length=20, restarts=3)):
        net = learn_structure(small(200), method, numeric="gaussian", score="loglik", max_parents=2).network
        assert not [arc for arc in net.arcs if arc[0] in net.real and arc[1] not in net.real]


def test_rows_with_missing_cells_are_left_out_of_the_search_and_counted_by_em():
    frame = small(200)
    frame.loc[:20, "x"] = np.nan
    frame.loc[10:30, "a"] = None
    with pytest.warns(UserWarning, match="31 of 200 rows have a missing cell"):
        learned = learn_structure(frame, numeric="gaussian")
    assert learned.network.history.method == "em"
    assert np.isfinite(learned.network.log_probability(frame)).all()


def test_numbers_that_are_names_stay_states():
    frame = small(100).assign(a=lambda f: (f["a"] == "x").astype(int))
    net = learn_structure(frame, numeric="gaussian", kinds={"a": "categorical"}).network
    assert "a" not in net.real


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score": "bdeu"}, "with real variables the score must be one of 'bic', 'aic', 'loglik', 'bge'"),
        ({"score": "bge"}, "'a' is discrete"),
        ({"method": "ges"}, "method 'ges' is for states"),
        ({"whitelist": [("x", "a")]}, "'x' is real and 'a' discrete"),
        ({"numeric": "normal"}, "numeric must be"),
    ],
)
def test_what_cannot_be_searched_is_refused_before(change, message):
    with pytest.raises(BayeskitError) as error:
        learn_structure(small(), **{"numeric": "gaussian", **change})
    assert message in str(error.value)


def test_a_constant_or_infinite_column_is_refused_by_name():
    with pytest.raises(TableError, match="'x' has one number"):
        learn_structure(small().assign(x=1.0), numeric="gaussian")
    with pytest.raises(TableError, match=r"'x'.*infinite"):
        learn_structure(small().assign(x=np.inf), numeric="gaussian")


def test_columns_that_say_each_other_without_error_are_not_joined():
    frame = small(100).assign(copy=lambda f: 3 * f["x"] + 1)
    net = learn_structure(frame, numeric="gaussian", method="hill-climb").network
    assert ("x", "copy") not in net.arcs
    assert ("copy", "x") not in net.arcs


def test_units_and_offsets_change_no_arc():
    frame = small(150)
    arcs = learn_structure(frame, numeric="gaussian").network.arcs
    moved = frame.assign(x=frame["x"] * 1e-9, y=frame["y"] * 1e6 + 1e9)
    assert learn_structure(moved, numeric="gaussian").network.arcs == arcs


def test_bge_refuses_counts_and_bad_options():
    with pytest.raises(NetworkError, match="BGe is for real variables"):
        learn_structure({"a": ["x", "y", "x"], "b": ["u", "u", "v"]}, score="bge", method="hill-climb")
    with pytest.raises(NetworkError, match="mean_weight"):
        BGe(mean_weight=0)
    with pytest.raises(NetworkError, match="degrees_of_freedom"):
        learn_structure(small()[["x", "y"]], numeric="gaussian", score=BGe(degrees_of_freedom=2))


def test_a_learned_gaussian_network_answers():
    learned = learn_structure(small(300)[["x", "y", "z"]], numeric="gaussian")
    assert isinstance(learned.network, BayesianNetwork)
    assert learned.network.posterior("y", given={"x": 1.0}).mean == pytest.approx(2, abs=0.5)


def test_partial_correlation_is_that_of_the_residuals():
    rng = np.random.default_rng(4)
    z = rng.normal(size=(300, 2))
    frame = pd.DataFrame({"x": z @ [1, 2] + rng.normal(size=300), "y": z @ [2, -1] + rng.normal(size=300)})
    frame["y"] += 0.15 * frame["x"]
    frame["u"], frame["v"] = z.T
    design = np.column_stack([np.ones(300), z])
    rest = [frame[c] - design @ np.linalg.lstsq(design, frame[c], rcond=None)[0] for c in "xy"]
    r = np.corrcoef(*rest)[0, 1]
    t = r * np.sqrt(296 / (1 - r * r))
    found = independence_test(frame, "x", "y", given=["u", "v"], numeric="gaussian")
    assert_allclose([found.effect_size, found.statistic, found.df], [r, t, 296], rtol=1e-9)
    assert_allclose(found.p_value, 2 * student.sf(abs(t), 296), rtol=1e-8)


def test_a_number_and_a_state_are_tested_by_the_ratio_of_regressions():
    frame = small(200)
    found = independence_test(frame, "y", "b", given=["x", "a"], numeric="gaussian")

    def fit(discrete):
        total = 0.0
        for _, rows in frame.groupby(discrete):
            design = np.column_stack([np.ones(len(rows)), rows["x"]])
            rest = rows["y"] - design @ np.linalg.lstsq(design, rows["y"], rcond=None)[0]
            total += norm(0, np.sqrt((rest**2).mean())).logpdf(rest).sum()
        return total

    assert_allclose(found.statistic, 2 * (fit(["a", "b"]) - fit(["a"])), rtol=1e-8)
    assert found.df == (6 - 2) * 3  # intercept, slope and variance of each further cell


def test_tests_with_states_hold_their_level():
    """Under independence 5 % of the p-values are below 0.05, within four standard errors."""
    rng, below = np.random.default_rng(0), 0
    for _ in range(400):
        a, b = rng.choice(["s", "t"], 300), rng.choice(["u", "v", "w"], 300)
        x = rng.normal(size=300) + (a == "s")
        frame = pd.DataFrame({"a": a, "b": b, "x": x})
        below += independence_test(frame, "x", "b", given=["a"], numeric="gaussian").p_value < 0.05
    assert abs(below / 400 - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 400)


def test_pc_finds_bnlearns_gaussian_network():
    learned = learn_structure(sample("gaussian-test"), "pc", numeric="gaussian")
    true = {("A", "C"), ("B", "C"), ("A", "F"), ("D", "F"), ("E", "F"), ("G", "F")}  # B - D has no direction
    assert set(learned.cpdag.arcs) == true
    assert {frozenset(edge) for edge in learned.cpdag.edges} == {frozenset("BD")}
    assert learned.history.method == "pc"


def test_pc_keeps_arcs_legal_between_states_and_numbers():
    learned = learn_structure(sample("clgaussian-test"), "pc", numeric="gaussian")
    net = learned.network
    assert {frozenset(arc) for arc in net.arcs} >= {frozenset(p) for p in ("AD", "HD", "BE", "DE", "BF", "CF")}
    assert not any(parent in net.real and child not in net.real for parent, child in net.arcs)
    with pytest.raises(NetworkError, match="test 'chi2' is for states"):
        learn_structure(sample("clgaussian-test"), PC(test="chi2"), numeric="gaussian")
