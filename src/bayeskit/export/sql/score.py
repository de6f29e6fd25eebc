"""The whole query: cells, codes, sums, the best class and its probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from bayeskit.errors import BayeskitError
from bayeskit.export.models import scorer_of
from bayeskit.export.raw import raw_columns
from bayeskit.export.scorer import Average, Forest, Gaussians, Pool, Scorer, Sum
from bayeskit.export.sql.averages import AverageTerms
from bayeskit.export.sql.cells import Cells, fold, refuse_names
from bayeskit.export.sql.converted import ConvertedCells
from bayeskit.export.sql.dialect import DIALECTS, Dialect
from bayeskit.export.sql.forests import ForestTerms
from bayeskit.export.sql.gaussians import GaussianTerms
from bayeskit.export.sql.pools import PoolTerms
from bayeskit.export.sql.query import Query, sum_of
from bayeskit.export.sql.sums import SumTerms
from bayeskit.export.sql.tables import IMPOSSIBLE
from bayeskit.export.target import Target
from bayeskit.table.formats.csv import MISSING_WORDS


def to_sql(
    model: Any,
    dialect: str,
    *,
    table: str | Sequence[str] = "data",
    keep: Sequence[str] | None = None,
    missing_parents: Literal["sum", "null"] = "sum",
    converted: bool = False,
) -> str:
    r"""Write a fitted classifier as one SELECT, which scores the rows of a table inside the database.

    Its columns are those of ``keep``, then ``prediction``, the most probable class, and ``P(c)`` for each class c. It
    adds logarithms in double precision and equals :meth:`predict` and :meth:`predict_proba` to 1e-9: NULL and
    NaN are missing cells, and unseen values are treated as the model's ``unseen`` says. A row that is an error in
    Python (an infinite number, a number that the kind of the column cannot hold, an unseen value under
    ``unseen="error"``, a row with probability 0 under every class with ``impossible="error"``) gets NULL in all of
    these columns, since a query cannot name a row.

    Parameters
    ----------
    model : AutoBayes, NaiveBayes, GaussianNB, TAN, KDB, ODE, SPODE, AODE, GaussianBayes, LogisticRegression or MDLTree
        A fitted model. A column of a kind without a closed form is an error that names it.
    dialect : {"duckdb", "postgres", "spark", "sqlite"}
        The database. Tables are lists that are looked up by position; SQLite, which has none, gets CASE.
    table : str or sequence of str, default "data"
        The table to read, or the parts of its name, such as ("main", "people"). Names are quoted, so that DuckDB also
        takes the name of a file: "people.parquet".
    keep : sequence of str, optional
        The columns of the table that the result has too, such as a key; by default those that the model reads.
    missing_parents : {"sum", "null"}, default "sum"
        What to do with a row in which a feature is missing that others depend on (TAN, KDB, ODE, SPODE): sum over its
        values, which is exact, or answer NULL, which makes the query much shorter.
    converted : bool, default False
        What the reader of files converted (dates, decimal commas, units, words for missing cells) the query converts
        too: it reads the raw columns. True says that the table has the columns of the model already, such as
        "sold (month)".

    Examples
    --------
    >>> from bayeskit import NaiveBayes, datasets, to_sql
    >>> model = NaiveBayes().fit(datasets.load_tennis(), target="play")
    >>> query = to_sql(model, "duckdb", table="days", keep=[])
    >>> query.splitlines()[-1]
    'FROM stage6'
    """
    place = (table,) if isinstance(table, str) else tuple(table)
    return _to_sql(model, dialect, place, keep, missing_parents, converted=converted)


def _to_sql(
    model: Any,
    dialect: str,
    table: Sequence[str],
    keep: Sequence[str] | None,
    missing_parents: str,
    missing: Sequence[str] = (),
    temperature: float = 1.0,
    converted: bool = False,
) -> str:
    written = _dialect(dialect)
    if missing_parents not in ("sum", "null"):
        raise BayeskitError(f"missing_parents must be 'sum' or 'null'; got {missing_parents!r}.")
    scorer = scorer_of(model, "SQL")
    raw = raw_columns(model.schema_, converted=converted)
    columns = [column.variable.name for column in scorer.columns] if raw is None else [column.name for column in raw]
    refuse_names(columns, written)
    terms = _terms(scorer, written, missing_parents)
    source, is_written = written.source(table, (*MISSING_WORDS, *missing))
    cells = Cells(written, "smooth" if isinstance(scorer.part, Forest | Pool) else scorer.unseen, is_written)
    query = Query(written, source)
    kept = tuple(columns) if keep is None else tuple(keep)
    keys = {f"k{i}": f"source.{written.identifier(name)}" for i, name in enumerate(kept)}
    if raw is not None:
        texts = {j for j, column in enumerate(scorer.columns) if column.is_text}
        read = tuple(column for column in raw if any(j in terms.columns for j, _ in column.made))
        cells.converted = ConvertedCells(written, read, texts)
        cells.converted.add_stages(query, keys)
        cells.refused += cells.converted.refused
        keys = {}
    for j in terms.columns:
        cells.read(j, scorer.columns[j])
    names = _result_names(scorer.classes, kept, written)
    query.add({**keys, **cells.stage()} or ({"k0": "1"} if raw is None else {}))
    query.add(cells.codes)
    query.add({f"t{c}": total for c, total in enumerate(terms.add_stages(query, cells))})
    result = _answers(query, scorer, cells.refused, temperature)
    shown = [*(f"k{i}" for i in range(len(kept))), *result]
    text = query.render(list(zip(shown, map(written.identifier, names), strict=True)))
    written.warn_of_length(text)
    return text


def _terms(scorer: Scorer, dialect: Dialect, missing: str) -> Any:
    """Return what computes the log-scores of the classes: its columns, and `add_stages`."""
    part = scorer.part
    if isinstance(part, Sum):
        return SumTerms(part, dialect)
    if isinstance(part, Average):
        return AverageTerms(part, dialect, scorer.columns, scorer.unseen, missing)
    if isinstance(part, Gaussians):
        return GaussianTerms(part, dialect, missing)
    return ForestTerms(part, dialect, scorer) if isinstance(part, Forest) else PoolTerms(part, dialect, scorer, missing)


class SQL(Target):
    """The target of :func:`to_sql`."""

    name = "sql"
    options = ("dialect", "table", "schema", "keep", "missing_parents", "missing", "temperature", "converted")

    def write(  # type: ignore[override]
        self,
        model: Any,
        *,
        dialect: str = "duckdb",
        table: str = "data",
        schema: str | None = None,
        keep: Sequence[str] | None = None,
        missing_parents: Literal["sum", "null"] = "sum",
        missing: Sequence[str] = (),
        temperature: float = 1.0,
        converted: bool = False,
    ) -> bytes:
        """Return the query; ``schema`` is the database schema that the table is in.

        ``missing`` are more words for a missing cell in a CSV file, and log-posteriors are divided by ``temperature``.
        """
        place = (table,) if schema is None else (schema, table)
        return _to_sql(model, dialect, place, keep, missing_parents, missing, temperature, converted).encode()


def _answers(query: Query, scorer: Scorer, refused: Sequence[str], temperature: float) -> list[str]:
    """Add the stages from log P(x, c) to probabilities; return the label and the probabilities."""
    dialect, classes = query.dialect, scorer.classes
    every = range(len(classes))
    query.add({"best0": dialect.greatest([f"t{c}" for c in every])})
    cooler = "" if temperature == 1.0 else f" / {dialect.number(temperature)}"
    query.add({f"e{c}": dialect.exponential(f"(t{c} - best0){cooler}" if cooler else f"t{c} - best0") for c in every})
    impossible = f"best0 <= {dialect.number(IMPOSSIBLE)}"
    lenient = scorer.impossible == "prior"
    # Without a total a row has no answer. A condition on a missing cell is NULL, which is not true.
    refuse = " OR ".join([*refused, *([] if lenient else [impossible])])
    total = sum_of([f"e{c}" for c in every])
    query.add({"total0": f"CASE WHEN {refuse} THEN NULL ELSE {total} END" if refuse else total})
    labels = [_label(label, dialect) for label in classes]
    cases = " ".join(f"WHEN t{c} = best0 THEN {labels[c]}" for c in every)
    if not lenient:
        return [f"CASE WHEN total0 IS NULL THEN NULL {cases} END", *(f"e{c} / total0" for c in every)]
    prior = np.exp(scorer.log_prior / temperature)
    prior /= prior.sum()
    guess = f"CASE WHEN total0 IS NULL THEN NULL WHEN {impossible} THEN {labels[int(prior.argmax())]} {cases} END"
    fallback = f"CASE WHEN total0 IS NOT NULL AND {impossible} THEN"
    return [guess, *(f"{fallback} {dialect.number(prior[c])} ELSE e{c} / total0 END" for c in every)]


def _dialect(name: str) -> Dialect:
    if name not in DIALECTS:
        raise BayeskitError(f"dialect must be one of {', '.join(DIALECTS)}; got {name!r}.")
    return DIALECTS[name]()


def _label(label: Any, dialect: Dialect) -> str:
    if isinstance(label, bool):
        return dialect.truth(label)
    if isinstance(label, int):
        return str(label)
    return dialect.number(label) if isinstance(label, float) else dialect.text(str(label))


def _result_names(classes: Sequence[Any], kept: Sequence[str], dialect: Dialect) -> list[str]:
    """The names of the result; a name that the database would cut or confuse is P(class k), with k from 1."""
    names = ["prediction"]
    for k, label in enumerate(classes, start=1):
        name = f"P({label})"
        taken = {fold(other, dialect) for other in names}
        confused = fold(name, dialect) in taken or len(name.encode()) > dialect.longest_name
        names.append(f"P(class {k})" if confused else name)
    results = {fold(name, dialect) for name in names}
    for name in kept:
        if fold(name, dialect) in results:
            raise BayeskitError(
                f"the kept column {name!r} has the name of a column of the result; keep others: keep=[…]."
            )
    return [*kept, *names]
