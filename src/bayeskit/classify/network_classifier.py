"""A Bayesian network as a classifier: given or learned, with one of its variables as the class."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from itertools import product
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.as_network import as_network
from bayeskit.classify.base import BayesClassifier
from bayeskit.classify.graph_beliefs import GraphBeliefs, log_joint_left_out
from bayeskit.classify.leave_one_out import NEEDS_LABELS, LeavesOneOut
from bayeskit.classify.network_terms import NetworkTerms
from bayeskit.classify.real_network import RealBeliefs, RealGraph, in_one_fit, regression, with_target
from bayeskit.classify.summaries import summarise
from bayeskit.counts.families import sizes_of
from bayeskit.counts.graph_counts import GraphCounts, Parents
from bayeskit.counts.left_out import LeftOut
from bayeskit.counts.memory import Memory, MemoryLimit, read_memory
from bayeskit.decide.protocol import Domain
from bayeskit.defaults import BINS, MAX_MEMORY, SMOOTHING, UNSEEN
from bayeskit.errors import BayeskitError, ModelFileError, warn_caller
from bayeskit.estimate.class_weight import class_factors
from bayeskit.estimate.named_table import NamedTable
from bayeskit.estimate.smoothing import SymmetricSmoothing
from bayeskit.explain.summary import Summary
from bayeskit.io.expect import expect_field
from bayeskit.learn.checks import rows_and_labels, split_target, warn_of_empty_columns
from bayeskit.learn.column_kinds import learn_schema
from bayeskit.learn.counting import learn_coded_counts
from bayeskit.learn.labelled import Labelled, read_labelled
from bayeskit.learn.naive_beliefs import kinds_of
from bayeskit.learn.parameters import (
    a_class_weight,
    a_smoothing,
    an_amount_of_memory,
    at_least,
    one_of,
    to_json,
)
from bayeskit.learn.plan import Pass, Plan, counting
from bayeskit.learn.state import CountedState
from bayeskit.network import dag
from bayeskit.network.learn.discrete_rows import DiscreteRows
from bayeskit.network.learn.search import SHARED_OPTIONS, learn_structure
from bayeskit.network.learn.search_method import METHODS, SearchMethod
from bayeskit.network.network import BayesianNetwork
from bayeskit.table.discretize import METHODS as BINNING
from bayeskit.table.read import Source, read_table
from bayeskit.table.scan.sample import sample_size, sampling
from bayeskit.table.schema import Schema, Variable


@dataclass(eq=False, repr=False)
class NetworkClassifier(LeavesOneOut, BayesClassifier):
    r"""A Bayesian network with one variable as the class.

    .. math:: P(c \mid x) \propto P(c \mid pa(c)) \prod_j P(x_j \mid pa(x_j))

    The network is given, and ``fit`` estimates its tables; or ``fit`` learns it by a search over all columns and the
    class. Unlike in naive Bayes and its relatives the class may have parents, and a column may be independent of it.
    A missing cell is summed out at prediction; at training the tables that need the cell skip the row.

    Parameters
    ----------
    network : BayesianNetwork, str or search method, default "hill-climb"
        The network, or how to learn one: a method of :func:`learn_structure`, by its word or as an object with options,
        such as ``Tabu(restarts=5)``. A network that is given keeps its states and bins; a value or a label that is not
        one of its states is an error in ``fit``.
    target : str, optional
        The name of the class. ``fit(table)`` finds the labels in the column of this name; with ``fit(X, y)`` it only
        names them. By default the target of the network, or "class".
    options : dict, optional
        Options of :func:`learn_structure` that all methods share: ``score``, ``whitelist``, ``blacklist``, ``tiers``,
        ``max_parents``, ``missing``, ``random_state``.
    smoothing : float, Lidstone or MEstimate, default 1
        λ of every table: 0 is maximum likelihood, 1 is Laplace.
    numeric : {"mdl", "equal-width", "equal-frequency", "gaussian"}, default "mdl"
        How numeric columns are binned. With "gaussian" they stay numbers: the search learns a conditional Gaussian
        network, in which a number is linear in the numbers among its parents, with coefficients and a deviation for
        each case of the others (the class among them), and no number is a parent of the class or of a category. Cells
        that are missing are then filled in by EM at training and integrated out at prediction, exactly. Such a network
        is learned in one ``fit``.
    bins : int, default 10
        The largest number of bins; "mdl" chooses the number itself.
    unseen : {"ignore", "error"}, default "ignore"
        A value at prediction that was not seen in fit: treat it as missing, or raise an error.
    kinds : dict or str, optional
        The kind of a column, where the dtype does not decide it.
    class_weight : dict or "balanced", optional
        The weight of each class. The structure comes from the rows as they are, and counts stay unweighted; the weights
        apply when they become probabilities. (There is no ``prior``: P(c) is a table of the network, whose class may
        have parents; ``from_network`` takes a network with other tables.)
    max_memory : number of bytes or str, default "4 GiB"
        The largest memory for the counts.

    Attributes
    ----------
    network_ : BayesianNetwork
        The network with its tables; `to_network` gives the same.
    counts_, schema_, classes_ : GraphCounts, Schema, array
        The sufficient statistics, which add and subtract; the columns; the class labels. The first ``partial_fit``
        chooses the graph, and says so.

    Examples
    --------
    >>> from bayeskit import NetworkClassifier, datasets
    >>> asia = datasets.load_asia()
    >>> cases = asia.sample(2000, random_state=0)
    >>> model = NetworkClassifier(asia, "lung").fit(cases)
    >>> model.predict({"smoke": ["yes", "no"], "xray": ["yes", "no"]}).tolist()
    ['yes', 'no']
    >>> NetworkClassifier("tabu", "lung").fit(cases).network_.markov_blanket("lung")
    ('tub', 'smoke', 'either')
    """

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        "network": (
            "a BayesianNetwork, or a method of learn_structure, such as 'hill-climb' or Tabu()",
            lambda value: (
                isinstance(value, BayesianNetwork | SearchMethod)
                or (isinstance(value, str) and value in METHODS.classes)
            ),
        ),
        "target": ("a name, or None", lambda value: value is None or isinstance(value, str)),
        "options": (
            f"None, or a dict with keys among {', '.join(SHARED_OPTIONS)}",
            lambda value: value is None or (isinstance(value, Mapping) and set(value) <= set(SHARED_OPTIONS)),
        ),
        "smoothing": a_smoothing,
        "numeric": one_of(*BINNING, "gaussian"),
        "bins": at_least(1, whole=True),
        "unseen": one_of("ignore", "error"),
        "class_weight": a_class_weight,
        "max_memory": an_amount_of_memory,
    }
    _statistic = GraphCounts

    network: BayesianNetwork | SearchMethod | str = "hill-climb"
    target: str | None = None
    _: KW_ONLY
    options: Mapping[str, Any] | None = None
    smoothing: float | SymmetricSmoothing = SMOOTHING
    numeric: str = "mdl"
    bins: int = BINS
    unseen: str = UNSEEN
    kinds: Any = None
    class_weight: Any = None
    max_memory: Memory = MAX_MEMORY

    @classmethod
    def from_network(cls, net: BayesianNetwork, target: str | None = None, **parameters: Any) -> Self:
        """Return a classifier that predicts with the tables that a network has, without learning from rows.

        A later `partial_fit` starts from zero counts: it replaces the tables by those of its rows.

        Examples
        --------
        >>> net = BayesianNetwork("rain->wet", tables={"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.1, 0.9]]})
        >>> NetworkClassifier.from_network(net, "rain").predict_proba({"wet": ["yes", None]})
        array([[0.30769231, 0.69230769],
               [0.8       , 0.2       ]])
        """
        terms = NetworkTerms(net, target)
        model = cls(net, terms.target, **parameters)
        settings = model._checked_settings()
        classes, y = np.unique(np.array(net.states[terms.at])), np.empty(0, dtype=np.uint8)
        none = [y for _ in terms.schema]
        alone = terms.count(none, y, classes, None).declare(classes)
        model._state = settings._state_of(GraphCounts.of_graph(alone, none, y, terms.parents), terms.target)
        return model

    # -- counting ---------------------------------------------------------------------------------------------------

    @property
    def _terms(self) -> NetworkTerms | None:
        return NetworkTerms(self.network, self.target) if isinstance(self.network, BayesianNetwork) else None

    def _read_rows(self, X: Any, y: Any, sample_weight: Any, target: str | None, schema: Any) -> Labelled:
        terms = self._terms
        if y is None and target is None:
            target = self.target if terms is None else terms.target
        return read_labelled(
            X, y, sample_weight, target, None if terms else schema, type(self).__name__, None if terms else self.kinds
        )

    def _count(
        self, rows: Labelled, schema: Schema | None, before: GraphCounts | None = None
    ) -> GraphCounts | RealGraph:
        source, y, classes, weight = rows.source, rows.y, rows.classes, rows.weight
        terms, limit = self._terms, read_memory(self.max_memory)
        if terms is not None:
            columns = terms.codes(source, unseen_is_error=True)
            alone = terms.count(columns, y, classes, weight).declare(terms.classes(classes))
            y = np.searchsorted(alone.classes, classes)[y]
            return GraphCounts.of_graph(alone, columns, y, terms.parents, weight, limit)
        if self.numeric == "gaussian":
            real = self._learn_real(rows, schema)
            if real is not None:
                return real
        alone, columns = learn_coded_counts(source, y, classes, weight, self.kinds, self.numeric, self.bins, schema)
        if before is not None:
            return GraphCounts.of_graph(alone, columns, y, before.parents, weight, limit)
        warn_of_empty_columns(alone.schema)
        parents = self._search(alone.schema, columns, y, classes, weight)
        return GraphCounts.of_graph(alone, columns, y, parents, weight, limit)

    def _learn_real(self, rows: Labelled, schema: Schema | None) -> RealGraph | None:
        """Learn a network with real variables; None where no column is numeric."""
        if not (schema or learn_schema(rows.source, self.kinds, "gaussian")).numeric:
            return None
        if schema is not None:
            raise in_one_fit()
        factors = None
        if self.class_weight is not None:
            n_class = np.bincount(rows.y, rows.weight, minlength=len(rows.classes))
            factors = np.asarray(class_factors(n_class, rows.classes, self.class_weight))
        name = _free_name(self.target or "class", rows.source)
        options = {"max_memory": self.max_memory, **(self.options or {})}
        if not isinstance(self.smoothing, int | float):
            raise BayeskitError(f"with numeric='gaussian' smoothing must be a number; got {self.smoothing!r}.")
        return RealGraph.of(rows, name, self.network, self.kinds, factors, float(self.smoothing), options)  # type: ignore[arg-type]

    def _search(
        self, schema: Schema, columns: list[NDArray[Any]], y: NDArray[Any], classes: NDArray[Any], weight: Any
    ) -> Parents:
        """Learn the graph over the columns that have values, and the class."""
        kept = [j for j, variable in enumerate(schema) if variable.n_values]
        label = Variable(_free_name(self.target or "class", schema), "categorical", tuple(classes.tolist()))
        variables = (*(schema[j] for j in kept), label)
        rows = DiscreteRows(
            Schema(tuple(replace(variable, declared=True) for variable in variables), schema.named),
            [*(columns[j] for j in kept), np.ascontiguousarray(y, dtype=np.uint32)],
            weight,
        )
        options = {"max_memory": self.max_memory, **(self.options or {})}
        learned = learn_structure(rows, self.network, **options)  # type: ignore[arg-type]
        place = [*kept, len(schema)]
        parents: list[tuple[int, ...]] = [()] * (len(schema) + 1)
        for v, above in enumerate(learned.network.parents):
            parents[place[v]] = tuple(place[p] for p in above)
        return tuple(parents)

    def _target_of_scan(self, target: str | None) -> str | None:
        return target or (self.target if self._terms is None else self._terms.target)

    def _passes(self, plan: Plan) -> Generator[Pass, Any, GraphCounts]:
        if self._terms is not None:
            return (yield counting(plan)).counts  # type: ignore[no-any-return]
        if self.numeric == "gaussian":
            raise BayeskitError("with numeric='gaussian' the rows must be in memory: fit a sample, or bin the numbers.")
        # A search walks over the rows many times: it is given a sample, and its graph is counted in all rows.
        drawn = yield sampling(plan.target, 0, sample_size(len(plan.schema)))
        sample = drawn.sample("the table", plan.target)
        counts = plan.count_rows([sample.table.combine_chunks().to_batches()]).counts
        if not sample.is_all:
            warn_caller(
                f"the structure was learned from a random sample of {sample.table.num_rows:,} of {sample.n_rows:,} "
                "rows; its tables are those of all rows."
            )
        return (yield counting(replace(plan, families=GivenGraph(counts.parents)))).counts  # type: ignore[no-any-return]

    def _plus(self, ours: GraphCounts | RealGraph, theirs: GraphCounts | RealGraph) -> GraphCounts:
        if isinstance(ours, RealGraph) or isinstance(theirs, RealGraph):
            raise in_one_fit()
        return ours.plus(theirs, MemoryLimit(read_memory(self.max_memory)))

    def _frozen_by(self, schema: Schema) -> frozenset[str]:
        learned = frozenset[str]() if isinstance(self.network, BayesianNetwork) else frozenset(["the structure"])
        return super()._frozen_by(schema) | learned

    def _believe(self, counts: GraphCounts | RealGraph) -> GraphBeliefs | RealBeliefs:
        if isinstance(counts, RealGraph):
            return RealBeliefs(counts.net)
        terms = self._terms
        if terms is not None and not counts.n_class.sum() > 0:  # made by from_network
            return GraphBeliefs(sizes_of(counts.schema), counts.n_classes, counts.parents, terms.tables())
        if self.class_weight is not None:
            counts = counts.weighted(class_factors(counts.n_class, counts.classes, self.class_weight))
        return GraphBeliefs.of(counts, self.smoothing)

    def _check(self, counts: GraphCounts) -> None:
        class_factors(counts.n_class, counts.classes, self.class_weight)

    def _refuse_what_cannot_be_subtracted(self) -> None:
        if isinstance(self.counts_, RealGraph):
            raise in_one_fit()
        super()._refuse_what_cannot_be_subtracted()

    def _rows_left_out(self, X: Any, y: Any, target: str | None) -> tuple[list[NDArray[Any]], Any]:
        if not self.counts_.n_class.sum() > 0:
            raise BayeskitError("the tables were given with the network, so there is no row to leave out; call fit.")
        if y is None and target is None:
            target = self.target_
        split = partial(split_target, schema=self.schema_)
        _, y = rows_and_labels(X, y, target, type(self).__name__, split, NEEDS_LABELS)
        return self._encode(X), y

    def _log_prior_left_out(self, left: LeftOut) -> NDArray[np.float64]:
        return np.broadcast_to(self._beliefs.log_prior, (len(left), len(self.classes_)))

    def _log_joint_left_out(
        self, rows: list[NDArray[Any]], left: LeftOut, log_prior: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return log_joint_left_out(self.counts_, self._believed_with["smoothing"], rows, left)

    # -- reading rows -----------------------------------------------------------------------------------------------

    def _encode(self, X: Any) -> list[NDArray[Any]]:
        settings: Any = self._fitted.settings
        terms: NetworkTerms | None = settings._terms
        if terms is None:
            return super()._encode(X)
        return terms.codes(read_table(X, without=self.target_), unseen_is_error=self.unseen == "error")

    def _used_cells(self, X: Any) -> NDArray[np.bool_]:
        """Return which cells are used, (n_rows, n_features): those that are neither missing nor unseen."""
        model = self._now()
        columns = zip(model._encode(X), model.schema_, strict=True)
        return np.stack([~np.isnan(c) if v.is_numeric else c < v.n_values for c, v in columns], axis=1)

    # -- reading the model ------------------------------------------------------------------------------------------

    @property
    def network_(self) -> BayesianNetwork:
        """The network with its tables; the class is its target."""
        return self.to_network()

    @property
    def _class_name(self) -> str:
        settings: Any = self._fitted.settings
        return self.target_ or _free_name(settings.target or "class", self.schema_)

    def to_network(self) -> BayesianNetwork:
        """Return the Bayesian network, the class last; it can be drawn, queried and written as BIF."""
        model = self._now()
        beliefs, name = model._beliefs, model._class_name
        if isinstance(beliefs, RealBeliefs):
            return with_target(beliefs.net, name)
        names = [*model.schema_.names, name]
        taken = [v for v in dag.topological_order(beliefs.parents) if v == len(names) - 1 or beliefs.sizes[v]]
        parents = {names[v]: tuple(names[p] for p in beliefs.parents[v]) for v in taken}
        tables = {names[v]: beliefs.tables[v] for v in taken}
        return as_network(model.schema_, name, model.classes_, parents, tables)

    @property
    def class_prior_(self) -> NDArray[np.float64]:
        """P(c), all columns summed out."""
        return np.asarray(np.exp(self._beliefs.log_prior))

    @property
    def tables_(self) -> dict[str, NamedTable]:
        """P(variable | parents) of each column and of the class; a column of a table is a case of the parents."""
        net, tables = self.to_network(), {}
        for v, name in enumerate(net.names):
            if not net.cards[v]:
                tables[name] = regression(net, v)
                continue
            given = [net.names[p] for p in net.parents[v]]
            cases = tuple(product(*(net.states[p] for p in net.parents[v]))) if given else ("",)
            values = np.asarray(net.cpds[v].values).reshape(-1, net.cards[v]).T
            title = f"P({name} | {', '.join(given)})" if given else f"P({name})"
            tables[name] = NamedTable(title, net.states[v], cases, values)
        return tables

    @property
    def n_parameters_(self) -> int:
        """The number of free parameters."""
        return self.to_network().n_parameters

    def domains(self) -> list[Domain]:
        """Return the values that each column can take; a real one has a grid over its density."""
        model = self._now()
        beliefs, schema = model._beliefs, model.schema_
        if not isinstance(beliefs, RealBeliefs):
            return super().domains()
        found = []
        for variable, kind in zip(schema, kinds_of(schema), strict=True):
            parameters = None
            if variable.is_numeric:
                mean, sd = beliefs.by_class(variable.name)
                parameters = np.stack([np.log(sd), mean, 0.5 / sd**2])
            found.append(Domain(variable.name, *kind.grid(variable, parameters)))
        return found

    def _summary(self) -> Summary:
        beliefs = self._beliefs
        if isinstance(beliefs, RealBeliefs):
            names = [self.schema_[j].name for j in self.schema_.numeric]
            normals = {name: dict(zip(("mean", "deviation"), beliefs.by_class(name), strict=True)) for name in names}
            return summarise(self, np.asarray(self.counts_.n_class), self.counts_.missing, normals)
        known = np.array([self.counts_.column(j).sum() for j in range(len(self.schema_))])
        n_rows = float(self.counts_.alone.n_rows)  # none, for a network whose tables were given
        missing = 1.0 - known / n_rows if n_rows > 0 else np.zeros(len(known))
        return summarise(self, np.asarray(self.counts_.n_class), missing, {})

    # -- files ------------------------------------------------------------------------------------------------------

    def _parameters_json(self) -> dict[str, Any]:
        # A network that was given is among the parts of what was learned.
        method = None if isinstance(self.network, BayesianNetwork) else self.network
        return to_json({**self.get_params(deep=False), "network": method})

    def _learned_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        meta, arrays = super()._learned_parts()
        if not isinstance(self.network, BayesianNetwork):
            return meta, arrays
        given, numbers = self.network.to_parts()
        return {**meta, "network": given}, {**arrays, **{f"network_{name}": part for name, part in numbers.items()}}

    @classmethod
    def _from_parts(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        net: Any = expect_field(meta, "settings", dict)["network"]
        if "network" in meta:
            tables = {name.removeprefix("network_"): part for name, part in arrays.items() if name[:8] == "network_"}
            net = BayesianNetwork.from_parts(expect_field(meta, "network", dict), tables)
        given = {
            part: {**expect_field(meta, part, dict), "network": expect_field(meta, part, dict)["network"] or net}
            for part in ("settings", "parameters")
        }
        return super()._from_parts({**meta, **given}, arrays)

    def _restored(self, meta: dict[str, Any], arrays: dict[str, NDArray[Any]], target: str | None) -> CountedState:
        terms = self._terms
        if "real_network" in meta:
            return self._state_of(RealGraph.from_parts(meta, arrays), target)
        if terms is None:
            return super()._restored(meta, arrays, target)
        counts = GraphCounts.from_parts(meta, arrays)
        if counts.schema != terms.schema or counts.parents != terms.parents or target not in (None, terms.target):
            raise ModelFileError("the counts are not of the network that the file holds.")
        terms.states_of(counts.classes)
        if not counts.n_class.sum() > 0 and len(counts.classes) != terms.net.cards[terms.at]:
            raise ModelFileError("the counts are empty, and their classes are not the states of the network.")
        state = self._state_of(counts, target)
        state.beliefs  # noqa: B018 - what cannot be believed is refused while the file is read
        return state


@dataclass(frozen=True)
class GivenGraph:
    """The given graph, in the form in which earlier counts would give it."""

    parents: Parents
    kind: str = "given"
    families: tuple[tuple[int, ...], ...] = ()


def _free_name(name: str, schema: Schema | Source) -> str:
    while name in schema.names:
        name += "_"
    return name
