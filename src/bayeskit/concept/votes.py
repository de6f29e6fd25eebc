"""The prediction of each hypothesis for one row, and their average."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.result import Result, pad, text_width


@dataclass(frozen=True, repr=False, eq=False)
class Votes(Result):
    """The prediction of each hypothesis for one row, and their average; prints as text.

    ``proba`` has shape (n_hypotheses, n_classes), ``posterior`` (n_hypotheses,).
    """

    names: tuple[Any, ...]
    classes: tuple[Any, ...]
    posterior: NDArray[np.float64]
    proba: NDArray[np.float64]

    @property
    def total(self) -> NDArray[np.float64]:
        """Σ_h P(v | h) P(h | D) of each class."""
        return np.asarray(self.posterior @ self.proba)

    def __repr__(self) -> str:
        names = [str(name) for name in self.names]
        places = max(map(text_width, ["hypothesis", *names]))
        heads = [f"{c!s:>10.10}" for c in self.classes]
        lines = [f"{pad('hypothesis', places)}  {'posterior':>10}  {'  '.join(heads)}"]
        for name, p, row in zip(names, self.posterior, self.proba, strict=True):
            lines.append(f"{pad(name, places)}  {p:>10.4f}  {'  '.join(f'{q:>10.4f}' for q in row)}")
        lines.append(f"{pad('together', places)}  {1.0:>10.4f}  {'  '.join(f'{q:>10.4f}' for q in self.total)}")
        return "\n".join(lines)
