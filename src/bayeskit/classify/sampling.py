"""Rows drawn from what a classifier believes."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.base import BayesClassifier
from bayeskit.errors import BayeskitError


class SamplesRows(BayesClassifier):
    """A classifier that draws rows from its joint distribution P(x, c)."""

    @abstractmethod
    def sample_columns(self, n_rows: int, rng: np.random.Generator) -> list[NDArray[Any]]:
        """Return rows drawn from P(x), as one column of values per feature."""

    def sample(self, n: int = 1, *, random_state: int | np.random.Generator | None = None) -> dict[str, list[Any]]:
        """Draw rows from P(x, c): x from P(x), and then its class from P(c | x).

        A column that was cut into bins gives one number for each bin. A column that takes no part is None.

        Parameters
        ----------
        n : int
            How many rows.
        random_state : int or numpy.random.Generator, optional
            The seed; the same seed gives the same rows.

        Returns
        -------
        dict of column name to list
            A column per feature, and the class under the name of the target, or under "class" where it has none.

        Examples
        --------
        >>> from bayeskit import NaiveBayes, datasets
        >>> model = NaiveBayes().fit(datasets.load_tennis(), target="play")
        >>> days = model.sample(1000, random_state=0)
        >>> list(days)
        ['outlook', 'temperature', 'humidity', 'wind', 'play']
        >>> round(days["play"].count("yes") / 1000, 1)  # P(yes) = 0.625
        0.6
        """
        rows: Any = n
        if isinstance(rows, bool) or not isinstance(rows, int | np.integer) or rows < 0:
            raise BayeskitError(f"n must be a whole number of at least 0; got {n!r}.")
        model = self._now()
        rng = np.random.default_rng(random_state)
        drawn = model.sample_columns(int(n), rng)
        named = {v.name: column.tolist() for v, column in zip(model.schema_, drawn, strict=True)}
        target = model.target_ or "class"
        if target in named:
            raise BayeskitError(f"the rows have a column {target!r}; fit with a name for the class (target=…).")
        classes = np.empty(0, dtype=np.intp)
        if n:
            below = np.exp(model.log_joint(drawn)).cumsum(axis=1)
            classes = (rng.random(int(n))[:, None] * below[:, -1:] >= below).sum(axis=1)
        return {**named, target: model.classes_[classes].tolist()}
