"""The databases that a model can be written for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from bayeskit.errors import BayeskitError
from bayeskit.export.sql.dialect import Dialect, RecordDialect

# Whole numbers up to here are exact in single precision.
_EXACT = 2**24


class DuckDB(RecordDialect):
    """DuckDB: lists of records that are looked up by position.

    A constant list is built anew for every 2,048 rows, so that long ones are columns of a table of one row. Numbers
    are written as one text, which is read many times faster than a list of literals.
    """

    name = "duckdb"
    merged_numbers = 4096

    def _number(self, value: float) -> str:
        # Without an exponent a literal is a DECIMAL.
        literal = repr(value)
        return literal if "e" in literal else f"{literal}e0"

    def as_text(self, column: str) -> str:
        """Compared byte by byte, whatever collation the column declares."""
        return f"CAST({column} AS VARCHAR) COLLATE C"

    def as_number(self, column: str, *, truth: bool = False) -> str:
        """NaN is the missing number of data frames."""
        cell = f"CAST({column} AS DOUBLE)"
        return f"CASE WHEN NOT isnan({cell}) THEN {cell} END"

    def numbers(self, values: Sequence[float]) -> str:
        """As one text, which is read once."""
        return f"CAST('{list(values)}' AS DOUBLE[])"

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

    def as_number(self, column: str, *, truth: bool = False) -> str:
        """A truth value has no cast to double precision; its text has."""
        if truth:
            said = f"CAST({column} AS text)"
            column = f"CASE {said} WHEN 'true' THEN '1' WHEN 'false' THEN '0' ELSE {said} END"
        return f"nullif(CAST({column} AS double precision), CAST('NaN' AS double precision))"

    def numbers(self, values: Sequence[float]) -> str:
        """As one text, which is read once."""
        return f"CAST('{_braced(values)}' AS double precision[])"

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


class Spark(Dialect):
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

    def as_number(self, column: str, *, truth: bool = False) -> str:
        """NaN is the missing number of data frames."""
        cell = f"CAST({column} AS DOUBLE)"
        return f"CASE WHEN NOT isnan({cell}) THEN {cell} END"

    def numbers(self, values: Sequence[float]) -> str:
        """As an array of double precision, folded into a constant by the planner."""
        return f"array({', '.join(map(self._number, values))})"

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

    def as_number(self, column: str, *, truth: bool = False) -> str:
        """A text that holds no number would be cast to 0."""
        return f"CASE WHEN typeof({column}) IN ('integer', 'real') THEN CAST({column} AS REAL) END"

    def not_a_number(self, column: str) -> str:
        """Any column may hold anything."""
        return f"typeof({column}) IN ('text', 'blob')"

    def numbers(self, values: Sequence[float]) -> str:
        """As JSON."""
        return f"'[{', '.join(map(repr, values))}]'"

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
        return f"CASE {position} {' '.join(f'WHEN {i + 1} THEN {v!r}' for i, v in enumerate(values))} END"

    def position(self, literals: Sequence[str], cell: str) -> str:
        """By CASE."""
        cases = " ".join(f"WHEN {literal} THEN {i + 1}" for i, literal in enumerate(literals))
        return f"CASE {cell} {cases} ELSE 0 END"


def _braced(values: Sequence[float]) -> str:
    return "{" + ",".join(map(repr, values)) + "}"
