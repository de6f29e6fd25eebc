"""Pictures of posteriors, decisions and tables: arrays in, matplotlib Axes out; and networks as SVG."""

from bayeskit.plot.animation import animate
from bayeskit.plot.balance import class_balance
from bayeskit.plot.beliefs import belief_panels
from bayeskit.plot.confusion import confusion_matrix
from bayeskit.plot.density_curve import density_curve
from bayeskit.plot.hypotheses import posterior_bars, posterior_curves
from bayeskit.plot.lattice import lattice
from bayeskit.plot.network_table import network_table
from bayeskit.plot.objective import objective_curve
from bayeskit.plot.reliability import reliability_curve
from bayeskit.plot.state_bands import state_bands
from bayeskit.plot.strength_bars import strength_bars
from bayeskit.plot.tornado import tornado
from bayeskit.plot.value_table import value_table
from bayeskit.plot.waterfall import waterfall

__all__ = [
    "animate",
    "belief_panels",
    "class_balance",
    "confusion_matrix",
    "density_curve",
    "lattice",
    "network_table",
    "objective_curve",
    "posterior_bars",
    "posterior_curves",
    "reliability_curve",
    "state_bands",
    "strength_bars",
    "tornado",
    "value_table",
    "waterfall",
]
