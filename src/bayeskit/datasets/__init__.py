"""Small tables for documentation, demo and tests, each a dict of lists that every model and frame library reads."""

from bayeskit.datasets.real import load_heart, load_penguins
from bayeskit.datasets.textbook import load_fifteen, load_tennis, load_watermelon

__all__ = ["load_fifteen", "load_heart", "load_penguins", "load_tennis", "load_watermelon"]
