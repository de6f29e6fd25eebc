"""What is measured of a model on a fold."""

from __future__ import annotations

import resource
import time
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

LEAST_PROBABILITY = 1e-6


def cpu_seconds() -> float:
    """CPU time of this process and of those it has waited for: Khiops works in one of its own."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def losses(model: Any, X: pd.DataFrame, y: pd.Series, train: Any, test: Any, labels: list[str]) -> dict[str, float]:
    start = cpu_seconds()
    model.fit(X.iloc[train], y.iloc[train])
    posterior = np.asarray(model.predict_proba(X.iloc[test]))
    spent = cpu_seconds() - start
    wide = np.zeros((len(test), len(labels)))
    wide[:, [labels.index(str(label)) for label in model.classes_]] = posterior
    return {**measures(wide, np.array([labels.index(label) for label in y.iloc[test]])), "cpu": spent}


def measures(posterior: NDArray[np.float64], truth: NDArray[np.int64]) -> dict[str, float]:
    p_true, best = posterior[np.arange(len(truth)), truth], posterior.argmax(axis=1)
    confidence, right = posterior.max(axis=1), best == truth
    bins = np.minimum((confidence * 10).astype(int), 9)
    calibration = sum(
        abs(confidence[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean() for b in np.unique(bins)
    )
    return {
        "error": float(1 - right.mean()),
        "log_loss": float(-np.log(np.clip(p_true, LEAST_PROBABILITY, 1)).mean()),
        "rmse": float(np.sqrt(((1 - p_true) ** 2).mean())),
        "calibration": float(calibration),
    }
