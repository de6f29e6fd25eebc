"""Pictures of posteriors, decisions and tables: arrays in, matplotlib Axes out; and networks as SVG."""

from bayeskit.plot.balance import class_balance
from bayeskit.plot.confusion import confusion_matrix
from bayeskit.plot.hypotheses import posterior_bars, posterior_curves
from bayeskit.plot.objective import objective_curve
from bayeskit.plot.reliability import reliability_curve
from bayeskit.plot.state_bands import state_bands
from bayeskit.plot.tornado import tornado
from bayeskit.plot.value_table import value_table
from bayeskit.plot.waterfall import waterfall

__all__ = [
    "class_balance",
    "confusion_matrix",
    "objective_curve",
    "posterior_bars",
    "posterior_curves",
    "reliability_curve",
    "state_bands",
    "tornado",
    "value_table",
    "waterfall",
]
