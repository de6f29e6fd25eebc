"""The Bayesian network: a graph, its tables, and doors to graph questions, files, pictures and inference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from math import prod
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import log_probability, n_threads
from bayeskit.errors import ModelFileError, NetworkError, TableError
from bayeskit.io.expect import expect_array, expect_field
from bayeskit.io.files import save
from bayeskit.network import dag, formats
from bayeskit.network.cases import read_cases
from bayeskit.network.graph import Graph
from bayeskit.network.independence import Independence, independence
from bayeskit.network.infer.questions import Questions
from bayeskit.network.names import find_state, nearest, unique_names
from bayeskit.network.structure import read_networkx, read_structure
from bayeskit.network.tables import TOLERANCE, check_table, default_table, read_table, states_of

if TYPE_CHECKING:
    from bayeskit.plot.network_svg import Drawing

Table = NDArray[np.float64]


class BayesianNetwork(Graph, Questions):
    r"""A Bayesian network over named variables with named states.

    .. math:: P(y_1, \dots, y_n) = \prod_i P(y_i \mid \mathrm{Parents}(Y_i))

    A network does not change once it is made: what changes it (`do`) returns a new one.

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
        for each parent and a column for each own state. Without tables every row is uniform, which claims nothing.
    seed : int, optional
        Without tables: rows drawn from the flat Dirichlet distribution instead.
    normalise : bool, default False
        Divide each row by its sum. Otherwise a row that misses 1 by more than 1e-5 is refused, and the numbers are
        kept as they came.

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
    tables : tuple of float64 arrays
        ``tables[i]`` has shape ``(*[cards[p] for p in parents[i]], cards[i])``; read-only.

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
    tables: tuple[Table, ...]

    def __init__(
        self,
        structure: str | Iterable[str | tuple[str, str]] | Mapping[str, Sequence[str]],
        *,
        states: Mapping[str, Sequence[Any]] | None = None,
        tables: Mapping[str, Any] | None = None,
        seed: int | None = None,
        normalise: bool = False,
    ) -> None:
        if tables is not None and seed is not None:
            raise NetworkError("seed draws random tables, so it goes without tables; got both.")
        tables = None if tables is None else {str(name): table for name, table in tables.items()}
        sketch = read_structure(structure, {str(name): own for name, own in (states or {}).items()}, tables or {})
        names, parent_names = sketch.names, sketch.parents
        known = {name: states_of(name, given, (tables or {}).get(name), names) for name, given in sketch.states.items()}
        if tables is None:
            rng = None if seed is None else np.random.default_rng(seed)
            read = [
                default_table(name, tuple(len(known[p]) for p in (*parent_names[name], name)), rng) for name in names
            ]
        else:
            without = [name for name in names if name not in tables]
            if without:
                raise NetworkError(
                    f"tables has no table for {', '.join(map(repr, without))}; give one for each variable."
                )
            read = [read_table(name, parent_names[name], known, tables[name]) for name in names]
        place = {name: i for i, name in enumerate(names)}
        self._fill(
            names,
            [known[name] for name in names],
            [[place[p] for p in parent_names[name]] for name in names],
            read,
            normalise,
        )

    @classmethod
    def from_tables(
        cls,
        names: Sequence[str],
        states: Sequence[Sequence[str]],
        parents: Sequence[Sequence[int]],
        tables: Sequence[Any],
        *,
        normalise: bool = False,
    ) -> BayesianNetwork:
        """Make a network from its attributes as they are stored; everything is checked.

        Examples
        --------
        >>> net = BayesianNetwork.from_tables(["A", "B"], [["no", "yes"]] * 2, [[], [0]], [[0.9, 0.1], np.eye(2)])
        >>> net.arcs
        (('A', 'B'),)
        """
        net = cls.__new__(cls)
        net._fill(names, states, parents, tables, normalise)
        return net

    @classmethod
    def read(cls, path: str | PathLike[str], *, normalise: bool = False) -> BayesianNetwork:
        """Read a network from BIF, XMLBIF, Hugin NET, UAI or DOT; the extension decides, and .gz is unpacked.

        Parameters
        ----------
        path : path
            ``.bif``, ``.xmlbif``, ``.bifxml``, ``.xml``, ``.net``, ``.uai``, ``.dot`` or ``.gv``, also with ``.gz``.
        normalise : bool, default False
            Divide each row by its sum, for files whose rows do not sum to 1.
        """
        parts = formats.read(path, normalise)
        net = cls.__new__(cls)
        net.names = tuple(parts.names)
        net.states = tuple(parts.states)
        net.cards = tuple(map(len, parts.states))
        net.parents = tuple(parts.parents)
        for table in parts.tables:
            table.setflags(write=False)
        net.tables = tuple(parts.tables)
        return net

    def write(self, path: str | PathLike[str]) -> None:
        """Write the network to a file; the extension decides on the format, as in `read`.

        Every number is written so that it reads back as the same. UAI and Hugin NET have plain names only, so ours are
        kept beside them.
        """
        formats.write(self, path)

    def _fill(
        self,
        names: Sequence[str],
        states: Sequence[Sequence[str]],
        parents: Sequence[Sequence[int]],
        tables: Sequence[Any],
        normalise: bool,
    ) -> None:
        if not len(names):
            raise NetworkError("the network is empty: give at least one variable.")
        if not len(names) == len(states) == len(parents) == len(tables):
            raise NetworkError(
                f"names, states, parents and tables must have one entry a variable; got {len(names)}, {len(states)}, "
                f"{len(parents)} and {len(tables)}."
            )
        self.names = unique_names(names, "variable")
        self.states = tuple(
            unique_names(own, f"variable {name!r}: state") for name, own in zip(self.names, states, strict=True)
        )
        self.cards = tuple(map(len, self.states))
        if 0 in self.cards:
            raise NetworkError(f"variable {self.names[self.cards.index(0)]!r} has no states; give it at least one.")
        self.parents = tuple(tuple(map(int, own)) for own in parents)
        dag.check(self.names, self.parents)
        self.tables = tuple(
            check_table(self.names, self.states, self.parents, i, table, normalise, TOLERANCE)
            for i, table in enumerate(tables)
        )

    def __repr__(self) -> str:
        arcs = sum(map(len, self.parents))
        return f"BayesianNetwork({len(self.names)} variables, {arcs} arcs, {self.n_parameters} free parameters)"

    def __reduce__(self) -> tuple[Any, ...]:
        # Only what the network is: compiled engines and other cached things are made again where they are needed.
        return _restore, (self.names, self.states, self.parents, self.tables)

    @cached_property
    def _state_places(self) -> tuple[dict[str, int], ...]:
        return tuple({state: k for k, state in enumerate(own)} for own in self.states)

    def state(self, name: object, value: object) -> int:
        """Return the position of a state among the states of a variable; 1 means "1" and True means "true"."""
        i = self.index(name)
        place = find_state(value, self._state_places[i])
        if place is None:
            raise NetworkError(f"variable {name!r} has no state {value!r}; {nearest(value, self.states[i])}")
        return place

    @property
    def n_parameters(self) -> int:
        """The number of free parameters, Σ (states − 1) · Π parents' states."""
        return sum(table.size // card * (card - 1) for table, card in zip(self.tables, self.cards, strict=True))

    def independent(
        self,
        x: str | Iterable[str],
        y: str | Iterable[str],
        given: str | Iterable[str] = (),
        *,
        tolerance: float = 1e-9,
    ) -> Independence:
        """Say whether the numbers make x and y independent given some variables: P(x, y | z) = P(x | z) P(y | z).

        Where the graph d-separates them the answer is yes without a look at the numbers; where it does not, the numbers
        may still agree within the tolerance.

        Examples
        --------
        >>> net = BayesianNetwork("A->B->C", tables={"A": [0.5, 0.5], "B": np.eye(2), "C": [[0.9, 0.1], [0.2, 0.8]]})
        >>> net.independent("A", "C")
        not independent: P(A=no, C=no) = 0.45, but P(A=no) P(C=no) = 0.275.
        >>> net.independent("B", "C", given="A")
        independent: P(x, y | z) and P(x | z) P(y | z) differ by 0 at the most.
        """
        return independence(self, *self._apart(x, y, given), tolerance)

    def log_probability(self, table: Any) -> NDArray[np.float64]:
        """Return log P(row) for each row of a table; every variable needs a column and no cell may be missing.

        Parameters
        ----------
        table : any table
            Columns are found by name, values are compared with the states as text. An array without names, or a list
            of arrays, holds state codes, one column a variable in the order of `names`.

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
        columns = read_cases(self.names, self.states, table)
        cells = len(columns) * len(columns[0])
        log, row, j = log_probability(columns, self.cards, self.parents, self._log_tables, n_threads(cells))
        if row >= 0:
            raise TableError(
                f"row {row} has no value for {self.names[j]!r}; leave such rows out, or ask for the probability of "
                "what is known."
            )
        return log

    def log_likelihood(self, table: Any) -> float:
        """Return Σ log P(row) over the rows of a table; see `log_probability`."""
        return float(self.log_probability(table).sum())

    @cached_property
    def _log_tables(self) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.concatenate([table.reshape(-1) for table in self.tables])))

    def do(self, actions: Mapping[str, object] | None = None, /, **more: object) -> BayesianNetwork:
        """Return the network after an intervention: arcs into the variables are cut, and their states are set.

        Parameters
        ----------
        actions : mapping of name to state, or to a mapping of state to probability
            Names that are words may also be given as keywords.

        Examples
        --------
        >>> net = BayesianNetwork("Storm->Lightning->Thunder", seed=0).do(Lightning="yes")
        >>> net.arcs
        (('Lightning', 'Thunder'),)
        >>> net.tables[1]
        array([0., 1.])
        """
        wanted = {**(actions or {}), **more}
        parents, tables = list(self.parents), list(self.tables)
        for name, value in wanted.items():
            i = self.index(name)
            row = np.zeros(self.cards[i])
            for state, p in (value if isinstance(value, Mapping) else {value: 1.0}).items():
                row[self.state(name, state)] = p
            parents[i], tables[i] = (), row
        return BayesianNetwork.from_tables(self.names, self.states, parents, tables)

    def equals(self, other: BayesianNetwork, tolerance: float = 0.0) -> bool:
        """Say whether two networks have the same variables, states, parents and numbers; order does not matter.

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
            axes = [*(theirs.index(p) for p in above), len(above)]
            if abs(self.tables[i] - other.tables[j].transpose(axes)).max() > tolerance:
                return False
        return True

    def draw(
        self, *, given: Mapping[str, Any] | None = None, bars: bool = False, posterior: Mapping[str, Any] | None = None
    ) -> Drawing:
        """Draw the network in layers, with bars of probabilities in the boxes; notebooks show it, ``save`` writes it.

        Parameters
        ----------
        given : mapping, optional
            Evidence, as for `posterior`: the boxes show the posterior, those of the evidence are coloured.
        bars : bool, default False
            Show the probabilities without any evidence.
        posterior : mapping of name to probabilities, optional
            What to show instead, for some variables or all: an array in the order of the states, or a mapping of state
            to number.

        Examples
        --------
        >>> drawing = BayesianNetwork("A->B<-C").draw(given={"B": "yes"})
        >>> drawing.save("net.svg")  # doctest: +SKIP
        >>> drawing.crossings
        0
        """
        from bayeskit.network.picture import draw  # the layout needs scipy.optimize, which takes long to import

        if posterior is None:
            posterior = self.posterior(given=given) if given or bars else {}
        return draw(self, posterior, list(given or {}))

    def to_networkx(self) -> Any:
        """Return a ``networkx.DiGraph`` whose nodes carry ``states``, ``parents`` and ``table``."""
        import networkx

        graph = networkx.DiGraph()
        for name, states, own, table in zip(self.names, self.states, self.parents, self.tables, strict=True):
            graph.add_node(name, states=states, parents=tuple(self.names[p] for p in own), table=table.copy())
        graph.add_edges_from(self.arcs)
        return graph

    @classmethod
    def from_networkx(cls, graph: Any, *, seed: int | None = None) -> BayesianNetwork:
        """Make a network from a ``networkx.DiGraph``; nodes may carry ``states``, ``parents`` (an order) and ``table``.

        Examples
        --------
        >>> import networkx
        >>> BayesianNetwork.from_networkx(networkx.DiGraph([("A", "B"), ("B", "C")])).arcs
        (('A', 'B'), ('B', 'C'))
        """
        return cls(**read_networkx(graph), seed=seed)

    def _to_file(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        meta = {
            "names": list(self.names),
            "states": list(map(list, self.states)),
            "parents": list(map(list, self.parents)),
        }
        return meta, {"tables": np.concatenate([table.reshape(-1) for table in self.tables])}

    @classmethod
    def _from_file(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> BayesianNetwork:
        names, states, parents = (expect_field(meta, field, list) for field in ("names", "states", "parents"))
        words = [names, *states] if all(isinstance(own, list) for own in states) else [[None]]
        if not all(isinstance(word, str) for own in words for word in own):
            raise ModelFileError("names and states must be lists of text.")
        flat = expect_array(arrays, "tables", np.float64, (None,))
        tables = []
        for i, above in enumerate(parents):
            shape = [len(states[p]) for p in (*above, i)]
            if prod(shape) > len(flat):
                raise ModelFileError(f"the table of {names[i]!r} is cut short.")
            tables.append(flat[: prod(shape)].reshape(shape))
            flat = flat[prod(shape) :]
        if len(flat):
            raise ModelFileError(f"the tables have {len(flat)} numbers too many.")
        return cls.from_tables(names, states, parents, tables)

    def save(self, path: str | PathLike[str]) -> None:
        """Save the network to a model file (.bayes); `bayeskit.load` reads it back to the last bit."""
        save(self, path)


def _restore(*parts: Any) -> BayesianNetwork:
    return BayesianNetwork.from_tables(*parts)
