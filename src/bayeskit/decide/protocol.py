"""The methods that risk and explanations need: any class that has them can be used, of bayeskit or your own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitError


class Domain(NamedTuple):
    """The values that a feature can take.

    ``weights`` are 1 for values that have a probability; for a density they are the widths of a fine grid, so that
    density times width is a probability. ``exact`` says which of the two it is.
    """

    name: str
    values: tuple[Any, ...]
    weights: NDArray[np.float64]
    exact: bool


class JointTerms(NamedTuple):
    r"""The terms of the log-joint of rows, :math:`\log P(x, c) = \log P(c) + \sum_j t_j(c)`.

    ``log_prior`` has shape (n_classes,), ``terms`` (n_rows, n_features, n_classes), and ``used`` (n_rows, n_features)
    is False where a cell is missing, or holds a value that the model leaves out.
    """

    log_prior: NDArray[np.float64]
    terms: NDArray[np.float64]
    used: NDArray[np.bool_]


@runtime_checkable
class JointModel(Protocol):
    """A fitted model that gives P(x, c) for every x; missing cells are summed out.

    `bayes_risk`, `value_of_information` and `feature_relevance` need one, and `what_if` takes the values to try from
    ``domains``. All classifiers of bayeskit that take missing cells have these methods.

    Examples
    --------
    A model of one coin toss, written by hand:

    >>> class Coin:
    ...     classes_ = np.array(["fair", "two heads"])
    ...
    ...     def domains(self):
    ...         return [Domain("toss", ("head", "tail"), np.ones(2), True)]
    ...
    ...     def log_joint(self, columns):
    ...         likelihood = {"head": [0.5, 1.0], "tail": [0.5, 0.0], None: [1.0, 1.0]}
    ...         with np.errstate(divide="ignore"):
    ...             return np.log(0.5 * np.array([likelihood[toss] for toss in columns[0]]))
    >>> isinstance(Coin(), JointModel)
    True
    >>> from bayeskit import feature_relevance
    >>> [(each.feature, round(each.information, 4)) for each in feature_relevance(Coin())]
    [('toss', 0.2158)]
    """

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels."""
        ...

    def domains(self) -> list[Domain]:
        """Return the values that each feature can take, in the order of the features."""
        ...

    def log_joint(self, columns: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
        """Return log P(x, c), shape (n_rows, n_classes), for one column of values per feature; None is missing."""
        ...


@runtime_checkable
class SamplingModel(JointModel, Protocol):
    """A `JointModel` that can also draw rows; `bayes_risk` needs it where it cannot sum over all x."""

    def sample_columns(self, n_rows: int, rng: np.random.Generator) -> list[NDArray[Any]]:
        """Return rows drawn from P(x), as one column of values per feature."""
        ...


@runtime_checkable
class AdditiveModel(Protocol):
    """A fitted model whose log-joint is a sum of one term per feature, such as naive Bayes.

    `explain` then reads all terms at once; other models predict again for each feature that is revealed.
    """

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels."""
        ...

    def log_joint_terms(self, X: Any) -> JointTerms:
        """Return the terms for the rows of a table."""
        ...


@runtime_checkable
class CellReader(Protocol):
    """A fitted model that says which cells of a table it uses; other models use all cells that are not missing."""

    def _used_cells(self, X: Any) -> NDArray[np.bool_]:
        """Return a bool array of shape (n_rows, n_features)."""
        ...


@runtime_checkable
class WordModel(Protocol):
    """A fitted model with columns of text, which says what each word of a cell adds."""

    def _words_of(self, column: str, text: str, classes: tuple[int, int]) -> Sequence[Any]:
        """Return the words of a cell, each with its term in the log-odds of two classes, given by their numbers."""
        ...


@runtime_checkable
class FineModel(Protocol):
    """A fitted model whose ``domains`` sum up numbers, and which knows all its numbers too."""

    def _fine_domains(self) -> Sequence[Domain]:
        """Return domains in which each interval of numbers that the model tells apart has a value of its own."""
        ...


@runtime_checkable
class HidingModel(Protocol):
    """A fitted model for which a recorded missing cell is a value, and a cell that was not observed is not.

    `explain` and `value_of_information` then hide cells instead of making them missing. ``log_joint`` of such a model
    takes None for hidden and NaN for missing.
    """

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels."""
        ...

    def log_posterior_hiding(self, X: Any, hidden: NDArray[np.bool_], *, floor: bool) -> NDArray[np.float64]:
        """Return log P(c | x) without the hidden cells, (n_rows, n_classes), with or without the floor."""
        ...


def as_joint_model(model: Any, what: str) -> JointModel:
    """Return the model when it is a `JointModel`; otherwise raise an error that says what ``what`` needs."""
    if isinstance(model, JointModel):
        return model
    if not all(hasattr(model, name) for name in ("domains", "log_joint")):
        raise BayeskitError(
            f"{what} needs a model that gives P(x, c), such as NaiveBayes; {type(model).__name__} gives only P(c | x)."
        )
    raise BayeskitError(f"{what} needs a fitted model; call fit on this {type(model).__name__} first.")


def as_column(values: Sequence[Any]) -> NDArray[Any]:
    """Return values as a column of objects, whatever they are."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
