"""Whether two distributions of a variable are the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayeskit.network.cpd.causes import IndependentCauses
from bayeskit.network.cpd.distribution import Distribution, table_fits
from bayeskit.network.cpd.gaussian import GaussianCPD
from bayeskit.network.cpd.link import LinkCPD


def same_numbers(ours: Distribution, theirs: Distribution, axes: Sequence[int], tol: float) -> bool:
    """Return whether two distributions give the same probabilities; our parent k is their parent ``axes[k]``.

    Full tables are compared where they can be made; forms that are larger are compared by their numbers.
    """
    if ours.shape != (*(theirs.shape[a] for a in axes), theirs.shape[-1]):
        return False
    if 0 in ours.shape:  # a real variable, or real parents
        if type(ours) is not type(theirs):
            return False
        assert isinstance(theirs, GaussianCPD | LinkCPD)
        (meta, numbers), (other_meta, others) = ours.to_parts(), theirs.reordered(axes).to_parts()
        return meta == other_meta and bool(abs(numbers - others).max() <= tol)
    if table_fits(ours.shape):
        return bool(abs(ours.values - theirs.values.transpose([*axes, len(axes)])).max() <= tol)
    if type(ours) is not type(theirs):
        return False
    if isinstance(ours, IndependentCauses) and isinstance(theirs, IndependentCauses):
        pairs = [(ours.leak, theirs.leak), *((link, theirs.links[a]) for link, a in zip(ours.links, axes, strict=True))]
        same = (ours.combine, ours.order) == (theirs.combine, theirs.order)
        return same and all(bool(abs(a - b).max() <= tol) for a, b in pairs)
    if list(axes) != sorted(axes):
        return False
    (meta, numbers), (other_meta, others) = ours.to_parts(), theirs.to_parts()
    return meta == other_meta and bool(np.max(abs(numbers - others), initial=0.0) <= tol)
