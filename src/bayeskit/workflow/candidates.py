"""The classifiers that are tried on a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb
from typing import Any

from numpy.typing import NDArray

from bayeskit.classify.table_classifier import TableClassifier
from bayeskit.counts.families import sizes_of
from bayeskit.counts.memory import readable, table_cells
from bayeskit.errors import BayeskitError
from bayeskit.io.registry import MODELS, estimator_named, model_class
from bayeskit.learn.column_kinds import learn_schema
from bayeskit.table.names import not_found
from bayeskit.table.read import Source

# With more columns than this a model that counts all triples of columns is tried only when it is asked for.
MOST_COLUMNS_OF_TRIPLES = 30
# The same for a model that counts all pairs: its time grows with the square of the columns.
MOST_COLUMNS_OF_PAIRS = 500
# A model file of more bytes than this is made only when it is asked for.
MOST_BYTES = 128 * 2**20


# What can be compared: the estimator of a BayesClassifier or of a TableClassifier, made at run time.
Candidate = Any


def candidates(names: Sequence[str] | None = None) -> dict[str, Candidate]:
    """Return the classifiers of the registry that can be compared, by name, with their settings.

    Without ``names``, those of every comparison; the others, such as LogisticRegression, must be named.

    >>> list(candidates(["tan", "A2DE"]))
    ['TAN', 'A2DE']
    """
    found: dict[str, Candidate] = {}
    asked: dict[str, Candidate] = {}
    for name in sorted(MODELS, key=lambda name: (name != "AutoBayes", name != "NaiveBayes", name)):
        model = model_class(name)
        for label, settings in getattr(model, "_compared_as", {}).items():
            found[label] = estimator_named(name)(**settings)
        for label, settings in getattr(model, "_compared_when_asked", {}).items():
            asked[label] = estimator_named(name)(**settings)
    if names is None:
        return found
    found |= asked
    by_case = {label.casefold(): label for label in found}
    for name in names:
        if name.casefold() not in by_case:
            raise BayeskitError(not_found("classifier", name, found))
    return {by_case[name.casefold()]: found[by_case[name.casefold()]] for name in names}


def too_large(
    models: Mapping[str, Candidate],
    source: Source,
    y: NDArray[Any],
    n_classes: int,
    kinds: Mapping[str, str] | None = None,
    most_bytes: int = MOST_BYTES,
) -> dict[str, str]:
    """Return the classifiers whose counts would be too large for this table, each with the reason.

    The tables of all pairs or triples of columns grow with the square or the cube of the columns; their size follows
    from the columns' values, so it is known before anything is counted.

    Examples
    --------
    >>> from bayeskit.table.read import read_table
    >>> table = read_table({f"x{j}": ["a", "b"] for j in range(31)})
    >>> too_large(candidates(["TAN", "A2DE"]), table, [0, 1], 2)
    {'A2DE': '31 columns have 4495 triples; with more than 30 it must be asked for by name.'}
    """
    found: dict[str, str] = {}
    sizes: dict[Any, list[int]] = {}
    for label, model in models.items():
        settings = model.get_params(deep=False)
        if "max_nodes" in settings or isinstance(model, TableClassifier):
            continue  # it keeps its own size within bounds, or counts nothing
        counted = model._counted_as()
        # A model that chooses its families by the rows counts all pairs first.
        families = "pairs" if counted is None else str(counted[0])
        if families == "values":
            continue
        n = len(source.names)
        most, order = (MOST_COLUMNS_OF_TRIPLES, 3) if families == "triples" else (MOST_COLUMNS_OF_PAIRS, 2)
        if n > most:
            found[label] = (
                f"{n} columns have {comb(n, order)} {families}; with more than {most} it must be asked for by name."
            )
            continue
        way = settings["numeric"], settings["bins"]
        if way not in sizes:
            given = {name: kind if model._takes_kind(kind) else "numeric" for name, kind in (kinds or {}).items()}
            sizes[way] = sizes_of(learn_schema(source, given, *way, y=y))
        need = 4 * n_classes * table_cells(sizes[way], families)[1]
        if need > most_bytes:
            found[label] = (
                f"its counts of all {families} of columns would take {readable(need)}; above {readable(most_bytes)} it "
                "must be asked for by name."
            )
    return found
