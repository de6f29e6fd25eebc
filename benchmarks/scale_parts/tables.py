"""The table of the benchmark: text columns, half of whose cells depend on the class."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

N_ROWS, N_COLUMNS, N_LEVELS, N_CLASSES = 2_000_000, 20, 8, 5


def make_table(n_rows: int) -> pa.Table:
    rng = np.random.default_rng(0)
    label = rng.integers(0, N_CLASSES, n_rows, dtype=np.int8)
    levels = pa.array([f"level {v}" for v in range(N_LEVELS)])
    columns = {}
    for j in range(N_COLUMNS):
        own = rng.integers(0, N_LEVELS, n_rows, dtype=np.int8)
        codes = np.where(rng.random(n_rows) < 0.5, own, (label + j) % N_LEVELS)
        columns[f"c{j}"] = levels.take(pa.array(codes))
    columns["y"] = pa.array([f"class {c}" for c in range(N_CLASSES)]).take(pa.array(label))
    return pa.table(columns)


def as_dictionary(table: pa.Table) -> pa.Table:
    return pa.table({name: table[name].combine_chunks().dictionary_encode() for name in table.column_names})


def write_files(table: pa.Table, folder: Path, n_files: int = 4) -> Path:
    folder.mkdir()
    size = -(-table.num_rows // n_files)
    for part in range(n_files):
        pq.write_table(table.slice(part * size, size), folder / f"{part}.parquet", row_group_size=size // 4 + 1)
    return folder


def repeat_files(folder: Path, times: int) -> Path:
    """Return a folder that holds each file under several names: hard links, so that the disk holds it once."""
    repeated = folder.with_name(f"{folder.name}-{times}")
    repeated.mkdir()
    for k in range(times):
        for path in sorted(folder.iterdir()):
            (repeated / f"{k:04}-{path.name}").hardlink_to(path)
    return repeated
