"""Progress callbacks of long computations, and how they are cancelled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """The step that begins now: its name, how many steps are done, and how many there are."""

    name: str
    done: int
    total: int


# Called before each step. To stop the work, raise CancelledError (or anything else) in it: nothing is left half done.
Progress = Callable[[Step], None]


class CancelledError(Exception):
    """Raised by a progress callback to stop the work between two steps.

    Examples
    --------
    >>> from bayeskit import compare, datasets
    >>> def stop(step):
    ...     raise CancelledError(f"stopped at {step.name}")
    >>> compare(datasets.load_tennis(), target="play", folds=2, progress=stop)
    Traceback (most recent call last):
    ...
    bayeskit.workflow.progress.CancelledError: stopped at NaiveBayes
    """


def report_step(progress: Progress | None, name: str, done: int, total: int) -> None:
    """Call the callback, if there is one, with the step that begins."""
    if progress is not None:
        progress(Step(name, done, total))
