"""Sequences of a scan: counted whole groups at a time, as one table in memory."""

import numpy as np
import pytest

from bayeskit import HiddenMarkov, scan
from bayeskit.errors import TableError


def columns(n_groups=40, seed=0):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 30, n_groups)
    n = int(lengths.sum())
    state = np.array(["calm", "wild"])[rng.integers(0, 2, n)]
    return {
        "herd": np.repeat([f"g{i}" for i in rng.permutation(n_groups)], lengths),
        "day": np.concatenate([np.arange(k) for k in lengths]),
        "state": state,
        "speed": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n) + (state == "wild")),
        "sound": np.array(["low", "high", None], dtype=object)[rng.integers(0, 3, n)],
    }


def table_of(rows):
    import pyarrow as pa

    return pa.table({name: pa.array(cells.tolist(), from_pandas=True) for name, cells in rows.items()})


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_batches_of_any_size_give_the_counts_of_one_table(size):
    rows = columns()
    whole = HiddenMarkov().fit(rows, group="herd", time="day", target="state")
    batches = table_of(rows).to_batches(max_chunksize=size)
    parts = HiddenMarkov().fit(scan(iter(batches)), group="herd", time="day", target="state")
    for name in ("n_start", "n_step", "n_class"):
        np.testing.assert_array_equal(getattr(parts.counts_, name), getattr(whole.counts_, name))
    ask = {name: rows[name][:50] for name in ("herd", "day", "speed", "sound")}
    np.testing.assert_allclose(
        parts.smooth(ask, group="herd", time="day"), whole.smooth(ask, group="herd", time="day"), rtol=1e-9
    )


def test_files_in_a_folder_are_read_in_turn_and_a_group_may_go_on_in_the_next(tmp_path):
    import pyarrow.parquet as pq

    rows = columns()
    table = table_of(rows)
    for k, begin in enumerate(range(0, table.num_rows, 100)):
        pq.write_table(table.slice(begin, 100), tmp_path / f"{k:02}.parquet")
    found = HiddenMarkov().count(scan(tmp_path), group="herd", time="day", target="state")
    whole = HiddenMarkov().count(rows, group="herd", time="day", target="state")
    np.testing.assert_array_equal(found.n_step, whole.n_step)


def test_a_scan_that_is_not_sorted_by_group_is_refused_with_the_group():
    rows = columns(6)
    order = np.argsort(rows["day"], kind="stable")
    mixed = {name: cells[order] for name, cells in rows.items()}
    for size in (5, 10_000):
        with pytest.raises(TableError, match=r"rows of group 'g\d' come again after those of others"):
            HiddenMarkov().fit(
                scan(iter(table_of(mixed).to_batches(max_chunksize=size))), group="herd", time="day", target="state"
            )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"group": "herd"}, "hidden states are learned by EM"),
        ({"target": "state"}, "a scan needs the name of the column"),
        ({"group": "hard", "target": "state"}, "did you mean 'herd'"),
        ({"group": "herd", "target": "state", "y": [1]}, "no y or lengths"),
    ],
)
def test_what_a_scan_cannot_give_is_said(options, message):
    with pytest.raises(TableError, match=message):
        HiddenMarkov().fit(scan(table_of(columns(3))), **options)


def test_a_row_without_a_group_is_refused():
    rows = columns(3)
    rows["herd"] = rows["herd"].astype(object)
    rows["herd"][4] = None
    with pytest.raises(TableError, match="group, row 4: there is no value"):
        HiddenMarkov().fit(scan(table_of(rows)), group="herd", target="state")
