"""The exceptions and warnings of bayeskit: one small family, all of them ``ValueError`` or ``UserWarning``."""

import sys
import warnings


class BayeskitError(ValueError):
    """Anything that bayeskit refuses; the message says where, what came and what would do."""


class TableError(BayeskitError):
    """A table, a column, a target or weights that cannot be read as given.

    ``parameter`` names the argument that would settle it, such as "encoding"; a command shows its own option for it.
    """

    def __init__(self, message: str = "", parameter: str | None = None) -> None:
        super().__init__(message)
        self.parameter = parameter


class UnseenValueError(TableError):
    """A value that the model did not meet in ``fit``, under ``unseen="error"``."""


class ImpossibleEvidenceError(BayeskitError):
    """Evidence that has probability zero under the model."""


class MergeError(BayeskitError):
    """Two models or statistics whose columns or classes do not match."""


class ModelFileError(BayeskitError):
    """A model file that is cut, damaged, from elsewhere, or from a newer bayeskit."""


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
    """Work refused before it starts, because it would need more memory than allowed."""


class BayeskitWarning(UserWarning):
    """Something the user should know though the work goes on; the message says what to do about it."""


def warn_caller(message: str, category: type[Warning] = BayeskitWarning) -> None:
    """Warn in the name of the line outside bayeskit that led here, however many functions lie between."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "bayeskit":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _inconsistent(message: str, row: int, hypothesis: object) -> InconsistentExamplesError:
    return InconsistentExamplesError(message, row=row, hypothesis=hypothesis)
