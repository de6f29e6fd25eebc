"""A small network with one hidden layer: two error functions compared, for teaching."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, xlogy

from bayeskit.errors import BayeskitError, warn_caller
from bayeskit.estimate.history import History

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

_RULES = ("cross-entropy", "squared-error")
_SOLVERS = ("lbfgs", "gradient")


class SigmoidNetwork:
    r"""One hidden layer of sigmoid units and one sigmoid output, h(x) = σ(v₀ + Σ v_k σ(w_k · x + b_k)).

    A teaching class, to compare what the two error functions do: the cross-entropy is the log-likelihood of 0-1 labels,
    the squared error is that of labels with normal noise. For real tables take :class:`~bayeskit.AutoBayes`.

    .. math::
        \text{cross-entropy:} \quad & \sum_i d_i \ln h(x_i) + (1 - d_i) \ln (1 - h(x_i)) \\
        \text{squared error:} \quad & - \tfrac{1}{2} \sum_i (d_i - h(x_i))^2

    Parameters
    ----------
    n_hidden : int, default 4
        The number of hidden units.
    rule : {"cross-entropy", "squared-error"}, default "cross-entropy"
        What is maximised.
    solver : {"lbfgs", "gradient"}, default "lbfgs"
        SciPy's L-BFGS, or the plain rule w ← w + η ∇.
    learning_rate : float, default 0.1
        η of the plain rule.
    max_iter : int, default 500
        The largest number of steps.
    random_state : int, default 0
        The seed of the first weights; another one where the way ends in a local maximum.

    Attributes
    ----------
    weights_ : array of shape (n_weights,)
        All weights: of the hidden units, their constants, of the output, its constant.
    classes_ : array of shape (2,)
        The labels; the output is the probability of the second.
    history_ : History
        The objective before the first step and after each; with ``fit(record=True)`` the weights too.

    References
    ----------
    Mitchell (1997), Machine Learning, section 6.5.

    Examples
    --------
    >>> corners, odd = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> SigmoidNetwork(4).fit(corners, odd).predict(corners)
    array([0, 1, 1, 0])
    """

    weights_: Vector
    classes_: NDArray[Any]
    history_: History

    def __init__(
        self,
        n_hidden: int = 4,
        *,
        rule: str = "cross-entropy",
        solver: str = "lbfgs",
        learning_rate: float = 0.1,
        max_iter: int = 500,
        random_state: int = 0,
    ) -> None:
        if n_hidden < 1 or max_iter < 1 or not learning_rate > 0:
            raise BayeskitError(
                "n_hidden and max_iter must be at least 1, and learning_rate above 0; got "
                f"n_hidden={n_hidden}, max_iter={max_iter}, learning_rate={learning_rate}."
            )
        if rule not in _RULES or solver not in _SOLVERS:
            raise BayeskitError(f"rule is one of {_RULES} and solver one of {_SOLVERS}; got {rule!r}, {solver!r}.")
        self.n_hidden, self.rule, self.solver = n_hidden, rule, solver
        self.learning_rate, self.max_iter, self.random_state = learning_rate, max_iter, random_state

    def fit(self, X: ArrayLike, y: ArrayLike, *, record: bool = False) -> Self:
        """Learn from rows of numbers and labels of two classes; ``record`` keeps the weights of each step."""
        x = _rows(X)
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(self.classes_) != 2 or len(codes) != len(x):
            raise BayeskitError(
                f"y must hold two classes, one label per row of {len(x)}; got {len(self.classes_)} classes in "
                f"{len(codes)} labels."
            )
        d = codes.astype(np.float64)
        n_weights = self.n_hidden * (x.shape[1] + 2) + 1
        weights = np.random.default_rng(self.random_state).normal(0.0, 1.0, n_weights)
        path = [(self.objective(weights, x, d)[0], weights)]
        if self.solver == "gradient":
            for _ in range(self.max_iter):
                weights = weights + self.learning_rate * self.objective(weights, x, d)[1]
                path.append((self.objective(weights, x, d)[0], weights))
            converged, reason = False, f"the limit of {self.max_iter} steps was reached"
        else:
            from scipy import optimize  # an import that only this solver needs

            search: Any = optimize.minimize
            result = search(
                lambda w: tuple(-part for part in self.objective(w, x, d)),
                weights,
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": self.max_iter},
                callback=lambda w: path.append((self.objective(w, x, d)[0], w.copy())),
            )
            weights, converged, reason = result.x, bool(result.success), str(result.message).lower()
            if not converged:
                warn_caller(f"SigmoidNetwork stopped after {self.max_iter} steps; raise max_iter.")
        self.weights_ = weights
        kept = tuple(w for _, w in path) if record else ()
        self.history_ = History(self.solver, tuple(value for value, _ in path), reason, converged, (), kept)
        return self

    def objective(self, weights: Vector, X: ArrayLike, d: ArrayLike) -> tuple[float, Vector]:
        """Return what is maximised at some weights, and its gradient, by back-propagation."""
        x, wanted = _rows(X), np.asarray(d, dtype=np.float64)
        outer = self._parts(weights, x.shape[1])[2]
        hidden, h = self._forward(weights, x)
        away = wanted - h
        if self.rule == "cross-entropy":
            value = float((xlogy(wanted, h) + xlogy(1 - wanted, 1 - h)).sum())
            delta = away  # the factor h (1 − h) of the output cancels
        else:
            value, delta = float(-0.5 * away @ away), away * h * (1 - h)
        back = delta[:, None] * outer * hidden * (1 - hidden)  # (n_rows, n_hidden)
        gradient = [(back.T @ x).ravel(), back.sum(axis=0), hidden.T @ delta, [delta.sum()]]
        return value, np.concatenate(gradient)

    def predict_proba(self, X: ArrayLike) -> Matrix:
        """Return P(class | x), of shape (n_rows, 2)."""
        if not hasattr(self, "weights_"):
            raise BayeskitError("this SigmoidNetwork is not fitted yet; call fit first.")
        h = self._forward(self.weights_, _rows(X))[1]
        return np.stack([1.0 - h, h], axis=1)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the more probable class of each row."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def _parts(self, weights: Vector, n_inputs: int) -> tuple[Matrix, Vector, Vector, float]:
        """Return the weights of the hidden units, their constants, those of the output, and its constant."""
        k, cut = self.n_hidden, self.n_hidden * n_inputs
        inner = weights[:cut].reshape(k, n_inputs)
        return inner, weights[cut : cut + k], weights[cut + k : cut + 2 * k], float(weights[-1])

    def _forward(self, weights: Vector, x: Matrix) -> tuple[Matrix, Vector]:
        inner, shift, outer, constant = self._parts(weights, x.shape[1])
        hidden = expit(x @ inner.T + shift)
        return hidden, np.asarray(expit(hidden @ outer + constant))


def _rows(X: ArrayLike) -> Matrix:
    x = np.asarray(X, dtype=np.float64)
    if x.ndim != 2 or not np.isfinite(x).all():
        raise BayeskitError(f"X must be rows of finite numbers, of shape (n_rows, n_inputs); got shape {x.shape}.")
    return x
