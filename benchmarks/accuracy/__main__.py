"""How well the classifiers do on public tables, beside scikit-learn, Khiops and the published numbers.

`python -m benchmarks.accuracy run SIDE` works through the tables, smallest first, and keeps each fold in
build/accuracy/, so that a broken run goes on where it stopped. A side is ours, auto (AutoBayes), peers, more (other
ensembles, and calibrated peers), khiops, weka, or defaults; they can run side by side.
`python -m benchmarks.accuracy write` makes ACCURACY.md from what is there, `… write-auto` makes AUTO.md.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import bayeskit
from benchmarks.accuracy.automatic import write_automatic
from benchmarks.accuracy.defaults import run_defaults
from benchmarks.accuracy.measure import losses
from benchmarks.accuracy.models import SIDES
from benchmarks.accuracy.report import write
from benchmarks.accuracy.tables import keep, results, work
from benchmarks.accuracy.weka import run_weka


def run(side: str) -> None:
    makers: dict[str, Any] = SIDES[side]()
    done = {(row["table"], row["model"], row["fold"]) for row in results(side)}
    for table, X, y, splits in work():
        labels = sorted(y.unique().tolist())
        for model, maker in makers.items():
            waiting = [fold for fold in range(len(splits)) if (table, model, fold) not in done]
            for fold in waiting:
                row: dict[str, Any] = {"table": table, "model": model, "fold": fold, "rows": len(X)}
                with warnings.catch_warnings(), bayeskit.threads(1):
                    warnings.simplefilter("ignore")
                    try:
                        made = maker() if side == "ours" else maker(X)
                        row |= losses(made, X, y, *splits[fold], labels)
                    except (ValueError, RuntimeError, MemoryError) as error:
                        row["refused"] = str(error)[:200]
                keep(side, row)
            if waiting:
                print(f"{table:24} {model:24} {len(waiting):3} folds", flush=True)


def main(arguments: list[str]) -> None:
    if arguments == ["write"]:
        write([row for side in (*SIDES, "weka") for row in results(side)], results("defaults"))
    elif arguments == ["write-auto"]:
        write_automatic()
    elif arguments == ["run", "weka"]:
        run_weka()
    elif arguments == ["run", "defaults"]:
        run_defaults()
    elif arguments in [["run", side] for side in SIDES]:
        run(arguments[1])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
