"""What a change of AutoBayes did, fold by fold, and where it stands now beside the peers' means of AUTO.md.

`python -m benchmarks.accuracy since BEFORE.jsonl` prints a section for AUTO.md: the folds of the version before are in
that file, those of this version in build/accuracy/auto.jsonl. It is for a day on which the peers were not run again.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from benchmarks.accuracy.automatic import LEAST, OURS, PAGE, PEERS, Folds, mean_of, read_means, wins
from benchmarks.accuracy.report import line, shown
from benchmarks.accuracy.tables import ORIGINAL, results
from benchmarks.accuracy.words import CHOSEN_ON, SMALL

SHOWN = ("error", "log_loss", "calibration")
# How many repeats of three folds a line of AUTO.md has that says so many folds; of larger tables it has one repeat.
REPEATS_OF_A_LINE = {186: 1, 189: 1, 213: 1, 357: 2, 861: 5}
LARGE = 13_000


def by_table(rows: list[dict[str, float]]) -> dict[str, Folds]:
    found: dict[str, Folds] = {}
    for row in rows:
        found.setdefault(str(row["table"]), {})[int(row["fold"])] = row
    return found


def print_since(before_file: str) -> None:
    """Print the section."""
    then = by_table([json.loads(each) for each in Path(before_file).read_text(encoding="utf-8").splitlines()])
    now = by_table([row for row in results("auto") if row["model"] == OURS])
    tables = [table for table in now if table in then and table != ORIGINAL]
    size = {table: next(iter(now[table].values()))["rows"] for table in tables}
    unseen = [table for table in tables if table not in CHOSEN_ON and size[table] > SMALL]
    groups = {
        "all": tables,
        "nothing was chosen on": unseen,
        "the design was chosen on": [table for table in tables if table not in unseen],
    }
    head = [
        "tables",
        "number",
        "folds",
        *(f"{title} {side}" for title in ("error %", "log-loss", "ECE") for side in ("before", "now")),
    ]
    print(line([*head, "now less by error", "by log-loss", "by ECE", "CPU s before", "now"]), end="")
    print(line(["---", *["--:"] * 13]), end="")
    for title, group in groups.items():
        common = {table: sorted(set(now[table]) & set(then[table])) for table in group}
        pairs = [(mean_of([now[t][k] for k in common[t]]), mean_of([then[t][k] for k in common[t]]), 0) for t in group]
        mean = {
            measure: [float(np.mean([pair[side][measure] for pair in pairs])) for side in (1, 0)]
            for measure in (*SHOWN, "cpu")
        }
        cells = [shown(measure, value) for measure in SHOWN for value in mean[measure]]
        cells += [wins(pairs, measure) for measure in LEAST]
        folds = sum(len(each) for each in common.values())
        print(
            line([title, str(len(group)), str(folds), *cells, *(shown("cpu", value) for value in mean["cpu"])]), end=""
        )
    print()
    beside_peers(now, tables, size)
    first, last = then[ORIGINAL][0], now[ORIGINAL][0]
    said = [", ".join(f"{each[measure]:.4f}" for measure in SHOWN) for each in (first, last)]
    print(f"\nAdult, the original split (error, log-loss, ECE): {said[0]} before, {said[1]} now.")


def beside_peers(now: dict[str, Folds], tables: list[str], size: dict[str, float]) -> None:
    """Print our means on the folds of each line of AUTO.md; wins against the means of ACCURACY.md, where these are."""
    means = read_means()
    page = PAGE.read_text(encoding="utf-8").split("## All tables")[1].split("\n## ")[0]
    print(
        line(
            [
                "peer",
                "tables",
                "folds",
                "error %",
                "ours now",
                "log-loss",
                "ours now",
                "ECE",
                "ours now",
                "we win by error",
                "by log-loss",
                "by ECE",
            ]
        ),
        end="",
    )
    print(line(["---", *["--:"] * 11]), end="")
    for peer in PEERS:
        cells = [cell.strip() for cell in page.split(f"| {peer} |")[1].splitlines()[0].strip("| ").split("|")]
        n_tables, theirs = int(cells[0]), (cells[2], cells[4], cells[6])
        # A line of fewer tables is one without the largest; of others we do not know which were left out.
        if n_tables < len(tables) - 1:
            continue
        own = sorted(tables, key=lambda table: size[table])[:n_tables]
        repeats = REPEATS_OF_A_LINE[int(cells[1])]
        folds = {t: sorted(now[t])[: 3 * (repeats if size[t] <= LARGE else 1)] for t in own}
        mine = [mean_of([now[t][k] for k in folds[t]]) for t in own]
        ours = [shown(measure, float(np.mean([each[measure] for each in mine]))) for measure in SHOWN]
        known = [(mean_of(list(now[t].values())), means[t, peer], 0) for t in own if (t, peer) in means]
        won = [wins(known, measure) for measure in LEAST] if len(known) == n_tables else ["–"] * 3
        numbers = [each for pair in zip(theirs, ours, strict=True) for each in pair]
        n_folds = sum(len(each) for each in folds.values())
        print(line([peer, str(n_tables), str(n_folds), *numbers, *won]), end="")
