"""Rows with hidden cells as EM and gradient ascent see them: expected counts and the objective, for any tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import ExpectedCounts, n_threads
from bayeskit.errors import ImpossibleEvidenceError, TooLargeError
from bayeskit.network.learn.flat_tables import FlatTables
from bayeskit.network.learn.pseudo_counts import TablePrior


@dataclass(frozen=True, eq=False)
class HiddenRows:
    r"""Rows whose missing cells are summed out.

    .. math:: \ln P(D \mid w) + \sum α_{ijk} \ln w_{ijk}

    is the objective, with the pseudo-counts α of the prior; without a prior it is the log-likelihood.
    """

    flat: FlatTables
    columns: list[NDArray[Any]]
    weight: NDArray[np.float64] | None
    prior: TablePrior
    limit: float
    kernel: ExpectedCounts = field(init=False)
    pseudo: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        try:
            kernel = ExpectedCounts(
                list(self.flat.cards),
                list(map(list, self.flat.parents)),
                self.columns,
                self.weight,
                self.limit,
            )
        except (OverflowError, ValueError, IndexError, RuntimeError) as error:
            if "memory limit" not in str(error):
                raise
            raise TooLargeError(
                f"{error} Pass a larger max_memory, or leave out rows or columns with many missing cells."
            ) from None
        object.__setattr__(self, "kernel", kernel)
        object.__setattr__(self, "pseudo", self.flat.pseudo_counts(self.prior))

    @property
    def total(self) -> float:
        """The number of rows, or the sum of their weights."""
        return float(len(self.columns[0]) if self.weight is None else self.weight.sum())

    def expect(self, tables: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """Return the expected counts under these tables, and the objective."""
        counts, log, bad = self.kernel.expect(tables, n_threads(self.kernel.n_items * 64))
        if bad >= 0:
            raise ImpossibleEvidenceError(
                f"row {bad}: its known cells have probability 0 under the tables that learning begins with; give "
                "tables without zeros, or start='data'."
            )
        return counts, log + self.penalty(tables)

    def penalty(self, tables: NDArray[np.float64]) -> float:
        """Return Σ α ln w, the logarithm of the prior up to a constant."""
        used = self.pseudo > 0
        return float((self.pseudo[used] * np.log(tables[used])).sum()) if used.any() else 0.0

    def gradient(self, tables: NDArray[np.float64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
        r"""Return :math:`∂/∂w_{ijk} = (\sum_d P(y_{ij}, u_{ik} \mid d) + α_{ijk}) / w_{ijk}`."""
        total = counts + self.pseudo
        return np.divide(total, tables, out=np.zeros_like(tables), where=total > 0)

    def starts(self, n: int, first: NDArray[np.float64] | None, rng: np.random.Generator) -> Iterator[NDArray[Any]]:
        """Yield starting tables: ``first``, or those of the known cells; then random ones.

        Hidden variables always get random tables: where all their states are equal, EM would never separate them.
        """
        complete = self.kernel.complete()
        for k in range(n):
            if k == 0 and first is not None:
                yield first
                continue
            random = [rng.dirichlet(np.ones(shape[-1]), size=shape[:-1]) * shape[-1] for shape in self.flat.shapes]
            share = 1.0 if k == 0 else 0.01 + float(rng.random()) * 0.2
            yield self.flat.estimate(complete * share, self.flat.join(random))
