"""AUTO.md: AutoBayes beside the models of ACCURACY.md, on the tables whose folds are kept.

The folds of AutoBayes are in build/accuracy/auto.jsonl. Those of the others may not be at hand; their means stand in
ACCURACY.md, on the same folds, and are read from there.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from benchmarks.accuracy.report import MEASURES, PEERS, REPORT, line, shown
from benchmarks.accuracy.tables import ORIGINAL, results

PAGE = REPORT.with_name("AUTO.md")
BEHIND = 0.03
# The tables on which the design of AutoBayes was chosen; so were all tables of at most 700 rows.
CHOSEN_ON = {
    *(
        "adult",
        "anneal",
        "audiology",
        "autos",
        "balance-scale",
        "car",
        "cmc",
        "credit-g",
        "cylinder-bands",
        "dermatology",
    ),
    *("diabetes", "echocardiogram", "ecoli", "heart-c", "hypothyroid", "ionosphere", "krkopt", "led24", "nursery"),
    *("page-blocks", "pendigits", "phishing", "primary-tumor", "tae", "vertebral-3c", "waveform-5000", "wine"),
}
SMALL = 700

Means = dict[str, dict[str, dict[str, float]]]  # table → model → measure → mean

INTRO = """# AutoBayes beside the peers

Made by `python -m benchmarks.accuracy run auto` and `… write-auto`, on the folds, measures and peers of
[ACCURACY.md](ACCURACY.md): 5 × 3 stratified folds, defaults, one thread, a busy machine. The means of the peers are
those of that page. AutoBayes ran with `effort="balanced"`. The largest tables have not been run yet, nor have
ExtraTrees, XGBoost, LightGBM, CatBoost and calibrated peers (`… run more`).
The folds were run before the last changes of the code (fewer steps of the optimiser, bounds for very many columns and
classes); two folds of each of 14 tables, run again with today's code, differ by at most 4e-5 in error and log-loss.
"""


def kept() -> tuple[Means, dict[str, int]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in results("auto"):
        if "refused" not in row and row["table"] != ORIGINAL:
            found.setdefault(row["table"], []).append(row)
    rows = {table: folds[0]["rows"] for table, folds in found.items() if len(folds) >= 15}
    means = {
        table: {"AutoBayes": {m: float(np.mean([fold[m] for fold in found[table]])) for m in MEASURES}}
        for table in rows
    }
    return means, rows


def read_peers(means: Means) -> None:
    """Add the means of the peers from the tables of ACCURACY.md."""
    text = REPORT.read_text(encoding="utf-8")
    for measure, title in MEASURES.items():
        part = text.split(f"## {title[0].upper()}{title[1:]} on each table\n\n")[1].split("\n\n")[0].splitlines()
        models = [cell.strip() for cell in part[0].strip("| ").split("|")][2:]
        for each in part[2:]:
            table, _, *cells = (cell.strip() for cell in each.strip("| ").split("|"))
            for model, cell in zip(models, cells, strict=True):
                number = re.match(r"[\d.]+", cell)
                if table in means and number:
                    value = float(number.group()) / (100 if measure == "error" else 1)
                    means[table].setdefault(model, {})[measure] = value


def compared(means: Means, tables: list[str], title: str) -> str:
    text = f"\n## {title}: {len(tables)} tables\n\n"
    text += line(["model", *MEASURES.values(), "tables that AutoBayes wins by error", "by log-loss"])
    text += line(["---", *["--:"] * (len(MEASURES) + 2)])
    for model in ["AutoBayes", *PEERS, "AODE", "A2DE"]:
        both = [table for table in tables if model in means[table]]
        cells = [shown(m, float(np.mean([means[table][model][m] for table in both]))) for m in MEASURES]
        wins = [wins_of(means, both, model, m) for m in ("error", "log_loss")] if model != "AutoBayes" else ["", ""]
        text += line([f"**{model}**" if model == "AutoBayes" else model, *cells, *wins])
    return text


def wins_of(means: Means, tables: list[str], model: str, measure: str) -> str:
    least = 5e-5  # what is printed as equal is a tie
    gaps = [means[table][model][measure] - means[table]["AutoBayes"][measure] for table in tables]
    return f"{sum(1.0 if gap > least else 0.5 if gap > -least else 0.0 for gap in gaps):g} of {len(tables)}"


def behind(means: Means, rows: dict[str, int]) -> str:
    text = f"\n## Where it is more than {100 * BEHIND:g} points behind the best\n\n"
    text += line(["table", "rows", "AutoBayes, error %", "best", "its error %"])
    text += line(["---", "--:", "--:", "---", "--:"])
    for table in sorted(means, key=lambda name: rows[name]):
        best = min((m for m in means[table] if m != "AutoBayes"), key=lambda m: means[table][m]["error"])
        own, other = means[table]["AutoBayes"]["error"], means[table][best]["error"]
        if own - other > BEHIND:
            text += line([table, str(rows[table]), f"{100 * own:.2f}", best, f"{100 * other:.2f}"])
    return text


def write_automatic() -> None:
    """Write AUTO.md."""
    means, rows = kept()
    read_peers(means)
    tables = sorted(means, key=lambda name: rows[name])
    unseen = [table for table in tables if table not in CHOSEN_ON and rows[table] > SMALL]
    parts = [INTRO, compared(means, tables, "All that were run")]
    parts += [compared(means, unseen, "Tables that nothing was chosen on"), behind(means, rows)]
    head = ["table", "rows", "error %", "log-loss", "calibration error", "CPU s"]
    each = "\n## Each table\n\n" + line(head) + line(["---", *["--:"] * 5])
    for table in tables:
        own = means[table]["AutoBayes"]
        cells = [shown(measure, own[measure]) for measure in ("error", "log_loss", "calibration", "cpu")]
        each += line([table, str(rows[table]), *cells])
    PAGE.write_text("\n".join(part.strip("\n") + "\n" for part in [*parts, each]), encoding="utf-8")
