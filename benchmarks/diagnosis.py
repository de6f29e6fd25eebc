"""Exact diagnosis in networks of the size of QMR: 600 diseases, 4,000 findings, 45,000 noisy-OR links, one core.

`python -m benchmarks diagnosis`. No peer answers these exactly: pyAgrum makes the full table of each finding.
"""

from __future__ import annotations

import time

import numpy as np

from bayeskit import BayesianNetwork, threads
from bayeskit.errors import TooLargeError
from bayeskit.network import NoisyOr
from benchmarks.timing import write_section

N_DISEASES, N_FINDINGS, N_LINKS = 600, 4000, 45_000  # as in Shwe et al. (1991), Methods of Information in Medicine 30
CASES = 15
LIMIT = "1 GiB"
# Heavy tail or not, findings drawn by their number of causes or evenly, and the numbers of positive findings.
PLAN = (
    (False, False, (10, 20, 30, 40)),
    (True, False, (20, 25, 30, 40)),
    (False, True, (20, 30, 40)),
    (True, True, (10, 15, 20, 25)),
)


def network(seed: int, heavy: bool) -> BayesianNetwork:
    """Return a network with up to 24 parents per finding, or with a heavy tail of several hundred."""
    rng = np.random.default_rng(seed)
    if heavy:
        size = np.clip((rng.pareto(1.1, N_FINDINGS) + 1.0) * 2.6, 1, 420).astype(int)
    else:
        size = np.clip(rng.gamma(3.0, N_LINKS / N_FINDINGS / 3.0, N_FINDINGS), 1, 24).astype(int)
    structure: dict[str, list[str]] = {f"d{k}": [] for k in range(N_DISEASES)}
    tables: dict[str, object] = {
        name: [1 - p, p] for name, p in zip(structure, 10 ** rng.uniform(-4, -1.5, N_DISEASES), strict=True)
    }
    for k, n in enumerate(size):
        causes = [f"d{d}" for d in rng.choice(N_DISEASES, n, replace=False)]
        structure[f"f{k}"] = causes
        tables[f"f{k}"] = NoisyOr(
            dict(zip(causes, rng.choice([0.025, 0.2, 0.5, 0.8, 0.985], n), strict=True)),
            leak=float(rng.uniform(1e-4, 1e-2)),
        )
    return BayesianNetwork(structure, tables=tables)


def seconds(net: BayesianNetwork, positive: int, seed: int, by_causes: bool) -> float:
    """Return the CPU time of all disease posteriors for a case with some positive and as many negative findings.

    Findings are drawn at random, or in proportion to their number of causes, which makes harder cases.
    """
    rng = np.random.default_rng(seed)
    causes = np.array([len(net.parents[net.index(f"f{k}")]) for k in range(N_FINDINGS)])
    share = causes / causes.sum() if by_causes else None
    chosen = rng.choice(N_FINDINGS, 2 * positive, replace=False, p=share)
    given = {f"f{k}": "yes" if i < positive else "no" for i, k in enumerate(chosen)}
    diseases = [f"d{k}" for k in range(N_DISEASES)]
    start = time.process_time()
    try:
        net.posterior(diseases, given=given, max_memory=LIMIT)
    except TooLargeError:
        return float("inf")
    return time.process_time() - start


def main() -> None:
    lines = [
        f"{N_DISEASES} diseases × {N_FINDINGS} findings, {CASES} random cases each, all disease posteriors, "
        f"within {LIMIT} on one core. What does not fit is refused with its size.",
        "",
        "| network | links | most causes | drawn | positive findings | median ms | slowest ms | refused |",
        "|---|---|---|---|---|---|---|---|",
    ]
    with threads(1):
        for heavy, by_causes, counts in PLAN:
            net = network(0, heavy)
            net.posterior("d0", given={"f0": "yes"})  # finds the two layers, once
            links, most = sum(map(len, net.parents)), max(map(len, net.parents))
            for positive in counts:
                times = [seconds(net, positive, seed, by_causes) for seed in range(CASES)]
                answered = [t for t in times if np.isfinite(t)]
                slowest = f"{1e3 * max(answered):.0f}" if answered else "–"
                name, drawn = "heavy tail" if heavy else "up to 24", "by causes" if by_causes else "evenly"
                lines.append(
                    f"| {name} | {links} | {most} | {drawn} | {positive} | {1e3 * np.median(times):.1f} | {slowest} | "
                    f"{len(times) - len(answered)} |"
                )
                print(lines[-1], flush=True)
    write_section("Diagnosis with noisy-OR networks", "python -m benchmarks diagnosis", "\n".join(lines))


if __name__ == "__main__":
    main()
