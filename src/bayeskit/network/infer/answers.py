"""Answers that read like tables: a posterior by state, a joint table, the most probable states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, product
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.network.answer_frames import FrameOf, frame_of
from bayeskit.network.text_table import SHOWN, text_table
from bayeskit.network.variable_names import did_you_mean
from bayeskit.network.variable_table import places_of_states
from bayeskit.result import Result


@dataclass(frozen=True, repr=False)
class Quality(Result):
    """How a result was computed.

    Attributes
    ----------
    method : str
        "exact", "rejection", "weighting" (likelihood weighting) or "gibbs".
    n_samples : int
        Number of samples; 0 for an exact answer.
    effective_samples : float
        How many independent samples would be as precise; infinite for an exact answer.
    r_hat : float
        Split-R̂ of the Gibbs chains, the largest of all states: near 1 where the chains agree. NaN for other methods.
    """

    method: str = "exact"
    n_samples: int = 0
    effective_samples: float = float("inf")
    r_hat: float = float("nan")

    @property
    def approximate(self) -> bool:
        """True unless the answer is exact."""
        return self.method != "exact"

    def __str__(self) -> str:
        if not self.approximate:
            return "exact"
        return (
            f"approximate: {self.method}, {self.n_samples} samples worth {self.effective_samples:.0f} independent ones"
        )


EXACT = Quality()


def _note(quality: Quality) -> str:
    return f"({quality})" if quality.approximate else ""


class Posterior(Mapping[str, float], Result):
    """The distribution of one variable: a mapping of state to probability.

    Attributes
    ----------
    name : str
        The variable.
    states : tuple of str
        Its states.
    array : float64 array of shape (n_states,)
        Their probabilities.
    standard_error : float64 array of shape (n_states,)
        Of a sampled answer; zeros when exact.
    quality : Quality
        How it was computed.
    log_evidence : float
        log P(evidence), where the answer is exact and there is no soft evidence; otherwise NaN.

    Examples
    --------
    >>> p = Posterior("lung", ("yes", "no"), np.array([0.1, 0.9]))
    >>> p["yes"], p.best
    (0.1, 'no')
    >>> p
    lung  P
    yes   0.1
    no    0.9
    """

    def __init__(
        self,
        name: str,
        states: tuple[str, ...],
        values: NDArray[np.float64],
        standard_error: NDArray[np.float64] | None = None,
        quality: Quality = EXACT,
        log_evidence: float | Callable[[], float] = float("nan"),
    ) -> None:
        self.name = name
        self.states = states
        self.array = values
        self.standard_error = np.zeros(len(values)) if standard_error is None else standard_error
        self.quality = quality
        self._log_evidence = log_evidence

    @property
    def log_evidence(self) -> float:
        """The logarithm of P(evidence)."""
        # Computed when it is asked for: the posterior of one variable often needs only a part of the network.
        if callable(self._log_evidence):
            self._log_evidence = self._log_evidence()
        return self._log_evidence

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_log_evidence": self.log_evidence}

    @property
    def best(self) -> str:
        """The most probable state."""
        return self.states[int(self.array.argmax())]

    def __getitem__(self, state: str) -> float:
        try:
            return float(self.array[self.states.index(state)])
        except ValueError:
            raise KeyError(f"{self.name} has no state {state!r}; states: {', '.join(self.states)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.states)

    def __len__(self) -> int:
        return len(self.states)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.array, dtype=dtype)

    def to_frame(self, output: FrameOf = "pandas") -> Any:
        """Return a frame with a row per state: the state, its probability, and its error where it was sampled."""
        columns: dict[str, Any] = {self.name: list(self.states), "P": self.array}
        if self.quality.approximate:
            columns["standard_error"] = self.standard_error
        return frame_of(columns, output)

    def __repr__(self) -> str:
        header = (self.name, "P", "±") if self.quality.approximate else (self.name, "P")
        rows = [
            (state, f"{p:.6g}", f"{error:.2g}")[: len(header)]
            for state, p, error in zip(self.states[:SHOWN], self.array, self.standard_error, strict=False)
        ]
        return text_table(header, rows, len(self.states), _note(self.quality))


class Posteriors(Mapping[str, Posterior], Result):
    """The distributions of several variables: a mapping of name to `Posterior`, computed lazily.

    Attributes
    ----------
    log_evidence : float
        log P(evidence), where the answer is exact and there is no soft evidence; otherwise NaN.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        states: tuple[tuple[str, ...], ...],
        values: NDArray[np.float64],
        offsets: Sequence[int],
        log_evidence: float,
        standard_error: NDArray[np.float64] | None = None,
        quality: Quality = EXACT,
    ) -> None:
        self._names, self._states, self._values, self._offsets = names, states, values, offsets
        self._place: dict[str, int] | None = None
        self._error = standard_error
        self.log_evidence = log_evidence
        self.quality = quality

    @property
    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """The probabilities of each variable as plain arrays, in the order of its states."""
        values, offsets = self._values, self._offsets
        return {name: values[offsets[i] : offsets[i + 1]] for i, name in enumerate(self._names)}

    def __getitem__(self, name: str) -> Posterior:
        if self._place is None:
            self._place = {name: i for i, name in enumerate(self._names)}
        i = self._place.get(name)
        if i is None:
            raise KeyError(f"no answer for {name!r}; {did_you_mean(name, self._names)}")
        part = slice(self._offsets[i], self._offsets[i + 1])
        error = None if self._error is None else self._error[part]
        return Posterior(name, self._states[i], self._values[part], error, self.quality, self.log_evidence)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def moved_from(self, other: Posteriors) -> dict[str, float]:
        """Return the total variation distance of each variable from another answer, the largest first.

        Examples
        --------
        >>> from bayeskit import datasets
        >>> net = datasets.load_asia()
        >>> moved = net.posterior(given={"smoke": "yes"}).moved_from(net.posterior())
        >>> list(moved)[:3], round(moved["bronc"], 4)
        (['smoke', 'bronc', 'dysp'], 0.15)
        """
        ours, theirs = self.arrays, other.arrays
        far = {name: 0.5 * float(np.abs(p - theirs[name]).sum()) for name, p in ours.items() if name in theirs}
        return dict(sorted(far.items(), key=lambda item: -round(item[1], 12)))

    def to_frame(self, output: FrameOf = "pandas") -> Any:
        """Return a frame with a row per variable and state."""
        variables = [name for name, states in zip(self._names, self._states, strict=True) for _ in states]
        columns: dict[str, Any] = {"variable": variables, "state": list(chain(*self._states)), "P": self._values}
        if self._error is not None and self.quality.approximate:
            columns["standard_error"] = self._error
        return frame_of(columns, output)

    def __repr__(self) -> str:
        rows = [
            (name, "  ".join(f"{state} {p:.4g}" for state, p in islice(self[name].items(), 8)))
            for name in self._names[:SHOWN]
        ]
        return text_table(("variable", "P"), rows, len(self._names), _note(self.quality))


class Joint(Result):
    """The joint distribution of several variables.

    Attributes
    ----------
    names : tuple of str
        The variables, one axis each.
    states : tuple of tuples of str
        The states along each axis.
    array : float64 array
        The probabilities.

    Examples
    --------
    >>> joint = Joint(("a", "b"), (("x", "y"), ("u", "v")), np.array([[0.1, 0.2], [0.3, 0.4]]))
    >>> joint["y", "u"]
    0.3
    """

    def __init__(self, names: tuple[str, ...], states: tuple[tuple[str, ...], ...], array: NDArray[np.float64]) -> None:
        self.names, self.states, self.array = names, states, array

    def __getitem__(self, key: str | tuple[str, ...]) -> float:
        return float(self.array[places_of_states(self.names, self.states, key)])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.array, dtype=dtype)

    def to_frame(self, output: FrameOf = "pandas") -> Any:
        """Return a frame with a row per cell: a column for each variable, and the probability."""
        cells = list(zip(*product(*self.states), strict=True))
        columns: dict[str, Any] = {name: list(column) for name, column in zip(self.names, cells, strict=True)}
        return frame_of({**columns, "P": self.array.reshape(-1)}, output)

    def __repr__(self) -> str:
        cells = islice(zip(product(*self.states), self.array.reshape(-1), strict=True), SHOWN)
        rows = [(*states, f"{p:.6g}") for states, p in cells]
        return text_table((*self.names, "P"), rows, self.array.size)


class MostProbable(Mapping[str, str], Result):
    """The most probable states of some variables: a mapping of name to state.

    Attributes
    ----------
    log_joint : float
        log P(these states, evidence).
    probability : float
        P(these states given the evidence).
    """

    def __init__(self, states: dict[str, str], log_joint: float, log_evidence: float) -> None:
        self._states = states
        self.log_joint = log_joint
        self.probability = exp(min(log_joint - log_evidence, 0.0))

    def __getitem__(self, name: str) -> str:
        return self._states[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._states)

    def __len__(self) -> int:
        return len(self._states)

    def to_frame(self, output: FrameOf = "pandas") -> Any:
        """Return a frame with a row per variable and its state."""
        return frame_of({"variable": list(self._states), "state": list(self._states.values())}, output)

    def __repr__(self) -> str:
        rows = list(self._states.items())[:SHOWN]
        return text_table(("variable", "state"), rows, len(self._states)) + f"\nP = {self.probability:.6g}"
