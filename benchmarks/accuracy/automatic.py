"""AUTO.md: AutoBayes beside the peers on folds that nothing was chosen on, and the picture of their ranks.

The folds of each side are in build/accuracy/SIDE-fresh.jsonl (`python -m benchmarks.accuracy run SIDE fresh`); a side
that is not there is not on the page.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from benchmarks.accuracy.ranks import draw_ranks
from benchmarks.accuracy.report import MEASURES, REPORT, line, shown
from benchmarks.accuracy.tables import ORIGINAL, STOPPED, results
from benchmarks.accuracy.words import CHOSEN_ON, INTRO, SMALL, WHY

PAGE = REPORT.with_name("AUTO.md")
PICTURE = REPORT.parents[1] / "docs" / "_static" / "auto-ranks.png"
SIDES = ["auto", "thorough", "stopped", "catboost-stopped", "forests", "ebm", "peers", "more", "catboost", "khiops"]
OURS, THOROUGH = "AutoBayes", "AutoBayes thorough"
PEERS = [
    "XGBoost, early stopping",
    "LightGBM, early stopping",
    "CatBoost, early stopping",
    "sk RandomForest",
    "sk RandomForest, oob temperature",
    "EBM",
    "sk ExtraTrees",
    "sk HistGradientBoosting",
    "XGBoost",
    "LightGBM",
    "CatBoost",
    "sk LogisticRegression",
    "Khiops",
    "sk RandomForest calibrated",
    "sk HistGradientBoosting calibrated",
]
MANY_ROWS = 5000
BEHIND = 0.03
LEAST = {"error": 5e-5, "log_loss": 5e-5, "calibration": 5e-5}  # what is printed as equal is a tie

Folds = dict[int, dict[str, float]]  # fold → measure → value


@dataclass(frozen=True)
class Study:
    """What was found: by table and model, and the rows of each table."""

    folds: dict[tuple[str, str], Folds]
    rows: dict[str, int]
    stopped: set[tuple[str, str]]
    refused: set[tuple[str, str]]

    def pair(self, table: str, peer: str, ours: str = OURS) -> tuple[dict[str, float], dict[str, float], int] | None:
        """Return our means and a peer's over the folds that both have, and how many these are."""
        own, theirs = self.folds.get((table, ours), {}), self.folds.get((table, peer), {})
        both = sorted(set(own) & set(theirs))
        return (mean_of([own[k] for k in both]), mean_of([theirs[k] for k in both]), len(both)) if both else None


def mean_of(folds: list[dict[str, float]]) -> dict[str, float]:
    return {measure: float(np.mean([fold[measure] for fold in folds])) for measure in MEASURES}


def gathered(sides: list[str]) -> Study:
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
    return Study(found, rows, stopped, refused)


def compared(study: Study, tables: list[str], title: str, ours_is: str = OURS) -> str:
    text = f"\n## {title}: {len(tables)} tables\n\n"
    head = ["peer", "tables", "folds", "error %", "ours", "log-loss", "ours", "ECE", "ours"]
    head += ["we win by error", "by log-loss", "p", "by ECE", "CPU s", "ours", "ratio"]
    text += line(head) + line(["---", *["--:"] * (len(head) - 1)])
    for peer in (OURS, *PEERS) if ours_is == THOROUGH else PEERS:
        pairs = {table: pair for table in tables if (pair := study.pair(table, peer, ours_is))}
        if not pairs:
            continue
        ours, theirs = (mean_of([pair[side] for pair in pairs.values()]) for side in (0, 1))
        cells = [f"{len(pairs)}", f"{sum(pair[2] for pair in pairs.values())}"]
        for measure in ("error", "log_loss", "calibration"):
            cells += [shown(measure, theirs[measure]), f"**{shown(measure, ours[measure])}**"]
        by_error, by_loss, by_calibration = (wins(list(pairs.values()), measure) for measure in LEAST)
        cells += [by_error, by_loss, chance(list(pairs.values())), by_calibration]
        ratio = theirs["cpu"] / ours["cpu"]
        text += line([peer, *cells, shown("cpu", theirs["cpu"]), shown("cpu", ours["cpu"]), f"{ratio:.2f}"])
    return text


def chance(pairs: list[Any]) -> str:
    """Return p of Wilcoxon's signed-rank test over the tables, by log-loss."""
    gaps = np.array([theirs["log_loss"] - ours["log_loss"] for ours, theirs, _ in pairs])
    return f"{wilcoxon(gaps).pvalue:.1g}" if (np.abs(gaps) > LEAST["log_loss"]).sum() > 5 else ""


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
        if not pairs:
            continue
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
    for model in (OURS, THOROUGH, *PEERS):
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
            text += f"- {peer}: not run.\n"
            continue
        said = f"- {peer}: {sum(kept.values())} folds of {len(kept)} tables"
        why = [table for table in absent if (table, peer) in study.stopped]
        no = [table for table in absent if (table, peer) in study.refused]
        rest = [table for table in absent if table not in why and table not in no]
        said += f"; out of time on {', '.join(why)}" if why else ""
        said += f"; refused on {', '.join(no)} (a class of too few rows, or a column without values)" if no else ""
        few = ", ".join(rest[:8]) + (f" and {len(rest) - 8} more" if len(rest) > 8 else "")
        said += f"; not run on {few}" if rest else ""
        text += said + ".\n"
    return text


def each(study: Study, tables: list[str]) -> str:
    text = "\n## Each table\n\n"
    head = ["table", "rows", "folds", "error %", "thorough", "log-loss", "thorough", "ECE", "CPU s", "thorough"]
    text += line([*head, "best peer by error", "by log-loss"]) + line(["---", *["--:"] * 9, "---", "---"])
    for table in tables:
        own = study.folds[table, OURS]
        mean, other = mean_of(list(own.values())), study.pair(table, OURS, THOROUGH)
        cells = []
        for measure in ("error", "log_loss", "calibration", "cpu"):
            cells.append(shown(measure, mean[measure]))
            if measure != "calibration":
                cells.append(shown(measure, other[0][measure]) if other else "")
        for measure in ("error", "log_loss"):
            peers = {peer: pair[1][measure] for peer in PEERS if (pair := study.pair(table, peer))}
            name = min(peers, key=lambda peer: peers[peer]) if peers else None
            cells.append(f"{name} {shown(measure, peers[name])}" if name else "")
        text += line([table, str(study.rows[table]), str(len(own)), *cells])
    return text


def write_automatic() -> None:
    """Write AUTO.md, and the picture of the ranks."""
    study = gathered([f"{side}-fresh" for side in SIDES])
    tables = sorted({t for t, m in study.folds if m == OURS and t != ORIGINAL}, key=lambda name: study.rows[name])
    unseen = [table for table in tables if table not in CHOSEN_ON and study.rows[table] > SMALL]
    large = [table for table in tables if study.rows[table] > MANY_ROWS]
    parts = [INTRO, compared(study, tables, "All tables")]
    parts += [compared(study, large, 'Tables above 5,000 rows, `effort="thorough"`', THOROUGH)]
    parts += [compared(study, tables, 'All tables, `effort="thorough"`', THOROUGH)]
    parts += [draw_ranks(study.pair, [OURS, *PEERS], tables, PICTURE)]
    parts += [compared(study, unseen, "Tables that nothing was chosen on")]
    parts += [behind(study, tables), adult(study), coverage(study, tables), each(study, tables)]
    PAGE.write_text("\n".join(part.strip("\n") + "\n" for part in parts), encoding="utf-8")
