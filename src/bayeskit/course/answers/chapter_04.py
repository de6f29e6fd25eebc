"""Chapter 4, naive Bayes."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayeskit.classify.naive_bayes import NaiveBayes
from bayeskit.datasets.textbook import load_tennis, load_watermelon

_DAY = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "wind": "strong"}
_OVERCAST = {**dict.fromkeys(_DAY), "outlook": "overcast"}


def of_no(row: dict[str, Any], smoothing: float = 0, table: dict[str, list[Any]] | None = None) -> float:
    """Return P(no | row) of naive Bayes on the tennis table."""
    model = NaiveBayes(smoothing=smoothing).fit(load_tennis() if table is None else table, target="play")
    return float(model.predict_proba(row)[0, 0])


def joint_no() -> float:
    """Return P(row, no)."""
    model = NaiveBayes(smoothing=0).fit(load_tennis(), target="play")
    return float(np.exp(model.predict_joint_log_proba([_DAY])[0, 0]))


def binary(n_columns: int) -> NaiveBayes:
    """Return naive Bayes over yes-no columns."""
    columns = {f"x{k}": ["no", "yes", "no", "yes"] for k in range(n_columns)}
    return NaiveBayes().fit(columns, ["a", "a", "b", "b"])


def joint_of_melon() -> float:
    """Return P(melon, 是) of the six categorical columns with λ = 1."""
    table = load_watermelon()
    kept = {name: column for name, column in table.items() if name not in ("密度", "含糖率")}
    model = NaiveBayes(smoothing=1).fit(kept, target="好瓜")
    row = {name: column[0] for name, column in kept.items() if name != "好瓜"}
    return float(np.exp(model.predict_joint_log_proba([row])[0, 1]))


def copied_column_raises_no() -> bool:
    """Return whether a copy of outlook makes "no" more probable."""
    table = load_tennis()
    twice = {**table, "outlook again": table["outlook"]}
    return of_no({**_DAY, "outlook again": "sunny"}, table=twice) > of_no(_DAY)


def evidence_of_humidity() -> float:
    """Return the log-odds of "no" that a high humidity adds."""
    explained = NaiveBayes(smoothing=0).fit(load_tennis(), target="play").explain(_DAY, classes=("no", "yes"))
    return float(explained.terms[2])


ANSWERS = {
    "4.1": joint_no,
    "4.2": lambda: of_no(_DAY),
    "4.3": lambda: of_no(_OVERCAST),
    "4.4": lambda: of_no(_OVERCAST, 1),
    "4.5": lambda: binary(10).n_joint_cells_,
    "4.6": lambda: sum(table.values.size for table in binary(10).tables_.values()),
    "4.7": joint_of_melon,
    "4.8": copied_column_raises_no,
    "4.9": lambda: np.log(joint_no()),
    "4.10": evidence_of_humidity,
}
