"""Evidence is read in all its forms, and bad evidence is refused by name before any work."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayeskit import BayesianNetwork
from bayeskit.errors import ImpossibleEvidenceError, NetworkError
from bayeskit.network import Marginal
from bayeskit.network.infer.evidence import read_evidence


@pytest.fixture
def net():
    return BayesianNetwork(
        "rain->wet; sprinkler->wet; rain->mood",
        states={"rain": ["none", "some", "much"], "wet": ["no", "yes"], "sprinkler": ["off", "on"], "mood": ["1", "2"]},
        tables={
            "rain": [0.6, 0.3, 0.1],
            "sprinkler": [0.7, 0.3],
            "wet": [[[1.0, 0.0], [0.2, 0.8]], [[0.1, 0.9], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]],
            "mood": [[0.5, 0.5], [0.2, 0.8], [0.1, 0.9]],
        },
    )


def test_one_state_in_a_set_is_an_observation(net):
    assert read_evidence(net, {"rain": {"much"}}).states == {0: 2}
    assert read_evidence(net, {"rain": ["much"]}).states == {0: 2}


def test_a_number_names_a_state_of_that_name(net):
    assert read_evidence(net, {"mood": 2}).states == {net.index("mood"): 1}


def test_all_states_say_nothing(net):
    assert not read_evidence(net, {"rain": {"none", "some", "much"}})


def test_a_set_of_states_is_their_sum(net):
    given_set = net.posterior("wet", given={"rain": {"some", "much"}})
    assert_allclose(given_set["yes"], net.probability({"wet": "yes", "rain": ["some", "much"]}) / 0.4, rtol=1e-14)


def test_a_likelihood_may_be_given_by_state_or_in_order(net):
    by_state = net.posterior("wet", given={"rain": {"none": 0.1, "some": 0.5, "much": 0.9}})
    in_order = net.posterior("wet", given={"rain": np.array([0.1, 0.5, 0.9])})
    scaled = net.posterior("wet", given={"rain": [1.0, 5.0, 9.0]})
    assert_allclose(by_state.array, in_order.array, rtol=1e-15)
    assert_allclose(scaled.array, in_order.array, rtol=1e-14)


def test_a_certain_marginal_is_an_observation(net):
    assert read_evidence(net, {"rain": Marginal({"some": 1.0})}).states == {0: 1}


def test_soft_evidence_holds_together_with_other_evidence(net):
    given = {"rain": Marginal([0.2, 0.3, 0.5]), "mood": Marginal([0.5, 0.5]), "sprinkler": "on"}
    answer = net.posterior(given=given)
    assert_allclose(answer["rain"].array, [0.2, 0.3, 0.5], atol=1e-11)
    assert_allclose(answer["mood"].array, [0.5, 0.5], atol=1e-11)
    assert answer["sprinkler"]["on"] == 1.0
    assert np.isnan(answer.log_evidence)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rian": "some"}, r"unknown variable 'rian'; did you mean 'rain'\?"),
        ({"rain": "sone"}, r"variable 'rain' has no state 'sone'; did you mean 'none' or 'some'\?"),
        ({"rain": set()}, "evidence on 'rain' is an empty set of states"),
        ({"rain": [0.1, 0.2]}, "likelihood of 'rain' needs one number per state, 3 for none, some, much"),
        ({"rain": [0.1, 0.2, -0.1]}, "likelihood of 'rain' must hold finite numbers of at least 0"),
        ({"rain": [0.1, 0.2, np.nan]}, "likelihood of 'rain' must hold finite numbers"),
        ({"rain": [0.0, 0.0, 0.0]}, "likelihood of 'rain': at least one state needs a number above 0"),
        ({"rain": {"some": "x"}}, "likelihood of 'rain' must hold numbers; got 'x'"),
        ({"rain": {"sone": 1.0}}, "variable 'rain' has no state 'sone'"),
        ({"rain": Marginal([0.5, 0.5, 0.5])}, "marginal of 'rain' sums to 1.5; it must sum to 1 within 1e-06"),
        ({"rain": Marginal([0.5, 0.5])}, "marginal of 'rain' needs one number per state"),
        ({"rain": None}, "variable 'rain' has no state None"),
        ([("rain", "some")], "given must map variables"),
    ],
)
def test_bad_evidence_is_refused_by_name(net, given, message):
    with pytest.raises(NetworkError, match=message):
        net.posterior(given=given)


def test_contradictory_evidence_names_the_pieces_that_cannot_hold_together(net):
    with pytest.raises(ImpossibleEvidenceError, match="rain=much and wet=no cannot hold together") as refusal:
        net.posterior("mood", given={"sprinkler": "on", "rain": "much", "wet": "no"})
    assert "sprinkler" not in str(refusal.value)


def test_a_single_impossible_state_is_named():
    net = BayesianNetwork("a->b", tables={"a": [1.0, 0.0], "b": [[0.5, 0.5], [0.5, 0.5]]})
    for ask in (
        lambda g: net.posterior(given=g),
        lambda g: net.posterior("b", given=g),
        lambda g: net.joint(["b"], given=g),
    ):
        with pytest.raises(ImpossibleEvidenceError, match="a=yes has probability 0"):
            ask({"a": "yes"})
    with pytest.raises(ImpossibleEvidenceError, match="a=yes has probability 0"):
        net.most_probable(given={"a": "yes"})


def test_soft_evidence_of_the_impossible_is_refused():
    net = BayesianNetwork("a->b", tables={"a": [1.0, 0.0], "b": [[0.5, 0.5], [0.5, 0.5]]})
    with pytest.raises(ImpossibleEvidenceError, match=r"gives a=yes probability 0\.3, but it has probability 0"):
        net.posterior("b", given={"a": Marginal([0.7, 0.3])})


def test_marginals_that_contradict_each_other_are_refused():
    net = BayesianNetwork("a->b", tables={"a": [0.5, 0.5], "b": [[1.0, 0.0], [0.0, 1.0]]})
    with pytest.raises(ImpossibleEvidenceError, match="the marginals of a, b cannot all hold"):
        net.posterior("b", given={"a": Marginal([0.7, 0.3]), "b": Marginal([0.2, 0.8])})


@pytest.mark.parametrize("rare", [1e-300, 1e-320, 5e-324])
def test_soft_evidence_of_a_very_rare_state_is_jeffreys_rule(rare):
    net = BayesianNetwork("a->b", tables={"a": [rare, 1.0], "b": [[0.2, 0.8], [0.7, 0.3]]})
    answer = net.posterior(given={"a": Marginal([0.5, 0.5])})
    assert_allclose(answer["a"].array, [0.5, 0.5], rtol=1e-12)
    assert_allclose(answer["b"].array, [0.45, 0.55], rtol=1e-12)  # the mean of its two rows


def test_soft_evidence_of_a_state_that_is_too_rare_for_a_double_is_jeffreys_rule():
    table = [[1e-60, 1.0], [0.5, 0.5]]
    net = BayesianNetwork(
        "; ".join(f"a->e{i}" for i in range(8)) + "; a->b",
        tables={"a": [0.5, 0.5], **{f"e{i}": table for i in range(8)}, "b": [[0.2, 0.8], [0.7, 0.3]]},
    )
    given = {f"e{i}": "no" for i in range(8)}  # P(a=no | given) is about 1e-478
    assert net.posterior("a", given=given)["no"] == 0.0
    answer = net.posterior(given={**given, "a": Marginal([0.25, 0.75])})
    assert_allclose(answer["a"].array, [0.25, 0.75], rtol=1e-12)
    assert_allclose(answer["b"].array, [0.25 * 0.2 + 0.75 * 0.7, 0.25 * 0.8 + 0.75 * 0.3], rtol=1e-12)


def test_two_marginals_that_need_likelihoods_of_hundreds_of_decades_are_met():
    near_copy = [[1.0, 1e-200], [1e-200, 1.0]]
    net = BayesianNetwork("a->b", tables={"a": [1e-200, 1.0], "b": near_copy})
    answer = net.joint(["a", "b"], given={"a": Marginal([0.5, 0.5]), "b": Marginal([0.25, 0.75])})
    # The odds ratio stays 1e400, so that the cell a=yes, b=no has next to nothing and the marginals leave one table.
    assert_allclose(answer.array, [[0.25, 0.25], [0.0, 0.5]], atol=1e-11)
