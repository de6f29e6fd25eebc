"""The whole query: cells, codes, sums, the best class and its probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from bayeskit.classify.aode import AODE
from bayeskit.classify.gaussian_nb import GaussianNB
from bayeskit.classify.naive_bayes import NaiveBayes
from bayeskit.classify.semi_naive import SemiNaive
from bayeskit.errors import BayeskitError
from bayeskit.estimate.families import FamilyBeliefs
from bayeskit.export.sql.cells import Cells, fold, refuse_names
from bayeskit.export.sql.dialect import DIALECTS, Dialect
from bayeskit.export.sql.families import FamilyTerms
from bayeskit.export.sql.naive import NaiveTerms
from bayeskit.export.sql.query import Query, sum_of
from bayeskit.export.sql.tables import IMPOSSIBLE
from bayeskit.export.target import Target
from bayeskit.learn.model import plain_class


def to_sql(
    model: Any,
    dialect: str,
    *,
    table: str | Sequence[str] = "data",
    keep: Sequence[str] | None = None,
    missing_parents: Literal["sum", "null"] = "sum",
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
    model : NaiveBayes, GaussianNB, TAN, KDB, ODE or SPODE
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

    Examples
    --------
    >>> from bayeskit import NaiveBayes, datasets, to_sql
    >>> model = NaiveBayes().fit(datasets.load_tennis(), target="play")
    >>> query = to_sql(model, "duckdb", table="days", keep=[])
    >>> query.splitlines()[-1]
    'FROM stage6'
    """
    written = _dialect(dialect)
    if missing_parents not in ("sum", "null"):
        raise BayeskitError(f"missing_parents must be 'sum' or 'null'; got {missing_parents!r}.")
    model = _exportable(model)
    beliefs, unseen = model._beliefs, model.unseen
    refuse_names(model.schema_, written)
    terms: NaiveTerms | FamilyTerms
    if isinstance(beliefs, FamilyBeliefs):
        terms = FamilyTerms(beliefs, written, missing_parents)
    else:
        terms = NaiveTerms(beliefs, written, unseen)
    cells = Cells(written, unseen)
    for j in terms.columns:
        cells.read(j, model.schema_[j])
    kept = tuple(model.schema_.names) if keep is None else tuple(keep)
    names = _result_names(model.classes_.tolist(), kept, written)
    parts = (table,) if isinstance(table, str) else tuple(table)
    query = Query(written, ".".join(written.identifier(part) for part in parts))
    columns = {f"k{i}": f"source.{written.identifier(name)}" for i, name in enumerate(kept)}
    query.add({**columns, **cells.cells} or {"k0": "1"})
    query.add(cells.codes)
    query.add({f"t{c}": total for c, total in enumerate(terms.add_stages(query, cells))})
    result = _answers(query, model, terms.log_prior, cells.refused)
    shown = [*(f"k{i}" for i in range(len(kept))), *result]
    return query.render(list(zip(shown, map(written.identifier, names), strict=True)))


class SQL(Target):
    """The target of :func:`to_sql`."""

    name = "sql"
    options = ("dialect", "table", "schema", "keep", "missing_parents")

    def write(  # type: ignore[override]
        self,
        model: Any,
        *,
        dialect: str = "duckdb",
        table: str = "data",
        schema: str | None = None,
        keep: Sequence[str] | None = None,
        missing_parents: Literal["sum", "null"] = "sum",
    ) -> bytes:
        """Return the query; ``schema`` is the database schema that the table is in."""
        place = (table,) if schema is None else (schema, table)
        return to_sql(model, dialect, table=place, keep=keep, missing_parents=missing_parents).encode()


def _answers(query: Query, model: Any, log_prior: Any, refused: Sequence[str]) -> list[str]:
    """Add the stages from log P(x, c) to probabilities; return the label and the probabilities."""
    dialect, classes = query.dialect, model.classes_.tolist()
    every = range(len(classes))
    query.add({"best0": dialect.greatest([f"t{c}" for c in every])})
    query.add({f"e{c}": dialect.exponential(f"t{c} - best0") for c in every})
    impossible = f"best0 <= {dialect.number(IMPOSSIBLE)}"
    lenient = model.impossible == "prior"
    # Without a total a row has no answer. A condition on a missing cell is NULL, which is not true.
    refuse = " OR ".join([*refused, *([] if lenient else [impossible])])
    total = sum_of([f"e{c}" for c in every])
    query.add({"total0": f"CASE WHEN {refuse} THEN NULL ELSE {total} END" if refuse else total})
    labels = [_label(label, dialect) for label in classes]
    cases = " ".join(f"WHEN t{c} = best0 THEN {labels[c]}" for c in every)
    if not lenient:
        return [f"CASE WHEN total0 IS NULL THEN NULL {cases} END", *(f"e{c} / total0" for c in every)]
    prior = np.exp(log_prior)
    guess = f"CASE WHEN total0 IS NULL THEN NULL WHEN {impossible} THEN {labels[int(prior.argmax())]} {cases} END"
    fallback = f"CASE WHEN total0 IS NOT NULL AND {impossible} THEN"
    return [guess, *(f"{fallback} {dialect.number(prior[c])} ELSE e{c} / total0 END" for c in every)]


def _dialect(name: str) -> Dialect:
    if name not in DIALECTS:
        raise BayeskitError(f"dialect must be one of {', '.join(DIALECTS)}; got {name!r}.")
    return DIALECTS[name]()


def _exportable(model: Any) -> Any:
    # AODE has structures too, but averages over many.
    if plain_class(model) in (NaiveBayes, GaussianNB) or (isinstance(model, SemiNaive) and not isinstance(model, AODE)):
        return model._now()
    raise BayeskitError(
        f"{type(model).__name__} cannot be written as SQL; NaiveBayes, GaussianNB, TAN, KDB, ODE and SPODE can."
    )


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
    own = {fold(name, dialect) for name in names}
    for name in kept:
        if fold(name, dialect) in own:
            raise BayeskitError(
                f"the kept column {name!r} has the name of a column of the result; keep others: keep=[…]."
            )
    return [*kept, *names]
