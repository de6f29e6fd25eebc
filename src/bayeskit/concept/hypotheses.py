"""A finite set of hypotheses whose probabilities evidence updates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.concept.outcomes import OutcomeModel, read_outcomes
from bayeskit.concept.probabilities import as_numbers, check_probabilities, read_prior
from bayeskit.errors import BayeskitError, ImpossibleEvidenceError
from bayeskit.explain.explanation import Explanation
from bayeskit.plot.hypotheses import posterior_bars, posterior_curves
from bayeskit.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Posteriors that differ by less than roundings of a long sum of logarithms tie.
TIE = 1e-9

Likelihood = Callable[[Any, Any], float]


@dataclass(frozen=True)
class _Step:
    """One piece of evidence: the example, and log P(example | h) for each hypothesis."""

    evidence: Any
    log_likelihood: NDArray[np.float64]  # (n_hypotheses,)


class Hypotheses(Result):
    r"""A finite set of hypotheses with probabilities that evidence updates.

    .. math:: P(h \mid D) = \frac{P(D \mid h) \, P(h)}{\sum_{h'} P(D \mid h') \, P(h')}

    The computation is done in logarithms, so that thousands of examples do not underflow. A set is immutable:
    :meth:`update` returns a new one, which remembers every step.

    Parameters
    ----------
    hypotheses : mapping of name to hypothesis, or sequence
        A hypothesis is one of

        * a mapping of outcome to probability, P(d | h); an outcome that is not named has probability 0,
        * a function of x that returns an outcome (with probability 1) or such a mapping; examples are then
          pairs (x, outcome),
        * anything, when ``likelihood`` is given; a plain sequence holds the hypotheses themselves.
    prior : mapping of name to probability or array of shape (n_hypotheses,), optional
        P(h), which must sum to 1; uniform by default.
    likelihood : function (h, d) → float, optional
        P(d | h) of an example d under a hypothesis h.
    normalize : bool, default False
        Divide the prior by its sum.

    Attributes
    ----------
    names : tuple
        The hypotheses' names.
    prior : float64 array of shape (n_hypotheses,)
        P(h) before any evidence.
    posteriors : float64 array of shape (n_examples + 1, n_hypotheses)
        P(h | the first k examples), from the prior on.

    References
    ----------
    Mitchell (1997), Machine Learning, sections 6.2 and 6.3.

    Examples
    --------
    >>> tests = {"cancer": {"+": 0.98, "-": 0.02}, "no cancer": {"+": 0.03, "-": 0.97}}
    >>> patient = Hypotheses(tests, prior={"cancer": 0.008, "no cancer": 0.992})
    >>> once = patient.update("+")
    >>> once.map(), round(once.posterior()["cancer"], 4)
    ('no cancer', 0.2085)
    >>> once.update("+")
    Hypotheses after 2 examples
    cancer     0.895896  ██████████████████
    no cancer  0.104104  ██
    """

    def __init__(
        self,
        hypotheses: Mapping[Any, Any] | Sequence[Any],
        prior: Any = None,
        likelihood: Likelihood | None = None,
        *,
        normalize: bool = False,
    ) -> None:
        named = isinstance(hypotheses, Mapping)
        if not named and likelihood is None:
            raise BayeskitError(
                "a plain list of hypotheses needs likelihood=, a function (h, d) → P(d | h); or give a mapping of each "
                "name to P(d | h)."
            )
        contents = list(hypotheses.values()) if isinstance(hypotheses, Mapping) else list(hypotheses)
        self.names: tuple[Any, ...] = tuple(hypotheses) if named else tuple(_hashable(h) for h in contents)
        if len(set(self.names)) < len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise BayeskitError(f"the hypothesis {twice!r} appears twice; names must be unique.")
        self.prior = read_prior(prior, self.names, normalize=normalize)
        self._likelihood = likelihood
        self._contents: list[Any] = (
            contents
            if likelihood is not None
            else [read_outcomes(name, says) for name, says in zip(self.names, contents, strict=True)]
        )
        self._steps: tuple[_Step, ...] = ()

    # -- evidence ---------------------------------------------------------------------------------------------------

    def update(self, *examples: Any, likelihood: Any = None) -> Hypotheses:
        """Return the hypotheses after more evidence: P(h | D, d) ∝ P(d | h) P(h | D).

        Parameters
        ----------
        *examples
            Any number of examples, independent given the hypothesis; each is a separate step in `posteriors`.
        likelihood : mapping of name to probability, or array, optional
            P(d | h) as numbers, in place of an example.

        Raises
        ------
        ImpossibleEvidenceError
            When no hypothesis is possible any more: the message names the example that ruled out the last one.
        """
        if likelihood is not None and examples:
            raise BayeskitError("give update either examples or likelihood=, the numbers P(d | h); got both.")
        steps = [(d, self._log_likelihood(d)) for d in examples] if likelihood is None else [self._given(likelihood)]
        log_joint = self.log_joint
        for number, (example, log_likelihood) in enumerate(steps, len(self._steps) + 1):
            log_joint = log_joint + log_likelihood
            if np.isneginf(log_joint.max()):
                raise self._impossible(number, example, log_likelihood)
        return self._with(*(_Step(d, row) for d, row in steps))

    def _given(self, likelihood: Any) -> tuple[Any, NDArray[np.float64]]:
        if isinstance(likelihood, Mapping):
            absent = [name for name in self.names if name not in likelihood]
            if absent:
                raise BayeskitError(f"likelihood has no number for the hypothesis {absent[0]!r}.")
            likelihood = [likelihood[name] for name in self.names]
        values = as_numbers(likelihood, "likelihood")
        if values.shape != self.prior.shape:
            raise BayeskitError(f"likelihood must have {len(self.names)} numbers, one per hypothesis; got {values!r}.")
        with np.errstate(divide="ignore"):
            return "likelihood", np.log(check_probabilities(values, "P(d | h)", self.names))

    def _log_likelihood(self, example: Any) -> NDArray[np.float64]:
        if self._likelihood is None:
            values = np.array([says.probability(example) for says in self._contents], dtype=np.float64)
        else:
            values = np.array([self._likelihood(h, example) for h in self._contents], dtype=np.float64)
            # A density may pass 1, so only what can be no likelihood at all is refused.
            if not (values >= 0.0).all():
                worst = int((~(values >= 0.0)).argmax())
                raise BayeskitError(
                    f"the likelihood of {example!r} under {self.names[worst]!r} must be a number of at least 0; "
                    f"got {values[worst]}."
                )
        with np.errstate(divide="ignore"):
            return np.log(values)

    def _impossible(self, number: int, example: Any, log_likelihood: NDArray[np.float64]) -> ImpossibleEvidenceError:
        shown = "" if example == "likelihood" else f", {example!r:.80},"
        if np.isneginf(log_likelihood).all():
            return ImpossibleEvidenceError(
                f"example {number}{shown} has likelihood 0 under every hypothesis; one of them must allow it."
            )
        return ImpossibleEvidenceError(
            f"no hypothesis is left: example {number}{shown} rules out every one that the earlier evidence had left."
        )

    def _with(self, *steps: _Step) -> Hypotheses:
        new = object.__new__(Hypotheses)
        new.__dict__.update(self.__dict__)
        new._steps = (*self._steps, *steps)
        return new

    # -- probabilities ----------------------------------------------------------------------------------------------

    @property
    def n_examples(self) -> int:
        """The number of examples so far."""
        return len(self._steps)

    @property
    def log_likelihood(self) -> NDArray[np.float64]:
        """Log P(D | h) of each hypothesis, shape (n_hypotheses,)."""
        rows = [np.zeros(len(self.names)), *(step.log_likelihood for step in self._steps)]
        return np.asarray(np.sum(rows, axis=0))

    @property
    def log_joint(self) -> NDArray[np.float64]:
        """Log P(D, h) of each hypothesis, shape (n_hypotheses,)."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.prior) + self.log_likelihood)

    @property
    def log_evidence(self) -> float:
        """Log P(D) = log Σ_h P(D | h) P(h)."""
        log_joint = self.log_joint
        peak = float(log_joint.max())
        return peak + float(np.log(np.exp(log_joint - peak).sum()))

    @property
    def posteriors(self) -> NDArray[np.float64]:
        """P(h | the first k examples) for k = 0, 1, …; shape (n_examples + 1, n_hypotheses)."""
        with np.errstate(divide="ignore"):
            start = np.log(self.prior)
        log_joint = np.cumsum([start, *(step.log_likelihood for step in self._steps)], axis=0)
        share = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
        return np.asarray(share / share.sum(axis=1, keepdims=True))

    def posterior(self) -> dict[Any, float]:
        """Return P(h | D) by name."""
        return dict(zip(self.names, self.posteriors[-1].tolist(), strict=True))

    def map(self, *, ties: bool = False) -> Any:
        """Return the maximum a posteriori hypothesis, argmax P(D | h) P(h); with ``ties`` a tuple of all such."""
        return self._best(self.log_joint, ties)

    def ml(self, *, ties: bool = False) -> Any:
        """Return the maximum likelihood hypothesis, argmax P(D | h); with ``ties`` a tuple of all such."""
        return self._best(self.log_likelihood, ties)

    def _best(self, scores: NDArray[np.float64], ties: bool) -> Any:
        best = scores >= scores.max() - TIE
        names = tuple(name for name, is_best in zip(self.names, best, strict=True) if is_best)
        return names if ties else names[0]

    def description_lengths(self) -> dict[Any, tuple[float, float]]:
        """Return L(h) = −log₂ P(h) and L(D | h) = −log₂ P(D | h) in bits, by name; the MAP has the least sum.

        >>> coins = Hypotheses({"fair": {"H": 0.5, "T": 0.5}, "two heads": {"H": 1.0}}, prior=[0.75, 0.25])
        >>> coins.update(*"HHH").description_lengths()["two heads"]
        (2.0, 0.0)
        """
        with np.errstate(divide="ignore"):
            h, d = -np.log2(self.prior), -self.log_likelihood / np.log(2.0)
        return {name: (float(a), float(b) + 0.0) for name, a, b in zip(self.names, h, d, strict=True)}

    def sample(self, random_state: Any = None) -> Any:
        """Return one hypothesis drawn from the posterior, as the Gibbs algorithm does."""
        rng = np.random.default_rng(random_state)
        return self.names[int(rng.choice(len(self.names), p=self.posteriors[-1]))]

    # -- prediction -------------------------------------------------------------------------------------------------

    def predict_proba(self, x: Any = None) -> dict[Any, float]:
        r"""Return P(v | D) = Σ_h P(v | h) P(h | D) of every outcome v of the next example.

        ``x`` is the instance, where the hypotheses are functions of one.
        """
        models = self._outcome_models("predict_proba")
        proba: dict[Any, float] = {}
        for model, p in zip(models, self.posteriors[-1].tolist(), strict=True):
            for outcome, q in model.outcomes(x).items():
                proba[outcome] = proba.get(outcome, 0.0) + q * p
        return proba

    def outcomes(self, number: int, x: Any = None) -> dict[Any, float]:
        """Return P(v | h) of every outcome v under one hypothesis, given by its number."""
        return self._outcome_models("outcomes")[number].outcomes(x)

    def predict(self, x: Any = None) -> Any:
        """Return the Bayes optimal outcome, argmax_v Σ_h P(v | h) P(h | D); it may differ from the outcome of `map`.

        Examples
        --------
        >>> says = {"h1": {"+": 1}, "h2": {"-": 1}, "h3": {"-": 1}}
        >>> three = Hypotheses(says, prior=[0.4, 0.3, 0.3])
        >>> three.map(), three.predict()
        ('h1', '-')
        """
        shares = self.predict_proba(x)
        return max(shares, key=lambda outcome: shares[outcome])

    def _outcome_models(self, what: str) -> list[OutcomeModel]:
        if self._likelihood is not None:
            raise BayeskitError(
                f"{what} needs hypotheses that give P(v | h); these were given only by likelihood=. "
                "Give a mapping of each name to its outcomes, or to a function of x."
            )
        return self._contents

    # -- reading ----------------------------------------------------------------------------------------------------

    def explain(self, a: Any = None, b: Any = None) -> Explanation:
        """Explain why hypothesis a is more probable than b: prior log-odds, then the change by each example.

        By default a is the most probable hypothesis and b the runner-up.
        """
        if len(self.names) < 2:
            raise BayeskitError("odds need two hypotheses; there is one.")
        ranked = np.argsort(-self.log_joint, kind="stable")
        i = int(ranked[0]) if a is None else self._place(a)
        j = (int(ranked[1]) if i != ranked[1] else int(ranked[0])) if b is None else self._place(b)
        if i == j:
            raise BayeskitError(f"odds need two different hypotheses; got {self.names[i]!r} twice.")
        terms = []
        for step in self._steps:
            for_a, for_b = step.log_likelihood[i], step.log_likelihood[j]
            if np.isneginf(for_a) and np.isneginf(for_b):
                raise ImpossibleEvidenceError(
                    f"neither {self.names[i]!r} nor {self.names[j]!r} allows {step.evidence!r:.60}; they have no odds."
                )
            terms.append(float(for_a - for_b))
        with np.errstate(divide="ignore"):
            prior = np.log(self.prior)
        return Explanation(
            (self.names[i], self.names[j]),
            float(prior[i] - prior[j]),
            tuple(f"example {k + 1}" for k in range(len(terms))),
            tuple(step.evidence for step in self._steps),
            np.array(terms, dtype=np.float64),
            np.ones(len(terms), dtype=bool),
            float(self.posteriors[-1][i]),
        )

    def _place(self, name: Any) -> int:
        if name not in self.names:
            raise BayeskitError(f"{name!r} is not a hypothesis; there are {', '.join(map(repr, self.names[:8]))}.")
        return self.names.index(name)

    def plot(self, kind: str = "bars", *, steps: Sequence[int] | None = None, ax: Axes | None = None) -> Axes:
        """Draw the posteriors and return the Axes.

        Parameters
        ----------
        kind : {"bars", "curves"}
            Bars over the hypotheses, one group for each step (Mitchell, figure 6.1), or one curve per hypothesis over
            the number of examples (Russell & Norvig, figure 20.1).
        steps : sequence of int, optional
            The numbers of examples after which to draw bars; by default at the start, in the middle and at the end.
        """
        names = [str(name) for name in self.names]
        if kind == "curves":
            return posterior_curves(self.posteriors, names, ax=ax)
        if kind != "bars":
            raise BayeskitError(f"kind must be 'bars' or 'curves'; got {kind!r}.")
        last = self.n_examples
        wanted = sorted({0, last // 2, last}) if steps is None else list(steps)
        bad = [k for k in wanted if not 0 <= k <= last]
        if bad:
            raise BayeskitError(f"steps must be numbers of examples from 0 to {last}; got {bad[0]}.")
        titles = [f"after {k} example{'' if k == 1 else 's'}" if k else "prior" for k in wanted]
        return posterior_bars(self.posteriors[wanted], names, titles, ax=ax)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        head = f"Hypotheses after {self.n_examples} example{'' if self.n_examples == 1 else 's'}"
        ranked = sorted(self.posterior().items(), key=lambda item: -item[1])[:10]
        places = max(len(str(name)) for name, _ in ranked)
        lines = [f"{name!s:{places}}  {p:.6f}  {'█' * round(20 * p)}".rstrip() for name, p in ranked]
        more = [f"… {len(self.names) - 10} more"] if len(self.names) > 10 else []
        return "\n".join([head, *lines, *more])


def _hashable(hypothesis: Any) -> Any:
    try:
        hash(hypothesis)
    except TypeError:
        return repr(hypothesis)
    return hypothesis
