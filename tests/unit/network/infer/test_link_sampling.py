"""Discrete variables with real parents: answers by sampling agree with integrals within their standard error."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import norm

import bayeskit
from bayeskit import BayesianNetwork
from bayeskit.errors import NetworkError
from bayeskit.network import ConditionalGaussian, LinearGaussian, Logistic, Probit

# Five standard errors: a right answer fails once in two million.
FIVE = 5.0


def patients() -> BayesianNetwork:
    return BayesianNetwork(
        "sex{f|m}->dose->cured->happy; sex->cured",
        tables={
            "sex": [0.4, 0.6],
            "dose": ConditionalGaussian({"f": LinearGaussian(mean=2, sd=1), "m": LinearGaussian(mean=3, sd=0.5)}),
            "cured": Logistic(bias=-2, dose=1.0, sex={"m": 0.3}),
            "happy": [[0.8, 0.2], [0.1, 0.9]],
        },
    )


def by_integral(f=lambda x: 1.0, low=-10.0, high=15.0) -> dict[str, float]:
    """Return ∫ f(x) P(sex, x, cured) dx for each sex, by quadrature."""
    out = {}
    for sex, share, mean, sd, more in (("f", 0.4, 2.0, 1.0, 0.0), ("m", 0.6, 3.0, 0.5, 0.3)):

        def joint(x, mean=mean, sd=sd, more=more):
            return f(x) * norm.pdf(x, mean, sd) / (1.0 + np.exp(2.0 - x - more))

        out[sex] = share * quad(joint, low, high, epsabs=1e-13)[0]
    return out


def test_evidence_on_a_link_is_weighed():
    exact = by_integral()
    p = patients().posterior("sex", given={"cured": "yes"})
    assert p.quality.approximate
    assert p.standard_error.max() < 0.003
    assert abs(p["f"] - exact["f"] / sum(exact.values())) < FIVE * p.standard_error[0]


def test_the_distribution_of_a_link_itself():
    p = patients().posterior("cured")
    assert p.standard_error.max() < 0.001  # rows of probabilities are averaged, not states counted
    assert abs(p["yes"] - sum(by_integral().values())) < FIVE * p.standard_error[1]


def test_the_mean_of_a_real_variable_above_a_link():
    answer = patients().posterior("dose", given={"cured": "yes"})
    exact = sum(by_integral(lambda x: x).values()) / sum(by_integral().values())
    assert abs(answer.mean - exact) < FIVE * answer.standard_error
    low, high = answer.interval(0.9)
    inside = sum(by_integral(low=low, high=high).values()) / sum(by_integral().values())
    assert abs(inside - 0.9) < 0.01
    middle = np.linspace(1.0, 4.0, 7)
    density = [(0.4 * norm.pdf(x, 2, 1) / (1 + np.exp(2 - x)) + 0.6 * norm.pdf(x, 3, 0.5) / (1 + np.exp(1.7 - x)))
               / sum(by_integral().values()) for x in middle]  # fmt: skip
    assert_allclose(answer.density(middle), density, atol=0.02)


def test_evidence_below_a_link_reaches_what_is_above():
    yes = by_integral()
    total = {"f": 0.4, "m": 0.6}
    exact = {sex: 0.9 * yes[sex] + 0.2 * (total[sex] - yes[sex]) for sex in yes}
    p = patients().posterior("sex", given={"happy": "yes"})
    assert abs(p["f"] - exact["f"] / sum(exact.values())) < FIVE * p.standard_error[0]


def test_a_probit_link_has_its_closed_form():
    net = BayesianNetwork("x->y", tables={"x": LinearGaussian(mean=1, sd=2), "y": Probit(bias=0.2, x=0.7)})
    p = net.posterior("y")
    assert abs(p["yes"] - norm.cdf(0.9 / np.sqrt(1 + 0.49 * 4))) < FIVE * p.standard_error[1]


def test_a_standard_error_is_reached_when_asked_for():
    p = patients().posterior("sex", given={"cured": "yes"}, error=0.001)
    assert p.standard_error.max() <= 0.001


def test_known_real_parents_give_an_exact_answer():
    net = patients()
    p = net.posterior("cured", given={"dose": 2.5, "sex": "m"})
    assert not p.quality.approximate
    assert_allclose(p["yes"], 1 / (1 + np.exp(-0.8)), rtol=1e-12)
    assert_allclose(net.do(dose=2.5).posterior("cured", given={"sex": "m"})["yes"], p["yes"], rtol=1e-12)


def test_a_link_that_does_not_matter_leaves_the_answer_exact():
    net = patients()
    assert not net.posterior("sex", given={"dose": 2.5}).quality.approximate
    f, m = 0.4 * norm.pdf(2.5, 2, 1), 0.6 * norm.pdf(2.5, 3, 0.5)
    assert_allclose(net.posterior("sex", given={"dose": 2.5})["f"], f / (f + m), rtol=1e-12)
    assert_allclose(net.log_evidence({"dose": 2.5}), np.log(f + m), rtol=1e-12)


def test_a_reading_with_an_error_above_a_link():
    net = BayesianNetwork("x->y", tables={"x": LinearGaussian(mean=1, sd=2), "y": Probit(bias=0.2, x=0.7)})
    p = net.posterior("y", given={"x": LinearGaussian(mean=3, sd=1)})
    mean, variance = (1 / 4 + 3 / 1) / (1 / 4 + 1), 1 / (1 / 4 + 1)
    assert abs(p["yes"] - norm.cdf((0.2 + 0.7 * mean) / np.sqrt(1 + 0.49 * variance))) < FIVE * p.standard_error[1]


def test_real_variables_below_a_link():
    net = BayesianNetwork(
        "x->y->z",
        tables={
            "x": LinearGaussian(),
            "y": Probit(x=2.0),
            "z": ConditionalGaussian({"no": LinearGaussian(mean=0, sd=1), "yes": LinearGaussian(mean=2, sd=1)}),
        },
    )
    # By symmetry P(y) = ½; z then tells about y as in a mixture of two normals.
    odds = norm.pdf(1.5, 2, 1) / norm.pdf(1.5, 0, 1)
    p = net.posterior("y", given={"z": 1.5})
    assert abs(p["yes"] - odds / (1 + odds)) < FIVE * p.standard_error[1]
    assert abs(net.posterior("z").mean - 1.0) < FIVE * net.posterior("z").standard_error


def test_samples_given_evidence_are_those_of_the_posterior():
    exact = by_integral()
    rows = patients().sample(40_000, given={"cured": "yes"}, random_state=1)
    share = exact["f"] / sum(exact.values())
    assert abs((rows["sex"] == "f").mean() - share) < FIVE * np.sqrt(share * (1 - share) / 40_000)
    assert set(rows["cured"]) == {"yes"}


def test_more_samples_begin_with_the_same_ones_and_a_seed_repeats_them():
    few, many = patients().sample(5, random_state=3), patients().sample(50, random_state=3)
    assert_allclose(few["dose"], many["dose"][:5], rtol=0)
    first, again = (patients().posterior("sex", given={"cured": "yes"}, random_state=7)["f"] for _ in range(2))
    assert first == again


def test_complete_rows_have_their_density():
    net = patients()
    row = {"sex": ["m"], "dose": [2.0], "cured": ["no"], "happy": ["yes"]}
    exact = 0.6 * norm.pdf(2.0, 3, 0.5) * (1 - 1 / (1 + np.exp(-0.3))) * 0.2
    assert_allclose(net.log_probability(row), np.log(exact), rtol=1e-12)
    with pytest.raises(NetworkError, match="row misses 'dose', a real parent of the discrete 'cured'"):
        net.log_probability({**row, "dose": [None]})


@pytest.mark.parametrize("form", [Logistic, Probit])
def test_a_link_is_learned_from_rows(form):
    net = BayesianNetwork(
        "x->y<-g",
        tables={"x": LinearGaussian(mean=5, sd=3), "g": [0.5, 0.5], "y": form(bias=-2.0, x=0.4, g=0.7)},
    )
    learned = net.fitted(net.sample(60_000, random_state=0), smoothing=0.0)
    cpd = learned.cpds[learned.index("y")]
    x, g = cpd.weights[0][0, 1] - cpd.weights[0][0, 0], cpd.weights[1][1, 1] - cpd.weights[1][0, 1]
    assert_allclose([cpd.bias[1] - cpd.bias[0], x, g], [-2.0, 0.4, 0.7], atol=0.06)


def test_what_has_no_exact_answer_says_so():
    net = patients()
    for ask in (
        lambda: net.posterior("sex", given={"cured": "yes"}, method="exact"),
        lambda: net.most_probable(given={"cured": "yes"}),
        lambda: net.log_evidence({"cured": "yes"}),
        lambda: net.joint(["sex", "cured"]),
    ):
        with pytest.raises(NetworkError, match="real parent 'dose', whose number is not known"):
            ask()


def test_a_table_cannot_have_real_parents():
    with pytest.raises(NetworkError, match="give a Logistic or a Probit"):
        BayesianNetwork("x->y", tables={"x": LinearGaussian(), "y": [0.5, 0.5]})
    with pytest.raises(NetworkError, match="two states; 'y' has 3"):
        BayesianNetwork("x->y[3]", tables={"x": LinearGaussian(), "y": Probit(x=1)})


def test_a_model_file_keeps_a_link_and_others_refuse_it(tmp_path):
    net = patients()
    net.save(tmp_path / "net.bayes")
    assert bayeskit.load(tmp_path / "net.bayes") == net
    with pytest.raises(NetworkError, match=r"'cured' is discrete and has real parents, .* write \.bayes"):
        net.write(tmp_path / "net.xdsl")


def test_links_of_several_states():
    net = BayesianNetwork("x->y[3]", tables={"x": LinearGaussian(), "y": Logistic(bias=[0, 1, 2], x=[0, 1, -1])})
    score = np.exp([0.0, 1.5, 1.5])
    assert_allclose(net.posterior("y", given={"x": 0.5}).array, score / score.sum(), rtol=1e-12)
