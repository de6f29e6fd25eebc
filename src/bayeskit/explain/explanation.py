"""What an explanation holds: the prior log-odds of two classes, and what each feature adds to them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayeskit.explain import rendering
from bayeskit.language import translated
from bayeskit.result import MOST_LINES, fields_text, html_table, html_text, short
from bayeskit.table.schema import bin_names

# The words of a text that its line names.
MOST_WORDS = 5


class Word(NamedTuple):
    """A token of a text: its position, its weight in the log-odds, and whether it is in the vocabulary."""

    token: str
    begin: int
    end: int
    weight: float
    used: bool

    def _repr_html_(self) -> str:
        return html_text(fields_text(type(self).__name__, self._asdict().items()))


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
    words : dict of feature name to tuple of Word
        The words of each cell of text, with their weights, which sum to the feature's term in naive Bayes.
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
    words: dict[str, tuple[Word, ...]] = field(default_factory=dict)

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
            f"{name} = {self._shown(name, value)}" if used else f"{name} (not used)"
            for name, value, used in zip(self.features, self.values, self.used, strict=True)
        ]

    def steps(self) -> list[tuple[str, float, bool]]:
        """Return label, change of the log-odds and whether it is used, for each feature and for the floor, if any."""
        steps = list(zip(self.labels(), self.terms.tolist(), self.used.tolist(), strict=True))
        return [*steps, ("floor", self.floor, True)] if self.floor else steps

    def _shown(self, name: str, value: Any) -> str:
        edges = self.edges.get(name)
        if name in self.words:
            return self._strongest_words(name)
        return short(value) if edges is None else f"{short(value)} in {bin_names(edges)[bisect_right(edges, value)]}"

    def _strongest_words(self, name: str) -> str:
        """Return the words of a text that change the log-odds most, such as "cheap +0.94, lunch -0.29"."""
        weight: dict[str, float] = {}
        for word in self.words[name]:
            if word.used:
                weight[word.token] = weight.get(word.token, 0.0) + word.weight
        order = sorted(weight, key=lambda token: -abs(weight[token]))
        shown = ", ".join(f"{short(token)} {weight[token]:+.2f}" for token in order[:MOST_WORDS])
        return f"{shown}{', …' if len(order) > MOST_WORDS else ''}" if shown else "(no known word)"

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
    # The words of a row's cells of text, by its number; None where no column is text.
    words_of: Callable[[int], dict[str, tuple[Word, ...]]] | None = None

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
            {} if self.words_of is None else self.words_of(int(number)),
        )

    def __iter__(self) -> Iterator[Explanation]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return translated(f"Explanations of {len(self)} rows by {len(self.features)} features")

    def _repr_html_(self) -> str:
        head = ("row", "log-odds of", "over", "prior", *self.features, "log-odds")
        rows = [
            (str(i), *map(str, one.classes), *(f"{w:+.3f}" for w in (one.prior, *one.terms, one.log_odds)))
            for i, one in zip(range(MOST_LINES), self, strict=False)
        ]
        return html_table(head, rows, f"{self!r}, in log-odds")
