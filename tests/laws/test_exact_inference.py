"""Every exact answer equals what enumeration gives."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bayeskit.errors import ImpossibleEvidenceError
from bayeskit.network import BayesianNetwork, Marginal
from kernels.enumeration import joint_table, marginal, networks, questions, weighted

ROUNDING = 1e-12
slowly = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


def possible(question):
    net, _, likelihoods = question
    joint = weighted(joint_table(net), likelihoods)
    assume(joint.sum() > 1e-9)
    return joint


@slowly
@given(questions())
def test_all_posteriors_equal_enumeration(question):
    net, given, _ = question
    joint = possible(question)
    answer = net.posterior(given=given)
    for v, name in enumerate(net.names):
        assert_allclose(answer[name].array, marginal(joint, [v]) / joint.sum(), atol=ROUNDING)
    assert_allclose(answer.log_evidence, np.log(joint.sum()), atol=1e-11)


@slowly
@given(questions(), st.data())
def test_one_posterior_from_a_shrunk_network_equals_enumeration(question, data):
    net, given, _ = question
    joint = possible(question)
    v = data.draw(st.integers(0, len(net.names) - 1))
    assert_allclose(net.posterior(net.names[v], given=given).array, marginal(joint, [v]) / joint.sum(), atol=ROUNDING)


@slowly
@given(questions(), st.data())
def test_a_joint_equals_enumeration(question, data):
    net, given, _ = question
    joint = possible(question)
    wanted = data.draw(st.lists(st.integers(0, len(net.names) - 1), unique=True, min_size=1, max_size=3))
    answer = net.joint([net.names[v] for v in wanted], given=given)
    assert_allclose(answer.array, marginal(joint, wanted) / joint.sum(), atol=ROUNDING)


@slowly
@given(questions())
def test_no_case_is_more_probable_than_the_most_probable_one(question):
    net, given, likelihoods = question
    joint = possible(question)
    best = net.most_probable(given=given)
    cell = tuple(
        net.state(name, best[name]) if name in best else int(likelihoods[v].argmax())
        for v, name in enumerate(net.names)
    )
    assert_allclose(joint[cell], joint.max(), rtol=1e-12)
    assert_allclose(best.probability, joint.max() / joint.sum(), rtol=1e-11)


@slowly
@given(questions(), st.data())
def test_marginal_map_sums_out_before_it_maximises(question, data):
    net, given, _ = question
    joint = possible(question)
    wanted = data.draw(st.lists(st.integers(0, len(net.names) - 1), unique=True, min_size=1, max_size=4))
    best = net.most_probable([net.names[v] for v in wanted], given=given)
    table = marginal(joint, wanted)
    cell = tuple(net.state(net.names[v], best[net.names[v]]) for v in wanted)
    assert_allclose(table[cell], table.max(), rtol=1e-12)
    assert_allclose(best.probability, table.max() / joint.sum(), rtol=1e-11)


@slowly
@given(questions(), st.data())
def test_the_probability_of_an_event_is_the_mass_of_its_cells(question, data):
    net, given, _ = question
    joint = possible(question)
    v = data.draw(st.integers(0, len(net.names) - 1))
    ks = data.draw(st.sets(st.integers(0, net.cards[v] - 1), min_size=1))
    mass = marginal(joint, [v])[sorted(ks)].sum() / joint.sum()
    found = net.probability({net.names[v]: {net.states[v][k] for k in ks}}, given=given)
    assert_allclose(found, mass, atol=1e-11)


@slowly
@given(questions(max_variables=5))
def test_evidence_is_refused_just_when_it_has_probability_zero(question):
    net, given, likelihoods = question
    if weighted(joint_table(net), likelihoods).sum() > 0:
        net.posterior(given=given)
    else:
        with pytest.raises(ImpossibleEvidenceError, match="impossible"):
            net.posterior(given=given)
        with pytest.raises(ImpossibleEvidenceError, match="impossible"):
            net.posterior(net.names[0], given=given)


@slowly
@given(networks(max_variables=5, zeros=False), st.data())
def test_soft_evidence_leads_to_the_table_that_proportional_fitting_gives(net, data):
    wanted = data.draw(st.lists(st.integers(0, len(net.names) - 1), unique=True, min_size=1, max_size=2))
    marginals, q = {}, joint_table(net)
    for v in wanted:
        weights = np.array(data.draw(st.lists(st.floats(0.1, 1.0), min_size=net.cards[v], max_size=net.cards[v])))
        marginals[v] = weights / weights.sum()
    for _ in range(300):
        for v, target in marginals.items():
            q = weighted(q, {v: target / marginal(q, [v])})
    assume(all(abs(marginal(q, [v]) - target).max() < 1e-10 for v, target in marginals.items()))
    answer = net.posterior(given={net.names[v]: Marginal(target) for v, target in marginals.items()})
    for v, name in enumerate(net.names):
        assert_allclose(answer[name].array, marginal(q, [v]), atol=1e-10)


@slowly
@given(networks(), st.data())
def test_each_row_of_a_table_is_answered_as_if_asked_alone(net, data):
    joint = joint_table(net)
    target = data.draw(st.integers(0, len(net.names) - 1))
    n_rows = data.draw(st.integers(1, 12))
    rows = [[data.draw(st.sampled_from([None, *own])) for own in net.states] for _ in range(n_rows)]
    table = {name: [row[v] for row in rows] for v, name in enumerate(net.names)}
    found = net.predict_proba(table, net.names[target], impossible="prior")
    certain = net.posterior_rows(table, [net.names[target]], impossible="prior")[net.names[target]]
    for row, p, own in zip(rows, found, certain, strict=True):
        masks = {
            v: np.eye(net.cards[v])[net.states[v].index(value)] for v, value in enumerate(row) if value is not None
        }
        with_target = weighted(joint, masks)
        if with_target.sum() > 1e-12:
            assert_allclose(own, marginal(with_target, [target]) / with_target.sum(), atol=ROUNDING)
        masks.pop(target, None)
        seen = weighted(joint, masks)
        if seen.sum() > 1e-12:
            assert_allclose(p, marginal(seen, [target]) / seen.sum(), atol=ROUNDING)


@slowly
@given(networks(), st.data())
def test_many_targets_of_a_table_equal_one_after_another(net, data):
    cases = net.sample(data.draw(st.integers(1, 10)), random_state=data.draw(st.integers(0, 1000)))
    rng = np.random.default_rng(0)
    table = {name: [None if rng.random() < 0.5 else str(value) for value in column] for name, column in cases.items()}
    together = net.posterior_rows(table)
    for name in net.names:
        assert_allclose(together[name], net.posterior_rows(table, name), atol=ROUNDING)


def test_rows_of_a_large_tree_are_sliced_one_by_one():
    n = 17  # one clique of 2^18 cells, too many for a pack of rows
    rng = np.random.default_rng(3)
    names = [f"p{i}" for i in range(n)] + ["child"]
    tables = [rng.dirichlet([1, 1]) for _ in range(n)] + [rng.dirichlet([1, 1], size=[2] * n)]
    net = BayesianNetwork.from_tables(names, [["a", "b"]] * (n + 1), [()] * n + [tuple(range(n))], tables)
    holes = [np.where(rng.random(40) < 0.3, 255, codes).astype(np.uint8) for codes in net.sample(40, output="codes")]
    found = net.predict_proba(holes, "p0")
    both = net.posterior_rows(holes, ["p0", "p1"])
    for row in range(0, 40, 7):
        given = {name: "ab"[column[row]] for name, column in zip(names, holes, strict=True) if column[row] < 2}
        assert_allclose(both["p1"][row], net.posterior("p1", given=given).array, atol=ROUNDING)
        given.pop("p0", None)
        assert_allclose(found[row], net.posterior("p0", given=given).array, atol=ROUNDING)
