"""``bayeskit train``: a table in, a model and a report out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bayeskit.cli import options, screen, sequences, texts
from bayeskit.cli.app_options import as_command
from bayeskit.cli.tables import inputs, kept_beside, refuse_parts_of_scan, scan_of
from bayeskit.cli.training_screen import as_json, show_board, show_columns, show_end, show_next, show_problems

if TYPE_CHECKING:
    from bayeskit.decide.loss import Loss
    from bayeskit.table.files import TableFile
    from bayeskit.table.scan.pieces import Scan
    from bayeskit.workflow.fold_plan import FoldPlan
    from bayeskit.workflow.training import Training
    from bayeskit.workflow.training_table import TrainingTable

# What --by says, and the measure of the library that it means.
BY = {"error": "error", "log-loss": "log_loss", "brier": "brier", "loss": "mean_loss"}

Target = Annotated[
    str | None, typer.Option("--target", "-t", help="Column to predict; for texts, the labels.", show_default=False)
]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Model file (default: TABLE-TARGET.bayes).", show_default=False)
]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", "-m", help="Try only this classifier; may be repeated.", show_default=False),
]
By = Annotated[
    Literal["error", "log-loss", "brier", "loss"] | None,
    typer.Option(help="Score that decides which classifier is best.", show_default="log-loss; loss with --loss"),
]
Folds = Annotated[
    str, typer.Option(help="Number of folds, or group:COLUMN, or time:COLUMN (:NUMBER at the end if not 5).")
]
Test = Annotated[
    str | None,
    typer.Option("--test", help="File of held-out rows to score the best classifier on.", show_default=False),
]
Calibrate = Annotated[
    bool, typer.Option("--calibrate", help="Fit a temperature to the probabilities of each classifier.")
]
Kind = Annotated[
    list[str] | None,
    typer.Option("--kind", help="NAME=categorical, NAME=numeric or another kind; may be repeated.", show_default=False),
]
ScoresBy = Annotated[
    list[str] | None,
    typer.Option("--scores-by", help="Column by whose groups the model is scored; repeated.", show_default=False),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        "--missing", help="Word for a missing cell: -9, or for one column, age=-9; repeated.", show_default=False
    ),
]
MergeLabels = Annotated[
    bool, typer.Option("--merge-labels", help="Merge other spellings of a value, such as ' Yes' and 'yes'.")
]
DropDuplicates = Annotated[bool, typer.Option("--drop-duplicates", help="Leave out copies of rows.")]
DropRare = Annotated[bool, typer.Option("--drop-rare-classes", help="Leave out classes of fewer than 5 rows.")]
Smoothing = Annotated[
    float | None,
    typer.Option(help="Pseudo-count λ of every classifier that has one; 0 is none.", min=0, show_default=False),
]
Report = Annotated[bool, typer.Option(help="Write a report, an HTML file next to the model.")]
DateOrder = Annotated[
    Literal["dmy", "mdy", "ymd"] | None,
    typer.Option(help="Order of day, month and year in dates (decided column by column).", show_default=False),
]

Group = Annotated[
    str | None,
    typer.Option(help="Column that says to which sequence a row belongs; learns a chain.", show_default=False),
]
Time = Annotated[
    str | None,
    typer.Option(help="Column with the time of each row, numbers or dates; learns a chain.", show_default=False),
]
TimeStep = Annotated[
    str | None,
    typer.Option("--step", help="Time between two rows, such as '1 day'; gaps are filled.", show_default=False),
]
States = Annotated[str, typer.Option("--states", help="Number of hidden states of a chain, or auto (by BIC).")]


# Most branches are options that were not given.
def train(
    data: options.Tables,
    target: Target = None,
    output: Output = None,
    models: Models = None,
    by: By = None,
    folds: Folds = "5",
    random_state: options.RandomState = 0,
    test: Test = None,
    calibrate: Calibrate = False,
    ignore: options.Ignore = None,
    kind: Kind = None,
    loss: options.LossFile = None,
    reject: options.Reject = None,
    text: options.TextColumn = None,
    group: Group = None,
    time: Time = None,
    step: TimeStep = None,
    states: States = "auto",
    smoothing: Smoothing = None,
    report: Report = True,
    scores_by: ScoresBy = None,
    decimal: options.Decimal = None,
    date_order: DateOrder = None,
    missing: Missing = None,
    merge_labels: MergeLabels = False,
    drop_duplicates: DropDuplicates = False,
    drop_rare_classes: DropRare = False,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    sheet: options.Sheet = None,
    skip: options.Skip = 0,
    stream: options.Stream = None,
    snapshot: options.Snapshot = None,
    checkpoint: options.Checkpoint = None,
    skip_broken: options.SkipBroken = False,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Learn to predict a column of a table.

    Shows the kind of each column, cross-validates every classifier, fits the best one on all rows, and saves the model
    and a report. The best has the least log-loss, or with --loss or --reject the least mean loss; --by chooses another
    score.

    With --text, or where DATA is a folder with one folder of text files per class, it learns a text classifier:
    AutoText and the multinomial, Bernoulli and complement models are compared on every fifth document, and the one
    with the least log-loss, or by --by, is learned from all of them. Several files, a glob or a folder of files may be
    larger than memory.

    Several files, a glob or a folder are one table of any size: it is read twice, piece by piece, in memory that does
    not grow with it. A random sample of its rows decides the kinds of the columns and scores the classifiers, which
    learn from the counts of all rows. They may lie in an object store (s3://, gs://, abfs://, https://), and be a table
    in Delta or Iceberg format. After an interruption the same command goes on where it ended.

    With --group or --time the rows are sequences, and a chain is learned: without a target its states are hidden; a
    target that is the same in all rows of a group is the class of the sequence (one chain per class); any other target
    is the state of each row.

    Example: bayeskit train days.csv --target play

    Example: bayeskit train stays.csv --group patient --time day --target stage

    Example: bayeskit train 'days/*.parquet' --target play

    Example: bayeskit train s3://lake/days --target play -o play.bayes --skip-broken

    Example: bayeskit train reviews.jsonl --text review --target stars -o stars.bayes

    Example: bayeskit train days.csv -t play --ignore day --kind level=numeric --loss costs.csv
    """
    from bayeskit.kinds.remedies import Remedies
    from bayeskit.table.files import TableFile
    from bayeskit.table.missing_words import USUAL
    from bayeskit.table.spellings import split_words
    from bayeskit.workflow import training

    of_tables: dict[str, Any] = {"--test": test, "--loss": loss, "--reject": reject is not None}
    of_tables |= {"--stream": stream, "--calibrate": calibrate, "--folds": folds != "5", "--date-order": date_order}
    of_tables |= {"--scores-by": scores_by, "--smoothing": smoothing is not None, "--merge-labels": merge_labels}
    of_tables |= {"--snapshot": snapshot, "--checkpoint": checkpoint, "--skip-broken": skip_broken}
    of_tables |= {"--drop-duplicates": drop_duplicates, "--drop-rare-classes": drop_rare_classes}
    if texts.are_texts(data, text, target):
        others = {"--group": group, "--time": time, "--step": step, "--states": states != "auto", "--kind": kind}
        others |= {"--ignore": ignore, "--decimal": decimal, "--missing": missing, "--delimiter": delimiter}
        options.refuse_unused(of_tables | others | {"--random-state": random_state}, "texts")
        texts.train(
            data, text, target, output, models, encoding, BY[by or "log-loss"], report=report, force=force, as_json=json
        )
        return
    form, kinds, words = (encoding, delimiter), options.read_kinds(kind), tuple(missing or ())
    if group is not None or time is not None:
        unused = of_tables | {"--model": models, "--by": by}
        sequences.refuse_unused(data, unused, "--group or --time, which learn a chain")
        asked = sequences.Asked(group, time, target, step, states, tuple(ignore or ()), kinds)
        file = TableFile.open(data[0], *form, missing=words, keep=True, sheet=sheet, skip=skip)
        if split_words(words, file.names)[1]:
            raise typer.BadParameter("a chain takes words for all columns.", param_hint="--missing")
        sequences.train(file, output, asked, decimal, random_state, report=report, force=force, as_json=json, data=data)
        return
    sequences.refuse_chain_options(step, states)
    plan, target = _plan(folds, models, by, target, smoothing, has_loss=loss is not None or reject is not None)
    # Of a scan of typed files, too, the usual words are missing, as in a file that is read whole.
    scan = scan_of(data, stream, encoding, delimiter, (*USUAL, *words), snapshot, skip_broken=skip_broken)
    sources = inputs(data, scan)
    place = output or options.model_name(data, target)
    place, page = options.places_of_model(place, report, (*sources, loss, test), force)
    scan = kept_beside(scan, place, checkpoint)
    held_out = _held_out(test, target, sources, form, words)
    refuse_parts_of_scan(scan, sheet, skip)
    rows = scan or TableFile.open(data[0], *form, missing=words, keep=True, sheet=sheet, skip=skip)
    columns = (target, [*(ignore or ()), *plan.left_out], kinds)
    how: dict[str, Any] = {"decimal": decimal, "date_order": date_order, "missing": words, "also": plan.columns}
    how |= {"remedies": Remedies(merge_labels, drop_duplicates, drop_rare_classes), "random_state": random_state}
    table = _read(rows, columns, lambda classes: options.read_loss_file(loss, classes, reject), how, quiet=json)
    table.file.refuse_absent(scores_by or ())
    with screen.progress(not json) as progress:
        result = training.train(
            table,
            models or None,
            plan,
            random_state,
            progress,
            by=BY.get(by or ""),
            calibrate=calibrate,
            smoothing=smoothing,
        )
    result.trained.save(place, force=force)
    if scan is not None and scan.checkpoint is not None:
        scan.checkpoint.remove()
    _show(replace(result, scores_by=tuple(scores_by or ())), held_out, place, page, sources[0], json)


def _read(
    rows: TableFile | Scan,
    columns: tuple[str, list[str], dict[str, str]],
    read_loss: Callable[[Sequence[Any]], Loss | None],
    how: Mapping[str, Any],
    *,
    quiet: bool,
) -> TrainingTable:
    """Read the table to learn from, say what its columns are and what is wrong with them.

    ``columns`` are the target, the columns to ignore and the kinds; ``how`` goes to `read_training_table`.
    """
    from bayeskit.table.files import TableFile
    from bayeskit.workflow.training_table import read_training_table

    in_pieces = not isinstance(rows, TableFile)
    if in_pieces and not quiet:
        screen.say(f"Reading {rows.shown} piece by piece.")
    with screen.progress(in_pieces and not quiet) as progress:
        table = read_training_table(rows, *columns, read_loss, progress=progress, **how)
    if not quiet:
        show_columns(table)
        show_problems(table)
    return table


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
        screen.note(screen.NO_PLOTS)


def _plan(
    folds: str,
    models: list[str] | None,
    by: str | None,
    target: str | None,
    smoothing: float | None,
    *,
    has_loss: bool,
) -> tuple[FoldPlan, str]:
    """Refuse what cannot be meant before any file is read; return how rows are assigned to folds, and the target."""
    from bayeskit.errors import BayeskitError
    from bayeskit.workflow.candidates import candidates
    from bayeskit.workflow.fold_plan import FoldPlan

    if target is None:
        raise typer.BadParameter("name the column to predict.", param_hint="--target")
    candidates(models or None, smoothing)
    if by == "loss" and not has_loss:
        raise typer.BadParameter("'loss' needs --loss or --reject, which say what an error costs.", param_hint="--by")
    try:
        plan = FoldPlan.read(folds)
    except BayeskitError as error:
        raise typer.BadParameter(str(error), param_hint="--folds") from None
    if plan.column == target:
        raise typer.BadParameter("the target cannot say which rows belong together.", param_hint="--folds")
    return plan, target


def _write_report(page: Path | None, result: Training, json: bool) -> bool:
    """Write the report and say whether it has its plots."""
    if page is None:
        return True
    from bayeskit.workflow.report.page import write_report

    with screen.progress(not json) as progress:
        pictures = write_report(page, result, join(["bayeskit", *sys.argv[1:]]), progress, as_command)
    if not json:
        screen.say(f"report  {page}")
    return pictures


def _held_out(
    test: str | None, target: str, inputs: Sequence[str], form: tuple[Any, ...], words: tuple[str, ...]
) -> TableFile | None:
    """Open the held-out rows; refuse those that are the rows to learn from, or have no target."""
    from bayeskit.table.files import TableFile

    if test is None:
        return None
    there = [Path(path) for path in inputs if Path(path).exists()]
    if Path(test).exists() and any(path.samefile(test) for path in there):
        raise typer.BadParameter(
            f"{test!r} holds the rows to learn from; none of them is held out.", param_hint="--test"
        )
    file = TableFile.open(test, *form, missing=words)
    file.refuse_absent((target,))
    return file
