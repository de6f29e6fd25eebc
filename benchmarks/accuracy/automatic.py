"""AUTO.md: AutoBayes beside all peers, on the same folds, and the picture of their ranks.

The folds of AutoBayes are in build/accuracy/auto.jsonl, those of the peers in peers.jsonl, more.jsonl and
catboost.jsonl; folds that nothing was chosen on are in auto-fresh.jsonl and so on. Of a peer whose folds are not at
hand the means of ACCURACY.md are read, which are of the same folds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.accuracy.ranks import draw_ranks
from benchmarks.accuracy.report import MEASURES, REPORT, line, shown
from benchmarks.accuracy.tables import ORIGINAL, STOPPED, results
from benchmarks.accuracy.words import CHOSEN_ON, INTRO, SMALL, WHY

PAGE = REPORT.with_name("AUTO.md")
PICTURE = REPORT.parents[1] / "docs" / "_static" / "auto-ranks.png"
SIDES = ["auto", "peers", "more", "catboost"]
OURS = "AutoBayes"
PEERS = [
    "sk RandomForest",
    "sk ExtraTrees",
    "sk HistGradientBoosting",
    "XGBoost",
    "LightGBM",
    "CatBoost",
    "sk LogisticRegression",
    "Khiops",
    "sk RandomForest, oob temperature",
    "sk RandomForest calibrated",
    "sk HistGradientBoosting calibrated",
]
BEHIND = 0.03
LEAST = {"error": 5e-5, "log_loss": 5e-5, "calibration": 5e-5}  # what is printed as equal is a tie

Folds = dict[int, dict[str, float]]  # fold → measure → value


@dataclass(frozen=True)
class Study:
    """What was found: by table and model, and the rows of each table."""

    folds: dict[tuple[str, str], Folds]
    means: dict[tuple[str, str], dict[str, float]]  # of ACCURACY.md, over all folds of a table
    rows: dict[str, int]
    stopped: set[tuple[str, str]]
    refused: set[tuple[str, str]]

    def pair(self, table: str, peer: str) -> tuple[dict[str, float], dict[str, float], int] | None:
        """Return our means and a peer's over the folds that both have, and how many these are."""
        ours = self.folds.get((table, OURS), {})
        theirs = self.folds.get((table, peer))
        if theirs:
            both = sorted(set(ours) & set(theirs))
            if both:
                return mean_of([ours[k] for k in both]), mean_of([theirs[k] for k in both]), len(both)
        elif (table, peer) in self.means and ours:
            return mean_of(list(ours.values())), self.means[table, peer], len(ours)
        return None


def mean_of(folds: list[dict[str, float]]) -> dict[str, float]:
    return {measure: float(np.mean([fold[measure] for fold in folds])) for measure in MEASURES}


def gathered(sides: list[str], means: dict[tuple[str, str], dict[str, float]]) -> Study:
    found: dict[tuple[str, str], Folds] = {}
    rows: dict[str, int] = {}
    stopped, refused = set(), set()
    for side in sides:
        for row in results(side):
            key = row["table"], row["model"]
            rows[row["table"]] = row["rows"]
            if "refused" in row:
                (stopped if row["refused"] == STOPPED else refused).add(key)
            else:
                found.setdefault(key, {})[row["fold"]] = row
    return Study(found, means, rows, stopped, refused)


def read_means() -> dict[tuple[str, str], dict[str, float]]:
    """Return the means of the tables of ACCURACY.md."""
    text, means = REPORT.read_text(encoding="utf-8"), dict[tuple[str, str], dict[str, float]]()
    for measure, title in MEASURES.items():
        part = text.split(f"## {title[0].upper()}{title[1:]} on each table\n\n")[1].split("\n\n")[0].splitlines()
        models = [cell.strip() for cell in part[0].strip("| ").split("|")][2:]
        for each in part[2:]:
            table, _, *cells = (cell.strip() for cell in each.strip("| ").split("|"))
            for model, cell in zip(models, cells, strict=True):
                number = re.match(r"[\d.]+", cell)
                if number:
                    means.setdefault((table, model), {})[measure] = float(number.group()) / (
                        100 if measure == "error" else 1
                    )
    return {key: value for key, value in means.items() if len(value) == len(MEASURES)}


def compared(study: Study, tables: list[str], title: str, *, with_time: bool = True) -> str:
    text = f"\n## {title}: {len(tables)} tables\n\n"
    head = ["peer", "tables", "folds", "error %", "ours", "log-loss", "ours", "ECE", "ours"]
    head += ["we win by error", "by log-loss", "by ECE", *(["CPU s", "ours", "ratio"] if with_time else [])]
    text += line(head) + line(["---", *["--:"] * (len(head) - 1)])
    for peer in PEERS:
        pairs = {table: pair for table in tables if (pair := study.pair(table, peer))}
        if not pairs:
            continue
        ours, theirs = (mean_of([pair[side] for pair in pairs.values()]) for side in (0, 1))
        cells = [f"{len(pairs)}", f"{sum(pair[2] for pair in pairs.values())}"]
        for measure in ("error", "log_loss", "calibration"):
            cells += [shown(measure, theirs[measure]), f"**{shown(measure, ours[measure])}**"]
        cells += [wins(list(pairs.values()), measure) for measure in LEAST]
        if with_time:
            ratio = theirs["cpu"] / ours["cpu"]
            cells += [shown("cpu", theirs["cpu"]), shown("cpu", ours["cpu"]), f"{ratio:.2f}"]
        text += line([peer, *cells])
    return text


def wins(pairs: list[Any], measure: str) -> str:
    gaps = [theirs[measure] - ours[measure] for ours, theirs, _ in pairs]
    least = LEAST[measure]
    won = sum(1.0 if gap > least else 0.5 if gap > -least else 0.0 for gap in gaps)
    return f"{won:g} ({100 * won / len(gaps):.0f} %)"


def behind(study: Study, tables: list[str]) -> str:
    text = f"\n## Where it loses: more than {100 * BEHIND:g} points behind the best peer\n\n"
    text += line(["table", "rows", "ours, error %", "best peer", "its error %", "log-loss, ours", "its", "why"])
    text += line(["---", "--:", "--:", "---", "--:", "--:", "--:", "---"])
    n_behind = 0
    for table in tables:
        pairs = {peer: pair for peer in PEERS if (pair := study.pair(table, peer))}
        best = min(pairs, key=lambda peer: pairs[peer][1]["error"] - pairs[peer][0]["error"])
        ours, theirs, _ = pairs[best]
        if ours["error"] - theirs["error"] > BEHIND:
            n_behind += 1
            errors = [f"{100 * ours['error']:.2f}", best, f"{100 * theirs['error']:.2f}"]
            losses = [f"{ours['log_loss']:.3f}", f"{theirs['log_loss']:.3f}"]
            text += line([table, str(study.rows[table]), *errors, *losses, WHY.get(table, "not looked into")])
    return text + f"\n{n_behind} of {len(tables)} tables.\n"


def adult(study: Study) -> str:
    text = "\n## Adult, the original split\n\n32,561 rows to learn from, 16,281 to predict.\n\n"
    text += line(["model", "error", "log-loss", "ECE", "CPU s"]) + line(["---", *["--:"] * 4])
    for model in (OURS, *PEERS):
        found = study.folds.get((ORIGINAL, model), {}).get(0)
        if found:
            cells = [f"{found[measure]:.4f}" for measure in ("error", "log_loss", "calibration")]
            text += line([model, *cells, f"{found['cpu']:.2f}"])
    return text


def coverage(study: Study, tables: list[str]) -> str:
    text = "\n## What each peer was run on\n\n"
    for peer in PEERS:
        folds = {table: study.folds.get((table, peer), {}) for table in tables}
        kept = {table: len(found) for table, found in folds.items() if found}
        absent = [table for table in tables if table not in kept]
        if not kept:
            text += f"- {peer}: the means of ACCURACY.md, over the same folds.\n"
            continue
        said = f"- {peer}: {sum(kept.values())} folds of {len(kept)} tables"
        why = [table for table in absent if (table, peer) in study.stopped]
        no = [table for table in absent if (table, peer) in study.refused]
        rest = [table for table in absent if table not in why and table not in no]
        said += f"; over ten minutes a fold on {', '.join(why)}" if why else ""
        said += f"; refused on {', '.join(no)} (a class of too few rows, or a column without values)" if no else ""
        said += f"; no folds kept here of {', '.join(rest)}" if rest else ""
        text += said + ".\n"
    return text


def each(study: Study, tables: list[str]) -> str:
    text = "\n## Each table\n\n"
    text += line(["table", "rows", "folds", "error %", "log-loss", "ECE", "CPU s", "best peer by error", "by log-loss"])
    text += line(["---", *["--:"] * 6, "---", "---"])
    for table in tables:
        own = study.folds[table, OURS]
        mean = mean_of(list(own.values()))
        cells = [shown(measure, mean[measure]) for measure in ("error", "log_loss", "calibration", "cpu")]
        best = []
        for measure in ("error", "log_loss"):
            peers = {peer: pair[1][measure] for peer in PEERS if (pair := study.pair(table, peer))}
            name = min(peers, key=lambda peer: peers[peer])
            best.append(f"{name} {shown(measure, peers[name])}")
        text += line([table, str(study.rows[table]), str(len(own)), *cells, *best])
    return text


def write_automatic() -> None:
    """Write AUTO.md, and the picture of the ranks."""
    study = gathered(SIDES, read_means())
    fresh = gathered([f"{side}-fresh" for side in [*SIDES, "khiops"]], {})
    tables = sorted({t for t, m in study.folds if m == OURS and t != ORIGINAL}, key=lambda name: study.rows[name])
    unseen = [table for table in tables if table not in CHOSEN_ON and study.rows[table] > SMALL]
    chosen = [table for table in tables if table not in unseen]
    parts = [INTRO, compared(study, tables, "All tables"), draw_ranks(study.pair, [OURS, *PEERS], tables, PICTURE)]
    parts += [compared(fresh, tables, "Folds that nothing was chosen on", with_time=False)]
    parts += [compared(fresh, unseen, "Folds and tables that nothing was chosen on", with_time=False)]
    parts += [compared(study, unseen, "Tables that nothing was chosen on")]
    parts += [compared(study, chosen, "Tables that the design was chosen on")]
    parts += [behind(study, tables), adult(study), coverage(study, tables), each(study, tables)]
    PAGE.write_text("\n".join(part.strip("\n") + "\n" for part in parts), encoding="utf-8")
