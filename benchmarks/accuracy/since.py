"""What a change of AutoBayes did, fold by fold.

`python -m benchmarks.accuracy since BEFORE.jsonl` prints a table: the folds of the version before are in that file,
those of this version in build/accuracy/auto.jsonl.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from benchmarks.accuracy.automatic import LEAST, OURS, Folds, mean_of, wins
from benchmarks.accuracy.report import line, shown
from benchmarks.accuracy.tables import ORIGINAL, results
from benchmarks.accuracy.words import CHOSEN_ON, SMALL

SHOWN = ("error", "log_loss", "calibration")


def by_table(rows: list[dict[str, float]]) -> dict[str, Folds]:
    found: dict[str, Folds] = {}
    for row in rows:
        found.setdefault(str(row["table"]), {})[int(row["fold"])] = row
    return found


def print_since(before_file: str) -> None:
    """Print the table, and what became of adult."""
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
    first, last = then[ORIGINAL][0], now[ORIGINAL][0]
    said = [", ".join(f"{each[measure]:.4f}" for measure in SHOWN) for each in (first, last)]
    print(f"\nAdult, the original split (error, log-loss, ECE): {said[0]} before, {said[1]} now.")
