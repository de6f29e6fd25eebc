"""How to cut Chinese: characters, pairs of them, or the words of jieba (`python -m benchmarks.text chinese`)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import bayeskit
from bayeskit import TextClassifier

CORPORA = {
    "hotel reviews": ("zh-chnsenticorp-hotel", "thirds"),
    "food delivery": ("zh-waimai-10k", "thirds"),
    "news titles": ("zh-thucnews-titles", "split"),
}


def chinese_table(parts: Callable[[str, str], Any]) -> str:
    """Return the section: error and log-loss of the multinomial and the complement model by how texts are cut."""
    import jieba

    jieba.setLogLevel(60)
    jieba.lcut("你好")  # its dictionary is read once
    ways: dict[str, dict[str, Any]] = {
        "pairs (default)": {},
        "characters": {"ideographs": "characters"},
        "characters and pairs": {"ideographs": "characters", "ngram_range": (1, 2)},
        "words of jieba": {"tokens": jieba.lcut},
    }
    lines = [
        "## How Chinese is cut", "",
        "By `python -m benchmarks.text chinese`: TextClassifier by how texts become tokens; errors in %, log-loss, CPU "
        "seconds of fit and predict.", "",
        "| corpus | tokens | multinomial | log-loss | complement | log-loss | CPU, s |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]  # fmt: skip
    with bayeskit.threads(1):
        for title, (name, how) in CORPORA.items():
            X, y, X_test, y_test = parts(name, how)
            for way, options in ways.items():
                cells, begun = [], time.process_time()
                for model in ("multinomial", "complement"):
                    fitted = TextClassifier(model=model, **options).fit(X, y)
                    log_posterior = fitted.predict_log_proba(X_test)
                    truth = np.searchsorted(fitted.classes_, y_test)
                    error = (log_posterior.argmax(axis=1) != truth).mean()
                    cells += [f"{100 * error:.2f}", f"{-log_posterior[np.arange(len(truth)), truth].mean():.3f}"]
                seconds = (time.process_time() - begun) / 2
                lines.append(f"| {title} | {way} | {' | '.join(cells)} | {seconds:.1f} |")
                print(lines[-1], flush=True)
    return "\n".join([*lines, ""])
