"""The exceptions and warnings of bayeskit: one small family, all of them ``ValueError`` or ``UserWarning``."""

import sys
import warnings

from bayeskit.language import translated


class BayeskitError(ValueError):
    """Anything that bayeskit refuses; the message says where, what came and what would do.

    ``str(error)`` is in the language of the reader; ``error.args[0]`` is always English.
    """

    def __str__(self) -> str:
        return translated(super().__str__())


class TableError(BayeskitError):
    """A table, a column, a target or weights that cannot be read as given.

    ``parameter`` names the argument that would settle it, such as "encoding"; the command line shows its own option for
    it.
    """

    def __init__(self, message: str = "", parameter: str | None = None) -> None:
        super().__init__(message)
        self.parameter = parameter


class BrokenFileError(TableError):
    """A file of a scan, or a part of one, cannot be read; ``scan(…, skip_broken=True)`` leaves it out."""


class UnseenValueError(TableError):
    """A value that was not seen in ``fit``, under ``unseen="error"``."""


class ImpossibleEvidenceError(BayeskitError):
    """Evidence that has probability zero under the model."""


class MergeError(BayeskitError):
    """Two models or statistics whose columns or classes do not match."""


class ModelFileError(BayeskitError):
    """A model file that is truncated, damaged, not from bayeskit, or from a newer version."""


class NetworkError(BayeskitError):
    """A graph, a table or a name that does not make a Bayesian network."""


class NetworkFileError(NetworkError):
    """A network file that cannot be read; the message gives the line and the column."""


class InconsistentExamplesError(BayeskitError):
    """Examples that no hypothesis fits.

    Attributes
    ----------
    row : int
        The example that ruled out the last hypothesis.
    hypothesis
        The most specific hypothesis that covers the positive examples up to it.
    """

    def __init__(self, message: str, *, row: int, hypothesis: object) -> None:
        super().__init__(message)
        self.row = row
        self.hypothesis = hypothesis

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword arguments are lost by the way exceptions are pickled, which joblib's workers need.
        return _inconsistent, (self.args[0], self.row, self.hypothesis)


class TooLargeError(BayeskitError):
    """A computation that would need more memory than allowed; raised before it starts."""


class BayeskitWarning(UserWarning):
    """A warning; the message says what to do about it, in the language of the reader."""

    def __str__(self) -> str:
        return translated(super().__str__())


def warn_caller(message: str, category: type[Warning] = BayeskitWarning) -> None:
    """Warn with the location of the line outside bayeskit that made the call."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "bayeskit":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _inconsistent(message: str, row: int, hypothesis: object) -> InconsistentExamplesError:
    return InconsistentExamplesError(message, row=row, hypothesis=hypothesis)
