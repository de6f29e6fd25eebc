"""Questions to mixed networks: brute force over discrete states, SciPy's densities and integrals."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm

from bayeskit import BayesianNetwork
from bayeskit.errors import NetworkError
from bayeskit.network import ConditionalGaussian, LinearGaussian

LINE = LinearGaussian


def clinic():
    tables = {
        "sex": [0.45, 0.55],
        "ill": [[0.9, 0.1], [0.8, 0.2]],
        "height": ConditionalGaussian({"f": LINE(mean=166, sd=6), "m": LINE(mean=179, sd=7)}),
        "pulse": ConditionalGaussian({"no": LINE(mean=70, sd=8), "yes": LINE(mean=95, sd=12)}),
        "weight": ConditionalGaussian({"f": LINE(mean=-85, sd=7, height=0.9), "m": LINE(mean=-90, sd=8, height=0.95)}),
    }
    return BayesianNetwork("sex{f|m}->ill; sex->height->weight; sex->weight; ill->pulse", tables=tables)


NET = clinic()
REAL = ["height", "pulse", "weight"]


def joint_of(sex, ill):
    """P(sex, ill), and the mean and covariance of the real variables there."""
    p = NET.probability({"sex": sex, "ill": ill})
    b, sd = {"f": (0.9, 7), "m": (0.95, 8)}[sex]
    h = {"f": (166, 6), "m": (179, 7)}[sex]
    q = {"no": (70, 8), "yes": (95, 12)}[ill]
    mean = np.array([h[0], q[0], {"f": -85, "m": -90}[sex] + b * h[0]])
    covariance = np.array(
        [[h[1] ** 2, 0, b * h[1] ** 2], [0, q[1] ** 2, 0], [b * h[1] ** 2, 0, b**2 * h[1] ** 2 + sd**2]]
    )
    return p, mean, covariance


def conditioned(mean, covariance, given):
    seen = [REAL.index(name) for name in given]
    free = [k for k in range(3) if k not in seen]
    if not seen:
        return free, mean, covariance, 1.0
    x, s = np.array(list(given.values())), covariance[np.ix_(seen, seen)]
    gain = covariance[np.ix_(free, seen)] @ np.linalg.inv(s)
    density = multivariate_normal(mean[seen], s).pdf(x)
    left = covariance[np.ix_(free, free)] - gain @ covariance[np.ix_(seen, free)]
    return free, mean[free] + gain @ (x - mean[seen]), left, density


@pytest.mark.parametrize("given", [{}, {"pulse": 96.0}, {"weight": 80.0, "pulse": 85.0}, {"height": 175.0}])
def test_most_probable_is_the_highest_peak_of_all_configurations(given):
    best = None
    for sex, ill in product("fm", ["no", "yes"]):
        p, mean, covariance = joint_of(sex, ill)
        free, m, c, density = conditioned(mean, covariance, given)
        peak = p * density * multivariate_normal(m, c).pdf(m)
        if best is None or peak > best[0]:
            best = peak, {"sex": sex, "ill": ill, **{REAL[k]: m[i] for i, k in enumerate(free)}}
    answer = NET.most_probable(given=given)
    assert answer.log_joint == pytest.approx(np.log(best[0]), rel=1e-12)
    assert (answer["sex"], answer["ill"]) == (best[1]["sex"], best[1]["ill"])
    for name, value in best[1].items():
        if not isinstance(value, str):
            assert answer[name] == pytest.approx(value, rel=1e-12)
    assert "log density" in repr(answer)


def test_most_probable_keeps_evidence_on_states():
    answer = NET.most_probable(given={"sex": "m", "ill": "yes"})
    assert dict(answer) == pytest.approx({"height": 179, "pulse": 95, "weight": -90 + 0.95 * 179})


@pytest.mark.parametrize("given", [{}, {"sex": "m"}, {"pulse": 90.0}])
def test_the_joint_of_real_variables_is_the_mixture(given):
    answer = NET.joint(REAL if "pulse" not in given else ["height", "weight"], given=given)
    points = np.array([[170.0, 80.0, 70.0], [180.0, 66.0, 85.0]])
    numbers = {k: v for k, v in given.items() if k in REAL}
    total, expected, mean = 0.0, np.zeros(2), 0.0
    for sex, ill in product("fm", ["no", "yes"]):
        if given.get("sex", sex) != sex:
            continue
        p, m, c = joint_of(sex, ill)
        free, m, c, density = conditioned(m, c, numbers)
        total += p * density
        expected += p * density * multivariate_normal(m, c).pdf(points[:, free])
        mean = mean + p * density * m
    free = [k for k in range(3) if REAL[k] not in numbers]
    assert_allclose(answer.density(points[:, free]), expected / total, rtol=1e-11)
    assert_allclose(answer.mean, mean / total, rtol=1e-12)
    assert_allclose(np.diagonal(answer.correlation), 1.0, rtol=1e-14)
    one = NET.posterior("height", given=given)
    assert_allclose(np.sqrt(answer.covariance[0, 0]), one.sd, rtol=1e-12)


def test_the_joint_of_discrete_variables_takes_real_evidence():
    given = {"height": 172.0, "pulse": 88.0}
    table = NET.joint(["sex", "ill"], given=given).array
    rows = []
    for sex, ill in product("fm", ["no", "yes"]):
        p, m, c = joint_of(sex, ill)
        rows.append(p * conditioned(m, c, given)[3])
    assert_allclose(table.ravel(), np.array(rows) / sum(rows), rtol=1e-12)


def test_entropy_is_that_of_the_integral():
    for given in ({}, {"weight": 77.0}, {"sex": "f"}):
        p = NET.posterior("height", given=given)

        def term(x, p=p):
            f = float(p.density(x))
            return -f * np.log(f)

        expected = quad(term, 100, 250, limit=400, epsabs=1e-12)[0]
        assert NET.entropy("height", given=given) == pytest.approx(expected, abs=1e-9)


def test_entropy_of_components_of_very_different_widths():
    lines = {"no": LINE(mean=0, sd=1e-6), "yes": LINE(mean=3, sd=100)}
    net = BayesianNetwork("a->x", tables={"a": [0.3, 0.7], "x": ConditionalGaussian(lines)})
    # Where the narrow one is, the wide one is nothing beside it: the entropies add, with that of the choice.
    apart = -0.3 * np.log(0.3) - 0.7 * np.log(0.7) + 0.3 * norm(0, 1e-6).entropy() + 0.7 * norm(3, 100).entropy()
    assert net.entropy("x") == pytest.approx(float(apart), abs=1e-6)


def test_entropy_of_one_normal_and_of_states_is_exact():
    assert NET.entropy("height", given={"sex": "f"}) == pytest.approx(float(norm(166, 6).entropy()), rel=1e-14)
    assert NET.entropy("sex", base=2) == pytest.approx(-(0.45 * np.log2(0.45) + 0.55 * np.log2(0.55)), rel=1e-14)
    _, mean, covariance = joint_of("f", "no")
    both = multivariate_normal(mean[[0, 2]], covariance[np.ix_([0, 2], [0, 2])])
    assert NET.entropy(["height", "weight"], given={"sex": "f"}) == pytest.approx(float(both.entropy()), rel=1e-13)


def test_information_between_a_state_and_a_number():
    """I(sex; height) = Σ P(s) ∫ p(h | s) ln p(h | s) / p(h) dh."""
    p = NET.posterior("height")
    expected = 0.0
    for weight, (mean, sd) in zip((0.45, 0.55), ((166, 6), (179, 7)), strict=True):
        one = norm(mean, sd)
        expected += weight * quad(lambda h, one=one: one.pdf(h) * (one.logpdf(h) - np.log(p.density(h))), 110, 240)[0]
    assert NET.mutual_information("sex", "height") == pytest.approx(expected, abs=1e-9)
    assert NET.mutual_information("height", "sex") == pytest.approx(expected, abs=1e-9)


def test_information_between_numbers_is_that_of_their_correlation():
    rho = NET.joint(["height", "weight"], given={"sex": "m"}).correlation[0, 1]
    expected = -0.5 * np.log(1 - rho**2)
    assert NET.mutual_information("height", "weight", given={"sex": "m"}) == pytest.approx(expected, rel=1e-12)
    assert NET.mutual_information("height", "pulse", given={"sex": "m", "ill": "no"}) == pytest.approx(0, abs=1e-12)


def test_information_between_states_is_that_of_the_discrete_network():
    table = NET.joint(["sex", "ill"]).array
    expected = (table * np.log(table / np.outer(table.sum(axis=1), table.sum(axis=0)))).sum()
    assert NET.mutual_information("sex", "ill") == pytest.approx(expected, rel=1e-12)


def test_a_reading_with_an_error_is_the_product_of_normals():
    """A prior N(166, 6²) and a reading of 175 ± 3 give the mean weighted by precisions."""
    p = NET.posterior("height", given={"sex": "f", "height": LINE(mean=175, sd=3)})
    precision = 1 / 36 + 1 / 9
    assert p.mean == pytest.approx((166 / 36 + 175 / 9) / precision, rel=1e-13)
    assert p.sd == pytest.approx(precision**-0.5, rel=1e-13)
    sure = NET.posterior("sex", given={"height": LINE(mean=175, sd=1e-9)})["m"]
    assert sure == pytest.approx(NET.posterior("sex", given={"height": 175.0})["m"], rel=1e-9)
    vague = NET.posterior("sex", given={"height": LINE(mean=175, sd=1e9)})["m"]
    assert vague == pytest.approx(0.55, rel=1e-6)
    assert set(NET.most_probable(given={"height": LINE(mean=175, sd=3)})) == set(NET.names)


def test_soft_evidence_on_states_goes_with_numbers():
    given = {"sex": {"f": 0.2, "m": 0.6}, "height": 172.0}
    odds = (0.55 * 0.6 * norm(179, 7).pdf(172)) / (0.45 * 0.2 * norm(166, 6).pdf(172))
    assert NET.posterior("sex", given=given)["m"] == pytest.approx(odds / (1 + odds), rel=1e-12)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: NET.joint(["sex", "height"]), "of discrete variables or of real ones"),
        (lambda: NET.joint(["height", "height"]), "variables that differ"),
        (lambda: NET.joint(["height", "weight"], given={"height": 170.0}), "'height' is known"),
        (lambda: NET.entropy(["height", "weight"]), "has no closed form"),
        (lambda: NET.mutual_information("height", "weight"), "has no closed form"),
        (lambda: NET.mutual_information("height", "height"), "must differ"),
        (lambda: NET.most_probable(["sex"]), "all variables together"),
        (lambda: NET.posterior("sex", given={"height": "tall"}), "A reading with an error is LinearGaussian"),
        (lambda: NET.entropy("sex", base=1), "base must be above 1"),
    ],
)
def test_what_has_no_exact_answer_is_refused_with_advice(ask, message):
    with pytest.raises(NetworkError) as error:
        ask()
    assert message in str(error.value)
