"""Brute-force MAP: the posterior of every conjunction, and the most probable one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit.concept.attributes import EMPTY, Codes
from bayeskit.concept.beam import Found, beam_search
from bayeskit.concept.conjunctions import Attributes, Conjunction
from bayeskit.concept.coverage import Coverage
from bayeskit.concept.coverage_explanation import CoverageExplanation, explain_coverage
from bayeskit.concept.examples import ConceptLearner
from bayeskit.concept.find_s import one_row
from bayeskit.concept.priors import NAMED, Prior, check_prior, log_prior, log_weights
from bayeskit.errors import BayeskitError, ImpossibleEvidenceError, TooLargeError, warn_caller
from bayeskit.plot.hypotheses import posterior_bars

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Hypotheses times rows that a prediction unfolds at once.
_BLOCK_CELLS = 1 << 22
# What all hypotheses below this share of the best one's posterior could change is lost in rounding.
_LEAST_SHARE = 1e-20
_TIE = 1e-9


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

    def fit(self, X: Any, y: Any = None, *, target: str | None = None) -> Self:
        """Learn from a table and its labels.

        Raises
        ------
        ImpossibleEvidenceError
            When no hypothesis is consistent with the examples (only with ``noise=0``).
        """
        self._check_parameters()
        examples = self._read(X, y, target)
        coverage = Coverage(self.space_, examples.cells, examples.is_positive)
        self.n_examples_ = len(examples.cells)
        self.exact_ = self.space_.size <= self.max_hypotheses
        if self.exact_:
            errors, log_p = coverage.all_errors(), log_prior(self.prior, self.space_)
            self._constraints: Codes | None = None
        else:
            found = self._search(coverage)
            errors, log_p, self._constraints = found.errors, found.log_prior, found.constraints
        log_likelihood = self._log_likelihood(errors)
        log_joint = log_p + log_likelihood
        peak = float(log_joint.max())
        if np.isneginf(peak):
            raise self._nothing_left(errors, log_p)
        self.errors_: NDArray[np.int64] = errors
        self._log_prior = log_p
        self.log_evidence_ = peak + float(np.log(np.exp(log_joint - peak).sum()))
        self.log_posterior_: NDArray[np.float64] = log_joint - self.log_evidence_
        self.map_ = self._hypothesis(int(np.argmax(log_joint)))
        self.ml_ = self._hypothesis(int(np.argmax(log_likelihood)))
        return self

    def _check_parameters(self) -> None:
        noise: Any = self.noise
        if isinstance(noise, bool) or not isinstance(noise, int | float | np.number) or not 0.0 <= noise < 0.5:
            raise BayeskitError(f"noise is the probability that a label is wrong, from 0 to below 0.5; got {noise!r}.")
        check_prior(self.prior)
        for name in ("max_hypotheses", "beam_width"):
            value: Any = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise BayeskitError(f"{name} must be a whole number of at least 1; got {value!r}.")

    def _search(self, coverage: Coverage) -> Found:
        size = self.space_.size
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
        weights, log_empty = log_weights(self.prior, self.space_)
        log_odds = float(np.log1p(-self.noise) - np.log(self.noise))
        return beam_search(coverage, weights, log_empty, log_odds, int(self.beam_width))

    def _log_likelihood(self, errors: NDArray[np.int64]) -> NDArray[np.float64]:
        if self.noise == 0.0:
            return np.where(errors == 0, 0.0, -np.inf)
        right = self.n_examples_ - errors
        return np.asarray(right * np.log1p(-self.noise) + errors * np.log(self.noise))

    def _nothing_left(self, errors: NDArray[np.int64], log_p: NDArray[np.float64]) -> ImpossibleEvidenceError:
        best = int(np.argmin(np.where(np.isneginf(log_p), np.iinfo(np.int64).max, errors)))
        return ImpossibleEvidenceError(
            f"no hypothesis is left: each of {len(errors)} gets at least {int(errors[best])} of {self.n_examples_} "
            f"examples wrong (the best is {self._hypothesis(best)}), and noise=0 allows none. Pass noise=0.05, or "
            "another probability that a label is wrong."
        )

    # -- the posterior ----------------------------------------------------------------------------------------------

    @property
    def n_hypotheses_(self) -> int:
        """How many hypotheses were scored."""
        self._refuse_unfitted()
        return len(self.log_posterior_)

    def _hypothesis(self, number: int) -> Conjunction:
        if self._constraints is None:
            return self.space_.conjunction(number)
        return Conjunction(self.space_, tuple(self._constraints[number].tolist()))

    def posterior(self, hypothesis: Conjunction) -> float:
        """Return P(h | D) of one hypothesis; unknown if a beam search did not evaluate it."""
        self._refuse_unfitted()
        if self._constraints is None:
            if hypothesis.is_empty:
                return float(np.exp(self.log_posterior_[-1]))
            number = int(np.ravel_multi_index(hypothesis.constraints, self.space_.shape))
            return float(np.exp(self.log_posterior_[number]))
        rows = np.flatnonzero((self._constraints == np.array(hypothesis.constraints)).all(axis=1))
        if not len(rows):
            raise BayeskitError(f"the beam search did not evaluate {hypothesis}, so its posterior is not known.")
        return float(np.exp(self.log_posterior_[rows[0]]))

    def most_probable(self, n: int = 5, *, ties: bool = False) -> list[tuple[Conjunction, float, int]]:
        """Return the n most probable hypotheses: each with its posterior and the examples that it gets wrong.

        With ``ties`` all that are as probable as the best, whatever their number.
        """
        self._refuse_unfitted()
        if ties:
            order = np.flatnonzero(self.log_posterior_ >= self.log_posterior_.max() - _TIE)
        else:
            order = np.argsort(-self.log_posterior_, kind="stable")[:n]
        return [
            (self._hypothesis(k), float(np.exp(self.log_posterior_[k])), int(self.errors_[k])) for k in order.tolist()
        ]

    def plot(self, n: int = 10, *, ax: Axes | None = None) -> Axes:
        """Draw prior and posterior of the n most probable hypotheses as bars, and return the Axes."""
        self._refuse_unfitted()
        order = np.argsort(-self.log_posterior_, kind="stable")[:n]
        bars = np.exp(np.stack([self._log_prior[order], self.log_posterior_[order]]))
        titles = ("prior", f"after {self.n_examples_} example{'' if self.n_examples_ == 1 else 's'}")
        return posterior_bars(bars, [str(self._hypothesis(k)) for k in order.tolist()], titles, ax=ax)

    def description_lengths(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return L(h) = −log₂ P(h) and L(D | h) = −log₂ P(D | h) of every hypothesis, in bits.

        With ``prior="simple"`` L(h) is the length of the code that the prior stands for.
        """
        self._refuse_unfitted()
        data = -self._log_likelihood(self.errors_) / np.log(2.0)
        return -self._log_prior / np.log(2.0), data + 0.0

    # -- prediction -------------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label that the MAP hypothesis gives each row."""
        return self._as_labels(self._predict_cells(self._cells(X)))

    def _predict_cells(self, cells: Codes) -> NDArray[np.bool_]:
        return self.space_.covers(np.array(self.map_.constraints), cells)

    def optimal_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the Bayes optimal P(label | x, D) = Σ_h P(label | h, x) P(h | D), shape (n_rows, 2).

        Columns are as in ``classes_``: not the concept, the concept. Labels carry the noise of ``noise``.
        """
        cells = self._cells(X)
        keep = np.flatnonzero(self.log_posterior_ >= self.log_posterior_.max() + np.log(_LEAST_SHARE))
        constraints = self._constraints_of(keep)
        share = np.exp(self.log_posterior_[keep])
        rows, which = np.unique(cells, axis=0, return_inverse=True)
        covered = np.zeros(len(rows))
        step = max(1, _BLOCK_CELLS // len(rows))
        for start in range(0, len(keep), step):
            covers = self.space_.covers(constraints[start : start + step, None, :], rows[None, :, :])
            covered += share[start : start + step] @ covers
        positive = (covered / share.sum() * (1.0 - 2.0 * self.noise) + self.noise)[which.ravel()]
        return np.stack([1.0 - positive, positive], axis=1)

    def _constraints_of(self, numbers: NDArray[np.int64]) -> Codes:
        if self._constraints is not None:
            return self._constraints[numbers]
        last = self.space_.size - 1
        digits = np.stack(np.unravel_index(np.minimum(numbers, last - 1), self.space_.shape), axis=1)
        digits[numbers == last] = EMPTY
        return digits

    def explain(self, row: Any) -> CoverageExplanation:
        """Explain one row: the constraints of the MAP hypothesis, and the Bayes optimal probability of the concept."""
        self._refuse_unfitted()
        cells, plain = one_row(self, row)
        label = self._as_labels(self._predict_cells(cells[None, :]))[0]
        posterior = float(np.exp(self.log_posterior_.max()))
        optimal = float(self.optimal_proba({name: [value] for name, value in plain.items()})[0, 1])
        note = f"this hypothesis has posterior {posterior:.4g}; all together give {self.positive_!r} P = {optimal:.4g}"
        return explain_coverage(label, self.map_, cells, plain, note)
