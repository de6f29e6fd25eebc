"""DuckDB relations as scans, streamed through DuckDB's own Arrow reader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeskit.errors import TableError
from bayeskit.table.scan.arrow import ROWS_AT_ONCE
from bayeskit.table.scan.grouping import few_groups
from bayeskit.table.scan.pieces import Scan, iterate

if TYPE_CHECKING:
    import pyarrow as pa


# The types whose groups are the values that a stream would bring, as PostgreSQL calls them.
_GROUPED = {"VARCHAR": "text", "BOOLEAN": "boolean", "BIGINT": "bigint", "INTEGER": "integer", "SMALLINT": "smallint"}
# What a relation is called in a query about it.
_TABLE = "bayeskit_relation"


def open_scan(source: Any) -> Scan | None:
    """Describe a relation: what ``connection.sql(…)`` or ``connection.table(…)`` gave."""
    if type(source).__name__ != "DuckDBPyRelation":
        return None
    return open_relation(source)


def open_relation(source: Any) -> Scan:
    """Describe a relation."""
    schema = source.limit(0).to_arrow_table().schema
    return Scan("a DuckDB relation", schema, (RelationPiece(source),))


@dataclass(frozen=True)
class RelationPiece:
    """A relation, run again for each pass; only the requested columns are computed."""

    relation: Any
    name: str = "the DuckDB relation"
    n_rows: int | None = None

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Run the query and read what it gives."""
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
        return iterate(self.relation.project(quoted).to_arrow_reader(ROWS_AT_ONCE), self.name)

    def group_counts(self, columns: Sequence[str], target: str) -> dict[str, pa.Table]:
        """Let DuckDB count the values of some columns, those that it counts quickly; see :mod:`.grouping`."""
        kinds = {name: _GROUPED.get(str(kind), "") for name, kind in zip(*self._described(), strict=True)}
        if not kinds[target]:
            return {}
        known = [name for name in columns if kinds[name]]

        def fetch(query: str) -> Any:
            return self.relation.query(_TABLE, query).to_arrow_table()

        return few_groups(fetch, f"SELECT * FROM {_TABLE}", known, target, kinds)

    def _described(self) -> tuple[Sequence[str], Sequence[Any]]:
        return self.relation.columns, self.relation.types

    def __reduce__(self) -> Any:
        raise TableError(
            "a DuckDB relation cannot be sent to another process; pass files instead, or count in this process."
        )
