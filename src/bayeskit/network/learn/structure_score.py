"""What a structure score is: a number for each family, from its counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bayeskit.learn.parameters import may_be_saved
from bayeskit.network.registry import Registry


@dataclass(frozen=True, eq=False)
class FamilyTable:
    """The counts of a variable and its parents, as a score sees them.

    Attributes
    ----------
    counts : float64 array of shape (n_configurations, n_states)
        n_ijk: how many rows, or how much weight, have each state of the variable for each configuration of the parents
        that occurs. Rows where a cell of the family is missing are not counted.
    n_states : int
        r_i, the number of states of the variable.
    n_configurations : int
        q_i, the number of configurations of its parents, those that do not occur too.
    n_parents : int
        The number of its parents.
    n_rows : float
        N, the number of all rows or their weight.
    n_variables : int
        The number of variables of the network.
    """

    counts: NDArray[np.float64]
    n_states: int
    n_configurations: int
    n_parents: int
    n_rows: float
    n_variables: int

    @property
    def free_parameters(self) -> int:
        """(r_i − 1) q_i."""
        return (self.n_states - 1) * self.n_configurations

    def log_likelihood(self) -> float:
        r"""Return :math:`\sum n_{ijk} \ln (n_{ijk} / n_{ij})`."""
        n = self.counts
        share = np.divide(n, n.sum(axis=1, keepdims=True), out=np.ones_like(n), where=n > 0)
        return float((n * np.log(share)).sum())


SCORES: Registry[StructureScore] = Registry("score", "bayeskit.network.learn.scores")


class StructureScore:
    """A score of networks that is a sum over families; higher is better.

    A score is a file in the folder ``scores`` with a frozen dataclass of this class that has a name; nothing else lists
    it. A class that is defined elsewhere is known from then on too. Its fields are the options that it takes.
    """

    # The word that chooses it.
    name: ClassVar[str]
    # Whether the compiled kernel has it, under the same name; `fit` and `penalty` are then its plain twin.
    compiled: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        SCORES.add(cls)

    @property
    def sample_size(self) -> float:
        """The number that the kernel takes, where it takes one: a sample size, or another weight."""
        return 1.0

    def fit(self, family: FamilyTable) -> float:
        """Return how well the family fits the rows in which it is known: the log-likelihood unless a score says so.

        With missing cells this is taken as the mean over these rows, times N, so that families with different missing
        rows can be compared (the node-average likelihood; Balov 2013, Bodewes & Scutari 2021).
        """
        return family.log_likelihood()

    def penalty(self, family: FamilyTable) -> float:
        """Return what is subtracted for the size of the family; nothing unless a score says so."""
        return 0.0


def as_score(score: str | StructureScore) -> StructureScore:
    """Return the score that a word means, or the score itself.

    Examples
    --------
    >>> as_score("bdeu")
    BDeuScore(equivalent_sample_size=1.0)
    """
    return SCORES.choose(StructureScore, score)


may_be_saved("structure score", StructureScore, SCORES.to_json, SCORES.from_json)
