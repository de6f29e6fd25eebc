"""Networks with real variables: linear and conditional Gaussian distributions beside tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.memory import Memory
from bayeskit.defaults import MAX_MEMORY
from bayeskit.errors import NetworkError, TableError, warn_caller
from bayeskit.network.cpd.distribution import Distribution
from bayeskit.network.cpd.gaussian import GaussianCPD, LinearGaussian, RealForm, is_number
from bayeskit.network.cpd.link import LinkCPD
from bayeskit.network.cpd.logistic_fit import fit_link
from bayeskit.network.cpd.table import uniform_table
from bayeskit.network.infer.answers import Posterior
from bayeskit.network.infer.exact import memory_in_bytes
from bayeskit.network.infer.link_sampling import LinkedCase, family_values, settled
from bayeskit.network.infer.mixed_queries import MixedQueries
from bayeskit.network.infer.mixed_row_queries import MixedRowQueries
from bayeskit.network.infer.mixed_sampling import MixedSampling
from bayeskit.network.infer.real_answers import MixedPosteriors, RealPosterior
from bayeskit.network.infer.sampling_effort import SamplingEffort
from bayeskit.network.infer.tree_size import LargeTablesError
from bayeskit.network.learn.form_fitting import has_forms
from bayeskit.network.learn.gaussian_fitting import fit_gaussian
from bayeskit.network.learn.mixed_em import MixedEM, learn_mixed_by_em
from bayeskit.network.learn.table_fitting import Learned
from bayeskit.network.network import BayesianNetwork
from bayeskit.network.states import schema_of
from bayeskit.progress import Progress
from bayeskit.table.schema import Schema, Variable

Floats = NDArray[np.float64]


class MixedNetwork(MixedQueries, MixedRowQueries, MixedSampling, BayesianNetwork):  # type: ignore[misc]
    """A Bayesian network in which some variables are real; ``BayesianNetwork(…)`` makes it where a distribution is.

    A real variable has no states. Its parents may be discrete and real; a discrete variable has discrete parents, or
    real ones too where it is a `Logistic` or a `Probit`. Posteriors, samples, likelihoods, interventions, d-separation,
    changes, files and `fitted` know real variables; what does not is refused by name.
    """

    # A file names the class that anyone asks for, which makes this one where a distribution is Gaussian.
    _stored_as: ClassVar[str] = "BayesianNetwork"
    _plain: ClassVar[type[BayesianNetwork]] = BayesianNetwork

    def _fill(self, names: Any, states: Any, parents: Any, tables: Any, normalize: bool, **more: Any) -> None:
        for i in range(len(names)):
            if not len(states[i]) and not isinstance(tables[i], RealForm | GaussianCPD):
                raise NetworkError(f"variable {names[i]!r} has no states; give it at least one.")
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
    def _points(self) -> dict[int, float]:
        """The numbers of the real variables that an intervention has set."""
        return {v: float(cpd.intercept[0]) for v, cpd in self._gaussian.items() if cpd.is_point}

    @cached_property
    def _links(self) -> dict[int, LinkCPD]:
        """The discrete variables that have real parents."""
        return {i: cpd for i, cpd in enumerate(self.cpds) if isinstance(cpd, LinkCPD)}

    @cached_property
    def _discrete(self) -> BayesianNetwork | None:
        """The network of the discrete variables; None where all are real. One with real parents has none here."""
        kept = [v for v in range(len(self.names)) if v not in self._gaussian]
        if not kept:
            return None
        place = {v: k for k, v in enumerate(kept)}
        return self._like(
            [self.names[v] for v in kept],
            [self.states[v] for v in kept],
            [[] if v in self._links else [place[p] for p in self.parents[v]] for v in kept],
            [uniform_table(self.cards[v]) if v in self._links else self.cpds[v] for v in kept],
            Schema(tuple(self.schema[v] for v in kept), self.schema.named),
            self.target if self.target is None or self.index(self.target) in kept else None,
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
        method: str | None = None,
        n_samples: int | None = None,
        error: float | None = None,
        random_state: int = 0,
        max_memory: Memory = MAX_MEMORY,
    ) -> Posterior | RealPosterior | MixedPosteriors:
        """Return the distribution of variables given evidence.

        It is exact, but where a discrete variable has a real parent whose number is not known: then it is sampled, and
        the answer has its standard error.

        Parameters
        ----------
        variables : str or list of str, optional
            One variable gives a `Posterior` or, where it is real, a `RealPosterior`; several, or none for all of them,
            give a mapping.
        given : mapping, optional
            States of discrete variables (or sets, likelihoods, a `Marginal`), numbers of real ones; a reading with an
            error is a `LinearGaussian`: ``LinearGaussian(mean=170, sd=2)`` was read where the number itself is unknown.
        method : {"exact", "auto", "weighting"}, optional
            By default exact but for such variables, which "exact" refuses; "auto" samples, with a warning, also where
            the exact answer needs more than ``max_memory``; "weighting" samples.
        n_samples : int, optional
            The number of samples, by default 100 000; with ``error`` the largest number.
        error : float, optional
            Sample until the standard error of every probability is at most this.
        random_state : int, default 0
            Seed of the samples.
        max_memory : number of bytes or str
            What tables and normals may take; more is an error, raised before any is made.
        """
        if method not in (None, "auto", "exact", "weighting"):
            raise NetworkError(f"with real variables method must be 'auto', 'exact' or 'weighting'; got {method!r}.")
        names = [variables] if isinstance(variables, str) else list(self.names if variables is None else variables)
        places = [self.index(name) for name in names]
        effort = SamplingEffort(n_samples, error, random_state)
        answer = self._answer(names, places, given, method, effort, memory_in_bytes(max_memory))
        return answer[variables] if isinstance(variables, str) else answer

    def _answer(
        self,
        names: list[str],
        places: list[int],
        given: Mapping[str, Any] | None,
        method: str | None,
        effort: SamplingEffort,
        limit: float,
    ) -> MixedPosteriors:
        self._evidence(given)  # refuses what is no evidence
        net = settled(self, given or {}, places)
        plain = method == "weighting" and not net._links
        if method == "exact" or (method != "weighting" and not net._links):
            real = [v for v in places if v in self._gaussian]
            try:
                case = net._case(given, real, limit)
                parts: dict[str, Posterior | RealPosterior] = dict(case.real(real))
                parts |= {
                    name: case.discrete(name) for name, v in zip(names, places, strict=True) if v not in self._gaussian
                }
                return MixedPosteriors({name: parts[name] for name in names}, case.log_evidence)
            except LargeTablesError as refusal:
                if method != "auto":
                    raise LargeTablesError(refusal.needs, "Pass method='auto' to sample the answer.") from None
                warn_caller(f"this answer is sampled, not exact: {refusal}")
                effort, plain = replace(effort, exact_fits=False), True
        found = LinkedCase(net, given or {}, limit, plain).posteriors(
            places, replace(effort, exact_fits=False, positive=False)
        )
        return MixedPosteriors({name: found[name] for name in names}, float("nan"))

    def probability(  # type: ignore[override]
        self, event: Mapping[str, Any], *, given: Mapping[str, Any] | None = None, max_memory: Memory = MAX_MEMORY
    ) -> float:
        """Return the probability of an event of discrete variables given evidence."""
        real = [name for name in event if self.index(name) in self._gaussian]
        if real:
            raise NetworkError(f"{real[0]!r} is real: ask posterior({real[0]!r}, …).cdf(x) for its probabilities.")
        asked = [self.index(name) for name in event]
        net, evidence, _ = self._case(given, [], memory_in_bytes(max_memory), asked)._joined
        assert net is not None
        return net.probability(event, given=evidence, max_memory=max_memory)

    def log_evidence(self, given: Mapping[str, Any], *, max_memory: Memory = MAX_MEMORY) -> float:
        """Return the logarithm of the density of evidence; numbers of real variables, states of discrete ones."""
        return self._case(given, [], memory_in_bytes(max_memory), []).log_evidence

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
        return self._incomplete(table, ()).log_evidence(self.cpds)

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

        Tables as for any network; a `Logistic` or a `Probit` by maximum likelihood with λ/2 times the squared weights,
        its real parents in units of their standard deviation. A real variable is regressed on its real parents for
        each configuration of its discrete ones, from moments that add: to those of each configuration the mean moments
        of all rows are added λ times, so an empty configuration has the regression of all rows. λ = 0 is maximum
        likelihood.

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
        cpds: list[Distribution] = []
        for v, name in enumerate(self.names):
            by_place = {**numbers, **{self.index(each): column for each, column in codes.items()}}
            if v in self._links:
                cpds.append(fit_link(self._links[v], name, *family_values(self, v, by_place, n), codes[name], weight,
                                     float(smoothing)))  # fmt: skip
                continue
            if v not in self._gaussian:
                assert tables is not None
                cpds.append(tables.cpds[tables.index(name)])
                continue
            d, x = family_values(self, v, by_place, n)
            cpds.append(fit_gaussian(self._gaussian[v], name, d, x, numbers[v], weight, float(smoothing)))
        first = self._like(self.names, self.states, self.parents, cpds, self.schema, self.target)
        if missing == "available-case":
            return first
        if self._links or (net is not None and has_forms(net)):
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
        "tree_size", "kl_divergence", "questions", "sensitivity", "two_way_sensitivity", "conflict", "independent",
        "arc_influence", "updated", "merged", "unlearned",
    )  # fmt: skip


def _refusing(name: str) -> Callable[..., Any]:
    def refuse(self: MixedNetwork, *args: Any, **options: Any) -> Any:
        first = self.names[next(iter(self._gaussian))]
        raise NetworkError(f"{name} is for networks of discrete variables; {first!r} is real.")

    return refuse


for _name in MixedNetwork._REFUSED:
    if hasattr(BayesianNetwork, _name):
        setattr(MixedNetwork, _name, _refusing(_name))
