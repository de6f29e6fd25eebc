"""Queries about one case: posteriors, joint tables, most probable states; a mixin of `BayesianNetwork`."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import accumulate
from math import exp
from typing import TYPE_CHECKING, Any, Literal, cast, overload

import numpy as np

from bayeskit._kernels import Sampler, n_threads
from bayeskit.counts.memory import Memory
from bayeskit.defaults import MAX_MEMORY
from bayeskit.errors import BayeskitWarning, NetworkError
from bayeskit.network.infer.answers import Joint, MostProbable, Posterior, Posteriors
from bayeskit.network.infer.condition import condition
from bayeskit.network.infer.evidence import Evidence, read_evidence
from bayeskit.network.infer.exact import memory_in_bytes
from bayeskit.network.infer.factored import MOST_LINKS_COMPARED
from bayeskit.network.infer.monte_carlo import SAMPLERS, sample_marginals
from bayeskit.network.infer.row_queries import RowQueries
from bayeskit.network.infer.row_sampling import needs_rows, sample_by_rows
from bayeskit.network.infer.sample_output import Output, cases_as, check_random_state, check_request
from bayeskit.network.infer.sampling_effort import SamplingEffort
from bayeskit.network.infer.soft_evidence import apply_soft_evidence
from bayeskit.network.infer.tree_size import LargeTablesError, TreeSize, advise
from bayeskit.network.infer.two_layers import TwoLayers

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

InferenceMethod = Literal["exact", "auto", "rejection", "weighting", "gibbs"]
Given = Mapping[str, Any] | None
# What would do where the tables of an answer do not fit.
_SAMPLED = "Sample the answer: pass method='weighting', or method='auto' to sample only where it must be."
_WITHOUT_MARGINALS = "Soft evidence needs them; with a likelihood in place of each Marginal method='weighting' samples."
_BY_VARIABLE = "posterior(…, method='weighting') samples the probabilities of each variable."


class CaseQueries(RowQueries):
    """The queries of a network about one case.

    Evidence (``given``) maps a variable to a state, to a set of states, to a likelihood (a mapping of state to number,
    or one number per state), or to a `Marginal` (soft evidence: the distribution that it has afterwards). With
    ``codes=True`` whole numbers, alone or in a set, are positions of states.
    """

    @overload
    def posterior(
        self,
        variables: str,
        *,
        given: Given = None,
        codes: bool = False,
        method: InferenceMethod = "exact",
        n_samples: int | None = None,
        error: float | None = None,
        random_state: int = 0,
        max_memory: Memory = MAX_MEMORY,
    ) -> Posterior: ...

    @overload
    def posterior(
        self,
        variables: list[str] | tuple[str, ...] | None = None,
        *,
        given: Given = None,
        codes: bool = False,
        method: InferenceMethod = "exact",
        n_samples: int | None = None,
        error: float | None = None,
        random_state: int = 0,
        max_memory: Memory = MAX_MEMORY,
    ) -> Posteriors: ...

    def posterior(
        self,
        variables: str | list[str] | tuple[str, ...] | None = None,
        *,
        given: Given = None,
        codes: bool = False,
        method: InferenceMethod = "exact",
        n_samples: int | None = None,
        error: float | None = None,
        random_state: int = 0,
        max_memory: Memory = MAX_MEMORY,
    ) -> Posterior | Posteriors:
        """Return the distribution of variables given evidence; `posterior_rows` does so for each row of a table.

        Parameters
        ----------
        variables : str or list of str, optional
            One variable gives a `Posterior`; several, or none for all of them, give `Posteriors`.
        given : mapping, optional
            Evidence.
        codes : bool, default False
            Whole numbers in the evidence are positions of states.
        method : {"exact", "auto", "rejection", "weighting", "gibbs"}
            "auto" is exact unless the tables need more than ``max_memory``; then it samples, and warns.
        n_samples : int, optional
            The number of samples, by default 100 000; with ``error`` the largest number.
        error : float, optional
            Sample until every standard error is at most this.
        random_state : int, default 0
            Seed of the samples: the same one gives the same answer, whatever the number of threads.
        max_memory : number of bytes or str, default "4 GiB"
            The largest memory for the tables of the exact engine; more is an error, raised before any is made.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> net = BayesianNetwork("rain->wet", tables={"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.1, 0.9]]})
        >>> net.posterior("rain", given={"wet": "yes"})
        rain  P
        no    0.307692
        yes   0.692308
        """
        net, limit = cast("BayesianNetwork", self), memory_in_bytes(max_memory)
        wanted = _wanted(net, variables)
        evidence = read_evidence(net, given, codes)
        effort = SamplingEffort(n_samples, error, random_state)
        if method not in ("exact", "auto", *SAMPLERS):
            raise NetworkError(f"method must be 'exact', 'auto', 'rejection', 'weighting' or 'gibbs'; got {method!r}.")
        if method in ("exact", "auto"):
            try:
                return self._exact_posterior(variables, wanted, evidence, limit)
            except LargeTablesError as refusal:
                if evidence.marginals:
                    raise LargeTablesError(refusal.needs, _WITHOUT_MARGINALS) from None
                if method == "exact":
                    raise LargeTablesError(refusal.needs, _SAMPLED) from None
                warnings.warn(f"this answer is sampled, not exact: {refusal}", BayeskitWarning, stacklevel=2)
                method, effort = "weighting", replace(effort, exact_fits=False)
        places = list(range(len(net.names))) if wanted is None else wanted
        sampled = sample_marginals(self._engine, places, evidence, method, effort)
        offsets, n = self._engine.offsets, self._engine.n_cells
        values, errors = sampled.values[:n], sampled.standard_error[:n]
        answer = Posteriors(net.names, net.states, values, offsets, float("nan"), errors, sampled.quality)
        if isinstance(variables, str):
            return answer[variables]
        return answer if wanted is None else _some(answer, net, wanted)

    def _exact_posterior(
        self, variables: Any, wanted: list[int] | None, evidence: Evidence, limit: float
    ) -> Posterior | Posteriors:
        net = cast("BayesianNetwork", self)
        layers = self._two_layers
        if layers is not None and wanted is not None and layers.answers(wanted, evidence):
            parts, log_seen = layers.posteriors(wanted, evidence, limit)
            if isinstance(variables, str):
                return Posterior(variables, net.states[wanted[0]], parts[0], log_evidence=log_seen)
            names, states = tuple(net.names[v] for v in wanted), tuple(net.states[v] for v in wanted)
            return Posteriors(names, states, np.concatenate(parts), [0, *accumulate(map(len, parts))], log_seen)
        if layers is not None and wanted is None and layers.n_links > MOST_LINKS_COMPARED:
            raise LargeTablesError(
                f"the posteriors of all {len(net)} variables at once need a tree over {layers.n_links} noisy-OR links, "
                "which is not searched. Name the causes that you ask about: posterior(['flu', …], given=…)."
            )
        engine, soft = self._engine, bool(evidence.marginals)
        if soft:
            evidence = apply_soft_evidence(engine, evidence, limit)
        if isinstance(variables, str):
            assert wanted is not None
            values, log = engine.single(wanted[0], evidence, limit)
            return Posterior(variables, net.states[wanted[0]], values, log_evidence=float("nan") if soft else log)
        values, log = engine.marginals(evidence, limit)
        answer = Posteriors(net.names, net.states, values, engine.offsets, float("nan") if soft else log)
        return answer if wanted is None else _some(answer, net, wanted)

    @advise(f"Ask for fewer variables at once, or give more evidence; {_BY_VARIABLE}")
    def joint(
        self, variables: Iterable[str], *, given: Given = None, codes: bool = False, max_memory: Memory = MAX_MEMORY
    ) -> Joint:
        """Return the joint distribution of several variables given evidence.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> net = BayesianNetwork("rain->wet", tables={"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.1, 0.9]]})
        >>> net.joint(["rain", "wet"])
        rain  wet  P
        no    no   0.72
        no    yes  0.08
        yes   no   0.02
        yes   yes  0.18
        """
        net, engine, limit = cast("BayesianNetwork", self), self._engine, memory_in_bytes(max_memory)
        wanted = [variables] if isinstance(variables, str) else list(variables)
        places = _distinct(net, wanted, "joint")
        evidence = apply_soft_evidence(engine, read_evidence(net, given, codes), limit)
        free = [v for v in places if v not in evidence.states]
        if free:
            flat, _ = engine.joint(free, evidence, limit)
        else:
            engine.log_evidence(evidence, limit)  # refuses impossible evidence
            flat = np.ones(1)
        array = np.zeros([net.cards[v] for v in places])
        # An observed variable has all its mass on one state.
        array[tuple(evidence.states.get(v, slice(None)) for v in places)] = flat.reshape([net.cards[v] for v in free])
        return Joint(tuple(wanted), tuple(net.states[v] for v in places), array)

    @advise(f"Sample instead: {_BY_VARIABLE}")
    def probability(
        self, event: Mapping[str, Any], *, given: Given = None, codes: bool = False, max_memory: Memory = MAX_MEMORY
    ) -> float:
        """Return the probability of an event given evidence; the event maps variables to a state or a set of states.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> net = BayesianNetwork("rain->wet", tables={"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.1, 0.9]]})
        >>> round(net.probability({"rain": "yes"}, given={"wet": {"yes"}}), 6)
        0.692308
        """
        net, engine, limit = cast("BayesianNetwork", self), self._engine, memory_in_bytes(max_memory)
        if not event or not isinstance(event, Mapping):
            raise NetworkError(f"event must map variables to states, as {{'lung': 'yes'}}; got {event!r}.")
        asked = read_evidence(net, event, codes)
        if asked.marginals or any(set(values.tolist()) - {0.0, 1.0} for values in asked.likelihoods.values()):
            raise NetworkError("an event is a state or a set of states for each variable; likelihoods go into given.")
        evidence = apply_soft_evidence(engine, read_evidence(net, given, codes), limit)
        log_given = engine.log_evidence(evidence, limit) if evidence else 0.0
        both = _and(asked, evidence)
        if both is None:
            return 0.0
        return min(exp(engine.log_probability(both, limit) - log_given), 1.0)

    @advise("Give more evidence, so that there are fewer states to choose from.")
    def most_probable(
        self,
        variables: str | Iterable[str] | None = None,
        *,
        given: Given = None,
        codes: bool = False,
        max_memory: Memory = MAX_MEMORY,
    ) -> MostProbable:
        """Return the most probable states of all unobserved variables together (MPE), or of some (marginal MAP).

        With ``variables``, all others are summed out first, exactly: the answer may differ from the states that an MPE
        gives those variables, and from their most probable states one by one.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> net = BayesianNetwork("rain->wet", tables={"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.1, 0.9]]})
        >>> net.most_probable(given={"wet": "yes"})
        variable  state
        rain      yes
        P = 0.692308
        """
        net, engine, limit = cast("BayesianNetwork", self), self._engine, memory_in_bytes(max_memory)
        evidence = apply_soft_evidence(engine, read_evidence(net, given, codes), limit)
        if variables is None:
            places = [v for v in range(len(net.names)) if v not in evidence.states]
        else:
            places = _distinct(net, [variables] if isinstance(variables, str) else list(variables), "most_probable")
        log_evidence = engine.log_evidence(evidence, limit) if evidence else 0.0
        free = [v for v in places if v not in evidence.states]
        best, log = engine.maximum(free, evidence, limit) if free else ([], log_evidence)
        states = dict(zip(free, best, strict=True)) | evidence.states
        return MostProbable({net.names[v]: net.states[v][states[v]] for v in places}, log, log_evidence)

    def tree_size(self, *, given: Given = None) -> TreeSize:
        """Return the size of the tables that the exact posteriors of all variables need, before any is made.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> BayesianNetwork("a->b->c; a->c").tree_size()
        8 cells (64 B); the largest clique has 8 cells over 3 variables
        """
        engine = self._engine
        evidence = read_evidence(cast("BayesianNetwork", self), given)
        return engine.size_of(engine.compile().marginals(list(engine.factored.evidence(evidence).states)))

    @advise(f"Sample without evidence, or give less of it; {_BY_VARIABLE}")
    def sample(
        self,
        n: int,
        *,
        given: Given = None,
        codes: bool = False,
        random_state: int = 0,
        output: Output = "dict",
        max_memory: Memory = MAX_MEMORY,
    ) -> Any:
        """Sample cases from the network, parents before children; with evidence, from the distribution given it.

        Parameters
        ----------
        n : int
            The number of cases.
        given : mapping, optional
            Evidence. The cases are exact and independent samples of P(· | evidence), not weighted ones: the ancestors
            of the evidence are eliminated first, whose tables may take ``max_memory``.
        codes : bool, default False
            Whole numbers in the evidence are positions of states.
        random_state : int, default 0
            Seed of the samples: the same one gives the same cases, whatever the number of threads; more cases begin
            with the same ones.
        output : {"dict", "codes", "pandas", "polars"}
            A dict of arrays of states, a list of code columns (the state's position), or a frame of categories.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> net = BayesianNetwork("rain->wet", tables={"rain": [0.8, 0.2], "wet": [[1.0, 0.0], [0.1, 0.9]]})
        >>> cases = net.sample(1000)
        >>> sorted(cases)
        ['rain', 'wet']
        """
        net = cast("BayesianNetwork", self)
        rows, seed = check_request(n, output), check_random_state(random_state)
        if given:
            limit = memory_in_bytes(max_memory)
            evidence = apply_soft_evidence(self._engine, read_evidence(net, given, codes), limit)
            self._engine.log_evidence(evidence, limit)  # refuses impossible evidence
            return condition(net, evidence, limit).sample(rows, random_state=seed, output=output)
        if needs_rows(net):
            return cases_as(net, sample_by_rows(net, rows, seed), output)
        columns = self._sampler.forward(rows, seed, n_threads(rows * len(net.names)))
        return cases_as(net, columns[: len(net.names)], output)

    @cached_property
    def _two_layers(self) -> TwoLayers | None:
        return TwoLayers.of(cast("BayesianNetwork", self))

    @cached_property
    def _sampler(self) -> Sampler:
        return Sampler(self._engine.native)


def _wanted(net: BayesianNetwork, variables: Any) -> list[int] | None:
    """Return the positions of the query variables, or None for all; tables are for `posterior_rows`."""
    if variables is None:
        return None
    names = [variables] if isinstance(variables, str) else variables
    if not isinstance(names, list | tuple | set | frozenset) or not all(isinstance(name, str) for name in names):
        raise NetworkError(
            "posterior answers one case: give the name of a variable or a list of names, and the evidence as given; "
            "for a table of cases call posterior_rows(table, variables)."
        )
    return [net.index(name) for name in names]


def _distinct(net: BayesianNetwork, names: list[str], what: str) -> list[int]:
    places = [net.index(name) for name in names]
    if not places:
        raise NetworkError(f"{what} needs at least one variable.")
    if len(set(places)) < len(places):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise NetworkError(f"{what}: variable {twice!r} appears twice; name each once.")
    return places


def _some(answer: Posteriors, net: BayesianNetwork, wanted: list[int]) -> Posteriors:
    parts = [answer[net.names[v]] for v in wanted]
    offsets = [0, *accumulate(len(part) for part in parts)]
    values = np.concatenate([part.array for part in parts]) if parts else np.empty(0)
    errors = np.concatenate([part.standard_error for part in parts]) if parts else np.empty(0)
    states = tuple(net.states[v] for v in wanted)
    names = tuple(net.names[v] for v in wanted)
    return Posteriors(names, states, values, offsets, answer.log_evidence, errors, answer.quality)


def _and(event: Evidence, evidence: Evidence) -> Evidence | None:
    """Join an event to evidence; None where they contradict each other on a variable."""
    joined = Evidence(dict(evidence.states), dict(evidence.likelihoods))
    for v, state in event.states.items():
        if v in evidence.likelihoods:  # the likelihood stays, narrowed to the state
            joined.likelihoods[v] = evidence.likelihoods[v] * (np.arange(len(evidence.likelihoods[v])) == state)
        elif joined.states.setdefault(v, state) != state:
            return None
    for v, allowed in event.likelihoods.items():
        if v not in evidence.states:
            joined.likelihoods[v] = allowed * evidence.likelihoods.get(v, 1.0)
        elif not allowed[evidence.states[v]]:
            return None
    return joined if all(values.any() for values in joined.likelihoods.values()) else None
