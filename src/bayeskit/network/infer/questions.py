"""The questions that a network answers; mixed into `BayesianNetwork`."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import accumulate
from math import exp
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import Sampler, n_threads
from bayeskit.errors import BayeskitWarning, NetworkError, TooLargeError
from bayeskit.network.infer.answers import Explanation, Joint, Posterior, Posteriors
from bayeskit.network.infer.evidence import Evidence, read_evidence
from bayeskit.network.infer.exact import MEMORY_LIMIT, ExactEngine, TreeSize
from bayeskit.network.infer.forward import Output, cases_as, check_request, check_seed
from bayeskit.network.infer.rows import Impossible, posterior_rows
from bayeskit.network.infer.sampling import METHODS, Effort, estimate
from bayeskit.network.infer.wishes import fit_wishes

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

Method = Literal["exact", "auto", "rejection", "weighting", "gibbs"]
Given = Mapping[str, Any] | None


class Questions:
    """The doors to inference.

    Evidence (``given``) maps a variable to a state, to a set of states, to a likelihood (a mapping of state to number,
    or numbers one a state), or to a `Marginal` that it shall have afterwards.
    """

    @cached_property
    def _engine(self) -> ExactEngine:
        return ExactEngine(cast("BayesianNetwork", self))

    def posterior(
        self,
        of: Any = None,
        targets: str | Iterable[str] | None = None,
        *,
        given: Given = None,
        method: Method = "exact",
        n_samples: int | None = None,
        error: float | None = None,
        seed: int = 0,
        memory_limit: float = MEMORY_LIMIT,
        impossible: Impossible = "error",
    ) -> Any:
        """Return the distribution of variables given evidence, for one case or for each row of a table.

        Parameters
        ----------
        of : str, list of str, or any table
            One variable (gives a `Posterior`), several (gives `Posteriors`), none for all of them; or a table of cases,
            whose known cells are the evidence: then ``targets`` says which variables, and the answer is one array of
            shape (n_rows, n_states), or a dict of them for several targets. A cell of a target that is known is
            evidence too.
        targets : str or list of str, optional
            With a table only.
        given : mapping, optional
            Evidence; not with a table.
        method : {"exact", "auto", "rejection", "weighting", "gibbs"}
            "auto" is exact unless the tables pass ``memory_limit``; then it samples, and warns.
        n_samples : int, optional
            Samples to draw, 100 000 unless said otherwise; with ``error`` the most to draw.
        error : float, optional
            Sample until no standard error is above this.
        seed : int, default 0
            The same seed gives the same answer, whatever the number of threads.
        memory_limit : float, default 4 GiB
            Bytes of tables above which the exact engine refuses before it starts.
        impossible : {"error", "prior"}
            For a table: what to do with a row that the network cannot give.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> net = BayesianNetwork("rain->wet", tables={"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.1, 0.9]]})
        >>> net.posterior("rain", given={"wet": "yes"})
        rain  P
        no    0.307692
        yes   0.692308
        >>> net.posterior({"wet": ["yes", None]}, "rain")
        array([[0.30769231, 0.69230769],
               [0.8       , 0.2       ]])
        """
        if _is_table(of):
            _refuse_with_table(given, method)
            return self._posterior_of_rows(of, targets, impossible, memory_limit)
        if targets is not None:
            raise NetworkError("targets goes with a table of cases; for one case name the variables first.")
        net = cast("BayesianNetwork", self)
        evidence = read_evidence(net, given)
        wanted = None if of is None else [net.index(of)] if isinstance(of, str) else [net.index(name) for name in of]
        effort = Effort(n_samples, error, seed)
        if _check_method(method) in ("exact", "auto"):
            try:
                return self._exact_posterior(of, wanted, evidence, memory_limit)
            except TooLargeError as refusal:
                if method == "exact":
                    raise
                warnings.warn(f"this answer is sampled, not exact: {refusal}", BayeskitWarning, stacklevel=2)
                method = "weighting"
        places = list(range(len(net.names))) if wanted is None else wanted
        found = estimate(self._engine, places, evidence, method, effort)
        answer = Posteriors(
            net.names, net.states, found.values, self._engine.offsets, float("nan"), found.standard_error, found.quality
        )
        return answer[of] if isinstance(of, str) else answer if wanted is None else _some(answer, net, wanted)

    def _exact_posterior(
        self, of: Any, wanted: list[int] | None, evidence: Evidence, memory_limit: float
    ) -> Posterior | Posteriors:
        net, engine = cast("BayesianNetwork", self), self._engine
        wished = bool(evidence.wished)
        if wished:
            evidence = fit_wishes(engine, evidence, memory_limit)
        if isinstance(of, str):
            assert wanted is not None
            return Posterior(of, net.states[wanted[0]], engine.single(wanted[0], evidence, memory_limit))
        values, log = engine.marginals(evidence, memory_limit)
        answer = Posteriors(net.names, net.states, values, engine.offsets, float("nan") if wished else log)
        return answer if wanted is None else _some(answer, net, wanted)

    def _posterior_of_rows(
        self, table: Any, targets: str | Iterable[str] | None, impossible: Impossible, memory_limit: float
    ) -> Any:
        net = cast("BayesianNetwork", self)
        names = list(net.names) if targets is None else [targets] if isinstance(targets, str) else list(targets)
        places = [net.index(name) for name in names]
        parts = posterior_rows(
            self._engine, table, places, own_cells=True, impossible=impossible, memory_limit=memory_limit
        )
        return parts[0] if isinstance(targets, str) else dict(zip(names, parts, strict=True))

    def predict_proba(
        self, table: Any, target: str, *, impossible: Impossible = "error", memory_limit: float = MEMORY_LIMIT
    ) -> NDArray[np.float64]:
        """Return P(target | the other cells) for each row of a table; the target's own column is not looked at.

        A missing cell is summed out. Where the cells of the target's Markov blanket are known they settle the answer.

        Parameters
        ----------
        table : any table
            Columns are found by name; variables without a column are missing. A list of code columns, one a variable,
            is read in place.
        target : str
            The variable to predict.
        impossible : {"error", "prior"}
            What to do with a row that the network cannot give.
        memory_limit : float, default 4 GiB
            Bytes of tables above which the exact engine refuses before it starts.

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
        places = [cast("BayesianNetwork", self).index(target)]
        return posterior_rows(
            self._engine, table, places, own_cells=False, impossible=impossible, memory_limit=memory_limit
        )[0]

    def joint(self, names: Iterable[str], *, given: Given = None, memory_limit: float = MEMORY_LIMIT) -> Joint:
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
        net, engine = cast("BayesianNetwork", self), self._engine
        wanted = [names] if isinstance(names, str) else list(names)
        places = _distinct(net, wanted, "joint")
        evidence = fit_wishes(engine, read_evidence(net, given), memory_limit)
        free = [v for v in places if v not in evidence.states]
        if free:
            flat, _ = engine.joint(free, evidence, memory_limit)
        else:
            engine.log_evidence(evidence, memory_limit)  # refuses what cannot be
            flat = np.ones(1)
        array = np.zeros([net.cards[v] for v in places])
        # An observed variable has all its mass on one state.
        array[tuple(evidence.states.get(v, slice(None)) for v in places)] = flat.reshape([net.cards[v] for v in free])
        return Joint(tuple(wanted), tuple(net.states[v] for v in places), array)

    def probability(self, of: Mapping[str, Any], *, given: Given = None, memory_limit: float = MEMORY_LIMIT) -> float:
        """Return the probability of an event given evidence; the event maps variables to a state or a set of states.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> net = BayesianNetwork("rain->wet", tables={"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.1, 0.9]]})
        >>> round(net.probability({"rain": "yes"}, given={"wet": {"yes"}}), 6)
        0.692308
        """
        net, engine = cast("BayesianNetwork", self), self._engine
        if not of or not isinstance(of, Mapping):
            raise NetworkError(f"of must map variables to states, as {{'lung': 'yes'}}; got {of!r}.")
        event = read_evidence(net, of)
        if event.wished or any(set(values.tolist()) - {0.0, 1.0} for values in event.likelihoods.values()):
            raise NetworkError("an event is a state or a set of states for each variable; likelihoods go into given.")
        evidence = fit_wishes(engine, read_evidence(net, given), memory_limit)
        log_given = engine.log_evidence(evidence, memory_limit) if evidence else 0.0
        both = _and(event, evidence)
        if both is None or not engine.is_possible(both):
            return 0.0
        return min(exp(engine.log_evidence(both, memory_limit) - log_given), 1.0)

    def most_probable(
        self, names: str | Iterable[str] | None = None, *, given: Given = None, memory_limit: float = MEMORY_LIMIT
    ) -> Explanation:
        """Return the most probable states of all unobserved variables together (MPE), or of some (marginal MAP).

        With names, all other variables are summed out first, exactly: the answer may differ from the states that an MPE
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
        net, engine = cast("BayesianNetwork", self), self._engine
        evidence = fit_wishes(engine, read_evidence(net, given), memory_limit)
        if names is None:
            places = [v for v in range(len(net.names)) if v not in evidence.states]
        else:
            places = _distinct(net, [names] if isinstance(names, str) else list(names), "most_probable")
        log_evidence = engine.log_evidence(evidence, memory_limit) if evidence else 0.0
        free = [v for v in places if v not in evidence.states]
        best, log = engine.maximum(free, evidence, memory_limit) if free else ([], log_evidence)
        found = dict(zip(free, best, strict=True)) | evidence.states
        return Explanation({net.names[v]: net.states[v][found[v]] for v in places}, log, log_evidence)

    def tree_size(self, *, given: Given = None) -> TreeSize:
        """Say how large the tables are that the exact posteriors of all variables need, before any is made.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> BayesianNetwork("a->b->c; a->c").tree_size()
        8 cells (64 B); the largest clique has 8 cells over 3 variables
        """
        engine = self._engine
        evidence = read_evidence(cast("BayesianNetwork", self), given)
        return engine.size_of(engine.compile().marginals(list(evidence.states)))

    def sample(self, n: int, *, seed: int = 0, output: Output = "dict") -> Any:
        """Draw cases from the network, parents before children.

        Parameters
        ----------
        n : int
            How many cases.
        seed : int, default 0
            The same seed gives the same cases, whatever the number of threads; more cases begin with the same ones.
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
        rows, seed = check_request(n, output), check_seed(seed)
        return cases_as(net, self._sampler.forward(rows, seed, n_threads(rows * len(net.names))), output)

    @cached_property
    def _sampler(self) -> Sampler:
        return Sampler(self._engine.native)


def _is_table(of: Any) -> bool:
    if of is None or isinstance(of, str):
        return False
    return not (isinstance(of, (list, tuple, set, frozenset)) and all(isinstance(item, str) for item in of))


def _refuse_with_table(given: Given, method: str) -> None:
    if given:
        raise NetworkError("with a table the evidence is in its cells; add a column instead of given.")
    if method != "exact":
        raise NetworkError(f"a table of cases is answered exactly; method={method!r} goes with one case.")


def _check_method(method: str) -> str:
    if method not in ("exact", "auto", *METHODS):
        raise NetworkError(f"method must be 'exact', 'auto', 'rejection', 'weighting' or 'gibbs'; got {method!r}.")
    return method


def _distinct(net: BayesianNetwork, names: list[str], what: str) -> list[int]:
    places = [net.index(name) for name in names]
    if not places:
        raise NetworkError(f"{what} needs at least one variable.")
    if len(set(places)) < len(places):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise NetworkError(f"{what}: variable {twice!r} is there twice; name each once.")
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
        if joined.states.get(v, state) != state:
            return None
        if v in joined.likelihoods and v not in joined.states:
            # The likelihood stays, narrowed to the state.
            joined.likelihoods[v] = joined.likelihoods[v] * (np.arange(len(joined.likelihoods[v])) == state)
            if not joined.likelihoods[v].any():
                return None
            continue
        joined.states[v] = state
    for v, allowed in event.likelihoods.items():
        if v in joined.states:
            if not allowed[joined.states[v]]:
                return None
        else:
            joined = joined.with_likelihoods({v: allowed})
            if not joined.likelihoods[v].any():
                return None
    return joined
