"""The log-odds of two classes, as the features of a row are revealed one after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.decide.protocol import AdditiveModel, CellReader, HidingModel, WordModel
from bayeskit.errors import BayeskitError, ImpossibleEvidenceError
from bayeskit.explain.explanation import Explanation, Explanations, Word
from bayeskit.explain.row_cells import Row, as_table, feature_names, hidden_copies, read_row
from bayeskit.result import plain


def explain(
    model: Any, row: Any, classes: tuple[Any, Any] | None = None, order: Sequence[str] | None = None
) -> Explanation:
    """Explain one row: prior log-odds, and the change of log-odds as each feature is revealed.

    Parameters
    ----------
    model : classifier
        Any fitted classifier with ``predict_proba`` that accepts missing cells. For naive Bayes the terms are the
        weights of evidence log P(x_i | a) / P(x_i | b), whatever the order.
    row : dict, list, 1-D array, Series, or table with one row
        What to explain. A dict may leave features out.
    classes : (a, b), optional
        The classes to compare; by default the most probable one and the runner-up.
    order : sequence of str, optional
        The names of all features in the order in which to reveal them; by default that of the table.

    Examples
    --------
    >>> from bayeskit import NaiveBayes, datasets
    >>> model = NaiveBayes(smoothing=0).fit(datasets.load_tennis(), target="play")
    >>> explain(model, {"outlook": "sunny", "humidity": "high", "wind": "strong"})
    log-odds of no over yes
    prior                      -0.588          │
    outlook = sunny            +0.993          ├████████
    temperature (not used)                     │
    humidity = high            +0.875          ├███████
    wind = strong              +0.588          ├█████
    posterior                  +1.869  P(no) = 0.866
    """
    read = read_row(model, row)
    places = _places(order, read.names)
    if isinstance(model, AdditiveModel):
        prior, terms, used = model.log_joint_terms(_table(model, read, read.missing[None, :]))
        log_joint = prior + terms.sum(axis=1)
        a, b = _pairs(log_joint, classes, model.classes_)[0]
        return _explanation(model, read, (a, b), prior, terms[0], used[0], _share(log_joint[0], a), places)
    # A model that distinguishes hidden from missing cells is told what is hidden; only cells left out stay so.
    hiding = isinstance(model, HidingModel)
    unknown = read.absent if hiding else read.missing
    hidden = _revealing(unknown, places)  # (n_features + 1, n_features)
    table = _table(model, read, np.zeros_like(hidden) if hiding else hidden)
    log_proba = model.log_posterior_hiding(table, hidden, floor=False) if hiding else _log_proba(model, table)
    a, b = _pairs(log_proba[-1:], classes, model.classes_)[0]
    changes = np.zeros((len(read.names), log_proba.shape[1]))
    changes[places] = _steps(log_proba)
    whole = _table(model, read, np.zeros_like(hidden[:1]) if hiding else read.missing[None, :])
    used = model._used_cells(whole)[0] & ~unknown if isinstance(model, CellReader) else ~unknown
    end = model.log_posterior_hiding(whole, hidden[-1:], floor=True)[0] if hiding else log_proba[-1]
    explanation = _explanation(model, read, (a, b), log_proba[0], changes, used, float(np.exp(end[a])), places)
    if not hiding:
        return explanation
    return replace(explanation, floor=float(end[a] - end[b]) - float(log_proba[-1, a] - log_proba[-1, b]))


def explain_rows(model: Any, X: Any, classes: tuple[Any, Any] | None = None) -> Explanations:
    """Explain every row of a table, features revealed in the order of the table; see :func:`explain`."""
    names, _ = feature_names(model)
    if not isinstance(model, AdditiveModel):
        return _collect([explain(model, row, classes) for row in _rows_of(X)], names)
    prior, terms, used = model.log_joint_terms(X)  # (n_classes,), (n_rows, n_features, n_classes), (n_rows, n_features)
    log_joint = prior + terms.sum(axis=1)
    pairs = _pairs(log_joint, classes, model.classes_)
    rows = np.arange(len(pairs))
    first, second = pairs.T
    # Infinite terms of both signs cancel to NaN as well: then neither class can give the row.
    with np.errstate(invalid="ignore"):
        changes = terms[rows, :, first] - terms[rows, :, second]
        undefined = np.isnan(changes.sum(axis=1))
    if undefined.any():
        raise ImpossibleEvidenceError(
            f"row {int(undefined.argmax())}: it has probability 0 under both classes, so their odds are undefined; "
            f"{_way_out(model)}other classes."
        )
    share = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
    probability = share[rows, first] / share.sum(axis=1)
    values = _columns_of(X, names, len(rows))
    first_over_second, labels = prior[first] - prior[second], np.asarray(model.classes_)[pairs]
    words_of = _WordsOfRows(model, names, values, pairs) if _text_columns(model) else None
    edges = _edges_of(model)
    return Explanations(labels, first_over_second, names, values, changes, used, probability, edges, words_of=words_of)


# What makes all probabilities positive, in models with such a parameter.
_WAYS_OUT = {
    "smoothing": "pass smoothing > 0 to the model, or ",
    "alpha": "pass alpha > 0 to the model, or ",
    "n_neighbors": "raise n_neighbors of the model, so that both classes are among the neighbours, or pass ",
}


def _way_out(model: Any) -> str:
    """Return what to do about a probability of 0, before "other classes"."""
    names = model.get_params(deep=False) if hasattr(model, "get_params") else ()
    return next((words for name, words in _WAYS_OUT.items() if name in names), "pass ")


def _edges_of(model: Any) -> dict[str, tuple[float, ...]]:
    schema = getattr(model, "schema_", ())
    return {variable.name: variable.edges for variable in schema if variable.is_binned and variable.edges}


def _explanation(
    model: Any,
    row: Row,
    pair: tuple[int, int],
    prior: NDArray[np.float64],
    terms: NDArray[np.float64],
    used: NDArray[np.bool_],
    probability: float,
    places: list[int],
) -> Explanation:
    a, b = pair
    with np.errstate(invalid="ignore"):
        changes = terms[:, a] - terms[:, b]
    if np.isnan(changes).any() or (np.isposinf(changes).any() and np.isneginf(changes).any()):
        raise ImpossibleEvidenceError(
            f"this row has probability 0 under {model.classes_[a]!r} and under {model.classes_[b]!r}; "
            f"{_way_out(model)}other classes."
        )
    classes, odds = (plain(model.classes_[a]), plain(model.classes_[b])), float(prior[a] - prior[b])
    names, values = (tuple(cells[j] for j in places) for cells in (row.names, row.values))
    used = np.asarray(used)[places]
    words = _words_of(model, row.names, row.values, pair)
    return Explanation(classes, odds, names, values, changes[places], used, probability, _edges_of(model), words=words)


def _text_columns(model: Any) -> list[str]:
    schema = getattr(model, "schema_", ())
    return [variable.name for variable in schema if variable.is_text] if isinstance(model, WordModel) else []


def _words_of(
    model: Any, names: Sequence[str], values: Sequence[Any], pair: tuple[int, int]
) -> dict[str, tuple[Word, ...]]:
    """Return the words of the cells of text of one row, with their weights."""
    cells = dict(zip(names, values, strict=True))
    texts = {name: cells[name] for name in _text_columns(model) if isinstance(cells[name], str)}
    return {name: tuple(model._words_of(name, text, pair)) for name, text in texts.items()}


@dataclass(frozen=True)
class _WordsOfRows:
    """The words of any row of a table, looked up when they are shown."""

    model: Any
    names: Sequence[str]
    columns: Sequence[NDArray[Any]]
    pairs: NDArray[np.int64]

    def __call__(self, number: int) -> dict[str, tuple[Word, ...]]:
        first, second = self.pairs[number].tolist()
        return _words_of(self.model, self.names, [column[number] for column in self.columns], (first, second))


def _table(model: Any, row: Row, hidden: NDArray[np.bool_]) -> Any:
    """Return a table of copies of the row, each without the cells that ``hidden`` marks in it."""
    return as_table(model, row, hidden_copies(row, hidden))


def _revealing(unknown: NDArray[np.bool_], places: list[int]) -> NDArray[np.bool_]:
    """Return which cells are hidden in each step: all at first, then one fewer each time; unknown ones always."""
    hidden = np.ones((len(places) + 1, len(places)), dtype=bool)
    for step, j in enumerate(places):
        hidden[step + 1 :, j] = unknown[j]
    return hidden


def _steps(log_proba: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the change of each class's log-probability at each step.

    Once a class is ruled out its log-probability stays at −inf, which is no further change.
    """
    with np.errstate(invalid="ignore"):
        changes = np.diff(log_proba, axis=0)
    changes[np.isneginf(log_proba[1:]) & np.isneginf(log_proba[:-1])] = 0.0
    return changes


def _log_proba(model: Any, table: Any) -> NDArray[np.float64]:
    if not hasattr(model, "predict_proba"):
        raise BayeskitError(f"explain needs a classifier with predict_proba; {type(model).__name__} has none.")
    try:
        if hasattr(model, "predict_log_proba"):
            return np.asarray(model.predict_log_proba(table), dtype=np.float64)
        with np.errstate(divide="ignore"):
            return np.log(np.asarray(model.predict_proba(table), dtype=np.float64))
    except ValueError as error:
        raise BayeskitError(
            f"explain hides cells one by one, and this {type(model).__name__} does not accept missing cells: {error}"
        ) from error


def _pairs(log_joint: NDArray[np.float64], classes: Sequence[Any] | None, known: Any) -> NDArray[np.int64]:
    """Return the numbers of the two classes to compare in each row, shape (n_rows, 2)."""
    if len(known) < 2:
        raise BayeskitError(f"odds need two classes; the model has only {list(known)}.")
    if classes is None:
        return np.argsort(-log_joint, axis=1, kind="stable")[:, :2]
    names = np.asarray(known).tolist()
    if len(classes) != 2 or len(set(classes)) != 2:
        raise BayeskitError(f"classes must be two different classes (a, b) of {names}; got {classes!r}.")
    for name in classes:
        if name not in names:
            raise BayeskitError(f"{name!r} is not a class; the classes are {names}.")
    pair = np.array([names.index(name) for name in classes], dtype=np.int64)
    return np.broadcast_to(pair, (len(log_joint), 2))


def _places(order: Sequence[str] | None, names: tuple[str, ...]) -> list[int]:
    if order is None:
        return list(range(len(names)))
    if sorted(order) != sorted(names):
        raise BayeskitError(f"order must name every feature once: {', '.join(names)}; got {list(order)!r}.")
    return [names.index(name) for name in order]


def _share(log_joint: NDArray[np.float64], number: int) -> float:
    peak = log_joint.max()
    if np.isneginf(peak):
        raise ImpossibleEvidenceError("this row has probability 0 under every class; pass smoothing > 0 to the model.")
    share = np.exp(log_joint - peak)
    return float(share[number] / share.sum())


def _rows_of(X: Any) -> Iterator[Any]:
    if isinstance(X, dict):
        n_rows = len(next(iter(X.values())))
        return ({name: column[i] for name, column in X.items()} for i in range(n_rows))
    if hasattr(X, "iloc"):
        return (X.iloc[i : i + 1] for i in range(len(X)))
    if hasattr(X, "columns") or hasattr(X, "schema"):
        return (X[i : i + 1] for i in range(len(X)))
    return iter(np.asarray(X))


def _columns_of(X: Any, names: tuple[str, ...], n_rows: int) -> list[NDArray[Any]]:
    """Return the columns of a table as they are; they are read only when a row is shown."""
    if isinstance(X, np.ndarray):
        return [X[:, j] for j in range(X.shape[1])]
    columns = [X[name] for name in names] if not isinstance(X, list) else list(zip(*X, strict=True))
    return [np.asarray(column, dtype=object) for column in columns]


def _collect(explanations: list[Explanation], names: tuple[str, ...]) -> Explanations:
    if not explanations:
        raise BayeskitError("there is no row to explain.")
    pairs = np.empty((len(explanations), 2), dtype=object)
    pairs[:] = [each.classes for each in explanations]
    columns = [np.array([each.values[j] for each in explanations], dtype=object) for j in range(len(names))]
    prior, terms, used, probability, floor = (
        np.array([getattr(each, name) for each in explanations])
        for name in ("prior", "terms", "used", "probability", "floor")
    )
    edges = explanations[0].edges
    words_of = [each.words for each in explanations].__getitem__ if any(each.words for each in explanations) else None
    return Explanations(pairs, prior, names, columns, terms, used, probability, edges, floor, words_of)
