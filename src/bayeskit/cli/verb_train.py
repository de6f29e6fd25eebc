"""``bayeskit train``: a table in, a model and a report out."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import join, quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeskit.cli import screen
from bayeskit.cli.tables import Data, Delimiter, Encoding, Json, LossFile, Reject, read_loss_file

if TYPE_CHECKING:
    from bayeskit.cli.training import Plan, Training


def train(
    data: Data,
    target: Annotated[str, typer.Option("--target", "-t", help="The column to predict.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The model file; by default TARGET.bayes.", show_default=False),
    ] = None,
    models: Annotated[
        list[str] | None,
        typer.Option("--model", "-m", help="Try this classifier only; may be repeated.", show_default=False),
    ] = None,
    folds: Annotated[int, typer.Option(help="Parts of the cross-validation.", min=2)] = 5,
    seed: Annotated[int, typer.Option(help="Seed that deals rows into folds.", min=0)] = 0,
    ignore: Annotated[
        list[str] | None, typer.Option("--ignore", help="Leave a column out; may be repeated.", show_default=False)
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", help="NAME=categorical or NAME=numeric, and other kinds.", show_default=False),
    ] = None,
    loss: LossFile = None,
    reject: Reject = None,
    report: Annotated[bool, typer.Option(help="Write the report, an HTML file beside the model.")] = True,
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    json: Json = False,
) -> None:
    """Learn to predict a column of a table.

    Shows what each column is taken for, cross-validates every classifier, fits the best by log-loss on all rows, and
    saves the model and a report.

    Example: bayeskit train days.csv --target play

    Example: bayeskit train days.csv -t play --ignore day --kind level=numeric --loss costs.csv
    """
    from bayeskit.cli.training import read_plan
    from bayeskit.cli.training import train as learn
    from bayeskit.table.files import TableFile

    forced = _pairs(kind or [])
    place = output or Path(re.sub(r"[^\w .()-]", "_", target) + ".bayes")
    _refuse_place(place)
    file = TableFile.open(data, encoding, delimiter, keep=True)
    plan = read_plan(file, target, ignore or (), forced, lambda classes: read_loss_file(loss, classes, reject))
    if not json:
        _show_columns(plan)
    with _progress(not json) as tell:
        result = learn(plan, models or None, folds, seed, tell)
    result.model.save(place)
    page = place.with_suffix(".html") if report else None
    if page is not None:
        from bayeskit.cli.report.page import write_report

        write_report(page, result, _command())
    if json:
        screen.say_json(_as_json(result, place, page))
        return
    _show_board(result)
    _show_end(result, place, page, data)


def _pairs(kinds: list[str]) -> dict[str, str]:
    pairs = {}
    for pair in kinds:
        name, sign, kind = pair.rpartition("=")
        if not sign or not name:
            raise typer.BadParameter(f"a kind is written NAME=KIND; got {pair!r}.", param_hint="--kind")
        pairs[name] = kind
    return pairs


def _refuse_place(path: Path) -> None:
    from bayeskit.errors import ModelFileError

    if path.suffix == ".html":
        raise ModelFileError(f"{str(path)!r}: the model file must not end in .html, which the report does.")
    if not path.absolute().parent.is_dir():
        raise ModelFileError(f"the folder {str(path.parent)!r} is not there; make it first.")


def _command() -> str:
    return join(["bayeskit", *sys.argv[1:]])


@contextmanager
def _progress(wanted: bool) -> Iterator[Callable[[str], None] | None]:
    # The bar goes to the error stream, and only where a person can see it move.
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from bayeskit.classify.compare import candidates

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("cross-validation", total=len(candidates()))

        def tell(name: str) -> None:
            bar.update(task, advance=1, description=name)

        yield tell


def _show_columns(plan: Plan) -> None:
    n_rows, n_columns = len(plan.target.y), len(plan.features.notes)
    screen.say(f"{plan.file.name}: {n_rows} rows, {n_columns} columns")
    if plan.target.n_unlabelled:
        screen.say(f"{plan.target.n_unlabelled} rows without a value of {plan.name!r} are left out.")
    screen.say()
    rows = [
        (note.name, note.kind, note.why, screen.percent(note.missing), note.example) for note in plan.features.notes
    ]
    screen.table(("column", "kind", "because", "missing", "such as"), rows, right=(3,))
    screen.say()


def _show_board(result: Training) -> None:
    head = ["classifier", *result.measures.values(), "fit", "predict"]
    rows = []
    for trial in result.board:
        if trial.scores is None:
            rows.append([trial.name, f"left out: {trial.refused}"] + [""] * (len(head) - 2))
            continue
        measures = [getattr(trial.scores, name) for name in result.measures]
        times = [screen.seconds(t) if trial.model else "" for t in (trial.fit_seconds, trial.predict_seconds)]
        rows.append([trial.name, *map(str, measures), *times])
    best = next(i for i, trial in enumerate(result.board) if trial is result.board.best)
    screen.say(f"{result.folds}-fold cross-validation, best log-loss first, ± standard error")
    screen.say()
    screen.table(head, rows, right=range(1, len(head)), bold=best)
    screen.say()


def _show_end(result: Training, place: Path, page: Path | None, data: str) -> None:
    screen.say(f"{result.board.best.name} was fitted on all {len(result.plan.target.y)} rows.")
    screen.say(f"model   {place}")
    if page is not None:
        screen.say(f"report  {page}")
    screen.say(f"next    bayeskit explain {quote(str(place))} {quote('new.csv' if data == '-' else data)}")


def _as_json(result: Training, place: Path, page: Path | None) -> dict[str, Any]:
    def trial(one: Any) -> dict[str, Any]:
        if one.scores is None:
            return {"name": one.name, "left_out": one.refused}
        measures = {name: getattr(one.scores, name)._asdict() for name in result.measures}
        times = {"fit_seconds": one.fit_seconds, "predict_seconds": one.predict_seconds, "counts_added": one.added}
        return {"name": one.name, **measures, **(times if one.model else {})}

    plan = result.plan
    return {
        "file": plan.file.name,
        "rows": len(plan.target.y),
        "unlabelled_rows": plan.target.n_unlabelled,
        "target": plan.name,
        "classes": result.model.classes_,
        "columns": [vars(note) for note in plan.features.notes],
        "folds": result.folds,
        "seed": result.seed,
        "leaderboard": [trial(one) for one in result.board],
        "best": result.board.best.name,
        "model": str(place),
        "report": None if page is None else str(page),
    }
