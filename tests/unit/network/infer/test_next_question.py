"""What to ask next, and evidence that disagrees, beside brute force."""

import numpy as np
import pytest

from bayeskit import BayesianNetwork, datasets
from bayeskit.errors import ImpossibleEvidenceError, NetworkError

ASIA = datasets.load_asia()


@pytest.mark.parametrize("given", [{}, {"dysp": "yes"}, {"dysp": "yes", "asia": {"yes": 2, "no": 1}}])
def test_the_information_of_a_question_is_the_mutual_information(given):
    for each in ASIA.questions("lung", given=given):
        wanted = ASIA.mutual_information("lung", each.variable, given=given)
        assert each.information == pytest.approx(wanted, abs=1e-12)


def test_the_value_of_a_question_is_the_expected_fall_of_the_loss():
    loss, given = np.array([[0.0, 30.0], [1.0, 0.0]]), {"dysp": "yes"}
    found = {each.variable: each.value for each in ASIA.questions("lung", given=given, loss=loss)}
    before = (ASIA.posterior("lung", given=given).array @ loss).min()
    for name, value in found.items():
        after = sum(
            p * (ASIA.posterior("lung", given={**given, name: state}).array @ loss).min()
            for state, p in ASIA.posterior(name, given=given).items()
            if p > 0
        )
        assert value == pytest.approx(before - after, abs=1e-12)
    assert (np.diff([round(value, 9) for value in found.values()]) <= 0).all()
    assert found["xray"] > 0


def test_there_is_nothing_to_ask_about_what_is_known():
    with pytest.raises(NetworkError, match="part of the evidence"):
        ASIA.questions("lung", given={"lung": "yes"})


def test_a_target_state_that_cannot_be_is_left_out():
    net = BayesianNetwork("a->b", tables={"a": [1.0, 0.0], "b": np.eye(2)})
    assert [each.information for each in net.questions("a")] == [0.0]


def test_conflict_is_the_log_of_independent_over_joint():
    given = {"smoke": "no", "lung": "yes", "xray": "no"}
    found = ASIA.conflict(given)
    alone = {name: ASIA.probability({name: state}) for name, state in given.items()}
    joint = ASIA.probability(given)
    assert found.value == pytest.approx(np.log(np.prod(list(alone.values())) / joint), rel=1e-10)
    for name, state in given.items():
        others = {other: value for other, value in given.items() if other != name}
        wanted = np.log(alone[name] / ASIA.probability({name: state}, given=others))
        assert found.pieces[name] == pytest.approx(wanted, rel=1e-10)
    assert bool(found)
    assert found.words["lung"] == "lung=yes"


def test_evidence_that_fits_is_no_conflict_and_one_piece_never_is():
    assert not ASIA.conflict({"smoke": "yes", "lung": "yes"})
    assert ASIA.conflict({"smoke": "yes"}).value == 0.0
    assert ASIA.conflict({}).pieces == {}


def test_impossible_evidence_is_refused_and_not_called_a_conflict():
    with pytest.raises(ImpossibleEvidenceError, match="cannot hold together"):
        ASIA.conflict({"either": "no", "lung": "yes"})


def test_the_probability_at_another_number_is_that_of_the_changed_network():
    given = {"xray": "yes", "dysp": "no"}
    found = ASIA.sensitivity("lung", given=given)
    assert len(found) > 10
    for number in found:
        for value in (0.0, 0.3, 0.95):
            i, k = ASIA.index(number.variable), ASIA.state(number.variable, number.state)
            table = np.array(ASIA.tables[i])
            row = table[tuple(ASIA.state(name, state) for name, state in number.given.items())]
            row[:] = np.where(np.arange(2) == k, value, 1.0 - value)
            try:
                wanted = ASIA.with_table(number.variable, table).posterior("lung", given=given)[found.state]
            except ImpossibleEvidenceError:
                continue
            assert number.probability_at(value) == pytest.approx(wanted, abs=1e-10), str(number)
