"""Structure searches side by side on the same rows: BIC, distance to the true network, CPU; and many variables.

`python -m benchmarks structure` writes STRUCTURE.md. The sample of 10,000 variables takes minutes:
`python -m benchmarks.structure many` runs it alone and prints its line; `samples` prints the first table.
"""

from __future__ import annotations

import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

from bayeskit import BayesianNetwork, compare_networks, learn_structure, network_score
from bayeskit.network.learn.discrete_rows import DiscreteRows, read_rows
from bayeskit.network.learn.pdag import extend_to_dag
from bayeskit.network.learn.scored_families import ScoredFamilies
from benchmarks.learn import has_bnlearn
from benchmarks.timing import seconds

PAGE = Path(__file__).with_name("STRUCTURE.md")
SHARED = Path(__file__).parents[1].parent / "shared"
GOLDEN, NETWORKS = SHARED / "golden" / "structure", SHARED / "data" / "networks"
SAMPLES = [
    *((name, 1000) for name in ("child", "insurance", "alarm", "hailfinder")),
    *((name, size) for size in (10_000, 100_000) for name in ("insurance", "alarm", "hailfinder")),
]
METHODS = ("best", "order", "ges", "hill-climb", "tabu", "pc")
HEAD = ["| sample | search | BIC | SHD | CPU |", "|---|---|--:|--:|--:|"]
# (variables of a random network of two states, or a name; rows; searches).
Task = tuple[int | str, int, tuple[str, ...]]
MANY: list[Task] = [
    (100, 3_000, ("best", "ges", "hill-climb")),
    (1_000, 10_000, ("order", "ges", "best", "mmhc")),
    ("munin", 10_000, ("order", "ges")),
]
MOST: Task = (10_000, 5_000, ("order",))
MOST_ROWS_OF_RESTARTS = 10_000
R_SCRIPT = """
suppressMessages(library(bnlearn))
arguments <- commandArgs(TRUE)
data <- read.csv(arguments[1], colClasses = "factor", na.strings = character(0), check.names = FALSE)
restarts <- as.integer(arguments[3])
bic <- function(net) score(net, data, type = "bic")
tabu_restarted <- function() {
  nets <- lapply(seq_len(restarts), function(k)
    tabu(data, start = random.graph(names(data), method = "ic-dag", burn.in = 200, max.in.degree = 2)))
  nets[[which.max(vapply(nets, bic, 0))]]
}
searches <- list(hc = function() hc(data), tabu = function() tabu(data))
if (restarts > 0) searches <- c(searches,
  list("hc 20" = function() hc(data, restart = restarts, perturb = 10), "tabu 20" = tabu_restarted))
for (name in names(searches)) {
  set.seed(1)
  t <- system.time(net <- searches[[name]]())
  write.csv(arcs(net), file.path(arguments[2], paste0(name, ".csv")), row.names = FALSE)
  cat(name, "\\t", t[["user.self"]] + t[["sys.self"]], "\\n", sep = "")
}
"""


def sample(name: str, size: int) -> pd.DataFrame:
    """Return the shared sample."""
    path = GOLDEN / f"{name}-1000.csv.gz" if size == 1000 else GOLDEN / "samples" / f"{name}-{size}.csv.gz"
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def pyagrum_searches(frame: pd.DataFrame) -> Iterator[tuple[str, BayesianNetwork, float]]:
    """Yield pyAgrum's greedy search and its tabu search, with CPU seconds, loading left out."""
    import pyagrum

    for name in ("greedy", "tabu"):
        learner = pyagrum.BNLearner(frame)
        learner.useScoreBIC()
        learner.setNumberOfThreads(1)
        if name == "greedy":
            learner.useGreedyHillClimbing()
        else:
            learner.useLocalSearchWithTabuList(100, 10)
        start = time.process_time()
        graph = learner.learnDAG()
        spent = time.process_time() - start
        names = list(frame.columns)
        parents = {name: [names[p] for p in graph.parents(i)] for i, name in enumerate(names)}
        yield f"pyAgrum {name}", BayesianNetwork(parents), spent


def bnlearn_searches(frame: pd.DataFrame, restarts: bool) -> Iterator[tuple[str, BayesianNetwork, float]]:
    """Yield bnlearn's hill-climbing and tabu search, with 20 restarts too, with CPU seconds; loading left out.

    hc restarts by itself; tabu search begins 20 times with a random graph, and the best is kept.
    """
    with tempfile.TemporaryDirectory() as folder:
        script, data = Path(folder) / "search.R", Path(folder) / "sample.csv"
        script.write_text(R_SCRIPT)
        frame.to_csv(data, index=False)
        command = ["Rscript", str(script), str(data), folder, "20" if restarts else "0"]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for name, spent in (line.split("\t") for line in out.splitlines()):
            arcs = pd.read_csv(Path(folder) / f"{name}.csv", dtype=str, keep_default_na=False)
            parents: dict[str, list[str]] = {each: [] for each in frame.columns}
            for a, b in arcs.itertuples(index=False):
                parents[b].append(a)
            yield f"bnlearn {name}", BayesianNetwork(parents), float(spent)


def xges_search(rows: DiscreteRows) -> Iterator[tuple[str, BayesianNetwork, float]]:
    """Yield XGES (Nazaret & Blei), its own search over our BIC, with CPU seconds."""
    from xges import XGES
    from xges.scorer import ScorerInterface

    families = ScoredFamilies(rows, "bic")

    class Families(ScorerInterface):  # type: ignore[misc]
        n_variables = len(rows.names)

        def local_score(self, target: int, parents: Collection[int]) -> float:
            return families.local(int(target), sorted(map(int, parents)))

    start = time.process_time()
    pdag = XGES().fit(np.zeros((2, len(rows.names))), True, False, Families(), 0)
    spent = time.process_time() - start
    matrix = np.asarray(pdag.to_adjacency_matrix(), dtype=bool)
    parents = {name: [] for name in rows.names}
    for child, above in enumerate(extend_to_dag(matrix)):
        parents[rows.names[child]] = [rows.names[p] for p in above]
    yield "xges, our scores", BayesianNetwork(parents), spent


def peers(frame: pd.DataFrame, rows: DiscreteRows) -> Iterator[tuple[str, BayesianNetwork, float]]:
    """Yield what the programs that are installed find."""
    if find_spec("pyagrum"):
        yield from pyagrum_searches(frame)
    if has_bnlearn():
        yield from bnlearn_searches(frame, rows.n_rows <= MOST_ROWS_OF_RESTARTS)
    if find_spec("xges"):
        yield from xges_search(rows)


def searches() -> list[str]:
    """Return the lines of the table of samples."""
    lines = list(HEAD)
    for name, size in SAMPLES:
        frame, true = sample(name, size), BayesianNetwork.read(NETWORKS / f"{name}.bif.gz")
        rows = read_rows(frame)
        for method in METHODS:
            start = time.process_time()
            found = learn_structure(rows, method)
            spent = time.process_time() - start
            shd = compare_networks(true, found.cpdag).shd
            lines.append(f"| {name} {size} | {method} | {found.score:.1f} | {shd} | {seconds(spent)} |")
            print(lines[-1], flush=True)
        for peer, graph, spent in peers(frame, rows):
            shd, score = compare_networks(true, graph).shd, network_score(graph, rows)
            lines.append(f"| {name} {size} | {peer} | {score:.1f} | {shd} | {seconds(spent)} |")
            print(lines[-1], flush=True)
    return lines


def random_network(n: int, seed: int, mean_degree: float = 3.0) -> BayesianNetwork:
    """Return a network with arcs at random, at most four parents, and tables at random."""
    rng = np.random.default_rng(seed)
    order, left = rng.permutation(n), int(n * mean_degree / 2)
    parents: dict[str, list[str]] = {f"v{i}": [] for i in range(n)}
    while left:
        first, second = sorted(rng.integers(0, n, 2).tolist())
        parent, above = f"v{order[first]}", parents[f"v{order[second]}"]
        if first != second and parent not in above and len(above) < 4:
            above.append(parent)
            left -= 1
    return BayesianNetwork(parents, random_tables=seed)


def many(tasks: list[Task]) -> list[str]:
    """Return the lines of the table of many variables."""
    lines = [
        "| variables | rows | search | score | SHD | arcs | CPU | wall | memory |",
        "|--:|--:|---|--:|--:|--:|--:|--:|--:|",
    ]
    for n, n_rows, methods in tasks:
        true = random_network(n, 0) if isinstance(n, int) else BayesianNetwork.read(NETWORKS / f"{n}.bif.gz")
        rows = read_rows(true.sample(n_rows, random_state=0))
        for method in methods:
            cpu, wall = time.process_time(), time.perf_counter()
            found = learn_structure(rows, method)
            spent = f"{seconds(time.process_time() - cpu)} | {seconds(time.perf_counter() - wall)}"
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            shd = compare_networks(true, found.cpdag).shd
            score, arcs = f"{found.score_name} {found.score:.1f}", len(true.arcs)
            lines.append(f"| {n} | {n_rows} | {method} | {score} | {shd} | {arcs} | {spent} | {peak:.2f} GiB |")
            print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Write the page."""
    parts = [
        "# Structure searches on the same rows",
        f"`python -m benchmarks structure` on {platform.machine()}, Python {platform.python_version()}. BIC: "
        "higher is better. SHD is the distance of the CPDAG to that of the network that the rows were drawn from; CPU "
        "seconds are those of all threads. pyAgrum is timed without its loading of the table, bnlearn without "
        "its reading of the file; xges is its authors' search over the scores of bayeskit, in Python.",
        "\n".join(searches()),
        "## Many variables",
        "Random networks of variables with two states, mean degree 3, at most four parents, tables at random, and "
        "munin (1,041 variables). Arcs are those of the true network; the score is the default one, MDL above 150 "
        "variables. Memory is the peak of the process, which runs the lines in turn.",
        "\n".join(many(MANY)),
    ]
    PAGE.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["many"]:
        many([MOST])
    elif sys.argv[1:] == ["samples"]:
        searches()
    else:
        main()
