"""Questions of one case: their forms, their refusals, and how the answers read."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import BayesianNetwork
from bayeskit.errors import BayeskitWarning, NetworkError, TooLargeError
from bayeskit.network.infer.evidence import Marginal
from bayeskit.network.infer.exact import QUESTIONS_TO_COMPILE


@pytest.fixture
def net():
    return BayesianNetwork("rain->wet", tables={"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.1, 0.9]]})


def grid(n):
    """Binary variables on a grid, each the child of those above and to the left: its treewidth grows with n."""
    names = {(i, j): f"x{i}_{j}" for i in range(n) for j in range(n)}
    arcs = [(names[i, j], names[i + 1, j]) for i in range(n - 1) for j in range(n)]
    arcs += [(names[i, j], names[i, j + 1]) for i in range(n) for j in range(n - 1)]
    return BayesianNetwork(arcs, random_tables=1)


def test_a_posterior_is_a_mapping_that_prints_as_a_table(net):
    posterior = net.posterior("rain", given={"wet": "yes"})
    assert list(posterior) == ["no", "yes"]
    assert posterior.best == "yes"
    assert not posterior.quality.approximate
    assert repr(posterior) == "rain  P\nno    0.307692\nyes   0.692308"
    assert_allclose(np.asarray(posterior), posterior.array)
    with pytest.raises(KeyError, match="rain has no state 'maybe'; states: no, yes"):
        posterior["maybe"]


def test_several_posteriors_come_in_the_order_asked_for(net):
    answer = net.posterior(["wet", "rain"])
    assert list(answer) == ["wet", "rain"]
    with pytest.raises(KeyError, match="no answer for 'rian'; did you mean 'rain'"):
        answer["rian"]
    assert_allclose(answer["rain"].array, [0.8, 0.2])
    assert repr(answer).splitlines()[1] == "wet       no 0.74  yes 0.26"


def test_a_joint_puts_observed_variables_on_their_state(net):
    joint = net.joint(["wet", "rain"], given={"wet": "yes"})
    assert_allclose(joint.array, [[0.0, 0.0], [0.08 / 0.26, 0.18 / 0.26]])
    assert_allclose(net.joint(["wet"], given={"wet": "yes"}).array, [0.0, 1.0])
    with pytest.raises(KeyError, match="give one state for each of wet, rain"):
        joint["yes"]


def test_an_event_that_contradicts_the_evidence_has_probability_zero(net):
    assert net.probability({"wet": "no"}, given={"wet": "yes"}) == 0.0
    assert net.probability({"wet": {"no", "yes"}}, given={"wet": "yes"}) == 1.0
    assert_allclose(net.probability({"wet": "yes"}, given={"wet": [0.5, 1.0]}), 0.26 / (0.26 + 0.37))


def test_the_most_probable_states_of_a_set_differ_from_those_one_by_one():
    # P(a, b): .4 on (no, no), .3 on (yes, no) and .3 on (yes, yes); a alone is "yes", the best pair has a = "no".
    net = BayesianNetwork("a->b", tables={"a": [0.4, 0.6], "b": [[1.0, 0.0], [0.5, 0.5]]})
    assert dict(net.most_probable()) == {"a": "no", "b": "no"}
    assert dict(net.most_probable("a")) == {"a": "yes"}
    assert_allclose(net.most_probable().probability, 0.4)


def test_the_same_answer_comes_from_the_shrunk_network_and_from_the_compiled_tree(net):
    first = net.posterior("rain", given={"wet": "yes"}).array
    for _ in range(QUESTIONS_TO_COMPILE + 1):
        last = net.posterior("rain", given={"wet": "yes"}).array
    assert_allclose(last, first, rtol=1e-14)


def test_a_variable_with_one_state_is_certain():
    net = BayesianNetwork.from_tables(["a", "b"], [["only"], ["x", "y"]], [(), (0,)], [[1.0], [[0.3, 0.7]]])
    assert net.posterior("a", given={"b": "x"}).array == [1.0]
    assert_allclose(net.posterior("b", given={"a": "only"}).array, [0.3, 0.7])
    assert dict(net.most_probable()) == {"a": "only", "b": "y"}
    assert net.sample(5)["a"].tolist() == ["only"] * 5


def test_thirty_parents_with_one_state_are_no_trouble():
    names = [f"p{i}" for i in range(30)] + ["child"]
    tables = [[1.0]] * 30 + [np.array([0.3, 0.7]).reshape([1] * 30 + [2])]
    net = BayesianNetwork.from_tables(names, [["one"]] * 30 + [["x", "y"]], [()] * 30 + [tuple(range(30))], tables)
    assert_allclose(net.posterior(given={"p3": "one"})["child"].array, [0.3, 0.7])
    assert net.posterior("p7", given={"child": "x"}).array == [1.0]
    assert_allclose(net.predict_proba({"child": ["x", None]}, "p0"), [[1.0], [1.0]])
    assert net.posterior_rows({"child": ["x", None]}, ["p0", "p1"])["p1"].tolist() == [[1.0], [1.0]]


def test_thousands_of_observations_do_not_underflow():
    """A naive Bayes network with 2000 features, half of them for each class: by hand, in logarithms."""
    n = 2000
    rng = np.random.default_rng(0)
    rows = rng.dirichlet([1, 1], size=(n, 2))
    rows[::2, 0, 0], rows[1::2, 1, 0] = 1e-4, 1e-4
    rows[..., 1] = 1 - rows[..., 0]
    names = ["class"] + [f"x{i}" for i in range(n)]
    net = BayesianNetwork.from_tables(
        names, [["a", "b"]] * (n + 1), [()] + [(0,)] * n, [np.array([0.3, 0.7]), *rows], normalize=True
    )
    log = np.log([0.3, 0.7]) + np.log(rows[:, :, 0]).sum(axis=0)
    expected = np.exp(log - np.logaddexp(*log))
    given = dict.fromkeys(names[1:], "a")
    answer = net.posterior(given=given)
    assert_allclose(answer["class"].array, expected, rtol=1e-10)
    assert_allclose(answer.log_evidence, np.logaddexp(*log), rtol=1e-12)
    assert_allclose(net.posterior("class", given=given).array, expected, rtol=1e-10)
    table = {name: ["a", None] for name in names[1:]}
    table["x0"] = [None, None]
    log -= np.log(rows[0, :, 0])
    expected = np.exp(log - np.logaddexp(*log))
    assert_allclose(net.predict_proba(table, "class"), [expected, [0.3, 0.7]], rtol=1e-10)
    assert_allclose(net.posterior_rows(table, ["class", "x0"])["class"], [expected, [0.3, 0.7]], rtol=1e-10)


def test_the_size_is_known_before_the_work():
    net = BayesianNetwork("a->b->c; a->c; c->d")
    size = net.tree_size()
    assert size.cells == 8 + 4
    assert size.n_bytes == 96
    assert sorted(size.largest_clique) == ["a", "b", "c"]


def test_a_large_network_is_refused_before_the_work_and_names_its_largest_clique():
    net = grid(30)
    with pytest.raises(TooLargeError, match=r"the largest clique has .* cells over \d+ variables: x"):
        net.posterior(given={"x0_0": "yes"})
    with pytest.raises(TooLargeError, match=r"method='weighting', or method='auto'"):
        net.posterior("x29_29")


def test_the_advice_of_a_refusal_helps_for_the_call_that_was_refused():
    large, small = grid(60), grid(6)  # more than 2^40 cells, which no memory holds; and a few hundred
    calls = {
        "pass method='weighting'": lambda net, **more: net.posterior(net.names[-1], **more),
        "with a likelihood in place of each Marginal": lambda net, **more: net.posterior(
            net.names[-1], given={net.names[-1]: Marginal([0.3, 0.7])}, method="auto", **more
        ),
        "Ask for fewer variables at once": lambda net, **more: net.joint([net.names[0], net.names[-1]], **more),
        "Sample instead: posterior": lambda net, **more: net.probability({net.names[-1]: "yes"}, **more),
        "Give more evidence, so that": lambda net, **more: net.most_probable(**more),
        "the entropy of fewer variables": lambda net, **more: net.entropy(**more),
        "Name fewer tables": lambda net, **more: net.sensitivity(net.names[-1], **more),
        "Give more evidence.": lambda net, **more: net.questions(net.names[-1], **more),
        "Sample without evidence": lambda net, **more: net.sample(5, given={net.names[-1]: "yes"}, **more),
    }
    for advice, ask in calls.items():
        with pytest.raises(TooLargeError) as beyond:
            ask(large)
        assert advice in str(beyond.value)
        assert "max_memory" not in str(beyond.value)
        assert str(beyond.value).count("method='weighting'") <= 1
        with pytest.raises(TooLargeError, match="Pass a larger max_memory") as refused:
            ask(small, max_memory=64)
        assert advice in str(refused.value)
        ask(small)


def test_the_posterior_of_one_variable_has_the_log_evidence_of_all():
    given = {"x2_2": "yes", "x0_1": "no"}
    expected = grid(3).posterior(given=given).log_evidence
    compiled = grid(3)
    compiled.posterior()
    for net in (grid(3), compiled):  # by a part of the network, and by the tree of the whole
        answer = net.posterior("x1_1", given=given)
        assert answer.log_evidence == pytest.approx(expected, rel=1e-12)
        assert pickle.loads(pickle.dumps(answer)).log_evidence == answer.log_evidence
        assert net.posterior("x2_2", given=given).log_evidence == pytest.approx(expected, rel=1e-12)
        assert net.posterior(["x1_1"], given=given)["x1_1"].log_evidence == pytest.approx(expected, rel=1e-12)
        assert np.isnan(net.posterior("x1_1", given={"x2_2": Marginal([0.3, 0.7])}).log_evidence)
        assert np.isnan(net.posterior("x1_1", given=given, method="weighting").log_evidence)


def test_auto_samples_where_it_must_and_says_so():
    net = grid(30)
    with pytest.warns(BayeskitWarning, match="this answer is sampled, not exact"):
        answer = net.posterior(method="auto", given={"x0_0": "yes"}, n_samples=20_000)["x1_1"]
    assert answer.quality.approximate
    assert answer.quality.method == "weighting"
    exact = net.posterior("x1_1", given={"x0_0": "yes"})  # what stands below is left out, so this is small
    assert abs(answer["yes"] - exact["yes"]) < 4 * answer.standard_error[1]


def test_a_smaller_limit_refuses_what_a_larger_allows(net):
    with pytest.raises(TooLargeError, match="over the limit of 8 B"):
        net.posterior("rain", max_memory=8)
    net.posterior("rain", max_memory=1024)
    with pytest.raises(TooLargeError, match="over the limit of 8 B"):
        net.posterior("rain", max_memory=8)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda net: net.posterior("rian"), "unknown variable 'rian'; did you mean 'rain'"),
        (lambda net: net.posterior("rain", method="guess"), "method must be 'exact', 'auto'"),
        (lambda net: net.joint([]), "joint needs at least one variable"),
        (lambda net: net.joint(["rain", "rain"]), "variable 'rain' appears twice"),
        (lambda net: net.most_probable(["wet", "wet"]), "variable 'wet' appears twice"),
        (lambda net: net.probability({}), "event must map variables to states"),
        (lambda net: net.probability({"rain": [0.3, 0.4]}), "likelihoods go into given"),
        (lambda net: net.posterior("rain", n_samples=0), "n_samples must be a whole number of at least 1; got 0"),
        (lambda net: net.posterior("rain", error=2.0), "error is the standard error to reach"),
        (lambda net: net.posterior("rain", error="small"), "error is the standard error to reach"),
        (lambda net: net.posterior("rain", random_state=-1), "random_state must be a whole number from 0"),
        (lambda net: net.sample(-1), "n must be a whole number of at least 0; got -1"),
        (lambda net: net.sample(True), "n must be a whole number"),
        (lambda net: net.sample(3, output="xml"), "output must be 'dict'"),
    ],
)
def test_bad_questions_are_refused(net, ask, message):
    with pytest.raises(NetworkError, match=message):
        ask(net)


def test_a_network_may_be_asked_from_several_threads_at_once():
    net = BayesianNetwork([(f"x{i}", f"x{i + 1}") for i in range(60)], random_tables=2)
    questions = [{f"x{i}": "yes", f"x{59 - i}": "no"} for i in range(20)] * 10
    expected = [net.posterior(given=given)["x30"].array for given in questions]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda given: net.posterior(given=given)["x30"].array, questions))
    assert_array_equal(found, expected)
