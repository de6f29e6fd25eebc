"""Losses: λ(truth, action) read from a matrix, a frame or nested dicts, with the names of classes and actions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitError


@dataclass(frozen=True)
class Loss:
    """A loss matrix with its names: rows are the truth, columns the action.

    ``matrix`` has shape (n_classes, n_actions), or (n_rows, n_classes, n_actions) when each row of the table has a loss
    of its own. Negative entries are gains.
    """

    classes: tuple[Any, ...]
    actions: tuple[Any, ...]
    matrix: NDArray[np.float64]
    reject: Any = None

    @property
    def per_row(self) -> bool:
        """Whether each row of the table has a loss of its own."""
        return self.matrix.ndim == 3

    def action_labels(self) -> NDArray[Any]:
        """Return the actions as an array: the dtype of the classes where all are classes, object otherwise."""
        labels = np.asarray(self.classes)
        if all(action in self.classes for action in self.actions) and labels.ndim == 1:
            return labels[[self.classes.index(action) for action in self.actions]]
        kinds = {type(action) for action in self.actions}
        if kinds <= {str} or kinds <= {int}:
            return np.asarray(self.actions)
        named = np.empty(len(self.actions), dtype=object)
        named[:] = self.actions
        return named


def zero_one(n_classes: int) -> NDArray[np.float64]:
    """Return the 0-1 loss: any error costs 1."""
    return 1.0 - np.eye(n_classes)


def read_loss(loss: Any, classes: Iterable[Any]) -> Loss:
    """Read a loss in any of its forms and check it against the classes.

    Parameters
    ----------
    loss : None, array, frame or dict
        ``None`` is 0-1 loss. A matrix has one row per class in the order of ``classes``; its columns are actions, the
        classes themselves when there are as many. A frame has the actions as column names, and the truth as its index
        or first column. A dict reads ``{truth: {action: cost}}``. An array of shape (n_rows, n_classes, n_actions)
        gives each row of the table its own matrix.
    classes : sequence
        The names of the classes.

    Examples
    --------
    >>> read_loss({"ill": {"home": 50, "treat": 0}, "well": {"home": 0, "treat": 1}}, ["ill", "well"]).matrix
    array([[50.,  0.],
           [ 0.,  1.]])
    """
    names = tuple(_native(name) for name in classes)
    if loss is None:
        return Loss(names, names, zero_one(len(names)))
    if isinstance(loss, Loss):
        if loss.classes != names:
            raise BayeskitError(f"the loss is for the classes {_listed(loss.classes)}; got {_listed(names)}.")
        return loss
    if isinstance(loss, Mapping):
        return _from_dict(loss, names)
    if nw.dependencies.is_into_dataframe(loss):
        return _from_frame(nw.from_native(loss, eager_only=True), names)
    return _from_array(loss, names)


def with_reject(loss: Loss, reject: Any) -> Loss:
    """Add the action of asking a human, which costs the same whatever the truth is.

    ``reject`` is its cost, or ``{name: cost}`` to call the action something other than ``"reject"``.
    """
    if reject is None:
        return loss
    name, cost = "reject", reject
    if isinstance(reject, Mapping):
        if len(reject) != 1:
            raise BayeskitError(f"reject must be a cost or {{name: cost}} with one name; got {dict(reject)!r}.")
        name, cost = next(iter(reject.items()))
    if isinstance(cost, bool) or not isinstance(cost, int | float | np.number) or not np.isfinite(cost):
        raise BayeskitError(f"the cost of reject must be a finite number; got {cost!r}.")
    if name in loss.actions:
        raise BayeskitError(f"the loss has an action {name!r} already; give reject another name, {{name: cost}}.")
    column = np.full((*loss.matrix.shape[:-1], 1), float(cost))
    return Loss(loss.classes, (*loss.actions, name), np.concatenate([loss.matrix, column], axis=-1), name)


def _from_array(loss: Any, names: tuple[Any, ...]) -> Loss:
    given = np.asarray(loss)
    if given.dtype.kind not in "fiub":
        raise BayeskitError(f"loss must be numbers, a frame or {{truth: {{action: cost}}}}; got dtype {given.dtype}.")
    if given.ndim not in (2, 3) or given.shape[-2] != len(names) or given.shape[-1] == 0:
        raise BayeskitError(
            f"loss must have one row per class, {len(names)} for {_listed(names)}, and one column per action; "
            f"got shape {given.shape}."
        )
    n_actions = given.shape[-1]
    actions = names if n_actions == len(names) else tuple(range(n_actions))
    return Loss(names, actions, _finite(given.astype(np.float64), names, actions))


def _from_dict(loss: Mapping[Any, Any], names: tuple[Any, ...]) -> Loss:
    rows = {_native(truth): costs for truth, costs in loss.items()}
    order = _match(tuple(rows), names, "the loss")
    actions: tuple[Any, ...] = ()
    for truth in order:
        if not isinstance(rows[truth], Mapping) or not rows[truth]:
            raise BayeskitError(f"loss, truth {truth!r}: must be {{action: cost}}; got {rows[truth]!r}.")
        found = tuple(_native(action) for action in rows[truth])
        actions = actions or found
        if set(found) != set(actions):
            odd = sorted(map(repr, set(found) ^ set(actions)))
            raise BayeskitError(
                f"loss, truth {truth!r}: every truth must give a cost for the same actions; "
                f"{', '.join(odd)} is not in all of them."
            )
    # Actions that are the classes stand in the order of the classes, so that ties break as in a matrix.
    if set(actions) == set(names):
        actions = names
    matrix = np.array([[_cost(rows[truth], truth, action) for action in actions] for truth in order])
    return Loss(names, actions, _finite(matrix, names, actions))


def _cost(costs: Mapping[Any, Any], truth: Any, action: Any) -> float:
    cost = costs[action]
    if isinstance(cost, bool) or not isinstance(cost, int | float | np.number):
        raise BayeskitError(f"loss, truth {truth!r}, action {action!r}: must be a number; got {cost!r}.")
    return float(cost)


def _from_frame(frame: Any, names: tuple[Any, ...]) -> Loss:
    index = nw.maybe_get_index(frame)
    columns = list(frame.columns)
    truths = tuple(_native(value) for value in index) if index is not None else ()
    if not _matches(truths, names):
        if not columns:
            raise BayeskitError("the loss is a frame without columns; columns are the actions.")
        truths = tuple(_native(value) for value in frame[columns[0]].to_list())
        frame = frame.drop(columns[0])
    order = _match(truths, names, "the index or first column of the loss frame")
    actions = tuple(_native(name) for name in frame.columns)
    rows = [truths.index(truth) for truth in order]
    try:
        matrix = frame.to_numpy().astype(np.float64)[rows]
    except (TypeError, ValueError) as error:
        raise BayeskitError(f"the loss frame must hold numbers in the columns {_listed(actions)}: {error}.") from error
    if set(map(str, actions)) == set(map(str, names)):
        # Column names are text in most frames; the classes may be numbers.
        by_text = {str(name): name for name in names}
        actions = tuple(by_text[str(action)] for action in actions)
        matrix, actions = matrix[:, [actions.index(name) for name in names]], names
    return Loss(names, actions, _finite(matrix, names, actions))


def _matches(found: tuple[Any, ...], names: tuple[Any, ...]) -> bool:
    return len(found) == len(names) and set(map(str, found)) == set(map(str, names))


def _match(found: tuple[Any, ...], names: tuple[Any, ...], where: str) -> list[Any]:
    """Return what was found in the order of the classes; a class too many, too few or twice is refused by name."""
    by_name = {name: name for name in found}
    if not set(names) <= set(by_name):
        by_text = {str(name): name for name in found}
        by_name = {name: by_text[str(name)] for name in names if str(name) in by_text} | {
            name: name for name in found if str(name) not in set(map(str, names))
        }
    unknown = [name for name in by_name if name not in names]
    lacking = [name for name in names if name not in by_name]
    if unknown or lacking or len(found) != len(names):
        verb = "which is no class" if len(unknown) == 1 else "which are no classes"
        parts = [f"names {_listed(unknown)}, {verb}"] if unknown else []
        parts += [f"lacks {_listed(lacking)}"] if lacking else []
        parts = parts or ["names a class twice"]
        raise BayeskitError(f"{where} {' and '.join(parts)}; the classes are {_listed(names)}.")
    return [by_name[name] for name in names]


def _finite(matrix: NDArray[np.float64], names: tuple[Any, ...], actions: tuple[Any, ...]) -> NDArray[np.float64]:
    if not np.isfinite(matrix).all():
        *row, truth, action = (int(i) for i in np.argwhere(~np.isfinite(matrix))[0])
        place = f"row {row[0]}, " if row else ""
        raise BayeskitError(
            f"loss, {place}truth {names[truth]!r}, action {actions[action]!r}: must be a finite number; "
            f"got {matrix[(*row, truth, action)]}."
        )
    matrix.setflags(write=False)
    return matrix


def _native(name: Any) -> Hashable:
    """Return a NumPy scalar as its Python twin, so that names print and compare plainly."""
    plain: Hashable = name.item() if isinstance(name, np.generic) else name
    return plain


def _listed(names: Sequence[Any]) -> str:
    shown = ", ".join(repr(name) for name in names[:10])
    return shown if len(names) <= 10 else f"{shown}, … ({len(names)} in all)"
