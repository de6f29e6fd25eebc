"""Dates in a query by whole numbers alone, so that databases with other calendars, or none, agree."""

from __future__ import annotations

from collections.abc import Sequence

from bayeskit.export.forms import Form, month_words
from bayeskit.export.sql.dialect import Dialect
from bayeskit.export.sql.patterns import Patterns
from bayeskit.export.sql.query import Query
from bayeskit.table.conventions import Convention
from bayeskit.table.dates import WEEKDAYS

# Days from 1 March of the year 0 to 1970-01-01; years are counted from March, so that a leap day is the last.
_EPOCH = 719468
_FIELDS = ("year", "month", "day", "week", "weekday", "quarter", "hour", "minute", "second")


class DateStages:
    """The fields of a date → its day from 1970-01-01 and the second of the day → the parts that a model reads."""

    def __init__(self, dialect: Dialect, query: Query, i: int, convention: Convention) -> None:
        self.dialect, self.query, self.i, self.convention = dialect, query, i, convention

    def by_patterns(self, patterns: Patterns, forms: Sequence[Form]) -> None:
        """Add the stages that read texts by regular expressions: the first form that fits decides."""
        i = self.i
        texts = [f"wide{i}" if form.is_wide else f"date{i}" for form in forms]
        tests = [
            f"WHEN {patterns.matches(text, f.pattern)} THEN {k}"
            for k, (f, text) in enumerate(zip(forms, texts, strict=True))
        ]
        self.query.add({f"form{i}": f"CASE {' '.join(tests)} END"})

        def field(name: str) -> str:
            cases = [
                f"WHEN {k} THEN {patterns.group(text, form.pattern, form.groups[name])}"
                for k, (form, text) in enumerate(zip(forms, texts, strict=True))
                if name in form.groups
            ]
            return f"CASE form{i} {' '.join(cases)} END" if cases else "NULL"

        words = {name: field(name) for name in (*_FIELDS, "name", "half")}
        self.query.add({f"{name}text{i}": text for name, text in words.items()})
        leap = [k for k, form in enumerate(forms) if "leap" in form.groups]
        fields = {name: patterns.whole_of(f"{name}text{i}") for name in _FIELDS}
        month = " ".join(
            f"WHEN lower(nametext{i}) IN ({', '.join(map(self.dialect.text, names))}) THEN {number}"
            for number, names in month_words().items()
        )
        # A name that is no month makes no date.
        fields["month"] = (
            f"CASE WHEN nametext{i} IS NOT NULL THEN CASE {month} ELSE 0 END WHEN quartertext{i} IS NOT NULL "
            f"THEN {fields['quarter']} * 3 - 2 ELSE {fields['month']} END"
        )
        pivot = self.convention.pivot
        fields["year"] = (
            f"CASE WHEN length(yeartext{i}) = 2 THEN {fields['year']} + CASE WHEN {fields['year']} < {pivot} "
            f"THEN 2000 ELSE 1900 END ELSE {fields['year']} END"
        )
        hour = fields["hour"]
        twelve = f"{hour} - {self.dialect.quotient(hour, 12)} * 12"
        fields["hour"] = (
            f"CASE WHEN halftext{i} IS NULL THEN {hour} WHEN lower(halftext{i}) LIKE 'p%' THEN {twelve} + 12 "
            f"ELSE {twelve} END"
        )
        most = f"CASE WHEN form{i} IN ({', '.join(map(str, leap))}) THEN 61 ELSE 60 END"
        self.query.add({**{f"{name}{i}": fields[name] for name in _FIELDS if name != "quarter"}, f"most{i}": most})
        self.from_fields()

    def from_fields(self) -> None:
        """Add the stages from the fields year{i} … second{i}, and most{i} for the seconds of a minute, to the parts."""
        i, quotient = self.i, self.dialect.quotient
        defaults = {"month": 1, "day": 1, "weekday": 1, "hour": 0, "minute": 0, "second": 0}
        self.query.add(
            {
                **{f"{name}{i}_1": f"coalesce({name}{i}, {default})" for name, default in defaults.items()},
                f"year{i}_1": f"year{i} + 0",
                f"week{i}_1": f"week{i} + 0",
                f"leap{i}": f"CASE WHEN year{i} - {quotient(f'year{i}', 4)} * 4 = 0 AND (year{i} - "
                f"{quotient(f'year{i}', 100)} * 100 <> 0 OR year{i} - {quotient(f'year{i}', 400)} * 400 = 0) "
                "THEN 1 ELSE 0 END",
                f"limit{i}": f"most{i} + 0",
            }
        )
        year, month, day = (f"{name}{i}_1" for name in ("year", "month", "day"))
        in_month = f"CASE WHEN {month} = 2 THEN 28 + leap{i} WHEN {month} IN (4, 6, 9, 11) THEN 30 ELSE 31 END"
        real = (
            f"{year} >= 1 AND {month} BETWEEN 1 AND 12 AND {day} BETWEEN 1 AND {in_month} AND hour{i}_1 < 24 "
            f"AND minute{i}_1 < 60 AND second{i}_1 < limit{i}"
        )
        by_date = self._day_number(year, month, day)
        first = self._day_number(year, "1", "4")
        # Week 1 has 4 January; the last week has its Thursday in the year.
        monday = f"(first{i} - (first{i} + 3 + 735000 - {quotient(f'(first{i} + 3 + 735000)', 7)} * 7))"
        self.query.add({f"real{i}": f"CASE WHEN {real} THEN 1 ELSE 0 END", f"first{i}": first, f"bydate{i}": by_date})
        thursday = f"{monday} + (week{i}_1 - 1) * 7 + 3"
        next_year = f"first{i} - 3 + 365 + leap{i}"
        in_week = f"CASE WHEN week{i}_1 >= 1 AND {thursday} < {next_year} THEN {thursday} - 4 + weekday{i}_1 END"
        second = f"3600 * hour{i}_1 + 60 * minute{i}_1 + second{i}_1"
        days = f"CASE WHEN real{i} = 1 THEN CASE WHEN week{i}_1 IS NOT NULL THEN {in_week} ELSE bydate{i} END END"
        self.query.add({f"since{i}_1": days, f"passed{i}": second})
        self.query.add(
            {
                f"since{i}": f"since{i}_1 + CASE WHEN passed{i} >= 86400 THEN 1 ELSE 0 END",
                f"passed{i}_1": f"passed{i} - CASE WHEN passed{i} >= 86400 THEN 86400 ELSE 0 END",
            }
        )
        self._civil()

    def part_of(self, part: str) -> str:
        """Return the name of the column that holds a part of the date."""
        return {"year": "cyear", "month": "cmonth", "weekday": "cweekday", "days": "cdays", "hour": "chour"}[
            part
        ] + str(self.i)

    def _day_number(self, year: str, month: str, day: str) -> str:
        quotient = self.dialect.quotient
        start = f"({year} - CASE WHEN {month} <= 2 THEN 1 ELSE 0 END)"
        months = f"({month} - 3 + CASE WHEN {month} <= 2 THEN 12 ELSE 0 END)"
        leaps = f"{quotient(start, 4)} - {quotient(start, 100)} + {quotient(start, 400)}"
        return f"(365 * {start} + {leaps} + {quotient(f'(153 * {months} + 2)', 5)} + {day} - 1 - {_EPOCH})"

    def _civil(self) -> None:
        """Add the stages from the day to year and month: eras of 400 years, years from March."""
        i, quotient, query = self.i, self.dialect.quotient, self.query
        query.add({f"era{i}": quotient(f"(since{i} + {_EPOCH})", 146097)})
        query.add({f"ofera{i}": f"since{i} + {_EPOCH} - era{i} * 146097"})
        of_era = f"ofera{i}"
        leaps = f"{quotient(of_era, 1460)} + {quotient(of_era, 36524)} - {quotient(of_era, 146096)}"
        query.add({f"yoe{i}": quotient(f"({of_era} - {leaps})", 365)})
        yoe = f"yoe{i}"
        query.add({f"doy{i}": f"{of_era} - (365 * {yoe} + {quotient(yoe, 4)} - {quotient(yoe, 100)})"})
        query.add({f"mp{i}": quotient(f"(5 * doy{i} + 2)", 153)})
        month = f"(mp{i} + CASE WHEN mp{i} < 10 THEN 3 ELSE -9 END)"
        # Whole weeks more than there are days before 1970; that day was a Thursday.
        weekday = f"(since{i} + 3 + 735000 - {quotient(f'(since{i} + 3 + 735000)', 7)} * 7)"
        names = " ".join(f"WHEN {k} THEN {self.dialect.text(name)}" for k, name in enumerate(WEEKDAYS))
        origin = _days_of(self.convention.origin)
        query.add(
            {
                f"cyear{i}": f"yoe{i} + era{i} * 400 + CASE WHEN mp{i} >= 10 THEN 1 ELSE 0 END",
                f"cmonth{i}": month,
                f"cweekday{i}": f"CASE {weekday} {names} END",
                f"cdays{i}": f"since{i} - ({origin})",
                f"chour{i}": f"CASE WHEN since{i} IS NOT NULL THEN {quotient(f'passed{i}_1', 3600)} END",
            }
        )


def _days_of(day: str) -> int:
    import numpy as np

    return int(np.datetime64(day, "D").astype(np.int64))
