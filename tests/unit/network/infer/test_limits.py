"""What an exact answer may cost: memory that is stored, sizes of any magnitude, refusals that come at once."""

import re
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayeskit._kernels import triangulate
from bayeskit.errors import ImpossibleEvidenceError, TooLargeError
from bayeskit.network import BayesianNetwork
from bayeskit.network.infer import impossible_evidence
from bayeskit.network.infer.exact import ExactEngine

# A refusal takes a second or so; a search without bounds went on for many minutes at this size, and is ended.
HANGS_AFTER = 300.0


def random_network(n, n_states, n_parents):
    rng = np.random.default_rng(0)
    parents = [tuple(rng.choice(i, min(i, n_parents), replace=False).tolist()) for i in range(n)]
    tables = [np.full([n_states] * (len(own) + 1), 1 / n_states) for own in parents]
    names, states = [f"v{i}" for i in range(n)], [[f"s{k}" for k in range(n_states)]] * n
    return BayesianNetwork.from_tables(names, states, parents, tables)


def grid(n, table=None):
    """A grid of n · n variables; each is a noisy copy of its neighbours above and to the left."""
    at = lambda i, j: i * n + j  # noqa: E731
    parents = [
        tuple(p for p in (at(i - 1, j) if i else -1, at(i, j - 1) if j else -1) if p >= 0)
        for i in range(n)
        for j in range(n)
    ]
    rng = np.random.default_rng(1)
    tables = [rng.dirichlet([1.0, 1.0], size=[2] * len(own)) for own in parents]
    if table is not None:
        tables = [table(len(own)) for own in parents]
    names = [f"x{i}_{j}" for i in range(n) for j in range(n)]
    return BayesianNetwork.from_tables(names, [["no", "yes"]] * (n * n), parents, tables)


def copies(n_parents):
    """A variable equals its first parent."""
    first = np.eye(2) if n_parents else np.full(2, 0.5)
    return np.broadcast_to(first.reshape([2] * min(n_parents, 1) + [1] * (n_parents - 1) + [2]), [2] * (n_parents + 1))


def test_a_tree_beyond_1e308_cells_is_refused_by_name_and_its_size_is_told():
    net = random_network(1500, 16, 2)
    size = net.tree_size()
    assert size.cells == float("inf")
    assert size.log2_cells > 1024
    assert size.log2_largest_cells == pytest.approx(len(size.largest_clique) * np.log2(16), rel=1e-12)
    assert re.match(r"[\d.]+e\+\d{3} cells \([\d.]+e\+\d{3} B\); the largest clique has", repr(size))
    for ask in (net.posterior, net.most_probable):
        with pytest.raises(TooLargeError, match=r"goes through [\d.]+e\+\d{3} cells, more than 2\^40 .* variables: v"):
            ask()


REFUSED_LARGE = """
import numpy as np
from bayeskit.errors import TooLargeError
from bayeskit.network import BayesianNetwork

rng, n = np.random.default_rng(0), 6000
parents = [tuple(rng.choice(i, min(i, 3), replace=False).tolist()) for i in range(n)]
tables = [np.full([2] * (len(own) + 1), 0.5) for own in parents]
net = BayesianNetwork.from_tables([f"v{i}" for i in range(n)], [["no", "yes"]] * n, parents, tables)
for ask in (net.posterior, net.most_probable, lambda: net.probability({"v5999": "no"})):
    try:
        ask()
    except TooLargeError as error:
        print("refused")
"""


def test_the_refusal_of_a_large_tree_does_not_hang():
    done = subprocess.run([sys.executable, "-c", REFUSED_LARGE], capture_output=True, text=True, timeout=HANGS_AFTER)
    assert done.stdout.split() == ["refused"] * 3


def test_the_size_of_an_order_is_a_logarithm_beyond_doubles():
    n = 1200
    cards, scope = [2] * n, list(range(n))
    order, cliques, _, total, log2_total = triangulate(cards, [scope], [0] * n, 4, 10**6, 0)
    assert sorted(order) == scope
    assert [sorted(clique) for clique in cliques] == [scope]
    assert total == float("inf")
    assert log2_total == pytest.approx(n, rel=1e-12)


def test_the_limit_counts_what_is_stored():
    net = grid(17)
    size = net.tree_size()
    assert 8 * size.cells > 4 * size.stored_bytes  # cliques of this size are made twice and never stored
    answer = net.posterior(max_memory=size.stored_bytes)
    assert_allclose(answer["x8_8"].array, net.posterior("x8_8").array, atol=1e-12)
    with pytest.raises(TooLargeError, match="over the limit of"):
        net.posterior(max_memory=size.stored_bytes - 1)


def test_an_event_is_refused_as_any_question_is():
    net = grid(30)
    with pytest.raises(TooLargeError, match="Sample instead"):
        net.probability({"x29_29": "yes"}, given={"x29_28": "yes", "x0_0": "no"})


def test_an_impossible_event_has_probability_0_and_impossible_evidence_is_refused():
    net = BayesianNetwork("rain->wet", tables={"rain": [0.8, 0.2], "wet": [[1.0, 0.0], [0.1, 0.9]]})
    assert net.probability({"rain": "no"}, given={"wet": "yes"}) == 0.0
    assert_allclose(net.probability({"rain": "yes"}, given={"wet": "no"}), 0.02 / 0.82, rtol=1e-13)
    with pytest.raises(ImpossibleEvidenceError, match="rain=no and wet=yes"):
        net.probability({"rain": "no"}, given={"rain": "no", "wet": "yes"})


def test_the_conflict_is_the_smallest_of_many_pieces():
    net = grid(6, copies)  # all of a column are copies of its top; the first row, of the corner
    names = list(net.names)
    given = dict.fromkeys(names, "yes") | {"x3_4": "no"}
    with pytest.raises(ImpossibleEvidenceError) as refusal:
        net.posterior("x0_0", given=given)
    found = re.search(r"impossible: (.*) cannot hold together", str(refusal.value)).group(1).split(" and ")
    assert len(found) == 2
    assert "x3_4=no" in found


def test_a_conflict_that_would_take_long_names_all_of_the_evidence(monkeypatch):
    net = grid(3, copies)
    given = {"x0_0": "yes", "x1_0": "yes", "x2_2": "no"}
    with pytest.raises(ImpossibleEvidenceError, match="x1_0=yes and x2_2=no cannot hold together"):
        net.posterior(given=given)
    monkeypatch.setattr(impossible_evidence, "CONFLICT_BUDGET", 1e3)
    with pytest.raises(ImpossibleEvidenceError, match=r"x0_0=yes, x1_0=yes and x2_2=no cannot hold.*was not searched"):
        net.posterior(given=given)


@pytest.mark.parametrize(("n", "least"), [(12, 10), (30, 1)])
def test_the_search_for_a_conflict_keeps_its_memory_and_its_budget(n, least, monkeypatch):
    # With all observed the question is small; half of it is far beyond any memory on the large grid, and is not asked.
    net = grid(n, lambda k: np.full([2] * (k + 1), 0.5) if k != 1 else np.eye(2))
    last = net.names[-1]
    given = {name: "yes" for name in net.names if name != last} | {"x0_1": "no"}
    run, limit, asked = ExactEngine.run, 1 << 20, []

    def noted(engine, plan, ask, evidence, most):
        asked.append((16 * plan.stored, plan.cost))
        return run(engine, plan, ask, evidence, most)

    monkeypatch.setattr(ExactEngine, "run", noted)
    with pytest.raises(ImpossibleEvidenceError, match="cannot hold together"):
        net.posterior(last, given=given, max_memory=limit)
    assert len(asked) >= least
    assert max(n_bytes for n_bytes, _ in asked) <= limit
    assert sum(cost for _, cost in asked) <= impossible_evidence.CONFLICT_BUDGET
