"""What if: the smallest change of a row that changes the decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.decide.loss import Loss, read_loss
from bayeskit.decide.protocol import Domain, FineModel, JointModel
from bayeskit.decide.risk import bayes_action
from bayeskit.errors import BayeskitError, TooLargeError
from bayeskit.explain.row_cells import Row, as_table, plain_cell, read_row
from bayeskit.language import translated
from bayeskit.learn.parameters import require_whole
from bayeskit.result import Result, short

MOST_TRIALS = 1_000_000
# Of a continuous feature: points at which the decision is asked when it changes alone, and together with others.
POINTS_ALONE = 1001
POINTS_TOGETHER = 25
# Halvings of the way between a number that changes the decision and one that does not: to 1e-12 of the way.
HALVINGS = 40


@dataclass(frozen=True, repr=False)
class WhatIf(Result):
    """The smallest change of a row that changes the decision; ``changes`` is empty when no allowed change does."""

    changes: dict[str, Any]
    before: Any
    after: Any
    probabilities_before: dict[Any, float]
    probabilities_after: dict[Any, float]
    n_tried: int
    # Whether no smaller change of these features does: False where several changed and a number is among them.
    minimal: bool = True

    @property
    def decision_changed(self) -> bool:
        """Whether a change was found."""
        return bool(self.changes)

    def __str__(self) -> str:
        if not self.decision_changed:
            return translated(f"{self.before}: none of the {self.n_tried} changes tried changes this decision.")
        changes = " and ".join(f"{name} = {short(value)}" for name, value in self.changes.items())
        smaller = "" if self.minimal else " Smaller changes of these numbers may be enough."
        return translated(f"{self.before} becomes {self.after} with {changes}.{smaller}")

    __repr__ = __str__


def what_if(
    model: Any, row: Any, changes: Mapping[str, Any] | None = None, *, loss: Any = None, max_changes: int = 3
) -> WhatIf:
    """Return the smallest change of a row that changes the decision.

    A change of fewer features is smaller; among equally many features, numbers that move less (as a fraction of the
    range of candidates); then the change after which the old decision is least probable.

    A number that changes alone is tried in each bin, or at a thousand points over the range of the model's densities,
    and then moved back as far as the decision stays changed: it is the nearest change, unless the decision changes and
    changes back between two points. Numbers that change together are tried at 25 points each and then moved back one
    after the other, which may not be the smallest change; ``minimal`` is then False.

    Parameters
    ----------
    model : classifier
        Any fitted classifier with ``predict_proba``.
    row : dict, list, array, Series or table with one row
        The row as it is.
    changes : dict of feature to value or list of values, optional
        What may change, and into what. By default every feature that is not missing, into every value of the
        model's domain; models without ``domains`` need this argument.
    loss : None, matrix, frame or dict
        λ(truth, action); None is 0-1 loss.
    max_changes : int
        The largest number of features that may change together.

    Examples
    --------
    >>> from bayeskit import NaiveBayes, datasets
    >>> model = NaiveBayes().fit(datasets.load_tennis(), target="play")
    >>> day = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "wind": "strong"}
    >>> print(what_if(model, day))
    no becomes yes with outlook = overcast.
    >>> what_if(model, day, {"temperature": ["hot", "mild"]}).decision_changed
    False
    """
    if not hasattr(model, "predict_proba"):
        raise BayeskitError(f"what_if needs a classifier with predict_proba; {type(model).__name__} has none.")
    require_whole("max_changes", max_changes)
    read = read_row(model, row)
    rule = read_loss(loss, model.classes_)
    asked = _Asked(model, read, rule)
    candidates = _candidates(model, read, changes, POINTS_ALONE)
    tried = 0
    for n_changed in range(1, max_changes + 1):
        if n_changed == 2:
            candidates = _candidates(model, read, changes, POINTS_TOGETHER)
        n_trials = _count_trials(candidates, n_changed)[n_changed]
        if not n_trials:
            break
        if n_trials > MOST_TRIALS:
            raise TooLargeError(
                f"no change of fewer than {n_changed} features changes the decision, and there are "
                f"{n_trials} of {n_changed} to try, over the limit of {MOST_TRIALS}; name fewer features or "
                "values in changes, or lower max_changes."
            )
        trials = list(_trials(candidates, n_changed))
        tried += len(trials)
        turned = [trials[i] for i in np.flatnonzero(asked.turned(trials))]
        if turned:
            trial, after = _least(asked, turned, candidates, move_back=changes is None)
            moved = changes is None and any(_is_number(read.values[j]) for j in trial)
            return _result(asked, trial, after, tried, n_changed == 1 or not moved)
    return _result(asked, {}, asked.before, tried, True)


class _Asked:
    """A row, and the decision when some of its cells change."""

    def __init__(self, model: Any, row: Row, rule: Loss) -> None:
        self.model, self.row, self.rule = model, row, rule
        self.before = self.posterior([{}])[0]
        self.action = int(bayes_action(self.before[None], rule)[0])

    def posterior(self, trials: list[dict[int, Any]]) -> NDArray[np.float64]:
        """Return P(c | x) with each of the changes, shape (n_trials, n_classes)."""
        columns = []
        for j, value in enumerate(self.row.values):
            column = np.empty(len(trials), dtype=object)
            column[:] = [trial.get(j, value) for trial in trials]
            columns.append(column)
        return np.asarray(self.model.predict_proba(as_table(self.model, self.row, columns)), dtype=np.float64)

    def turned(self, trials: list[dict[int, Any]]) -> NDArray[np.bool_]:
        """Return which of the changes change the decision."""
        return np.asarray(bayes_action(self.posterior(trials), self.rule) != self.action)


def _least(
    asked: _Asked, turned: list[dict[int, Any]], candidates: dict[int, list[Any]], *, move_back: bool
) -> tuple[dict[int, Any], NDArray[np.float64]]:
    """Return the smallest of the changes, and the posterior after it."""
    if move_back:
        # Far numbers are moved back last: only the nearest of each set of features can be the least.
        turned = [_moved_back(asked, trial) for trial in _nearest(asked.row, turned, candidates)]
    distance = np.array([_distance(asked.row, trial, candidates) for trial in turned])
    after = asked.posterior(turned)
    best = int(np.lexsort((after[:, int(asked.before.argmax())], distance))[0])
    return turned[best], after[best]


def _nearest(row: Row, turned: list[dict[int, Any]], candidates: dict[int, list[Any]]) -> list[dict[int, Any]]:
    """Return for each set of features and each direction of its numbers the change that moves least."""
    best: dict[Any, tuple[float, dict[int, Any]]] = {}
    for trial in turned:
        sides = tuple(
            (j, value > row.values[j] if _is_number(value) and _is_number(row.values[j]) else value)
            for j, value in trial.items()
        )
        distance = _distance(row, trial, candidates)
        if sides not in best or distance < best[sides][0]:
            best[sides] = (distance, trial)
    return [trial for _, trial in best.values()]


def _moved_back(asked: _Asked, trial: dict[int, Any]) -> dict[int, Any]:
    """Move each changed number towards what it was, as far as the decision stays changed."""
    for j, before in enumerate(asked.row.values):
        if j not in trial or not (_is_number(before) and _is_number(trial[j])):
            continue
        same, other = float(before), float(trial[j])
        for _ in range(HALVINGS):
            middle = 0.5 * same + 0.5 * other
            if middle in (same, other):
                break
            if asked.turned([{**trial, j: middle}])[0]:
                other = middle
            else:
                same = middle
        trial = {**trial, j: other}
    return trial


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _result(asked: _Asked, trial: dict[int, Any], after: NDArray[Any], tried: int, minimal: bool) -> WhatIf:
    rule = asked.rule
    changes = {asked.row.names[j]: value for j, value in trial.items()}
    actions = (rule.actions[asked.action], rule.actions[int(bayes_action(after[None], rule)[0])])
    before, then = (dict(zip(rule.classes, p.tolist(), strict=True)) for p in (asked.before, after))
    return WhatIf(changes, *actions, before, then, tried, minimal)


def _candidates(model: Any, row: Row, changes: Mapping[str, Any] | None, points: int) -> dict[int, list[Any]]:
    """Return, by number of feature, the values that differ from the row's own; some for a continuous one."""
    if changes is None:
        if not isinstance(model, JointModel):
            raise BayeskitError(
                f"{type(model).__name__} has no domains of its features; give the values to try in changes, such as "
                f"{{{row.names[0]!r}: [value, value]}}."
            )
        domains = model._fine_domains() if isinstance(model, FineModel) else model.domains()
        allowed = {j: _thinned(domains[j], points) for j in range(len(domains)) if row.values[j] is not None}
    else:
        unknown = [name for name in changes if name not in row.names]
        if unknown:
            raise BayeskitError(f"changes names {unknown[0]!r}; the features are {', '.join(row.names)}.")
        allowed = {row.names.index(name): _values(value) for name, value in changes.items()}
    return {j: [value for value in values if value != row.values[j]] for j, values in allowed.items()}


def _thinned(domain: Domain, points: int) -> list[Any]:
    """Return the values of a discrete feature, or some from all over the grid of a continuous one."""
    if domain.exact or len(domain.values) <= points:
        return list(domain.values)
    # By place in the grid, which is finer where a density is narrow.
    places = np.unique(np.linspace(0, len(domain.values) - 1, points).round().astype(int))
    return [float(domain.values[place]) for place in places]


def _values(value: Any) -> list[Any]:
    listed = value if isinstance(value, list | tuple | set | np.ndarray) else [value]
    return [plain_cell(each) for each in listed]


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


def _distance(row: Row, trial: dict[int, Any], candidates: dict[int, list[Any]]) -> float:
    """Return 1 for each changed category, and for each changed number its share of the range of candidates."""
    total = 0.0
    for j, value in trial.items():
        before = row.values[j]
        if _is_number(before) and all(_is_number(x) for x in candidates[j]):
            low, high = min(before, *candidates[j]), max(before, *candidates[j])
            total += abs(value - before) / (high - low) if high > low else 1.0
        else:
            total += 1.0
    return total
