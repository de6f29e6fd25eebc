"""The one EM loop: expected counts in, parameters out, history, stopping, restarts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from bayeskit.errors import BayeskitError, warn_caller
from bayeskit.estimate.history import History
from bayeskit.progress import Progress, report_step

Parameters = TypeVar("Parameters")
Statistics = TypeVar("Statistics")


@dataclass(frozen=True)
class EMResult(Generic[Parameters]):
    """The best parameters of all starts, and their history."""

    parameters: Parameters
    history: History


def expectation_maximisation(
    start: Parameters | Iterable[Parameters],
    expect: Callable[[Parameters], tuple[Statistics, float]],
    maximise: Callable[[Statistics], Parameters],
    *,
    tol: float = 1e-6,
    max_iter: int = 200,
    restarts: bool = False,
    progress: Progress | None = None,
    record: bool = False,
    mend: Callable[[Parameters, Statistics], Parameters | None] | None = None,
) -> EMResult[Parameters]:
    """Alternate expected counts and estimates until the objective improves by no more than ``tol``.

    Parameters
    ----------
    start : parameters, or several of them when ``restarts`` is true
        Where to begin; of several starts the one with the best final objective is kept.
    expect : callable
        Parameters → (expected statistics, objective at these parameters). The objective is the log-likelihood, or
        with a prior the penalised log-likelihood; it never decreases.
    maximise : callable
        Statistics → parameters.
    tol : float
        Stop when a step improves the objective by less than this.
    max_iter : int
        The largest number of steps; stopping there gives a warning that says what to try.
    restarts : bool
        Whether ``start`` is a collection of starts.
    progress : callable, optional
        Called with a :class:`bayeskit.progress.Step` after each step; an exception from it (KeyboardInterrupt too)
        stops the computation without side effects.
    record : bool, default False
        Whether the history keeps the parameters before the first step and after each.
    mend : callable, optional
        Parameters and their expected statistics → other parameters where a component has become empty, None
        otherwise. The objective may decrease there, so a new history begins.

    Returns
    -------
    EMResult
    """
    if max_iter < 1:
        raise BayeskitError(f"max_iter must be at least 1; got {max_iter}.")
    if tol < 0:
        raise BayeskitError(f"tol must not be negative; got {tol}.")
    starts: Iterable[Parameters] = start if restarts else [start]  # type: ignore[assignment, list-item]
    runs = [_climb(each, expect, maximise, tol, max_iter, progress, record, mend) for each in starts]
    if not runs:
        raise BayeskitError("EM needs at least one start; got none.")
    ends = tuple(history.objective[-1] for _, history in runs)
    parameters, history = max(runs, key=lambda run: run[1].objective[-1])
    if not history.converged:
        gain = history.objective[-1] - history.objective[-2]
        warn_caller(
            f"EM stopped after {max_iter} steps, the last of which still improved the objective by {gain:.3g}; "
            "raise max_iter or tol, or try other starts."
        )
    return EMResult(parameters, replace(history, starts=ends))


def _climb(
    parameters: Parameters,
    expect: Callable[[Parameters], tuple[Statistics, float]],
    maximise: Callable[[Statistics], Parameters],
    tol: float,
    max_iter: int,
    progress: Progress | None,
    record: bool,
    mend: Callable[[Parameters, Statistics], Parameters | None] | None,
) -> tuple[Parameters, History]:
    statistics, objective = expect(parameters)
    path, kept, mended = [objective], [parameters] if record else [], 0
    for step in range(1, max_iter + 1):
        better = None if mend is None else mend(parameters, statistics)
        if better is not None:
            mended += 1
            statistics, objective = expect(better)
            path, kept = [objective], [better] if record else []
        parameters = maximise(statistics)
        statistics, objective = expect(parameters)
        path.append(objective)
        if record:
            kept.append(parameters)
        report_step(progress, "em", step, objective=objective)
        gain = path[-1] - path[-2]
        if gain <= tol and (mend is None or mend(parameters, statistics) is None):
            reason = f"a step improved the objective by {gain:.3g}, no more than {tol:g}"
            return parameters, History("em", tuple(path), reason, True, (), tuple(kept), mended)
    reason = f"the limit of {max_iter} steps was reached"
    return parameters, History("em", tuple(path), reason, False, (), tuple(kept), mended)
