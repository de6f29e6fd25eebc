"""Mixed networks learn from rows with missing cells: the objective never falls, and rows count as they should."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from bayeskit import BayesianNetwork
from bayeskit.errors import NetworkError, TooLargeError
from bayeskit.network import ConditionalGaussian, LinearGaussian, NoisyOr

LINE = LinearGaussian


def body():
    tables = {
        "sex": [0.4, 0.6],
        "old": [[0.7, 0.3], [0.5, 0.5]],
        "height": ConditionalGaussian({"f": LINE(mean=166, sd=6), "m": LINE(mean=179, sd=7)}),
        "weight": ConditionalGaussian(
            {
                ("f", "no"): LINE(mean=-85, sd=7, height=0.9),
                ("f", "yes"): LINE(mean=-70, sd=9, height=0.85),
                ("m", "no"): LINE(mean=-90, sd=8, height=0.95),
                ("m", "yes"): LINE(mean=-80, sd=10, height=0.93),
            }
        ),
        "belt": LINE(mean=30, sd=4, weight=0.7, height=0.05),
    }
    return BayesianNetwork("sex{f|m}->old; sex->height->weight; sex->weight<-old; weight->belt<-height", tables=tables)


def holed(frame, share, seed=0):
    rng = np.random.default_rng(seed)
    out = frame.astype(object).mask(rng.random(frame.shape) < share)
    for name in frame.select_dtypes("number"):
        out[name] = out[name].astype(float)
    return out


def rows_of(n, share=0.25, seed=0):
    return holed(pd.DataFrame(body().sample(n, random_state=seed)), share, seed)


def test_the_density_of_the_known_cells_is_summed_over_the_others():
    """By brute force: a multivariate normal for each configuration of the discrete variables."""
    net, frame = body(), rows_of(60)
    got = net.log_probability(frame)
    real = ["height", "weight", "belt"]
    for i, row in enumerate(frame.to_dict("records")):
        known = {name: row[name] for name in real if row[name] == row[name]}
        at, total = [real.index(name) for name in known], 0.0
        for sex, old in product("fm", ["no", "yes"]):
            if row["sex"] not in (sex, None) and row["sex"] == row["sex"]:
                continue
            if row["old"] not in (old, None) and row["old"] == row["old"]:
                continue
            p = net.probability({"sex": sex, "old": old})
            mean, covariance = joint_normal(net, sex, old)
            density = multivariate_normal(mean[at], covariance[np.ix_(at, at)]).pdf(list(known.values())) if at else 1.0
            total += p * density
        assert got[i] == pytest.approx(np.log(total), rel=1e-11)


def joint_normal(net, sex, old):
    h, w, b = (net.cpds[net.index(name)] for name in ("height", "weight", "belt"))
    s, o = "fm".index(sex), ["no", "yes"].index(old)
    k = net.parents[net.index("weight")]
    order = [net.names[p] for p in k]
    g = {("sex", "old"): 2 * s + o, ("old", "sex"): 2 * o + s}[tuple(n for n in order if n in ("sex", "old"))]
    names = [net.names[p] for p in net.parents[net.index("belt")]]
    bh, bw = (b.slope[0, names.index(name)] for name in ("height", "weight"))
    loading = np.zeros((3, 3))
    loading[0, 0] = h.sd[s]
    loading[1] = w.slope[g, 0] * loading[0] + [0, w.sd[g], 0]
    loading[2] = bh * loading[0] + bw * loading[1] + [0, 0, b.sd[0]]
    mean = np.zeros(3)
    mean[0] = h.intercept[s]
    mean[1] = w.intercept[g] + w.slope[g, 0] * mean[0]
    mean[2] = b.intercept[0] + bh * mean[0] + bw * mean[1]
    return mean, loading @ loading.T


def test_a_row_has_the_evidence_of_the_single_case():
    net, frame = body(), rows_of(40, seed=1)
    for i, row in enumerate(frame.to_dict("records")):
        known = {name: value for name, value in row.items() if value is not None and value == value}
        assert net.log_probability(frame)[i] == pytest.approx(net.log_evidence(known), abs=1e-11)


@pytest.mark.parametrize("smoothing", [0, 1, 7.5])
def test_no_step_of_em_lowers_the_objective(smoothing):
    fitted = body().fitted(rows_of(300), smoothing=smoothing, missing="em", tol=1e-13, max_iter=500)
    steps = np.diff(fitted.history.objective)
    assert (steps >= -1e-9).all()
    assert steps[0] > 0.1


def test_without_a_prior_the_objective_is_the_likelihood():
    frame = rows_of(200)
    fitted = body().fitted(frame, smoothing=0, missing="em", tol=1e-9, max_iter=2000)
    assert fitted.history.objective[-1] == pytest.approx(fitted.log_likelihood(frame), rel=1e-12)


def test_no_change_of_one_number_gains_at_the_end_of_em():
    frame = rows_of(250)
    fitted = body().fitted(frame, smoothing=0, missing="em", tol=1e-12, max_iter=5000)
    best = fitted.log_likelihood(frame)
    for name, change in product(["height", "weight", "belt"], [1e-3, -1e-3]):
        cpd = fitted.cpds[fitted.index(name)]
        for part in ("intercept", "slope", "sd"):
            moved = {key: getattr(cpd, key).copy() for key in ("intercept", "slope", "sd")}
            if not moved[part].size:
                continue
            moved[part].flat[0] *= 1 + change
            other = type(cpd)(cpd.cards, moved["intercept"], moved["slope"], moved["sd"])
            cpds = [other if v == name else c for v, c in zip(fitted.names, fitted.cpds, strict=True)]
            changed = BayesianNetwork.from_tables(fitted.names, fitted.states, fitted.parents, cpds)
            assert changed.log_likelihood(frame) < best


@pytest.mark.parametrize("smoothing", [0, 2])
def test_em_of_complete_rows_is_the_plain_estimate(smoothing):
    frame = pd.DataFrame(body().sample(200, random_state=3))
    plain = body().fitted(frame, smoothing=smoothing)
    assert body().fitted(frame, smoothing=smoothing, missing="em").equals(plain, tol=1e-9)


def test_a_weight_of_two_is_a_row_twice():
    frame = rows_of(80)
    weight = np.where(np.arange(80) % 3 == 0, 2.0, 1.0)
    twice = frame.iloc[np.repeat(np.arange(80), weight.astype(int))].reset_index(drop=True)
    one = body().fitted(frame, weight, missing="em", tol=1e-11, max_iter=5000)
    two = body().fitted(twice, missing="em", tol=1e-11, max_iter=5000)
    assert one.equals(two, tol=1e-3)


def test_offsets_and_units_change_nothing():
    frame = rows_of(150)
    moved = frame.assign(height=frame["height"] * 1e-6 + 1e9)
    plain, other = (body().fitted(rows, missing="em", tol=1e-9, max_iter=5000) for rows in (frame, moved))
    # Of deviations of 1e-5 at 1e9 about two digits are left in the column.
    place = plain.index("height")
    assert_allclose(other.cpds[place].sd, plain.cpds[place].sd * 1e-6, rtol=1e-2)


def test_what_em_cannot_do_is_refused():
    with pytest.raises(NetworkError, match="must be 'available-case' or 'em'"):
        body().fitted(rows_of(20), missing="gradient")
    lines = ConditionalGaussian({"no": LINE(), "yes": LINE(mean=1)})
    noisy = BayesianNetwork("a->b; a->x", tables={"a": [0.5, 0.5], "b": NoisyOr(a=0.5), "x": lines})
    frame = pd.DataFrame(noisy.sample(30))
    with pytest.raises(NetworkError, match="noisy-OR or its like"):
        noisy.fitted(frame, missing="em")


def test_too_many_missing_states_in_a_row_are_refused_by_name():
    names = [f"d{i}" for i in range(20)]
    tables = {name: [[0.7, 0.3], [0.2, 0.8]] for name in names} | {"d0": [0.5, 0.5]}
    tables["x"] = ConditionalGaussian({"no": LINE(), "yes": LINE(mean=1)})
    chain = [(f"d{i}", f"d{i + 1}") for i in range(19)]
    net = BayesianNetwork([*chain, ("d19", "x")], tables=tables)
    row = {name: [None] for name in names} | {"x": [1.0]}
    with pytest.raises((TooLargeError, NetworkError), match="a row misses 20 discrete variables"):
        net.log_probability(row)
