"""The state of a fitted model, in one immutable object."""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any, cast

from bayeskit.counts.statistic import Running, Statistic

if TYPE_CHECKING:
    from bayeskit.learn.learner import Learner


class State:
    """Counts, the parameters to estimate with, and the estimated probabilities ("beliefs"), computed lazily.

    A state is immutable: learning more rows makes another one, which is set by one assignment. So a thread that
    predicts while another fits sees the old model or the new one, never parts of both.

    Parameters
    ----------
    template : Learner
        An unfitted model with the parameters at that time; later calls of ``set_params`` do not change it.
    counted : Statistic or Running
        What was counted, or a running sum of it.
    target : str, optional
        The name of the column that held the labels.
    said : frozenset of str
        The warnings already given, so that each is given once.
    """

    def __init__(
        self,
        template: Learner,
        counted: Statistic | Running,
        target: str | None = None,
        said: frozenset[str] = frozenset(),
    ) -> None:
        self.template = template
        self.counted = counted
        self.target = target
        self.said = said
        self._counts: Statistic | None = None
        self._beliefs: Any = None
        self._lock = RLock()

    @property
    def counts(self) -> Statistic:
        """The counts of all rows; a running sum is added up once."""
        if self._counts is None:
            with self._lock:
                # Asked of the class: on an object the question would already add up.
                running = hasattr(type(self.counted), "total")
                self._counts = cast(Running, self.counted).total if running else cast(Statistic, self.counted)
        return self._counts

    @property
    def beliefs(self) -> Any:
        """The estimated probabilities; computed once, by the first thread that needs them."""
        if self._beliefs is None:
            with self._lock:
                if self._beliefs is None:
                    self._beliefs = self.template._believe(self.counts)
        return self._beliefs

    def __reduce__(self) -> tuple[Any, ...]:
        # A lock cannot be pickled, and beliefs follow from the counts.
        return State, (self.template, self.counts, self.target, self.said)
