"""The Bayesian network: a graph and its tables, with graph questions, files, drawings and inference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import log_probability, n_threads
from bayeskit.errors import NetworkError, TableError
from bayeskit.network import dag
from bayeskit.network.arcs import read_arcs
from bayeskit.network.cases import read_cases
from bayeskit.network.cpd.comparison import same_numbers
from bayeskit.network.cpd.distribution import Distribution
from bayeskit.network.cpd.gaussian import GaussianCPD, RealForm
from bayeskit.network.cpd.given_table import read_tables
from bayeskit.network.cpd.table import TableCPD, check_table
from bayeskit.network.drawing import Drawable
from bayeskit.network.edit import Editing
from bayeskit.network.exchange import Exchange
from bayeskit.network.independence import Independence, independence
from bayeskit.network.infer.case_queries import CaseQueries
from bayeskit.network.infer.conflict import ConflictQueries
from bayeskit.network.infer.elimination import EliminationQueries
from bayeskit.network.infer.explain import ExplainsAnswers
from bayeskit.network.infer.next_question import NextQuestion
from bayeskit.network.infer.sample_output import check_random_state
from bayeskit.network.infer.sensitivity import SensitivityQueries
from bayeskit.network.infer.two_way import TwoWayQueries
from bayeskit.network.infer.uncertainty import UncertaintyMeasures
from bayeskit.network.influence import influence_of_axis
from bayeskit.network.learn.table_fitting import Learned, LearnsTables
from bayeskit.network.named_graph import NamedGraph
from bayeskit.network.report import Reports
from bayeskit.network.states import check_schema, schema_of, state_of
from bayeskit.network.variable_names import did_you_mean, unique_names
from bayeskit.network.variable_table import VariableTable
from bayeskit.table.schema import Schema

Table = NDArray[np.float64]
# A noisy-OR or its like is scored from its full table up to this many cells, and row by row beyond.
LARGEST_SCORED = 1 << 16


class BayesianNetwork(
    NamedGraph, CaseQueries, ExplainsAnswers, ConflictQueries, EliminationQueries, NextQuestion, SensitivityQueries,
    TwoWayQueries, UncertaintyMeasures, Editing, LearnsTables, Exchange, Drawable, Reports,
):  # fmt: skip
    r"""A Bayesian network over named variables with named states.

    .. math:: P(y_1, \dots, y_n) = \prod_i P(y_i \mid \mathrm{Parents}(Y_i))

    A network is immutable: methods that change it (`do`, `with_table`, `with_arc`, …) return a new one.
    ``net["x"]`` is the table of a variable, ``"x" in net`` asks for one, ``len(net)`` counts them, and ``==`` compares
    variables, states, arcs and numbers, in any order.

    Parameters
    ----------
    structure : str, iterable of pairs, or mapping
        One line of arcs (``"Storm->Campfire<-BusTourGroup; Storm->Lightning"``; ``A[3]`` has three states and
        ``A{low|high}`` names them), or (parent, child) pairs, where a lone name is a variable without arcs, or
        ``{child: [parents]}``. Parents are kept in the order in which their arcs come.
    states : mapping of name to list of states, optional
        Otherwise the states come from the line or from the tables; what is left has the states "no" and "yes".
    tables : mapping of name to table, optional
        A table is an array of shape (parents' states in order …, own states), a dict (``{"yes": 0.2, "no": 0.8}`` or
        ``{("yes", "no"): {"yes": 0.3, "no": 0.7}, …}`` with the parents' states as key), or a frame with a column
        for each parent and a column for each own state; or a distribution that needs no table, such as
        :class:`~bayeskit.network.NoisyOr`. Without tables every row is uniform.
    random_tables : int, optional
        Without tables: rows sampled from the flat Dirichlet distribution instead; the number is the seed.
    normalize : bool, default False
        Divide each row by its sum. Otherwise a row whose sum differs from 1 by more than 1e-5 is an error, and the
        numbers are kept unchanged.
    target : str, optional
        The variable that `predict_proba` predicts by default; for the network of a classifier it is the class.


    Attributes
    ----------
    names : tuple of str
        The variables, in the order of construction.
    states : tuple of tuples of str
        The states of each variable.
    cards : tuple of int
        The number of states of each variable.
    parents : tuple of tuples of int
        The parents of each variable, as positions in `names`.
    cpds : tuple of Distribution
        The distribution of each variable given its parents: a table, a noisy-OR, ….
    tables : tuple of float64 arrays
        The full tables: ``tables[i]`` has shape ``(*[cards[p] for p in parents[i]], cards[i])``; read-only.
    schema : Schema
        The columns of a table that the states stand for: categorical values, or the bins of a numeric column.
    target : str or None
        The variable that `predict_proba` predicts.
    properties : mapping of name to mapping of str to str
        What the file of a network says of a variable beside its numbers ("label", "comment", "position", …), and of
        the network itself by ""; copies and files keep it, and nothing here depends on it.

    Examples
    --------
    >>> net = BayesianNetwork("Storm->Campfire<-BusTourGroup; Storm->Lightning->Thunder")
    >>> net.names
    ('Storm', 'Campfire', 'BusTourGroup', 'Lightning', 'Thunder')
    >>> net.parents[net.index("Campfire")]
    (0, 2)
    >>> net.d_separated("Storm", "Thunder", given="Lightning")
    d-separated: no trail between Storm and Thunder is open given Lightning.
    """

    states: tuple[tuple[str, ...], ...]
    cards: tuple[int, ...]
    cpds: tuple[Distribution, ...]
    target: str | None
    properties: Mapping[str, Mapping[str, str]] = MappingProxyType({})

    def __new__(cls, *args: Any, **options: Any) -> BayesianNetwork:
        """Return a network, of real variables too where a distribution is of one."""
        given = options.get("tables")
        if isinstance(given, Mapping) and any(isinstance(table, RealForm | GaussianCPD) for table in given.values()):
            from bayeskit.network.mixed import MixedNetwork

            return object.__new__(MixedNetwork)
        return object.__new__(cls)

    def __init__(
        self,
        structure: str | Iterable[str | tuple[str, str]] | Mapping[str, Sequence[str]],
        *,
        states: Mapping[str, Sequence[Any]] | None = None,
        tables: Mapping[str, Any] | None = None,
        random_tables: int | None = None,
        normalize: bool = False,
        target: str | None = None,
    ) -> None:
        if tables is not None and random_tables is not None:
            raise NetworkError("random_tables makes the tables, so it cannot be combined with tables; got both.")
        given = None if tables is None else {str(name): table for name, table in tables.items()}
        sketch = read_arcs(structure, {str(name): listed for name, listed in (states or {}).items()}, given or {})
        seed = None if random_tables is None else check_random_state(random_tables)
        known, read = read_tables(sketch.parents, sketch.states, given, seed)
        place = {name: i for i, name in enumerate(sketch.names)}
        parents = [[place[p] for p in above] for above in sketch.parents.values()]
        self._fill(sketch.names, [known[name] for name in sketch.names], parents, read, normalize, target=target)

    @classmethod
    def from_tables(
        cls,
        names: Sequence[str],
        states: Sequence[Sequence[str]],
        parents: Sequence[Sequence[int]],
        tables: Sequence[Any],
        *,
        normalize: bool = False,
        schema: Schema | None = None,
        target: str | None = None,
    ) -> BayesianNetwork:
        """Make a network from its attributes as they are stored; everything is checked.

        Without a schema the variables are categorical and their values are the states as text.

        Examples
        --------
        >>> net = BayesianNetwork.from_tables(["A", "B"], [["no", "yes"]] * 2, [[], [0]], [[0.9, 0.1], np.eye(2)])
        >>> net.arcs
        (('A', 'B'),)
        """
        net = cls.__new__(cls, tables=dict(enumerate(tables)))
        net._fill(names, states, parents, tables, normalize, schema=schema, target=target)
        return net

    def _fill(
        self,
        names: Sequence[str],
        states: Sequence[Sequence[str]],
        parents: Sequence[Sequence[int]],
        tables: Sequence[Any],
        normalize: bool,
        *,
        schema: Schema | None = None,
        target: str | None = None,
    ) -> None:
        if not len(names):
            raise NetworkError("the network is empty: give at least one variable.")
        if not len(names) == len(states) == len(parents) == len(tables):
            raise NetworkError(
                f"names, states, parents and tables must have one entry per variable; got {len(names)}, {len(states)}, "
                f"{len(parents)} and {len(tables)}."
            )
        self._fill_graph(names, states, parents)
        self.cpds = tuple(
            check_table(self.names, self.states, self.parents, i, table, normalize) for i, table in enumerate(tables)
        )
        if schema is not None:
            self.schema = check_schema(schema, self.names, self.states)
        self.target = None if target is None else self.names[self.index(target)]

    def _fill_graph(
        self, names: Sequence[str], states: Sequence[Sequence[str]], parents: Sequence[Sequence[int]]
    ) -> None:
        self.names = unique_names(names, "variable")
        self.states = tuple(
            unique_names(each, f"variable {name!r}: state") for name, each in zip(self.names, states, strict=True)
        )
        self.cards = tuple(map(len, self.states))
        self._refuse_no_states()
        self.parents = tuple(tuple(map(int, above)) for above in parents)
        dag.check(self.names, self.parents)

    def _refuse_no_states(self) -> None:
        if 0 in self.cards:
            raise NetworkError(f"variable {self.names[self.cards.index(0)]!r} has no states; give it at least one.")

    def _like(
        self,
        names: Sequence[str],
        states: Sequence[Sequence[str]],
        parents: Sequence[Sequence[int]],
        cpds: Sequence[Distribution],
        schema: Schema,
        target: str | None,
    ) -> BayesianNetwork:
        """Return a network of valid distributions, which are not copied; the graph is checked."""
        net = BayesianNetwork.__new__(BayesianNetwork, tables=dict(enumerate(cpds)))
        net._fill_graph(names, states, parents)
        net.cpds, net.target = tuple(cpds), target
        net.schema = check_schema(schema, net.names, net.states)
        if self.properties:
            net.properties = {name: said for name, said in self.properties.items() if not name or name in net}
        return net

    @cached_property
    def schema(self) -> Schema:
        """The columns of a table that the states stand for."""
        return schema_of(self.names, self.states)

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """The conditional table of each variable: one axis per parent, in order, its own states last."""
        return tuple(cpd.values for cpd in self.cpds)

    def __repr__(self) -> str:
        arcs = sum(map(len, self.parents))
        return f"BayesianNetwork({len(self.names)} variables, {arcs} arcs, {self.n_parameters} free parameters)"

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._places

    def __getitem__(self, name: str) -> VariableTable:
        i = self.index(name)
        names = tuple(self.names[p] for p in self.parents[i])
        return VariableTable(name, self.states[i], names, tuple(self.states[p] for p in self.parents[i]), self.cpds[i])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BayesianNetwork) and self.target == other.target and self.equals(other)

    def __hash__(self) -> int:
        return hash((frozenset(self.names), frozenset(self.arcs), self.target))

    def __reduce__(self) -> tuple[Any, ...]:
        # Only what the network is: compiled engines and other cached things are made again where they are needed.
        learned = self._learned
        cpds = [cpd.values if isinstance(cpd, TableCPD) else cpd for cpd in self.cpds]
        kept = {name: dict(said) for name, said in self.properties.items()}
        return _restore, (self.names, self.states, self.parents, cpds, self.schema, self.target, learned, kept)

    @cached_property
    def _state_places(self) -> tuple[dict[str, int], ...]:
        return tuple({state: k for k, state in enumerate(names)} for names in self.states)

    def state(self, name: object, value: object) -> int:
        """Return the position of a state among the states of a variable.

        1 means the state "1", True means "true", and a number means the bin that it falls into.
        """
        i = self.index(name)
        place = state_of(value, self.schema[i], self._state_places[i])
        if place is None:
            raise NetworkError(f"variable {name!r} has no state {value!r}; {did_you_mean(value, self.states[i])}")
        return place

    @property
    def real(self) -> tuple[str, ...]:
        """The real variables; all others are discrete."""
        return ()

    @property
    def n_parameters(self) -> int:
        """The number of free parameters; of a table, (states − 1) · Π parents' states."""
        return sum(cpd.n_parameters for cpd in self.cpds)

    def independent(
        self, x: str | Iterable[str], y: str | Iterable[str], given: str | Iterable[str] = (), *, tol: float = 1e-9
    ) -> Independence:
        """Return whether the numbers make x and y independent given some variables: P(x, y | z) = P(x | z) P(y | z).

        Where the graph d-separates them the answer is yes without using the numbers; otherwise the numbers may still
        agree within the tol.

        Examples
        --------
        >>> net = BayesianNetwork("A->B->C", tables={"A": [0.5, 0.5], "B": np.eye(2), "C": [[0.9, 0.1], [0.2, 0.8]]})
        >>> net.independent("A", "C")
        not independent: P(A=no, C=no) = 0.45, but P(A=no) P(C=no) = 0.275.
        >>> net.independent("B", "C", given="A")
        independent: P(x, y | z) and P(x | z) P(y | z) differ by 0 at the most.
        """
        return independence(self, *self._apart(x, y, given), tol)

    def log_probability(self, table: Any) -> NDArray[np.float64]:
        """Return log P(row) for each row of a table; every variable needs a column and no cell may be missing.

        Parameters
        ----------
        table : any table
            Columns are found by name and read as `schema` says: numbers fall into bins, other values are compared
            with the states. An array without names, or a list of arrays, holds state codes, one column per variable in
            the order of `names`.

        Returns
        -------
        float64 array of shape (n_rows,)
            ``-inf`` where the network rules a row out.

        Examples
        --------
        >>> net = BayesianNetwork("A->B", tables={"A": [0.25, 0.75], "B": [[0.5, 0.5], [0.0, 1.0]]})
        >>> np.exp(net.log_probability({"A": ["no", "yes", "yes"], "B": ["no", "no", "yes"]}))
        array([0.125, 0.   , 0.75 ])
        """
        columns = read_cases(self.schema, self.states, table).complete()
        cells = len(columns) * len(columns[0])
        # Forms without a small table are scored row by row below; the kernel sees them as a constant.
        forms = self._scored_by_row
        parents = [() if i in forms else above for i, above in enumerate(self.parents)]
        log, row, j = log_probability(columns, self.cards, parents, self._log_tables, n_threads(cells))
        if row >= 0:
            raise TableError(
                f"row {row} has no value for {self.names[j]!r}; leave such rows out, or use probability() "
                "with the known cells."
            )
        for i in forms:
            codes = np.stack([columns[p] for p in self.parents[i]], axis=1).astype(np.int64)
            with np.errstate(divide="ignore"):
                log += np.log(self.cpds[i].rows(codes)[np.arange(len(log)), columns[i]])
        return log

    def log_likelihood(self, table: Any) -> float:
        """Return Σ log P(row) over the rows of a table; see `log_probability`."""
        return float(self.log_probability(table).sum())

    @cached_property
    def _log_tables(self) -> NDArray[np.float64]:
        # Rows that miss 1 by the tol are divided by their sum, as inference does.
        rows = [
            np.ones(self.cards[i])
            if i in self._scored_by_row
            else (cpd.values / cpd.values.sum(axis=-1, keepdims=True)).reshape(-1)
            for i, cpd in enumerate(self.cpds)
        ]
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.concatenate(rows)))

    @cached_property
    def _scored_by_row(self) -> frozenset[int]:
        return frozenset(
            i
            for i, cpd in enumerate(self.cpds)
            if not isinstance(cpd, TableCPD) and prod(map(float, cpd.shape)) > LARGEST_SCORED
        )

    def arc_influence(self) -> dict[tuple[str, str], float]:
        """Return the strength of each arc, from 0 (the child's table does not depend on the parent) to 1.

        It is the largest total variation between the child's rows for two states of the parent, averaged over the
        states of the other parents (as in Koiter 2006); computed from the tables.

        Examples
        --------
        >>> net = BayesianNetwork("rain->wet", tables={"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.1, 0.9]]})
        >>> {arc: round(p, 6) for arc, p in net.arc_influence().items()}
        {('rain', 'wet'): 0.8}
        """
        strengths = (
            influence_of_axis(table, axis)
            for table, above in zip(self.tables, self.parents, strict=True)
            for axis in range(len(above))
        )
        return dict(zip(self.arcs, strengths, strict=True))

    def equals(self, other: BayesianNetwork, tol: float = 0.0) -> bool:
        """Return whether two networks have the same variables, states, parents and numbers; order does not matter.

        Variables and parents may come in another order; the states of a variable must not.
        """
        if set(self.names) != set(other.names):
            return False
        for i, name in enumerate(self.names):
            j = other.index(name)
            above = [self.names[p] for p in self.parents[i]]
            theirs = [other.names[p] for p in other.parents[j]]
            if self.states[i] != other.states[j] or set(above) != set(theirs):
                return False
            if not same_numbers(self.cpds[i], other.cpds[j], [theirs.index(p) for p in above], tol):
                return False
        return True


def _restore(
    names: Any,
    states: Any,
    parents: Any,
    tables: Any,
    schema: Any,
    target: Any,
    learned: Learned | None,
    properties: Mapping[str, Mapping[str, str]],
) -> BayesianNetwork:
    net = BayesianNetwork.from_tables(names, states, parents, tables, schema=schema, target=target)
    net._learned, net.properties = learned, properties
    return net
