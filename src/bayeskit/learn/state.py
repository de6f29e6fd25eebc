"""The state of a fitted model: all that was learned, in one frozen value."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from numpy.typing import NDArray

from bayeskit.counts.statistic import Running, Statistic
from bayeskit.table.schema import Schema

if TYPE_CHECKING:
    from bayeskit.learn.model import Model


@dataclass(frozen=True, eq=False)
class State:
    """What a model learned, and the settings that it learned with; models add what they learn as further fields.

    A state is never changed: learning more makes another one, which is set by one assignment. So a thread that predicts
    while another fits sees the old model or the new one, never parts of both, and a fit that fails changes nothing.
    """

    settings: Model  # an unfitted model with the parameters at that time; later calls of ``set_params`` do not reach it
    schema: Any  # name, kind and values of each column
    target: str | None  # the column that held the labels, where ``target`` named it


class CountedState:
    """The state of a model that learns from counts: its probabilities ("beliefs") are computed when they are needed.

    Parameters
    ----------
    settings : Model
        An unfitted model with the parameters at that time.
    counted : Statistic or Running
        What was counted, or a running sum of it.
    target : str, optional
        The name of the column that held the labels.
    said : frozenset of str
        The warnings already given, so that each is given once.
    """

    def __init__(
        self,
        settings: Any,
        counted: Statistic | Running,
        target: str | None = None,
        said: frozenset[str] = frozenset(),
    ) -> None:
        self.settings = settings
        self.counted = counted
        self.target = target
        self.said = said
        self._counts: Statistic | None = None
        self._beliefs: Any = None
        self._lock = RLock()

    @property
    def schema(self) -> Schema:
        """Name, kind and values of each column."""
        return self.counted.schema

    @property
    def classes(self) -> NDArray[Any]:
        """The class labels."""
        return self.counted.classes

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
                    self._beliefs = self.settings._believe(self.counts)
        return self._beliefs

    def __reduce__(self) -> tuple[Any, ...]:
        # A lock cannot be pickled, and beliefs follow from the counts.
        return CountedState, (self.settings, self.counts, self.target, self.said)


# The lock of each model that is being changed. It belongs to the object, not to what the object holds: copies and
# pickles have none of it.
_locks: WeakKeyDictionary[Any, RLock] = WeakKeyDictionary()
_guard = Lock()


def change_of(model: Any) -> Any:
    """Return the lock that a change of a model holds while it reads the state, makes the next one and assigns it."""
    with _guard:
        return _locks.setdefault(model, RLock())


def learned(name: str, doc: str) -> Any:
    """Return a public attribute that reads one field of the state.

    >>> class Mean:
    ...     mean_ = learned("mean", "The mean.")
    >>> Mean.mean_.__doc__
    'The mean.'
    """
    return property(lambda model: getattr(model._fitted, name), doc=doc)
