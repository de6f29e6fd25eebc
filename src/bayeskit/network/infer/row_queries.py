"""Posteriors of whole tables, in which any cells may be missing; mixed into `BayesianNetwork`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Never, cast, overload

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import RowPosterior, n_threads
from bayeskit.counts.memory import Memory
from bayeskit.defaults import MAX_MEMORY, NETWORK_UNSEEN
from bayeskit.errors import ImpossibleEvidenceError, NetworkError, TooLargeError
from bayeskit.network.cases import read_cases
from bayeskit.network.infer.evidence import Evidence
from bayeskit.network.infer.exact import ExactEngine, memory_in_bytes
from bayeskit.network.infer.tree_size import LargeTablesError, refuse_large
from bayeskit.table.column import missing_code

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

Impossible = Literal["error", "prior"]
Unseen = Literal["error", "ignore"]


class RowQueries:
    """Queries about each row of a table."""

    @cached_property
    def _engine(self) -> ExactEngine:
        return ExactEngine(cast("BayesianNetwork", self))

    @overload
    def posterior_rows(
        self,
        table: Any,
        variables: str,
        *,
        impossible: Impossible = "error",
        unseen: Unseen = NETWORK_UNSEEN,
        max_memory: Memory = MAX_MEMORY,
    ) -> NDArray[np.float64]: ...

    @overload
    def posterior_rows(
        self,
        table: Any,
        variables: list[str] | tuple[str, ...] | None = None,
        *,
        impossible: Impossible = "error",
        unseen: Unseen = NETWORK_UNSEEN,
        max_memory: Memory = MAX_MEMORY,
    ) -> dict[str, NDArray[np.float64]]: ...

    def posterior_rows(
        self,
        table: Any,
        variables: str | list[str] | tuple[str, ...] | None = None,
        *,
        impossible: Impossible = "error",
        unseen: Unseen = NETWORK_UNSEEN,
        max_memory: Memory = MAX_MEMORY,
    ) -> NDArray[np.float64] | dict[str, NDArray[np.float64]]:
        """Return P(variable | the row's known cells) for each row of a table of cases.

        A known cell of such a variable is evidence too, so its posterior is certain; `predict_proba` leaves it out.

        Parameters
        ----------
        table : any table
            Columns are found by name and read as the network's schema says; variables without a column are missing.
        variables : str or list of str, optional
            The variables asked about; by default all.
        impossible, unseen, max_memory
            As for `predict_proba`.

        Returns
        -------
        float64 array of shape (n_rows, n_states), or a dict of them
            The array for one variable that is given by its name; a dict of name to array otherwise.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> net = BayesianNetwork("rain->wet", tables={"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.1, 0.9]]})
        >>> net.posterior_rows({"wet": ["yes", None]}, "rain")
        array([[0.30769231, 0.69230769],
               [0.8       , 0.2       ]])
        """
        net = cast("BayesianNetwork", self)
        names = list(net.names) if variables is None else [variables] if isinstance(variables, str) else list(variables)
        places = [net.index(name) for name in names]
        parts = _posteriors(
            self._engine, table, places, with_targets=True, impossible=impossible, unseen=unseen, max_memory=max_memory
        )
        return parts[0] if isinstance(variables, str) else dict(zip(names, parts, strict=True))

    def predict_proba(
        self,
        table: Any,
        target: str | None = None,
        *,
        impossible: Impossible = "error",
        unseen: Unseen = NETWORK_UNSEEN,
        max_memory: Memory = MAX_MEMORY,
    ) -> NDArray[np.float64]:
        """Return P(target | the other cells) for each row of a table; the target's own column is not read.

        A missing cell is summed out. Where the cells of the target's Markov blanket are known, they determine the
        answer.

        Parameters
        ----------
        table : any table
            Columns are found by name and read as the network's schema says: numbers fall into bins. Variables without
            a column are missing. A list of code columns, one per variable, is read in place.
        target : str, optional
            The variable to predict; unless given it is the network's own `target`, the class of the classifier that
            the network comes from.
        impossible : {"error", "prior"}
            What to do with a row that has probability 0 under the network: raise an error, or return the prior.
        unseen : {"error", "ignore"}
            What to do with a value that is not a state: raise an error, or treat the cell as missing.
        max_memory : number of bytes or str, default "4 GiB"
            The largest memory for the tables of the exact engine; more is an error, raised before any is made.

        Returns
        -------
        float64 array of shape (n_rows, n_states)

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> net = BayesianNetwork("rain->wet", tables={"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.1, 0.9]]})
        >>> net.predict_proba({"rain": ["no", "no"], "wet": ["yes", None]}, "rain")
        array([[0.30769231, 0.69230769],
               [0.8       , 0.2       ]])
        """
        net = cast("BayesianNetwork", self)
        if target is None and net.target is None:
            raise NetworkError("predict_proba needs a target: this network was made without one; name a variable.")
        places = [net.index(net.target if target is None else target)]
        return _posteriors(
            self._engine,
            table,
            places,
            with_targets=False,
            impossible=impossible,
            unseen=unseen,
            max_memory=max_memory,
        )[0]


def _posteriors(
    engine: ExactEngine,
    table: Any,
    targets: list[int],
    *,
    with_targets: bool,
    impossible: Impossible,
    unseen: Unseen,
    max_memory: Memory,
) -> list[NDArray[np.float64]]:
    """Return P(target | the row's known cells) for each target, (n_rows, n_states) each.

    With ``with_targets`` the known cell of a target is evidence too; without, it is not read.
    """
    check_words(impossible, unseen)
    net, limit = engine.net, memory_in_bytes(max_memory)
    wanted = set(range(len(net.names))) - (set() if with_targets else set(targets))
    # The engine takes every code that is no state as missing.
    keep: Literal["error", "keep"] = "keep" if unseen == "ignore" else "error"
    cases = read_cases(net.schema, net.states, table, variables=wanted, absent="none", unseen=keep)
    columns = {
        v: column
        for v, column in enumerate(cases.columns)
        if column is not None and v in wanted and not (column == missing_code(column.dtype)).all()
    }
    rows = _row_posterior(engine, targets, list(columns), cases.n_rows, limit)
    if not columns:
        prior = [engine.single(v, Evidence(), limit)[0] for v in targets]
        return [np.repeat(p[None, :], cases.n_rows, axis=0) for p in prior]
    cells = cases.n_rows * (len(columns) + 16)
    flat, bad, large = rows.run(list(columns.values()), limit / 8.0, n_threads(cells))
    if large >= 0:
        known = [v for v, column in columns.items() if column[large] < net.cards[v]]
        _refuse_large_row(engine, large, targets, known, limit)
    cuts = np.cumsum([net.cards[v] for v in targets])[:-1]
    parts = np.split(flat, cuts, axis=1)
    if bad:
        if impossible == "error":
            raise ImpossibleEvidenceError(
                f"row {bad[0]}: its cells cannot occur together under this network. Pass impossible='prior' to give "
                f"such rows ({len(bad)} here) the prior."
            )
        for v, part in zip(targets, parts, strict=True):
            part[bad] = engine.single(v, Evidence(), limit)[0]
    return parts


def check_words(impossible: str, unseen: str) -> None:
    """Refuse words that are no options."""
    if impossible not in ("error", "prior"):
        raise NetworkError(f"impossible must be 'error' or 'prior'; got {impossible!r}.")
    if unseen not in ("error", "ignore"):
        raise NetworkError(f"unseen must be 'error' or 'ignore'; got {unseen!r}.")


def _row_posterior(
    engine: ExactEngine, targets: list[int], columns: list[int], n_rows: int, limit: float
) -> RowPosterior:
    """Return the row engine, with an optimised tree if there are enough rows or the first tree does not fit."""
    rows = RowPosterior(engine.tree(), targets, columns)
    if not engine.is_searched():
        engine.tree(n_rows * rows.cost)
        if rows.stored * 8.0 > limit:
            engine.compile()
        if engine.is_searched():
            rows = RowPosterior(engine.native, targets, columns)
    if rows.stored * 8.0 > limit:
        raise TooLargeError(
            f"the exact answers need {rows.stored * 8.0:,.0f} bytes of memory at once, over the limit of {limit:,.0f}. "
            "Pass a larger max_memory."
        )
    return rows


def _refuse_large_row(engine: ExactEngine, row: int, targets: list[int], known: list[int], limit: float) -> Never:
    """Raise the error for a row whose tables do not fit, with what would do for it."""
    one = len(targets) == 1 and targets[0] not in known
    plan = engine.native.joint(targets, known, [], False) if one else engine.native.marginals(known)
    name = engine.net.names[targets[0]]
    fewer = "" if one else f"Ask for one variable at a time: posterior_rows(table, {name!r}). "
    advice = (
        f"{fewer}Rows with more known cells need less. posterior({name!r}, given={{…}}, method='weighting') samples "
        "the answer for the cells of one row."
    )
    try:
        names = engine.factored.names
        refuse_large(names, plan, limit)
        refuse_large(names, plan, limit, n_bytes=16)  # numbers beyond doubles, which take twice the memory
    except LargeTablesError as error:
        raise LargeTablesError(f"row {row}: {error.needs}", advice) from None
    raise AssertionError("the row engine refused a row that fits")
