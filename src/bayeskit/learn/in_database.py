"""Counts of single columns are made by the database that holds the rows; other columns are streamed."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeskit.counts.memory import read_memory, refuse_too_wide
from bayeskit.counts.moments import Moments
from bayeskit.counts.numbers import NumberCounts
from bayeskit.counts.table import TableCounts
from bayeskit.counts.values import ValueCounts, ragged
from bayeskit.errors import TableError
from bayeskit.learn.counting import learn_counts
from bayeskit.learn.plan import Part, Plan, counting, dropping
from bayeskit.progress import Progress, report_step
from bayeskit.table.arrow import BatchReader
from bayeskit.table.labels import without_unlabeled
from bayeskit.table.scan.pieces import Scan, sort_of
from bayeskit.table.schema import Schema, Variable

if TYPE_CHECKING:
    import pyarrow as pa


def word_of(model: Any, scan: Scan, j: int, name: str) -> str:
    """Return the word for the kind of a feature: what the user says, or else what its type says."""
    kinds = getattr(model, "kinds", None)
    said = kinds if isinstance(kinds, str) else (kinds or {}).get(name, (kinds or {}).get(j))
    word = said or ("numeric" if sort_of(scan.schema.field(name).type) == "number" else "categorical")
    return getattr(model, "numeric", "gaussian") if word == "numeric" else str(word)


# Each early return is one reason to stream the rows.
def count_in_database(plan: Plan, scan: Scan, progress: Progress | None) -> Part | None:
    """Return the counts of a table of a database, its categorical columns counted there; None where rows are streamed.

    The counts are those of the stream, bit for bit. Weighted rows are streamed, since sums of weights depend on the
    order of the rows.
    """
    piece = scan.pieces[0] if len(scan.pieces) == 1 else None
    model: Any = plan.model
    by_kind = hasattr(model, "kinds")  # others have columns of one kind, and refuse the rest by name as they read it
    if not hasattr(piece, "group_counts") or not by_kind or scan.conversion is not None or plan.weight is not None:
        return None
    if scan.labeled_by not in (None, plan.target):
        return None
    names = plan.schema.names
    asked = [name for j, name in enumerate(names) if word_of(model, scan, j, name) == "categorical"]
    groups: dict[str, pa.Table] = piece.group_counts(asked, plan.target) if asked else {}  # type: ignore[union-attr]
    if not groups:
        return None
    parts = {name: _count_groups(plan, scan, name, table) for name, table in groups.items()}
    streamed = tuple(name for name in names if name not in groups)
    rest = [_stream(plan, scan, streamed, progress)] if streamed else []
    _refuse_other_rows([*parts.values(), *rest], scan)
    grouped = {name: part.counts for name, part in parts.items() if part.counts is not None}
    if not grouped:
        return Part(None)
    counts = _joined(plan, grouped, rest[0].counts if rest else None)
    refuse_too_wide(counts.schema, counts.n_classes, read_memory(model.max_memory))
    if progress is not None:
        n_rows = int(counts.n_rows)
        report_step(progress, scan.shown, n_rows, n_rows)
    return Part(counts.narrow())


def _count_groups(plan: Plan, scan: Scan, name: str, table: pa.Table) -> Part:
    """Return the counts of one column from its groups, read as rows whose weight is their number."""
    import pyarrow as pa

    n_rows = int(table["n"].to_numpy().sum())
    weight = f"rows of {name}{plan.target}"  # longer than both, and so another name
    alone = replace(plan, schema=Schema((Variable(name, "unknown"),)), weight=weight)
    batch = pa.record_batch([c.combine_chunks() for c in table.columns], names=[name, plan.target, weight])
    rows = alone.labelled(batch, BatchReader())[0] if n_rows else None
    counts = None if rows is None else learn_counts(rows.source, rows.y, rows.classes, rows.weight, "categorical")
    n_missing = n_rows - (0 if counts is None else int(counts.n_rows))
    if n_missing and scan.labeled_by is None:
        raise TableError(
            f"Input y contains NaN: {n_missing:,} of {n_rows:,} rows of {scan.shown} have no value in the target "
            f"{plan.target!r}. {without_unlabeled(dropping(plan.target))}"
        )
    return Part(counts)


def _stream(plan: Plan, scan: Scan, names: Sequence[str], progress: Progress | None) -> Part:
    """Return the counts of some columns, whose rows are brought here."""
    model: Any = copy(plan.model)
    kinds = getattr(model, "kinds", None)
    if kinds is not None and not isinstance(kinds, str):
        said = {name: kinds.get(name, kinds.get(plan.schema.names.index(name))) for name in names}
        model.kinds = {name: kind for name, kind in said.items() if kind is not None}
    schema = Schema(tuple(variable for variable in plan.schema if variable.name in set(names)))
    some = Plan(model, plan.target, schema)
    part: Part = scan.select([*names, plan.target]).run(*counting(some), progress)
    return part


def _refuse_other_rows(parts: Sequence[Part], scan: Scan) -> None:
    """Refuse parts that did not see the same rows, since those changed between two queries."""
    for part in parts[1:]:
        one, other = parts[0].counts, part.counts
        if one is None or other is None:
            same = one is other
        else:
            same = np.array_equal(one.classes, other.classes) and np.array_equal(one.n_class, other.n_class)
        if not same:
            raise TableError(
                f"the rows of {scan.shown} changed while they were counted; set the transaction to REPEATABLE READ."
            )


def _joined(plan: Plan, grouped: dict[str, TableCounts], rest: TableCounts | None) -> TableCounts:
    """Return the counts of all columns, in the order of the plan."""
    some = next(iter(grouped.values()))
    classes, n_class = some.classes, some.n_class.astype(np.int64)
    owner = {name: (grouped[name], 0) for name in grouped}
    if rest is not None:
        owner |= {name: (rest, j) for j, name in enumerate(rest.schema.names)}
    counted = [owner[name] for name in plan.schema.names]
    schema = plan.schema.with_variables(counts.schema[j] for counts, j in counted)
    tables = [counts.by_class(j).astype(np.int64) for counts, j in counted if counts.schema[j].is_discrete]
    n_value = np.concatenate([np.empty((0, len(n_class)), dtype=np.int64), *tables])
    values = ValueCounts(n_class, n_value, ragged([len(table) for table in tables]))
    if rest is not None:  # columns of numbers and texts are all among the streamed ones, in their order
        return TableCounts(schema, classes, values, rest.moments, rest.numbers, texts=rest.texts)
    none = np.empty(0, dtype=np.uint8)
    moments = Moments.of([], none, len(n_class))
    return TableCounts(schema, classes, values, moments, NumberCounts.none(0, len(n_class)))
