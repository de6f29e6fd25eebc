"""What a worker does with a table: what its columns are, training with a report, learning a network."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from bayeskit.defaults import NETWORK_BINS
from bayeskit.progress import Step
from bayeskit.studio.network_tasks import Report, _json

if TYPE_CHECKING:
    from bayeskit.network.learn.arc_reasons import ArcReason
    from bayeskit.network.learn.search import LearnedStructure

PREVIEW = 8  # rows
MOST_WITH_CANDIDATES = 150  # of more variables the arcs that came next are not sought: all pairs would be scored
MOST_CANDIDATES = 20
EVERY_STEP = 500  # this many steps of a search are reported one by one, then every tenth


def columns(path: Path, report: Report, target: str | None = None, kinds: dict[str, str] | None = None) -> bytes:
    """Return the kind of each column and why, the first rows, and the other kinds that can be chosen."""
    from bayeskit.kinds import words
    from bayeskit.kinds.infer import infer_kinds
    from bayeskit.kinds.written import read_columns
    from bayeskit.table.files import TableFile

    file = TableFile.open(path)
    said = {name: kind for name, kind in (kinds or {}).items() if kind != "left out"}
    out = [name for name, kind in (kinds or {}).items() if kind == "left out"]
    file.refuse_absent((*said, *out, *([] if target is None else [target])))
    shown = file.read_written()
    written = read_columns(shown, target or "", said, out, **file.form)
    notes = infer_kinds(written.table, target or "", [name for name in out if name != target], said, written)
    head = shown.slice(0, PREVIEW)
    return _json(
        {
            "rows": len(shown),
            "names": list(file.names),
            "columns": [
                {
                    "name": note.name, "kind": note.kind, "why": note.why, "n_values": note.n_values,
                    "missing": note.missing, "example": note.example,
                }
                for note in notes
            ],
            "kinds": [*words(), "numeric", "left out"],
            "preview": [[_text(cell) for cell in column.to_pylist()] for column in head.columns],
        }
    )  # fmt: skip


def problems(path: Path, report: Report, target: str | None = None, kinds: dict[str, str] | None = None) -> bytes:
    """Return what is wrong with a table, and what to do; as `bayeskit read` says it."""
    from bayeskit.workflow.reading import read

    said = {name: kind for name, kind in (kinds or {}).items() if kind != "left out" and name != target}
    out = [name for name, kind in (kinds or {}).items() if kind == "left out" and name != target]
    listed = read(path, target, ignore=out, kinds=said or None).problems
    return _json(
        {
            "problems": [
                {"text": str(each), "severity": each.severity, "columns": each.columns, "code": each.code}
                for each in listed
            ]
        }
    )


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell)[:60]


def train(
    path: Path,
    report: Report,
    target: str,
    output: str,
    kinds: dict[str, str] | None = None,
    models: list[str] | None = None,
) -> bytes:
    """Compare classifiers, fit the best, write model and report; every trial is reported as soon as it is known."""
    from bayeskit.table.files import TableFile
    from bayeskit.workflow import training
    from bayeskit.workflow.report.page import write_report
    from bayeskit.workflow.training_table import read_training_table

    said = {name: kind for name, kind in (kinds or {}).items() if kind != "left out" and name != target}
    out = [name for name, kind in (kinds or {}).items() if kind == "left out" and name != target]
    report({"step": "read", "done": 0, "total": 1})
    table = read_training_table(TableFile.open(path), target, out, said)

    def progress(step: Any) -> None:
        report({"step": step.name, "done": step.done, "total": step.total or 0})

    def tell(trial: Any) -> None:
        report({"trial": _trial(trial)})

    result = training.train(table, models or None, progress=progress, on_trial=tell)
    folder = Path(output)
    result.trained.save(folder / "model.bayes")
    pictures = write_report(folder / "report.html", result, "", progress)
    board = result.board
    return _json(
        {
            "best": board.best.name,
            "by": board.by,
            "beats_majority": board.beats_majority,
            "warning": "" if board.beats_majority else result.no_better_than_majority,
            "pictures": pictures,
            "board": [_trial(trial) for trial in board],
            "left_out": board.left_out,
            "rows": table.n_rows,
        }
    )


def _trial(trial: Any) -> dict[str, Any]:
    if trial.scores is None:
        return {"name": trial.name, "refused": trial.refused}
    measures = {}
    for name in ("error", "log_loss", "brier"):
        score = getattr(trial.scores, name)
        if math.isfinite(score.value):
            measures[name] = {"value": score.value, "se": score.se if math.isfinite(score.se) else None}
    return {"name": trial.name, "scores": measures, "seconds": trial.fit_seconds + trial.predict_seconds}


def learn(
    path: Path,
    report: Report,
    method: str = "best",
    whitelist: list[list[str]] | None = None,
    blacklist: list[list[str]] | None = None,
    ignore: list[str] | None = None,
    max_parents: int | None = None,
    bins: int = NETWORK_BINS,
    strength: int = 0,
) -> bytes:
    """Learn a network, say why its arcs are there and how sure they are; the server opens it as a document."""
    from bayeskit.network.learn.search import learn_structure
    from bayeskit.table.files import TableFile
    from bayeskit.workflow.state_columns import read_states

    table = read_states(TableFile.open(path), ignore or ())

    growth = _Growth(report)
    report({"variables": list(table)})
    limits: dict[str, Any] = {
        "whitelist": [(a, b) for a, b in whitelist or []],
        "blacklist": [(a, b) for a, b in blacklist or []],
        "max_parents": max_parents,
        "numeric": "equal-frequency",
        "bins": bins,
    }
    learned = learn_structure(table, cast("Any", method), **limits, progress=growth.progress, on_graph=growth.on_graph)
    why = _reasons(learned, table)
    if strength:
        _add_strength(why["arcs"], table, strength, limits, report)
    return pickle.dumps((learned.network, learned.score, learned.history.reason, why))


def _reasons(learned: LearnedStructure, table: dict[str, Any]) -> dict[str, Any]:
    """Return what each arc adds to the score, the rows that it rests on, and the parents that came next."""
    from bayeskit.network.learn.arc_reasons import arc_reasons

    few = len(table) <= MOST_WITH_CANDIDATES
    reasons = arc_reasons(learned.network, table, learned.score_name, n_candidates=2 if few else 0)
    next_best = [arc for arcs in reasons.candidates.values() for arc in arcs if not arc.closes_cycle]
    next_best.sort(key=lambda arc: -arc.gain)
    return {
        "score": reasons.score_name,
        "arcs": [_shown(arc) for arc in reasons.arcs],
        "candidates": [_shown(arc) for arc in next_best[:MOST_CANDIDATES]],
    }


def _shown(arc: ArcReason) -> dict[str, Any]:
    return {
        "from": arc.parent,
        "to": arc.child,
        "gain": arc.gain,
        "rows": arc.n_rows,
        "configurations": arc.n_configurations,
    }


def _add_strength(
    arcs: list[dict[str, Any]], table: dict[str, Any], n_networks: int, limits: dict[str, Any], report: Report
) -> None:
    """Add to each arc the share of resampled tables whose network joins the two, and of these the share that agree."""
    from bayeskit.network.learn.arc_strength import arc_strength

    def progress(step: Step) -> None:
        report({"resampled": step.done, "of": n_networks})

    sure = arc_strength(table, n_networks=n_networks, missing="node-average", progress=progress, **limits)
    for arc in arcs:
        a, b = sure.names.index(arc["from"]), sure.names.index(arc["to"])
        arc["strength"], arc["direction"] = float(sure.strength[a, b]), float(sure.direction[a, b])


class _Growth:
    """Reports the arcs that a search adds and removes, step by step; several steps at once for a long search."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._shown: set[tuple[str, str]] = set()
        self._now: set[tuple[str, str]] = set()

    def on_graph(self, arcs: list[tuple[str, str]]) -> None:
        self._now = set(arcs)

    def progress(self, step: Step) -> None:
        if step.done >= EVERY_STEP and step.done % 10:
            return
        score = step.objective if step.objective is not None and math.isfinite(step.objective) else None
        event: dict[str, Any] = {"step": step.done, "score": score}
        event["added"], event["removed"] = sorted(self._now - self._shown), sorted(self._shown - self._now)
        self._shown = self._now
        self._report(event)


TASKS: dict[str, Callable[..., bytes]] = {"columns": columns, "problems": problems, "train": train, "learn": learn}
