"""The one progress callback of the library, and how it cancels the work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """How far a long computation has come.

    Attributes
    ----------
    name : str
        What is being done: "em", "hill-climb", the name of a classifier, of a file, of a pass over rows.
    done : int
        How many steps (folds, rows, batches, networks) are done.
    total : int or None
        How many there are; None where that is not known, as in a search.
    objective : float or None
        What is being maximised, so far; None where nothing is.
    """

    name: str
    done: int
    total: int | None = None
    objective: float | None = None


# What every ``progress=`` takes. To stop the work, raise CancelledError (or anything else) in it: nothing is left half
# done. KeyboardInterrupt does what Ctrl-C does: a search that can keep its best result so far keeps it.
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
    bayeskit.progress.CancelledError: stopped at NaiveBayes
    """


def report_step(
    progress: Progress | None, name: str, done: int, total: int | None = None, objective: float | None = None
) -> None:
    """Call the callback, if there is one."""
    if progress is not None:
        progress(Step(name, done, total, objective))


def renamed(progress: Progress | None, name: str) -> Progress | None:
    """Return the callback of a part of the work, whose steps are reported under another name.

    Examples
    --------
    >>> renamed(print, "counting rows")(Step("days.parquet", 7, 14))
    Step(name='counting rows', done=7, total=14, objective=None)
    """
    if progress is None:
        return None
    return lambda step: progress(Step(name, step.done, step.total, step.objective))
