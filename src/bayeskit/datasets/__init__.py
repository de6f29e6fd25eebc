"""Small tables, each a dict of lists that every model and frame library reads, and small networks."""

from bayeskit.datasets.networks import load_asia, load_burglary, load_campfire
from bayeskit.datasets.real import load_heart, load_nile, load_penguins
from bayeskit.datasets.textbook import load_enjoy_sport, load_fifteen, load_tennis, load_watermelon

__all__ = [
    "load_asia",
    "load_burglary",
    "load_campfire",
    "load_enjoy_sport",
    "load_fifteen",
    "load_heart",
    "load_nile",
    "load_penguins",
    "load_tennis",
    "load_watermelon",
]
