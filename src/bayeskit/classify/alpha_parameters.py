"""The parameters alpha, force_alpha, fit_prior and class_prior of classifiers with scikit-learn's names."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import warn_caller
from bayeskit.estimate.prior import class_prior
from bayeskit.learn.learner import Learner
from bayeskit.learn.parameters import LARGEST_PSEUDO_COUNT

_LEAST_ALPHA = 1e-10


def _is_alpha(alpha: Any) -> bool:
    if isinstance(alpha, bool | str) or alpha is None:
        return False
    try:
        numbers = np.asarray(alpha, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return bool((numbers <= LARGEST_PSEUDO_COUNT).all() and (numbers.ndim > 0 or numbers >= 0))


@dataclass(eq=False, repr=False)
class AlphaParameters(Learner):
    """A model with these parameters; :class:`bayeskit.MultinomialNB` documents them."""

    _same_classes_only: ClassVar[bool] = True
    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        "alpha": (f"a finite number from 0 to {LARGEST_PSEUDO_COUNT:g}, or an array with one per feature", _is_alpha)
    }

    _: KW_ONLY
    alpha: Any = 1.0
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: Any = None

    @property
    def _prior(self) -> Any:
        return self.class_prior if self.class_prior is not None else "data" if self.fit_prior else "uniform"

    @property
    def _smoothed_prior(self) -> tuple[Any, Any]:
        return self._prior, 0.0

    @property
    def _learns_prior(self) -> bool:
        return self.class_prior is None and bool(self.fit_prior)

    def _check(self, counts: Any) -> None:
        self._check_alpha(len(counts.schema))
        class_prior(counts.n_class, self._prior, 0.0, counts.classes)
        if np.min(self.alpha) < _LEAST_ALPHA and not self.force_alpha:
            warn_caller(
                f"alpha too small will result in numeric errors, setting alpha = {_LEAST_ALPHA:.1e}. "
                "Use `force_alpha=True` to keep alpha unchanged.",
                UserWarning,
            )

    def _check_alpha(self, n_features: int | None = None) -> NDArray[np.float64]:
        """Return α as it is used; an array must have one number per feature. scikit-learn's tests ask for this name."""
        alpha = np.asarray(self.alpha, dtype=np.float64)
        n_features = len(self.counts_.schema) if n_features is None and alpha.ndim else n_features
        if alpha.ndim > 1:
            raise ValueError(f"alpha should be a number or one number per feature; got shape {alpha.shape}.")
        if alpha.ndim and alpha.shape != (n_features,):
            raise ValueError(
                "When alpha is an array, it should contains `n_features`. "
                f"Got {alpha.shape[0]} elements instead of {n_features}."
            )
        if alpha.ndim and alpha.min() < 0:
            raise ValueError("All values in alpha must be greater than 0.")
        return alpha if self.force_alpha else np.maximum(alpha, _LEAST_ALPHA)

    @property
    def class_count_(self) -> NDArray[Any]:
        """Rows of each class, or their weight."""
        return np.asarray(self.counts_.n_class)

    @property
    def class_log_prior_(self) -> NDArray[np.float64]:
        """Log P(c)."""
        return np.asarray(self._beliefs.log_prior)
