"""The Bayes risk: what the best possible decisions cost per row."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayeskit.decide.loss import Loss, read_loss
from bayeskit.decide.protocol import Domain, JointModel, SamplingModel, as_column, as_joint_model
from bayeskit.decide.risk import expected_loss
from bayeskit.errors import BayeskitError, TooLargeError
from bayeskit.learn.parameters import require_whole
from bayeskit.result import Result

MOST_CELLS = 10_000_000
CHUNK = 100_000


@dataclass(frozen=True, repr=False)
class BayesRisk(Result):
    """The risk of the Bayes decision, with the accuracy that no classifier can exceed.

    ``standard_error`` is 0 for an exact sum; it is the error of the mean where rows were drawn or given.
    """

    risk: float
    best_accuracy: float
    standard_error: float
    method: Literal["exact", "monte carlo", "data"]
    n_rows: int

    def __str__(self) -> str:
        over = {"exact": "all {} values of x", "monte carlo": "{} rows drawn from the model", "data": "{} rows given"}
        error = f" ± {self.standard_error:.2g}" if self.method != "exact" else ""
        return (
            f"Bayes risk {self.risk:.6g}{error}, best possible accuracy {self.best_accuracy:.6g} "
            f"({over[self.method].format(self.n_rows)})"
        )


def bayes_risk(
    model: Any,
    loss: Any = None,
    X: Any = None,
    *,
    method: Literal["auto", "exact", "monte carlo"] = "auto",
    n_samples: int = 100_000,
    random_state: int | np.random.Generator | None = 0,
) -> BayesRisk:
    r"""Return the risk of the best decisions, under the probabilities of a model.

    .. math:: R^* = \sum_x \min_a \sum_c \lambda(c, a) \, P(x, c)

    Parameters
    ----------
    model : classifier
        With ``X``, any classifier with ``predict_proba``. Without it, a model that gives P(x, c).
    loss : None, matrix, frame or dict
        λ(truth, action); None is 0-1 loss, whose risk is 1 − the best possible accuracy.
    X : table, optional
        Rows to average over; their posteriors are taken as true.
    method : {"auto", "exact", "monte carlo"}
        Without ``X``: the sum over all x, which needs discrete features and at most ten million values of x; or a mean
        over drawn rows. "auto" sums where that is possible.
    n_samples : int
        The number of rows to draw.
    random_state : int or Generator
        The seed of the draws.

    Examples
    --------
    >>> from bayeskit import NaiveBayes, datasets
    >>> model = NaiveBayes().fit(datasets.load_tennis(), target="play")
    >>> print(bayes_risk(model))
    Bayes risk 0.261509, best possible accuracy 0.738491 (all 36 values of x)
    """
    if not hasattr(model, "predict_proba"):
        raise BayeskitError(f"bayes_risk needs a classifier with predict_proba; {type(model).__name__} has none.")
    if method not in ("auto", "exact", "monte carlo"):
        raise BayeskitError(f"method must be 'auto', 'exact' or 'monte carlo'; got {method!r}.")
    require_whole("n_samples", n_samples)
    if X is not None:
        return _mean(np.asarray(model.predict_proba(X)), read_loss(loss, model.classes_), "data")
    source = as_joint_model(model, "bayes_risk without X")
    read = read_loss(loss, source.classes_)
    # A column that is missing throughout has no value to sum over: it stays missing.
    domains = [
        domain if domain.values else Domain(domain.name, (None,), np.ones(1), True) for domain in source.domains()
    ]
    n_cells = math.prod(len(domain.values) for domain in domains)
    if method != "monte carlo" and _can_be_summed(domains, n_cells, must=method == "exact"):
        return _sum(source, read, domains, n_cells)
    if not isinstance(source, SamplingModel):
        raise BayeskitError(f"{type(model).__name__} cannot draw random rows; pass rows as X.")
    log_joint = source.log_joint(source.sample_columns(n_samples, np.random.default_rng(random_state)))
    return _mean(_posterior(log_joint), read, "monte carlo")


def _can_be_summed(domains: list[Domain], n_cells: int, *, must: bool) -> bool:
    """Return whether all x can be gone through; where they ``must`` be, say why they cannot."""
    inexact = [domain.name for domain in domains if not domain.exact]
    if not inexact and n_cells <= MOST_CELLS:
        return True
    if must:
        reason = f"feature {inexact[0]!r} is continuous" if inexact else f"x takes {n_cells} values"
        raise TooLargeError(
            f"the exact sum needs discrete features with at most {MOST_CELLS} values of x together; {reason}. "
            "method='monte carlo' draws rows instead."
        )
    return False


def _sum(model: JointModel, loss: Loss, domains: list[Domain], n_cells: int) -> BayesRisk:
    columns = [as_column(domain.values) for domain in domains]
    shape = tuple(len(column) for column in columns)
    total = right = mass = 0.0
    for start in range(0, n_cells, CHUNK):
        cells = np.unravel_index(np.arange(start, min(start + CHUNK, n_cells)), shape)
        joint = np.exp(model.log_joint([column[cell] for column, cell in zip(columns, cells, strict=True)]))
        total += float((joint @ loss.matrix).min(axis=1).sum())
        right += float(joint.max(axis=1).sum())
        mass += float(joint.sum())
    # The mass is 1 up to rounding, and less where a slot is kept for unseen values: the sum is over known values only.
    return BayesRisk(total / mass, right / mass, 0.0, "exact", n_cells)


def _mean(posterior: NDArray[np.float64], loss: Loss, method: Literal["monte carlo", "data"]) -> BayesRisk:
    risks = expected_loss(posterior, loss)
    error = float(risks.std(ddof=1) / math.sqrt(len(risks))) if len(risks) > 1 else math.nan
    return BayesRisk(float(risks.mean()), float(posterior.max(axis=1).mean()), error, method, len(risks))


def _posterior(log_joint: NDArray[np.float64]) -> NDArray[np.float64]:
    shifted = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
    posterior: NDArray[np.float64] = shifted / shifted.sum(axis=1, keepdims=True)
    return posterior
