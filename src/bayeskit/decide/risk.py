"""Conditional risk, the Bayes decision, and what decisions cost on average."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayeskit._kernels import least_risk, n_threads
from bayeskit.decide.loss import Loss, read_loss
from bayeskit.decide.posterior import as_posterior, check_posterior, not_a_distribution
from bayeskit.errors import BayeskitError


def risk(posterior: ArrayLike, loss: Any) -> NDArray[np.float64]:
    r"""Return the conditional risk of every action.

    .. math:: R(a \mid x) = \sum_j \lambda(c_j, a) \, P(c_j \mid x)

    Parameters
    ----------
    posterior : array of shape (n_rows, n_classes)
        P(c given x).
    loss : array of shape (n_classes, n_actions) or (n_rows, n_classes, n_actions)
        λ, rows the truth and columns the action; or a `Loss`.

    Returns
    -------
    risk : float64 array of shape (n_rows, n_actions)

    Examples
    --------
    >>> risk([[0.9, 0.1]], [[0, 1], [50, 0]])
    array([[5. , 0.9]])
    """
    read = _read(posterior, loss)
    values = check_posterior(posterior, len(read.classes))
    if read.per_row:
        weighted: NDArray[np.float64] = np.einsum("ij,ija->ia", values, read.matrix)
        return weighted
    product: NDArray[np.float64] = values @ read.matrix
    return product


def bayes_action(posterior: ArrayLike, loss: Any) -> NDArray[np.int64]:
    """Return the number of the action with the least risk; of equal ones the first.

    Under 0-1 loss, and any loss with one cost for every error and one for every right answer, this is exactly the
    argmax of the posterior.

    Examples
    --------
    >>> bayes_action([[0.9, 0.1]], [[0, 1], [50, 0]])
    array([1])
    """
    return _decide(posterior, loss)


def expected_loss(posterior: ArrayLike, loss: Any) -> NDArray[np.float64]:
    """Return the risk of the Bayes decision in each row.

    Examples
    --------
    >>> expected_loss([[0.9, 0.1]], [[0, 1], [50, 0]])
    array([0.9])
    """
    least = np.empty(len(np.asarray(posterior)))
    _decide(posterior, loss, least)
    return least


def overall_risk(
    posterior: ArrayLike, loss: Any = None, actions: ArrayLike | None = None, *, sample_weight: Any = None
) -> float:
    r"""Return the mean risk of a rule: what deciding costs per row if the posterior is right.

    .. math:: R(h) = E_x [R(h(x) \mid x)]

    Parameters
    ----------
    posterior : array of shape (n_rows, n_classes)
        P(c | x).
    loss : array of shape (n_classes, n_actions), or None
        λ: rows are the truth, columns the action; None is 0-1 loss.
    actions : array of shape (n_rows,), optional
        h(x), the number of the action that any rule takes in each row; by default the Bayes decision, whose overall
        risk is the Bayes risk.
    sample_weight : array of shape (n_rows,), optional
        How often each row counts: P(x).

    Examples
    --------
    >>> posterior, loss = [[0.9, 0.1], [0.5, 0.5]], [[0, 1], [50, 0]]
    >>> overall_risk(posterior, loss)  # the Bayes risk
    0.7
    >>> overall_risk(posterior, loss, [0, 1])  # the most probable class first
    2.75
    """
    if actions is None:
        return float(np.average(expected_loss(posterior, loss), weights=sample_weight))
    costs = risk(posterior, loss)
    chosen = np.asarray(actions)
    if chosen.shape != costs.shape[:1] or chosen.dtype.kind not in "iu":
        raise BayeskitError(f"actions must be {len(costs)} whole numbers, one per row; got {actions!r}.")
    outside = (chosen < 0) | (chosen >= costs.shape[1])
    if outside.any():
        row = int(outside.argmax())
        raise BayeskitError(f"actions, row {row}: actions are 0 to {costs.shape[1] - 1}; got {chosen[row]}.")
    return float(np.average(costs[np.arange(len(costs)), chosen], weights=sample_weight))


def realised_loss(y: ArrayLike, actions: ArrayLike, loss: Any) -> NDArray[np.float64]:
    """Return what each action cost given the truth, both as numbers of classes and actions.

    Examples
    --------
    >>> realised_loss([0, 1], [1, 1], [[0, 1], [50, 0]])
    array([1., 0.])
    """
    truth, chosen = np.asarray(y, dtype=np.intp), np.asarray(actions, dtype=np.intp)
    if isinstance(loss, Loss) and loss.per_row:
        costs: NDArray[np.float64] = loss.matrix[np.arange(len(truth)), truth, chosen]
        return costs
    matrix = loss.matrix if isinstance(loss, Loss) else np.asarray(loss, dtype=np.float64)
    paid: NDArray[np.float64] = matrix[truth, chosen]
    return paid


def _read(posterior: ArrayLike, loss: Any) -> Loss:
    shape = np.shape(posterior)
    if len(shape) != 2:
        raise BayeskitError(f"posterior must have shape (n_rows, n_classes); got shape {shape}.")
    read = loss if isinstance(loss, Loss) else read_loss(loss, range(shape[1]))
    if read.per_row and len(read.matrix) != shape[0]:
        raise BayeskitError(f"a loss per row needs {shape[0]} matrices, one per row; got {len(read.matrix)}.")
    return read


def _decide(posterior: ArrayLike, loss: Any, least: NDArray[np.float64] | None = None) -> NDArray[np.int64]:
    """Return the actions; their risks are written to ``least`` where it is given."""
    read = _read(posterior, loss)
    # Counted from the worst of its row of the loss, 0-1 loss compares −P(c | x) alone, with no sum that could round:
    # exactly argmax. The order of actions is the same, since each row of the loss shifts by one constant.
    order = read.matrix - read.matrix.max(axis=-1, keepdims=True)
    if read.per_row:
        values = check_posterior(posterior, len(read.classes))
        actions: NDArray[np.int64] = np.einsum("ij,ija->ia", values, order).argmin(axis=1).astype(np.int64)
        if least is not None:
            chosen = np.take_along_axis(read.matrix, actions[:, None, None], axis=2)[..., 0]
            np.einsum("ij,ij->i", values, chosen, out=least)
        return actions
    values, tolerance = as_posterior(posterior, len(read.classes))
    action = np.empty(len(values), dtype=np.int64)
    bad = least_risk(values, order, read.matrix, tolerance, action, least, n_threads(values.size))
    if bad >= 0:
        raise not_a_distribution(values, bad)
    return action
