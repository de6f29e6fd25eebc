"""The databases that a model can be written for."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import ClassVar

from bayeskit.errors import BayeskitError, BayeskitWarning
from bayeskit.export.sql.dialect import Dialect, PairLists, RecordDialect

# Whole numbers up to here are exact in single precision.
_EXACT = 2**24
# Branches of a CASE in SQLite before it is halved.
_FEW_BRANCHES = 16
# Files that DuckDB reads by their name, choosing types itself; of the second part it reads none.
_FILE = re.compile(r"\.(csv|tsv|tab|txt|jsonl?|ndjson)(?:\.(?:gz|zst))?(\.(?:bz2|xz|zip))?$", re.IGNORECASE)
_POSTGRES_NO_TEXTS = "boolean|smallint|integer|bigint|numeric|real|double|money|date|time|interval"
_SPARK_NO_TEXTS = "boolean|tinyint|smallint|int|bigint|float|double|decimal|date|timestamp|interval"
_DUCKDB_NO_TEXTS = "BOOLEAN|U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL|BIGNUM|DATE|TIME|INTERVAL"


class DuckDB(RecordDialect, PairLists):
    """DuckDB: lists of records that are looked up by position.

    A constant list is built anew for every 2,048 rows, so that long ones are columns of a table of one row. Numbers
    are written as one text, which is read many times faster than a list of literals.
    """

    name = "duckdb"
    merged_numbers = 4096
    # Of adult fitted on 40,000 rows the query had 35 MB and ended the process; the longest that was planned has 3.4 MB.
    longest_query: ClassVar[int] = 4_000_000

    def warn_of_length(self, query: str) -> None:
        """Warn of a query that DuckDB's optimizer may not survive."""
        if len(query) > self.longest_query:
            warnings.warn(
                f"the query has {len(query) / 1e6:.1f} MB. DuckDB's optimizer may overflow its stack on it, which ends "
                "the process: run PRAGMA disable_optimizer first, or take distill(model, table), whose query is short.",
                BayeskitWarning,
                stacklevel=4,
            )

    def _number(self, value: float) -> str:
        # Without an exponent a literal is a DECIMAL.
        literal = repr(value)
        return literal if "e" in literal else f"{literal}e0"

    def as_text(self, column: str) -> str:
        """Compared byte by byte, whatever collation the column declares."""
        return f"CAST({column} AS VARCHAR) COLLATE C"

    def as_number(self, column: str, *, truth: bool = False, written: bool = False) -> str:
        """NaN is the missing number of data frames."""
        cell = self._written(column, truth) if written else f"CAST({column} AS DOUBLE)"
        return f"CASE WHEN NOT isnan({cell}) THEN {cell} END"

    def not_a_number(self, column: str, *, truth: bool = False, written: bool = False) -> str | None:
        """A text of a file that holds no number."""
        return f"({column} IS NOT NULL AND {self._written(column, truth)} IS NULL)" if written else None

    def _written(self, column: str, truth: bool) -> str:
        number = f"TRY_CAST({column} AS DOUBLE)"
        return f"CASE lower({column}) WHEN 'true' THEN 1e0 WHEN 'false' THEN 0e0 ELSE {number} END" if truth else number

    def not_a_text(self, column: str) -> str:
        """By the type of the column, which is the same for all rows."""
        kind = f"typeof({column})"
        return f"({column} IS NOT NULL AND regexp_matches({kind}, '^({_DUCKDB_NO_TEXTS})'))"

    def source(self, parts: Sequence[str], missing: Sequence[str]) -> tuple[str, bool]:
        """A CSV file is read as text: DuckDB would take yes and no for truth values, and 2020-01-01 for a date."""
        if len(parts) > 1 or not (suffix := _FILE.search(parts[0])):
            return super().source(parts, missing)
        if suffix[2] or "json" in suffix[1].lower():
            raise BayeskitError(
                f"DuckDB would choose the types of {parts[0]!r} itself, or cannot read it; write it as CSV or Parquet, "
                "or import it into a table whose columns have the types that the model was fitted with."
            )
        words = ", ".join(map(self.text, missing))
        return f"read_csv({self.text(parts[0])}, header = true, all_varchar = true, nullstr = [{words}])", True

    def numbers(self, values: Sequence[float]) -> str:
        """As one text, which is read once."""
        return f"CAST('{list(values)}' AS DOUBLE[])"

    def integers(self, values: Sequence[int]) -> str:
        """As one text, which is read once."""
        return f"CAST('{list(values)}' AS INTEGER[])"

    def list_of(self, items: Sequence[str]) -> str:
        """In brackets."""
        return f"[{', '.join(items)}]"

    def tabulate(self, n: int, item: str) -> str:
        """By a function of the positions."""
        return f"list_transform(range({n}), lambda i: {item})"

    def pairs(self, items: Sequence[tuple[int, float]]) -> str:
        """As a list of structs without names."""
        wholes, shares = zip(*items, strict=True)
        return f"list_zip({self.integers(wholes)}, {self.numbers(shares)})"

    def pair(self, whole: str, share: str) -> str:
        """As a list of one struct."""
        return f"[row(CAST({whole} AS INTEGER), {share})]"

    def children(self, first: str, n: str, share: str, part: Callable[[str], str]) -> str:
        """By a function of the positions."""
        child = f"CAST({first} + k AS INTEGER)"
        return f"list_transform(range({n}), lambda k: row({child}, {share} * {part(child)}))"

    def spread(self, pairs: str, becomes: Callable[[str, str], str]) -> str:
        """By a function of the pairs."""
        return f"flatten(list_transform({pairs}, lambda e: {becomes('e[1]', 'e[2]')}))"

    def sum_of_pairs(self, pairs: str, term: Callable[[str, str], str]) -> str:
        """Of the list of the terms."""
        return f"list_sum(list_transform({pairs}, lambda e: {term('e[1]', 'e[2]')}))"

    def log_sums(self, n_sums: int, n_terms: int, term: str) -> str:
        """By functions of the positions; a list of one list gives the terms a name."""
        terms = f"[list_transform(range({n_terms}), lambda v: {term})]"
        log_sum = "list_max(z) + ln(list_sum(list_transform(z, lambda term: exp(term - list_max(z)))))"
        return f"list_transform(range({n_sums}), lambda i: list_transform({terms}, lambda z: {log_sum})[1])"

    def quotient(self, whole: str, divisor: int) -> str:
        """A single slash would give a fraction."""
        return f"({whole} // {divisor})"

    def place(self, codes: Sequence[str], sizes: Sequence[int]) -> str:
        """In single precision where that is exact: whole numbers are checked for overflow one by one."""
        if len(codes) == 1 or prod(sizes) >= _EXACT:
            return super().place(codes, sizes)
        return f"CAST({super().place([f'CAST({code} AS FLOAT)' for code in codes], sizes)} AS BIGINT)"

    def item(self, vector: str, position: str) -> str:
        """By position."""
        return f"list_extract({vector}, {position})"

    def position(self, literals: Sequence[str], cell: str) -> str:
        """By a walk through the list, which is quick for the few values that a column has."""
        return f"coalesce(list_position([{', '.join(literals)}], {cell}), 0)"

    def record(self, columns: Mapping[str, str]) -> str:
        """As a struct."""
        return "{" + ", ".join(f"'{name}': {expression}" for name, expression in columns.items()) + "}"

    def records(self, columns: Sequence[Sequence[float]]) -> str:
        """As a list of structs without names."""
        return f"list_zip({', '.join(map(self.numbers, columns))})"

    def member(self, record: str, place: int) -> str:
        """By position, from 1."""
        return f"{record}[{place + 1}]"


class Postgres(Dialect):
    """PostgreSQL: arrays; a subquery with OFFSET 0 is computed once and not written out at each use."""

    name = "postgres"
    fence = " OFFSET 0"
    case_matters = True
    longest_name = 63
    most_columns = 1600

    def text(self, value: str) -> str:
        """With escapes, so that it does not depend on standard_conforming_strings."""
        literal = super().text(value)
        return f"E{literal.replace(chr(92), chr(92) * 2)}" if "\\" in literal else literal

    def _number(self, value: float) -> str:
        return f"CAST({value!r} AS double precision)"

    def as_text(self, column: str) -> str:
        """Under the collation "C", which tells all texts apart."""
        return f'CAST({column} AS text) COLLATE "C"'

    def trimmed(self, text: str, characters: str) -> str:
        """By a function of another name."""
        return f"btrim({text}, {self.text(characters)})"

    def not_a_text(self, column: str) -> str:
        """By the type of the column."""
        return f"({column} IS NOT NULL AND CAST(pg_typeof({column}) AS text) ~ '^({_POSTGRES_NO_TEXTS})')"

    def as_number(self, column: str, *, truth: bool = False, written: bool = False) -> str:
        """A truth value has no cast to double precision; its text has."""
        if truth:
            said = f"CAST({column} AS text)"
            column = f"CASE {said} WHEN 'true' THEN '1' WHEN 'false' THEN '0' ELSE {said} END"
        return f"nullif(CAST({column} AS double precision), CAST('NaN' AS double precision))"

    def numbers(self, values: Sequence[float]) -> str:
        """As one text, which is read once."""
        return f"CAST('{_braced(values)}' AS double precision[])"

    def integers(self, values: Sequence[int]) -> str:
        """As one text, which is read once."""
        return f"CAST('{_braced(values)}' AS integer[])"

    def list_of(self, items: Sequence[str]) -> str:
        """As an array."""
        return f"ARRAY[{', '.join(items)}]"

    def tabulate(self, n: int, item: str) -> str:
        """By a subquery over the positions."""
        return f"ARRAY(SELECT {item} FROM generate_series(0, {n - 1}) AS i ORDER BY i)"

    def log_sums(self, n_sums: int, n_terms: int, term: str) -> str:
        """By subqueries over the positions; exp() of less than −600 may be too small for PostgreSQL."""
        terms = f"SELECT {term} AS z FROM generate_series(0, {n_terms - 1}) AS v"
        peaked = f"SELECT z, max(z) OVER () AS peak FROM ({terms}) AS terms"
        total = f"sum(exp(greatest(z - peak, {self.number(-600)})))"
        log_sum = f"SELECT max(peak) + ln({total}) FROM ({peaked}) AS peaked"
        return f"ARRAY(SELECT ({log_sum}) FROM generate_series(0, {n_sums - 1}) AS i ORDER BY i)"

    def item(self, vector: str, position: str) -> str:
        """By subscript."""
        return f"({vector})[{position}]"

    def position(self, literals: Sequence[str], cell: str) -> str:
        """By a walk through the array."""
        return f"coalesce(array_position(ARRAY[{', '.join(literals)}], {cell}), 0)"

    def exponential(self, exponent: str) -> str:
        """A number too small for double precision is an error in PostgreSQL."""
        return f"CASE WHEN {exponent} > {self.number(-600)} THEN exp({exponent}) ELSE 0 END"


class Spark(Dialect, PairLists):
    """Spark SQL: arrays; texts with backslashes and ${…} would be rewritten by its parser, so they are escaped."""

    name = "spark"

    def identifier(self, name: str) -> str:
        """Quoted by backticks; in them ${…} is replaced before the query is parsed, and nothing stops it."""
        if "${" in name:
            raise BayeskitError(f"the name {name!r} holds '${{', which Spark would replace; rename the column.")
        return "`" + super().identifier(name)[1:-1].replace('""', '"').replace("`", "``") + "`"

    def text(self, value: str) -> str:
        """With escapes for what the parser would change."""
        plain = super().text(value)[1:-1].replace("''", "'")
        return "'" + plain.replace("\\", "\\\\").replace("'", "\\'").replace("$", "\\u0024") + "'"

    def _number(self, value: float) -> str:
        return f"{value!r}D"

    def as_text(self, column: str) -> str:
        """Compared byte by byte."""
        return f"CAST({column} AS STRING) COLLATE UTF8_BINARY"

    def trimmed(self, text: str, characters: str) -> str:
        """In the words of the standard."""
        return f"trim(BOTH {self.text(characters)} FROM {text})"

    def not_a_text(self, column: str) -> str:
        """By the type of the column, which is known when the query is planned."""
        return f"({column} IS NOT NULL AND typeof({column}) RLIKE '^({_SPARK_NO_TEXTS})')"

    def as_number(self, column: str, *, truth: bool = False, written: bool = False) -> str:
        """NaN is the missing number of data frames."""
        cell = f"CAST({column} AS DOUBLE)"
        return f"CASE WHEN NOT isnan({cell}) THEN {cell} END"

    def numbers(self, values: Sequence[float]) -> str:
        """As an array of double precision, folded into a constant by the planner."""
        return f"array({', '.join(map(self._number, values))})"

    def integers(self, values: Sequence[int]) -> str:
        """As an array, folded into a constant by the planner."""
        return f"array({', '.join(map(str, values))})"

    def list_of(self, items: Sequence[str]) -> str:
        """As an array."""
        return f"array({', '.join(items)})"

    def tabulate(self, n: int, item: str) -> str:
        """By a function of the positions."""
        return f"transform(sequence(0, {n - 1}), i -> {item})"

    def pairs(self, items: Sequence[tuple[int, float]]) -> str:
        """As an array of structs."""
        return f"array({', '.join(f'struct({whole} AS n, {self._number(share)} AS p)' for whole, share in items)})"

    def pair(self, whole: str, share: str) -> str:
        """As an array of one struct."""
        return f"array(struct({whole} AS n, {share} AS p))"

    def children(self, first: str, n: str, share: str, part: Callable[[str], str]) -> str:
        """By a function of the positions."""
        child = f"({first} + k)"
        return f"transform(sequence(0, {n} - 1), k -> struct({child} AS n, {share} * {part(child)} AS p))"

    def spread(self, pairs: str, becomes: Callable[[str, str], str]) -> str:
        """By a function of the pairs."""
        return f"flatten(transform({pairs}, e -> {becomes('e.n', 'e.p')}))"

    def sum_of_pairs(self, pairs: str, term: Callable[[str, str], str]) -> str:
        """By adding one after the other."""
        return f"aggregate({pairs}, 0D, (total, e) -> total + {term('e.n', 'e.p')})"

    def log_sums(self, n_sums: int, n_terms: int, term: str) -> str:
        """By functions of the positions; an array of one array gives the terms a name."""
        terms = f"array(transform(sequence(0, {n_terms - 1}), v -> {term}))"
        log_sum = "array_max(z) + ln(aggregate(z, 0D, (total, term) -> total + exp(term - array_max(z))))"
        return f"transform(sequence(0, {n_sums - 1}), i -> transform({terms}, z -> {log_sum})[0])"

    def quotient(self, whole: str, divisor: int) -> str:
        """A slash would give a fraction."""
        return f"CAST({whole} div {divisor} AS INT)"

    def item(self, vector: str, position: str) -> str:
        """By position."""
        return f"element_at({vector}, {position})"

    def position(self, literals: Sequence[str], cell: str) -> str:
        """By a walk through the array."""
        return f"CAST(coalesce(array_position(array({', '.join(literals)}), {cell}), 0) AS INT)"


class SQLite(Dialect):
    """SQLite: no lists, so that constants are chosen by CASE and computed lists are JSON."""

    name = "sqlite"
    # Its parser keeps 100 symbols, of which a CASE in a CASE takes five.
    most_depth = 14
    merged_numbers = 0
    materialised = " MATERIALIZED"
    most_columns = 2000
    most_cells = 2000
    _greatest = "max"
    least = "min"

    def truth(self, value: bool) -> str:
        """As 0 and 1, which is what SQLite has."""
        return str(int(value))

    def _number(self, value: float) -> str:
        return repr(value)

    def as_text(self, column: str) -> str:
        """Compared byte by byte, whatever collation the column declares."""
        return f"CAST({column} AS TEXT) COLLATE BINARY"

    def not_a_text(self, column: str) -> str:
        """Any column may hold anything."""
        return f"typeof({column}) IN ('integer', 'real')"

    def as_number(self, column: str, *, truth: bool = False, written: bool = False) -> str:
        """A text that holds no number would be cast to 0."""
        return f"CASE WHEN typeof({column}) IN ('integer', 'real') THEN CAST({column} AS REAL) END"

    def not_a_number(self, column: str, *, truth: bool = False, written: bool = False) -> str:
        """Any column may hold anything."""
        return f"typeof({column}) IN ('text', 'blob')"

    def numbers(self, values: Sequence[float]) -> str:
        """As JSON."""
        return f"'[{', '.join(map(repr, values))}]'"

    def integers(self, values: Sequence[int]) -> str:
        """As JSON."""
        return f"'{list(values)}'"

    def list_of(self, items: Sequence[str]) -> str:
        """As JSON."""
        parts = [f"json_array({', '.join(items[i : i + 100])})" for i in range(0, len(items), 100)]
        if len(parts) == 1:
            return parts[0]
        # A function takes at most 100 arguments: longer lists are texts that are joined without their brackets.
        inner = " || ',' || ".join(f"substr({part}, 2, length({part}) - 2)" for part in parts)
        return f"('[' || {inner} || ']')"

    def tabulate(self, n: int, item: str) -> str:
        """By a subquery over the positions, as JSON."""
        items = f"SELECT {item} AS item FROM (SELECT value AS i FROM json_each('{list(range(n))}')) ORDER BY i"
        return f"(SELECT json_group_array(item) FROM ({items}))"

    def log_sums(self, n_sums: int, n_terms: int, term: str) -> str:
        """By subqueries over the positions, as JSON."""
        terms = f"SELECT {term} AS z FROM (SELECT value AS v FROM json_each('{list(range(n_terms))}'))"
        log_sum = f"SELECT max(peak) + ln(sum(exp(z - peak))) FROM (SELECT z, max(z) OVER () AS peak FROM ({terms}))"
        sums = f"SELECT ({log_sum}) AS item FROM (SELECT value AS i FROM json_each('{list(range(n_sums))}')) ORDER BY i"
        return f"(SELECT json_group_array(item) FROM ({sums}))"

    def item(self, vector: str, position: str) -> str:
        """By a path."""
        return f"json_extract({vector}, '$[' || ({position} - 1) || ']')"

    def lookup(self, values: Sequence[float], position: str) -> str:
        """By CASE."""
        return _halved([repr(value) for value in values], position, 1)

    def whole(self, values: Sequence[int], position: str) -> str:
        """By CASE."""
        return _halved([str(value) for value in values], position, 1)

    def position(self, literals: Sequence[str], cell: str) -> str:
        """By CASE."""
        cases = " ".join(f"WHEN {literal} THEN {i + 1}" for i, literal in enumerate(literals))
        return f"CASE {cell} {cases} ELSE 0 END"


def _halved(items: Sequence[str], position: str, first: int) -> str:
    """CASE tries its branches one after the other, so that long lists are halved first."""
    if len(items) <= _FEW_BRANCHES:
        cases = " ".join(f"WHEN {first + k} THEN {item}" for k, item in enumerate(items))
        return f"CASE {position} {cases} END"
    middle = len(items) // 2
    below, above = _halved(items[:middle], position, first), _halved(items[middle:], position, first + middle)
    return f"CASE WHEN {position} < {first + middle} THEN {below} ELSE {above} END"


def _braced(values: Sequence[float]) -> str:
    return "{" + ",".join(map(repr, values)) + "}"
