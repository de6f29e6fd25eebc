"""What an explanation holds: the prior log-odds of two classes, and what each feature adds to them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.explain import rendering
from bayeskit.result import MOST_LINES, html_table, short
from bayeskit.table.schema import bin_names


@dataclass(frozen=True, repr=False, eq=False)
class Explanation:
    r"""Why one class is more probable than another for one row.

    .. math:: \log \frac{P(a \mid x)}{P(b \mid x)} = \log \frac{P(a)}{P(b)} + \sum_i w_i

    Attributes
    ----------
    classes : (a, b)
        The two classes; a positive term supports a, a negative one b.
    prior : float
        The log-odds before any feature is known.
    features, values : tuples
        The features in the order in which they were revealed, and their values in the row (None is missing).
    terms : float64 array of shape (n_features,)
        w: the change of the log-odds when each feature became known.
    used : bool array of shape (n_features,)
        False where the cell is missing, or holds a value that the model leaves out.
    probability : float
        P(a given x) among all classes.
    """

    classes: tuple[Any, Any]
    prior: float
    features: tuple[str, ...]
    values: tuple[Any, ...]
    terms: NDArray[np.float64]
    used: NDArray[np.bool_]
    probability: float
    # Where the model cuts a numeric feature into bins: its name and the inner edges.
    edges: dict[str, tuple[float, ...]] = field(default_factory=dict)
    # What a last step adds that belongs to no feature, such as the mixing-in of the class shares; 0 in most models.
    floor: float = 0.0

    @property
    def log_odds(self) -> float:
        """The log-odds when all features are known: the prior plus all terms, and the floor."""
        return float(self.prior + self.terms.sum() + self.floor)

    def strongest(self) -> Explanation:
        """Return the same evidence with the strongest terms first."""
        order = np.argsort(-np.abs(self.terms), kind="stable")
        features, values = (tuple(cells[j] for j in order) for cells in (self.features, self.values))
        return replace(self, features=features, values=values, terms=self.terms[order], used=self.used[order])

    def labels(self) -> list[str]:
        """Return one line of text per feature, such as ``outlook = sunny`` or ``age = 35 in [30, 41)``."""
        return [
            f"{name} = {short(value)}{self._bin(name, value)}" if used else f"{name} (not used)"
            for name, value, used in zip(self.features, self.values, self.used, strict=True)
        ]

    def _bin(self, name: str, value: Any) -> str:
        edges = self.edges.get(name)
        return "" if edges is None else f" in {bin_names(edges)[bisect_right(edges, value)]}"

    def __str__(self) -> str:
        return rendering.text(self)  # without colours, since it may go to a file

    def __repr__(self) -> str:
        return rendering.in_terminal(self) or rendering.text(self)

    def __rich__(self) -> Any:
        return rendering.rich_table(self)

    def _repr_html_(self) -> str:
        return rendering.html_table(self)


@dataclass(frozen=True, repr=False, eq=False)
class Explanations(Sequence[Explanation]):
    """The explanations of many rows: arrays for computing, and one `Explanation` by its number.

    ``prior`` has shape (n_rows,), ``terms`` and ``used`` (n_rows, n_features), ``classes`` (n_rows, 2), and ``values``
    is a list of columns.
    """

    classes: NDArray[Any]
    prior: NDArray[np.float64]
    features: tuple[str, ...]
    values: list[NDArray[Any]]
    terms: NDArray[np.float64]
    used: NDArray[np.bool_]
    probability: NDArray[np.float64]
    edges: dict[str, tuple[float, ...]] = field(default_factory=dict)
    floor: NDArray[np.float64] | float = 0.0

    @property
    def log_odds(self) -> NDArray[np.float64]:
        """The log-odds of each row, shape (n_rows,)."""
        total: NDArray[np.float64] = self.prior + self.terms.sum(axis=1) + self.floor
        return total

    def __len__(self) -> int:
        return len(self.prior)

    def __getitem__(self, number: Any) -> Any:
        if not isinstance(number, int | np.integer):
            raise TypeError(f"explanations are taken by number, one at a time; got {number!r}.")
        first, second = self.classes[number]
        return Explanation(
            (first, second),
            float(self.prior[number]),
            self.features,
            tuple(column[number] for column in self.values),
            self.terms[number],
            self.used[number],
            float(self.probability[number]),
            self.edges,
            float(np.broadcast_to(self.floor, self.prior.shape)[number]),
        )

    def __iter__(self) -> Iterator[Explanation]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"Explanations of {len(self)} rows by {len(self.features)} features"

    def _repr_html_(self) -> str:
        head = ("row", "log-odds of", "over", "prior", *self.features, "log-odds")
        rows = [
            (str(i), *map(str, one.classes), *(f"{w:+.3f}" for w in (one.prior, *one.terms, one.log_odds)))
            for i, one in zip(range(MOST_LINES), self, strict=False)
        ]
        return html_table(head, rows, f"{self!r}, in log-odds")
