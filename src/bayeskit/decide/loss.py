"""Losses: λ(truth, action) read from a matrix, a frame or nested dicts, with the names of classes and actions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitError
from bayeskit.result import Result


@dataclass(frozen=True, repr=False)
class Loss(Result):
    """A loss matrix with its names: rows are the truth, columns the action.

    ``matrix`` has shape (n_classes, n_actions), or (n_rows, n_classes, n_actions) when each row of the table has a loss
    of its own. Negative entries are gains. ``absent`` are truths that the loss names and the model does not know, such
    as a class without a row in a fold: they do not affect decisions, and ``absent_matrix`` holds their costs.
    """

    classes: tuple[Any, ...]
    actions: tuple[Any, ...]
    matrix: NDArray[np.float64]
    reject: Any = None
    absent: tuple[Any, ...] = ()
    absent_matrix: NDArray[np.float64] | None = None  # (n_absent, n_actions)

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

    def with_absent(self) -> Loss:
        """Return the loss with the absent truths as additional classes, to compute realised costs."""
        if self.absent_matrix is None:
            return self
        matrix = np.concatenate([self.matrix, self.absent_matrix])
        return Loss((*self.classes, *self.absent), self.actions, matrix, self.reject)

    def of_classes(self, names: tuple[Any, ...]) -> Loss:
        """Return the loss for some of its truths, in that order; the others are absent."""
        if names == self.classes:
            return self
        whole = self.with_absent()
        if self.per_row or not set(names) <= set(whole.classes):
            raise BayeskitError(f"the loss is for the classes {_listed(whole.classes)}; got {_listed(names)}.")
        absent = tuple(name for name in whole.classes if name not in names)
        return _with_others(names, absent, whole.actions, whole.matrix, whole.classes, self.reject)


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
        gives each row of the table its own matrix. A dict and a frame may name truths that are not among the
        classes, such as one without a row in this fold; every class must be named.
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
        return loss.of_classes(names)
    if isinstance(loss, Mapping):
        return _from_dict(loss, names)
    import narwhals.stable.v1 as nw  # takes longer than most questions to a saved model, which have no frame

    if nw.dependencies.is_into_dataframe(loss):
        return _from_frame(nw.from_native(loss, eager_only=True), names)
    return _from_array(loss, names)


def with_reject(loss: Loss, reject: Any) -> Loss:
    """Add the reject action (such as asking a human), which costs the same whatever the truth is.

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

    def one_more(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        column = np.full((*matrix.shape[:-1], 1), float(cost))
        return np.concatenate([matrix, column], axis=-1)

    absent = None if loss.absent_matrix is None else one_more(loss.absent_matrix)
    return Loss(loss.classes, (*loss.actions, name), one_more(loss.matrix), name, loss.absent, absent)


def _from_array(loss: Any, names: tuple[Any, ...]) -> Loss:
    given = np.asarray(loss)
    if given.dtype.kind not in "fiub":
        raise BayeskitError(f"loss must be numbers, a frame or {{truth: {{action: cost}}}}; got dtype {given.dtype}.")
    if given.ndim not in (2, 3) or given.shape[-2] != len(names) or given.shape[-1] == 0:
        raise BayeskitError(
            f"loss must have one row per class, {len(names)} for {_listed(names)}, and one column per action; "
            f"got shape {given.shape}. A dict or a frame may also name classes that are not there."
        )
    n_actions = given.shape[-1]
    actions = names if n_actions == len(names) else tuple(range(n_actions))
    return Loss(names, actions, _finite(given.astype(np.float64), names, actions))


def _from_dict(loss: Mapping[Any, Any], names: tuple[Any, ...]) -> Loss:
    rows = {_native(truth): costs for truth, costs in loss.items()}
    order, absent = _match(tuple(rows), names, "the loss")
    actions: tuple[Any, ...] = ()
    for truth in (*order, *absent):
        if not isinstance(rows[truth], Mapping) or not rows[truth]:
            raise BayeskitError(f"loss, truth {truth!r}: must be {{action: cost}}; got {rows[truth]!r}.")
        named = tuple(_native(action) for action in rows[truth])
        actions = actions or named
        if set(named) != set(actions):
            odd = sorted(map(repr, set(named) ^ set(actions)))
            raise BayeskitError(
                f"loss, truth {truth!r}: every truth must give a cost for the same actions; "
                f"{', '.join(odd)} is not in all of them."
            )
    # Actions that are the classes stand in the order of the classes, so that ties break as in a matrix.
    if set(actions) == {*names, *absent}:
        actions = (*names, *absent)
    truths = (*order, *absent)
    matrix = np.array([[_cost(rows[truth], truth, action) for action in actions] for truth in truths])
    named = (*names, *absent)
    return _with_others(names, absent, actions, _finite(matrix, named, actions), named)


def _with_others(
    names: tuple[Any, ...],
    absent: tuple[Any, ...],
    actions: tuple[Any, ...],
    matrix: NDArray[np.float64],
    truths: tuple[Any, ...],
    reject: Any = None,
) -> Loss:
    """Return the loss whose matrix has one row for each of ``truths``, of which some are absent."""

    def of(some: tuple[Any, ...]) -> NDArray[np.float64]:
        rows = np.ascontiguousarray(matrix[[truths.index(name) for name in some]])
        rows.setflags(write=False)
        return rows

    return Loss(names, actions, of(names), reject, absent, of(absent) if absent else None)


def _cost(costs: Mapping[Any, Any], truth: Any, action: Any) -> float:
    cost = costs[action]
    if isinstance(cost, bool) or not isinstance(cost, int | float | np.number):
        raise BayeskitError(f"loss, truth {truth!r}, action {action!r}: must be a number; got {cost!r}.")
    return float(cost)


def _from_frame(frame: Any, names: tuple[Any, ...]) -> Loss:
    import narwhals.stable.v1 as nw

    index = nw.maybe_get_index(frame)
    columns = list(frame.columns)
    truths = tuple(_native(value) for value in index) if index is not None else ()
    if not _names_all(truths, names) or (
        # A frame that only numbers its rows may hold the truth in its first column all the same.
        len(truths) != len(names) and columns and _names_all(_values(frame, columns[0]), names)
    ):
        if not columns:
            raise BayeskitError("the loss is a frame without columns; columns are the actions.")
        truths = _values(frame, columns[0])
        frame = frame.drop(columns[0])
    order, absent = _match(truths, names, "the index or first column of the loss frame")
    actions = tuple(_native(name) for name in frame.columns)
    rows = [truths.index(truth) for truth in (*order, *absent)]
    named = (*names, *absent)
    try:
        matrix = frame.to_numpy().astype(np.float64)[rows]
    except (TypeError, ValueError) as error:
        raise BayeskitError(f"the loss frame must hold numbers in the columns {_listed(actions)}: {error}.") from error
    if set(map(str, actions)) == set(map(str, named)):
        # Column names are text in most frames; the classes may be numbers.
        by_text = {str(name): name for name in named}
        actions = tuple(by_text[str(action)] for action in actions)
        matrix, actions = matrix[:, [actions.index(name) for name in named]], named
    return _with_others(names, absent, actions, _finite(matrix, named, actions), named)


def _values(frame: Any, column: str) -> tuple[Any, ...]:
    return tuple(_native(value) for value in frame[column].to_list())


def _names_all(given: tuple[Any, ...], names: tuple[Any, ...]) -> bool:
    return set(map(str, names)) <= set(map(str, given))


def _match(given: tuple[Any, ...], names: tuple[Any, ...], where: str) -> tuple[list[Any], tuple[Any, ...]]:
    """Return the rows in the order of the classes, and the others; an absent or repeated class is an error.

    An additional name is a class that has no row here, unless a class is absent: then it is taken for a typing error.
    """
    by_name = {name: name for name in given}
    if not set(names) <= set(by_name):
        by_text = {str(name): name for name in given}
        by_name = {name: by_text[str(name)] for name in names if str(name) in by_text} | {
            name: name for name in given if str(name) not in set(map(str, names))
        }
    unknown = [name for name in by_name if name not in names]
    lacking = [name for name in names if name not in by_name]
    if lacking or len(set(given)) != len(given):
        verb = "which is not a class" if len(unknown) == 1 else "which are not classes"
        parts = [f"names {_listed(unknown)}, {verb}"] if unknown else []
        parts += [f"lacks {_listed(lacking)}"] if lacking else []
        parts = parts or ["names a class twice"]
        raise BayeskitError(f"{where} {' and '.join(parts)}; the classes are {_listed(names)}.")
    return [by_name[name] for name in names], tuple(unknown)


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
