"""The whole C file: how it is called, the functions that the model needs, its arrays, and the call itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from bayeskit.errors import TooLargeError
from bayeskit.export.c.converted import raw_table, word_tables
from bayeskit.export.c.source import Source, number, text
from bayeskit.export.elimination import plan_elimination
from bayeskit.export.models import scorer_of
from bayeskit.export.raw import RawColumn, raw_columns
from bayeskit.export.scorer import (
    Average,
    Column,
    Floats,
    Forest,
    Gaussians,
    Linear,
    Networks,
    Pool,
    RareTerms,
    Scales,
    Scorer,
    Structure,
    Sum,
)
from bayeskit.export.target import Target
from bayeskit.kinds.closed_form import ClosedForm

# Numbers that the sums over missing parents of a row may take: 80 MB.
_MOST_WORK = 10_000_000
# The functions that each part calls, in the order in which C needs them.
_FILES = {
    Sum: ("softmax", "posterior", "tables", "sum"),
    Average: ("softmax", "posterior", "average"),
    Gaussians: ("softmax", "posterior", "scales", "gaussians", "score_gaussians"),
    Forest: ("forest", "score_forest"),
    Pool: ("softmax", "tables", "scales", "gaussians", "forest", "linear", "pool"),
}


def to_c(model: Any, *, converted: bool = False) -> str:
    r"""Write a fitted classifier as one C99 file, which needs only the standard library and its mathematics.

    The file says at its top how it is called. ``bayeskit_predict`` takes the cells of a row and gives P(c | x), within
    1e-9 of :meth:`predict_proba`, and the number of the most probable class. A null text and a NaN are missing cells;
    unseen values are treated as the model's ``unseen`` says. For a row that the library refuses (an infinite number,
    one that the kind of the column cannot hold, an unseen value under ``unseen="error"``, a row that no class can give)
    it returns -1, and NaN as probabilities. It may be called from several threads.

    Parameters
    ----------
    model : AutoBayes, NaiveBayes, GaussianNB, TAN, KDB, ODE, SPODE, AODE, GaussianBayes, LogisticRegression or MDLTree
        A fitted model.
    converted : bool, default False
        What the reader of files converted (dates, decimal commas, units, words for missing cells) the program converts
        too: its columns are the raw ones. True makes them those of the model, such as "sold (month)".

    Examples
    --------
    >>> from bayeskit import NaiveBayes, datasets, to_c
    >>> program = to_c(NaiveBayes().fit(datasets.load_tennis(), target="play"))
    >>> print(program.splitlines()[-1])
    }
    """
    return _to_c(model, 1.0, converted)


def _to_c(model: Any, temperature: float, converted: bool = False) -> str:
    scorer = scorer_of(model, "C")
    raw = raw_columns(model.schema_, converted=converted)
    source, part = Source(), scorer.part
    columns = source.items("struct column", [_column(source, column) for column in scorer.columns])
    root = _part(source, part, scorer)
    kind = type(part).__name__.lower()
    defined = [f"#define N_COLUMNS {len(scorer.columns)}", f"#define N_CLASSES {len(scorer.classes)}"]
    if not isinstance(part, Forest | Pool):
        defined += [
            f"#define IMPOSSIBLE_IS_PRIOR {int(scorer.impossible == 'prior')}",
            f"static const double log_prior[] = {{{', '.join(map(number, scorer.log_prior.tolist()))}}};",
        ]
    if isinstance(part, Gaussians | Pool):
        members = (part,) if isinstance(part, Gaussians) else part.gaussians
        defined.append(f"#define MOST_Z {max([1, *(len(member.feature) for member in members)])}")
    if isinstance(part, Forest | Pool):
        defined.append(f"#define LINE {'double' if isinstance(part, Forest) else 'float'}")
    functions = [(Path(__file__).parent / f"{name}.c").read_text() for name in ("row", *_FILES[type(part)])]
    model_text = [*source.lines, f"static const struct {kind} model = {root};"]
    if raw is not None:
        cells = Source("r")
        functions = [*word_tables(Source("w")), (Path(__file__).parent / "convert.c").read_text(), *functions]
        table = raw_table(cells, raw)
        model_text = [*cells.lines, *model_text]
        defined.append(f"#define N_RAW {len(raw)}")
    else:
        table = None
    body = [*defined, "", *functions, *model_text, "", _call(kind, columns, temperature, table)]
    return "\n".join([_head(scorer, raw), *body])


class C(Target):
    """The target of :func:`to_c`."""

    name = "c"
    options = ("temperature", "converted")

    def write(self, model: Any, *, temperature: float = 1.0, converted: bool = False) -> bytes:  # type: ignore[override]
        """Return the C file; log-posteriors are divided by ``temperature``."""
        return _to_c(model, temperature, converted).encode()


def _head(scorer: Scorer, raw: Sequence[RawColumn] | None) -> str:
    columns = [
        f"   {j}: {'text' if column.is_text else 'number'} {_comment(column.variable.name)}"
        f"{'' if column.is_read else ' (not read)'}"
        for j, column in enumerate(scorer.columns)
    ]
    names, locale = [column.variable.name for column in scorer.columns], []
    if raw is not None:
        names, locale = [column.name for column in raw], ["#include <locale.h>"]
        columns = [f"   {i}: {_raw_in_words(column, scorer)}" for i, column in enumerate(raw)]
    classes = [f"   {c}: {_comment(str(label))}" for c, label in enumerate(scorer.classes)]
    return "\n".join(
        [
            "/* A classifier of bayeskit: C99, needs the standard library and -lm.",
            "",
            "   int bayeskit_predict(const bayeskit_cell *row, double *probabilities);",
            "",
            "   Returns the number of the most probable class, and writes P(class | row) of each class; -1 for a row",
            "   that the model refuses. A cell is a text in UTF-8, or a number (a truth value is 0 or 1); NULL and NAN",
            "   are missing cells. Threads may call it at the same time.",
            "",
            "   Columns:",
            *columns,
            "   Classes:",
            *classes,
            "*/",
            *locale,
            "#include <math.h>",
            "#include <stdlib.h>",
            "#include <string.h>",
            "",
            "typedef struct {",
            "    const char *text;",
            "    double number;",
            "} bayeskit_cell;",
            "",
            f"const char *const bayeskit_columns[] = {{{', '.join(map(text, names))}}};",
            f"const char *const bayeskit_classes[] = {{{', '.join(text(str(c)) for c in scorer.classes)}}};",
        ]
    )


def _comment(name: str) -> str:
    # A name must not end the comment, nor look like the start of another.
    return name.encode("unicode_escape").decode().replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?")


def _raw_in_words(column: RawColumn, scorer: Scorer) -> str:
    name = _comment(column.name)
    if column.convention is None:
        return f"{'text' if scorer.columns[column.made[0][0]].is_text else 'number'} {name}"
    said = _comment(column.described)
    return f"text {name}: {said}" if column.convention.what == "date" else f"text or number {name}: {said}"


def _call(kind: str, columns: str, temperature: float, raw: str | None) -> str:
    tempered = "" if temperature == 1.0 else f"    temper(probabilities, {number(1.0 / temperature)});\n"
    function = (Path(__file__).parent / "temper.c").read_text() + "\n" if tempered else ""
    given, convert = "cells", ""
    if raw is not None:
        given, convert = (
            "made",
            (
                "    bayeskit_cell made[N_COLUMNS];\n    int i, known = 1;\n"
                f"    for (i = 0; i < N_RAW; ++i) known &= convert_cell({raw} + i, cells[i], made);\n"
            ),
        )
    test = "!known || " if raw is not None else ""
    return f"""{function}int bayeskit_predict(const bayeskit_cell *cells, double *probabilities)
{{
    struct row row;
    int c, best = 0;
{convert}    if ({test}!read_row({columns}, {given}, &row) || !score_{kind}(&model, &row, probabilities)) {{
        for (c = 0; c < N_CLASSES; ++c) probabilities[c] = NAN;
        return -1;
    }}
{tempered}    for (c = 1; c < N_CLASSES; ++c)
        if (probabilities[c] > probabilities[best]) best = c;
    return best;
}}
"""


def _column(source: Source, column: Column) -> str:
    variable, levels = column.variable, column.levels
    if not column.is_read:
        return "{.kind = NOT_READ}"
    if levels is None:
        return "{.kind = NUMBER}"
    if variable.is_binned:
        edges = np.array(variable.edges, dtype=np.float64)
        return source.record(kind="BIN", n=len(edges), numbers=edges, levels=levels)
    if column.is_text:
        values = [str(value) for value in variable.values]
        order = sorted(range(len(values)), key=lambda i: values[i].encode())
        texts = source.texts([values[i] for i in order])
        return source.record(kind="TEXT", n=len(order), texts=texts, codes=np.array(order) + 1, levels=levels)
    numbers = np.array([float(value) for value in variable.values])
    order = np.argsort(numbers).tolist()
    return source.record(kind="VALUE", n=len(order), numbers=numbers[order], codes=np.array(order) + 1, levels=levels)


def _part(source: Source, part: Any, scorer: Scorer) -> str:
    n = len(scorer.columns)
    if isinstance(part, Sum):
        forms = {j: source.items("struct density", [_density(source, f)]) for j, f in part.densities.items()}
        densities = source.items("struct density *const", [forms.get(j, "NULL") for j in range(n)])
        return source.record(start=part.start, tables=_tables(source, part.tables, n), densities=densities)
    if isinstance(part, Average):
        return _average(source, part, scorer)
    if isinstance(part, Gaussians):
        return _gaussians(source, part)
    return _forest(source, part) if isinstance(part, Forest) else _pool(source, part, n)


def _tables(source: Source, tables: dict[int, Floats], n: int) -> str:
    names = {j: source.array(table) for j, table in tables.items()}
    return source.items("double *const", [names.get(j, "NULL") for j in range(n)])


def _density(source: Source, form: ClosedForm) -> str:
    return source.record(
        constant=form.constant,
        slope=form.slope,
        mean=form.mean,
        half_precision=form.half_precision,
        origin=form.origin,
        least=-np.inf if form.least is None else float(form.least),
        logarithm=form.logarithm,
        whole=form.whole,
    )


def _average(source: Source, part: Average, scorer: Scorer) -> str:
    sizes = [column.variable.n_values + (scorer.unseen == "smooth") * column.is_read for column in scorer.columns]
    members = source.items("struct structure", [_structure(source, each, sizes) for each in part.members])
    otherwise = None
    if part.otherwise is not None:
        otherwise = source.items("struct structure", [_structure(source, part.otherwise, sizes)])
    return source.record(n_members=len(part.members), members=members, otherwise=otherwise, sizes=np.array(sizes))


def _structure(source: Source, part: Structure, sizes: list[int]) -> str:
    steps = plan_elimination(part.families, sizes)
    number_of = {step.column: k for k, step in enumerate(steps)}
    n_classes = len(part.log_prior)
    n_message = [int(np.prod([sizes[j] for j in step.scope], dtype=float)) * n_classes for step in steps]
    work = sum(n_message) + max((sizes[step.column] for step in steps), default=0) * n_classes
    if work > _MOST_WORK:
        raise TooLargeError(
            f"summing out missing parents takes {work} numbers per row, more than {_MOST_WORK}; fit with fewer parents "
            "or fewer values."
        )
    factors = [[-1 - number_of[f.number] if f.is_message else f.number for f in step.factors] for step in steps]
    return source.record(
        log_prior=part.log_prior,
        n_families=len(part.families),
        **_ragged("member_at", "members", part.families),
        tables=source.items("double *const", [source.array(table) for table in part.tables]),
        takes_part=part.takes_part,
        n_steps=len(steps),
        n_work=work,
        step_column=np.array([step.column for step in steps], dtype=np.int64),
        **_ragged("scope_at", "scope", [step.scope for step in steps]),
        message_at=np.cumsum([0, *n_message]),
        **_ragged("factor_at", "factors", factors),
    )


def _ragged(at: str, name: str, lists: Any) -> dict[str, Any]:
    flat = np.array([item for each in lists for item in each], dtype=np.int64)
    return {at: np.cumsum([0, *map(len, lists)]), name: flat}


def _gaussians(source: Source, part: Gaussians) -> str:
    names = ("mean", "mean_rest", "deviation", "lower", "shape", "df", "spread", "start")
    return source.record(scales=_scales(source, part), **{name: getattr(part, name) for name in names})


def _scales(source: Source, part: Scales) -> str:
    members = {field.name: getattr(part, field.name) for field in fields(Scales)}
    return source.record(p=len(part.feature), n_numbers=len(part.curve_at) - 1, **members)


def _linear(source: Source, part: Linear) -> str:
    members = {"mean": part.mean, "coefficients": part.coefficients, "start": part.start}
    return source.record(scales=_scales(source, part), **members)


def _forest(source: Source, part: Forest) -> str:
    names = ("tree_at", "weight", "feature", "cut", "side_at", "sides", "child", "n_children", "share", "stop", "lines")
    members = {name: getattr(part, name) for name in names}
    absent = source.array(part.absent, "signed char")
    return source.record(n_trees=len(part.weight), absent=absent, **members)


def _networks(source: Source, part: Networks) -> str:
    names = ("level_at", "sizes", "parents", "n_nodes", "child", "child_at", "value_at", "lines", "weight")
    members = {name: getattr(part, name) for name in (*names, "plain_weight", "start")}
    bins = source.array(part.bins, "unsigned char")
    return source.record(n_networks=len(part.sizes), depths=part.parents.shape[2], bins=bins, **members)


def _rare(source: Source, part: RareTerms) -> str:
    return source.record(column=part.column, weight=part.weight, lines=part.lines)


def _pool(source: Source, part: Pool, n: int) -> str:
    beside = [_tables(source, tables, n) for tables in part.beside]
    names = ("varies", "centre", "least_log", "few_weight", "n_rows", "weight", "bias", "matrix", "nothing_known")
    members = {name: getattr(part, name) for name in (*names, "log_prior")}
    return source.record(
        networks=source.items("struct networks", [_networks(source, part.networks)]),
        n_rare=len(part.rare),
        n_gaussians=len(part.gaussians),
        n_forests=len(part.forests),
        n_linear=len(part.linear),
        n_boosted=len(part.boosted),
        rare=source.items("struct rare", [_rare(source, each) for each in part.rare]),
        gaussians=source.items("struct gaussians", [_gaussians(source, each) for each in part.gaussians]),
        beside=source.items("double *const *const", beside),
        forests=source.items("struct forest", [_forest(source, each) for each in part.forests]),
        boosted=source.items("struct forest", [_forest(source, each) for each in part.boosted]),
        linear=source.items("struct linear", [_linear(source, each) for each in part.linear]),
        **members,
    )
