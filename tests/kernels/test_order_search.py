"""The kernel of order search equals its plain twin, which grows and shrinks anew for every order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeskit._kernels import BestMoves, FamilyScores

LEAST = 1e-8


def grow_shrink(scores, v, before, required, max_parents):
    parents, score = list(required), scores.local(v, list(required))
    while len(parents) < max_parents:
        gains = [(scores.local(v, sorted([*parents, c])), c) for c in before if c not in parents]
        best = max(gains, default=(-np.inf, -1), key=lambda each: each[0])
        if best[0] <= score + LEAST:
            break
        score, parents = best[0], [*parents, best[1]]
    while len(parents) > len(required):
        gains = [(scores.local(v, sorted(set(parents) - {p})), p) for p in parents if p not in required]
        best = max(gains, key=lambda each: each[0])
        if best[0] <= score + LEAST:
            break
        score, parents = best[0], [p for p in parents if p != best[1]]
    return score, sorted(parents)


def best_parents(scores, v, before, required, max_parents):
    """Grow and shrink; then again with each parent left out in turn, while that is better."""
    score, parents = grow_shrink(scores, v, before, required, max_parents)
    while True:
        others = [
            (*grow_shrink(scores, v, [c for c in before if c != p], required, max_parents), p)
            for p in parents
            if p not in required
        ]
        best = max(others, default=(-np.inf, [], -1), key=lambda each: each[0])
        if best[0] <= score + LEAST:
            return score, parents
        score, parents, before = best[0], best[1], [c for c in before if c != best[2]]


def score_of_order(scores, order, candidates, required, max_parents):
    total = 0.0
    for place, v in enumerate(order):
        before = [c for c in candidates[v] if c in order[:place]]
        total += best_parents(scores, v, before, required[v], max_parents)[0]
    return total


@st.composite
def searches(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, n_rows = draw(st.integers(2, 6)), draw(st.integers(20, 200))
    columns = [rng.integers(0, 2, n_rows)]
    for _ in range(n - 1):
        columns.append((rng.choice(columns) + rng.choice(columns) + (rng.random(n_rows) < 0.2)) % 3)
    columns = [column.astype(np.uint8) for column in columns]
    scores = FamilyScores(columns, None, [3] * n, draw(st.sampled_from(["bic", "bdeu", "k2", "aic"])), 1.0, 1)
    order = rng.permutation(n).tolist()
    required = [[] for _ in range(n)]
    if draw(st.booleans()):
        required[order[1]] = [order[0]]
    allowed = rng.random((n, n)) < draw(st.sampled_from([0.6, 1.0]))
    candidates = [[a for a in range(n) if a != b and allowed[a, b] and a not in required[b]] for b in range(n)]
    return scores, order, candidates, required, draw(st.integers(1, n))


@given(searches())
def test_the_network_of_an_order_is_that_of_its_plain_twin(search):
    scores, order, candidates, required, max_parents = search
    moves = BestMoves(scores, candidates, required, max_parents)
    moves.order = order
    assert moves.score() == pytest.approx(score_of_order(scores, order, candidates, required, max_parents), rel=1e-12)
    parents = moves.parents()
    assert moves.score() == pytest.approx(sum(scores.local(v, parents[v]) for v in order), rel=1e-12)
    for v in order:
        assert set(required[v]) <= set(parents[v]) <= {*candidates[v], *required[v]}
        assert all(order.index(p) < order.index(v) for p in parents[v])


@given(searches())
@settings(max_examples=60)
def test_a_variable_is_moved_to_its_best_place(search):
    scores, order, candidates, required, max_parents = search
    moves = BestMoves(scores, candidates, required, max_parents)
    moves.order = order
    x = order[0]
    moves.sweep([x], 1e9)
    rest = order[1:]
    legal = [[*rest[:k], x, *rest[k:]] for k in range(len(order))]
    legal = [each for each in legal if all(each.index(p) < each.index(v) for v in each for p in required[v])]
    best = max(score_of_order(scores, each, candidates, required, max_parents) for each in legal)
    assert moves.score() == pytest.approx(best, rel=1e-10)
    assert moves.order in legal


class Called:
    """A score that is written in Python."""

    def __init__(self, scores):
        self.scores = scores

    def local(self, child, parents):
        return self.scores.local(child, parents)


@given(searches())
@settings(max_examples=30)
def test_a_score_in_python_gives_the_same_search(search):
    scores, order, candidates, required, max_parents = search
    ends = []
    for each in (scores, Called(scores)):
        moves = BestMoves(each, candidates, required, max_parents)
        moves.order = order
        while moves.sweep(order, 1e9):
            pass
        ends.append((moves.order, moves.parents()))
    assert ends[0] == ends[1]


def test_two_parents_that_say_nothing_alone_are_found_where_the_pair_is_given():
    rng = np.random.default_rng(0)
    a, b, other = rng.integers(0, 2, (3, 500)).astype(np.uint8)
    columns = [a, b, other, a ^ b]
    candidates = [[], [], [], [0, 1, 2]]
    scores = FamilyScores(columns, None, [2] * 4, "bic", 1.0, 1)
    assert scores.strongest_pairs(3, [], [1] * 4, 3) == [[0, 1]]
    assert BestMoves(scores, candidates, [[]] * 4, 3).parents()[3] == []
    assert BestMoves(scores, candidates, [[]] * 4, 3, [[], [], [], [[0, 1]]]).parents()[3] == [0, 1]
    assert BestMoves(scores, candidates, [[]] * 4, 1, [[], [], [], [[0, 1]]]).parents()[3] == []  # max_parents
    moves = BestMoves(scores, candidates, [[]] * 4, 3, [[], [], [], [[0, 1]]])
    moves.order = [0, 3, 1, 2]  # one of the two stands after it
    assert moves.parents()[3] == []
    for pairs in ([[], [], [], [[0]]], [[[1, 2]], [], [], []]):
        with pytest.raises(ValueError, match="a pair is two candidates"):
            BestMoves(scores, candidates, [[]] * 4, 3, pairs)


def test_a_sweep_ends_when_its_time_is_over():
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 2, 50).astype(np.uint8) for _ in range(8)]
    scores = FamilyScores(columns, None, [2] * 8, "aic", 1.0, 1)
    moves = BestMoves(scores, [[a for a in range(8) if a != b] for b in range(8)], [[]] * 8, 8)
    assert moves.sweep(list(range(8)), 0.0) <= 1
