"""What if: the smallest change of a row that turns the decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.decide.known import Domain
from bayeskit.decide.loss import Loss, read_loss
from bayeskit.decide.risk import bayes_action
from bayeskit.errors import BayeskitError, TooLargeError
from bayeskit.explain.cells import Row, as_table, plain, read_row

MOST_TRIALS = 1_000_000
POINTS = 25  # of a continuous feature


@dataclass(frozen=True)
class WhatIf:
    """The smallest change that turns a decision: ``changes`` is empty when none of those allowed does."""

    changes: dict[str, Any]
    before: Any
    after: Any
    probabilities_before: dict[Any, float]
    probabilities_after: dict[Any, float]
    n_tried: int

    @property
    def turned(self) -> bool:
        """Whether a change was found."""
        return bool(self.changes)

    def __str__(self) -> str:
        if not self.turned:
            return f"{self.before}: none of the {self.n_tried} changes tried turns this decision."
        changes = " and ".join(f"{name} = {value}" for name, value in self.changes.items())
        return f"{self.before} turns into {self.after} with {changes}."


def what_if(
    model: Any, row: Any, changes: Mapping[str, Any] | None = None, *, loss: Any = None, max_changes: int = 3
) -> WhatIf:
    """Return the smallest change of a row that turns the decision.

    Fewer features are smaller; among as many, numbers that move less (in parts of their range of candidates); then the
    change after which the old decision is least probable.

    Parameters
    ----------
    model : classifier
        Any fitted classifier with ``predict_proba``.
    row : dict, list, array, Series or table with one row
        The row as it is.
    changes : dict of feature to value or list of values, optional
        What may change, and into what. By default every feature that the row knows, into every value that the model
        knows; models that do not know their values need this argument.
    loss : None, matrix, frame or dict
        λ(truth, action); None is 0-1 loss.
    max_changes : int
        At most so many features change together.

    Examples
    --------
    >>> from bayeskit import NaiveBayes, datasets
    >>> model = NaiveBayes().fit(datasets.load_tennis(), target="play")
    >>> day = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "wind": "strong"}
    >>> print(what_if(model, day))
    no turns into yes with outlook = overcast.
    >>> what_if(model, day, {"temperature": ["hot", "mild"]}).turned
    False
    """
    if not hasattr(model, "predict_proba"):
        raise BayeskitError(f"what_if needs a classifier with predict_proba; {type(model).__name__} has none.")
    if type(max_changes) is not int or max_changes < 1:
        raise BayeskitError(f"max_changes must be a whole number of at least 1; got {max_changes!r}.")
    read = read_row(model, row)
    rule = read_loss(loss, model.classes_)
    candidates = _candidates(model, read, changes)
    n_trials = _count_trials(candidates, max_changes)
    posterior = _posterior(model, read, [read.values])
    before = int(bayes_action(posterior, rule)[0])
    tried = 0
    for n_changed in range(1, max_changes + 1):
        if not n_trials[n_changed]:
            break
        if n_trials[n_changed] > MOST_TRIALS:
            raise TooLargeError(
                f"no change of fewer than {n_changed} features turns the decision, and there are "
                f"{n_trials[n_changed]} of {n_changed} to try, over the limit of {MOST_TRIALS}; name fewer features or "
                "values in changes, or lower max_changes."
            )
        trials = list(_trials(candidates, n_changed))
        tried += len(trials)
        after = _posterior(model, read, [_changed(read, trial) for trial in trials])
        actions = bayes_action(after, rule)
        turned = np.flatnonzero(actions != before)
        if len(turned):
            distance = np.array([_distance(read, trials[i], candidates) for i in turned])
            kept = after[turned, int(posterior[0].argmax())]
            best = int(turned[np.lexsort((kept, distance))[0]])
            return _result(read, rule, trials[best], before, int(actions[best]), posterior[0], after[best], tried)
    return _result(read, rule, {}, before, before, posterior[0], posterior[0], tried)


def _result(
    read: Row,
    rule: Loss,
    trial: dict[int, Any],
    before: int,
    after: int,
    posterior: NDArray[Any],
    turned: NDArray[Any],
    tried: int,
) -> WhatIf:
    return WhatIf(
        {read.names[j]: value for j, value in trial.items()},
        rule.actions[before],
        rule.actions[after],
        dict(zip(rule.classes, posterior.tolist(), strict=True)),
        dict(zip(rule.classes, turned.tolist(), strict=True)),
        tried,
    )


def _candidates(model: Any, row: Row, changes: Mapping[str, Any] | None) -> dict[int, list[Any]]:
    """Return, by number of feature, the values that differ from the row's own."""
    if changes is None:
        if not hasattr(model, "_domains"):
            raise BayeskitError(
                f"{type(model).__name__} does not know which values its features take; name them in changes, such as "
                f"{{{row.names[0]!r}: [value, value]}}."
            )
        domains = model._domains()
        allowed = {j: _thinned(domains[j]) for j in range(len(domains)) if row.values[j] is not None}
    else:
        unknown = [name for name in changes if name not in row.names]
        if unknown:
            raise BayeskitError(f"changes names {unknown[0]!r}; the features are {', '.join(row.names)}.")
        allowed = {row.names.index(name): _values(value) for name, value in changes.items()}
    return {j: [value for value in values if value != row.values[j]] for j, values in allowed.items()}


def _thinned(domain: Domain) -> list[Any]:
    """Return the values of a discrete feature, or a few from the middle third of the grid of a continuous one."""
    if domain.exact:
        return list(domain.values)
    low, high = domain.values[0], domain.values[-1]
    third = (high - low) / 3
    return [float(value) for value in np.linspace(low + third, high - third, POINTS)]


def _values(value: Any) -> list[Any]:
    listed = value if isinstance(value, list | tuple | set | np.ndarray) else [value]
    return [plain(each) for each in listed]


def _count_trials(candidates: dict[int, list[Any]], max_changes: int) -> list[int]:
    """Return how many changes of k features there are, by k."""
    sizes = [len(values) for values in candidates.values()]
    # Sums of products of k sizes, by the recurrence of elementary symmetric polynomials.
    counts = [1] + [0] * max_changes
    for size in sizes:
        for k in range(max_changes, 0, -1):
            counts[k] += counts[k - 1] * size
    return counts


def _trials(candidates: dict[int, list[Any]], n_changed: int) -> Any:
    for features in combinations(candidates, n_changed):
        if prod(len(candidates[j]) for j in features):
            for values in product(*(candidates[j] for j in features)):
                yield dict(zip(features, values, strict=True))


def _changed(row: Row, trial: dict[int, Any]) -> tuple[Any, ...]:
    return tuple(trial.get(j, value) for j, value in enumerate(row.values))


def _distance(row: Row, trial: dict[int, Any], candidates: dict[int, list[Any]]) -> float:
    """Return 1 for each changed category, and for each changed number its share of the range of candidates."""
    total = 0.0
    for j, value in trial.items():
        numbers = [x for x in (*candidates[j], row.values[j]) if isinstance(x, float)]
        if len(numbers) == len(candidates[j]) + 1 and max(numbers) > min(numbers):
            total += abs(value - row.values[j]) / (max(numbers) - min(numbers))
        else:
            total += 1.0
    return total


def _posterior(model: Any, row: Row, rows: list[tuple[Any, ...]]) -> NDArray[np.float64]:
    columns = []
    for cells in zip(*rows, strict=True):
        column = np.empty(len(rows), dtype=object)
        column[:] = cells
        columns.append(column)
    return np.asarray(model.predict_proba(as_table(model, row, columns)), dtype=np.float64)
