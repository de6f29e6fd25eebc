"""Networks with real variables: linear and conditional Gaussian distributions beside tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.memory import Memory
from bayeskit.defaults import MAX_MEMORY
from bayeskit.errors import NetworkError, TableError
from bayeskit.network import dag
from bayeskit.network.cpd.gaussian import GaussianCPD, LinearGaussian, RealForm, is_number
from bayeskit.network.infer.answers import Posterior
from bayeskit.network.infer.exact import memory_in_bytes
from bayeskit.network.infer.incomplete_rows import IncompleteRows
from bayeskit.network.infer.mixed_queries import MixedQueries
from bayeskit.network.infer.real_answers import MixedPosteriors, RealPosterior
from bayeskit.network.infer.sample_output import check_random_state, check_request
from bayeskit.network.learn.form_fitting import has_forms
from bayeskit.network.learn.gaussian_fitting import fit_gaussian
from bayeskit.network.learn.mixed_em import MixedEM, learn_mixed_by_em
from bayeskit.network.learn.table_fitting import Learned
from bayeskit.network.network import BayesianNetwork
from bayeskit.network.states import schema_of
from bayeskit.progress import Progress
from bayeskit.table.encode import as_numbers
from bayeskit.table.read import read_table
from bayeskit.table.schema import Schema, Variable

Floats = NDArray[np.float64]


class MixedNetwork(MixedQueries, BayesianNetwork):  # type: ignore[misc]
    """A Bayesian network in which some variables are real; ``BayesianNetwork(…)`` makes it where a distribution is.

    A real variable has no states. Its parents may be discrete and real; a discrete variable has discrete parents only.
    Posteriors, samples, likelihoods, interventions, d-separation, files and `fitted` know real variables; what does not
    is refused by name.
    """

    # A file names the class that anyone asks for, which makes this one where a distribution is Gaussian.
    _stored_as: ClassVar[str] = "BayesianNetwork"
    _plain: ClassVar[type[BayesianNetwork]] = BayesianNetwork

    def _fill(self, names: Any, states: Any, parents: Any, tables: Any, normalize: bool, **more: Any) -> None:
        for i, above in enumerate(parents):
            if not len(states[i]) and not isinstance(tables[i], RealForm | GaussianCPD):
                raise NetworkError(f"variable {names[i]!r} has no states; give it at least one.")
            real = [names[p] for p in above if not len(states[p])]
            if real and len(states[i]):
                raise NetworkError(
                    f"{names[i]!r} is discrete and has the real parent {real[0]!r}; a discrete variable has discrete "
                    "parents only. Turn the arc round, or cut the parent into states."
                )
        super()._fill(names, states, parents, tables, normalize, **more)

    def _refuse_no_states(self) -> None:
        return  # variables without states are real; `_fill` has looked at each

    @property
    def real(self) -> tuple[str, ...]:
        """The real variables."""
        return tuple(self.names[v] for v in self._gaussian)

    @cached_property
    def _gaussian(self) -> dict[int, GaussianCPD]:
        return {i: cpd for i, cpd in enumerate(self.cpds) if isinstance(cpd, GaussianCPD)}

    @cached_property
    def _discrete(self) -> BayesianNetwork | None:
        """The network of the discrete variables, which have no real parents; None where all are real."""
        kept = [v for v in range(len(self.names)) if v not in self._gaussian]
        if not kept:
            return None
        place = {v: k for k, v in enumerate(kept)}
        return self._like(
            [self.names[v] for v in kept],
            [self.states[v] for v in kept],
            [[place[p] for p in self.parents[v]] for v in kept],
            [self.cpds[v] for v in kept],
            Schema(tuple(self.schema[v] for v in kept), self.schema.named),
            self.target,
        )

    @cached_property
    def schema(self) -> Schema:
        """The columns of a table that the variables stand for."""
        plain = schema_of(self.names, self.states)
        return Schema(
            tuple(v if self.cards[i] else Variable(v.name, "gaussian", numeric=True) for i, v in enumerate(plain))
        )

    def _evidence(self, given: Mapping[str, Any] | None) -> tuple[MixedNetwork, dict[str, Any], dict[int, float]]:
        """Return the network to ask, the evidence on its discrete variables, and the numbers of its real ones.

        A reading with an error is one more variable, which was observed.
        """
        states: dict[str, Any] = {}
        numbers: dict[int, float] = {}
        readings: dict[int, LinearGaussian] = {}
        if given is not None and not isinstance(given, Mapping):
            raise NetworkError(f"given must map variables to what is known of them; got {given!r}.")
        for name, value in (given or {}).items():
            v = self.index(name)
            if v not in self._gaussian:
                states[name] = value
            elif isinstance(value, LinearGaussian) and not value.slopes:
                readings[v] = value
            elif is_number(value):
                numbers[v] = float(value)
            else:
                raise NetworkError(
                    f"{name!r} is real, so evidence on it is a number; got {value!r}. A reading with an error is "
                    "LinearGaussian(mean=…, sd=…)."
                )
        return (self._with_readings(readings, numbers) if readings else self), states, numbers

    def _with_readings(self, readings: Mapping[int, LinearGaussian], numbers: dict[int, float]) -> MixedNetwork:
        names, states, parents, cpds = list(self.names), list(self.states), list(self.parents), list(self.cpds)
        variables = list(self.schema)
        for v, reading in readings.items():
            numbers[len(names)] = reading.mean
            names.append(f"(reading of {self.names[v]})")
            states.append(())
            parents.append((v,))
            cpds.append(GaussianCPD((0,), np.zeros(1), np.ones((1, 1)), np.array([reading.sd])))
            variables.append(Variable(names[-1], "gaussian", numeric=True))
        schema = Schema(tuple(variables), self.schema.named)
        return cast("MixedNetwork", self._like(names, states, parents, cpds, schema, self.target))

    def posterior(  # type: ignore[override]
        self,
        variables: str | Iterable[str] | None = None,
        *,
        given: Mapping[str, Any] | None = None,
        max_memory: Memory = MAX_MEMORY,
    ) -> Posterior | RealPosterior | MixedPosteriors:
        """Return the distribution of variables given evidence, exact.

        Parameters
        ----------
        variables : str or list of str, optional
            One variable gives a `Posterior` or, where it is real, a `RealPosterior`; several, or none for all of them,
            give a mapping.
        given : mapping, optional
            States of discrete variables (or sets, likelihoods, a `Marginal`), numbers of real ones; a reading with an
            error is a `LinearGaussian`: ``LinearGaussian(mean=170, sd=2)`` was read where the number itself is unknown.
        max_memory : number of bytes or str
            What tables and normals may take; more is an error, raised before any is made.
        """
        names = [variables] if isinstance(variables, str) else list(self.names if variables is None else variables)
        places = [self.index(name) for name in names]
        real = [v for v in places if v in self._gaussian]
        case = self._case(given, real, memory_in_bytes(max_memory))
        parts: dict[str, Posterior | RealPosterior] = dict(case.real(real))
        parts |= {name: case.discrete(name) for name, v in zip(names, places, strict=True) if v not in self._gaussian}
        return (
            parts[variables]
            if isinstance(variables, str)
            else MixedPosteriors({name: parts[name] for name in names}, case.log_evidence)
        )

    def probability(  # type: ignore[override]
        self, event: Mapping[str, Any], *, given: Mapping[str, Any] | None = None, max_memory: Memory = MAX_MEMORY
    ) -> float:
        """Return the probability of an event of discrete variables given evidence."""
        real = [name for name in event if self.index(name) in self._gaussian]
        if real:
            raise NetworkError(f"{real[0]!r} is real: ask posterior({real[0]!r}, …).cdf(x) for its probabilities.")
        net, evidence, _ = self._case(given, [], memory_in_bytes(max_memory))._joined
        assert net is not None
        return net.probability(event, given=evidence, max_memory=max_memory)

    def log_evidence(self, given: Mapping[str, Any], *, max_memory: Memory = MAX_MEMORY) -> float:
        """Return the logarithm of the density of evidence; numbers of real variables, states of discrete ones."""
        return self._case(given, [], memory_in_bytes(max_memory)).log_evidence

    def sample(  # type: ignore[override]
        self,
        n: int,
        *,
        given: Mapping[str, Any] | None = None,
        random_state: int = 0,
        output: str = "dict",
        max_memory: Memory = MAX_MEMORY,
    ) -> Any:
        """Sample cases; real columns are numbers.

        With evidence the cases are exact and independent samples of the distribution given it. ``output`` is "dict",
        "pandas" or "polars".
        """
        rows, seed = check_request(n, output), check_random_state(random_state)
        if output == "codes":
            raise NetworkError("real variables have no codes: output must be 'dict', 'pandas' or 'polars'.")
        codes, numbers = (
            self._sampled_given(rows, seed, given, max_memory) if given else self._sampled_forward(rows, seed)
        )
        columns = {
            name: numbers[v] if v in numbers else np.array(self.states[v], dtype=object)[codes[name]].astype(str)
            for v, name in enumerate(self.names)
        }
        if output == "pandas":
            import pandas as pd

            return pd.DataFrame(columns)
        if output == "polars":
            import polars as pl

            return pl.DataFrame(columns)
        return columns

    def _sampled_forward(self, rows: int, seed: int) -> tuple[dict[str, NDArray[Any]], dict[int, Floats]]:
        """Return codes and numbers sampled parents before children."""
        net = self._discrete
        codes = [] if net is None else net.sample(rows, random_state=seed, output="codes")
        by_name = {} if net is None else dict(zip(net.names, codes, strict=True))
        numbers: dict[int, Floats] = {}
        for v in dag.topological_order(self.parents):
            if v not in self._gaussian:
                continue
            cpd = self._gaussian[v]
            d, x = self._parents_of(v, by_name, numbers, rows)
            at = cpd.configuration(d)
            # One stream per variable: more cases begin with the same ones.
            noise = np.random.default_rng([seed, v]).standard_normal(rows)
            numbers[v] = cpd.intercept[at] + (cpd.slope[at] * x).sum(axis=1) + cpd.sd[at] * noise
        return by_name, numbers

    def _sampled_given(
        self, rows: int, seed: int, given: Mapping[str, Any], max_memory: Memory
    ) -> tuple[dict[str, NDArray[Any]], dict[int, Floats]]:
        """Return codes sampled given the evidence, and numbers given these and the evidence."""
        case = self._case(given, list(self._gaussian), memory_in_bytes(max_memory))
        net, evidence, _ = case._joined
        codes = [] if net is None else net.sample(
            rows, given=evidence, random_state=seed, output="codes", max_memory=max_memory
        )  # fmt: skip
        by_name = {} if net is None else dict(zip(net.names, codes, strict=True))
        numbers = {v: np.full(rows, case.known[v]) for v in self._gaussian if v in case.known}
        for group in case.groups:
            free = [v for v in group.members if v not in case.known]
            if not free:
                continue
            cards = [self.cards[p] for p in group.parents]
            at = np.zeros(rows, dtype=np.int64)
            if cards:
                at = np.ravel_multi_index([by_name[self.names[p]].astype(np.int64) for p in group.parents], cards)
            means, roots = group.conditional(case.seen, free)
            noise = np.stack([np.random.default_rng([seed, v]).standard_normal(rows) for v in free], axis=1)
            drawn = means[at] + np.einsum("nij,ni->nj", roots[at], noise)
            numbers |= {v: drawn[:, k] for k, v in enumerate(free)}
        return by_name, numbers

    def _parents_of(
        self, v: int, codes: Mapping[str, NDArray[Any]], numbers: Mapping[int, Floats], n: int
    ) -> tuple[NDArray[np.int64], Floats]:
        cpd, above = self._gaussian[v], self.parents[v]
        d = [codes[self.names[above[k]]].astype(np.int64) for k in cpd.discrete]
        x = [numbers[above[k]] for k in cpd.real]
        return (
            np.stack(d, axis=1) if d else np.zeros((n, 0), dtype=np.int64),
            np.stack(x, axis=1) if x else np.zeros((n, 0)),
        )

    def _read_rows(self, table: Any) -> tuple[dict[str, NDArray[Any]], dict[int, Floats], int]:
        """Return the codes of discrete variables, the numbers of real ones (NaN where missing), and the rows."""
        from bayeskit.network.cases import read_cases

        source = read_table(table, min_rows=0)
        if not source.named:
            raise TableError("a network with real variables reads columns by name: give a frame or a dict of columns.")
        lacking = [name for name in self.names if name not in source.names]
        if lacking:
            raise TableError(f"the table has no column {lacking[0]!r}.")
        net = self._discrete
        codes = {}
        if net is not None:
            columns = read_cases(net.schema, net.states, table).complete()
            codes = dict(zip(net.names, columns, strict=True))
        numbers = {
            v: np.asarray(
                as_numbers(source.column(source.names.index(self.names[v])), self.names[v], "gaussian"),
                dtype=np.float64,
            )
            for v in self._gaussian
        }
        return codes, numbers, source.n_rows

    def _incomplete(self, table: Any) -> IncompleteRows:
        """Return the rows of a table with the marks of their missing cells."""
        codes, numbers, n = self._read_rows(table)
        marked = {}
        for name, column in codes.items():
            v = self.index(name)
            marked[v] = np.where(column < self.cards[v], column, 0).astype(np.int64)
            marked[v][column >= self.cards[v]] = -1
        return IncompleteRows(self, marked, numbers, n)

    def log_probability(self, table: Any) -> Floats:
        """Return the log-density of the known cells of each row of a table; missing cells are summed out, exactly.

        Every variable needs a column. Of a variable without any evidence below it nothing is known, and its cells
        may all be missing.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> from bayeskit.network import LinearGaussian
        >>> net = BayesianNetwork("x->y", tables={"x": LinearGaussian(), "y": LinearGaussian(sd=2, x=1)})
        >>> net.log_probability({"x": [0.0, None], "y": [1.0, 1.0]}).round(6)
        array([-2.656024, -1.823657])
        """
        return self._incomplete(table).log_evidence(self.cpds)

    def fitted(  # type: ignore[override]
        self,
        table: Any,
        sample_weight: Any = None,
        *,
        smoothing: float = 1.0,
        missing: Literal["available-case", "em"] = "available-case",
        tol: float = 1e-6,
        max_iter: int = 500,
        progress: Progress | None = None,
        record: bool = False,
    ) -> BayesianNetwork:
        r"""Return this network with its numbers estimated from rows.

        Tables as for any network. A real variable is regressed on its real parents for each configuration of its
        discrete ones, from moments that add: to those of each configuration the mean moments of all rows are added λ
        times, so an empty configuration has the regression of all rows. λ = 0 is maximum likelihood.

        Parameters
        ----------
        table : any table
            Columns by name.
        sample_weight : array of shape (n_rows,), optional
        smoothing : float, default 1
            λ.
        missing : {"available-case", "em"}
            With missing cells: use the rows in which each family is known, or maximise the likelihood of all known
            cells (times the prior) by EM, whose objective is in `history`.
        tol, max_iter, progress, record
            Of EM, as in `BayesianNetwork.fitted`.
        """
        if missing not in ("available-case", "em"):
            raise NetworkError(f"missing must be 'available-case' or 'em' in a mixed network; got {missing!r}.")
        codes, numbers, n = self._read_rows(table)
        if not n:
            raise TableError("the table has no rows, so there is nothing to learn from.")
        net = self._discrete
        tables = None if net is None else net.fitted(table, sample_weight, smoothing=smoothing)
        weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        cpds = []
        for v, name in enumerate(self.names):
            if v not in self._gaussian:
                assert tables is not None
                cpds.append(tables.cpds[tables.index(name)])
                continue
            d, x = self._parents_of(v, codes, numbers, n)
            cpds.append(fit_gaussian(self._gaussian[v], name, d, x, numbers[v], weight, float(smoothing)))
        first = self._like(self.names, self.states, self.parents, cpds, self.schema, self.target)
        if missing == "available-case":
            return first
        if net is not None and has_forms(net):
            raise NetworkError("EM of a mixed network learns tables and Gaussians; it has a noisy-OR or its like.")
        em = MixedEM(self, self._incomplete(table), weight, float(smoothing))
        learned, history = learn_mixed_by_em(
            em, first.cpds, tol=tol, max_iter=max_iter, progress=progress, record=record
        )
        result = self._like(self.names, self.states, self.parents, learned, self.schema, self.target)
        result._learned = Learned(None, smoothing, history)
        return result

    def do(self, actions: Mapping[str, object] | None = None, /, **more: object) -> BayesianNetwork:
        """Return the network after an intervention: a real variable is set to a number, a discrete one as usual."""
        wanted = {**(actions or {}), **more}
        real = {name: value for name, value in wanted.items() if self.index(name) in self._gaussian}
        net: BayesianNetwork = super().do({name: value for name, value in wanted.items() if name not in real})
        parents, cpds = list(net.parents), list(net.cpds)
        for name, value in real.items():
            if not is_number(value):
                raise NetworkError(f"do sets the real variable {name!r} to a number; got {value!r}.")
            i = net.index(name)
            parents[i] = ()
            cpds[i] = GaussianCPD((), np.array([value], dtype=np.float64), np.zeros((1, 0)), np.zeros(1))
        return self._like(net.names, net.states, parents, cpds, net.schema, net.target)

    # What knows tables only, refused by name.
    _REFUSED: ClassVar[Sequence[str]] = (
        "posterior_rows", "predict_proba", "tree_size", "kl_divergence", "questions", "sensitivity",
        "two_way_sensitivity", "conflict", "independent", "arc_influence", "updated", "merged", "unlearned",
        "to_networkx", "with_arc", "without_arc", "without_variable", "with_variable",
    )  # fmt: skip


def _refusing(name: str) -> Callable[..., Any]:
    def refuse(self: MixedNetwork, *args: Any, **options: Any) -> Any:
        first = self.names[next(iter(self._gaussian))]
        raise NetworkError(f"{name} is for networks of discrete variables; {first!r} is real.")

    return refuse


for _name in MixedNetwork._REFUSED:
    if hasattr(BayesianNetwork, _name):
        setattr(MixedNetwork, _name, _refusing(_name))
