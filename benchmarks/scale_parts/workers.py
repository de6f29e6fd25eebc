"""Rows per CPU second from Parquet files: in one process, by Dask's and Spark's workers, and by Spark MLlib."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from bayeskit import AODE, NaiveBayes, scan
from benchmarks.scale_parts.engines import cpu_of_all, dask_client, spark_session
from benchmarks.scale_parts.tables import (
    N_CLASSES,
    N_COLUMNS,
    N_LEVELS,
    N_ROWS,
    as_dictionary,
    make_table,
    repeat_files,
    write_files,
)
from benchmarks.timing import write_section

# The table is repeated so often, so that a rate is a rate and not the fixed cost of a job.
TIMES = 10
RUNS = 3
# Spark's compiler has warmed up after so many jobs.
WARM = 2


@dataclass(frozen=True)
class Line:
    """One way to count: CPU seconds for the table and for the table repeated."""

    way: str
    model: str
    once: float
    often: float
    aim: str = ""

    @property
    def rate(self) -> float:
        """Million rows per CPU second, of the repeated table."""
        return TIMES * N_ROWS / self.often / 1e6

    @property
    def fixed(self) -> float:
        """CPU seconds that a job costs however few rows it reads: the line through both points."""
        return max(0.0, self.once - (self.often - self.once) / (TIMES - 1))

    @property
    def short(self) -> float:
        """Million rows per CPU second, of the table alone."""
        return N_ROWS / self.once / 1e6

    def markdown(self, ours: float | None) -> str:
        """Return the line of the table; ``ours`` is the rate of one process."""
        share = "" if ours is None else f"{self.rate / ours:.0%}"
        found = (self.way, self.model, f"{self.rate:.3g}", share, self.aim, f"{self.short:.3g}", f"{self.fixed:.2f}")
        return f"| {' | '.join(found)} |"


def run(base: Path) -> None:
    table = make_table(N_ROWS)
    folders = {
        name: write_files(form, base / name) for name, form in (("dictionary", as_dictionary(table)), ("text", table))
    }
    local = list(_shown(_local(folders)))
    ours = {line.model: line.rate for line in local[:2]}
    lines = [line.markdown(None) for line in local]
    by_spark, mllib = _spark(folders)
    others = [*_shown(_dask(folders["dictionary"])), *by_spark]
    lines += [line.markdown(ours.get(line.model)) for line in others]
    times = ", ".join(f"{line.way} {line.short / mllib:.0f} ×" for line in others if line.model == "NaiveBayes")
    body = [
        "| way | model | million rows per CPU second | of one process | aim | of a short job | fixed CPU seconds |",
        "|---|---|--:|--:|--:|--:|--:|",
        *lines,
        f"| Spark MLlib: index, one-hot, assemble, fit | NaiveBayes | | | | {mllib:.2g} | |",
        f"\n{TIMES * N_ROWS:,} rows × {N_COLUMNS} text columns of {N_LEVELS} levels, {N_CLASSES} classes: "
        f"{N_ROWS:,} rows in 4 files, each under {TIMES} names. A short job reads {N_ROWS:,} rows, which takes one "
        "process some tenths of a second, so that what an engine does for any job weighs; the last column says how "
        f"much that is. CPU time of all processes, the least of {RUNS} runs, start of sessions left out.",
        f"\nThe short job beside that of Spark MLlib: {times} (aim 15 ×).",
    ]
    write_section("Scale: files and workers", "python -m benchmarks.scale workers", "\n".join(body))


def _shown(lines: Iterator[Line]) -> Iterator[Line]:
    for line in lines:
        print(line, f"{line.rate:.3g}", flush=True)
        yield line


def _measure(way: str, model: Any, folder: Path, fit: Callable[[Any, Any], Any], aim: str = "") -> Line:
    large = folder.with_name(f"{folder.name}-{TIMES}")
    if not large.exists():
        repeat_files(folder, TIMES)
    seconds = [cpu_of_all(lambda f=f: fit(model, scan(f)), RUNS) for f in (folder, large)]
    return Line(way, type(model).__name__, *seconds, aim)


def _local(folders: dict[str, Path]) -> Iterator[Line]:
    for form, folder in folders.items():
        for model, aim in ((NaiveBayes(), "8"), (AODE(), "4")):
            yield _measure(f"one process, {form} Parquet", model, folder, lambda m, s: m.fit(s, target="y"), aim)
    paths = sorted(folders["dictionary"].iterdir())
    names = pq.read_schema(paths[0]).names
    once = cpu_of_all(lambda: [pq.read_table(path, read_dictionary=names, use_threads=False) for path in paths], RUNS)
    yield Line("decoding Parquet alone", "none", once, TIMES * once)


def _dask(folder: Path) -> Iterator[Line]:
    from bayeskit.cluster import dask

    with dask_client() as client:
        for model in (NaiveBayes(), AODE()):
            fit = lambda m, s: dask.fit(m, s, target="y", client=client)  # noqa: E731
            yield _measure("Dask workers, file tasks", model, folder, fit, "70 %")


def _spark(folders: dict[str, Path]) -> tuple[list[Line], float]:
    """Return the lines of the executors, and the rate of MLlib in the same session."""
    from bayeskit.cluster import spark

    folder = folders["dictionary"]
    with spark_session() as session:
        # First, while there is no Python worker: those that wait too long are ended, and their time would be lost.
        mllib = N_ROWS / cpu_of_all(lambda: _mllib(session, folders["text"]), 2) / 1e6
        for _ in range(WARM):
            spark.fit(NaiveBayes(), scan(folder), target="y", session=session)
        fit = lambda m, s: spark.fit(m, s, target="y", session=session)  # noqa: E731
        lines = (_measure("Spark executors, file tasks", m, folder, fit, "70 %") for m in (NaiveBayes(), AODE()))
        return list(_shown(lines)), mllib


def _mllib(session: Any, folder: Path) -> None:
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import NaiveBayes as SparkNaiveBayes
    from pyspark.ml.feature import OneHotEncoder, StringIndexer, VectorAssembler

    frame = session.read.parquet(str(folder))
    names = [f"c{j}" for j in range(N_COLUMNS)]
    indexed, hot = [f"i_{name}" for name in names], [f"h_{name}" for name in names]
    steps = [
        StringIndexer(inputCols=[*names, "y"], outputCols=[*indexed, "label"]),
        OneHotEncoder(inputCols=indexed, outputCols=hot, dropLast=False),
        VectorAssembler(inputCols=hot, outputCol="features"),
        SparkNaiveBayes(),
    ]
    Pipeline(stages=steps).fit(frame)
