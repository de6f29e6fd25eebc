"""How sure TextClassifier is, with and without `calibrate`: log-loss on every corpus beside that of the class shares.

`python -m benchmarks.text calibrated` writes the section of TEXT.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import bayeskit
from bayeskit import TextClassifier

MODELS = ("multinomial", "complement", "bernoulli")
BINS = 10


def calibration_table(corpora: Mapping[str, tuple[str, str]], parts: Callable[[str, str], Any]) -> str:
    """Return the section: of each corpus and model, log-loss and calibration error as the textbook and as fitted."""
    lines = [
        "## How sure TextClassifier is", "",
        "By `python -m benchmarks.text calibrated`, on all documents of each split: log-loss of the class shares, then "
        "of each event model as the textbook has it (`calibrate=False`) → as documents left out allow (the default); "
        "in brackets the calibration error over ten bins. Classes, and so errors, are the same.", "",
        f"| corpus | class shares | {' | '.join(MODELS)} |", "|---|--:|" + "--:|" * len(MODELS),
    ]  # fmt: skip
    with bayeskit.threads(1):
        for title, (name, how) in corpora.items():
            X, y, X_test, y_test = parts(name, how)
            cells = []
            for model in MODELS:
                each = []
                for calibrate in (False, True):
                    fitted = TextClassifier(model=model, calibrate=calibrate).fit(X, y)
                    each.append(_scores(fitted, X_test, y_test))
                cells.append(" → ".join(f"{loss:.3f} ({error:.3f})" for loss, error in each))
            truth = np.searchsorted(fitted.classes_, y_test)
            shares = -np.log(fitted.class_count_ / fitted.class_count_.sum())[truth].mean()
            lines.append(f"| {title} | {shares:.3f} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    return "\n".join([*lines, ""])


def _scores(model: Any, texts: list[str], labels: list[str]) -> tuple[float, float]:
    log_posterior = model.predict_log_proba(texts)
    truth = np.searchsorted(model.classes_, labels)
    loss = float(np.minimum(-log_posterior[np.arange(len(truth)), truth], 700.0).mean())
    confidence, right = np.exp(log_posterior.max(axis=1)), log_posterior.argmax(axis=1) == truth
    place = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = [abs(confidence[place == b].sum() - right[place == b].sum()) for b in range(BINS)]
    return loss, float(sum(gaps) / len(truth))
