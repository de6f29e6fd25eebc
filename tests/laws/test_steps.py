"""What a learner shows step by step is what it did: each step follows from the one before by the textbook's rule."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from scipy.stats import multivariate_normal

from bayeskit import (
    TAN,
    BruteForceMAP,
    GaussianMixture,
    KMeans,
    SigmoidUnit,
    datasets,
    learn_structure,
    network_score,
    overall_risk,
)
from bayeskit.errors import BayeskitError, NetworkError, TooLargeError
from bayeskit.network import NoisyOr
from bayeskit.network.learn.methods.k2 import K2
from bayeskit.network.network import BayesianNetwork

RNG = np.random.default_rng(0)


def test_declared_values_give_the_973_hypotheses_of_the_book():
    learner = BruteForceMAP().fit(datasets.load_enjoy_sport(declared=True), target="enjoy", record=True)
    assert [step.n_left for step in learner.steps_] == [973, 64, 32, 28, 6]
    for step in learner.steps_:
        assert_allclose(step.posterior[step.posterior > 0], 1 / step.n_left, rtol=1e-12)
    assert_allclose(learner.steps_[-1].posterior, np.exp(learner.log_posterior_), rtol=1e-12)


def test_steps_of_beliefs_are_those_of_shorter_tables_with_noise():
    table = datasets.load_enjoy_sport()
    whole = BruteForceMAP(noise=0.1, prior="simple").fit(table, target="enjoy", record=True)
    columns = datasets.load_enjoy_sport(declared=False)
    attributes = {name: whole.space_.attributes[name] for name in columns if name != "enjoy"}
    for n in (3, 4):
        part = {name: values[:n] for name, values in columns.items()}
        again = BruteForceMAP(noise=0.1, prior="simple", attributes=attributes).fit(part, target="enjoy")
        assert_allclose(whole.steps_[n].posterior, np.exp(again.log_posterior_), rtol=1e-12)
    assert BruteForceMAP().fit(table, target="enjoy").steps_ == []


@pytest.mark.parametrize("rule", ["cross-entropy", "squared-error"])
def test_each_step_of_a_sigmoid_unit_is_the_literal_rule_on_raw_inputs(rule):
    x = RNG.normal(3.0, 2.0, (20, 2))
    d = (x[:, 0] + RNG.normal(0, 2, 20) > 3).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        unit = SigmoidUnit(rule=rule, standardize=False, learning_rate=0.01, max_iter=5).fit(x, d, record=True)
    w, inputs = np.zeros(3), np.column_stack([x, np.ones(20)])
    assert_array_equal(unit.histories_[0].steps[0].parameters, w)
    for step in unit.histories_[0].steps[1:]:
        h = expit(inputs @ w)
        error = (d - h) if rule == "cross-entropy" else h * (1 - h) * (d - h)
        w = w + 0.01 * inputs.T @ error
        assert_allclose(step.parameters, w, rtol=1e-10)
    assert_allclose(np.append(unit.coef_[0], unit.intercept_), w, rtol=1e-10)


def test_recorded_weights_are_for_the_inputs_as_they_are_also_where_steps_are_standardized():
    x = RNG.normal(50.0, 2.0, (30, 1))
    d = (x[:, 0] + RNG.normal(0, 2, 30) > 50).astype(int)
    unit = SigmoidUnit(tol=1e-6).fit(x, d, record=True)
    assert_allclose(unit.histories_[0].steps[-1].parameters, np.append(unit.coef_[0], unit.intercept_), rtol=1e-9)


def test_the_gradient_of_tables_is_that_of_differences_of_the_log_likelihood():
    net = datasets.load_campfire()
    rows = {name: net.sample(12, random_state=1)[name].tolist() for name in net.names}
    rows["Lightning"][:6] = [None] * 6
    rows["Campfire"][3:9] = [None] * 6
    gradient = net.gradient(rows)
    for name in ("Storm", "Campfire", "Lightning"):
        cell = (0,) * gradient[name].ndim
        shifted = []
        for step in (1e-6, -1e-6):
            tables = [table.copy() for table in net.tables]
            tables[net.index(name)][cell] += step
            shifted.append(brute_log_likelihood(net, tables, rows))
        assert_allclose(gradient[name][cell], (shifted[0] - shifted[1]) / 2e-6, rtol=1e-6)
    with pytest.raises(NetworkError, match="tables"):
        BayesianNetwork("a->b", tables={"a": [0.5, 0.5], "b": NoisyOr(a=0.8)}).gradient({"a": ["no"], "b": ["no"]})


def brute_log_likelihood(net, tables, rows):
    """Σ_d ln Σ_hidden ∏ w, by listing all rows of the joint table; the numbers need not sum to 1."""
    joint = np.ones(net.cards)
    for v, table in enumerate(tables):
        family = (*net.parents[v], v)
        turned = table.transpose(np.argsort(family))
        joint = joint * turned.reshape([net.cards[k] if k in family else 1 for k in range(len(net.names))])
    total = 0.0
    for r in range(len(rows[net.names[0]])):
        values = [rows[name][r] for name in net.names]
        cut = tuple(slice(None) if s is None else net.state(n, s) for n, s in zip(net.names, values, strict=True))
        total += np.log(joint[cut].sum())
    return total


@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal", "spherical"])
def test_steps_of_em_are_those_of_the_formulas(covariance):
    x = np.concatenate([RNG.normal(0, 1, (30, 2)), RNG.normal(4, 2, (30, 2))])
    model = GaussianMixture(2, covariance=covariance, random_state=1, max_iter=100).fit(x, record=True)
    steps = model.steps(x)
    last = steps[-1]
    assert_allclose(last.responsibilities, model.predict_proba(x), atol=1e-9)
    assert_allclose(last.log_likelihood, model.log_likelihood_, rtol=1e-9)
    first = steps[0].parameters
    shapes = {"tied": lambda c, j: c, "full": lambda c, j: c[j], "diagonal": lambda c, j: np.diag(c[j])}
    matrix = shapes.get(covariance, lambda c, j: c[j] * np.eye(2))
    density = [multivariate_normal(first["means"][j], matrix(first["covariances"], j)).pdf(x) for j in range(2)]
    joint = first["weights"] * np.array(density).T
    assert_allclose(steps[0].responsibilities, joint / joint.sum(axis=1, keepdims=True), rtol=1e-9)
    share = steps[0].responsibilities
    assert_allclose(steps[1].parameters["means"], share.T @ x / share.sum(axis=0)[:, None], rtol=1e-9)
    # Q rises by at least as much as it must: no parameters have a larger Q than those that the step chose.
    assert steps[1].q >= expected(share, joint) - 1e-9
    assert_allclose(model.q(x), expected(last.responsibilities, log_joint_of(model, x)), rtol=1e-9)


def expected(share, joint):
    return float((share * np.log(joint)).sum())


def log_joint_of(model, x):
    return model.predict_proba(x) * np.exp(model.score_samples(x))[:, None]


def test_steps_need_a_record_and_full_rows():
    x = [[0.0], [1.0], [9.0], [10.0]]
    with pytest.raises(BayeskitError, match="record=True"):
        KMeans(2).fit(x).steps(x)
    with pytest.raises(BayeskitError, match="row 1 has a missing cell"):
        KMeans(2).fit(x, record=True).steps([[0.0], [np.nan]])
    with pytest.raises(BayeskitError, match="must hold 'weights'"):
        KMeans(2).fit(x).q(x, {"means": [[0.0], [1.0]]})


def test_each_step_of_k_means_moves_a_mean_to_the_middle_of_its_rows():
    x = RNG.normal(0, 3, (40, 2))
    steps = KMeans(3, random_state=0).fit(x, record=True).steps(x)
    for before, after in pairwise(steps):
        nearest = ((x[:, None] - before.parameters["means"]) ** 2).sum(axis=2).argmin(axis=1)
        assert_array_equal(before.responsibilities.argmax(axis=1), nearest)
        assert_allclose(after.parameters["means"], [x[nearest == j].mean(axis=0) for j in range(3)], rtol=1e-9)


def test_k2_shows_each_parent_with_the_score_that_it_brought():
    order = ["play", "outlook", "humidity", "wind", "temperature"]
    table = datasets.load_tennis()
    learned = learn_structure(table, method=K2(ordering=order))
    choices = [step.parameters for step in learned.history.steps[1:]]
    assert [choice.variable for choice in choices] == order
    assert sum(choice.scores[-1] for choice in choices) == pytest.approx(learned.score, rel=1e-12)
    assert {(p, choice.variable) for choice in choices for p in choice.parents} == set(learned.arcs)
    assert learned.score == pytest.approx(network_score(learned.network, table, "k2"), rel=1e-12)


def test_the_tree_of_the_watermelon_table_grows_by_the_published_edges():
    table = {name: v for name, v in datasets.load_watermelon().items() if name not in ("密度", "含糖率")}
    root, *edges = TAN().fit(table, target="好瓜").steps_
    assert root.parent is None
    published = {
        frozenset(["根蒂", "脐部"]): 0.597535,
        frozenset(["纹理", "脐部"]): 0.381968,
        frozenset(["根蒂", "敲声"]): 0.352894,
        frozenset(["纹理", "触感"]): 0.320409,
        frozenset(["色泽", "纹理"]): 0.280433,
    }
    assert {frozenset((edge.feature, edge.parent)) for edge in edges} == set(published)
    for edge in edges:
        assert edge.information == pytest.approx(published[frozenset((edge.feature, edge.parent))], abs=5e-7)


@pytest.mark.parametrize("given", [{}, {"xray": "yes", "smoke": "no"}, {"dysp": {"yes": 0.9, "no": 0.2}}])
def test_elimination_says_what_the_engine_says(given):
    net = datasets.load_asia()
    for name in set(net.names) - set(given):
        shown = net.elimination(name, given=given)
        exact = net.posterior(name, given=given)
        assert_allclose(shown.posterior.array, exact.array, rtol=1e-12)
        assert shown.posterior.log_evidence == pytest.approx(exact.log_evidence, abs=1e-12)
    observed = {name for name, value in given.items() if isinstance(value, str)}
    order = [name for name in net.names if name not in observed and name != "lung"]
    assert_allclose(
        net.elimination("lung", given=given, order=order[::-1]).posterior.array,
        net.posterior("lung", given=given).array,
        rtol=1e-12,
    )


def test_elimination_refuses_an_order_that_leaves_one_out_and_tables_that_nobody_reads():
    net = datasets.load_asia()
    with pytest.raises(NetworkError, match="order must name each of asia, tub"):
        net.elimination("lung", order=["asia"])
    star = BayesianNetwork("; ".join(f"p{k}->c" if k < 4 else f"c->q{k}" for k in range(40)))
    with pytest.raises(TooLargeError, match="another order"):
        star.elimination("p0", order=["c", *(n for n in star.names if n not in ("c", "p0"))])


def test_the_overall_risk_of_a_rule_is_never_below_that_of_the_bayes_decision():
    posterior = RNG.dirichlet([1, 1, 1], 50)
    loss = RNG.uniform(0, 5, (3, 4))
    actions = RNG.integers(0, 4, 50)
    by_hand = np.mean([(posterior[i] * loss[:, a]).sum() for i, a in enumerate(actions)])
    assert overall_risk(posterior, loss, actions) == pytest.approx(by_hand, rel=1e-12)
    assert overall_risk(posterior, loss) <= overall_risk(posterior, loss, actions)
    with pytest.raises(BayeskitError, match="row 1: actions are 0 to 3; got 4"):
        overall_risk(posterior[:2], loss, [0, 4])
