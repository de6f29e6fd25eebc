"""Dynamic Bayesian networks: a network that repeats from slice to slice, asked without unrolling it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitError, NetworkError, TableError
from bayeskit.estimate.em import expectation_maximisation
from bayeskit.estimate.history import History
from bayeskit.explain.model_summary import ModelSummary
from bayeskit.io.model_files import save
from bayeskit.learn.parameters import at_least, require_whole
from bayeskit.network.cases import read_cases
from bayeskit.network.learn.pseudo_counts import as_prior, estimate
from bayeskit.network.network import BayesianNetwork
from bayeskit.network.states import schema_of
from bayeskit.progress import Progress
from bayeskit.result import Result
from bayeskit.sequence.interface import Actions, Interface
from bayeskit.sequence.network_slices import ktbn_of, network_of, template_of
from bayeskit.sequence.rows import Layout, Sequences, read_sequences
from bayeskit.sequence.slice_counts import SliceCounts, count_slices, expected_slices
from bayeskit.sequence.slice_posteriors import SlicePosteriors
from bayeskit.sequence.slices import Template, read_template
from bayeskit.sequence.template_parts import template_from_parts, template_parts
from bayeskit.sequence.transition_structure import at, learn_transition, slice_windows
from bayeskit.table.names import not_found

Matrix = NDArray[np.float64]


class DynamicNetwork(Result):
    r"""A Bayesian network over time: each slice depends on itself and on the slices before it.

    .. math:: P(x_{0:T}) = P(x_{0:k-1}) \prod_{t \ge k} \prod_i P(x_{i,t} \mid \mathrm{parents}_i),
              \qquad \text{parents in the slices } t - k, \ldots, t

    Questions are answered exactly by the interface algorithm on the engine of :class:`~bayeskit.BayesianNetwork`: the
    network of one slice is compiled once, and a message over the variables that the next slice depends on goes from
    slice to slice. Evidence is a table: rows are times, cells may be missing, a variable without a column is hidden.
    A dynamic network is a value: ``fitted`` returns another one.

    Parameters
    ----------
    structure : str or list of arcs
        Such as ``"weather[t-1]->weather[t]; weather[t]->umbrella[t]"``.
    states : dict of variable to states, optional
        By default as the tables show them, or "no" and "yes".
    tables : dict, optional
        ``"weather[0]"`` for the first slice and ``"weather[t]"`` for later ones, parents first, in the order of the
        arcs; or a form such as `NoisyOr` or `Logistic`. A variable whose parents all exist in a first slice needs no
        table there. Without any, all are uniform.

    Attributes
    ----------
    names : tuple of str
        The variables of a slice.
    states : dict of variable to tuple of str
        Their states.
    order : int
        How many slices back parents reach.

    References
    ----------
    Murphy (2002), Dynamic Bayesian Networks: Representation, Inference and Learning, PhD thesis, UC Berkeley, section
    3.2.

    Examples
    --------
    >>> from bayeskit import DynamicNetwork
    >>> net = DynamicNetwork(
    ...     "rain[t-1]->rain[t]; rain[t]->umbrella[t]",
    ...     tables={
    ...         "rain[0]": [0.5, 0.5],
    ...         "rain[t]": [[0.7, 0.3], [0.3, 0.7]],
    ...         "umbrella[t]": [[0.8, 0.2], [0.1, 0.9]],
    ...     },
    ... )
    >>> net.filter({"umbrella": ["yes", "yes"]}).of("rain", "yes").round(3)
    array([0.818, 0.883])
    """

    def __init__(
        self, structure: Any, *, states: Mapping[str, Any] | None = None, tables: Mapping[str, Any] | None = None
    ) -> None:
        self._template = read_template(structure, states, tables)
        self._history: History | None = None
        _refuse_structure(self._template)

    @classmethod
    def _of(cls, template: Template, history: History | None = None) -> DynamicNetwork:
        net = cls.__new__(cls)
        net._template, net._history = template, history
        _refuse_structure(template)
        return net

    @property
    def names(self) -> tuple[str, ...]:
        """The variables of a slice."""
        return self._template.names

    @property
    def states(self) -> dict[str, tuple[str, ...]]:
        """The states of each variable."""
        return dict(self._template.states)

    @property
    def order(self) -> int:
        """How many slices back parents reach."""
        return self._template.order

    @property
    def parents(self) -> dict[str, tuple[str, ...]]:
        """The parents of each variable, as they are written: ``weather[t-1]``."""
        return {
            name: tuple(f"{p}[t-{lag}]" if lag else f"{p}[t]" for p, lag in parents)
            for name, parents in self._template.parents.items()
        }

    @property
    def tables(self) -> dict[str, Matrix]:
        """The tables: ``weather[0]`` for first slices, ``weather[t]`` for later ones; parents first."""
        return self._template.tables

    @property
    def history(self) -> History | None:
        """The objective of EM, where the network was fitted to rows with missing cells."""
        return self._history

    def __repr__(self) -> str:
        return f"DynamicNetwork({len(self.names)} variables per slice, order {self.order})"

    def summary(self) -> ModelSummary:
        """Return each variable with its states and what it depends on."""
        parents = self.parents
        lines = [
            f"{name} ({', '.join(states)}): given {', '.join(parents[name]) or 'nothing'}"
            for name, states in self.states.items()
        ]
        facts = {
            "variables": list(self.names),
            "order": self.order,
            "states": {name: list(states) for name, states in self.states.items()},
            "parents": {name: list(each) for name, each in parents.items()},
        }
        title = f"{type(self).__name__}: {len(self.names)} variables per slice, order {self.order}"
        return ModelSummary(title, facts, "\n".join(lines))

    def unrolled(self, n: int) -> BayesianNetwork:
        """Return the Bayesian network of n slices; its variables are ``weather[0]``, ``weather[1]`` and so on."""
        require_whole("n", n)
        return self._template.unrolled(n)

    @classmethod
    def from_network(cls, net: BayesianNetwork) -> DynamicNetwork:
        """Return the dynamic network whose slices a plain network shows, named as pyAgrum names them.

        Either ``x0`` and ``xt``, or ``x[0]``, ``x[1]`` and so on; the last slice is that of every later time.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork, DynamicNetwork
        >>> two = BayesianNetwork("x0->xt", tables={"x0": [0.5, 0.5], "xt": [[0.9, 0.1], [0.2, 0.8]]})
        >>> DynamicNetwork.from_network(two).parents
        {'x': ('x[t-1]',)}
        """
        return cls._of(template_of(net))

    def to_network(self) -> BayesianNetwork:
        """Return what :meth:`from_network` reads: ``x0`` and ``xt``, or ``x[0]``, … where parents are further back."""
        return network_of(self._template)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> DynamicNetwork:
        """Read a network file of any format whose variables are named as in :meth:`from_network`."""
        return cls.from_network(BayesianNetwork.read(path))

    def write(self, path: str | PathLike[str]) -> None:
        """Write a network file of any format, with the names of :meth:`to_network`; .jgum is a KTBN of pyAgrum."""
        as_ktbn = ".jgum" in Path(path).suffixes
        (ktbn_of(self._template) if as_ktbn else self.to_network()).write(path)

    # -- questions --------------------------------------------------------------------------------------------------

    def filter(
        self, X: Any, *, do: Any = None, group: Any = None, time: Any = None, lengths: Any = None, step: Any = None
    ) -> SlicePosteriors:
        """Return P(x | rows so far) of each variable and row; memory for messages does not grow with the rows.

        Parameters
        ----------
        X : table, or list of tables
            Evidence: rows are times, columns are variables, cells may be missing; a variable may have no column.
        do : dict of (variable, time) to state, optional
            Interventions: at that row (counted from 0 in each sequence) the variable is set, whatever its parents.
        group, time, lengths
            Where the table holds several sequences, as in :meth:`HiddenMarkov.fit`.
        step : number or str, optional
            The time between two rows, such as ``"1 day"``: gaps are filled with rows of missing cells, and "any" says
            that only the order matters. Without it unequal steps are an error.
        """

        def ask(one: Interface) -> list[dict[str, Matrix]]:
            return [slice_ for message in one.forward() for slice_ in message.slices]

        return self._ask(X, do, Layout(group, time, lengths, step), ask)

    def smooth(
        self, X: Any, *, do: Any = None, group: Any = None, time: Any = None, lengths: Any = None, step: Any = None
    ) -> SlicePosteriors:
        """Return P(x | all rows) of each variable and row. Parameters are those of :meth:`filter`."""
        return self._ask(X, do, Layout(group, time, lengths, step), Interface.smoothed)

    def fixed_lag(
        self,
        X: Any,
        lag: int,
        *,
        do: Any = None,
        group: Any = None,
        time: Any = None,
        lengths: Any = None,
        step: Any = None,
    ) -> SlicePosteriors:
        """Return P(x[t] | rows up to t + lag) of each variable and row. Parameters are those of :meth:`filter`."""
        if not at_least(0, whole=True)[1](lag):
            raise BayeskitError(f"lag must be a whole number of at least 0; got {lag!r}.")
        return self._ask(X, do, Layout(group, time, lengths, step), lambda one: one.lagged(lag))

    def forecast(
        self,
        X: Any,
        steps: int = 1,
        *,
        do: Any = None,
        group: Any = None,
        time: Any = None,
        lengths: Any = None,
        step: Any = None,
    ) -> SlicePosteriors:
        """Return P(x) of the next slices after the last row; ``do`` may set variables in them.

        Of several sequences the next slices of each follow one another, in the order in which groups first come.
        """
        require_whole("steps", steps)
        read, codes = self._read(X, Layout(group, time, lengths, step))
        shortest = int(np.diff(read.offsets).min())
        if shortest < self.order:
            raise TableError(f"forecast needs at least {self.order} rows, the order of the network; got {shortest}.")
        slices = []
        for (a, b), one in self._sequences(read, codes, do, steps):
            *_, last = one.forward()
            for t in range(b - a, b - a + steps):
                last = one.step(last.interface, t)
                slices += last.slices
        return SlicePosteriors(self.states, {name: np.stack([each[name] for each in slices]) for name in self.names})

    def most_probable(
        self, X: Any, *, do: Any = None, group: Any = None, time: Any = None, lengths: Any = None, step: Any = None
    ) -> dict[str, NDArray[Any]]:
        """Return the most probable states of all variables and rows together, given the known cells."""
        read, codes = self._read(X, Layout(group, time, lengths, step))
        paths = np.empty_like(codes)
        for (a, b), one in self._sequences(read, codes, do):
            paths[a:b] = one.best_path()[0]
        return {
            name: read.as_came(np.array(self._template.states[name], dtype=object)[paths[:, j]])
            for j, name in enumerate(self.names)
        }

    def log_likelihood(
        self, X: Any, *, do: Any = None, group: Any = None, time: Any = None, lengths: Any = None, step: Any = None
    ) -> Matrix:
        """Return log P(known cells) of each sequence."""
        read, codes = self._read(X, Layout(group, time, lengths, step))
        logs = [
            float(np.sum([message.log_evidence for message in one.forward()]))
            for _, one in self._sequences(read, codes, do)
        ]
        return np.array(logs)

    # -- learning ---------------------------------------------------------------------------------------------------

    @classmethod
    def learned(
        cls,
        X: Any,
        *,
        order: int = 1,
        within: bool = True,
        group: Any = None,
        time: Any = None,
        lengths: Any = None,
        step: Any = None,
        kinds: Any = None,
        method: Any = "best",
        score: Any = None,
        whitelist: Any = (),
        blacklist: Any = (),
        tiers: Any = None,
        max_parents: int | None = None,
        smoothing: Any = 1.0,
        random_state: int = 0,
        progress: Progress | None = None,
    ) -> DynamicNetwork:
        """Return a network whose arcs and tables are learned from long tables.

        Each time with the slices before it is a row of a search over ``a[t-1]``, ``b[t-1]``, ``a[t]``, ``b[t]``, in
        which no arc leads to an earlier slice; then :meth:`fitted` estimates the tables.

        Parameters
        ----------
        X : table, or list of tables
            Rows are times, columns are variables; cells may be missing.
        order : int, default 1
            How many slices back parents may be.
        within : bool, default True
            Whether there may be arcs within a slice. Without them, time gives every arc its direction.
        group, time, lengths, step
            As in :meth:`filter`.
        kinds : dict, optional
            As for `learn_structure`: {"ward": "categorical"} where numbers are names of states.
        method, score, max_parents, random_state, progress
            As for `learn_structure`.
        whitelist, blacklist : lists of (parent, child)
            Such as ``("rain[t-1]", "rain[t]")``.
        tiers : list of lists of variables, optional
            Within a slice no arc points from a later tier to an earlier one.
        smoothing : float or prior, default 1.0
            As in :meth:`fitted`.

        Examples
        --------
        >>> from bayeskit import DynamicNetwork
        >>> rain = [0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1] * 10
        >>> umbrella = [0, *rain[:-1]]
        >>> table = {"rain": list(map(str, rain)), "umbrella": list(map(str, umbrella))}
        >>> DynamicNetwork.learned(table, within=False).parents["umbrella"]
        ('rain[t-1]',)
        """
        require_whole("order", order)
        read = read_sequences(X, None, Layout(group, time, lengths, step), warn=True)
        rows, windows = slice_windows(read, order, kinds)
        result = learn_transition(
            windows, rows.names, order, within=within, tiers=tiers, blacklist=blacklist, whitelist=whitelist,
            method=method, score=score, max_parents=max_parents, random_state=random_state, progress=progress,
        )  # fmt: skip
        parents: dict[str, list[str]] = {at(name, 0): [] for name in rows.names}
        for parent, child in result.arcs:
            parents[child].append(parent)
        net = cls(parents, states=dict(zip(rows.names, rows.states, strict=True)))
        return net.fitted(X, group=group, time=time, lengths=lengths, step=step, smoothing=smoothing)

    def fitted(
        self,
        X: Any,
        *,
        group: Any = None,
        time: Any = None,
        lengths: Any = None,
        step: Any = None,
        smoothing: Any = 1.0,
        tol: float = 1e-6,
        max_iter: int = 200,
        random_state: int | None = None,
        progress: Progress | None = None,
    ) -> DynamicNetwork:
        """Return the network with tables learned from long tables: one table per variable for all later slices.

        Where all cells are known, rows are counted; otherwise the counts are expected ones, by EM from the tables that
        are there.

        Parameters
        ----------
        X : table, or list of tables
            Rows are times, columns are variables; cells may be missing, and a variable without a column is hidden.
        group, time, lengths, step
            As in :meth:`filter`.
        smoothing : float or prior, default 1.0
            λ, added to each count; or BDeu or Dirichlet.
        tol, max_iter : float, int
            When EM stops, per row.
        random_state : int, optional
            Begin EM at random tables with this seed instead of those that are there: needed where a hidden variable has
            uniform tables, between whose states nothing could choose.
        progress : callable, optional
            Called with a :class:`bayeskit.progress.Step` after each step of EM.
        """
        prior = as_prior(smoothing)
        read, codes = self._read(X, Layout(group, time, lengths, step), warn=True)
        parts = [codes[a:b] for a, b in pairwise(read.offsets.tolist())]
        template = self._template

        def believed(counts: SliceCounts) -> Template:
            return counts.tables(template, lambda name, n: estimate(n, prior.pseudo_counts(name, n.shape)))

        if (codes >= 0).all():
            return DynamicNetwork._of(believed(count_slices(template, parts)))
        if random_state is not None:
            rng = np.random.default_rng(random_state)
            template = SliceCounts.random(template, rng).tables(
                template, lambda _, n: n / n.sum(axis=-1, keepdims=True)
            )

        def expect(now: Template) -> tuple[SliceCounts, float]:
            counts, log = expected_slices(now, parts)
            return counts, log + counts.log_penalty(now, lambda name, n: prior.pseudo_counts(name, n.shape))

        result = expectation_maximisation(
            template, expect, believed, tol=tol * len(codes), max_iter=max_iter, progress=progress
        )
        return DynamicNetwork._of(result.parameters, result.history)

    # -- files ------------------------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write the network to a file that :func:`bayeskit.load` reads.

        A file that bayeskit did not write is refused, unless ``force`` says that it may be replaced.
        """
        save(self, path, force=force)

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what goes into a model file: fields for JSON, and arrays."""
        meta, arrays = template_parts(self._template)
        return {**meta, "history": None if self._history is None else self._history.to_json()}, arrays

    @classmethod
    def from_parts(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> DynamicNetwork:
        """Read what :meth:`to_parts` gave; everything is checked."""
        template = template_from_parts(meta, arrays)
        return cls._of(template, None if meta["history"] is None else History.from_json(meta["history"]))

    # -- reading ----------------------------------------------------------------------------------------------------

    def _read(self, X: Any, layout: Layout, *, warn: bool = False) -> tuple[Sequences, NDArray[np.int64]]:
        """Return the sequences of a table, and the state codes of all times, of shape (n, n_variables)."""
        read = read_sequences(X, None, layout, warn=warn)
        strange = [name for name in read.source.names if name not in self.names] if read.source.named else []
        if strange:
            raise TableError(not_found("variable", strange[0], self.names))
        states = [self._template.states[name] for name in self.names]
        cases = read_cases(schema_of(self.names, states), states, read.source, absent="none")
        codes = np.full((read.n_rows, len(self.names)), -1, dtype=np.int64)
        there = read.rows >= 0
        for j, column in enumerate(cases.columns):
            if column is not None:
                cells = column.astype(np.int64)[read.rows[there]]
                codes[there, j] = np.where(cells < len(states[j]), cells, -1)
        return read, codes

    def _sequences(
        self, read: Sequences, codes: NDArray[np.int64], do: Any, ahead: int = 0
    ) -> list[tuple[tuple[int, int], Interface]]:
        actions = self._actions(do, int(np.diff(read.offsets).max()) + ahead)
        networks: dict[Any, BayesianNetwork] = {}  # compiled once for all sequences
        return [
            ((a, b), Interface(self._template, codes[a:b], actions, networks))
            for a, b in pairwise(read.offsets.tolist())
        ]

    def _ask(
        self, X: Any, do: Any, layout: Layout, ask: Callable[[Interface], list[dict[str, Matrix]]]
    ) -> SlicePosteriors:
        read, codes = self._read(X, layout)
        slices = [slice_ for _, one in self._sequences(read, codes, do) for slice_ in ask(one)]
        values = {name: read.as_came(np.stack([each[name] for each in slices])) for name in self.names}
        return SlicePosteriors(self.states, values)

    def _actions(self, do: Any, n_rows: int) -> Actions:
        actions: dict[int, dict[str, int]] = {}
        for key, state in dict(do or {}).items():
            if not (isinstance(key, tuple) and len(key) == 2 and key[0] in self._template.states):
                raise NetworkError(f"do must map (variable, time) to a state, as {{('rain', 3): 'yes'}}; got {key!r}.")
            name, t = key
            if not at_least(0, whole=True)[1](t) or t >= n_rows:
                raise NetworkError(f"do: time {t!r} of {name!r} must lie within the {n_rows} rows, counted from 0.")
            if str(state) not in self._template.states[name]:
                raise NetworkError(not_found(f"state of {name!r}", str(state), self._template.states[name]))
            actions.setdefault(int(t), {})[name] = self._template.states[name].index(str(state))
        return actions


def _refuse_structure(template: Template) -> None:
    template._in_order(template.parents)  # refuses a circle within a slice
    if not template.interface:
        raise NetworkError(
            "no arc goes from one slice to the next, such as weather[t-1]->weather[t]; a BayesianNetwork is enough."
        )
