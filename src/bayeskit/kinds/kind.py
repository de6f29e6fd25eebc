"""The interface of every kind of column."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import NaiveScorer, Score, n_threads
from bayeskit.counts.left_out import LeftOut
from bayeskit.counts.moments import Moments
from bayeskit.counts.numbers import NumberCounts
from bayeskit.counts.tokens import TokenCounts
from bayeskit.defaults import BINS, SMOOTHING, UNSEEN
from bayeskit.errors import BayeskitError
from bayeskit.estimate.gaussian import VARIANCE_PRIOR, Variance
from bayeskit.estimate.smoothing import SymmetricSmoothing
from bayeskit.kinds.closed_form import ClosedForm
from bayeskit.table.column import Column
from bayeskit.table.encode import as_numbers, refuse_infinite
from bayeskit.table.schema import Variable

Unseen = Literal["ignore", "error", "smooth"]
# How cells are written in a file; a flag is 0 or 1, or false or true.
Cells = Literal["text", "truth", "number", "flag"]

# The number of rows that are left out at once: their moments fit in the cache.
LEFT_OUT_ROWS = 2048


class Family(IntEnum):
    """The log-densities that the scoring kernel computes itself, by their numbers there."""

    TABLE = 0
    GAUSSIAN = 1
    POISSON = 2
    NONE = 3


@dataclass(frozen=True)
class FitContext:
    """What a kind may use besides the cells when it learns a column."""

    bins: int = BINS  # how many bins to cut at the most
    y: NDArray[Any] | None = None  # (n_rows,): class codes
    weight: NDArray[np.float64] | None = None  # (n_rows,): how often each row counts


@dataclass(frozen=True)
class Estimation:
    """How statistics become parameters: the settings of a model, of which each kind uses its own."""

    smoothing: float | SymmetricSmoothing = SMOOTHING
    unseen: Unseen = UNSEEN
    variance: Variance = "posterior"
    variance_prior: float = VARIANCE_PRIOR
    variance_target: Mapping[str, float] | None = None  # by column; what is not there comes from the rows


@dataclass(frozen=True)
class Statistics:
    """The statistics of all columns of one kind within each class, in the order of the columns."""

    variables: tuple[Variable, ...]
    n_class: NDArray[Any]  # (n_classes,): rows, or their weight
    n_value: Sequence[NDArray[Any]]  # coded columns: a table of shape (n_values, n_classes) each
    moments: Moments  # numeric columns: of shape (n_columns, n_classes)
    numbers: NumberCounts  # numeric columns of a kind that counts numbers: how often each came
    texts: Sequence[TokenCounts] = ()  # columns of text: the counts of their words

    def without(self, cell: float, c: int, taken_out: float) -> Statistics:
        """Return the statistics of one numeric column when a row of class ``c`` is taken out, which counts ``own``."""
        row, label, weight = [np.array([cell])], np.array([c]), np.array([taken_out])
        n_classes = len(self.n_class)
        if len(self.numbers.values):
            return replace(self, numbers=self.numbers - NumberCounts.of(row, label, n_classes, weight))
        return replace(self, moments=self.moments - Moments.of(row, label, n_classes, weight))


class Grid(NamedTuple):
    """Values that cover the range of a column: sums over them are sums (or integrals) over the column.

    ``weights`` are 1 for values that have a probability; for a density they are the widths of a fine grid, so that
    density times width is a probability. ``exact`` says which of the two it is.
    """

    values: tuple[Any, ...]
    weights: NDArray[np.float64]
    exact: bool


# Each kind by its name; see the registry.
KINDS: dict[str, type[Kind]] = {}


class Kind(ABC):
    """One kind of column: the distribution of its cells within each class, and what can be computed from it.

    A kind is a file in this folder with a subclass that has a name; nothing else lists it. A subclass that is defined
    elsewhere is known from then on too. ``parameters`` below are what
    :meth:`estimate` returned for the column: for a kind that the scoring kernel computes (``family``), an array with
    one column per class.
    """

    # The kind's name, as it stands in `Variable.kind`.
    name: ClassVar[str]
    # Whether its cells are codes of listed values, and not numbers.
    coded: ClassVar[bool]
    # One line for people: what P(x | c) is.
    description: ClassVar[str]
    # Which log-density of the scoring kernel it has; `Family.NONE` where `log_density` is the kind's own.
    family: ClassVar[Family] = Family.NONE
    # What a user may say to ask for it, in `kinds` or `numeric`.
    words: ClassVar[tuple[str, ...]] = ()
    # Whether it learns from how often each number came, and not from the moments alone.
    counts_numbers: ClassVar[bool] = False
    # Whether every finite number is a cell as it came, so that `read` need not be called.
    any_number: ClassVar[bool] = True
    # Whether a cell may be text; otherwise the cells of a file are read as numbers, or as truth values.
    takes_text: ClassVar[bool] = False
    # What the cells must be, for the message that refuses one.
    holds: ClassVar[str] = "finite numbers"
    # Whether `estimate` maximizes likelihood times prior (`log_prior`), so that no step of EM lowers the objective.
    maximizes: ClassVar[bool] = False
    # Whether it estimates a variance in each class, of the column or of a function of it.
    has_variance: ClassVar[bool] = False
    # What a report says of a column with one value.
    one_value: ClassVar[str] = "It has one value."

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" in vars(cls):
            known = KINDS.get(cls.name)
            if known is not None and known.__qualname__ != cls.__qualname__:
                raise BayeskitError(f"there is a kind '{cls.name}' already; give the new one another name.")
            KINDS[cls.name] = cls

    def learn(self, columns: Sequence[Column], names: Sequence[str], word: str, training: FitContext) -> list[Variable]:
        """Return the variables of columns that ``word`` chose, and that are not entirely missing.

        A numeric kind takes all numeric columns whose cells it can :meth:`read`.
        """
        variables = []
        for column, name in zip(columns, names, strict=True):
            numbers = as_numbers(column, name, word)
            variable = Variable(name, self.name, numeric=True)
            if not self.any_number:
                self.read(variable, numbers)
            variables.append(variable)
        return variables

    def unfit(self, numbers: NDArray[Any]) -> NDArray[np.bool_]:
        """Return for each number whether the kind does not allow it; missing ones are allowed."""
        return np.asarray(np.isinf(numbers))

    def read(self, variable: Variable, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return the numbers that are summed up and scored; the first invalid one is an error with column and row."""
        refuse_infinite(numbers, variable.name)
        return numbers

    @abstractmethod
    def estimate(self, statistics: Statistics, settings: Estimation) -> Sequence[Any]:
        """Turn the statistics of the kind's columns into parameters, one item per column."""

    @abstractmethod
    def n_parameters(self, variable: Variable, parameters: Any) -> int:
        """Return the number of free parameters of a column, in all classes together."""

    @abstractmethod
    def grid(self, variable: Variable, parameters: Any) -> Grid:
        """Return the values that the column can take, or a grid over its density."""

    @abstractmethod
    def sample(self, variable: Variable, parameters: Any, c: int, size: int, rng: np.random.Generator) -> Any:
        """Return cells drawn from P(x | c), for the class of number ``c``."""

    @abstractmethod
    def table(self, variable: Variable, parameters: Any) -> tuple[tuple[Any, ...], NDArray[np.float64]]:
        """Return the parameters as a table: names of the rows, and numbers of shape (n_rows, n_classes)."""

    def title(self, variable: Variable, target: str) -> str:
        """Return the title of :meth:`table`."""
        return f"P({variable.name} | {target})"

    def cells(self, variable: Variable) -> Cells:
        """Return the type in which the cells of a file must be read."""
        return "number"

    @property
    def plain(self) -> bool:
        """Whether the cells are categories or numbers as they come, for models that tell only these two apart."""
        return self.takes_text if self.coded else self.any_number

    def closed_form(self, parameters: Any) -> ClosedForm | None:
        """Return log p(x | c) in a form that can be exported; None where a numeric kind has none."""
        return None

    def log_prior(self, statistics: Statistics, parameters: Sequence[Any], settings: Estimation) -> float:
        """Return log P(θ) of the parameters that :meth:`estimate` gave, up to a constant: what it adds to the counts.

        0 is maximum likelihood. Used by EM, for kinds that say ``maximizes``.
        """
        return 0.0

    def log_density(self, variable: Variable, parameters: Any, column: NDArray[Any]) -> NDArray[np.float64]:
        """Return log P(x | c) of each cell, of shape (n_rows, n_classes); 0 for a missing cell.

        By default the scoring kernel computes it, so that a density is implemented once.
        """
        n_classes = parameters.shape[1]
        size = variable.n_values if self.coded else 0
        scorer = NaiveScorer(np.zeros(n_classes), parameters, [self.family], [0], [size])
        scores: NDArray[np.float64] = scorer.score(
            [column], True, Score.LOG_JOINT, False, None, n_threads(len(column))
        )[0]
        return scores

    def log_density_left_out(
        self, statistics: Statistics, settings: Estimation, column: NDArray[Any], left: LeftOut
    ) -> NDArray[np.float64]:
        """Return log P(x | c) of each cell when its own row is left out of the column's statistics.

        The result has the shape (n_rows, n_classes), 0 for a missing cell. Here each distinct cell of a class
        re-estimates the column; kinds that can do all rows at once override this.
        """
        variable, known = statistics.variables[0], np.flatnonzero(~np.isnan(column))
        rows = np.column_stack([column[known], left.y[known], left.taken_out[known]])
        distinct, place = np.unique(rows, axis=0, return_inverse=True)
        scores = np.zeros((len(distinct), len(statistics.n_class)))
        for k, (cell, c, weight) in enumerate(distinct.tolist()):
            parameters = self.estimate(statistics.without(cell, int(c), weight), settings)[0]
            scores[k] = self.log_density(variable, parameters, np.array([cell]))[0]
        result = np.zeros((len(column), len(statistics.n_class)))
        result[known] = scores[place.ravel()]
        return result

    def _estimates_left_out(
        self, statistics: Statistics, settings: Estimation, column: NDArray[Any], left: LeftOut
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64]]]:
        """Yield some rows, and the parameters that each gets when it is left out, (n_parameters, n_rows, n_classes).

        For kinds that learn from moments: a column without one of its rows is estimated like a separate column.
        """
        known = np.flatnonzero(~np.isnan(column))
        for first in range(0, len(known), LEFT_OUT_ROWS):
            rows = known[first : first + LEFT_OUT_ROWS]
            moments = statistics.moments.without_each(column[rows], left.y[rows], left.taken_out[rows])
            yield rows, np.stack(self.estimate(replace(statistics, moments=moments), settings), axis=1)
