"""Hidden Markov models beside hmmlearn: the same probabilities, the same rows, the same number of steps."""

from __future__ import annotations

import warnings
from typing import Any

import hmmlearn
import numpy as np
from hmmlearn.hmm import CategoricalHMM

import bayeskit
from bayeskit import HiddenMarkov
from bayeskit.errors import BayeskitWarning
from benchmarks.timing import Row, cpu_seconds, table, write_section

ROWS, STATES, SYMBOLS, STEPS = 1_000_000, 10, 20, 10


def draw(rng: np.random.Generator) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Rows of a chain that stays in a state for some time, and the states."""
    step = 0.9 * np.eye(STATES) + 0.1 * rng.dirichlet(np.ones(STATES), size=STATES)
    cells = rng.dirichlet(np.full(SYMBOLS, 0.3), size=STATES)
    ends, symbol_ends = np.cumsum(step, axis=1), np.cumsum(cells, axis=1)
    u, v = rng.random(ROWS), rng.random(ROWS)
    states = np.zeros(ROWS, dtype=np.int64)
    for t in range(1, ROWS):
        states[t] = min(int(np.searchsorted(ends[states[t - 1]], u[t])), STATES - 1)
    symbols = np.array(
        [min(int(np.searchsorted(symbol_ends[s], x)), SYMBOLS - 1) for s, x in zip(states, v, strict=True)]
    )
    return symbols.astype(np.uint8)[:, None], states


def peer_of(model: Any, implementation: str) -> CategoricalHMM:
    peer = CategoricalHMM(STATES, implementation=implementation, init_params="", n_iter=STEPS, tol=-np.inf)
    peer.startprob_, peer.transmat_ = model.start_, model.transitions_
    peer.emissionprob_, peer.n_features = model.tables_["x0"].values.T, SYMBOLS
    return peer


def main() -> None:
    X, states = draw(np.random.default_rng(0))
    with bayeskit.threads(1):
        compare(X, states)


def compare(X: np.ndarray[Any, Any], states: np.ndarray[Any, Any]) -> None:
    model = HiddenMarkov(kinds="categorical").fit(X, states)
    rows = []
    for implementation in ("log", "scaling"):
        peer = peer_of(model, implementation)
        name = f"hmmlearn, {implementation}{' (its default)' if implementation == 'log' else ''}"
        assert np.allclose(model.smooth(X[:5000]), peer.predict_proba(X[:5000]), atol=1e-8)

        def ours() -> None:
            model.filter(X)
            model.smooth(X)
            model.predict(X)

        def theirs(peer: CategoricalHMM = peer) -> None:
            peer.predict_proba(X)
            peer.decode(X)

        what = f"filter, smooth and Viterbi, {ROWS:.0e} rows, {STATES} states".replace("e+0", "e")
        rows.append(
            Row(
                f"{what} (hmmlearn: without filter)",
                cpu_seconds(ours, 3),
                name,
                cpu_seconds(theirs, 1 if implementation == "log" else 3),
                2.0,
            )
        )
        hidden = HiddenMarkov(STATES, kinds="categorical", n_init=1, max_iter=STEPS, tol=0, smoothing=0)
        fresh = peer_of(model, implementation)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BayeskitWarning)  # it stops before it has converged, as it should here
            mine = cpu_seconds(lambda hidden=hidden: hidden.fit(X), 1)
        rows.append(
            Row(
                f"Baum–Welch, {STEPS} steps, the same rows",
                mine,
                name,
                cpu_seconds(lambda fresh=fresh: fresh.fit(X), 1),
                2.0,
            )
        )
    note = f"hmmlearn {hmmlearn.__version__}; the table is read and checked in each of our calls"
    write_section("Sequences", "python -m benchmarks sequence", f"{note}\n\n{table(rows)}")


if __name__ == "__main__":
    main()
