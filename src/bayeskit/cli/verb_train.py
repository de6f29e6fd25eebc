"""``bayeskit train``: a table in, a model and a report out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bayeskit.cli import screen, texts
from bayeskit.cli.options import (
    Decimal,
    Delimiter,
    Encoding,
    Force,
    Json,
    LossFile,
    Missing,
    RandomState,
    Reject,
    Stream,
    Tables,
    TextColumn,
    model_name,
    read_loss_file,
    refuse_overwriting,
)
from bayeskit.cli.tables import inputs, scan_of
from bayeskit.cli.training_screen import as_json, show_board, show_columns, show_end, show_next

if TYPE_CHECKING:
    from bayeskit.table.files import TableFile
    from bayeskit.table.scan import Scan
    from bayeskit.workflow.fold_plan import FoldPlan
    from bayeskit.workflow.training import Training
    from bayeskit.workflow.training_table import TrainingTable

# What --by says, and the measure of the library that it means.
BY = {"error": "error", "log-loss": "log_loss", "brier": "brier", "loss": "mean_loss"}


def train(
    data: Tables,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", help="Column to predict; for texts, the labels.", show_default=False),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Model file (default: TABLE-TARGET.bayes).", show_default=False),
    ] = None,
    models: Annotated[
        list[str] | None,
        typer.Option("--model", "-m", help="Try only this classifier; may be repeated.", show_default=False),
    ] = None,
    by: Annotated[
        Literal["error", "log-loss", "brier", "loss"] | None,
        typer.Option(help="Score that decides which classifier is best.", show_default="log-loss; loss with --loss"),
    ] = None,
    folds: Annotated[
        str, typer.Option(help="Number of folds, or group:COLUMN, or time:COLUMN (:NUMBER at the end if not 5).")
    ] = "5",
    random_state: RandomState = 0,
    test: Annotated[
        str | None,
        typer.Option("--test", help="File of held-out rows to score the best classifier on.", show_default=False),
    ] = None,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Fit a temperature to the probabilities of each classifier.")
    ] = False,
    ignore: Annotated[
        list[str] | None, typer.Option("--ignore", help="Leave out this column; may be repeated.", show_default=False)
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            "--kind", help="NAME=categorical, NAME=numeric or another kind; may be repeated.", show_default=False
        ),
    ] = None,
    loss: LossFile = None,
    reject: Reject = None,
    text: TextColumn = None,
    report: Annotated[bool, typer.Option(help="Write a report, an HTML file next to the model; not for texts.")] = True,
    decimal: Decimal = None,
    date_order: Annotated[
        Literal["dmy", "mdy", "ymd"] | None,
        typer.Option(help="Order of day, month and year in dates (decided column by column).", show_default=False),
    ] = None,
    missing: Missing = None,
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    stream: Stream = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Learn to predict a column of a table.

    Shows the kind of each column, cross-validates every classifier, fits the best one on all rows, and saves the model
    and a report. The best has the least log-loss, or with --loss or --reject the least mean loss; --by chooses another
    score.

    With --text, or where DATA is a folder with one folder of text files per class, it learns a text classifier: the
    multinomial, Bernoulli and complement models are compared on every fifth document, and the most accurate one is
    learned from all of them. Several files, a glob or a folder of files may be larger than memory.

    Several files, a glob or a folder are one table of any size: it is read twice, piece by piece, in memory that does
    not grow with it. A random sample of its rows decides the kinds of the columns and scores the classifiers, which
    learn from the counts of all rows.

    Example: bayeskit train days.csv --target play

    Example: bayeskit train 'days/*.parquet' --target play

    Example: bayeskit train reviews.jsonl --text review --target stars -o stars.bayes

    Example: bayeskit train days.csv -t play --ignore day --kind level=numeric --loss costs.csv
    """
    from bayeskit.table.files import TableFile
    from bayeskit.workflow import training

    if text is not None or (target is None and len(data) == 1 and Path(data[0]).is_dir()):
        texts.train(data, text, target, output, models, encoding, force=force, as_json=json)
        return
    if target is None:
        raise typer.BadParameter("name the column to predict.", param_hint="--target")
    forced = _pairs(kind or [])
    plan = _plan(folds, models, by, loss is not None or reject is not None)
    place = output or model_name(data, target)
    page = place.with_suffix(".html") if report else None
    words = tuple(missing or ())
    scan = scan_of(data, stream, encoding, delimiter, words)
    sources = inputs(data, scan)
    _refuse_places(place, page, (*sources, loss, test), force)
    _refuse_known_rows(test, sources)
    file = None if scan is not None else TableFile.open(data[0], encoding, delimiter, missing=words, keep=True)
    held_out = None if test is None else TableFile.open(test, encoding, delimiter, missing=words)
    if held_out is not None:
        held_out.refuse_absent((target,))
    if plan.column == target:
        raise typer.BadParameter("the target cannot say which rows belong together.", param_hint="--folds")
    left_out = [*(ignore or ()), *([plan.column] if plan.how == "group" else [])]
    options = (target, left_out, forced, lambda classes: read_loss_file(loss, classes, reject), decimal, date_order)
    source = file if scan is None else scan
    assert source is not None
    table = _read_table(source, options, plan, random_state, json)
    if not json:
        show_columns(table)
    measure = BY[by] if by else None
    with screen.progress(not json) as progress:
        result = training.train(table, models or None, plan, random_state, progress, by=measure, calibrate=calibrate)
    replace(result.trained, missing=words).save(place, force=force)
    _show(result, held_out, place, page, sources[0], json)


def _show(result: Training, held_out: TableFile | None, place: Path, page: Path | None, data: str, json: bool) -> None:
    """Show the leaderboard and where the model is, write the report, and warn of what the user should know."""
    if not json:
        show_board(result)
    if held_out is not None:  # what fails here comes after the leaderboard and the model
        with screen.progress(not json) as progress:
            result = result.scored_on(held_out, progress)
    if not json:
        show_end(result, place)
    pictures = _write_report(page, result, json)
    if json:
        screen.say_json(as_json(result, place, page))
    else:
        show_next(place, data)
    if not result.board.beats_majority:
        screen.warn(result.no_better_than_majority)
    if not pictures:
        screen.note("The report has no plots: matplotlib is not installed (pip install 'bayeskit[plot]').")


def _read_table(
    source: TableFile | Scan, options: tuple[Any, ...], plan: FoldPlan, random_state: int, json: bool
) -> TrainingTable:
    """Read the table; one of any size is read piece by piece, and this says so."""
    from bayeskit.table.scan import Scan
    from bayeskit.workflow.training_table import read_training_table

    piecewise = isinstance(source, Scan)
    if piecewise and not json:
        screen.say(f"Reading {source.shown} piece by piece.")
    also = [plan.column] if plan.column else []
    with screen.progress(piecewise and not json) as progress:
        return read_training_table(source, *options, also=also, random_state=random_state, progress=progress)


def _plan(folds: str, models: list[str] | None, by: str | None, has_loss: bool) -> FoldPlan:
    """Refuse what cannot be meant before any file is read, and return how rows are assigned to folds."""
    from bayeskit.errors import BayeskitError
    from bayeskit.workflow.candidates import candidates
    from bayeskit.workflow.fold_plan import FoldPlan

    candidates(models or None)
    if by == "loss" and not has_loss:
        raise typer.BadParameter("'loss' needs --loss or --reject, which say what an error costs.", param_hint="--by")
    try:
        return FoldPlan.read(folds)
    except BayeskitError as error:
        raise typer.BadParameter(str(error), param_hint="--folds") from None


def _write_report(page: Path | None, result: Training, json: bool) -> bool:
    """Write the report and say whether it has its plots."""
    if page is None:
        return True
    from bayeskit.workflow.report.page import write_report

    with screen.progress(not json) as progress:
        pictures = write_report(page, result, _command(), progress)
    if not json:
        screen.say(f"report  {page}")
    return pictures


def _pairs(kinds: list[str]) -> dict[str, str]:
    pairs = {}
    for pair in kinds:
        name, sign, kind = pair.rpartition("=")
        if not sign or not name:
            raise typer.BadParameter(f"a kind must have the form NAME=KIND; got {pair!r}.", param_hint="--kind")
        pairs[name] = kind
    return pairs


def _refuse_places(model: Path, page: Path | None, inputs: Sequence[str | None], force: bool) -> None:
    from bayeskit.errors import ModelFileError

    if model.suffix == ".html":
        raise ModelFileError(f"{str(model)!r}: the model file must not end in .html, which is the report's extension.")
    if not model.absolute().parent.is_dir():
        raise ModelFileError(f"there is no folder {str(model.parent)!r}; create it first.")
    for path in filter(None, (model, page)):
        refuse_overwriting(path, inputs, force=force)


def _refuse_known_rows(test: str | None, inputs: Sequence[str]) -> None:
    """Refuse held-out rows that are the rows to learn from."""
    there = [Path(path) for path in inputs if Path(path).exists()]
    if test is not None and Path(test).exists() and any(path.samefile(test) for path in there):
        said = f"{test!r} holds the rows to learn from; none of them is held out."
        raise typer.BadParameter(said, param_hint="--test")


def _command() -> str:
    return join(["bayeskit", *sys.argv[1:]])
