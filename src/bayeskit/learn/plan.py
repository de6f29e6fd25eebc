"""The plan that all workers share to count parts of a table: columns, kinds, bins, target and families."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitError, TableError
from bayeskit.io.registry import model_class
from bayeskit.learn.labelled import Labelled
from bayeskit.learn.parameters import from_json, refuse_parameters, to_json
from bayeskit.table.arrow import BatchReader, missing_cells
from bayeskit.table.column import Numbers
from bayeskit.table.labels import labels_of, read_weight, refuse_missing_labels
from bayeskit.table.read import Source
from bayeskit.table.scan.pieces import PieceReader, merge_tree, place_of
from bayeskit.table.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeskit.counts.statistic import Statistic
    from bayeskit.learn.learner import Learner


@dataclass(frozen=True)
class Families:
    """The families to count, in the form in which earlier counts would give them."""

    kind: Any
    families: Any = ()


@dataclass(frozen=True)
class Part:
    """The counts of some rows, None where there were none."""

    counts: Any = None

    def plus(self, other: Part) -> Part:
        """Return the counts of both."""
        counts = (
            self.counts if other.counts is None else other.counts if self.counts is None else self.counts + other.counts
        )
        return Part(counts)


@dataclass(frozen=True)
class Plan:
    """How the rows of a table are counted, wherever they are stored. Made by ``model.plan(scan, target=…)``.

    A plan is small and can be written as JSON, so that it can be stored and sent. Counts made under one plan add up
    to the counts of one pass over all rows, bit for bit where they are integers.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from bayeskit import NaiveBayes, scan
    >>> first = pa.table({"wind": ["weak", "strong"], "play": ["yes", "no"]})
    >>> second = pa.table({"wind": ["calm"], "play": ["yes"]})
    >>> plan = NaiveBayes().plan(scan(first), target="play")
    >>> parts = [plan.count(table.to_batches()) for table in (first, second)]
    >>> NaiveBayes.from_counts(plan.merge(parts), target="play").class_count_
    array([1, 2])
    """

    model: Learner  # unfitted, with its parameters
    target: str
    # Bins, and levels that were agreed on; a column of kind "unknown" is what its type says.
    schema: Schema
    weight: str | None = None
    families: Any = None  # Families, or what else an earlier pass of the model found

    def count(self, batches: Iterable[Any]) -> Statistic | None:
        """Count Arrow batches, one after the other, into one statistic; None where there is no row.

        A level or class that the plan does not know is added, never dropped. A row without a label is an error.
        """
        return self.count_part([batches]).counts  # type: ignore[no-any-return]

    def merge(self, parts: Iterable[Statistic | None]) -> Statistic:
        """Add the counts of parts, pairwise and in order."""
        total = merge_tree((part for part in parts if part is not None), self.model._plus)
        if total is None:
            raise TableError(f"the target {self.target!r} has no value in any row, so there is nothing to learn from.")
        return total.narrow()

    def count_part(self, readers: Iterable[Iterable[pa.RecordBatch]]) -> Part:
        """Count the batches of some pieces; no probabilities are estimated."""
        return self.model._count_batches(self, readers)

    def count_rows(self, readers: Iterable[Iterable[pa.RecordBatch]]) -> Part:
        """Count batch after batch, as models of tables do."""
        counted = None
        for rows in self.rows(readers):
            counted = self.add(counted, rows)
        return Part(total(counted))

    def add(self, counted: Any, rows: Any) -> Any:
        """Return the earlier counts (None at first) plus the counts of more rows; :func:`total` ends the sum."""
        if counted is None:
            return self._settings._count(rows, self.schema, self.families)
        return self._settings._add(counted, rows)

    @cached_property
    def _settings(self) -> Learner:
        return self.model._as_settings()

    def rows(self, readers: Iterable[Iterable[pa.RecordBatch]]) -> Iterator[Any]:
        """Read batch after batch: the rows that count, as the model counts them; a row without a label is an error."""
        reader = BatchReader()
        for batch in reader.joined(chain.from_iterable(labelled_batches(each, self.target) for each in readers)):
            rows = self.labelled(batch, reader)[0] if batch.num_rows else None
            if rows is not None:
                yield self.model._scanned_rows(rows, self.schema)

    def labelled(self, batch: pa.RecordBatch, reader: BatchReader) -> tuple[Labelled | None, NDArray[np.bool_]]:
        """Return the rows of a batch that count, None where there are none, and which rows have a label."""
        names = self.schema.names
        columns = tuple(reader.column(_column(batch, name), name) for name in names)
        source = Source(names, True, batch.num_rows, columns)
        label, weights = reader.column(_column(batch, self.target), self.target), None
        known = ~label.missing()
        keep = known
        if self.weight is not None:
            weight = reader.column(_column(batch, self.weight), self.weight)
            if not isinstance(weight, Numbers):
                raise TableError(f"the weights in column {self.weight!r} must be numbers.")
            weights = np.asarray(weight.values, dtype=np.float64)
            keep = known & (weights != 0)
        if not keep.any():
            return None, known
        if not keep.all():
            rows = np.flatnonzero(keep)
            source, label = source.take(rows), label.take(rows)
            weights = None if weights is None else weights[rows]
        classes, y = labels_of(label)
        return Labelled(source, y, classes, read_weight(weights, source.n_rows), self.target), known

    # -- as JSON ----------------------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain JSON values."""
        families = self.families
        return {
            "model": type(self.model).__name__,
            "parameters": to_json(self.model.get_params(deep=False)),
            "target": self.target,
            "weight": self.weight,
            "schema": self.schema.to_json(),
            "families": None if families is None else [families.kind, [list(members) for members in families.families]],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Plan:
        """Read what :meth:`to_json` gave.

        >>> import pyarrow as pa
        >>> from bayeskit import NaiveBayes, scan
        >>> plan = NaiveBayes().plan(scan(pa.table({"wind": ["weak"], "play": ["yes"]})), target="play")
        >>> Plan.from_json(plan.to_json()).schema == plan.schema
        True
        """
        try:
            model: Any = model_class(data["model"])(**from_json(data["parameters"]))
            families = data["families"]
            if families is not None:
                families = Families(families[0], tuple(tuple(map(int, members)) for members in families[1]))
            plan = cls(model, str(data["target"]), Schema.from_json(data["schema"]), data["weight"], families)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise BayeskitError(f"this is not a plan: {type(error).__name__} {error}.") from error
        refuse_parameters(model, model._rules)
        return plan

    def with_families(self, families: Any, counts: Any = None) -> Plan:
        """Return the plan of another pass: what it counts, under the levels that an earlier pass found."""
        asked = Families(families) if isinstance(families, str) else Families("given", families)
        return replace(self, families=asked, schema=self.schema if counts is None else counts.schema)


# One pass over the rows: what is done with some pieces, and how results are merged.
Pass = tuple[Callable[[Iterable[PieceReader]], Any], Callable[[Any, Any], Any]]


def counting(plan: Plan) -> Pass:
    """Return the pass that counts."""
    return plan.count_part, Part.plus


def summing(plan: Plan, function: Callable[[Labelled], Any]) -> Pass:
    """Return the pass that adds up what ``function`` returns for the rows of each batch."""
    return _Sum(plan, function), np.add


@dataclass(frozen=True)
class _Sum:
    plan: Plan
    function: Callable[[Labelled], Any]

    def __call__(self, readers: Iterable[PieceReader]) -> Any:
        return sum((self.function(rows) for rows in self.plan.rows(readers)), start=0.0)


def total(counted: Any) -> Any:
    """Return the counts of a running sum."""
    return counted.total if hasattr(type(counted), "total") else counted


def labelled_batches(reader: Iterable[pa.RecordBatch], target: str) -> Iterator[pa.RecordBatch]:
    """Read batches; a row without a label is an error that names it."""
    row = 0
    for batch in reader:
        _column(batch, target)  # refuses a batch without it
        place = place_of(reader)
        refuse_missing_labels(missing_cells(batch, target), dropping(target), f"{place}, " if place else "", row)
        row += batch.num_rows
        yield batch


def dropping(target: str) -> str:
    """Return the call that leaves out the rows of a scan without a label."""
    return f"drop_unlabeled(scan, target={target!r})"


def _column(batch: Any, name: str) -> Any:
    place = batch.schema.get_field_index(name)
    if place < 0:
        raise TableError(f"a batch has no column {name!r}; it has {', '.join(map(repr, batch.schema.names[:10]))}.")
    return batch.column(place)
