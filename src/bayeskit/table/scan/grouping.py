"""Counts of single columns that PostgreSQL and DuckDB make themselves: rows of each value with each label."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

# What PostgreSQL calls the types whose groups are the values that a stream would bring. Others group in a way of their
# own: citext takes "a" and "A" for one, and a char(n) loses its blanks.
_TEXTS = ("text", "character varying")
_OTHERS = ("boolean", "smallint", "integer", "bigint", "real", "double precision")
# GROUPING() takes 31 columns at the most.
_MOST_COLUMNS = 31
# Grouping was measured faster than streaming up to some hundreds of values, and up to seven times slower beyond. The
# first rows tell which columns have few.
_LOOKED_AT = 10_000
_MOST_GROUPS = 1_000


def group_counts(connection: Any, query: str, columns: Sequence[str], target: str) -> dict[str, pa.Table]:
    """Return value, label and number of rows of each group, for the columns that PostgreSQL groups quickly.

    Up to 31 columns are grouped in one pass over the rows, by GROUPING SETS. The tables have the columns ``value``,
    ``label`` and ``n``; NULL is a value of its own. Other databases, and columns whose values are many or of an odd
    type, are left out.
    """
    if connection.adbc_get_info().get("vendor_name") != "PostgreSQL":
        return {}
    kinds = _types(connection, query, (*columns, target))
    if kinds.get(target) not in (*_TEXTS, *_OTHERS):
        return {}
    known = [name for name in columns if kinds[name] in (*_TEXTS, *_OTHERS)]
    return few_groups(lambda asked: _fetch(connection, asked), query, known, target, kinds)


def few_groups(
    fetch: Callable[[str], Any], query: str, columns: Sequence[str], target: str, kinds: dict[str, str]
) -> dict[str, pa.Table]:
    """Return the groups of the columns that have few of them among the first rows; ``fetch`` runs a query."""
    head = f"SELECT * FROM ({query}) AS h LIMIT {_LOOKED_AT}"
    first = _grouped(fetch, head, columns, target, kinds)
    few = [name for name, groups in first.items() if len(groups) <= _MOST_GROUPS]
    return _grouped(fetch, query, few, target, kinds)


def quote(name: str) -> str:
    """Return an identifier as SQL writes it, whatever is in it.

    >>> quote('a "b"')
    '"a ""b""\"'
    """
    return '"' + name.replace('"', '""') + '"'


def _types(connection: Any, query: str, columns: Sequence[str]) -> dict[str, str]:
    """Return the type of each column, as PostgreSQL calls it; nothing where there is no row."""
    asked = ", ".join(f"CAST(pg_typeof({quote(name)}) AS text) AS t{j}" for j, name in enumerate(columns))
    rows = _fetch(connection, f"SELECT {asked} FROM ({query}) AS t LIMIT 1").to_pylist()
    return dict(zip(columns, rows[0].values(), strict=True)) if rows else {}


def _grouped(
    fetch: Callable[[str], Any], query: str, columns: Sequence[str], target: str, kinds: dict[str, str]
) -> dict[str, pa.Table]:
    tables = {}
    for first in range(0, len(columns), _MOST_COLUMNS):
        block = columns[first : first + _MOST_COLUMNS]
        table = fetch(grouping_query(query, block, target, kinds))
        which = table["which"].to_numpy()
        for j, name in enumerate(block):
            # A bit is 0 where the column is grouped by, and the first column has the highest bit.
            groups = table.filter(((which >> (len(block) - 1 - j)) & 1) == 0)
            tables[name] = groups.select([f"k{j}", "label", "n"]).rename_columns(["value", "label", "n"])
    return tables


def grouping_query(query: str, columns: Sequence[str], target: str, kinds: dict[str, str]) -> str:
    """Return the query that groups each of some columns with the target; GROUPING() tells NULL from "not this column".

    >>> print(grouping_query("SELECT * FROM days", ["wind"], "play", {"wind": "text", "play": "boolean"}))
    SELECT GROUPING(k0) AS which, k0, label, count(*) AS n
    FROM (SELECT "wind" COLLATE "C" AS k0, "play" AS label FROM (SELECT * FROM days) AS t) AS s
    GROUP BY GROUPING SETS ((k0, label))
    """
    names = {f"k{j}": name for j, name in enumerate(columns)} | {"label": target}
    cells = [f"{_by_bytes(quote(name), kinds[name])} AS {short}" for short, name in names.items()]
    keys = [f"k{j}" for j in range(len(columns))]
    listed = ", ".join(keys)
    return (
        f"SELECT GROUPING({listed}) AS which, {listed}, label, count(*) AS n\n"
        f"FROM (SELECT {', '.join(cells)} FROM ({query}) AS t) AS s\n"
        f"GROUP BY GROUPING SETS ({', '.join(f'({key}, label)' for key in keys)})"
    )


def _by_bytes(column: str, kind: str) -> str:
    # Under the collation "C" texts are equal where their bytes are, whatever the column declares.
    return f'{column} COLLATE "C"' if kind in _TEXTS else column


def _fetch(connection: Any, query: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetch_arrow_table()
