"""What docs/theory/scale.md says of very many partitions, and of pairs that no worker can hold alone."""

from itertools import combinations, combinations_with_replacement, pairwise
from math import ceil, log2

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import AODE, NaiveBayes, scan
from bayeskit.table.scan.pieces import merge_tree

N_PARTITIONS = 10_000


@pytest.fixture(scope="module")
def rows():
    """Rows of a hundred partitions; levels and a class that come late, missing cells."""
    rng = np.random.default_rng(0)
    n = 3000
    label = rng.choice(["a", "b"], n).astype(object)
    label[-5:] = "late"
    text = [np.where(rng.random(n) < 0.5, label, rng.choice(["a", "x", "y"], n)) for _ in range(3)]
    text[0][n // 2] = "seen once"
    columns = {f"c{j}": pa.array(column, mask=rng.random(n) < 0.1) for j, column in enumerate(text)}
    return pa.table({**columns, "size": rng.normal(size=n) + 1e6, "label": pa.array(label)})


def test_ten_thousand_partitions_merged_by_a_tree_are_one_fit(rows):
    model = NaiveBayes()
    plan = model.plan(scan(rows), target="label")
    # Partitions of other sizes; one is empty, and some have one class only. Each comes a hundred times.
    cuts = np.sort(np.random.default_rng(1).integers(0, rows.num_rows, 98))
    cuts = [0, *cuts.tolist(), rows.num_rows]
    parts = [plan.count(rows.slice(a, b - a).to_batches()) for a, b in pairwise(cuts)] + [plan.count([])]
    parts = parts * (N_PARTITIONS // len(parts))
    assert len(parts) == N_PARTITIONS
    whole = pa.concat_tables([rows] * 100)
    (meta, arrays), (expected_meta, expected) = (
        counts.to_parts() for counts in (plan.merge(parts), model.fit(scan(whole), target="label").counts_)
    )
    assert meta == expected_meta
    for name, array in expected.items():
        if array.dtype.kind == "i":
            assert_array_equal(arrays[name], array)
        else:
            assert_allclose(arrays[name], array, rtol=1e-12, atol=1e-12)


def test_a_tree_of_ten_thousand_is_fourteen_deep_and_holds_fourteen_sums_at_a_time():
    alive, most = 0, 0

    def parts():
        nonlocal alive, most
        for _ in range(N_PARTITIONS):
            alive += 1
            most = max(most, alive)
            yield 0

    def merge(a, b):
        nonlocal alive
        alive -= 1
        return max(a, b) + 1

    depth = merge_tree(parts(), merge)
    assert alive == 1
    assert depth == ceil(log2(N_PARTITIONS)) == 14
    assert most <= 14


def test_pairs_counted_by_blocks_of_columns_are_the_pairs_of_all_columns():
    rng = np.random.default_rng(1)
    names = [f"c{j}" for j in range(12)]
    table = pa.table({**{name: rng.integers(0, 4, 500).astype(str) for name in names}, "y": rng.integers(0, 3, 500)})
    whole = AODE().fit(scan(table), target="y").counts_
    blocks = [names[:4], names[4:8], names[8:]]
    found, cells_read = {}, 0
    # No worker holds more than the pairs of two blocks, and none reads more than their columns.
    for first, second in combinations_with_replacement(blocks, 2):
        columns = sorted({*first, *second}, key=names.index)
        cells_read += len(columns)
        counts = AODE().fit(scan(table).select([*columns, "y"]), target="y").counts_
        for i, j in combinations(range(len(columns)), 2):
            found[columns[i], columns[j]] = counts.table((i, j))
    for i, j in combinations(range(12), 2):
        assert_array_equal(found[names[i], names[j]], whole.table((i, j)))
    # Each column is read with its own block and with each other one: B blocks read the table B times.
    assert cells_read == len(blocks) * len(names)
