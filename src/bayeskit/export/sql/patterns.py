"""What differs between databases in reading texts: regular expressions, types of columns, casts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from bayeskit.export.sql.dialect import Dialect


class Patterns(ABC):
    """How one database with regular expressions reads a text. All functions give NULL for NULL."""

    double: ClassVar[str] = "DOUBLE"
    whole: ClassVar[str] = "INTEGER"

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect

    @abstractmethod
    def is_text(self, column: str) -> str:
        """Return the condition that a column holds texts."""

    @abstractmethod
    def matches(self, text: str, pattern: str) -> str:
        """Return the condition that a text has the pattern."""

    @abstractmethod
    def group(self, text: str, pattern: str, number: int) -> str:
        """Return what a group of the pattern matched; NULL where it matched nothing."""

    @abstractmethod
    def rewritten(self, text: str, pattern: str, template: str) -> str:
        r"""Return the text that a template such as -\1 makes of a text with the pattern; others stay."""

    def translated(self, text: str, before: str, after: str) -> str:
        """Return the text with characters replaced one by one; those without a partner are removed."""
        return f"translate({text}, {self.dialect.text(before)}, {self.dialect.text(after)})"

    def number_of(self, text: str) -> str:
        """Return a text as a number; NULL where it is none."""
        return f"TRY_CAST({text} AS {self.double})"

    def whole_of(self, text: str) -> str:
        """Return digits as a whole number; NULL where they are none."""
        return f"TRY_CAST({text} AS {self.whole})"


class DuckDBPatterns(Patterns):
    """DuckDB: the same library of regular expressions as Arrow's."""

    def is_text(self, column: str) -> str:
        """By the type of the column."""
        return f"regexp_matches(typeof({column}), '^(VARCHAR|ENUM|\"NULL\")')"

    def matches(self, text: str, pattern: str) -> str:
        """By a function."""
        return f"regexp_matches({text}, {self.dialect.text(pattern)})"

    def group(self, text: str, pattern: str, number: int) -> str:
        """A group that matched nothing is an empty text."""
        return f"nullif(regexp_extract({text}, {self.dialect.text(pattern)}, {number}), '')"

    def rewritten(self, text: str, pattern: str, template: str) -> str:
        """By a function."""
        return f"regexp_replace({text}, {self.dialect.text(pattern)}, {self.dialect.text(template)})"


class PostgresPatterns(Patterns):
    """PostgreSQL: a cast of what is no number fails, so that each text is looked at before."""

    double = "double precision"

    def is_text(self, column: str) -> str:
        """By the type of the column; an enumeration is no number either."""
        numbers = "smallint|integer|bigint|numeric|real|double|money|boolean|date|time|interval"
        return f"(CAST(pg_typeof({column}) AS text) !~ '^({numbers})')"

    def matches(self, text: str, pattern: str) -> str:
        """By an operator."""
        return f"({text} ~ {self.dialect.text(pattern)})"

    def group(self, text: str, pattern: str, number: int) -> str:
        """By position."""
        return f"nullif((regexp_match({text}, {self.dialect.text(pattern)}))[{number}], '')"

    def rewritten(self, text: str, pattern: str, template: str) -> str:
        """By a function."""
        return f"regexp_replace({text}, {self.dialect.text(pattern)}, {self.dialect.text(template)})"

    def number_of(self, text: str) -> str:
        """Where it is written as a number."""
        number = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
        return f"CASE WHEN {text} ~ {self.dialect.text(number)} THEN CAST({text} AS double precision) END"

    def whole_of(self, text: str) -> str:
        """Of digits alone."""
        return f"CAST({text} AS integer)"


class SparkPatterns(Patterns):
    """Spark: the regular expressions of Java."""

    whole = "INT"

    def is_text(self, column: str) -> str:
        """By the type of the column."""
        return f"(typeof({column}) RLIKE '^(string|varchar|char|void)')"

    def matches(self, text: str, pattern: str) -> str:
        """By an operator."""
        return f"({text} RLIKE {self.dialect.text(pattern)})"

    def group(self, text: str, pattern: str, number: int) -> str:
        """A group that matched nothing is an empty text."""
        return f"nullif(regexp_extract({text}, {self.dialect.text(pattern)}, {number}), '')"

    def rewritten(self, text: str, pattern: str, template: str) -> str:
        """Groups are written with a dollar sign."""
        written = template.replace("\\", "$")
        return f"regexp_replace({text}, {self.dialect.text(pattern)}, {self.dialect.text(written)})"


PATTERNS: dict[str, type[Patterns]] = {
    "duckdb": DuckDBPatterns,
    "postgres": PostgresPatterns,
    "spark": SparkPatterns,
}
