"""Learning networks beside R bnlearn, pyAgrum and pgmpy, where they are installed: tables, EM, searches."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bayeskit
from bayeskit import BayesianNetwork, compare_networks, learn_structure, network_score
from bayeskit.network import K2
from bayeskit.network.cases import read_cases
from bayeskit.network.learn.discrete_rows import DiscreteRows, read_rows
from bayeskit.network.learn.search_method import SearchMethod, as_method
from benchmarks.timing import cpu_seconds, seconds, write_section

SHARED = Path(__file__).parents[1].parent / "shared"
SAMPLES, NETWORKS = SHARED / "golden" / "structure" / "samples", SHARED / "data" / "networks"
# Search, bnlearn's name for it, sample, the most seconds that we allow ourselves.
TASKS = [
    ("hill-climb", "hc", "alarm-10000", 0.13), ("hill-climb", "hc", "insurance-10000", 0.07),
    ("hill-climb", "hc", "hailfinder-10000", 0.22), ("hill-climb", "hc", "alarm-100000", 0.7),
    ("hill-climb", "hc", "insurance-100000", 0.4), ("hill-climb", "hc", "hailfinder-100000", 1.2),
    ("tabu", "tabu", "alarm-10000", None), ("tabu", "tabu", "insurance-10000", None),
    ("tabu", "tabu", "alarm-100000", 3.0), ("tabu", "tabu", "insurance-100000", 3.0),
    ("pc", "pc.stable", "alarm-10000", 0.2), ("pc", "pc.stable", "alarm-100000", 1.2),
    ("k2", "", "alarm-10000", 0.03), ("k2", "", "alarm-100000", 0.3),
]  # fmt: skip
R_SCRIPT = """
suppressMessages(library(bnlearn))
arguments <- commandArgs(TRUE)
data <- read.csv(arguments[1], colClasses = "factor", na.strings = character(0), check.names = FALSE)
cpu <- function(action) { t <- system.time(action()); t[["user.self"]] + t[["sys.self"]] }
if (arguments[2] == "bn.fit") {
  net <- empty.graph(names(data))
  arcs(net) <- as.matrix(read.csv(arguments[3], colClasses = "character"))
  data <- data[rep(seq_len(nrow(data)), length.out = 1e6), ]
  cat(min(replicate(3, cpu(function() bn.fit(net, data)))), 0, "\\n")
} else {
  learn <- if (arguments[2] == "pc.stable") function() pc.stable(data, alpha = 0.01) else
           if (arguments[2] == "tabu") function() tabu(data) else function() hc(data)
  found <- NULL
  time <- cpu(function() found <<- learn())
  cat(time, if (arguments[2] == "pc.stable") NA else sprintf("%.2f", score(found, data, type = "bic")), "\\n")
}
"""


def has_bnlearn() -> bool:
    """Say whether R with bnlearn is there."""
    if shutil.which("Rscript") is None:
        return False
    return subprocess.run(["Rscript", "-e", "library(bnlearn)"], capture_output=True).returncode == 0


def bnlearn(path: Path, method: str, arcs: list[tuple[str, str]] | None = None) -> tuple[float, str]:
    """Return CPU seconds and BIC of bnlearn on the same file."""
    with tempfile.TemporaryDirectory() as folder:
        script, plain, graph = (Path(folder) / name for name in ("learn.R", "sample.csv", "arcs.csv"))
        script.write_text(R_SCRIPT)
        pd.read_csv(path, dtype=str, keep_default_na=False).to_csv(plain, index=False)
        pd.DataFrame(arcs or [], columns=["from", "to"]).to_csv(graph, index=False)
        command = ["Rscript", str(script), str(plain), method, str(graph)]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(out[0]), "" if out[1] == "NA" else f"{float(out[1]):.1f}"


def pyagrum_seconds(frame: pd.DataFrame, order: list[str] | None) -> float:
    """Return CPU seconds of pyAgrum's search, its reading of the frame left out: K2 with an order, else greedy."""
    import pyagrum

    best = np.inf
    for _ in range(2):
        learner = pyagrum.BNLearner(frame)
        learner.setNumberOfThreads(1)
        learner.useScoreBIC()
        if order is None:
            learner.useGreedyHillClimbing()
        else:
            learner.useK2(order)
        start = time.process_time()
        learner.learnDAG()
        best = min(best, time.process_time() - start)
    return float(best)


def structure(r: bool) -> list[str]:
    """Return the lines of the table of searches."""
    lines = [
        "| search | sample | bayeskit | aim | BIC, SHD | bnlearn | its BIC | ratio | pyAgrum | ratio |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for method, theirs, sample, aim in TASKS:
        true = BayesianNetwork.read(NETWORKS / f"{sample.split('-')[0]}.bif.gz")
        order = [true.names[i] for i in true.topological_order]
        chosen: SearchMethod = K2(order) if method == "k2" else as_method(method)
        path = SAMPLES / f"{sample}.csv.gz"
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        rows: DiscreteRows = read_rows(frame)
        found = learn_structure(rows, chosen)
        own = cpu_seconds(lambda r=rows, m=chosen: learn_structure(r, m), 4)  # type: ignore[misc]
        result = f"{network_score(found.network, rows):.1f}, {compare_networks(true, found.cpdag).shd}"
        cells = [method, sample.replace("-", " "), seconds(own), "" if aim is None else f"{aim:g} s", result]
        if r and theirs:
            their, score = bnlearn(path, theirs)
            cells += [seconds(their), score, f"{their / own:.1f} ×"]
        else:
            cells += ["", "", ""]
        if find_spec("pyagrum") and method in ("hill-climb", "k2"):
            their = pyagrum_seconds(frame, order if method == "k2" else None)
            cells += [seconds(their), f"{their / own:.1f} ×"]
        else:
            cells += ["", ""]
        lines.append(f"| {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return lines


def tables(r: bool) -> list[str]:
    """Return the lines on tables: 1e6 complete rows, and EM with a tenth of the cells missing."""
    net = BayesianNetwork.read(NETWORKS / "alarm.bif.gz")
    columns = read_cases(net.schema, net.states, net.sample(1_000_000, random_state=0)).complete()
    own = cpu_seconds(lambda: net.fitted(columns), 5)
    lines = ["| task | bayeskit | aim | peer | ratio |", "|---|--:|--:|--:|--:|"]
    task = "tables of alarm, 1e6 rows, from codes"
    if r:
        their, _ = bnlearn(SAMPLES / "alarm-100000.csv.gz", "bn.fit", list(net.arcs))
        lines.append(f"| {task} | {seconds(own)} | 0.2 s | bnlearn {seconds(their)} | {their / own:.1f} × |")
    if find_spec("pyagrum"):
        their = _pyagrum_tables(net) * 10
        lines.append(
            f"| {task} | {seconds(own)} | 0.2 s | pyAgrum, loading left out, 10 × that of 1e5 rows {seconds(their)} "
            f"| {their / own:.1f} × |"
        )
    rng = np.random.default_rng(0)
    hidden = [column[:10_000].copy() for column in columns]
    for column in hidden:
        column[rng.random(len(column)) < 0.1] = 255
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        em = cpu_seconds(lambda: net.fitted(hidden, missing="em", max_iter=10, tol=0.0), 3)
        thousand = [column[:1000] for column in hidden]
        few = cpu_seconds(lambda: net.fitted(thousand, missing="em", max_iter=6, tol=0.0), 3)
    lines.append(f"| EM, alarm, 1e4 rows, 10 % of the cells missing, 10 steps | {seconds(em)} | 1 s | | |")
    if find_spec("pyagrum"):
        their = _pyagrum_em(net, thousand)
        lines.append(
            f"| EM, alarm, 1e3 rows, 6 steps | {seconds(few)} | | pyAgrum {seconds(their)} | {their / few:.0f} × |"
        )
    print("\n".join(lines), flush=True)
    return lines


def _template(net: BayesianNetwork) -> Any:
    import pyagrum

    template = pyagrum.BayesNet()
    for name, states in zip(net.names, net.states, strict=True):
        template.add(pyagrum.LabelizedVariable(name, "", list(states)))
    for a, b in net.arcs:
        template.addArc(a, b)
    return template


def _pyagrum_tables(net: BayesianNetwork) -> float:
    import pyagrum

    template = _template(net)
    learner = pyagrum.BNLearner(pd.DataFrame(net.sample(100_000, random_state=0)), template)
    learner.setNumberOfThreads(1)
    learner.useSmoothingPrior(1)
    return cpu_seconds(lambda: learner.learnParameters(template.dag()), 3)


def _pyagrum_em(net: BayesianNetwork, columns: list[Any]) -> float:
    import pyagrum

    template = _template(net)
    states = zip(net.names, columns, net.states, strict=True)
    frame = pd.DataFrame({n: ["?" if code == 255 else own[code] for code in c] for n, c, own in states})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        frame.to_csv(path, index=False)
        learner = pyagrum.BNLearner(str(path), template, ["?"])
        learner.setNumberOfThreads(1)
        learner.useSmoothingPrior(1)
        learner.useEM(1e-12)
        learner.EMsetMaxIter(6)
        start = time.process_time()
        learner.learnParameters(template.dag())
        return time.process_time() - start


def main() -> None:
    """Run all and write the section."""
    if not SAMPLES.exists():
        print("the samples are not beside the project; nothing to run.")
        return
    r = has_bnlearn()
    with bayeskit.threads(1):
        body = [*tables(r), "", *structure(r), ""]
    body.append(
        "CPU seconds of one thread, from codes; SHD is the distance to the network that the sample was drawn from. "
        "bnlearn searches with its own defaults (its tabu list has 10 graphs, ours 400)."
    )
    if not r:
        body.append("\nR with bnlearn is not installed here, so its columns are empty.")
    if not find_spec("pyagrum"):
        body.append("\npyAgrum is not installed here, so its columns are empty.")
    write_section("Learning networks", "python -m benchmarks learn", "\n".join(body))


if __name__ == "__main__":
    sys.exit(main())
