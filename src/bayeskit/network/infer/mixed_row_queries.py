"""Posteriors of whole tables under a mixed network, in which any cells may be missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.memory import Memory
from bayeskit.defaults import MAX_MEMORY, NETWORK_UNSEEN
from bayeskit.errors import ImpossibleEvidenceError, NetworkError, TableError
from bayeskit.network.cases import read_cases
from bayeskit.network.infer.exact import memory_in_bytes
from bayeskit.network.infer.incomplete_rows import Block, IncompleteRows
from bayeskit.network.infer.row_queries import Impossible, Unseen, check_words
from bayeskit.table.encode import as_numbers
from bayeskit.table.read import read_table

if TYPE_CHECKING:
    from bayeskit.network.mixed import MixedNetwork

Floats = NDArray[np.float64]


class MixedRowQueries:
    """Queries of a mixed network about each row of a table."""

    def _read_rows(
        self, table: Any, *, absent: Literal["error", "none"] = "error", unseen: Literal["error", "keep"] = "error"
    ) -> tuple[dict[str, NDArray[Any]], dict[int, Floats], int]:
        """Return the codes of discrete variables, the numbers of real ones (NaN where missing), and the rows."""
        net = cast("MixedNetwork", self)
        source = read_table(table, min_rows=0)
        if not source.named:
            raise TableError("a network with real variables reads columns by name: give a frame or a dict of columns.")
        lacking = [name for name in net.names if name not in source.names]
        if lacking and absent == "error":
            raise TableError(f"the table has no column {lacking[0]!r}.")
        if len(lacking) == len(net.names):
            raise TableError(f"the table has no column of the network; its variables are {', '.join(net.names[:5])} ….")
        discrete, n = net._discrete, source.n_rows
        codes: dict[str, NDArray[Any]] = {}
        if discrete is not None:
            read: Sequence[NDArray[Any] | None] = [None] * len(discrete.names)
            if not set(discrete.names) <= set(lacking):
                read = read_cases(discrete.schema, discrete.states, table, absent="none", unseen=unseen).columns
            for name, card, column in zip(discrete.names, discrete.cards, read, strict=True):
                codes[name] = np.full(n, card, dtype=np.int64) if column is None else column
        numbers = {}
        for v in net._gaussian:
            name = net.names[v]
            numbers[v] = (
                np.full(n, np.nan)
                if name in lacking
                else np.asarray(as_numbers(source.column(source.names.index(name)), name, "gaussian"), dtype=np.float64)
            )
        return codes, numbers, n

    def _incomplete(self, table: Any, wanted: Any = None, **options: Any) -> IncompleteRows:
        """Return the rows of a table with the marks of their missing cells."""
        net = cast("MixedNetwork", self)
        codes, numbers, n = self._read_rows(table, **options)
        marked = {}
        for name, column in codes.items():
            v = net.index(name)
            marked[v] = np.where(column < net.cards[v], column, 0).astype(np.int64)
            marked[v][column >= net.cards[v]] = -1
        return IncompleteRows(net, marked, numbers, n, wanted)

    def posterior_rows(
        self,
        table: Any,
        variables: str | list[str] | tuple[str, ...] | None = None,
        *,
        impossible: Impossible = "error",
        unseen: Unseen = NETWORK_UNSEEN,
        max_memory: Memory = MAX_MEMORY,
    ) -> Floats | dict[str, Floats]:
        """Return the distribution of variables given the known cells of each row.

        Parameters
        ----------
        table, impossible, unseen, max_memory
            As for any network.
        variables : str or list of str, optional
            The variables asked about; by default all.

        Returns
        -------
        float64 array of shape (n_rows, n_states), or a dict of them
            Of a real variable the shape is (n_rows, 2): its mean and its standard deviation.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> from bayeskit.network import LinearGaussian
        >>> net = BayesianNetwork("x->y", tables={"x": LinearGaussian(), "y": LinearGaussian(sd=1, x=1)})
        >>> net.posterior_rows({"y": [0.0, 2.0, None]}, "x").round(4)
        array([[0.    , 0.7071],
               [1.    , 0.7071],
               [0.    , 1.    ]])
        """
        net = cast("MixedNetwork", self)
        names = list(net.names) if variables is None else [variables] if isinstance(variables, str) else list(variables)
        parts = self._of_rows(table, [net.index(name) for name in names], False, impossible, unseen, max_memory)
        return parts[0] if isinstance(variables, str) else dict(zip(names, parts, strict=True))

    def predict_proba(
        self,
        table: Any,
        target: str | None = None,
        *,
        impossible: Impossible = "error",
        unseen: Unseen = NETWORK_UNSEEN,
        max_memory: Memory = MAX_MEMORY,
    ) -> Floats:
        """Return P(target | the other cells) of a discrete variable for each row; its own column is not read.

        Missing cells are summed out and integrated out, exactly.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> from bayeskit.network import ConditionalGaussian, LinearGaussian
        >>> heights = ConditionalGaussian({"f": LinearGaussian(mean=166, sd=6), "m": LinearGaussian(mean=179, sd=7)})
        >>> net = BayesianNetwork("sex{f|m}->height", tables={"sex": [0.5, 0.5], "height": heights})
        >>> net.predict_proba({"height": [160, 175, None]}, "sex").round(3)
        array([[0.966, 0.034],
               [0.308, 0.692],
               [0.5  , 0.5  ]])
        """
        net = cast("MixedNetwork", self)
        if target is None and net.target is None:
            raise NetworkError("predict_proba needs a target: this network was made without one; name a variable.")
        place = net.index(target or net.target)
        if place in net._gaussian:
            raise NetworkError(
                f"predict_proba is about a discrete variable; {target!r} is real: posterior_rows gives mean and sd."
            )
        return self._of_rows(table, [place], True, impossible, unseen, max_memory)[0]

    def _of_rows(
        self, table: Any, wanted: list[int], unread: bool, impossible: Impossible, unseen: Unseen, max_memory: Memory
    ) -> list[Floats]:
        """Return the answer of each variable, one row per row of the table."""
        check_words(impossible, unseen)
        memory_in_bytes(max_memory)
        net = cast("MixedNetwork", self)
        rows = self._incomplete(table, wanted, absent="none", unseen="keep" if unseen == "ignore" else "error")
        if unread:
            rows = rows.without(wanted)
        out = [np.zeros((rows.n_rows, net.cards[v] or 2)) for v in wanted]
        for block in rows.blocks(net.cpds):
            bad = block.rows[np.isneginf(block.log_evidence)]
            if len(bad) and impossible == "error":
                raise ImpossibleEvidenceError(
                    f"row {bad.min()}: its cells cannot occur together under this network. Pass impossible='prior' to "
                    "give such rows the prior."
                )
            for part, v in zip(out, wanted, strict=True):
                part[block.rows] = _moments(block, v) if v in net._gaussian else _shares(block, v, net.cards[v])
                for row in bad:
                    part[row] = self._prior(v)
        return out

    def _prior(self, v: int) -> Any:
        net = cast("MixedNetwork", self)
        answer: Any = net.posterior(net.names[v])
        return (answer.mean, answer.sd) if v in net._gaussian else answer.array


def _shares(block: Block, v: int, card: int) -> Floats:
    """Return the probability of each state in each row."""
    n = len(block.rows)
    row = np.repeat(np.arange(n), len(block.weight) // n)
    flat = np.bincount(row * card + block.codes[v], weights=block.weight, minlength=n * card)
    return np.asarray(flat.reshape(n, card))


def _moments(block: Block, v: int) -> Floats:
    """Return the mean and the standard deviation in each row."""
    n = len(block.rows)
    weight, each = block.weight.reshape(n, -1), block.numbers[v].reshape(n, -1)
    mean = (weight * each).sum(axis=1)
    variance = (weight * (each - mean[:, None]) ** 2).sum(axis=1)
    if v in block.missing:
        k = block.missing.index(v)
        variance += (weight * block.covariance[block.cell, k, k].reshape(n, -1)).sum(axis=1)
    return np.stack([mean, np.sqrt(variance)], axis=1)
