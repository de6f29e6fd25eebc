"""What ``bayeskit train`` prints: the columns of the table, the leaderboard, and where the model is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from bayeskit.cli import screen
from bayeskit.cli.app_options import OPTIONS, as_command
from bayeskit.language import label

if TYPE_CHECKING:
    from bayeskit.table.read_result import ColumnNote
    from bayeskit.workflow.drift import ColumnDrift
    from bayeskit.workflow.training import Training
    from bayeskit.workflow.training_table import TrainingTable

# Problems that are shown; the report has all of them.
MOST_PROBLEMS = 10
# Columns of the leaderboard in the order in which a narrow terminal leaves them out; the deciding one stays.
_LESS_WANTED = ("predict", "fit", "calibration", "Brier", "error", "mean loss", "log-loss")


def show_columns(table: TrainingTable) -> None:
    """Show the kind of each column, and the reason."""
    from bayeskit.workflow.wording import count

    screen.say(f"{table.file.name}: {count(table.n_rows, 'row')}, {count(len(table.file.names), 'column')}")
    if table.n_sampled:
        screen.say(
            f"A random sample of {count(table.n_sampled, 'row')} says what the columns are and where bins are cut; all "
            "rows are counted."
        )
    screen.say()
    show_notes(table.features.notes)
    screen.say()


def show_notes(notes: Sequence[ColumnNote]) -> None:
    """Show columns, their kinds and the reasons, as a table."""
    from bayeskit.workflow.wording import clauses, count, percent

    shown = notes if len(notes) <= screen.MOST_ROWS else notes[: screen.MOST_ROWS]
    rows = [
        (
            note.name,
            label(note.kind),
            clauses(note.why) + (f" ({OPTIONS[note.settled_by]})" if note.settled_by in OPTIONS else ""),
            percent(note.missing),
            note.example,
        )
        for note in shown
    ]
    screen.table(("column", "kind", "reason", "missing", "example"), rows, right=(3,), drop=(4, 3), as_is=(0, 2, 4))
    rest = notes[len(shown) :]
    if rest:
        kinds = ", ".join(f"{n} {kind}" for kind, n in Counter(note.kind for note in rest).most_common())
        screen.say(f"and {count(len(rest), 'column')} more: {kinds}")


def show_problems(table: TrainingTable) -> None:
    """Say what is wrong with the table, and which option settles it."""
    from bayeskit.workflow.data_problems import in_short

    problems = table.read.problems
    if not problems:
        return
    screen.say("Data problems, the gravest first:")
    for problem in problems[:MOST_PROBLEMS]:
        command = as_command(problem)
        mark = "!" if problem.severity == "warning" else "-"
        screen.show(f"  {mark} {in_short(problem)}." + (f" [{command}]" if command else ""))
    if len(problems) > MOST_PROBLEMS:
        screen.say(f"    and {len(problems) - MOST_PROBLEMS} more; the report has all, with the reasons.")
    screen.say()


def show_board(result: Training) -> None:
    """Show the leaderboard: fewer columns where the terminal is narrow, never cut numbers."""
    from bayeskit.workflow.wording import seconds

    board = result.board
    head = ["classifier", *result.measures.values(), "fit", "predict"]
    rows = []
    able = [trial for trial in board if trial.scores is not None]
    for trial in able:
        measures = [getattr(trial.scores, name) for name in result.measures]
        times = [seconds(t) if trial.model else "" for t in (trial.fit_seconds, trial.predict_seconds)]
        rows.append([trial.name, *map(str, measures), *times])
    best = next(i for i, trial in enumerate(able) if trial is board.best)
    deciding = result.measures[board.by]
    screen.say(f"{result.folds.described}, best {label(deciding)} first (± standard error)")
    screen.say()
    drop = [head.index(name) for name in _LESS_WANTED if name in head and name != deciding]
    dropped = screen.table(head, rows, right=range(1, len(head)), bold=best, drop=drop)
    if dropped:
        screen.say(f"(no room for {', '.join(dropped)}; see the report or --json)")
    for trial in board:
        if trial.scores is None:
            screen.say(f"{trial.name} left out: {trial.refused}")
    for name, why in board.left_out.items():
        screen.say(f"{name} not tried: {why}")
    needy = [trial.name for trial in board if trial.from_sample and trial.scores is not None]
    if needy:
        screen.say(f"{', '.join(needy)}: compared as learned from the sample alone, since more passes are needed.")
    screen.say()


def show_end(result: Training, place: Path) -> None:
    """Say what was fitted, how it does on held-out rows, and where it is."""
    from bayeskit.counts.memory import readable
    from bayeskit.workflow.wording import count

    calibrated = f", calibrated by the temperature {result.temperature:.3g}" if result.temperature != 1.0 else ""
    screen.say(f"{result.board.best.name} was fitted on all {count(result.table.n_rows, 'row')}{calibrated}.")
    if result.test is not None:
        scores = result.test.scores
        measures = ", ".join(f"{title} {getattr(scores, name)}" for name, title in result.measures.items())
        screen.say(f"{result.test_name}, {count(scores.n_rows, 'held-out row')}: {measures}")
        show_drift(result.test.drifts)
    screen.say(f"model   {place} ({readable(place.stat().st_size)})")


def show_drift(drifts: Sequence[ColumnDrift]) -> None:
    """Show the columns that differ from those of the training table."""
    from bayeskit.workflow.wording import percent

    if drifts:
        screen.say("Columns that differ from the training table (the share of rows that would have to change):")
        screen.say()
        rows = [(drift.name, percent(drift.distance), drift.what) for drift in drifts[: screen.MOST_ROWS]]
        screen.table(("column", "drift", "largest change"), rows, right=(1,))
        screen.say()


def show_next(place: Path, data: str) -> None:
    """Say what can be done with the model."""
    screen.say(f"next    bayeskit explain {quote(str(place))} {quote('new.csv' if data == '-' else data)}")


def as_json(result: Training, place: Path, page: Path | None) -> dict[str, Any]:
    """Return all of it in terms of JSON."""

    def scores(one: Any) -> dict[str, Any]:
        return {name: getattr(one, name)._asdict() for name in result.measures}

    def trial(one: Any) -> dict[str, Any]:
        if one.scores is None:
            return {"name": one.name, "left_out": one.refused}
        times = {"fit_seconds": one.fit_seconds, "predict_seconds": one.predict_seconds, "counts_added": one.added}
        return {"name": one.name, **scores(one.scores), **(times if one.model else {})}

    table, board = result.table, result.board
    test = None
    if result.test is not None:
        test = {"file": result.test_name, "rows": result.test.scores.n_rows, **scores(result.test.scores)}
    return {
        "file": table.file.name,
        "rows": table.n_rows,
        "sampled_rows": table.n_sampled or None,
        "unlabelled_rows": table.labels.n_unlabelled,
        "skipped": list(table.skipped),
        "problems": [{**vars(problem), "command": as_command(problem)} for problem in table.read.problems],
        "target": table.target,
        "classes": result.model.classes_,
        "columns": [note.to_json() for note in table.features.notes],
        "folds": result.folds.n,
        "folds_by": result.folds.how,
        "random_state": result.random_state,
        "by": board.by,
        "leaderboard": [trial(one) for one in board],
        "not_tried": board.left_out,
        "best": board.best.name,
        "beats_majority": board.beats_majority,
        "temperature": result.temperature,
        "test": test,
        "model": str(place),
        "model_bytes": place.stat().st_size,
        "report": None if page is None else str(page),
    }
