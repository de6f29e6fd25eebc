"""Rows encoded with the states and bins of a given network; its target is the class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.graph_counts import Parents
from bayeskit.counts.moments import Moments
from bayeskit.counts.numbers import NumberCounts
from bayeskit.counts.table import TableCounts
from bayeskit.counts.values import ValueCounts
from bayeskit.errors import NetworkError, TableError
from bayeskit.network.cases import read_cases
from bayeskit.network.learn.table_fitting import counting_schema
from bayeskit.network.network import BayesianNetwork
from bayeskit.network.states import find_state
from bayeskit.table.column import missing_code
from bayeskit.table.read import Source


class NetworkTerms:
    """A network with a target, as the columns and the class that a classifier sees.

    Examples
    --------
    >>> terms = NetworkTerms(BayesianNetwork("rain->wet<-hose"), "rain")
    >>> terms.schema.names, terms.parents
    (('wet', 'hose'), ((2, 1), (), ()))
    """

    def __init__(self, net: BayesianNetwork, target: str | None) -> None:
        if target is None and net.target is None:
            raise NetworkError("a network needs a target to be a classifier; name the class variable with target=.")
        real = [name for name, card in zip(net.names, net.cards, strict=True) if not card]
        if real:
            raise NetworkError(
                f"{real[0]!r} is real, and a network given to NetworkClassifier has discrete variables only: ask the "
                "network itself, net.fitted(table).predict_proba(table, target), or learn one with numeric='gaussian'."
            )
        self.net = net
        self.at = net.index(net.target if target is None else target)
        self.target = net.names[self.at]
        self.places = [v for v in range(len(net.names)) if v != self.at]
        if not self.places:
            raise NetworkError(f"the network has no variable besides {self.target!r}, so nothing predicts it.")
        whole = counting_schema(net)
        self.schema = whole.with_variables(whole[v] for v in self.places)
        place = {v: j for j, v in enumerate([*self.places, self.at])}
        self.parents: Parents = tuple(tuple(place[p] for p in net.parents[v]) for v in [*self.places, self.at])

    def codes(self, source: Source, *, unseen_is_error: bool) -> list[NDArray[Any]]:
        """Return one column of codes per column of the schema; a column that the table lacks is missing."""
        if not source.named:
            if len(source.names) != len(self.schema):
                raise TableError(
                    f"X has {len(source.names)} features, but the network has {len(self.schema)} variables besides "
                    f"{self.target!r}; name the columns, or give all of them in the order of the network."
                )
            source = Source(self.schema.names, True, source.n_rows, tuple(map(source.column, range(len(self.schema)))))
        cases = read_cases(
            self.net.schema, self.net.states, source, variables=set(self.places), absent="none",
            unseen="error" if unseen_is_error else "keep",
        )  # fmt: skip
        columns = [cases.columns[v] for v in self.places]
        absent = np.full(source.n_rows, missing_code(np.dtype(np.uint32)), dtype=np.uint32)
        return [absent if column is None else column for column in columns]

    def states_of(self, classes: NDArray[Any]) -> list[int]:
        """Return the state of each label; a label that is not a state of the target is an error."""
        states = self.net.states[self.at]
        places = {state: k for k, state in enumerate(states)}
        numbers = [find_state(label, places) for label in classes.tolist()]
        if None in numbers:
            raise TableError(
                f"y holds the label {classes.tolist()[numbers.index(None)]!r}, which is not a state of "
                f"{self.target!r}; its states are {', '.join(map(repr, states))}."
            )
        return [k for k in numbers if k is not None]

    def classes(self, seen: NDArray[Any]) -> NDArray[Any]:
        """Return all states as labels where labels are text; other labels are those that were seen."""
        self.states_of(seen)
        return np.unique(np.array(self.net.states[self.at])) if seen.dtype.kind in "OU" else seen

    def tables(self) -> tuple[NDArray[np.float64], ...]:
        """Return the network's own tables, its variables in the order of `parents`, labels in sorted order."""
        order = np.argsort(np.array(self.net.states[self.at]), kind="stable")
        tables = []
        for v in [*self.places, self.at]:
            table = np.asarray(self.net.tables[v])
            axes = [*self.net.parents[v], v]
            tables.append(np.take(table, order, axis=axes.index(self.at)) if self.at in axes else table)
        return tuple(tables)

    def count(
        self, columns: list[NDArray[Any]], y: NDArray[Any], classes: NDArray[Any], weight: NDArray[np.float64] | None
    ) -> TableCounts:
        """Count each column within each class; ``columns`` are codes under `schema`."""
        values = ValueCounts.of(columns, [variable.n_values for variable in self.schema], y, len(classes), weight)
        numbers = NumberCounts.none(0, len(classes), values.n_value.dtype)
        return TableCounts(self.schema, classes, values, Moments.of([], y, len(classes)), numbers)
