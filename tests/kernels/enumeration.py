"""The twin of every exact engine: the whole joint table, written out."""

from itertools import product

import numpy as np
from hypothesis import strategies as st

from bayeskit.network import BayesianNetwork


@st.composite
def networks(draw, max_variables=6, max_states=3, zeros=True):
    """Draw a random network of a few variables; some tables may have zeros."""
    n = draw(st.integers(1, max_variables))
    cards = [draw(st.integers(1, max_states)) for _ in range(n)]
    order = draw(st.permutations(range(n)))
    parents = [()] * n
    for k, v in enumerate(order):
        parents[v] = tuple(draw(st.lists(st.sampled_from(order[:k]), unique=True, max_size=3))) if k else ()
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    tables = []
    for v in range(n):
        shape = (*[cards[p] for p in parents[v]], cards[v])
        table = rng.gamma(0.7, size=shape) + 1e-3
        if zeros and draw(st.booleans()):
            table = np.where(rng.random(shape) < 0.3, 0.0, table)
            table[..., 0] += table.sum(axis=-1) == 0
        tables.append(table / table.sum(axis=-1, keepdims=True))
    names = [f"v{i}" for i in range(n)]
    states = [[f"s{k}" for k in range(card)] for card in cards]
    return BayesianNetwork.from_tables(names, states, parents, tables)


def joint_table(net):
    """P(x) for every x, one axis a variable: the product of the tables."""
    joint = np.ones(net.cards)
    for x in product(*map(range, net.cards)):
        for v, table in enumerate(net.tables):
            joint[x] *= table[(*[x[p] for p in net.parents[v]], x[v])]
    return joint


def weighted(joint, likelihoods):
    """The joint table times one likelihood a variable; a state is a likelihood of 0 and 1."""
    out = joint.copy()
    for v, likelihood in likelihoods.items():
        shape = [1] * joint.ndim
        shape[v] = -1
        out = out * np.reshape(likelihood, shape)
    return out


def marginal(joint, variables):
    """Sum out all others; the axes come in the order of ``variables``."""
    others = tuple(v for v in range(joint.ndim) if v not in variables)
    kept = [v for v in range(joint.ndim) if v in variables]
    return joint.sum(axis=others).transpose([kept.index(v) for v in variables])


@st.composite
def questions(draw, **options):
    """Draw a network, evidence as given to the network, and the same evidence as likelihoods."""
    net = draw(networks(**options))
    given, likelihoods = {}, {}
    for v, name in enumerate(net.names):
        kind = draw(st.sampled_from(["open", "open", "state", "set", "likelihood"]))
        if kind == "state":
            k = draw(st.integers(0, net.cards[v] - 1))
            given[name], likelihoods[v] = net.states[v][k], np.eye(net.cards[v])[k]
        elif kind == "set":
            ks = draw(st.sets(st.integers(0, net.cards[v] - 1), min_size=1))
            given[name] = {net.states[v][k] for k in ks}
            likelihoods[v] = np.array([float(k in ks) for k in range(net.cards[v])])
        elif kind == "likelihood":
            numbers = draw(st.lists(st.floats(0.05, 4.0), min_size=net.cards[v], max_size=net.cards[v]))
            given[name], likelihoods[v] = numbers, np.array(numbers)
    return net, given, likelihoods
