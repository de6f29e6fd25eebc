"""Networks with real variables: answers equal joint-normal algebra and brute-force mixtures."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal, norm

import bayeskit
from bayeskit import BayesianNetwork
from bayeskit.errors import NetworkError, TooLargeError
from bayeskit.network import ConditionalGaussian, LinearGaussian, Marginal

TIGHT = 1e-10


def random_gaussian(n, seed):
    """A network of real variables, with its mean and covariance by linear algebra."""
    rng = np.random.default_rng(seed)
    names = [f"x{k}" for k in range(n)]
    structure, tables, b = {}, {}, np.zeros((n, n))
    mean, noise = rng.normal(size=n), rng.uniform(0.5, 2.0, n)
    for k, name in enumerate(names):
        parents = sorted(rng.choice(k, min(k, int(rng.integers(0, 4))), replace=False)) if k else []
        b[k, parents] = rng.normal(size=len(parents))
        structure[name] = [names[p] for p in parents]
        tables[name] = LinearGaussian({names[p]: b[k, p] for p in parents}, mean=mean[k], sd=noise[k])
    inverse = np.linalg.inv(np.eye(n) - b)
    return BayesianNetwork(structure, tables=tables), inverse @ mean, inverse @ np.diag(noise**2) @ inverse.T


@pytest.mark.parametrize("n", [3, 12, 40])
def test_posteriors_of_a_gaussian_network_are_those_of_its_joint_normal(n):
    net, mean, cov = random_gaussian(n, n)
    rng = np.random.default_rng(1)
    seen = sorted(rng.choice(n, n // 3, replace=False))
    values = rng.normal(size=len(seen))
    given = {f"x{k}": float(v) for k, v in zip(seen, values, strict=True)}
    gain = cov[:, seen] @ np.linalg.inv(cov[np.ix_(seen, seen)])
    after_mean, after_cov = mean + gain @ (values - mean[seen]), cov - gain @ cov[seen]
    answer = net.posterior(given=given)
    for k in set(range(n)) - set(seen):
        assert answer[f"x{k}"].mean == pytest.approx(after_mean[k], rel=1e-9, abs=TIGHT)
        assert answer[f"x{k}"].sd == pytest.approx(np.sqrt(after_cov[k, k]), rel=1e-9)
        assert net.posterior(f"x{k}", given=given).mean == pytest.approx(after_mean[k], rel=1e-9, abs=TIGHT)
    log = multivariate_normal(mean[seen], cov[np.ix_(seen, seen)]).logpdf(values) if seen else 0.0
    assert answer.log_evidence == pytest.approx(float(log), rel=1e-9)
    cases = net.sample(20, output="pandas")
    joint = multivariate_normal(mean, cov).logpdf(cases[[f"x{k}" for k in range(n)]].to_numpy())
    assert_allclose(net.log_probability(cases), joint, rtol=1e-9)


@pytest.mark.parametrize("sd", [1e7, 1e8, 1e12, 1e20, 1e150])
def test_two_readings_of_a_widely_spread_number_are_averaged_to_the_last_digit(sd):
    lines = {"x": LinearGaussian(sd=sd), "y": LinearGaussian(x=1), "z": LinearGaussian(x=1)}
    net = BayesianNetwork("x->y; x->z", tables=lines)
    answer = net.posterior("x", given={"y": 5, "z": 6})
    precision = 1.0 / sd / sd + 2.0
    assert answer.mean == pytest.approx(11.0 / precision, rel=1e-13)
    assert answer.sd == pytest.approx(precision**-0.5, rel=1e-13)
    # y, then z given y: N(5; 0, sd² + 1) N(6; 5 sd² / (sd² + 1), …), here with the limits of a large sd.
    log = norm(0.0, sd).logpdf(5.0) + norm(5.0, np.sqrt(2.0)).logpdf(6.0)
    assert answer.log_evidence == pytest.approx(float(log), rel=1e-11)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_very_small_and_very_large_deviations_scale_the_answer(scale):
    lines = {"x": LinearGaussian(sd=scale), "y": LinearGaussian(x=1, sd=scale), "z": LinearGaussian(x=1, sd=scale)}
    answer = BayesianNetwork("x->y; x->z", tables=lines).posterior("x", given={"y": 3 * scale, "z": 6 * scale})
    assert answer.mean == pytest.approx(3 * scale, rel=1e-13)
    assert answer.sd == pytest.approx(scale * 3**-0.5, rel=1e-13)


def test_a_quantile_is_asked_for_one_probability():
    answer = BayesianNetwork(["x"], tables={"x": LinearGaussian()}).posterior("x")
    with pytest.raises(NetworkError, match=r"one probability between 0 and 1; got \[0.1, 0.5\]"):
        answer.quantile([0.1, 0.5])


def test_real_evidence_beyond_every_density_is_refused():
    tables = {
        "c": [0.5, 0.5],
        "x": ConditionalGaussian({"no": LinearGaussian(), "yes": LinearGaussian(mean=1)}),
    }
    net = BayesianNetwork("c->x", tables=tables)
    with pytest.raises(NetworkError, match=r"real evidence \{'x': 1e\+160\}"):
        net.posterior("c", given={"x": 1e160})
    huge = BayesianNetwork("x->y", tables={"x": LinearGaussian(sd=1e300), "y": LinearGaussian(x=1e300)})
    with pytest.raises(NetworkError, match="beyond the largest number"):
        huge.posterior("y")


CLINIC = BayesianNetwork(
    "sex{f|m}->height; sex->weight<-height; age{young|mid|old}->weight; weight->pressure<-age; sex->smokes; "
    "height->shoe",
    tables={
        "sex": [0.5, 0.5],
        "age": [0.3, 0.4, 0.3],
        "smokes": [[0.8, 0.2], [0.6, 0.4]],
        "height": ConditionalGaussian({"f": LinearGaussian(mean=166, sd=6), "m": LinearGaussian(mean=179, sd=7)}),
        "weight": ConditionalGaussian(
            {
                (s, a): LinearGaussian(mean=-90 + 4 * i + 3 * j, sd=6 + i + j, height=0.9 + 0.03 * i)
                for (i, s), (j, a) in product(enumerate("fm"), enumerate(["young", "mid", "old"]))
            }
        ),
        "pressure": ConditionalGaussian(
            {a: LinearGaussian(mean=60 + 10 * j, sd=9, weight=0.6) for j, a in enumerate(["young", "mid", "old"])}
        ),
        "shoe": LinearGaussian(mean=-5, sd=1.2, height=0.27),
    },
)
REAL = ["height", "weight", "pressure", "shoe"]


def brute_force(given):
    """Weights of the discrete states, and the normal of the real variables in each, by plain algebra."""
    parts = []
    for (i, s), (j, a), (k, c) in product(
        enumerate("fm"), enumerate(["young", "mid", "old"]), enumerate(["no", "yes"])
    ):
        states = {"sex": s, "age": a, "smokes": c}
        if any(given.get(name, state) != state for name, state in states.items()):
            continue
        weight = 0.5 * [0.3, 0.4, 0.3][j] * [[0.8, 0.2], [0.6, 0.4]][i][k]
        b = np.zeros((4, 4))
        b[1, 0], b[2, 1], b[3, 0] = 0.9 + 0.03 * i, 0.6, 0.27
        base = np.array([[166, 179][i], -90 + 4 * i + 3 * j, 60 + 10 * j, -5.0])
        noise = np.array([[6, 7][i], 6 + i + j, 9, 1.2])
        inverse = np.linalg.inv(np.eye(4) - b)
        mean, cov = inverse @ base, inverse @ np.diag(noise**2) @ inverse.T
        seen = [r for r, name in enumerate(REAL) if name in given]
        values = np.array([given[REAL[r]] for r in seen])
        if seen:
            weight *= multivariate_normal(mean[seen], cov[np.ix_(seen, seen)]).pdf(values)
            gain = cov[:, seen] @ np.linalg.inv(cov[np.ix_(seen, seen)])
            mean, cov = mean + gain @ (values - mean[seen]), cov - gain @ cov[seen]
        parts.append((states, weight, mean, np.sqrt(np.maximum(np.diag(cov), 0))))
    return parts


EVIDENCE = [
    {},
    {"height": 175.0},
    {"weight": 95.0, "sex": "f"},
    {"pressure": 150.0, "shoe": 41.0},
    {"age": "old", "smokes": "yes", "weight": 60.0},
    {"height": 170.0, "weight": 70.0, "pressure": 110.0},
]


@pytest.mark.parametrize("given", EVIDENCE)
def test_mixed_posteriors_are_the_brute_force_mixture(given):
    parts = brute_force(given)
    total = sum(weight for _, weight, _, _ in parts)
    answer = CLINIC.posterior(given=given)
    for name, states in (("sex", "fm"), ("age", ["young", "mid", "old"]), ("smokes", ["no", "yes"])):
        for state in states:
            expected = sum(weight for each, weight, _, _ in parts if each[name] == state) / total
            assert answer[name][state] == pytest.approx(expected, rel=TIGHT)
    for r, name in enumerate(REAL):
        if name in given:
            assert (answer[name].mean, answer[name].sd) == (given[name], 0.0)
            continue
        mean = sum(weight * m[r] for _, weight, m, _ in parts) / total
        square = sum(weight * (sd[r] ** 2 + (m[r] - mean) ** 2) for _, weight, m, sd in parts) / total
        for p in (answer[name], CLINIC.posterior(name, given=given)):
            assert p.mean == pytest.approx(mean, rel=TIGHT)
            assert p.sd == pytest.approx(np.sqrt(square), rel=1e-8)
            at = mean + 0.7 * np.sqrt(square)
            density = sum(weight * norm(m[r], sd[r]).pdf(at) for _, weight, m, sd in parts) / total
            below = sum(weight * norm(m[r], sd[r]).cdf(at) for _, weight, m, sd in parts) / total
            assert p.density(at) == pytest.approx(density, rel=1e-8)
            assert p.cdf(at) == pytest.approx(below, rel=1e-8)
            assert p.quantile(below) == pytest.approx(at, rel=1e-8)
    assert answer.log_evidence == pytest.approx(np.log(total), rel=TIGHT, abs=1e-12)
    assert CLINIC.log_evidence(given) == pytest.approx(np.log(total), rel=TIGHT, abs=1e-12)


def test_sets_likelihoods_and_soft_evidence_on_discrete_variables_hold_too():
    either = CLINIC.posterior("sex", given={"age": {"young", "old"}, "weight": 80.0})
    parts = [part for part in brute_force({"weight": 80.0}) if part[0]["age"] != "mid"]
    women = sum(w for s, w, _, _ in parts if s["sex"] == "f") / sum(w for _, w, _, _ in parts)
    assert either["f"] == pytest.approx(women, rel=TIGHT)
    soft = CLINIC.posterior("sex", given={"sex": Marginal({"f": 0.9, "m": 0.1}), "height": 175.0})
    assert soft["f"] == pytest.approx(0.9, rel=1e-8)
    assert CLINIC.probability({"sex": "f", "age": "mid"}, given={"height": 175.0}) == pytest.approx(
        0.4 * CLINIC.posterior("sex", given={"height": 175.0})["f"], rel=TIGHT
    )


def test_an_intervention_cuts_the_arcs_into_a_real_variable():
    done = CLINIC.do(height=190.0)
    assert done.posterior("sex")["f"] == pytest.approx(0.5)
    assert done.posterior("shoe").mean == pytest.approx(-5 + 0.27 * 190)
    assert done.posterior("sex", given={"shoe": 40.0})["f"] == pytest.approx(0.5)
    assert CLINIC.posterior("sex", given={"height": 190.0})["f"] < 0.2
    assert CLINIC.do(sex="f").posterior("height").mean == pytest.approx(166)
    assert set(done.sample(5)["height"]) == {190.0}
    with pytest.raises(NetworkError, match="set by an intervention"):
        done.posterior("sex", given={"height": 180.0})


def test_samples_have_the_moments_of_the_posteriors():
    cases = CLINIC.sample(60_000, output="pandas")
    for name in REAL:
        p = CLINIC.posterior(name)
        assert cases[name].mean() == pytest.approx(p.mean, abs=5 * p.sd / 245)
        assert cases[name].std() == pytest.approx(p.sd, rel=0.02)
    assert_allclose(CLINIC.sample(10)["weight"], CLINIC.sample(50)["weight"][:10])
    assert (cases["sex"] == "f").mean() == pytest.approx(0.5, abs=0.01)


def test_regressions_are_those_of_least_squares():
    cases = CLINIC.sample(3000, output="pandas")
    fitted = CLINIC.fitted(cases, smoothing=0)
    cpd = fitted["weight"].distribution
    for i, (s, a) in enumerate(product("fm", ["young", "mid", "old"])):
        rows = cases[(cases["sex"] == s) & (cases["age"] == a)]
        x = np.column_stack([np.ones(len(rows)), rows["height"]])
        b, *_ = np.linalg.lstsq(x, rows["weight"], rcond=None)
        place = cpd.configuration(np.array([[{"f": 0, "m": 1}[s], ["young", "mid", "old"].index(a)]]))[0]
        assert_allclose([cpd.intercept[place], cpd.slope[place, 0]], b, rtol=1e-7)
        assert cpd.sd[place] == pytest.approx(np.sqrt(((rows["weight"] - x @ b) ** 2).mean()), rel=1e-9), i
    assert fitted["sex"].array[0] == pytest.approx((cases["sex"] == "f").mean())
    assert fitted.log_likelihood(cases) > CLINIC.log_likelihood(cases)


def test_smoothing_leaves_the_slopes_of_groups_far_apart_their_own():
    rng = np.random.default_rng(0)
    c = rng.integers(0, 2, 400)
    x = np.where(c == 1, 100.0, 0.0) + rng.normal(size=400)
    y = np.where(c == 1, -2.0, 2.0) * x + 0.1 * rng.normal(size=400)
    two = {"no": LinearGaussian(), "yes": LinearGaussian()}
    net = BayesianNetwork(
        {"c": [], "x": ["c"], "y": ["c", "x"]},
        tables={"c": [0.5, 0.5], "x": ConditionalGaussian(two), "y": ConditionalGaussian(two)},
    )
    cases = {"c": np.where(c == 1, "yes", "no"), "x": x, "y": y}
    cpd = net.fitted(cases)["y"].distribution
    assert_allclose(cpd.slope[:, 0], [2.0, -2.0], atol=0.05)
    # One row more in each group, around its own mean, that varies as rows within the groups do on average.
    within = [np.cov(x[c == g], y[c == g], bias=True) * (c == g).sum() for g in (0, 1)]
    for g in (0, 1):
        m = within[g] + (within[0] + within[1]) / 400
        slope = m[0, 1] / m[0, 0]
        assert cpd.slope[g, 0] == pytest.approx(slope, rel=1e-9)
        assert cpd.intercept[g] == pytest.approx(y[c == g].mean() - slope * x[c == g].mean(), rel=1e-7)
        assert cpd.sd[g] == pytest.approx(np.sqrt((m[1, 1] - slope * m[0, 1]) / ((c == g).sum() + 1)), rel=1e-7)
    here = {name: column[c == 0] for name, column in cases.items()}
    empty = net.fitted(here)["y"].distribution
    assert_allclose([empty.slope[1, 0], empty.intercept[1]], np.polyfit(here["x"], here["y"], 1), rtol=1e-8)


def test_weights_are_repetitions_and_rows_with_holes_are_left_out():
    cases = CLINIC.sample(200, output="pandas")
    import pandas as pd

    twice = pd.concat([cases, cases[:40]], ignore_index=True)
    weight = np.r_[np.full(40, 2.0), np.ones(160)]
    assert CLINIC.fitted(cases, weight).equals(CLINIC.fitted(twice), tol=1e-8)
    holes = cases.copy()
    holes.loc[:30, "pressure"] = np.nan
    ours, theirs = CLINIC.fitted(holes)["pressure"].distribution, CLINIC.fitted(cases[31:])["pressure"].distribution
    assert_allclose(ours.intercept, theirs.intercept, rtol=1e-9)


def test_an_offset_of_a_billion_costs_no_digits():
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    net = BayesianNetwork("x->y", tables={"x": LinearGaussian(), "y": LinearGaussian(x=1.0)})
    near = net.fitted({"x": x, "y": 2 * x + rng.normal(size=500)}, smoothing=0)
    y = 2 * x + np.random.default_rng(1).normal(size=500)
    plain = net.fitted({"x": x, "y": y}, smoothing=0)["y"].distribution
    far = net.fitted({"x": x + 1e9, "y": y + 1e9}, smoothing=0)["y"].distribution
    assert_allclose(far.slope, plain.slope, rtol=1e-5)
    assert_allclose(far.sd, plain.sd, rtol=1e-6)
    assert near.n_parameters == 5


def test_a_mixed_network_comes_back_from_a_file(tmp_path):
    CLINIC.save(tmp_path / "clinic.bayes")
    again = bayeskit.load(tmp_path / "clinic.bayes")
    assert again == CLINIC
    assert again.posterior("weight", given={"shoe": 40.0}).mean == CLINIC.posterior("weight", given={"shoe": 40.0}).mean
    assert again.rename({"weight": "kg"}).posterior("kg").mean == CLINIC.posterior("weight").mean


def test_the_graph_is_asked_as_usual():
    assert CLINIC.d_separated("shoe", "weight", given="height")
    assert not CLINIC.d_separated("shoe", "weight")
    assert CLINIC.markov_blanket("shoe") == ("height",)
    assert "real" in str(CLINIC) or len(CLINIC) == 7


LINE, HALF = LinearGaussian(), [0.5, 0.5]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: BayesianNetwork("x->d", tables={"x": LINE, "d": [HALF]}), "'d' is discrete and has the real"),
        (lambda: BayesianNetwork("d->x", tables={"d": HALF, "x": LINE}), "give a ConditionalGaussian"),
        (
            lambda: BayesianNetwork("d->x", tables={"d": HALF, "x": ConditionalGaussian({"no": LINE})}),
            "has nothing for d=yes",
        ),
        (lambda: BayesianNetwork("x->y", tables={"x": LINE, "y": LINE}), "nothing for the parent 'x'"),
        (
            lambda: BayesianNetwork("x->y; d", states={"d": []}, tables={"x": LINE, "y": LINE, "d": []}),
            "'d' has no states",
        ),
        (lambda: ConditionalGaussian({"no": 3}), "maps states to LinearGaussian; got 3"),
        (lambda: LinearGaussian(sd=0), "sd must be above 0"),
        (lambda: LinearGaussian(mean=float("nan")), "mean must be a number"),
    ],
)
def test_what_is_no_mixed_network_is_refused(build, message):
    with pytest.raises(NetworkError, match=message):
        build()


def test_what_is_for_tables_only_says_so():
    for ask in (CLINIC.tree_size, CLINIC.arc_influence, CLINIC.conflict):
        with pytest.raises(NetworkError, match="is for networks of discrete variables; 'height' is real"):
            ask()
    with pytest.raises(NetworkError, match="'height' is real, so evidence on it is a number; got 'tall'"):
        CLINIC.posterior("sex", given={"height": "tall"})
    with pytest.raises(TooLargeError, match="normal over"):
        CLINIC.posterior("pressure", max_memory=100)


def test_a_mixed_network_is_drawn_with_the_bars_of_its_discrete_variables():
    drawing = CLINIC.draw(given={"height": 170.0})
    assert "smokes" in str(drawing.svg)
