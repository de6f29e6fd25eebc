"""Brute-force MAP: the posterior of every conjunction, and the most probable one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bayeskit.concept.attributes import EMPTY, Codes
from bayeskit.concept.beam import ScoredHypotheses, beam_search
from bayeskit.concept.conjunctions import Attributes, Conjunction, ConjunctionSpace
from bayeskit.concept.coverage import Coverage
from bayeskit.concept.coverage_explanation import CoverageExplanation, explain_coverage
from bayeskit.concept.examples import ConceptLearner, ConceptState, Examples
from bayeskit.concept.find_s import one_row
from bayeskit.concept.priors import NAMED, Prior, is_prior, log_prior, log_weights
from bayeskit.errors import BayeskitError, ImpossibleEvidenceError, TooLargeError, warn_caller
from bayeskit.learn.parameters import at_least, refuse_parameters
from bayeskit.learn.state import learned
from bayeskit.plot.hypotheses import posterior_bars
from bayeskit.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Hypotheses times rows that a prediction unfolds at once.
_BLOCK_CELLS = 1 << 22
# What all hypotheses below this share of the best one's posterior could change is lost in rounding.
_LEAST_SHARE = 1e-20
_TIE = 1e-9
# Probabilities that record=True may keep: 800 MB.
_MOST_RECORDED = 100_000_000


@dataclass(frozen=True)
class Belief(Result):
    """The posterior after an example.

    Attributes
    ----------
    row : int or None
        The example; None for the prior.
    posterior : array of shape (n_hypotheses,)
        P(h | D) of each hypothesis after it, in the order of ``space_``.
    n_left : int
        How many hypotheses have a posterior above zero.
    """

    row: int | None
    posterior: NDArray[np.float64]

    @property
    def n_left(self) -> int:
        """How many hypotheses have a posterior above zero."""
        return int((self.posterior > 0).sum())

    def __repr__(self) -> str:
        after = "prior" if self.row is None else f"row {self.row}"
        return f"{after}: {self.n_left} hypotheses are possible, the best has P = {self.posterior.max():.6g}"


@dataclass(frozen=True, eq=False)
class PosteriorState(ConceptState):
    """The posterior of every hypothesis that was scored."""

    n_examples: int
    constraints: Codes | None  # of the hypotheses that a beam search scored; None where all of the space were
    errors: NDArray[np.int64]  # (n_hypotheses,) the examples that each gets wrong
    log_prior: NDArray[np.float64]  # (n_hypotheses,)
    log_posterior: NDArray[np.float64]  # (n_hypotheses,)
    log_evidence: float
    map: Conjunction
    ml: Conjunction
    steps: list[Belief]  # where they were asked for

    @property
    def exact(self) -> bool:
        """Whether all hypotheses were scored."""
        return self.constraints is None

    def hypothesis(self, number: int) -> Conjunction:
        """Return one of the hypotheses that were scored."""
        return _hypothesis(self.space, self.constraints, number)


class BruteForceMAP(ConceptLearner):
    r"""Compute the posterior of every conjunction, and predict by the most probable one.

    .. math:: P(h \mid D) \propto P(h) \prod_i (1 - \eta)^{[h(x_i) = d_i]} \, \eta^{[h(x_i) \ne d_i]}

    With η = 0 labels have no noise: a hypothesis that gets one example wrong is ruled out. A space with more than
    ``max_hypotheses`` is searched by a beam instead; a warning says so, ``exact_`` is False, and the posterior is that
    among the hypotheses that the search evaluated.

    Parameters
    ----------
    noise : float, default 0.0
        η, the probability that a label is wrong; at least 0 and below 0.5.
    prior : {"uniform", "specific", "simple"}, function or array, default "uniform"
        P(h). "specific" favours the more specific of two hypotheses, "simple" those with a shorter code (2 to the
        power of −bits); a function of a :class:`~bayeskit.concept.Conjunction` gives unnormalised numbers; an array
        has one probability per hypothesis in the order of ``space_``.
    attributes, positive
        As in :class:`~bayeskit.FindS`.
    max_hypotheses : int, default 5 000 000
        The largest space that is enumerated.
    beam_width : int, default 1000
        How many hypotheses of each level a beam search keeps.

    Attributes
    ----------
    map_, ml_ : Conjunction
        The most probable hypothesis, and the one of greatest likelihood.
    log_evidence_ : float
        log P(D).
    n_hypotheses_ : int
        How many hypotheses were scored: all of the space where ``exact_``.
    exact_ : bool
        False when a beam was searched.
    steps_ : list of Belief
        The prior and the posterior after each example, where ``fit(record=True)`` asked for them.

    References
    ----------
    Mitchell (1997), Machine Learning, section 6.3.1.

    Examples
    --------
    >>> from bayeskit import datasets
    >>> learner = BruteForceMAP().fit(datasets.load_enjoy_sport(), target="enjoy")
    >>> learner.n_hypotheses_, len(learner.most_probable(ties=True))
    (487, 6)
    """

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        "noise": ("a number from 0 to below 0.5", lambda noise: at_least(0)[1](noise) and noise < 0.5),
        "prior": (f"one of {', '.join(map(repr, NAMED))}, a function or an array", is_prior),
        "max_hypotheses": at_least(1, whole=True),
        "beam_width": at_least(1, whole=True),
    }

    _state: PosteriorState

    map_ = learned("map", "The most probable hypothesis.")
    ml_ = learned("ml", "The hypothesis of greatest likelihood.")
    log_evidence_ = learned("log_evidence", "log P(D).")
    log_posterior_ = learned("log_posterior", "log P(h | D) of each hypothesis, in the order of ``space_``.")
    errors_ = learned("errors", "How many examples each hypothesis gets wrong.")
    n_examples_ = learned("n_examples", "The number of examples.")
    steps_ = learned("steps", "The prior and the posterior after each example, of ``fit(record=True)``.")
    exact_ = learned("exact", "Whether all hypotheses were scored; False when a beam was searched.")

    def __init__(
        self,
        *,
        noise: float = 0.0,
        prior: Prior = "uniform",
        attributes: Attributes = None,
        positive: Any = None,
        max_hypotheses: int = 5_000_000,
        beam_width: int = 1000,
    ) -> None:
        self.noise = noise
        self.prior = prior
        self.attributes = attributes
        self.positive = positive
        self.max_hypotheses = max_hypotheses
        self.beam_width = beam_width

    def fit(self, X: Any, y: Any = None, *, target: str | None = None, record: bool = False) -> Self:
        """Learn from a table and its labels; ``record`` keeps the posterior after each example as ``steps_``.

        Raises
        ------
        ImpossibleEvidenceError
            When no hypothesis is consistent with the examples (only with ``noise=0``).
        """
        refuse_parameters(self, self._rules)
        concept, examples = self._read(X, y, target)
        space, n_examples = concept.space, len(examples.cells)
        coverage = Coverage(space, examples.cells, examples.is_positive)
        constraints: Codes | None = None
        if space.size <= self.max_hypotheses:
            errors, log_p = coverage.all_errors(), log_prior(self.prior, space)
        else:
            scored = self._search(space, coverage)
            errors, log_p, constraints = scored.errors, scored.log_prior, scored.constraints
        log_likelihood = self._log_likelihood(errors, n_examples)
        log_joint = log_p + log_likelihood
        if np.isneginf(log_joint.max()):
            best = int(np.argmin(np.where(np.isneginf(log_p), np.iinfo(np.int64).max, errors)))
            raise _nothing_left(errors, _hypothesis(space, constraints, best), int(errors[best]), n_examples)
        log_evidence = float(logsumexp(log_joint))
        steps = self._beliefs(space, examples, log_p) if record and constraints is None else []
        self._state = PosteriorState(
            **vars(concept),
            n_examples=n_examples,
            constraints=constraints,
            errors=errors,
            log_prior=log_p,
            log_posterior=log_joint - log_evidence,
            log_evidence=log_evidence,
            map=_hypothesis(space, constraints, int(np.argmax(log_joint))),
            ml=_hypothesis(space, constraints, int(np.argmax(log_likelihood))),
            steps=steps,
        )
        return self

    def _beliefs(self, space: ConjunctionSpace, examples: Examples, log_p: NDArray[np.float64]) -> list[Belief]:
        """Return the prior and the posterior after each example."""
        if space.size * (len(examples.cells) + 1) > _MOST_RECORDED:
            raise TooLargeError(
                f"record=True would keep {space.size} probabilities after each of {len(examples.cells)} examples, more "
                f"than {_MOST_RECORDED} in all; fit fewer examples."
            )
        errors = np.zeros(space.size, dtype=np.int64)
        beliefs = [Belief(None, np.exp(log_p - logsumexp(log_p)))]
        for row in range(len(examples.cells)):
            one = slice(row, row + 1)
            errors += Coverage(space, examples.cells[one], examples.is_positive[one]).all_errors()
            log_joint = log_p + self._log_likelihood(errors, row + 1)
            beliefs.append(Belief(row, np.exp(log_joint - logsumexp(log_joint))))
        return beliefs

    def _search(self, space: ConjunctionSpace, coverage: Coverage) -> ScoredHypotheses:
        size = space.size
        large = f"the space has {size:.3g} hypotheses, more than max_hypotheses={self.max_hypotheses}"
        if self.noise == 0.0:
            raise TooLargeError(
                f"{large}, and a beam search needs noise > 0 to rank hypotheses that get some examples wrong. "
                "Use CandidateElimination, which needs no list, or pass noise=0.05."
            )
        if not isinstance(self.prior, str):
            raise TooLargeError(f"{large}, and a beam search needs one of the priors {', '.join(map(repr, NAMED))}.")
        warn_caller(
            f"{large}: a beam of {self.beam_width} was searched, so the best hypothesis found need not be the MAP.",
        )
        weights, log_empty = log_weights(self.prior, space)
        log_odds = float(np.log1p(-self.noise) - np.log(self.noise))
        return beam_search(coverage, weights, log_empty, log_odds, int(self.beam_width))

    def _log_likelihood(self, errors: NDArray[np.int64], n_examples: int) -> NDArray[np.float64]:
        if self.noise == 0.0:
            return np.where(errors == 0, 0.0, -np.inf)
        right = n_examples - errors
        return np.asarray(right * np.log1p(-self.noise) + errors * np.log(self.noise))

    # -- the posterior ----------------------------------------------------------------------------------------------

    @property
    def n_hypotheses_(self) -> int:
        """How many hypotheses were scored."""
        return len(self.log_posterior_)

    def posterior(self, hypothesis: Conjunction) -> float:
        """Return P(h | D) of one hypothesis; unknown if a beam search did not evaluate it."""
        state: PosteriorState = self._fitted
        if state.constraints is None:
            if hypothesis.is_empty:
                return float(np.exp(state.log_posterior[-1]))
            number = int(np.ravel_multi_index(hypothesis.constraints, state.space.shape))
            return float(np.exp(state.log_posterior[number]))
        rows = np.flatnonzero((state.constraints == np.array(hypothesis.constraints)).all(axis=1))
        if not len(rows):
            raise BayeskitError(f"the beam search did not evaluate {hypothesis}, so its posterior is not known.")
        return float(np.exp(state.log_posterior[rows[0]]))

    def most_probable(self, n: int = 5, *, ties: bool = False) -> list[tuple[Conjunction, float, int]]:
        """Return the n most probable hypotheses: each with its posterior and the examples that it gets wrong.

        With ``ties`` all that are as probable as the best, whatever their number.
        """
        state: PosteriorState = self._fitted
        log_posterior = state.log_posterior
        if ties:
            order = np.flatnonzero(log_posterior >= log_posterior.max() - _TIE)
        else:
            order = np.argsort(-log_posterior, kind="stable")[:n]
        return [(state.hypothesis(k), float(np.exp(log_posterior[k])), int(state.errors[k])) for k in order.tolist()]

    def plot(self, n: int = 10, *, ax: Axes | None = None) -> Axes:
        """Draw prior and posterior of the n most probable hypotheses as bars, and return the Axes."""
        state: PosteriorState = self._fitted
        order = np.argsort(-state.log_posterior, kind="stable")[:n]
        bars = np.exp(np.stack([state.log_prior[order], state.log_posterior[order]]))
        titles = ("prior", f"after {state.n_examples} example{'' if state.n_examples == 1 else 's'}")
        return posterior_bars(bars, [str(state.hypothesis(k)) for k in order.tolist()], titles, ax=ax)

    def description_lengths(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return L(h) = −log₂ P(h) and L(D | h) = −log₂ P(D | h) of every hypothesis, in bits.

        With ``prior="simple"`` L(h) is the length of the code that the prior stands for.
        """
        model = self._now()
        state = model._state
        data = -model._log_likelihood(state.errors, state.n_examples) / np.log(2.0)
        return -state.log_prior / np.log(2.0), data + 0.0

    # -- prediction -------------------------------------------------------------------------------------------------

    def _predict_cells(self, cells: Codes) -> NDArray[np.bool_]:
        return self._state.space.covers(np.array(self._state.map.constraints), cells)

    def optimal_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the Bayes optimal P(label | x, D) = Σ_h P(label | h, x) P(h | D), shape (n_rows, 2).

        Columns are as in ``classes_``: not the concept, the concept. Labels carry the noise of ``noise``.
        """
        model = self._now()
        state, cells = model._state, model._cells(X)
        keep = np.flatnonzero(state.log_posterior >= state.log_posterior.max() + np.log(_LEAST_SHARE))
        constraints = _constraints_of(state, keep)
        share = np.exp(state.log_posterior[keep])
        rows, which = np.unique(cells, axis=0, return_inverse=True)
        covered = np.zeros(len(rows))
        step = max(1, _BLOCK_CELLS // len(rows))
        for start in range(0, len(keep), step):
            covers = state.space.covers(constraints[start : start + step, None, :], rows[None, :, :])
            covered += share[start : start + step] @ covers
        positive = (covered / share.sum() * (1.0 - 2.0 * model.noise) + model.noise)[which.ravel()]
        return np.stack([1.0 - positive, positive], axis=1)

    def explain(self, row: Any) -> CoverageExplanation:
        """Explain one row: the constraints of the MAP hypothesis, and the Bayes optimal probability of the concept."""
        model = self._now()
        state = model._state
        cells, plain = one_row(model, row)
        label = state.labels_of(model._predict_cells(cells[None, :]))[0]
        posterior = float(np.exp(state.log_posterior.max()))
        optimal = float(model.optimal_proba({name: [value] for name, value in plain.items()})[0, 1])
        note = f"this hypothesis has posterior {posterior:.4g}; all together give {state.positive!r} P = {optimal:.4g}"
        return explain_coverage(label, state.map, cells, plain, note)


def _hypothesis(space: ConjunctionSpace, constraints: Codes | None, number: int) -> Conjunction:
    if constraints is None:
        return space.conjunction(number)
    return Conjunction(space, tuple(constraints[number].tolist()))


def _constraints_of(state: PosteriorState, numbers: NDArray[np.int64]) -> Codes:
    if state.constraints is not None:
        return state.constraints[numbers]
    last = state.space.size - 1
    digits = np.stack(np.unravel_index(np.minimum(numbers, last - 1), state.space.shape), axis=1)
    digits[numbers == last] = EMPTY
    return digits


def _nothing_left(errors: NDArray[np.int64], best: Conjunction, wrong: int, n_examples: int) -> ImpossibleEvidenceError:
    return ImpossibleEvidenceError(
        f"no hypothesis is left: each of {len(errors)} gets at least {wrong} of {n_examples} "
        f"examples wrong (the best is {best}), and noise=0 allows none. Pass noise=0.05, or "
        "another probability that a label is wrong."
    )
