"""The kernels of evidence networks count, back off and leave out as plain loops do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit._kernels import EvidenceNetworks, content_hashes, group_rows, grow_contexts, pair_gains

HIDDEN = 255
DEPTHS = 3


class Case:
    """A small table of codes with two networks: bins, parents and contexts."""

    def __init__(self, seed, n=4, rows=40, k=3, least=3.0, most=1000):
        rng = np.random.default_rng(seed)
        self.n, self.k, self.known = n, k, {}
        levels = rng.integers(2, 6, n)
        self.level_at = np.concatenate([[0], np.cumsum(levels)]).astype(np.int64)
        self.codes = np.stack([rng.integers(0, size, rows) for size in levels]).astype(np.uint8)
        self.y = rng.integers(0, k, rows).astype(np.uint32)
        self.weight = rng.integers(1, 3, rows).astype(np.float64)
        self.sizes = np.stack([rng.integers(1, levels + 1) for _ in range(2)]).astype(np.int32)
        parts = [[rng.integers(0, self.sizes[t, j], levels[j]) for j in range(n)] for t in range(2)]
        self.bins = np.stack([np.concatenate(each) for each in parts]).astype(np.uint8)
        self.parents = np.full((2, n, DEPTHS), -1, dtype=np.int32)
        for t in range(2):
            order = rng.permutation(n)
            for place, i in enumerate(order):
                chosen = rng.permutation(order[:place])[: rng.integers(0, DEPTHS + 1)]
                self.parents[t, i, : len(chosen)] = chosen
        self.least, self.most = np.full((2, n), least), most
        grown = grow_contexts(
            self.codes, self.weight, self.level_at, self.bins, self.sizes, self.parents, self.least, most, 1
        )
        self.grown = grown
        self.networks = EvidenceNetworks(self.level_at, self.bins, self.sizes, self.parents, *grown)

    def binned(self, t, j, row):
        return self.bins[t, self.level_at[j] + self.codes[j, row]]

    def contexts(self, t, i):
        """Return the contexts of each depth that enough rows have, in the order of their numbers: {values: number}."""
        if (t, i) in self.known:
            return self.known[t, i]
        found, number = [{(): 0}], 1
        for d, parent in enumerate(self.parents[t, i]):
            if parent < 0:
                break
            heavy = {}
            for row in range(len(self.y)):
                values = tuple(int(self.binned(t, p, row)) for p in self.parents[t, i, : d + 1])
                if values[:-1] in found[-1]:
                    heavy[values] = heavy.get(values, 0) + self.weight[row]
            # Numbered by the parent's number, then by the value.
            order = sorted(heavy, key=lambda v: (found[-1][v[:-1]], v[-1]))
            kept = [values for values in order if heavy[values] >= self.least[t, i]]
            found.append({values: number + k for k, values in enumerate(kept)})
            number += len(kept)
        self.known[t, i] = found
        return found

    def path(self, t, i, row, hidden=()):
        """Return the contexts of a row, the shortest first."""
        contexts, out = self.contexts(t, i), []
        for d, known in enumerate(contexts):
            if d and self.parents[t, i, d - 1] in hidden:
                break
            values = tuple(int(self.binned(t, p, row)) for p in self.parents[t, i, :d])
            if values not in known:
                break
            out.append(values)
        return out

    def count(self, t, i, values, x, c):
        total = 0.0
        for row in range(len(self.y)):
            mine = (c is None or self.y[row] == c) and (x is None or self.binned(t, i, row) == x)
            if mine and values in self.path(t, i, row):
                total += self.weight[row]
        return total

    def probability(self, t, i, row, c, m, hidden=()):
        x = self.binned(t, i, row)
        p = (self.count(t, i, (), x, None) + 1 / self.sizes[t, i]) / (self.weight.sum() + 1)
        for d, values in enumerate(self.path(t, i, row, hidden)):
            above = self.count(t, i, values, x, c) + m[t, i, d] * p
            p = above / (self.count(t, i, values, None, c) + m[t, i, d])
        return p


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=5, deadline=None)
def test_contexts_and_counts_are_those_of_plain_loops(seed):
    case = Case(seed, rows=25)
    cells = case.networks.count(case.codes, case.y, case.weight, case.k, 1)
    at = 0
    for t in range(2):
        for i in range(case.n):
            contexts = case.contexts(t, i)
            assert case.grown[0][t, i, : len(contexts)].tolist() == [len(each) for each in contexts]
            for known in contexts:
                for values in known:
                    for x in range(case.sizes[t, i]):
                        expected = [case.count(t, i, values, x, c) for c in range(case.k)]
                        assert_array_equal(cells[at], expected)
                        at += 1
    assert at == len(cells) == case.networks.n_values


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=2, deadline=None)
def test_scores_back_off_and_leave_out_as_the_formula_says(seed):
    case = Case(seed, rows=14, least=2.0)
    rng = np.random.default_rng(seed + 1)
    m = rng.choice([0.1, 1.0, 30.0], (2, case.n, DEPTHS + 1))
    cells = case.networks.count(case.codes, case.y, case.weight, case.k, 1)
    group = np.arange(case.n, dtype=np.int32)
    own = np.ones(len(case.y))
    left = case.networks.leave_one_out(cells, m, case.codes, case.y, own, group, case.n, 1)
    tables = case.networks.log_tables(cells, m, 1)
    terms = case.networks.terms(tables, case.codes, 1)
    for row in range(len(case.y)):
        for i in range(case.n):
            for c in range(case.k):
                full = np.mean([np.log(case.probability(t, i, row, c, m)) for t in range(2)])
                assert_allclose(terms[row, i, c], full, rtol=1e-6)  # tables are float32
                expected = 0.0
                for t in range(2):
                    if case.count(t, i, (), case.binned(t, i, row), None) > 1:
                        expected += np.log(_left_out(case, t, i, row, c, m)) / 2
                assert_allclose(left[i, c, row], expected, rtol=1e-6, atol=1e-7)  # float32


def test_networks_of_one_parity_are_counted_and_left_out_alone():
    case = Case(3, rows=40)
    m = np.full((2, case.n, DEPTHS + 1), 2.0)
    given = case.codes, case.y, case.weight, case.k, 1
    cells, halves = case.networks.count(*given), [case.networks.count(*given, parity) for parity in (0, 1)]
    assert_array_equal(halves[0] + halves[1], cells)
    assert not (halves[0] * halves[1]).any()
    left = case.networks.leave_one_out, (cells, m, case.codes, case.y, np.ones(40), np.arange(case.n, dtype=np.int32))
    both, even, odd = (left[0](*left[1], case.n, 1, parity) for parity in (-1, 0, 1))
    assert_allclose(both, (even + odd) / 2, rtol=1e-6, atol=1e-6)  # float32
    assert_array_equal(even, left[0](halves[0], *left[1][1:], case.n, 1, 0))
    with pytest.raises(ValueError, match="no network of this parity"):
        left[0](*left[1], case.n, 1, 2)


def _left_out(case, t, i, row, c, m):
    """P(x_i | c, context) by counts from which one copy of the row is literally taken out."""
    other = Case.__new__(Case)
    other.__dict__.update(case.__dict__)
    other.weight = case.weight.copy()
    case.contexts(t, i)  # structure stays: it is remembered in ``known``, which both share
    other.weight[row] -= 1
    return other.probability(t, i, row, c, m)


def test_a_hidden_cell_adds_nothing_and_a_hidden_parent_backs_off():
    case = Case(5, rows=60)
    m = np.ones((2, case.n, DEPTHS + 1))
    tables = case.networks.log_tables(case.networks.count(case.codes, case.y, case.weight, case.k, 1), m, 1)
    codes = case.codes.copy()
    codes[1] = HIDDEN
    terms = case.networks.terms(tables, codes, 1)
    assert_array_equal(terms[:, 1], 0.0)
    for row in range(5):
        for i in (0, 2, 3):
            expected = np.mean([np.log(case.probability(t, i, row, 0, m, hidden=(1,))) for t in range(2)])
            assert_allclose(terms[row, i, 0], expected, rtol=1e-6)
    weight = np.array([1.0, 2.0, 0.5, 0.0])
    assert_allclose(case.networks.score(tables, codes, weight, 1), np.einsum("rnc,n->rc", terms, weight), rtol=1e-12)
    few = np.ascontiguousarray(codes[:, :5])  # a few rows are walked one by one
    assert_allclose(case.networks.terms(tables, few, 1), terms[:5], rtol=1e-12)
    assert_allclose(case.networks.score_each(tables, codes, 1).mean(axis=0), terms.sum(axis=1), rtol=1e-12)


def test_the_strength_of_back_off_is_the_best_of_the_grid_by_leave_one_out():
    case = Case(3, rows=120, least=2.0)
    cells = case.networks.count(case.codes, case.y, case.weight, case.k, 1)
    grid = np.array([0.1, 1.0, 10.0, 100.0, 1000.0])
    chosen = case.networks.choose_back_off(cells, grid, 1)
    for t in range(2):
        for i in range(case.n):
            x = case.bins[t, case.level_at[i] :][case.codes[i]]
            table = np.zeros((case.sizes[t, i], case.k))
            np.add.at(table, (x, case.y), case.weight)
            margin, total = table.sum(axis=1), table.sum(axis=0)
            root = (margin - 1 + 1 / len(table)) / (margin.sum() - 1 + 1)
            n, p = table, root[:, None]
            used = (n > 0) & (margin > 1)[:, None]
            with np.errstate(divide="ignore", invalid="ignore"):
                value = [(n * np.log((n - 1 + g * p) / (total - 1 + g)))[used].sum() for g in grid]
            assert value[grid.tolist().index(chosen[t, i, 0])] >= max(value) - 1e-9


def test_only_the_most_frequent_contexts_become_nodes_where_there_may_be_few():
    case = Case(8, rows=200, least=1.0, most=3)
    assert case.grown[0].sum(axis=2).max() <= 3
    many = Case(8, rows=200, least=1.0)
    assert many.grown[0].sum(axis=2).max() > 3


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=4, deadline=None)
def test_pair_gains_are_the_leave_one_out_gains_of_plain_loops(seed):
    case = Case(seed, rows=30)
    sizes, bins = case.sizes[0], case.bins[0]
    candidates = np.arange(case.n, dtype=np.int32)
    found = pair_gains(case.codes, case.y, case.weight, case.k, case.level_at, bins, sizes, candidates, 1)
    x = np.stack([bins[case.level_at[j] :][case.codes[j]] for j in range(case.n)])
    for i in range(case.n):
        for j in range(case.n):
            if i == j:
                assert found[i, j] == 0.0
                continue
            best = -np.inf
            for m in (1.0, 10.0, 100.0):
                total = 0.0
                for b in range(sizes[j]):
                    for a in range(sizes[i]):
                        for c in range(case.k):
                            mine = case.y == c
                            n = case.weight[mine & (x[i] == a) & (x[j] == b)].sum()
                            if n == 0:
                                continue
                            alone = case.weight[mine & (x[i] == a)].sum() - 1 + 1 / sizes[i]
                            p = alone / case.weight[mine].sum()
                            parent = case.weight[mine & (x[j] == b)].sum()
                            total += n * np.log((n - 1 + m * p) / (parent - 1 + m) / p)
                best = max(best, total)
            assert_allclose(found[i, j], best / case.weight.sum(), rtol=1e-9, atol=1e-12)


GOLDEN = 0x9E3779B97F4A7C15


def mix64(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def test_equal_rows_become_one_with_their_weight_in_an_order_that_shuffling_does_not_change():
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 3, 200).astype(float)
    numbers[::7] = np.nan
    columns = [numbers, rng.integers(0, 3, 200).astype(np.uint8)]
    y, weight = rng.integers(0, 2, 200).astype(np.uint32), rng.integers(1, 4, 200).astype(float)
    rows, total, group = group_rows(columns, y, weight, True, 1)
    keys = [(*(str(column[r]) for column in columns), int(y[r])) for r in range(200)]
    expected = {}
    for key, w in zip(keys, weight, strict=True):
        expected[key] = expected.get(key, 0) + w
    assert {keys[r]: t for r, t in zip(rows, total, strict=True)} == expected
    assert [keys[r] for r in rows[group]] == keys
    shuffled = rng.permutation(200)
    again, _, none = group_rows([column[shuffled] for column in columns], y[shuffled], weight[shuffled], False, 2)
    assert [keys[r] for r in rows] == [keys[shuffled[r]] for r in again]
    assert len(none) == 0


def test_rows_whose_hashes_begin_alike_stay_apart_in_the_order_of_their_whole_hashes():
    # Of 200,000 rows some ten pairs share the first 31 bits of their hashes.
    numbers = np.arange(200_000, dtype=float)
    y = np.zeros(len(numbers), dtype=np.uint32)
    rows, total, group = group_rows([numbers], y, None, True, 1)
    assert_array_equal(np.sort(rows), np.arange(len(numbers)))
    assert_array_equal(total, 1.0)
    assert_array_equal(rows[group], np.arange(len(numbers)))
    bits = numbers.view(np.uint64) ^ np.uint64(GOLDEN)
    hashes = mix64(mix64(np.ones(1, dtype=np.uint64)) + bits)
    assert len(np.unique(hashes >> np.uint64(33))) < len(numbers)
    assert_array_equal(rows, np.argsort(hashes, kind="stable"))


def test_networks_of_a_damaged_file_are_refused():
    case = Case(1)
    child = case.grown[1].copy()
    child[:] = 10_000
    with pytest.raises(ValueError, match="out of range"):
        EvidenceNetworks(case.level_at, case.bins, case.sizes, case.parents, case.grown[0], child, case.grown[2])


def by_place(hashes):
    """The hash of each row without its last digits, which are the place of the row."""
    last = np.uint64((1 << len(hashes).bit_length()) - 1)
    out = np.empty_like(hashes)
    out[(hashes & last).astype(np.int64)] = hashes & ~last
    assert_array_equal(np.sort(hashes & last), np.arange(len(hashes)))
    return out


def test_hashes_of_content_do_not_depend_on_names_orders_units_and_copies():
    rng = np.random.default_rng(0)
    n = 300
    numbers, codes = rng.normal(size=n).round(2), rng.integers(0, 4, n).astype(np.uint8)
    codes[::11], numbers[::17] = 255, np.nan
    columns, y = [numbers, codes], rng.integers(0, 3, n).astype(np.uint32)
    order, ones = np.arange(n, dtype=np.int32), np.ones(n)
    rows, of_columns, values, classes = content_hashes(columns, order, y, ones, np.array([-1, 4]), 3, 3, 1)
    rows = by_place(rows)
    assert len(set(values)) == 4
    assert len(set(classes)) == 3
    rename, relabel = np.append([2, 0, 3, 1], [255] * 252).astype(np.uint8), np.array([1, 2, 0], dtype=np.uint32)
    shuffled = rng.permutation(n)
    changed = [rename[codes][shuffled], (numbers * 1000 + 2.0**30)[shuffled]]
    other = content_hashes(changed, order, relabel[y][shuffled], ones, np.array([4, -1]), 3, 3, 2)
    assert_array_equal(by_place(other[0]), rows[shuffled])
    assert_array_equal(other[1], of_columns[::-1])
    assert_array_equal(other[2][rename[:4]], values)
    assert_array_equal(other[3][relabel], classes)
    # A row that stands twice in the table counts once, with its weight.
    twice = [np.append(column, column[:1]) for column in columns]
    again = content_hashes(twice, order, np.append(y, y[:1]), ones, np.array([-1, 4]), 3, 3, 1)
    assert_array_equal(by_place(again[0]), rows)
    heavier = content_hashes(columns, order, y, np.append(2.0, ones[1:]), np.array([-1, 4]), 3, 3, 1)
    assert (by_place(heavier[0]) != rows).any()


def test_hashes_of_content_refuse_what_does_not_fit():
    column, y = np.zeros(2), np.zeros(2, dtype=np.uint32)
    order, ones = np.arange(2, dtype=np.int32), np.ones(2)
    with pytest.raises(ValueError, match="whole numbers"):
        content_hashes([column], order, y, ones, np.array([1]), 1, 1, 1)
    with pytest.raises(ValueError, match="row is out of range"):
        content_hashes([column], order + 1, y, ones, np.array([-1]), 1, 1, 1)
    with pytest.raises(ValueError, match="differ in length"):
        content_hashes([column], order, y, ones, np.array([-1, 1]), 1, 1, 1)
