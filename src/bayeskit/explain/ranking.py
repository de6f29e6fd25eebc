"""Documents ranked by the log-odds of one class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayeskit.errors import BayeskitError
from bayeskit.result import Result


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(Result):
    """Documents, the most interesting first.

    Attributes
    ----------
    cls : label
        The class that is interesting.
    order : int array of shape (n_documents,)
        The documents' numbers, the most interesting first; equal ones stay in their order.
    log_odds : float64 array of shape (n_documents,)
        log P(cls | d) / P(not cls | d), document by document.
    """

    cls: Any
    order: NDArray[np.int64]
    log_odds: NDArray[np.float64]

    def __repr__(self) -> str:
        first = ", ".join(f"{i} ({self.log_odds[i]:+.3f})" for i in self.order[:5].tolist())
        return f"Ranking of {len(self.order)} documents by the log-odds of {self.cls}: {first}, …"

    def top(self, share: float = 0.1) -> NDArray[np.int64]:
        """Return the documents of the top share, at least one."""
        if not 0 < share <= 1:
            raise BayeskitError(f"share must be above 0 and at most 1; got {share}.")
        return self.order[: max(1, round(share * len(self.order)))]

    def enrichment(self, y: ArrayLike, share: float = 0.1) -> tuple[float, float]:
        """Return the share of interesting documents among the top ones, and among all.

        NewsWeeder's users found 16 % of all articles interesting, and 59 % of its top tenth (Lang, 1995).

        >>> ranking = Ranking("good", np.array([2, 0, 1, 3]), np.array([1.0, 0.0, 2.0, -1.0]))
        >>> ranking.enrichment(["bad", "bad", "good", "good"], share=0.25)
        (1.0, 0.5)
        """
        interesting = np.asarray(y, dtype=object) == self.cls
        if interesting.shape != self.order.shape:
            raise BayeskitError(f"y must have one label per document, {len(self.order)}; got {len(interesting)}.")
        return float(interesting[self.top(share)].mean()), float(interesting.mean())
