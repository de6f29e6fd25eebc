"""log P(x, c) of rows → the score that was asked for: class, posterior or evidence."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import Score


def as_score(
    result: Score, log_joint: NDArray[np.float64], log_prior: NDArray[np.float64], fallback: bool
) -> tuple[NDArray[Any], int]:
    """Return log P(x, c) as the requested score, and the first row with probability 0 under every class (or −1)."""
    if result == Score.LOG_JOINT:
        return log_joint, -1
    peak = log_joint.max(axis=1, keepdims=True)
    impossible = np.isneginf(peak[:, 0])
    if impossible.any():
        if result == Score.LOG_EVIDENCE or fallback:
            peak = np.where(impossible[:, None], log_prior.max(), peak)
            log_joint = np.where(impossible[:, None], log_prior, log_joint)
        else:
            return log_joint, int(impossible.argmax())
    if result == Score.CLASS:
        return log_joint.argmax(axis=1), -1
    share = np.exp(log_joint - peak)  # shifted by the row's peak, exp() cannot overflow and one term is 1
    total = share.sum(axis=1, keepdims=True)
    if result == Score.POSTERIOR:
        return share / total, -1
    if result == Score.LOG_POSTERIOR:
        return log_joint - peak - np.log(total), -1
    evidence = (peak + np.log(total))[:, 0]
    return np.where(impossible, -np.inf, evidence), -1
