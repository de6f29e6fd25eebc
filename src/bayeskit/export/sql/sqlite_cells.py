"""Texts of SQLite, which has no regular expressions: numbers, dates of numbers and times, by their shape.

A cell that the reader may understand and this does not (a date in words, a duration in words, wide digits) is refused,
so that no row gets another answer than in the library.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from bayeskit.export.forms import BLANK, WHITE, number_form, truth_words
from bayeskit.export.sql.dates import DateStages
from bayeskit.export.sql.dialect import Dialect
from bayeskit.export.sql.query import Query
from bayeskit.table.conventions import Convention
from bayeskit.table.number_cells import MULTIPLES, multiples, unit_letters

_WIDE = "*[\uff01-\uff5e\uffe0-\uffe6\u3000\u2212]*"
_YEAR_FIRST = ("9999-9-9", "9999-99-9", "9999-9-99", "9999-99-99")
_YEAR_LAST = ("9-9-9999", "99-9-9999", "9-99-9999", "99-99-9999")
_SHORT_YEAR = ("9-9-99", "99-9-99", "9-99-99", "99-99-99")


class SQLiteCells:
    """The cells of one raw column, read by their shape: the text with 9 for each digit."""

    def __init__(self, dialect: Dialect, part: Query, i: int) -> None:
        self.dialect, self.part, self.i = dialect, part, i
        self._wrong = ""
        self._stages: DateStages | None = None
        part.add({f"cut{i}": dialect.trimmed(f"text{i}", WHITE), f"type{i}": f"typeof(raw{i})"})

    def wrong(self, convention: Convention) -> str:
        """Return the condition for a row that the model refuses."""
        return f"(text{self.i} IS NOT NULL AND ({self._wrong}))"

    def truth(self, convention: Convention) -> str:
        """Return the expression of 1 for yes and 0 for no."""
        i, words = self.i, truth_words()
        yes, no = (", ".join(self.dialect.text(w) for w, t in words.items() if t is side) for side in (True, False))
        self.part.add(
            {f"value{i}": f"CASE WHEN lower(cut{i}) IN ({yes}) THEN 1.0 WHEN lower(cut{i}) IN ({no}) THEN 0.0 END"}
        )
        self._wrong = "1 = 0" if convention.lenient else f"value{i} IS NULL"
        return f"value{i}"

    def number(self, convention: Convention) -> str:
        """Return the expression of a number."""
        i, add = self.i, self.part.add
        cut = f"cut{i}"
        if convention.truth:
            cut = f"CASE lower({cut}) WHEN 'true' THEN '1' WHEN 'false' THEN '0' ELSE {cut} END"
        add({f"cut{i}_0": cut})
        inner = self._left(f"substr(cut{i}_0, 2, length(cut{i}_0) - 2)")
        add({f"cut{i}_1": _case(f"cut{i}_0 LIKE '(%)'", f"'-' || {inner}", f"cut{i}_0")})
        rest = self._right(f"substr(cut{i}_1, 1, length(cut{i}_1) - 1)")
        add({f"cut{i}_2": _case(f"cut{i}_1 LIKE '%-' AND {rest} GLOB '*[0-9]'", f"'-' || {rest}", f"cut{i}_1")})
        add(self._without_unit(convention.unit))
        self._mantissa(number_form(convention).without, convention.decimal)
        written = f"WHEN fits{i} THEN CAST(digits{i} AS REAL)"
        add({f"value{i}": f"CASE WHEN type{i} IN ('integer', 'real') THEN CAST(raw{i} AS REAL) {written} END"})
        infinite = f"lower(ltrim(cut{i}, '+-')) IN ('inf', 'infinity')"
        odd = f"{infinite} OR cut{i} GLOB {self.dialect.text(_WIDE)} OR type{i} = 'blob'"
        self._wrong = odd if convention.lenient else f"{odd} OR value{i} IS NULL"
        return f"value{i}"

    def _without_unit(self, unit: str) -> dict[str, str]:
        """Return cut{i}_3, the number without its unit, and power{i}, what is written behind its digits."""
        i = self.i
        cell = f"cut{i}_2"
        if not unit:
            return {f"cut{i}_3": cell, f"power{i}": "''"}
        if unit in ("%", MULTIPLES):
            ends = {"%": "e-2"} if unit == "%" else {name: f"e{power}" for name, power in multiples().items()}
            cases, powers = [], []
            for name, power in sorted(ends.items(), key=lambda item: -len(item[0])):
                rest = self._right(f"substr({cell}, 1, length({cell}) - {len(name)})")
                fits = f"{cell} GLOB {self.dialect.text('*' + name)} AND {rest} GLOB '*[0-9]'"
                cases.append(f"WHEN {fits} THEN {rest}")
                powers.append(f"WHEN {fits} THEN '{power}'")
            other = "''" if unit == "%" else cell
            return {
                f"cut{i}_3": f"CASE {' '.join(cases)} ELSE {other} END",
                f"power{i}": f"CASE {' '.join(powers)} ELSE '' END",
            }
        pattern = "".join(f"[{letters}]" for letters in unit_letters(unit))
        cases = []
        for more in ("", "[sS]", ".", "[sS].") if len(unit) > 1 else ("", "."):
            n = len(unit) + len(more.replace("[sS]", "s"))
            rest = self._right(f"substr({cell}, 1, length({cell}) - {n})")
            cases.append(
                f"WHEN {cell} GLOB {self.dialect.text('*' + pattern + more)} AND {rest} GLOB '*[0-9]' THEN {rest}"
            )
        for sign, dot, inner in product(("+", "-", ""), (".", ""), ("+", "-", "")):
            after = self._left(f"substr({cell}, {len(sign) + 1})")
            number = self._left(f"substr({after}, {len(unit) + len(dot) + 1})")
            last = self._left(f"substr({number}, {len(inner) + 1})")
            tests = [f"substr({cell}, 1, 1) = '{sign}'"] if sign else []
            tests += [f"{after} GLOB {self.dialect.text(pattern + dot + '*')}"]
            tests += [f"substr({number}, 1, 1) = '{inner}'"] if inner else []
            tests += [f"{last} GLOB '[0-9]*'"]
            cases.append(f"WHEN {' AND '.join(tests)} THEN '{sign}{inner}' || {last}")
        return {f"cut{i}_3": f"CASE {' '.join(cases)} ELSE {cell} END", f"power{i}": "''"}

    def _mantissa(self, separators: str, decimal: str) -> None:
        """Add the stages that take a number apart: fits{i} says whether it is one, digits{i} is what SQLite casts."""
        i, add = self.i, self.part.add
        cell = f"cut{i}_3"
        add({f"sign{i}": _case(f"substr({cell}, 1, 1) IN ('+', '-')", f"substr({cell}, 1, 1)", "''")})
        add({f"body{i}": f"substr({cell}, length(sign{i}) + 1)"})
        add({f"at{i}": f"instr(lower(body{i}), 'e')"})
        add({f"main{i}": _before(f"body{i}", f"at{i}"), f"exp{i}": _after(f"body{i}", f"at{i}")})
        add({f"point{i}": f"instr(main{i}, '{decimal}')"})
        add({f"whole{i}": _before(f"main{i}", f"point{i}"), f"frac{i}": _after(f"main{i}", f"point{i}")})
        group, digits = _shape(f"whole{i}"), f"whole{i}"
        for separator in map(self.dialect.text, separators):
            group, digits = f"replace({group}, {separator}, '_')", f"replace({digits}, {separator}, '')"
        power = f"ltrim(exp{i}, '+-')"
        add({f"group{i}": group, f"shape{i}": _shape(f"whole{i}"), f"power{i}_1": power})
        # 12_345_678 is gg after two digits; 12,34,567 ends in three digits, with pairs before them.
        thousands = f"rtrim(replace(group{i}, '_999', 'g'), 'g') IN ('9', '99', '999') AND instr(group{i}, '_') > 0"
        pairs = f"substr(shape{i}, 1, length(shape{i}) - 4)"
        few = f"rtrim(replace({pairs}, ',99', 'g'), 'g') IN ('9', '99')"
        india = f" OR (shape{i} LIKE '%,999' AND {few} AND {pairs} LIKE '%,%')" if decimal == "." else ""
        grouped = f"(at{i} = 0 AND substr(whole{i}, 1, 1) <> '0' AND ({thousands}{india}))"
        signs = f"length(exp{i}) - length(power{i}_1) <= 1 AND power{i} = ''"
        exponent = f"(at{i} = 0 OR ({_digits(f'power{i}_1')} AND power{i}_1 <> '' AND {signs}))"
        fraction = _digits(f"frac{i}") + ("" if decimal == "." else f" AND (point{i} = 0 OR frac{i} <> '')")
        fits = f"main{i} GLOB '*[0-9]*' AND {fraction} AND {exponent} AND ({_digits(f'whole{i}')} OR {grouped})"
        tail = _case(f"at{i} > 0", f"'e' || exp{i}", f"power{i}")
        add({f"fits{i}": fits, f"digits{i}": f"sign{i} || '0' || {digits} || '.' || frac{i} || '0' || {tail}"})

    def hours(self, convention: Convention) -> str:
        """Return the expression of hours; durations in words are refused."""
        i, add = self.i, self.part.add
        add({f"small{i}": f"rtrim(replace(lower(cut{i}), '.m', 'm'), '.')"})
        add({f"half{i}": _case(f"small{i} GLOB '*[ap]m'", f"substr(small{i}, -2, 1)", "''")})
        before = self._right(f"substr(small{i}, 1, length(small{i}) - 2)")
        bare = _case(f"half{i} = ''", f"cut{i}", before)
        add({f"time{i}": f"replace({bare}, ',', '.')"})
        add({f"body{i}": _case(f"time{i} LIKE '-%'", f"substr(time{i}, 2)", f"time{i}")})
        add({f"dot{i}": f"instr(body{i}, '.')"})
        add({f"main{i}": _before(f"body{i}", f"dot{i}"), f"frac{i}": _after(f"body{i}", f"dot{i}")})
        add({f"shape{i}": _shape(f"main{i}"), f"colon{i}": f"instr(main{i}, ':')"})
        clock = [f"{'9' * k}:99" for k in (1, 2, 3, 4)]
        long = _list([f"{each}:99" for each in clock])
        add({f"long{i}": f"shape{i} IN ({long})", f"clock{i}": f"shape{i} IN ({_list(clock)})"})
        second = f"CAST(substr(main{i}, -2) || '.' || frac{i} || '0' AS REAL)"
        fraction = f"(dot{i} = 0 OR (frac{i} <> '' AND {_digits(f'frac{i}')}))"
        add(
            {
                f"fits{i}": f"(clock{i} AND dot{i} = 0) OR (long{i} AND {fraction})",
                f"hour{i}": f"CAST(substr(main{i}, 1, colon{i} - 1) AS REAL)",
                f"minute{i}": f"CAST(substr(main{i}, colon{i} + 1, 2) AS REAL)",
                f"second{i}": _case(f"long{i}", second, "0.0"),
                f"noon{i}": _case(f"half{i} = 'p'", "12.0", "0.0"),
            }
        )
        halves = f"WHEN hour{i} = 12 THEN noon{i} WHEN hour{i} >= 1 AND hour{i} < 12 THEN hour{i} + noon{i}"
        add({f"hour{i}_1": f"CASE WHEN half{i} = '' THEN hour{i} {halves} END"})
        real = f"fits{i} AND minute{i} < 60 AND second{i} < 60"
        sign = _case(f"time{i} LIKE '-%'", "-1.0", "1.0")
        total = f"hour{i}_1 + minute{i} / 60.0 + second{i} / 3600.0"
        add({f"value{i}": f"CASE WHEN {real} THEN {sign} * ({total}) END"})
        self._wrong = f"NOT fits{i} AND cut{i} GLOB '*[0-9]*'" if convention.lenient else f"value{i} IS NULL"
        return f"value{i}"

    def date(self, convention: Convention, part: str) -> str:
        """Return the expression of a part of a date; dates in words are refused."""
        if self._stages is None:
            self._stages = DateStages(self.dialect, self.part, self.i, convention)
            self._date_fields(convention)
            self._stages.from_fields()
            digits = f"(cut{self.i} GLOB '*[0-9]*' OR cut{self.i} GLOB {self.dialect.text(_WIDE)})"
            other = f"form{self.i} IS NULL AND {digits}"
            self._wrong = other if convention.lenient else f"since{self.i} IS NULL"
        return self._stages.part_of(part)

    def _date_fields(self, convention: Convention) -> None:
        i, add = self.i, self.part.add
        add({f"gap{i}": f"instr(replace(cut{i}, 'T', ' '), ' ')"})
        add({f"date{i}": _before(f"cut{i}", f"gap{i}"), f"time{i}": _after(f"cut{i}", f"gap{i}")})
        same = f"replace(replace(date{i}, '/', '-'), '.', '-')"
        add({f"same{i}": same, f"zone{i}": _shape(f"time{i}")})
        self._clock()
        add({f"shape{i}": _shape(f"same{i}"), f"sign{i}": f"instr(same{i}, '-')"})
        add({f"sign{i}_1": f"sign{i} + instr(substr(same{i}, sign{i} + 1), '-')"})
        forms = [f"WHEN shape{i} IN ({_list(_YEAR_FIRST)}) THEN 0"]
        if convention.order != "ymd":
            one_sign = " OR ".join(f"length(replace(date{i}, '{sign}', '')) = length(date{i}) - 2" for sign in "-/.")
            forms.append(f"WHEN shape{i} IN ({_list(_YEAR_LAST)}) THEN 1")
            forms.append(f"WHEN shape{i} IN ({_list(_SHORT_YEAR)}) AND ({one_sign}) THEN 2")
        clocks = _list(["", "9:99", "99:99", "9:99:99", "99:99:99"])
        timed = f"clock{i}_2 IN ({clocks}) AND (gap{i} = 0 OR clock{i}_2 <> '')"
        add({f"form{i}": f"CASE WHEN {timed} THEN CASE {' '.join(forms)} END END"})
        a = _whole(f"substr(same{i}, 1, sign{i} - 1)")
        b = _whole(f"substr(same{i}, sign{i} + 1, sign{i}_1 - sign{i} - 1)")
        c = _whole(f"substr(same{i}, sign{i}_1 + 1)")
        day, month = (a, b) if convention.order == "dmy" else (b, a)
        short = f"{c} + {_case(f'{c} < {convention.pivot}', '2000', '1900')}"
        colon = f"instr(clock{i}_1, ':')"
        add(
            {
                f"year{i}": f"CASE form{i} WHEN 0 THEN {a} WHEN 1 THEN {c} WHEN 2 THEN {short} END",
                f"month{i}": _case(f"form{i} = 0", b, month),
                f"day{i}": _case(f"form{i} = 0", c, day),
                f"week{i}": "NULL",
                f"weekday{i}": "NULL",
                f"hour{i}": _case(f"{colon} > 0", _whole(f"substr(clock{i}_1, 1, {colon} - 1)"), "0"),
                f"minute{i}": _case(f"{colon} > 0", _whole(f"substr(clock{i}_1, {colon} + 1, 2)"), "0"),
                f"second{i}": _case(f"length(clock{i}_1) > 5", _whole(f"substr(clock{i}_1, -2)"), "0"),
                f"most{i}": _case(f"form{i} = 2", "60", "61"),
            }
        )

    def _clock(self) -> None:
        """Add clock{i}_1, the time without zone and fraction of a second, and clock{i}_2, its shape."""
        i, add = self.i, self.part.add
        zones = " ".join(
            f"WHEN zone{i} LIKE '%{zone}' THEN substr(time{i}, 1, length(time{i}) - {len(zone)})"
            for zone in ("+99:99", "-99:99", "+9999", "-9999", "Z")
        )
        add({f"clock{i}": f"CASE {zones} ELSE time{i} END"})
        add({f"dot{i}": f"instr(clock{i}, '.')"})
        has_fraction = f"clock{i} GLOB '*:[0-9][0-9]:[0-9][0-9].[0-9]*' AND {_digits(f'substr(clock{i}, dot{i} + 1)')}"
        add({f"clock{i}_1": _case(has_fraction, f"substr(clock{i}, 1, dot{i} - 1)", f"clock{i}")})
        add({f"clock{i}_2": _shape(f"clock{i}_1")})

    def _left(self, text: str) -> str:
        return f"ltrim({text}, {self.dialect.text(BLANK)})"

    def _right(self, text: str) -> str:
        return f"rtrim({text}, {self.dialect.text(BLANK)})"


def _shape(text: str) -> str:
    for digit in "012345678":
        text = f"replace({text}, '{digit}', '9')"
    return text


def _case(condition: str, yes: str, no: str) -> str:
    return f"CASE WHEN {condition} THEN {yes} ELSE {no} END"


def _before(text: str, place: str) -> str:
    return _case(f"{place} > 0", f"substr({text}, 1, {place} - 1)", text)


def _after(text: str, place: str) -> str:
    return _case(f"{place} > 0", f"substr({text}, {place} + 1)", "''")


def _digits(text: str) -> str:
    return f"{text} NOT GLOB '*[^0-9]*'"


def _whole(text: str) -> str:
    return f"CAST({text} AS INTEGER)"


def _list(texts: Sequence[str]) -> str:
    return ", ".join(f"'{text}'" for text in texts)
