"""The Bayesian network that a classifier is: the class above every column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeskit.errors import NetworkError

if TYPE_CHECKING:
    from bayeskit.classify.naive_model import NaiveModel
    from bayeskit.network import BayesianNetwork

# What unseen="smooth" keeps for a value that training did not show.
UNSEEN_STATE = "(unseen)"


def as_network(data: dict[str, Any]) -> BayesianNetwork:
    """Return a network from its states, parents and tables by name."""
    from bayeskit.network import BayesianNetwork

    return BayesianNetwork(data["parents"], states=data["states"], tables=data["tables"])


def naive_network(model: NaiveModel, class_name: str) -> BayesianNetwork:
    """Return P(c) and P(x_j | c) as a network; columns with a density are refused by name."""
    from bayeskit.network import BayesianNetwork

    columns = [
        (v, rows) for v, rows in zip(model.schema_, model._beliefs.parameters, strict=True) if v.kind != "unknown"
    ]
    for variable, _ in columns:
        if variable.is_numeric:
            raise NetworkError(
                f"column '{variable.name}' is {variable.kind}, and a network has discrete variables only: fit with "
                f"bins (kinds={{'{variable.name}': 'equal-frequency'}}), or without the column."
            )
        if variable.name == class_name:
            raise NetworkError(f"the class and a column are both called '{class_name}'; rename the column.")
    names, states = [class_name], [[str(label) for label in model.classes_.tolist()]]
    tables: list[Any] = [model.class_prior_]
    for variable, rows in columns:
        table = np.exp(rows[: variable.n_values]).T  # (n_classes, n_values)
        own = [str(value) for value in variable.values]
        rest = 1.0 - table.sum(axis=1)
        if rest.max() > 1e-9:
            own.append(UNSEEN_STATE)
            table = np.column_stack([table, np.maximum(rest, 0.0)])
        names.append(variable.name)
        states.append(own)
        tables.append(table)
    return BayesianNetwork.from_tables(names, states, [[], *[[0]] * len(columns)], tables)
