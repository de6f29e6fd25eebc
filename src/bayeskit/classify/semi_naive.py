"""Base of all classifiers with a structure: bins, family counts, conversion to a network."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.as_network import family_network
from bayeskit.classify.leave_one_out import LeavesOneOut
from bayeskit.classify.sampling import SamplesRows
from bayeskit.classify.structure import Structure
from bayeskit.classify.summaries import summarise
from bayeskit.counts.families import Families, FamilyCounts, FamilyKind, sizes_of
from bayeskit.counts.left_out import LeftOut
from bayeskit.counts.memory import Memory, MemoryLimit, read_memory, table_cells
from bayeskit.counts.running import RunningFamilies
from bayeskit.counts.table import TableCounts
from bayeskit.decide.protocol import as_column
from bayeskit.defaults import BINS, FAMILY_SMOOTHING, MAX_MEMORY, PRIOR, UNSEEN
from bayeskit.errors import TableError
from bayeskit.estimate.class_weight import class_factors
from bayeskit.estimate.families import FamilyBeliefs
from bayeskit.estimate.named_table import NamedTable
from bayeskit.estimate.prior import class_prior
from bayeskit.estimate.sample_codes import sample_families
from bayeskit.explain.summary import Summary
from bayeskit.kinds import words
from bayeskit.learn.checks import warn_of_empty_columns
from bayeskit.learn.counting import learn_coded_counts
from bayeskit.learn.labelled import Labelled
from bayeskit.learn.parameters import (
    a_class_weight,
    a_prior,
    a_smoothing,
    an_amount_of_memory,
    at_least,
    hashable,
    one_of,
)
from bayeskit.learn.plan import Pass, Plan, counting
from bayeskit.table.column import missing_code
from bayeskit.table.discretize import METHODS
from bayeskit.table.schema import Schema

if TYPE_CHECKING:
    from bayeskit.network import BayesianNetwork


@dataclass(eq=False, repr=False)
class SemiNaive(LeavesOneOut, SamplesRows):
    """A classifier over :class:`FamilyCounts`: subclasses choose the families to count and the structure."""

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        "smoothing": a_smoothing,
        "numeric": one_of(*METHODS),
        "bins": at_least(1, whole=True),
        "unseen": one_of("ignore", "error", "smooth"),
        "impossible": one_of("error", "prior"),
        "prior": a_prior,
        "class_weight": a_class_weight,
        "max_memory": an_amount_of_memory,
    }
    _statistic = FamilyCounts
    # Which subsets of the columns are counted, all pairs or all triples; None where the rows or the user decide.
    _counted_subsets: ClassVar[Literal["pairs", "triples"] | None] = None
    # What ``partial_fit`` cannot change after the first call, or None.
    _frozen: ClassVar[str | None] = None

    # The parameters of all models, which `ODE` describes.
    _: KW_ONLY
    smoothing: Any = FAMILY_SMOOTHING  # λ, "back-off" or a Smoothing; each model says which of them it takes
    numeric: str = "mdl"
    bins: int = BINS
    unseen: str = UNSEEN
    impossible: str = "error"
    kinds: Any = None
    prior: Any = PRIOR
    class_weight: Any = None
    max_memory: Memory = MAX_MEMORY

    @classmethod
    def _takes_kind(cls, kind: str) -> bool:
        """Return whether ``kinds`` may give a column this kind: one that is counted by value."""
        return kind not in words() or words()[kind].coded

    def _counted_as(self) -> tuple[Any, ...] | None:
        """Return what is counted, with which bins: the pairs or the triples of all columns."""
        counted = self._counted_subsets
        return None if counted is None else (counted, self.numeric, self.bins, hashable(self.kinds), self.max_memory)

    @abstractmethod
    def _families(
        self, alone: TableCounts, columns: list[NDArray[Any]], rows: Labelled
    ) -> FamilyKind | Families | FamilyCounts:
        """Return the families to count, given the first table, or their counts where they were needed to choose."""

    @abstractmethod
    def _structure(self, counts: FamilyCounts) -> Structure:
        """Return the structure chosen from the counts."""

    def _count(self, rows: Labelled, schema: Schema | None, before: FamilyCounts | None = None) -> FamilyCounts:
        alone, columns = self._coded(rows, schema)
        families: FamilyKind | Families | FamilyCounts
        if before is not None:
            families = before.kind if before.kind != "given" else before.families
        else:
            warn_of_empty_columns(alone.schema)
            families = self._families(alone, columns, rows)
        if isinstance(families, FamilyCounts):
            return families
        # Counts in memory: of the rows to remove, of all rows and of the rest; a plan only names families.
        beside = 2.0 * before.cells.nbytes if isinstance(before, FamilyCounts) else 0.0
        return FamilyCounts.of(alone, columns, rows.y, families, rows.weight, self._limit, beside)

    def _add(self, before: FamilyCounts | RunningFamilies, rows: Labelled) -> RunningFamilies:
        if isinstance(before, FamilyCounts):
            before = RunningFamilies(before, before.alone)
        alone, columns = self._coded(rows, before.schema)
        return before.plus(alone, columns, rows.y, rows.weight, self._limit)

    def _passes(self, plan: Plan) -> Generator[Pass, Any, FamilyCounts]:
        asked = self._families_of_scan(plan)
        return (yield counting(plan.with_families(asked))).counts  # type: ignore[no-any-return]

    def _families_of_scan(self, plan: Plan) -> FamilyKind | Families:
        """Return the families to count where they do not depend on the rows."""
        assert self._counted_subsets is not None
        return self._counted_subsets

    def _plus(self, ours: FamilyCounts, theirs: FamilyCounts) -> FamilyCounts:
        return ours.plus(theirs, self._limit)

    @property
    def _limit(self) -> MemoryLimit:
        return MemoryLimit(read_memory(self.max_memory), self._bytes_made)

    def _bytes_made(self, sizes: Sequence[int], n_classes: int, families: str | Sequence[Sequence[int]]) -> float:
        """Return how many bytes the model takes besides its counts; with all pairs counted, the structure is a tree."""
        cells: float = table_cells(sizes, families)[1]
        weights = cells * n_classes * 8 if self.class_weight is not None else 0.0
        if isinstance(families, str):
            pairs = [a * max((b for i, b in enumerate(sizes) if i != j), default=1) for j, a in enumerate(sizes)]
            cells = sum(pairs) - min(pairs, default=0)  # the root has no parent
        # Of each cell the count with the parents first, a logarithm that can be read, and one that the kernel reads,
        # which has room for two classes or for fours of them.
        lanes = 2 if n_classes <= 2 else -(-n_classes // 4) * 4
        return weights + 8.0 * cells * (2 * n_classes + lanes)

    def _coded(self, rows: Labelled, schema: Schema | None) -> tuple[TableCounts, list[NDArray[Any]]]:
        """Return the counts of single columns, and the columns as codes."""
        table = (rows.source, rows.y, rows.classes, rows.weight)
        return learn_coded_counts(*table, self._checked_kinds(), self.numeric, self.bins, schema)

    def _checked_kinds(self) -> Any:
        kinds = self.kinds
        said = kinds.values() if isinstance(kinds, dict) else [kinds]
        for kind in said:
            if kind is not None and not self._takes_kind(kind):
                raise TableError(
                    f"kinds says '{kind}', but {type(self).__name__} counts values: numbers are put into bins. "
                    f"Use one of {', '.join(METHODS)}, or 'categorical'."
                )
        return kinds

    def _frozen_by(self, schema: Schema) -> frozenset[str]:
        structure = frozenset([self._frozen]) if self._frozen else frozenset[str]()
        return super()._frozen_by(schema) | structure

    def _check(self, counts: FamilyCounts) -> None:
        factor = class_factors(counts.n_class, counts.classes, self.class_weight)
        class_prior(counts.n_class * factor, self.prior, self.smoothing, counts.classes)

    def _believe(self, counts: FamilyCounts) -> Any:
        families = self._structure(counts).families
        smooth = self.unseen == "smooth"
        return FamilyBeliefs(self._weighted(counts), families, self.smoothing, smooth, prior=self.prior)

    def _weighted(self, counts: FamilyCounts) -> FamilyCounts:
        """Return the counts with the weights of the classes, which apply when counts become probabilities."""
        if self.class_weight is None:
            return counts
        return counts.weighted(class_factors(counts.n_class, counts.classes, self.class_weight))

    # -- reading the model ------------------------------------------------------------------------------------------

    @property
    def structure_(self) -> Any:
        """The parents of each feature besides the class."""
        model = self._now()
        families = {members[-1]: members[:-1] for members in model._beliefs.families}
        parents = tuple(families.get(j) for j in range(len(model.schema_)))
        return Structure(model.schema_.names, parents, model._class_name)

    @property
    def _class_name(self) -> str:
        name = self.target_ or "class"
        while name in self.schema_.names:
            name += "_"
        return name

    @property
    def class_prior_(self) -> NDArray[np.float64]:
        """P(c)."""
        return np.asarray(np.exp(self._beliefs.log_prior))

    @property
    def tables_(self) -> dict[str, NamedTable]:
        """P(x | parents, c) of each feature; a column is a class, or a class and the values of the parents."""
        model = self._now()
        beliefs, schema, classes = model._beliefs, model.schema_, model.classes_.tolist()
        extra = ("(unseen)",) if beliefs.smooth else ()
        tables = {}
        for members, table in zip(beliefs.families, beliefs.log_tables, strict=True):
            name, parents = schema.names[members[-1]], members[:-1]
            given = [(*schema[j].values, *extra) for j in parents]
            columns = tuple(product(classes, *given)) if parents else tuple(classes)
            title = f"P({name} | {', '.join([model._class_name, *(schema.names[j] for j in parents)])})"
            values = np.exp(np.moveaxis(table, (-2, -1), (0, 1))).reshape(table.shape[-2], -1)
            tables[name] = NamedTable(title, (*schema[members[-1]].values, *extra)[: len(values)], columns, values)
        return tables

    @property
    def n_parameters_(self) -> int:
        """The number of free parameters."""
        model = self._now()
        sizes, n_classes = sizes_of(model.schema_), len(model.classes_)
        free = sum(
            prod(sizes[j] for j in members[:-1]) * max(0, sizes[members[-1]] - 1) for members in model._beliefs.families
        )
        prior = model._believed_with["prior"]
        learned = isinstance(prior, str) and prior != "uniform"
        return int(n_classes * free + (n_classes - 1 if learned else 0))

    def to_network(self) -> BayesianNetwork:
        """Return the Bayesian network that the classifier is; the class comes first among the parents.

        It can be drawn, queried and written as BIF, and answers rows with missing cells as `predict_proba` does. With
        ``unseen="smooth"`` each column has one more state, "(unseen)".
        """
        model = self._now()
        return family_network(model._beliefs, model._class_name, model.classes_)

    def _used_cells(self, X: Any) -> NDArray[np.bool_]:
        """Return which cells are used, (n_rows, n_features): not missing or unseen, in a column that is used."""
        model = self._now()
        columns = model._encode(X)
        used = np.zeros((len(columns[0]), len(columns)), dtype=bool)
        for j in model._columns_used():
            n_values, column = model.schema_[j].n_values, columns[j]
            unseen = (column >= n_values) & (column != missing_code(column.dtype))
            used[:, j] = (column < n_values) | (unseen & (model.unseen == "smooth") & (n_values > 0))
        return used

    def sample_columns(self, n_rows: int, rng: np.random.Generator) -> list[NDArray[Any]]:
        """Return rows drawn from P(x), one column of values per feature: a class, then each feature given its parents.

        A numeric column gives one number of a bin. A feature that is not used, or never had a value, is None.
        """
        model = self._now()
        codes = model._sample_codes(n_rows, rng)
        columns = []
        for domain, drawn in zip(model.domains(), codes, strict=True):
            column = np.full(n_rows, None, dtype=object)
            known = np.flatnonzero(drawn >= 0)
            column[known] = as_column(domain.values)[drawn[known]]
            columns.append(column)
        return columns

    def _sample_codes(self, n_rows: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
        return sample_families(self._beliefs, n_rows, rng)

    def _columns_used(self) -> list[int]:
        return [members[-1] for members in self._beliefs.families]

    def _summary(self) -> Summary:
        known = np.array([self.counts_.column(j).sum() for j in range(len(self.schema_))])
        missing = 1.0 - known / self.counts_.alone.n_rows
        return summarise(self, np.asarray(self.counts_.n_class), missing, {})

    def _log_posterior_left_out(self, rows: list[NDArray[Any]], left: LeftOut) -> NDArray[np.float64]:
        log_posterior: NDArray[np.float64] = self._beliefs.leave_one_out(rows, left.y, left.weight)
        return log_posterior
