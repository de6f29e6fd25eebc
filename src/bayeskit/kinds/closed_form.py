"""Log-densities in closed form, for export to other programs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ClosedForm:
    r"""log p(x | c) of a numeric column, up to a term that is the same in all classes.

    .. math:: \log p(x \mid c) = a_c + b_c (z - z_0) - \tfrac{1}{2} \frac{(z - μ_c)^2}{σ_c^2} + g(x),
              \qquad z = x \text{ or } \log x

    g(x), such as −log x!, drops out of P(c | x). A number below ``least``, or one that is not whole where ``whole`` is
    set, is an error; so is one of at most 0 where the logarithm is taken.
    """

    constant: NDArray[np.float64]  # (n_classes,): a
    slope: NDArray[np.float64] | None = None  # (n_classes,): b; −inf times 0 is 0
    mean: NDArray[np.float64] | None = None  # (n_classes,): μ
    half_precision: NDArray[np.float64] | None = None  # (n_classes,): 1 / 2σ²
    origin: float = 0.0  # z₀, near which the slope loses no digits
    logarithm: bool = False
    least: float | None = None
    whole: bool = False
