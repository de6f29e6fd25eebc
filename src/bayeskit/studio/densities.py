"""Real variables on the page: the density of each now and before the evidence, on one axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayeskit.network.infer.real_answers import RealPosterior

POINTS = 60
TAIL = 0.001  # of probability, beyond each end of the axis


def real_answers(prior: Any, answer: Any) -> dict[str, Any]:
    """Return mean, standard deviation, interval of 95 % and density of each real variable, and its density before.

    Examples
    --------
    >>> import numpy as np
    >>> from bayeskit.network.infer.real_answers import RealPosterior
    >>> one = {"height": RealPosterior("height", np.ones(1), np.array([170.0]), np.array([8.0]))}
    >>> real_answers(one, one)["height"]["mean"]
    170.0
    """
    return {name: _real(prior[name], each) for name, each in answer.items() if isinstance(each, RealPosterior)}


def _real(before: RealPosterior, now: RealPosterior) -> dict[str, Any]:
    ends = [_ends(before), _ends(now)]
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    if low == high:
        low, high = low - 1.0, high + 1.0
    interval = [now.mean] * 2 if now.sd == 0 else list(now.interval())
    return {
        "mean": now.mean, "sd": now.sd, "interval": interval, "range": [low, high],
        "moved": now is not before and (now.mean != before.mean or now.sd != before.sd),
        **_density(now, low, high), "before": {"mean": before.mean, "sd": before.sd, **_density(before, low, high)},
    }  # fmt: skip


def _ends(each: RealPosterior) -> tuple[float, float]:
    return (each.mean, each.mean) if each.sd == 0 else each.interval(1.0 - 2.0 * TAIL)


def _density(each: RealPosterior, low: float, high: float) -> dict[str, list[float]]:
    """Return the density at points of the axis, more of them where it is high; a known number has none."""
    if (each.sds == 0).any():
        return {"at": [each.mean], "density": [0.0]}
    from_to = each.interval(1.0 - 2.0 * TAIL)
    at = np.unique(np.concatenate([np.linspace(low, high, POINTS), np.linspace(*from_to, POINTS)]))
    return {"at": at.tolist(), "density": each.density(at).tolist()}
