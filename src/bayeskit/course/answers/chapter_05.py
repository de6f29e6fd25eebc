"""Chapter 5, semi-naive Bayes."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayeskit import AODE, SPODE, TAN
from bayeskit.datasets.textbook import load_watermelon


def melons() -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """Return the six categorical columns with the class, and the first melon."""
    table = {name: column for name, column in load_watermelon().items() if name not in ("密度", "含糖率")}
    return table, {name: column[0] for name, column in table.items() if name != "好瓜"}


def good(model: Any) -> float:
    """Return P(是 | melon)."""
    table, melon = melons()
    return float(model.fit(table, target="好瓜").predict_proba(melon)[0, 1])


def joint_with_stalk() -> float:
    """Return P(是, 蜷缩) as the SPODE of 根蒂 has it."""
    net = SPODE("根蒂", smoothing=1).fit(melons()[0], target="好瓜").to_network()
    joint = net.joint(["好瓜", "根蒂"])
    return float(joint["是", "蜷缩"])


def heaviest_pair() -> set[str]:
    """Return the two features of greatest conditional mutual information."""
    model = TAN(smoothing=1).fit(melons()[0], target="好瓜")
    i, j = np.unravel_index(int(np.triu(model.information_, 1).argmax()), model.information_.shape)
    names = model.schema_.names
    return {names[i], names[j]}


def tree() -> list[float]:
    """Return the weights of TAN's edges."""
    steps = TAN(smoothing=1).fit(melons()[0], target="好瓜").steps_
    return [step.information for step in steps if step.parent is not None]


def super_parents(least: int) -> int:
    """Return how many features of the melon share their value with that many rows."""
    table, melon = melons()
    counts = AODE(smoothing=1).fit(table, target="好瓜").counts_
    names = counts.schema.names
    return sum(
        float(counts.column(j).sum(axis=1)[counts.schema[j].values.index(melon[name])]) >= least
        for j, name in enumerate(names)
    )


def sound_of_green() -> float:
    """Return P(浊响 | 是, 青绿) of the SPODE of 色泽."""
    net = SPODE("色泽", smoothing=1).fit(melons()[0], target="好瓜").to_network()
    return float(net.posterior("敲声", given={"好瓜": "是", "色泽": "青绿"})["浊响"])


def good_and_green() -> float:
    """Return how many melons are good and 青绿."""
    counts = AODE(smoothing=1).fit(melons()[0], target="好瓜").counts_
    return float(counts.column(0)[counts.schema[0].values.index("青绿"), 1])


ANSWERS = {
    "5.1": joint_with_stalk,
    "5.2": lambda: good(AODE(smoothing=1)),
    "5.3": lambda: good(SPODE("纹理", smoothing=1)),
    "5.4": heaviest_pair,
    "5.5": lambda: len(tree()),
    "5.6": lambda: sum(tree()),
    "5.7": lambda: super_parents(8),
    "5.8": sound_of_green,
    "5.9": lambda: good(TAN(smoothing=1)) > 0.9,
    "5.10": good_and_green,
}
