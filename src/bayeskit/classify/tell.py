"""What a classifier tells of itself: the values its columns take, and a summary in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bayeskit.decide.known import Domain, as_column
from bayeskit.explain.summary import FeatureSummary, Summary
from bayeskit.table.schema import Schema, Variable

# A density is summed on this many points, over so many deviations beyond the outermost means.
GRID_POINTS = 2001
GRID_DEVIATIONS = 9.0


class Teller(Protocol):
    """A fitted model that can be summarised."""

    classes_: NDArray[Any]
    schema_: Schema

    def _domains(self) -> list[Domain]: ...
    def _log_joint(self, columns: Sequence[NDArray[Any]]) -> NDArray[np.float64]: ...


def domain_of(variable: Variable, density: NDArray[np.float64] | None = None) -> Domain:
    """Return the values that a column may take, or a grid over its density.

    ``density`` holds the means and deviations of a Gaussian, or the rates of a Poisson, one column per class.
    """
    if variable.kind == "gaussian" and density is not None:
        mean, deviation = density
        low, high = (mean - GRID_DEVIATIONS * deviation).min(), (mean + GRID_DEVIATIONS * deviation).max()
        points = np.linspace(low, high, GRID_POINTS)
        # A narrow density is not lost between the points of a wide one: each class has a grid of its own as well.
        own = [np.linspace(m - GRID_DEVIATIONS * s, m + GRID_DEVIATIONS * s, GRID_POINTS) for m, s in density.T]
        points = np.unique(np.concatenate([points, *own]))
        return Domain(variable.name, tuple(points.tolist()), np.gradient(points), False)
    if variable.kind == "poisson" and density is not None:
        # By Chernoff's bound exp(−t² / 2(r + t/3)) less than 1e-17 lies beyond t = 9 √r + 45 above the rate r.
        rate = float(density.max())
        most = int(rate + 9 * rate**0.5 + 45)
        return Domain(variable.name, tuple(range(most + 1)), np.ones(most + 1), True)
    values: tuple[Any, ...] = variable.values
    if variable.kind == "binned" and variable.edges:
        # One number from each bin: bin b holds edges[b - 1] <= x < edges[b].
        values = (float(np.nextafter(variable.edges[0], -np.inf)), *variable.edges)
    elif variable.kind == "binned":
        values = (0.0,)
    return Domain(variable.name, values, np.ones(len(values)), not variable.is_numeric)


def summarise(
    model: Teller,
    n_class: NDArray[Any],
    missing: NDArray[np.float64],
    parameters: dict[str, dict[str, NDArray[np.float64]]],
) -> Summary:
    """Return the summary of a model; ``missing`` is the share of missing cells of each column."""
    log_prior = model._log_joint([as_column([None]) for _ in model.schema_])[0]
    features = []
    for j, (variable, domain) in enumerate(zip(model.schema_, model._domains(), strict=True)):
        table = None
        if variable.is_discrete and domain.values:
            columns = [as_column([None] * len(domain.values)) for _ in model.schema_]
            columns[j] = as_column(domain.values)
            # P(v | c) = P(v, c) / P(c); a class that no row may have gives nothing to divide by.
            possible = np.isfinite(log_prior)
            table = np.zeros((len(domain.values), len(log_prior)))
            table[:, possible] = np.exp(model._log_joint(columns)[:, possible] - log_prior[possible])
        features.append(
            FeatureSummary(
                variable.name,
                variable.kind,
                float(missing[j]),
                variable.values if variable.is_discrete else (),
                table,
                variable.edges,
                parameters.get(variable.name, {}),
            )
        )
    return Summary(
        type(model).__name__,
        tuple(model.classes_.tolist()),
        float(n_class.sum()),
        n_class,
        np.exp(log_prior),
        tuple(features),
    )
