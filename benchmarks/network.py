"""Questions to Bayesian networks beside pyAgrum and pgmpy: all marginals, rows of a table, samples."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

import bayeskit
from bayeskit import BayesianNetwork
from benchmarks.timing import Row, cpu_seconds, seconds, table, write_section

NETWORKS = Path(__file__).parents[2] / "shared" / "data" / "networks"
EVIDENCE = 10
# Aims in milliseconds, and how often pyAgrum is asked (it takes seconds on the largest).
AIMS = {
    "alarm": (0.05, 20),
    "hailfinder": (0.25, 20),
    "win95pts": (0.15, 20),
    "insurance": (0.9, 20),
    "andes": (6.0, 3),
    "pigs": (25.0, 3),
    "mildew": (3.5, 20),
    "munin": (500.0, 1),
}
LINK_AIM = 500.0
FIRST_AIMS = {"alarm": 1.0, "munin": 150.0}


def read(name: str) -> BayesianNetwork:
    return BayesianNetwork.read(NETWORKS / f"{name}.bif.gz")


def in_pyagrum(net: BayesianNetwork) -> Any:
    import pyagrum as gum

    peer = gum.BayesNet()
    for i, card in enumerate(net.cards):
        peer.add(gum.LabelizedVariable(f"v{i}", "", card))
    for i, parents in enumerate(net.parents):
        for p in parents:
            peer.addArc(p, i)
    for i, values in enumerate(net.tables):
        scope = [*net.parents[i], i]
        order = [scope.index(int(name[1:])) for name in reversed(peer.cpt(i).names)]
        peer.cpt(i).fillWith((values / values.sum(axis=-1, keepdims=True)).transpose(order).ravel().tolist())
    return peer


def draw_evidence(net: BayesianNetwork, n: int) -> list[dict[int, int]]:
    """Evidence on ten variables each, from drawn cases, so that it is possible."""
    rng = np.random.default_rng(1)
    cases = net.sample(n, random_state=1, output="codes")
    return [{int(v): int(cases[v][i]) for v in rng.choice(len(net.names), EVIDENCE, replace=False)} for i in range(n)]


def mean_cpu(ask: Any, evidence: list[Any], runs: int) -> float:
    """Mean over pieces of evidence of the best CPU time for each."""
    return float(np.mean([cpu_seconds(lambda piece=piece: ask(piece), runs) for piece in evidence]))  # type: ignore[misc]


def ours_seconds(net: BayesianNetwork, evidence: list[dict[int, int]], runs: int) -> float:
    given = [{net.names[v]: net.states[v][k] for v, k in piece.items()} for piece in evidence]
    keep = net._engine
    keep.compile()

    def ask(piece: dict[str, str]) -> object:
        keep._plans.clear()  # new evidence each time: no plan of a former question helps
        return net.posterior(given=piece).arrays

    return mean_cpu(ask, given, runs)


def pyagrum_seconds(peer: Any, evidence: list[dict[int, int]], runs: int) -> float:
    import pyagrum as gum

    best = float("inf")
    for engine in (gum.LazyPropagation, gum.ShaferShenoyInference):
        asked = engine(peer)

        def ask(piece: dict[int, int], asked: Any = asked) -> None:
            asked.eraseAllEvidence()
            for v, state in piece.items():
                asked.addEvidence(v, state)
            asked.makeInference()
            for v in peer.nodes():
                asked.posterior(v)

        best = min(best, mean_cpu(ask, evidence, runs))
        if best > 1.0:
            break  # on the largest network the second engine takes minutes
    return best


def marginal_rows() -> list[Row]:
    rows = []
    for name, (aim, runs) in AIMS.items():
        net = read(name)
        evidence = draw_evidence(net, 5 if runs > 1 else 2)
        ours = ours_seconds(net, evidence, 200 if runs == 20 else 5)
        theirs = pyagrum_seconds(in_pyagrum(net), evidence, runs)
        rows.append(Row(f"{name}, all marginals, {EVIDENCE} observed (aim {aim:g} ms)", ours, "pyAgrum", theirs))
    return rows


def first_seconds(name: str, piece: dict[int, int], runs: int) -> float:
    """Best CPU time of the first answer that a network gives, all marginals, from nothing."""
    best = float("inf")
    for _ in range(runs):
        net = read(name)
        given = {net.names[v]: net.states[v][k] for v, k in piece.items()}
        best = min(best, cpu_seconds(lambda net=net, given=given: net.posterior(given=given).arrays, 1))  # type: ignore[misc]
    return best


def first_pyagrum(peer: Any, piece: dict[int, int], runs: int) -> float:
    import pyagrum as gum

    def ask(engine: Any) -> None:
        asked = engine(peer)
        for v, state in piece.items():
            asked.addEvidence(v, state)
        asked.makeInference()
        for v in peer.nodes():
            asked.posterior(v)

    lazy = cpu_seconds(lambda: ask(gum.LazyPropagation), runs)
    return lazy if lazy > 1.0 else min(lazy, cpu_seconds(lambda: ask(gum.ShaferShenoyInference), runs))


def first_rows() -> list[Row]:
    rows = []
    for name, (_, runs) in AIMS.items():
        net = read(name)
        piece = draw_evidence(net, 1)[0]
        aim = FIRST_AIMS.get(name)
        rows.append(
            Row(
                f"{name}, first answer{f' (aim {aim:g} ms)' if aim else ''}",
                first_seconds(name, piece, min(runs, 10) + 2),
                "pyAgrum",
                first_pyagrum(in_pyagrum(net), piece, min(runs, 10)),
            )
        )
    return rows


def pgmpy_row() -> list[Row]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            from pgmpy.factors.discrete import TabularCPD
            from pgmpy.inference import VariableElimination
            from pgmpy.models import DiscreteBayesianNetwork
        except ImportError:
            return []
        net = read("alarm")
        peer = DiscreteBayesianNetwork(net.arcs)
        for i, name in enumerate(net.names):
            own = [net.names[p] for p in net.parents[i]]
            values = net.tables[i].reshape(-1, net.cards[i]).T
            cards = [net.cards[p] for p in net.parents[i]] or None
            peer.add_cpds(TabularCPD(name, net.cards[i], values / values.sum(axis=0), own or None, cards))
        evidence = draw_evidence(net, 1)
        given = {net.names[v]: k for v, k in evidence[0].items()}

        def ask() -> None:
            asked = VariableElimination(peer)
            for name in net.names:
                if name not in given:
                    asked.query([name], evidence=given, show_progress=False)

        theirs = cpu_seconds(ask, 1)
    return [Row(f"alarm, all marginals, {EVIDENCE} observed", ours_seconds(net, evidence, 200), "pgmpy", theirs)]


def table_rows() -> list[Row]:
    import pyagrum as gum

    net, target, n = read("alarm"), "HYPOVOLEMIA", 1_000_000
    t = net.index(target)
    codes = net.sample(n, output="codes")
    rng = np.random.default_rng(0)
    holes = [np.where(rng.random(200_000) < 0.5, 255, column[:200_000]).astype(np.uint8) for column in codes]
    peer = in_pyagrum(net)

    def ask_peer(columns: list[Any], rows: int) -> None:
        asked = gum.LazyPropagation(peer)
        asked.setTargets({t})
        for i in range(rows):
            asked.eraseAllEvidence()
            for v, column in enumerate(columns):
                if v != t and column[i] < net.cards[v]:
                    asked.addEvidence(v, int(column[i]))
            asked.makeInference()
            asked.posterior(t)

    full = cpu_seconds(lambda: net.predict_proba(codes, target)) / n
    half = cpu_seconds(lambda: net.predict_proba(holes, target), 3) / len(holes[0])
    full_peer = cpu_seconds(lambda: ask_peer(codes, 300), 2) / 300
    half_peer = cpu_seconds(lambda: ask_peer(holes, 300), 2) / 300
    return [
        Row(
            f"a row, all observed, P({target}) ({1 / full / 1e6:.1f} million rows/s; aim 8)", full, "pyAgrum", full_peer
        ),
        Row(f"a row, half missing ({1 / half:,.0f} rows/s; aim 100,000)", half, "pyAgrum", half_peer),
    ]


def sample_rows() -> list[Row]:
    import pyagrum as gum

    net, n = read("alarm"), 1_000_000
    peer = in_pyagrum(net)

    def draw() -> None:
        generator = gum.BNDatabaseGenerator(peer)
        generator.setRandomVarOrder()
        generator.drawSamples(n)

    ours = cpu_seconds(lambda: net.sample(n, output="codes"))
    return [Row("1e6 forward samples of alarm as codes (aim 0.30 s)", ours, "pyAgrum", cpu_seconds(draw, 1))]


def sizes() -> str:
    parts = []
    for name in (*AIMS, "link"):
        net = read(name)
        took = cpu_seconds(net._engine.compile, 1)
        parts.append(f"{name} {net._engine.native.entries:,.0f} cells in {seconds(took)}")
    return "; ".join(parts)


def main() -> None:
    import pyagrum as gum

    gum.setNumberOfThreads(1)
    with bayeskit.threads(1):
        rows = marginal_rows() + pgmpy_row() + table_rows() + sample_rows()
        link = read("link")
        linked = ours_seconds(link, draw_evidence(link, 3), 2)
        body = (
            f"pyAgrum {gum.__version__}, the faster of its Lazy and Shafer-Shenoy engines, one thread\n\n"
            f"{table(rows)}\n\nlink, all marginals, {EVIDENCE} observed: {seconds(linked)} (aim {LINK_AIM:g} ms); "
            f"pyAgrum was not done in 180 s.\n\nJunction trees, compiled once: {sizes()}."
        )
        first = (
            f"All marginals with {EVIDENCE} observed, asked of a network that was never asked before: planning and the "
            "answer, without reading the file. One greedy elimination gives the first tree; a better one is searched "
            f"when questions have cost as much as the search will.\n\n{table(first_rows())}"
        )
    write_section("Bayesian networks: questions", "python -m benchmarks network", body)
    write_section("Bayesian networks: first answer", "python -m benchmarks network", first)


if __name__ == "__main__":
    main()
