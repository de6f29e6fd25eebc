"""Raw columns in C: the tables that `convert.c` reads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayeskit.export.c.patterns import compiled
from bayeskit.export.c.source import Source
from bayeskit.export.forms import Form, date_forms, hour_forms, month_words, number_form, truth_words
from bayeskit.export.raw import RawColumn
from bayeskit.table.conventions import Convention

# The fields of a pattern in the order of the C file; hours call them by one letter.
_FIELDS = (
    "year",
    "month",
    "day",
    "week",
    "weekday",
    "quarter",
    "hour",
    "minute",
    "second",
    "name",
    "half",
    "sign",
    "leap",
)
_SHORT = {"w": "week", "d": "day", "h": "hour", "m": "minute", "s": "second"}
_PARTS = {"year": "YEAR", "month": "MONTH", "weekday": "WEEKDAY", "days": "DAY", "hour": "HOUR"}


def raw_table(source: Source, raw: Sequence[RawColumn]) -> str:
    """Define the raw columns and return the name of their array."""
    return source.items("struct raw_column", [_raw_column(source, column) for column in raw])


def word_tables(source: Source) -> list[str]:
    """Return the definitions of the words of months and truth values, which come before the functions."""
    truths = truth_words()
    pairs = [(word, number) for number, words in month_words().items() for word in words]
    words, numbers = source.texts(list(truths)), source.array(np.array([int(truth) for truth in truths.values()]))
    names, months = source.texts([word for word, _ in pairs]), source.array(np.array([number for _, number in pairs]))
    defined = [
        f"#define N_TRUTHS {len(truths)}",
        f"#define truth_words {words}",
        f"#define truths {numbers}",
        f"#define N_MONTH_WORDS {len(pairs)}",
        f"#define month_words {names}",
        f"#define months {months}",
    ]
    return [*source.lines, *defined]


def _raw_column(source: Source, column: RawColumn) -> str:
    convention = column.convention
    kinds = {"number": "AS_NUMBER", "date": "AS_DATE", "hours": "AS_HOURS", "truth": "AS_TRUTH"}
    respelled = [word for pair in column.respelled for word in pair]
    members = {} if convention is None else _reading(source, convention)
    return source.record(
        what="AS_IS" if convention is None else kinds[convention.what],
        n_missing=len(column.missing),
        missing=source.texts(column.missing),
        n_respelled=len(column.respelled),
        respelled=source.texts(respelled),
        n_numbers=len(column.missing_numbers),
        numbers=np.array(column.missing_numbers, dtype=np.float64),
        n_made=len(column.made),
        made=np.array([j for j, _ in column.made]),
        parts=source.items("int", [_PARTS.get(part, "0") for _, part in column.made]),
        **members,
    )


def _reading(source: Source, convention: Convention) -> dict[str, object]:
    members: dict[str, object] = {"lenient": int(convention.lenient), "truth": int(convention.truth)}
    if convention.what == "number":
        form = number_form(convention)
        rewrites = [f"{{{_pattern(source, Form(p, {}))}, {_text(t)}}}" for p, t in form.rewrites]
        powers = [_pattern(source, Form(pattern, {})) if pattern else "{.n_steps = 0}" for pattern, _ in form.powers]
        return members | {
            "must_rewrite": int(form.must_rewrite),
            "decimal": str(ord(form.decimal)),
            "n_rewrites": len(rewrites),
            "rewrites": source.items("struct rewrite", rewrites),
            "n_powers": len(powers),
            "powers": source.items("struct pattern", powers or ["{.n_steps = 0}"]),
            "exponents": source.items("int", [str(exponent) for _, exponent in form.powers]),
            "n_forms": 1,
            "forms": source.items("struct pattern", [_pattern(source, Form(form.pattern, {}))]),
            "without": source.items("int", [*(str(ord(letter)) for letter in form.without), "0"]),
        }
    forms = {"date": date_forms(convention.order), "hours": hour_forms()}.get(convention.what, ())
    written = [_pattern(source, form) for form in forms]
    members |= {"n_forms": len(written), "forms": source.items("struct pattern", written or ["{.n_steps = 0}"])}
    if convention.what == "date":
        origin = int(np.datetime64(convention.origin, "D").astype(np.int64))
        members |= {"pivot": convention.pivot, "origin": origin}
    return members


def _pattern(source: Source, form: Form) -> str:
    program = compiled(form.pattern)
    steps = source.items("int", ["{" + ", ".join(map(str, step)) + "}" for step in program.steps], "[3]")
    ranges = source.items("int", list(map(str, program.ranges)))
    groups = {_SHORT.get(name, name): number for name, number in form.groups.items()}
    places = source.items("int", [str(groups.get(name, -1)) for name in _FIELDS])
    return (
        f"{{.n_steps = {len(program.steps)}, .steps = {steps}, .ranges = {ranges}, .groups = {places}, "
        f".is_wide = {int(form.is_wide)}, .is_lower = {int(form.is_lower)}}}"
    )


def _text(template: str) -> str:
    return '"' + template.replace("\\", "") + '"'
