"""The kernel of family scores equals its plain twin, which walks over rows and calls lgamma."""

from collections import Counter
from itertools import combinations
from math import lgamma, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeskit._kernels import FamilyScores, best_sinks

SCORES = ["loglik", "bic", "aic", "mdl", "k2", "bdeu"]


def score_reference(columns, cards, weight, score, child, parents, ess=1.0):
    """The score of one family, from counts of tuples."""
    n_ijk, n_ij = Counter(), Counter()
    for i in range(len(columns[0])):
        family = [int(columns[v][i]) for v in (*parents, child)]
        if all(x < cards[v] for x, v in zip(family, (*parents, child), strict=True)):
            w = 1.0 if weight is None else weight[i]
            n_ijk[tuple(family)] += w
            n_ij[tuple(family[:-1])] += w
    r, q = cards[child], int(np.prod([cards[p] for p in parents]))
    total = len(columns[0]) if weight is None else sum(weight)
    if score == "k2":
        found = sum(lgamma(r) - lgamma(n + r) for n in n_ij.values()) + sum(lgamma(n + 1) for n in n_ijk.values())
    elif score == "bdeu":
        a = ess / q
        found = sum(lgamma(a) - lgamma(a + n) for n in n_ij.values())
        found += sum(lgamma(a / r + n) - lgamma(a / r) for n in n_ijk.values())
    else:
        found = sum(n * log(n / n_ij[key[:-1]]) for key, n in n_ijk.items() if n > 0)
    known = sum(n_ij.values())
    if any((column >= card).any() for column, card in zip(columns, cards, strict=True)) and known > 0:
        found *= total / known
    free = (r - 1) * q
    penalty = {
        "bic": 0.5 * log(total) * free,
        "aic": free,
        "mdl": 0.5 * log(total) * free + len(parents) * log(len(cards)),
    }
    return found - penalty.get(score, 0.0)


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = draw(st.integers(2, 60))
    cards = draw(st.lists(st.integers(1, 4), min_size=2, max_size=5))
    columns = [rng.integers(0, card, n_rows).astype(np.uint8) for card in cards]
    if draw(st.booleans()):
        for column in columns:
            column[rng.random(n_rows) < 0.2] = 255
    weight = rng.integers(1, 4, n_rows).astype(float) if draw(st.booleans()) else None
    return columns, cards, weight


@given(tables(), st.sampled_from(SCORES), st.data())
def test_a_family_scores_as_its_plain_twin(table, score, data):
    columns, cards, weight = table
    child = data.draw(st.integers(0, len(cards) - 1))
    others = [v for v in range(len(cards)) if v != child]
    parents = data.draw(st.lists(st.sampled_from(others), unique=True))
    kernel = FamilyScores(columns, weight, cards, score, 2.5, 1)
    expected = score_reference(columns, cards, weight, score, child, parents, 2.5)
    assert kernel.local(child, parents) == pytest.approx(expected, rel=1e-10, abs=1e-9)


@given(tables(), st.sampled_from(SCORES), st.data())
def test_toggles_are_the_scores_of_the_changed_families(table, score, data):
    columns, cards, weight = table
    child = data.draw(st.integers(0, len(cards) - 1))
    parents = data.draw(st.lists(st.sampled_from([v for v in range(len(cards)) if v != child]), unique=True))
    kernel = FamilyScores(columns, weight, cards, score, 1.0, 2)
    found = kernel.toggles(child, parents, [1] * len(cards))
    for v in range(len(cards)):
        if v == child:
            assert np.isnan(found[v])
            continue
        other = [p for p in parents if p != v] if v in parents else [*parents, v]
        expected = score_reference(columns, cards, weight, score, child, other)
        assert found[v] == pytest.approx(expected, rel=1e-10, abs=1e-9)


@given(tables(), st.sampled_from(SCORES), st.data())
def test_a_pair_gains_more_than_either_and_is_the_best_of_its_first(table, score, data):
    columns, cards, weight = table
    child, *others = data.draw(st.permutations(range(len(cards))))
    parents = others[: data.draw(st.integers(0, 1))]
    free = [v for v in others if v not in parents]
    kernel = FamilyScores(columns, weight, cards, score, 1.0, 2)

    def reference(*more):
        return score_reference(columns, cards, weight, score, child, [*parents, *more])

    found = kernel.strongest_pairs(child, parents, [1] * len(cards), len(cards))
    for x, y in found:
        assert reference(x, y) > max(reference(), reference(x), reference(y)) - 1e-9
        rivals = [[reference(first, other) for other in free if other != first] for first in (x, y)]
        assert any(reference(x, y) >= max(each) - 1e-9 for each in rivals)
    pairs = list(combinations(sorted(free), 2))
    clear = [p for p in pairs if reference(*p) > max(reference(), reference(p[0]), reference(p[1])) + 1e-9]
    if clear:  # the best of all pairs is the best of both of its columns
        best = max(reference(*pair) for pair in pairs)
        if best <= max(reference(*pair) for pair in clear):
            assert max((reference(*pair) for pair in found), default=-np.inf) >= best - 1e-9
    few = kernel.strongest_pairs(child, parents, [1] * len(cards), 1)
    assert len(few) <= 1
    assert all(pair in found for pair in few)
    assert kernel.strongest_pairs(child, parents, [0] * len(cards), 5) == []


@given(tables(), st.sampled_from(SCORES), st.data())
def test_the_strongest_are_those_that_gain_most(table, score, data):
    columns, cards, weight = table
    child, *others = data.draw(st.permutations(range(len(cards))))
    parents = others[: data.draw(st.integers(0, 1))]
    kernel = FamilyScores(columns, weight, cards, score, 1.0, 2)
    most = data.draw(st.integers(0, 4))
    found = kernel.strongest(child, parents, [1] * len(cards), most)
    alone = score_reference(columns, cards, weight, score, child, parents)
    gains = {
        v: score_reference(columns, cards, weight, score, child, [*parents, v]) - alone
        for v in others
        if v not in parents
    }
    assert all(gains[v] > -1e-9 for v in found)
    assert len(found) <= min(most, sum(gain > -1e-9 for gain in gains.values()))
    assert len(found) >= min(most, sum(gain > 1e-9 for gain in gains.values()))
    left = [gain for v, gain in gains.items() if v not in found]
    if found and left and len(found) < most:
        assert max(left) < 1e-9
    assert [gains[v] for v in found] == pytest.approx(sorted((gains[v] for v in found), reverse=True), abs=1e-9)


def test_counts_by_bits_are_counts_by_codes():
    rng = np.random.default_rng(1)
    cards = [2, 3, 4, 2, 5, 2]
    columns = [rng.integers(0, card, 1000).astype(np.uint8) for card in cards]
    columns[2][::7] = 255  # missing
    many = FamilyScores(columns, None, cards, "bic", 1.0, 1)
    for child in range(len(cards)):
        scores = many.toggles(child, [], [1] * len(cards))  # all at once, by bits
        for v in range(len(cards)):
            if v != child:
                alone = FamilyScores(columns, None, cards, "bic", 1.0, 1)
                assert scores[v] == alone.local(child, [v])  # one by one, by codes


@pytest.mark.parametrize("score", SCORES)
def test_wide_columns_are_counted_sparse_and_score_the_same(score):
    rng = np.random.default_rng(0)
    cards = [300, 40, 50, 30]
    columns = [rng.integers(0, card, 500).astype(np.uint16) for card in cards]
    kernel = FamilyScores(columns, None, cards, score, 1.0, 1)
    for parents in ([1], [1, 2], [0, 1, 2]):
        expected = score_reference(columns, cards, None, score, 3, parents)
        assert kernel.local(3, parents) == pytest.approx(expected, rel=1e-10)


def test_a_family_is_counted_once():
    columns = [np.array([0, 1, 0, 1], dtype=np.uint8)] * 3
    kernel = FamilyScores(columns, None, [2, 2, 2], "bic", 1.0, 1)
    kernel.local(0, [1, 2])
    kernel.local(0, [2, 1])
    kernel.toggles(0, [1], [0, 0, 1])
    assert kernel.n_scored == 1


@given(tables(), st.sampled_from(SCORES))
@settings(max_examples=30)
def test_best_subsets_are_the_best_of_all_subsets(table, score):
    columns, cards, weight = table
    kernel = FamilyScores(columns, weight, cards, score, 1.0, 1)
    candidates = list(range(1, len(cards)))
    best, chosen = kernel.best_subsets(0, candidates, [], len(candidates))
    for s in range(1 << len(candidates)):
        inside = [t for t in range(1 << len(candidates)) if t & ~s == 0]
        values = [
            score_reference(columns, cards, weight, score, 0, [c for k, c in enumerate(candidates) if t >> k & 1])
            for t in inside
        ]
        assert best[s] == pytest.approx(max(values), rel=1e-9, abs=1e-8)
        assert int(chosen[s]) & ~s == 0


def test_best_sinks_give_an_order_of_two_variables():
    # Alone each scores −3; variable 1 gains 2 from variable 0, and variable 0 gains 1 from variable 1.
    sinks = best_sinks([np.array([-3.0, -2.0]), np.array([-3.0, -1.0])], 2)
    assert sinks[3] == 1
