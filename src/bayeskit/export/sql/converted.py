"""Raw columns of a database → the columns of a model, as the reader of files converted them."""

from __future__ import annotations

from collections.abc import Sequence

from bayeskit.export.forms import BLANK, WHITE, Form, date_forms, hour_forms, number_form, truth_words
from bayeskit.export.raw import RawColumn
from bayeskit.export.sql.dates import DateStages
from bayeskit.export.sql.dialect import Dialect
from bayeskit.export.sql.patterns import PATTERNS, Patterns
from bayeskit.export.sql.query import Query
from bayeskit.export.sql.sqlite_cells import SQLiteCells
from bayeskit.table.conventions import Convention
from bayeskit.table.durations import HOURS_IN
from bayeskit.table.number_cells import INFINITE
from bayeskit.table.written_dates import PLAIN, WIDE

# Wide forms of plain characters, of the minus sign and of currencies.
_WIDE, _PLAIN = WIDE + "\u2212￡￥￦", PLAIN + "-£¥₩"
# The zone that a database writes behind a moment.
_ZONE = r"^(.*:\d{2}(?:\.\d+)?)[+-]\d{2}(?::?\d{2})?$"


class ConvertedCells:
    """The stages that come before the cells of a model: raw{i}, the i-th raw column, and what is made of it.

    ``origin`` has the name that holds each column of the model, ``typed`` the raw column of those that are read as they
    are, whose type may be wrong, and ``refused`` the names of conditions for rows that the model refuses.
    """

    def __init__(self, dialect: Dialect, raw: Sequence[RawColumn], texts: set[int]) -> None:
        self.dialect, self.raw, self.texts = dialect, raw, texts
        self.origin: dict[int, str] = {}
        self.typed: dict[int, str] = {}
        self.missing_numbers: dict[int, tuple[float, ...]] = {}
        self.refused: list[str] = []

    def add_stages(self, query: Query, keys: dict[str, str]) -> None:
        """Add the stages that read and convert the raw columns."""
        columns = {f"raw{i}": f"source.{self.dialect.identifier(c.name)}" for i, c in enumerate(self.raw)}
        query.add({**keys, **columns} or {"k0": "1"})
        parts = [query.part("") for _ in self.raw]
        for i, column in enumerate(self.raw):
            self._column(parts[i], i, column)
        query.add_together(parts)

    def _column(self, part: Query, i: int, column: RawColumn) -> None:
        convention = column.convention
        if convention is None:
            j = column.made[0][0]
            self.typed[j] = f"raw{i}"
            self.missing_numbers[j] = column.missing_numbers
            if j in self.texts:
                part.add({f"text{i}": self._known(self._respelled(f"raw{i}", column), column)})
            self.origin[j] = f"text{i}" if j in self.texts else f"raw{i}"
            return
        part.add({f"text{i}": self._known(self._respelled(f"raw{i}", column), column)})
        reader: WrittenCells | SQLiteCells
        kind = PATTERNS.get(self.dialect.name)
        reader = SQLiteCells(self.dialect, part, i) if kind is None else WrittenCells(kind(self.dialect), part, i)
        if convention.what == "date":
            self.origin |= {j: reader.date(convention, name) for j, name in column.made}
        else:
            value = {"number": reader.number, "hours": reader.hours, "truth": reader.truth}[convention.what](convention)
            for number in column.missing_numbers if convention.what != "truth" else ():
                value = f"nullif({value}, {self.dialect.number(number)})"
            part.add({f"made{i}": value})
            self.origin[column.made[0][0]] = f"made{i}"
        part.add({f"wrong{i}": reader.wrong(convention)})
        self.refused.append(f"wrong{i}")

    def _respelled(self, cell: str, column: RawColumn) -> str:
        text = self.dialect.as_text(cell)
        if not column.respelled:
            return text
        cases = " ".join(f"WHEN {self.dialect.text(a)} THEN {self.dialect.text(b)}" for a, b in column.respelled)
        return f"CASE {text} {cases} ELSE {text} END"

    def _known(self, text: str, column: RawColumn) -> str:
        """Return a text, NULL where it is blank or a word for a missing cell."""
        words = ", ".join(map(self.dialect.text, column.missing))
        blank = self.dialect.trimmed(text, BLANK)
        return f"CASE WHEN {text} NOT IN ({words}) AND ({blank} <> '' OR {text} = '') THEN {text} END"


class WrittenCells:
    """The cells of one raw column, read by regular expressions."""

    def __init__(self, patterns: Patterns, part: Query, i: int) -> None:
        self.patterns, self.part, self.i = patterns, part, i
        self.odd = ""  # the condition for cells that are not what they must be
        dialect = patterns.dialect
        part.add({f"cut{i}": dialect.trimmed(f"text{i}", WHITE), f"written{i}": patterns.is_text(f"raw{i}")})

    def wrong(self, convention: Convention) -> str:
        """Return the condition for a row that the model refuses."""
        i, lenient = self.i, convention.lenient
        odd = f"(text{i} IS NOT NULL AND {self.odd})"
        infinite = self.patterns.matches(f"cut{i}", INFINITE)
        return f"({odd} AND (NOT written{i} OR {infinite}))" if lenient else odd

    def number(self, convention: Convention) -> str:
        """Return the expression of a number."""
        patterns, dialect, i = self.patterns, self.patterns.dialect, self.i
        form = number_form(convention)
        power = "''"
        for pattern, exponent in form.powers:
            ends = patterns.matches(f"text{i}", pattern) if pattern else "1 = 1"
            power = f"CASE WHEN {ends} THEN 'e{exponent}' ELSE {power} END"
        if convention.truth:
            small = f"lower(cut{i})"
            cut = f"CASE {small} WHEN 'true' THEN '1' WHEN 'false' THEN '0' ELSE cut{i} END"
        else:
            cut = f"cut{i}"
        self.part.add(
            {f"cut{i}_0": dialect.trimmed(patterns.translated(cut, _WIDE, _PLAIN), WHITE), f"power{i}": power}
        )
        for k, (pattern, template) in enumerate(form.rewrites):
            before = f"cut{i}_{k}"
            new = patterns.rewritten(before, pattern, template)
            if form.must_rewrite and k == len(form.rewrites) - 1:
                new = f"CASE WHEN {patterns.matches(before, pattern)} THEN {new} ELSE '' END"
            self.part.add({f"cut{i}_{k + 1}": new})
        last = f"cut{i}_{len(form.rewrites)}"
        fits = f"{patterns.matches(last, form.pattern)} AND {patterns.matches(last, '[0-9]')}"
        if form.powers:
            fits = f"{fits} AND NOT {patterns.matches(last, '[eEfF]')}"
        before, after = form.without, ""
        if form.decimal == ",":
            before, after = f",{form.without}", "."
        digits = patterns.translated(last, before, after)
        self.part.add({f"digits{i}": f"CASE WHEN {fits} THEN {digits} || power{i} END"})
        typed = f"CASE lower(cut{i}) WHEN 'true' THEN '1' WHEN 'false' THEN '0' ELSE cut{i} END"
        self.part.add({f"plain{i}": f"CASE WHEN written{i} THEN digits{i} ELSE {typed} END"})
        self.part.add({f"value{i}": patterns.number_of(f"plain{i}")})
        self.odd = f"value{i} IS NULL"
        return f"value{i}"

    def truth(self, convention: Convention) -> str:
        """Return the expression of 1 for yes and 0 for no."""
        dialect, i = self.patterns.dialect, self.i
        words = truth_words()
        yes, no = (", ".join(dialect.text(w) for w, truth in words.items() if truth is side) for side in (True, False))
        one, zero = dialect.number(1), dialect.number(0)
        self.part.add(
            {f"value{i}": f"CASE WHEN lower(cut{i}) IN ({yes}) THEN {one} WHEN lower(cut{i}) IN ({no}) THEN {zero} END"}
        )
        self.odd = f"value{i} IS NULL"
        return f"value{i}"

    def hours(self, convention: Convention) -> str:
        """Return the expression of hours."""
        patterns, dialect, i = self.patterns, self.patterns.dialect, self.i
        clock, *others = hour_forms()
        text, zero = f"cut{i}", dialect.number(0)
        self.part.add({f"low{i}": f"lower({text})"})

        def field(form: Form, name: str, cell: str) -> str:
            group = patterns.group(cell, form.pattern, form.groups[name])
            return patterns.number_of(patterns.translated(group, ",", "."))

        half = patterns.group(text, clock.pattern, clock.groups["half"])
        hour, minute, second = (f"coalesce({field(clock, name, text)}, {zero})" for name in "hms")
        noon = f"CASE WHEN lower({half}) LIKE 'p%' THEN {dialect.number(12)} ELSE {zero} END"
        fields = {"hour": hour, "minute": minute, "second": second, "half": half, "noon": noon}
        self.part.add({f"{name}{i}": expression for name, expression in fields.items()})
        halves = f"WHEN hour{i} = 12 THEN noon{i} WHEN hour{i} >= 1 AND hour{i} < 12 THEN hour{i} + noon{i}"
        self.part.add({f"hour{i}_1": f"CASE WHEN half{i} IS NULL THEN hour{i} {halves} END"})
        sign = f"CASE WHEN {text} LIKE '-%' THEN {dialect.number(-1)} ELSE {dialect.number(1)} END"
        total = f"hour{i}_1 + minute{i} / {dialect.number(60)} + second{i} / {dialect.number(3600)}"
        forms = [f"WHEN {patterns.matches(text, clock.pattern)} THEN {sign} * ({total})"]
        for form in others:
            cell = f"low{i}" if form.is_lower else text
            terms = [f"{field(form, name, cell)} * {dialect.number(HOURS_IN[name])}" for name in form.groups]
            # Without any number it is no duration.
            is_form = f"{patterns.matches(cell, form.pattern)} AND {patterns.matches(cell, '[0-9]')}"
            forms.append(f"WHEN {is_form} THEN {' + '.join(f'coalesce({term}, {zero})' for term in terms)}")
        self.part.add({f"value{i}": f"CASE {' '.join(forms)} END"})
        self.odd = f"value{i} IS NULL"
        return f"value{i}"

    def date(self, convention: Convention, part: str) -> str:
        """Return the expression of a part of a date."""
        if not self.odd:
            patterns, i = self.patterns, self.i
            bare = f"CASE WHEN written{i} THEN cut{i} ELSE {patterns.rewritten(f'cut{i}', _ZONE, chr(92) + '1')} END"
            self.part.add({f"date{i}": bare, f"wide{i}": patterns.translated(f"cut{i}", WIDE, PLAIN)})
            self._stages = DateStages(self.patterns.dialect, self.part, i, convention)
            self._stages.by_patterns(patterns, date_forms(convention.order))
            self.odd = f"since{i} IS NULL"
        return self._stages.part_of(part)
