"""Tables from data: `fitted`, `updated`, `merged` and `unlearned`; a mixin of `BayesianNetwork`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.families import Families, FamilyCounts
from bayeskit.counts.memory import Memory, MemoryLimit, read_memory
from bayeskit.counts.moments import Moments
from bayeskit.counts.numbers import NumberCounts
from bayeskit.counts.table import TableCounts, class_codes
from bayeskit.counts.values import ValueCounts
from bayeskit.defaults import MAX_MEMORY, NETWORK_UNSEEN, SMOOTHING
from bayeskit.errors import MergeError, NetworkError, TableError
from bayeskit.estimate.history import History
from bayeskit.network.cases import read_cases
from bayeskit.network.learn.flat_tables import FlatTables
from bayeskit.network.learn.form_fitting import count_forms, fit_by_em, has_forms
from bayeskit.network.learn.hidden_rows import HiddenRows
from bayeskit.network.learn.pseudo_counts import as_prior, estimate
from bayeskit.network.learn.table_em import learn_by_em
from bayeskit.network.learn.table_gradient import learn_by_gradient
from bayeskit.network.states import schema_of
from bayeskit.progress import Progress
from bayeskit.table.labels import read_weight
from bayeskit.table.scan.pieces import PieceReader, Scan
from bayeskit.table.schema import Schema

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

Missing = Literal["available-case", "em", "gradient"]
_WAYS = get_args(Missing)
# The memory for tables of counts unless the caller says otherwise.
MAX_BYTES = read_memory(MAX_MEMORY)


@dataclass(frozen=True, eq=False)
class Learned:
    """How the tables of a network were learned: counts and smoothing, or the history of EM or gradient ascent."""

    counts: FamilyCounts | None
    smoothing: Any
    history: History | None = None


class LearnsTables:
    """Learning of tables; the structure is given, and each call returns a new network."""

    _learned: Learned | None = None

    @property
    def counts(self) -> FamilyCounts | None:
        """The counts that the tables were estimated from; None for tables that were given, or found by EM."""
        return None if self._learned is None else self._learned.counts

    @property
    def history(self) -> History | None:
        """The history of EM or gradient ascent; None for other tables."""
        return None if self._learned is None else self._learned.history

    def fitted(
        self,
        table: Any,
        sample_weight: Any = None,
        *,
        smoothing: Any = SMOOTHING,
        missing: Missing = "available-case",
        unseen: Literal["error", "ignore"] = NETWORK_UNSEEN,
        start: Literal["data", "tables"] = "data",
        n_init: int = 1,
        random_state: int = 0,
        tol: float = 1e-6,
        max_iter: int = 500,
        progress: Progress | None = None,
        record: bool = False,
        max_memory: Memory = MAX_MEMORY,
    ) -> BayesianNetwork:
        r"""Return this network with tables estimated from data; this one does not change.

        .. math:: P(k \mid j) = \frac{n_{ijk} + α_{ijk}}{\sum_k (n_{ijk} + α_{ijk})}

        A noisy-OR or another form stays one: links and leaks are found by EM over the hidden effects (pseudo-counts
        are those of each effect), tree tables by their leaves, logistic weights with λ as the precision of a normal
        prior. Such a network keeps no counts.

        Parameters
        ----------
        table : any table
            Columns are found by name; missing cells are allowed. A table of any size (:func:`bayeskit.scan`) is counted
            batch by batch.
        sample_weight : array of shape (n_rows,), optional
            The weight of each row; for a scan, the name of the column that holds the weights.
        smoothing : number or object, default 1
            The pseudo-counts α: a number is λ (0 is maximum likelihood), or a `Lidstone`, `MEstimate`, `BDeu` or
            `Dirichlet` object.
        missing : {"available-case", "em", "gradient"}
            With missing cells: count each family in the rows where it is known, or maximise the likelihood of the
            known cells (times the prior) by EM or by gradient ascent. A variable without a column is hidden.
        unseen : {"error", "ignore"}
            What to do with a value that is not a state: raise an error, or treat the cell as missing.
        start : {"data", "tables"}
            Where "em" and "gradient" begin: at the tables that the known cells give, or at those of this network.
        n_init : int, default 1
            The number of starts of "em" and "gradient"; all but the first are random, and the best result is kept.
        random_state : int
            The seed of the starts.
        tol : float
            They stop when a step improves the objective by less than this per row.
        max_iter : int
            The largest number of steps.
        progress : callable, optional
            Called with a :class:`bayeskit.progress.Step` after each step of "em" and "gradient".
        record : bool, default False
            Whether `history.parameters` keeps the tables before the first step and after each, as lists of arrays.
        max_memory : number of bytes or str
            The largest memory for tables of counts.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> net = BayesianNetwork("rain->wet")
        >>> fitted = net.fitted({"rain": ["no", "yes", "yes"], "wet": ["no", "yes", "no"]}, smoothing=0)
        >>> fitted.tables[1]
        array([[1. , 0. ],
               [0.5, 0.5]])
        """
        if missing not in _WAYS:
            raise NetworkError(f"missing must be one of {', '.join(map(repr, _WAYS))}; got {missing!r}.")
        net, limit = cast("BayesianNetwork", self), read_memory(max_memory)
        if has_forms(net):
            options = {"tol": tol, "max_iter": max_iter, "progress": progress, "record": record}
            return self._fitted_forms(
                table, sample_weight, smoothing, missing, unseen, limit, start=start, n_init=n_init,
                random_state=random_state, options=options,
            )  # fmt: skip
        if missing == "available-case":
            counts = count_families_of(net, table, sample_weight, unseen, limit)
            return from_counts(net, counts, smoothing)
        _check_starts(start, n_init)
        rows = hidden_rows(net, table, sample_weight, smoothing, unseen, limit)
        first = rows.flat.join(net.tables) if start == "tables" else None
        starts = rows.starts(n_init, first, np.random.default_rng(random_state))
        learn = learn_by_em if missing == "em" else learn_by_gradient
        flat, history = learn(rows, starts, tol=tol, max_iter=max_iter, progress=progress, record=record)
        kept = tuple(rows.flat.split(each) for each in history.parameters)
        history = replace(history, parameters=kept)
        return with_tables(net, rows.flat.split(flat), Learned(None, smoothing, history))

    def gradient(self, table: Any, sample_weight: Any = None) -> dict[str, NDArray[np.float64]]:
        r"""Return the gradient of the log-likelihood by each number of each table.

        .. math:: \frac{\partial \ln P(D \mid h)}{\partial w_{ijk}}
                  = \sum_{d \in D} \frac{P(y_{ij}, u_{ik} \mid d)}{w_{ijk}}

        Cells of rows that are missing are inferred. The numbers are taken as free; that those of a row of a table sum
        to 1 is left to whoever takes a step.

        Parameters
        ----------
        table : table
            The rows; missing cells, and variables without a column, are hidden.
        sample_weight : array of shape (n_rows,), optional
            How often each row counts.

        Returns
        -------
        dict of variable to float64 array
            Each of the shape of the variable's table.

        References
        ----------
        Mitchell (1997), Machine Learning, equation 6.25.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> net = BayesianNetwork("rain->wet", tables={"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.1, 0.9]]})
        >>> net.gradient({"rain": ["no", None], "wet": ["no", "yes"]})["rain"].round(6)
        array([1.634615, 3.461538])
        """
        net = cast("BayesianNetwork", self)
        if has_forms(net):
            raise NetworkError("gradient is for networks of tables; a noisy-OR or a density has other parameters.")
        rows = hidden_rows(net, table, sample_weight, 0, "error", read_memory(MAX_MEMORY))
        tables = rows.flat.join(net.tables)
        counts, _ = rows.expect(tables)
        return dict(zip(net.names, rows.flat.split(rows.gradient(tables, counts)), strict=True))

    def _fitted_forms(
        self,
        table: Any,
        sample_weight: Any,
        smoothing: Any,
        missing: Missing,
        unseen: str,
        limit: float,
        *,
        start: str,
        n_init: int,
        random_state: int,
        options: dict[str, Any],
    ) -> BayesianNetwork:
        """Return the network with its forms kept: a noisy-OR stays one, with other numbers."""
        net, history = cast("BayesianNetwork", self), None
        if missing == "gradient":
            raise NetworkError("gradient ascent learns full tables; with a noisy-OR or its like pass missing='em'.")
        if isinstance(table, Scan):
            raise TableError("a noisy-OR or its like is learned from rows in memory, not from a scan.")
        columns, weight = read_codes(net, table, sample_weight, unseen, hidden=missing == "em")
        if missing == "available-case":
            cpds = count_forms(net, columns, weight, smoothing, limit)
        else:
            _check_starts(start, n_init)
            cpds, history = fit_by_em(
                net, columns, weight, smoothing, limit, starts=n_init, first=start == "tables",
                random_state=random_state, options=options,
            )  # fmt: skip
        new = net._like(net.names, net.states, net.parents, cpds, net.schema, net.target)
        new._learned = Learned(None, smoothing, history)
        return new

    def updated(
        self, table: Any, sample_weight: Any = None, *, unseen: Literal["error", "ignore"] = NETWORK_UNSEEN
    ) -> BayesianNetwork:
        """Return this network with more rows learned: its counts and those of the rows, with the same smoothing.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> net = BayesianNetwork("rain").fitted({"rain": ["no"]}, smoothing=0)
        >>> net.updated({"rain": ["yes", "yes", "yes"]}).tables[0]
        array([0.25, 0.75])
        """
        net, counts = cast("BayesianNetwork", self), self._counts_to("updated")
        return self._relearned(counts + count_families_of(net, table, sample_weight, unseen))

    def merged(self, other: BayesianNetwork) -> BayesianNetwork:
        """Return the network of the rows of both; variables, states and parents must be the same."""
        net, ours, theirs = cast("BayesianNetwork", self), self._counts_to("merged"), other._counts_to("merged")
        if (net.names, net.states, net.parents) != (other.names, other.states, other.parents):
            raise MergeError("the two networks differ in variables, states or parents, so their counts do not add.")
        return self._relearned(ours + theirs)

    def unlearned(
        self, table: Any, sample_weight: Any = None, *, unseen: Literal["error", "ignore"] = NETWORK_UNSEEN
    ) -> BayesianNetwork:
        """Return this network without rows that were learned before; counts are then those of the other rows."""
        net, counts = cast("BayesianNetwork", self), self._counts_to("unlearned")
        return self._relearned(counts - count_families_of(net, table, sample_weight, unseen))

    def _counts_to(self, what: str) -> FamilyCounts:
        if self.counts is None:
            raise NetworkError(
                f"{what} needs a network with counts: one that fitted() made with missing='available-case'. "
                "Tables that were given, or found by EM or gradient ascent, have none."
            )
        return self.counts

    def _relearned(self, counts: FamilyCounts) -> BayesianNetwork:
        return from_counts(cast("BayesianNetwork", self), counts, cast(Learned, self._learned).smoothing)


def _check_starts(start: str, n_init: int) -> None:
    if start not in ("data", "tables") or n_init < 1:
        raise NetworkError(f"start must be 'data' or 'tables' and n_init at least 1; got {start!r}, {n_init}.")


def families_of(parents: tuple[tuple[int, ...], ...]) -> Families:
    """Return the families with parents, the variable last; a variable alone is counted anyway."""
    return tuple((*above, i) for i, above in enumerate(parents) if above)


def counting_schema(net: BayesianNetwork) -> Schema:
    """Return the schema that rows are counted under: all states are declared, so none is dropped."""
    if any(variable.n_values != card for variable, card in zip(net.schema, net.cards, strict=True)):
        return schema_of(net.names, net.states)  # one state more than values, for those that training did not show
    return net.schema.with_variables(replace(variable, declared=True) for variable in net.schema)


def read_codes(
    net: BayesianNetwork, table: Any, sample_weight: Any, unseen: str, *, hidden: bool = False
) -> tuple[list[NDArray[Any]], NDArray[np.float64] | None]:
    """Return one column of codes per variable, and the weights; with ``hidden`` a variable may lack a column."""
    if unseen not in ("error", "ignore"):
        raise NetworkError(f"unseen must be 'error' or 'ignore'; got {unseen!r}.")
    cases = read_cases(
        net.schema, net.states, table, absent="none" if hidden else "error",
        unseen="keep" if unseen == "ignore" else "error",
    )  # fmt: skip
    if not cases.n_rows:
        raise TableError("the table has no rows, so there is nothing to learn from.")
    columns = [np.full(cases.n_rows, 255, dtype=np.uint8) if c is None else c for c in cases.columns]
    weight = read_weight(sample_weight, cases.n_rows)
    if weight is not None and not weight.all():
        kept = np.flatnonzero(weight)
        columns, weight = [column[kept] for column in columns], np.ascontiguousarray(weight[kept])
    return columns, weight


def count_families_of(
    net: BayesianNetwork, table: Any, sample_weight: Any, unseen: str, limit: float = MAX_BYTES
) -> FamilyCounts:
    """Count each family of the network in the rows without missing cells in it."""
    if isinstance(table, Scan):
        return _count_scan(net, table, sample_weight, unseen, limit)
    columns, weight = read_codes(net, table, sample_weight, unseen)
    return count_columns(counting_schema(net), columns, weight, families_of(net.parents), limit)


def _count_scan(net: BayesianNetwork, scan: Scan, weight: Any, unseen: str, limit: float) -> FamilyCounts:
    if weight is not None and not isinstance(weight, str):
        raise TableError(f"for a scan sample_weight must be the name of a column; got {type(weight).__name__}.")
    read = scan.select([*net.names, *([] if weight is None else [weight])])
    counts = read.run(_CountBatches(net, weight, unseen, limit), _plus, scan.progress)
    if counts is None:
        raise TableError(f"{scan.shown} has no rows, so there is nothing to learn from.")
    return counts


def _plus(ours: FamilyCounts | None, theirs: FamilyCounts | None) -> FamilyCounts | None:
    return theirs if ours is None else ours if theirs is None else ours + theirs


@dataclass(frozen=True)
class _CountBatches:
    """Counts the batches of some pieces, wherever they are read."""

    net: BayesianNetwork
    weight: str | None
    unseen: str
    limit: float

    def __call__(self, readers: Iterable[PieceReader]) -> FamilyCounts | None:
        import pyarrow as pa

        counts: FamilyCounts | None = None
        for reader in readers:
            for batch in reader:
                if not batch.num_rows:
                    continue
                table = pa.Table.from_batches([batch])
                weight = None if self.weight is None else table[self.weight].to_numpy()
                if weight is None or weight.any():
                    counts = _plus(counts, count_families_of(self.net, table, weight, self.unseen, self.limit))
        return counts


def count_columns(
    schema: Schema, columns: list[NDArray[Any]], weight: NDArray[np.float64] | None, families: Families, limit: float
) -> FamilyCounts:
    """Count coded columns without a class."""
    y = class_codes(None, len(columns[0]))
    values = ValueCounts.of(columns, [variable.n_values for variable in schema], y, 1, weight)
    none = NumberCounts.none(0, 1, values.n_value.dtype)
    alone = TableCounts(schema, None, values, Moments.of([], y, 1), none)
    return FamilyCounts.of(alone, columns, None, families, weight, MemoryLimit(limit))


def from_counts(net: BayesianNetwork, counts: FamilyCounts, smoothing: Any) -> BayesianNetwork:
    """Return the network with the tables that its counts give."""
    prior = as_prior(smoothing)
    tables = []
    for i, above in enumerate(net.parents):
        n = counts.table((*above, i))
        tables.append(estimate(n, prior.pseudo_counts(net.names[i], n.shape)))
    return with_tables(net, tables, Learned(counts, smoothing))


def with_tables(net: BayesianNetwork, tables: list[NDArray[np.float64]], learned: Learned) -> BayesianNetwork:
    """Return the network with other tables."""
    new = type(net).from_tables(net.names, net.states, net.parents, tables, schema=net.schema, target=net.target)
    new._learned = learned
    return new


def hidden_rows(
    net: BayesianNetwork, table: Any, sample_weight: Any, smoothing: Any, unseen: str, limit: float
) -> HiddenRows:
    """Return rows whose missing cells are summed out under the network's structure."""
    if isinstance(table, Scan):
        raise TableError(
            "EM and gradient ascent read the rows many times, so they need a table in memory; for a scan pass "
            "missing='available-case'."
        )
    columns, weight = read_codes(net, table, sample_weight, unseen, hidden=True)
    flat = FlatTables(net.names, net.cards, net.parents)
    return HiddenRows(flat, columns, weight, as_prior(smoothing), limit)
