"""The effect of each column on the answer, as curves over numbers and as bars over values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayeskit.decide.protocol import HidingModel
from bayeskit.workflow.effects import ColumnEffect, column_effects
from bayeskit.workflow.importance import ColumnImportance
from bayeskit.workflow.report.by_class import MOST_CLASSES
from bayeskit.workflow.report.curve_svg import effect_svg
from bayeskit.workflow.report.html import e, section, short, stacked
from bayeskit.workflow.wording import number, percent

if TYPE_CHECKING:
    from bayeskit.workflow.training import Training

# More columns than this are counted instead of shown.
MOST_COLUMNS = 24


def effects(result: Training, told: Sequence[ColumnImportance]) -> str:
    """Show what the model says of a row of which one column is known, the most informative columns first."""
    names = [each.name for each in told[:MOST_COLUMNS]]
    shown = column_effects(result, names)
    if not shown:
        return ""
    labels, n_class = result.table.labels, result.table.n_class
    order = np.sort(np.argsort(-n_class, kind="stable")[:MOST_CLASSES])
    if len(labels.classes) == 2:
        order = np.array([1])  # the other one is what is left
    base = (n_class / n_class.sum())[order]
    key = "".join(f'<span class="key c{k}">{e(short(labels.classes[c]))}</span>' for k, c in enumerate(order))
    words = (
        "The mean over rows in which this column is set to each value, since the model needs all columns"
        if shown[0].averaged
        else "What the model says of a row of which only this column is known; all others are "
        + ("left unobserved, as in its explanations" if isinstance(result.model, HidingModel) else "summed out")
    )
    more = len(told) - len(names)
    return section(
        "effects",
        "Effect of each column",
        f"{words}. Dashed lines are the shares of the classes; curves run over the middle 98 % of the numbers."
        + (f" The {len(names)} most informative columns are shown." if more > 0 else ""),
        f'<p class="keys">{key}</p><div class="cards">{"".join(_card(each, order, base) for each in shown)}</div>',
    )


def _card(effect: ColumnEffect, order: NDArray[np.intp], base: NDArray[np.float64]) -> str:
    posterior = effect.posterior[:, order]
    if effect.numeric:
        low, high = (e(number(float(value), 3)) for value in (effect.values[0], effect.values[-1]))
        body = effect_svg([float(value) for value in effect.values], posterior, base.tolist(), low, high)
    else:
        lines = "".join(
            f'<tr><td class="name">{e(short(value))} <small>{percent(float(share))}</small></td>'
            f"<td>{stacked(row)}</td><td>{_most(row)}</td></tr>"
            for value, share, row in zip(effect.values, effect.shares, posterior.tolist(), strict=True)
        )
        body = f'<div class="wide"><table class="bars"><tbody>{lines}</tbody></table></div>'
    return f'<div class="card"><h3>{e(effect.name)}</h3>{body}</div>'


def _most(row: Sequence[float]) -> str:
    return f"{row[0]:.2f}" if len(row) == 1 else ""
