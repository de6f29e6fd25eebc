"""How well the classifiers do on public tables, beside scikit-learn, Khiops and the published numbers.

`python -m benchmarks.accuracy run SIDE` works through the tables, smallest first, and keeps each fold in
build/accuracy/, so that a broken run goes on where it stopped. A side is ours, auto (AutoBayes), thorough (with that
effort), peers, more (other ensembles, and calibrated peers), catboost, stopped and catboost-stopped (with early
stopping), ebm, forests, khiops, weka, or defaults; they can run side by side.
`… run SIDE fresh` does the same on folds that nothing was ever chosen on; `… run SIDE fresh 3` on the first three.
`python -m benchmarks.accuracy write` makes ACCURACY.md from what is there, `… write-auto` makes AUTO.md,
and `… since BEFORE.jsonl` says what a change of AutoBayes did to each fold.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import warnings
from typing import Any

import bayeskit
from benchmarks.accuracy.automatic import write_automatic
from benchmarks.accuracy.defaults import run_defaults
from benchmarks.accuracy.measure import losses
from benchmarks.accuracy.models import SIDES
from benchmarks.accuracy.report import write
from benchmarks.accuracy.since import print_since
from benchmarks.accuracy.tables import FRESH_SEED, REPEATS, STOPPED, keep, results, work
from benchmarks.accuracy.weka import run_weka

# A fold of these sides may take so many CPU seconds; then it is ended, and the table's other folds are not tried.
MOST_SECONDS = {"catboost": 600, "catboost-stopped": 200, "stopped": 200, "ebm": 120}
# These fit four models for one, so that they are run on tables of so many rows at the most.
MOST_ROWS = {"sk RandomForest calibrated": 15_000, "sk HistGradientBoosting calibrated": 15_000}


def run(side: str, fresh: bool = False, n_folds: int = 3 * REPEATS) -> None:
    """Work through the first repeat of all tables, then the second, and so on, smallest tables first."""
    makers: dict[str, Any] = SIDES[side]()
    kept = f"{side}-fresh" if fresh else side
    done = {(row["table"], row["model"], row["fold"]) for row in results(kept)}
    stopped = {(row["table"], row["model"]) for row in results(kept) if row.get("refused") == STOPPED}
    for repeat in range(REPEATS):
        for table, X, y, splits in work(FRESH_SEED if fresh else 0):
            labels = sorted(y.unique().tolist())
            for model, maker in makers.items():
                if len(X) > MOST_ROWS.get(model, len(X)):
                    continue
                folds = range(3 * repeat, min(3 * repeat + 3, len(splits), n_folds))
                waiting = [fold for fold in folds if (table, model, fold) not in done]
                for fold in waiting:
                    if (table, model) in stopped:
                        break
                    made = maker() if side == "ours" else maker(X)
                    row = {"table": table, "model": model, "fold": fold, "rows": len(X)}
                    row |= measured(side, made, X, y, *splits[fold], labels)
                    keep(kept, row)
                    if row.get("refused") == STOPPED:
                        stopped.add((table, model))
                if waiting:
                    print(f"{table:24} {model:34} {len(waiting):3} folds", flush=True)


def measured(side: str, *arguments: Any) -> dict[str, Any]:
    """Return the losses of a model on a fold, or why there are none."""
    if side not in MOST_SECONDS:
        return losses_or_refusal(*arguments)
    # In a process of its own, which the system ends when its time is over.
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def work_on_fold() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS[side],) * 2)
        sender.send(losses_or_refusal(*arguments))

    child = context.Process(target=work_on_fold)
    child.start()
    sender.close()
    try:
        found: dict[str, Any] = receiver.recv()
    except EOFError:
        found = {"refused": STOPPED}
    child.join()
    return found


def losses_or_refusal(model: Any, X: Any, y: Any, train: Any, test: Any, labels: list[str]) -> dict[str, Any]:
    with warnings.catch_warnings(), bayeskit.threads(1):
        warnings.simplefilter("ignore")
        try:
            return losses(model, X, y, train, test, labels)
        except Exception as error:  # of any library: the study goes on with the next fold, and says what was refused
            return {"refused": str(error)[:200]}


def main(arguments: list[str]) -> None:
    if arguments == ["write"]:
        write([row for side in (*SIDES, "weka") for row in results(side)], results("defaults"))
    elif arguments == ["write-auto"]:
        write_automatic()
    elif arguments[:1] == ["since"] and len(arguments) == 2:
        print_since(arguments[1])
    elif arguments == ["run", "weka"]:
        run_weka()
    elif arguments == ["run", "defaults"]:
        run_defaults()
    elif arguments[:2] in [["run", side] for side in SIDES]:
        rest = [argument for argument in arguments[2:] if argument != "fresh"]
        if len(rest) > 1 or not all(argument.isdigit() for argument in rest):
            sys.exit(__doc__)
        run(arguments[1], fresh="fresh" in arguments, n_folds=int(rest[0]) if rest else 3 * REPEATS)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
