"""The summary of a fitted classifier: its priors, and the probabilities of each column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bayeskit.decide.protocol import JointModel, as_column
from bayeskit.explain.summary import FeatureSummary, Summary
from bayeskit.table.encode import missing_column
from bayeskit.table.schema import Schema

# Rows that are scored at once: one row per value, in which all other cells are missing.
_ROWS_AT_ONCE = 4096


class Summarised(JointModel, Protocol):
    """A fitted model that can be summarised."""

    @property
    def schema_(self) -> Schema:
        """Name, kind and values of each column."""
        ...

    def _log_joint_of_codes(self, columns: list[NDArray[Any]]) -> NDArray[np.float64]:
        """Return log P(x, c) of rows that are encoded already."""
        ...


def summarise(
    model: Summarised,
    n_class: NDArray[Any],
    missing: NDArray[np.float64],
    parameters: dict[str, dict[str, NDArray[np.float64]]],
    tables: Mapping[str, NDArray[np.float64]] | None = None,
    notes: tuple[str, ...] = (),
    words: Mapping[str, tuple[tuple[Any, ...], NDArray[np.float64]]] | None = None,
) -> Summary:
    """Return the summary of a model.

    Parameters
    ----------
    model : classifier
        A fitted model.
    n_class : array of shape (n_classes,)
        Rows of each class.
    missing : array of shape (n_columns,)
        The share of missing cells of each column.
    parameters : dict of column name to its parameters
        For columns with a density.
    tables : dict of column name to P(v | c), optional
        Given if the model already has them; otherwise they are computed from its log-joint, with all other cells
        missing.
    notes : tuple of str
        Further remarks.
    words : dict of column name to words and P(w | c), optional
        Of columns of text, the words that tell most.
    """
    log_prior = model.log_joint([as_column([None]) for _ in model.schema_])[0]
    if tables is None:
        tables = dict(_marginals(model, log_prior))
    features = []
    for j, variable in enumerate(model.schema_):
        values, table = (words or {}).get(variable.name, ((), None))
        if variable.is_discrete:
            values, table = variable.values, tables.get(variable.name) if variable.values else None
        features.append(
            FeatureSummary(
                variable.name,
                variable.kind,
                float(missing[j]),
                values,
                table,
                variable.edges,
                parameters.get(variable.name, {}),
            )
        )
    return Summary(
        getattr(model, "_title", type(model).__name__),
        tuple(model.classes_.tolist()),
        float(n_class.sum()),
        n_class,
        np.exp(log_prior),
        tuple(features),
        notes,
    )


def _marginals(model: Summarised, log_prior: NDArray[np.float64]) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield P(v | c) = P(v, c) / P(c) of each discrete column, of shape (n_values, n_classes)."""
    schema = model.schema_
    possible = np.isfinite(log_prior)  # a class that no row may have gives nothing to divide by
    sizes = [variable.n_values if variable.is_discrete else 0 for variable in schema]
    ends = np.cumsum(sizes)
    scores = np.empty((int(ends[-1]) if len(ends) else 0, len(log_prior)))
    for start in range(0, len(scores), _ROWS_AT_ONCE):
        rows = np.arange(start, min(start + _ROWS_AT_ONCE, len(scores)))
        columns = []
        for variable, size, end in zip(schema, sizes, ends, strict=True):
            column = missing_column(variable, len(rows))
            mine = (rows >= end - size) & (rows < end)
            column[mine] = rows[mine] - (end - size)
            columns.append(column)
        scores[rows] = model._log_joint_of_codes(columns)
    for variable, size, end in zip(schema, sizes, ends, strict=True):
        if size:
            table = np.zeros((size, len(log_prior)))
            table[:, possible] = np.exp(scores[end - size : end, possible] - log_prior[possible])
            yield variable.name, table
