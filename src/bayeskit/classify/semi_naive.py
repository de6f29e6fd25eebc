"""What all classifiers with a structure share: bins, family counts, leave-one-out, and the network that they are."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.as_network import as_network
from bayeskit.classify.base import BayesClassifier
from bayeskit.classify.parameters import at_least, one_of
from bayeskit.classify.structure import Structure
from bayeskit.classify.tell import summarise
from bayeskit.classify.validate import check_columns, in_order, split_target, warn_of_empty_columns
from bayeskit.counts.families import Families, FamilyCounts, Kind, sizes_of
from bayeskit.counts.table import TableCounts
from bayeskit.errors import BayeskitWarning, TableError
from bayeskit.estimate.families import FamilyBeliefs
from bayeskit.estimate.tables import NamedTable
from bayeskit.explain.summary import Summary
from bayeskit.table.column import Numbers, code_bytes, missing_code
from bayeskit.table.discretise import METHODS
from bayeskit.table.encode import contiguous_low, encode, encode_column
from bayeskit.table.labels import read_labels, read_weight
from bayeskit.table.read import Source, read_table
from bayeskit.table.schema import Schema

if TYPE_CHECKING:
    from bayeskit.network import BayesianNetwork


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """How a classifier does on each row of its fit when that row is left out; structure, bins and levels are kept."""

    error: float
    log_loss: float
    # The root of the mean of (1 − P(true class))².
    rmse: float
    log_posterior: NDArray[np.float64]  # (n_rows, n_classes)

    def __repr__(self) -> str:
        return f"LeaveOneOut(error={self.error:.6g}, log_loss={self.log_loss:.6g}, rmse={self.rmse:.6g})"


class SemiNaive(BayesClassifier):
    """A classifier over :class:`FamilyCounts`: it says which families it counts and which structure it believes in."""

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        "smoothing": at_least(0),
        "numeric": one_of(*METHODS),
        "bins": at_least(1, whole=True),
        "unseen": one_of("ignore", "error", "smooth"),
        "impossible": one_of("error", "prior"),
        "max_memory": at_least(0),
    }
    # What ``partial_fit`` cannot change after the first call, or None.
    _frozen: str | None = None

    # Set by the models' own __init__, where they are documented.
    smoothing: float
    numeric: str
    bins: int
    kinds: Any
    max_memory: float

    @abstractmethod
    def _families(
        self, alone: TableCounts, columns: list[NDArray[Any]], y: Any, weight: Any
    ) -> Kind | Families | FamilyCounts:
        """Say which families to count, given the first table, or give their counts where these were needed to say."""

    @abstractmethod
    def _structure(self, counts: FamilyCounts) -> Structure:
        """Say which structure the counts give."""

    def _count(
        self,
        source: Source,
        y: NDArray[Any],
        classes: NDArray[Any],
        weight: NDArray[np.float64] | None,
        like: FamilyCounts | None,
    ) -> FamilyCounts:
        kinds = self._kinds_of(source)
        alone = TableCounts.learn(
            source, y, classes, weight, kinds, self.numeric, self.bins, None if like is None else like.schema
        )
        columns = training_codes(source, alone.schema)
        families: Kind | Families | FamilyCounts
        if like is not None:
            families = like.kind if like.kind != "given" else like.families
        else:
            warn_of_empty_columns(alone.schema)
            families = self._families(alone, columns, y, weight)
        if isinstance(families, FamilyCounts):
            return families
        return FamilyCounts.of(alone, columns, y, families, weight, self._limit)

    def _plus(self, ours: FamilyCounts, theirs: FamilyCounts) -> FamilyCounts:
        return ours.plus(theirs, self._limit)

    @property
    def _limit(self) -> float:
        return float(self.max_memory) * 2**30

    def _kinds_of(self, source: Source) -> Any:
        kinds = self.kinds
        said = kinds.values() if isinstance(kinds, dict) else [kinds]
        for kind in said:
            if kind in ("gaussian", "poisson"):
                raise TableError(
                    f"kinds says '{kind}', but {type(self).__name__} counts values: numbers are cut into bins. "
                    f"Use one of {', '.join(METHODS)}, or 'categorical'."
                )
        return kinds

    def _say_what_is_frozen(self, said: set[str]) -> set[str]:
        new = super()._say_what_is_frozen(said)
        if self._frozen and self._frozen not in said:
            warnings.warn(
                f"{self._frozen} was chosen on the first batch and stays as it is, since it needs all rows; make the "
                "first batch large, or call fit on all rows at once.",
                BayeskitWarning,
                stacklevel=3,
            )
            new.add(self._frozen)
        return new

    def _believe(self, counts: FamilyCounts) -> Any:
        structure = self._structure(counts)
        return FamilyBeliefs(counts, structure.families, self.smoothing, self.unseen == "smooth")

    def _counts_from_file(self, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> FamilyCounts:
        return FamilyCounts.from_parts(meta, arrays)

    # -- reading the model ------------------------------------------------------------------------------------------

    @property
    def structure_(self) -> Any:
        """The parents of each feature besides the class."""
        self._refuse_unfitted()
        families = {members[-1]: members[:-1] for members in self._beliefs.families}
        parents = tuple(families.get(j) for j in range(len(self.schema_)))
        return Structure(self.schema_.names, parents, self._class_name)

    @property
    def _class_name(self) -> str:
        name = self._target or "class"
        while name in self.schema_.names:
            name += "_"
        return name

    @property
    def class_prior_(self) -> NDArray[np.float64]:
        """P(c)."""
        self._refuse_unfitted()
        return np.asarray(np.exp(self._beliefs.log_prior))

    @property
    def tables_(self) -> dict[str, NamedTable]:
        """P(x | parents, c) of each feature; a column is a class, or a class and the values of the parents."""
        self._refuse_unfitted()
        beliefs, schema, classes = self._beliefs, self.schema_, self.classes_.tolist()
        extra = ("(unseen)",) if beliefs.smooth else ()
        tables = {}
        for members, table in zip(beliefs.families, beliefs.log_tables, strict=True):
            name, parents = schema.names[members[-1]], members[:-1]
            given = [(*schema[j].values, *extra) for j in parents]
            columns = tuple(product(classes, *given)) if parents else tuple(classes)
            title = f"P({name} | {', '.join([self._class_name, *(schema.names[j] for j in parents)])})"
            values = np.exp(np.moveaxis(table, (-2, -1), (0, 1))).reshape(table.shape[-2], -1)
            tables[name] = NamedTable(title, (*schema[members[-1]].values, *extra)[: len(values)], columns, values)
        return tables

    @property
    def n_parameters_(self) -> int:
        """The number of free parameters."""
        self._refuse_unfitted()
        sizes, n_classes = sizes_of(self.schema_), len(self.classes_)
        free = sum(
            prod(sizes[j] for j in members[:-1]) * max(0, sizes[members[-1]] - 1) for members in self._beliefs.families
        )
        return int(n_classes * free + n_classes - 1)

    def to_network(self) -> BayesianNetwork:
        """Return the Bayesian network that the classifier is; the class comes first among the parents.

        It can be drawn, queried and written as BIF, and answers rows with missing cells as `predict_proba` does. With
        ``unseen="smooth"`` each column has one more state, "(unseen)".
        """
        return as_network(self._network_data())

    def _network_data(self) -> dict[str, Any]:
        self._refuse_unfitted()
        return network_data(self._beliefs, self._class_name, self.classes_)

    def _used(self, X: Any) -> NDArray[np.bool_]:
        """Return which cells speak, (n_rows, n_features): known to the model, in a column that takes part."""
        columns = self._encode(X)
        used = np.zeros((len(columns[0]), len(columns)), dtype=bool)
        for j in self._columns_used():
            n_values, column = self.schema_[j].n_values, columns[j]
            unseen = (column >= n_values) & (column != missing_code(column.dtype))
            used[:, j] = (column < n_values) | (unseen & (self.unseen == "smooth") & (n_values > 0))
        return used

    def _columns_used(self) -> list[int]:
        return [members[-1] for members in self._beliefs.families]

    def _summary(self) -> Summary:
        known = np.array([self.counts_.column(j).sum() for j in range(len(self.schema_))])
        missing = 1.0 - known / self.counts_.alone.n_rows
        return summarise(self, np.asarray(self.counts_.n_class), missing, {})

    # -- leave-one-out ----------------------------------------------------------------------------------------------

    def leave_one_out(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None
    ) -> LeaveOneOut:
        """Return error, log-loss and RMSE on the rows of the fit, each predicted without itself.

        One pass takes each row out of the counts; structure, bins and levels stay those of all rows. The rows must
        be rows that the model has learned from. An integer weight stands for so many copies, which leave one by one.
        A row that no class can give without itself (smoothing 0) is answered with the prior.
        """
        self._refuse_unfitted()
        source = read_table(X)
        if target is not None:
            source, y = split_target(X, source, target)
        elif y is None:
            raise TableError("leave_one_out needs the labels of the rows: pass y, or target='column'.")
        elif self._target is not None and source.named and self._target in source.names:
            source = source.without(self._target)  # fitted with target=: the whole table may come again
        source = in_order(X, source, self.schema_.names)
        check_columns(source, self.schema_.names, self.schema_.named, type(self).__name__)
        labels, codes = read_labels(y, source.n_rows)
        weight = read_weight(sample_weight, source.n_rows)
        counted = codes if weight is None else codes[weight > 0]  # no weight is as if not there
        strange = [label for label in labels[np.unique(counted)].tolist() if label not in self.classes_.tolist()]
        if strange:
            raise TableError(
                f"y holds the class {strange[0]!r}, which was not seen in fit; seen: {self.classes_.tolist()}."
            )
        codes = np.minimum(np.searchsorted(self.classes_, labels), len(self.classes_) - 1)[codes]
        log_posterior = self._beliefs.leave_one_out(encode(source, self.schema_), codes, weight)
        return losses(log_posterior, codes, weight)


def training_codes(source: Source, schema: Schema) -> list[NDArray[Any]]:
    """Return each column as codes; numbers that are their own codes are read in place."""
    columns = []
    for j, variable in enumerate(schema):
        column = source.column(j)
        as_it_is = (
            isinstance(column, Numbers)
            and column.values.dtype.kind == "u"
            and column.values.dtype.isnative
            and code_bytes(variable.n_values) <= column.values.dtype.itemsize <= 4
            and contiguous_low(variable) == 0
        )
        columns.append(column.values if as_it_is else encode_column(column, variable))  # type: ignore[union-attr]
    return columns


def losses(
    log_posterior: NDArray[np.float64], y: NDArray[Any], weight: NDArray[np.float64] | None = None
) -> LeaveOneOut:
    """Sum up log posteriors against the true classes."""
    rows = np.arange(len(y)) if weight is None else np.flatnonzero(weight)  # 0 times an infinite loss is no number
    log_true = log_posterior[rows, y[rows]]
    wrong = log_posterior[rows].argmax(axis=1) != y[rows]
    miss = (1.0 - np.exp(log_true)) ** 2

    def mean(values: NDArray[Any]) -> float:
        return float(np.average(values, weights=None if weight is None else weight[rows]))

    return LeaveOneOut(mean(wrong), mean(-log_true) + 0.0, float(np.sqrt(mean(miss))), log_posterior)


def network_data(beliefs: FamilyBeliefs, class_name: str, classes: NDArray[Any]) -> dict[str, Any]:
    """Return a classifier's beliefs as the data of a Bayesian network."""
    schema = beliefs.counts.schema
    extra = ("(unseen)",) if beliefs.smooth else ()
    states: dict[str, tuple[Any, ...]] = {class_name: tuple(classes.tolist())}
    parents: dict[str, tuple[str, ...]] = {class_name: ()}
    tables: dict[str, NDArray[np.float64]] = {class_name: np.exp(beliefs.log_prior)}
    for members, table in zip(beliefs.families, beliefs.log_tables, strict=True):
        variable = schema[members[-1]]
        if not variable.n_values:
            continue
        states[variable.name] = (*variable.values, *extra)
        parents[variable.name] = (class_name, *(schema.names[j] for j in members[:-1]))
        tables[variable.name] = np.ascontiguousarray(np.exp(np.moveaxis(table, -1, 0)))
    return {"states": states, "parents": parents, "tables": tables}
