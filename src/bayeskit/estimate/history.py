"""The one history of an iteration: the objective step by step, why it stopped, and a plot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeskit.errors import ModelFileError
from bayeskit.io.expect import expect_field
from bayeskit.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class HistoryStep(Result):
    """One step of an iteration.

    Attributes
    ----------
    number : int
        0 for the start, then 1, 2, ….
    objective : float
        What is maximised, after the step.
    gain : float
        By how much the step improved it; 0 at the start.
    parameters : object
        The parameters after the step; None where they were not asked for.
    """

    number: int
    objective: float
    gain: float
    parameters: Any = None


@dataclass(frozen=True)
class History(Result):
    """The objective before each step and at the end, for EM, gradient ascent, searches and solvers alike.

    Attributes
    ----------
    method : str
        "em", "gradient", "hill-climb", "lbfgs", …
    objective : tuple of float
        What is maximised (a penalised log-likelihood, the score of a network) before the first step and after each.
    reason : str
        Why it stopped.
    converged : bool
        False where a limit of steps, or Ctrl-C, ended it.
    starts : tuple of float
        The final objective of every start, where there were several.
    parameters : tuple
        The parameters before the first step and after each, where they were asked for (``record=True``).
    mended : int
        How often EM re-initialised a component that had become empty; each time a new history begins.

    Examples
    --------
    >>> history = History("em", (-10.0, -8.0, -7.9), "a step improved the objective by 0", True)
    >>> history
    em: -10 → -7.9 in 2 steps; a step improved the objective by 0
    """

    method: str
    objective: tuple[float, ...]
    reason: str
    converged: bool
    starts: tuple[float, ...] = ()
    parameters: tuple[Any, ...] = ()
    mended: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return what goes into a model file: all but the parameters."""
        return {
            "method": self.method,
            "objective": list(self.objective),
            "reason": self.reason,
            "converged": self.converged,
            "starts": list(self.starts),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> History:
        """Read what :meth:`to_json` gave; the file may come from an untrusted source.

        Examples
        --------
        >>> History.from_json(History("em", (-2.0, -1.0), "no step improves it", True).to_json())
        em: -2 → -1 in 1 steps; no step improves it
        """
        path, starts = (tuple(map(float, expect_field(data, name, list))) for name in ("objective", "starts"))
        if not path:
            raise ModelFileError("the history has no step.")
        method, reason = (expect_field(data, name, str) for name in ("method", "reason"))
        return cls(method, path, reason, expect_field(data, "converged", bool), starts)

    @property
    def n_steps(self) -> int:
        """The number of steps."""
        return len(self.objective) - 1

    @property
    def steps(self) -> list[HistoryStep]:
        """The start and each step, with the parameters where they were recorded (``record=True``).

        Examples
        --------
        >>> History("em", (-10.0, -8.0), "enough", True, (), ({"p": 0.5}, {"p": 0.6})).steps
        [HistoryStep(number=0, objective=-10, gain=0, parameters={'p': 0.5}),
         HistoryStep(number=1, objective=-8, gain=2, parameters={'p': 0.6})]
        """
        kept = self.parameters or (None,) * len(self.objective)
        before = (self.objective[0], *self.objective)
        numbered = enumerate(zip(self.objective, before, kept, strict=False))
        return [HistoryStep(k, now, now - last, parameters) for k, (now, last, parameters) in numbered]

    def __repr__(self) -> str:
        first, last = self.objective[0], self.objective[-1]
        return f"{self.method}: {first:.10g} → {last:.10g} in {self.n_steps} steps; {self.reason}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the objective over the steps; matplotlib must be installed."""
        import bayeskit  # the pictures are a later stage, which the public name leads to

        axes: Axes = bayeskit.plot.objective_curve(self.objective, self.method, ax)
        return axes
