"""Networks for the tests: random ones from Hypothesis, and the public files beside the project."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

from bayeskit import BayesianNetwork

SHARED = Path(__file__).parents[1].parent / "shared" / "data" / "networks"
PUBLIC = [
    *("alarm", "andes", "asia", "cancer", "child", "diabetes", "earthquake", "hailfinder", "insurance", "link"),
    *("mildew", "munin", "munin2", "munin3", "munin4", "pigs", "sachs", "survey", "win95pts"),
]


def public(name):
    """A public network, or a skipped test where the files are not there."""
    path = SHARED / f"{name}.bif.gz"
    if not path.exists():
        pytest.skip(f"the network {name} lies in ../shared/data/networks, which is not here")
    return BayesianNetwork.read(path)


@st.composite
def dags(draw, most=6, least=1):
    """Parents of each node of a random DAG whose order of names is not its topological order."""
    n = draw(st.integers(least, most))
    order = draw(st.permutations(range(n)))
    parents = [[] for _ in range(n)]
    for k, child in enumerate(order):
        parents[child] = [p for p in order[:k] if draw(st.booleans())]
    return parents


@st.composite
def networks(draw, most=5, most_states=3, names=None, least=1):
    """A random network; some probabilities are 0, some variables have one state."""
    parents = draw(dags(most, least))
    n = len(parents)
    cards = draw(st.lists(st.integers(1, most_states), min_size=n, max_size=n))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    tables = []
    for i, own in enumerate(parents):
        table = rng.dirichlet(np.ones(cards[i]), size=[cards[p] for p in own])
        if draw(st.booleans()) and cards[i] > 1:
            table[..., 0] = 0.0
            table /= table.sum(axis=-1, keepdims=True)
        tables.append(table)
    if names is None:
        chosen, states = [f"v{i}" for i in range(n)], [[f"s{k}" for k in range(card)] for card in cards]
    else:
        chosen, *states = (draw(st.lists(names, min_size=size, max_size=size, unique=True)) for size in (n, *cards))
    return BayesianNetwork.from_tables(chosen, states, parents, tables)
