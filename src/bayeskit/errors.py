"""The exceptions and warnings of bayeskit: one small family, all of them ``ValueError`` or ``UserWarning``."""


class BayeskitError(ValueError):
    """Anything that bayeskit refuses; the message says where, what came and what would do."""


class TableError(BayeskitError):
    """A table, a column, a target or weights that cannot be read as given."""


class UnseenValueError(TableError):
    """A value that the model did not meet in ``fit``, under ``unseen="error"``."""


class ImpossibleEvidenceError(BayeskitError):
    """Evidence that has probability zero under the model."""


class MergeError(BayeskitError):
    """Two models or statistics that do not speak of the same columns."""


class ModelFileError(BayeskitError):
    """A model file that is cut, damaged, from elsewhere, or from a newer bayeskit."""


class NetworkError(BayeskitError):
    """A graph, a table or a name that does not make a Bayesian network."""


class NetworkFileError(NetworkError):
    """A network file that cannot be read; the message gives the line and the column."""


class TooLargeError(BayeskitError):
    """Work refused before it starts, because it would need more memory than allowed."""


class BayeskitWarning(UserWarning):
    """Something the user should know though the work goes on; the message says what to do about it."""
