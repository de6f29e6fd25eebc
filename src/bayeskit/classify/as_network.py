"""A classifier as a Bayesian network: the class is a parent of every column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkError
from bayeskit.estimate.families import FamilyBeliefs
from bayeskit.network.states import UNSEEN_STATE, state_names
from bayeskit.table.schema import Schema, Variable

if TYPE_CHECKING:
    from bayeskit.classify.naive_classifier import NaiveClassifier
    from bayeskit.network import BayesianNetwork


def as_network(
    schema: Schema,
    class_name: str,
    classes: NDArray[Any],
    parents: Mapping[str, Sequence[str]],
    tables: Mapping[str, NDArray[np.float64]],
) -> BayesianNetwork:
    """Return a network that reads tables as the classifier does: it keeps the schema, and the class is its target.

    Parameters
    ----------
    schema : Schema
        The columns that the classifier was fitted on.
    class_name, classes : str, array
        The class and its labels.
    parents, tables : mappings of name to parents' names and to a table
        The class and each column that is used, parents before children. A table with one more state than its
        column has values keeps the last one for unseen values.
    """
    from bayeskit.network import BayesianNetwork

    names = list(parents)
    place = {name: i for i, name in enumerate(names)}
    target = Variable(class_name, "categorical", tuple(classes.tolist()), declared=True)
    columns = {variable.name: variable for variable in schema}
    variables = tuple(target if name == class_name else columns[name] for name in names)
    states = []
    for variable in variables:
        known = state_names(variable)
        more = tables[variable.name].shape[-1] > len(known)
        states.append((*known, UNSEEN_STATE) if more else known)
    return BayesianNetwork.from_tables(
        names,
        states,
        [[place[p] for p in parents[name]] for name in names],
        [tables[name] for name in names],
        schema=schema.with_variables(variables),
        target=class_name,
    )


def family_network(beliefs: FamilyBeliefs, class_name: str, classes: NDArray[Any]) -> BayesianNetwork:
    """Return P(c) and P(x_j | c, parents of j) as a network; the class comes first among the parents."""
    schema = beliefs.counts.schema
    parents: dict[str, tuple[str, ...]] = {class_name: ()}
    tables: dict[str, NDArray[np.float64]] = {class_name: np.exp(beliefs.log_prior)}
    for members, table in zip(beliefs.families, beliefs.log_tables, strict=True):
        variable = schema[members[-1]]
        if not variable.n_values:
            continue
        parents[variable.name] = (class_name, *(schema.names[j] for j in members[:-1]))
        tables[variable.name] = np.ascontiguousarray(np.exp(np.moveaxis(table, -1, 0)))
    return as_network(schema, class_name, classes, parents, tables)


def naive_network(model: NaiveClassifier, class_name: str) -> BayesianNetwork:
    """Return P(c) and P(x_j | c) as a network; a column with a density is an error."""
    columns = [
        (v, rows) for v, rows in zip(model.schema_, model._beliefs.parameters, strict=True) if v.kind != "unknown"
    ]
    for variable, _ in columns:
        if variable.is_numeric:
            raise NetworkError(
                f"column '{variable.name}' is {variable.kind}, and a network has discrete variables only: fit with "
                f"bins (kinds={{'{variable.name}': 'equal-frequency'}}), or without the column."
            )
        if variable.is_text:
            raise NetworkError(
                f"column '{variable.name}' is text, and a network has discrete variables only: fit without the column."
            )
        if variable.name == class_name:
            raise NetworkError(f"the class and a column are both called '{class_name}'; rename the column.")
    parents: dict[str, tuple[str, ...]] = {class_name: ()}
    tables: dict[str, Any] = {class_name: model.class_prior_}
    for variable, rows in columns:
        table = np.exp(rows[: variable.n_values]).T  # (n_classes, n_values)
        rest = 1.0 - table.sum(axis=1)
        if rest.max() > 1e-9:
            table = np.column_stack([table, np.maximum(rest, 0.0)])
        parents[variable.name], tables[variable.name] = (class_name,), table
    return as_network(model.schema_, class_name, model.classes_, parents, tables)
