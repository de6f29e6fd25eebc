"""The classifiers that are tried on a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import comb
from typing import Any

from bayeskit.classify.table_classifier import TableClassifier
from bayeskit.counts.families import sizes_of
from bayeskit.counts.memory import readable, table_cells
from bayeskit.errors import BayeskitError
from bayeskit.io.registry import MODELS, estimator_named, model_class
from bayeskit.learn.column_kinds import learn_schema
from bayeskit.learn.labelled import Labelled, without_texts
from bayeskit.table.names import not_found
from bayeskit.workflow.held_rows import HeldRows
from bayeskit.workflow.outside import OutsideClassifier, is_outside

# With more columns than this a model that counts all triples of columns is tried only when it is asked for.
MOST_COLUMNS_OF_TRIPLES = 30
# The same for a model that counts all pairs: its time grows with the square of the columns.
MOST_COLUMNS_OF_PAIRS = 500
# A model file of more bytes than this is made only when it is asked for.
MOST_BYTES = 128 * 2**20


# What can be compared: a classifier that learns from counts, one that is fitted whole, or any estimator of scikit-learn
# that gives probabilities.
Candidate = Any


def candidates(asked: Sequence[Any] | None = None, smoothing: float | None = None) -> dict[str, Candidate]:
    """Return classifiers by name: those of the registry that can be compared, and estimators under their reprs.

    By default those of every comparison; the others, such as LogisticRegression, must be named. With ``smoothing`` all
    have this pseudo-count; those without one are left out, and refused where they were named.

    >>> from bayeskit import NaiveBayes
    >>> list(candidates(["tan", "A2DE", NaiveBayes(smoothing=0)]))
    ['TAN', 'A2DE', 'NaiveBayes(smoothing=0)']
    >>> {model.smoothing for model in candidates(smoothing=0).values()}
    {0}
    """
    chosen = _named(asked)
    if smoothing is None:
        return chosen
    able = {name: model for name, model in chosen.items() if "smoothing" in model.get_params(deep=False)}
    odd = next((name for name in chosen if name not in able), None)
    if asked is not None and odd is not None:
        raise BayeskitError(f"{odd} takes no smoothing; leave it out, or leave smoothing open.")
    return {name: model.set_params(smoothing=smoothing) for name, model in able.items()}


def _named(asked: Sequence[Any] | None) -> dict[str, Candidate]:
    known: dict[str, Candidate] = {}
    others: dict[str, Candidate] = {}
    for name in sorted(MODELS, key=lambda name: (name != "AutoBayes", name != "NaiveBayes", name)):
        model = model_class(name)
        for label, settings in getattr(model, "_compared_as", {}).items():
            known[label] = estimator_named(name)(**settings)
        for label, settings in getattr(model, "_compared_when_asked", {}).items():
            others[label] = estimator_named(name)(**settings)
    if asked is None:
        return known
    known |= others
    by_case = {label.casefold(): label for label in known}
    chosen: dict[str, Candidate] = {}
    for each in asked:
        if not isinstance(each, str):
            chosen[" ".join(repr(each).split())] = _copied(each)
        elif each.casefold() in by_case:
            chosen[by_case[each.casefold()]] = known[by_case[each.casefold()]]
        else:
            raise BayeskitError(not_found("classifier", each, known))
    return chosen


def _copied(estimator: Any) -> Candidate:
    """Return an unfitted copy of an estimator; one that cannot be compared is an error."""
    from sklearn.base import clone
    from sklearn.utils import get_tags

    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise BayeskitError(
            f"models takes names of classifiers and estimators such as NaiveBayes(); got {estimator!r}."
        )
    role = get_tags(estimator).estimator_type
    if role not in (None, "classifier"):
        raise BayeskitError(f"{estimator!r} is a {role.replace('_', ' ')}; only classifiers can be compared.")
    if not hasattr(estimator, "predict_proba"):
        raise BayeskitError(
            f"{estimator!r} gives no probabilities (it has no predict_proba), so its log-loss is not known; "
            "scikit-learn's CalibratedClassifierCV adds them."
        )
    return clone(estimator)


def too_large(
    models: Mapping[str, Candidate], rows: HeldRows, kinds: Mapping[str, str] | None = None, n_folds: int = 1
) -> dict[str, str]:
    """Return the classifiers whose counts would be too large for this table, each with the reason.

    The tables of all pairs or triples of columns grow with the square or the cube of the columns; their size follows
    from the columns' values, so it is known before anything is counted. Of a scan the counts of all folds are held at
    the same time.

    Examples
    --------
    >>> from bayeskit.workflow.held_rows import hold_rows
    >>> rows = hold_rows({f"x{j}": ["a", "b"] for j in range(31)}, ["no", "yes"])
    >>> too_large(candidates(["TAN", "A2DE"]), rows)
    {'A2DE': '31 columns have 4495 triples; with more than 30 it must be asked for by name.'}
    """
    reasons: dict[str, str] = {}
    sizes: dict[Any, list[int]] = {}
    most_bytes = MOST_BYTES if rows.scan is None else MOST_BYTES // n_folds
    for label, model in models.items():
        settings = model.get_params(deep=False)
        if "max_nodes" in settings or isinstance(model, TableClassifier):
            continue  # it keeps its own size within bounds, or counts nothing
        counted = model._counted_as()
        # A model that chooses its families by the rows counts all pairs first.
        families = "pairs" if counted is None else str(counted[0])
        if families == "values":
            continue
        n = len(rows.source.names)
        most, order = (MOST_COLUMNS_OF_TRIPLES, 3) if families == "triples" else (MOST_COLUMNS_OF_PAIRS, 2)
        if n > most:
            reasons[label] = (
                f"{n} columns have {comb(n, order)} {families}; with more than {most} it must be asked for by name."
            )
            continue
        way = settings["numeric"], settings["bins"]
        if way not in sizes:
            given = {name: kind if model._takes_kind(kind) else "numeric" for name, kind in (kinds or {}).items()}
            sizes[way] = sizes_of(learn_schema(rows.source, given, *way, y=rows.y))
        need = 4 * len(rows.classes) * table_cells(sizes[way], families)[1]
        if need > most_bytes:
            reasons[label] = (
                f"its counts of all {families} of columns would take {readable(need)}; above {readable(most_bytes)} it "
                "must be asked for by name."
            )
    return reasons


def settle_texts(
    rows: HeldRows, models: Mapping[str, Candidate], kinds: Mapping[str, str]
) -> tuple[HeldRows, dict[str, str]]:
    """Return the rows, and the classifiers that cannot read their columns of text, each with the reason.

    Where none of them can, the columns are left out instead, with a warning.
    """
    free = tuple(name for name in rows.source.names if kinds.get(name, rows.source.kinds.get(name)) == "text")
    unable = {
        name: f"it cannot read column {free[0]!r}, which is free text."
        for name, model in models.items()
        if free and not getattr(model, "_reads_text", False)
    }
    if len(unable) < len(models) or not free:
        return rows, unable
    source = without_texts(rows.source, free, " and ".join(list(models)[:3]))
    scan = None if rows.scan is None else rows.scan.select([*source.names, str(rows.target)])
    return replace(rows, source=source, scan=scan), {}


def fit_candidate(model: Candidate, rows: Labelled) -> Candidate:
    """Return a model fitted on rows that were read, as ``fit(table, target=target)`` would."""
    if is_outside(model):
        return OutsideClassifier.fit(model, rows).estimator
    settings = model.get_params(deep=False)
    if isinstance(model, TableClassifier):
        fitted: TableClassifier = type(model)(**settings).fit(rows.source, rows.classes[rows.y])
        fitted._state = replace(fitted._state, target=rows.target)
        return fitted
    return type(model).from_counts(model.count(rows), target=rows.target, **settings)
