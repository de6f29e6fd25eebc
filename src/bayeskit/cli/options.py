"""Arguments and options that several verbs share, each with one meaning, and the files they name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bayeskit.io.overwriting import refuse_overwriting

if TYPE_CHECKING:
    from bayeskit.decide.loss import Loss
    from bayeskit.workflow.trained import TrainedModel

Data = Annotated[
    str,
    typer.Argument(
        help="CSV, JSON Lines, Parquet, Feather or Excel file, may be gzipped; - is standard input.", show_default=False
    ),
]
Tables = Annotated[
    list[str],
    typer.Argument(
        help="CSV, JSON Lines, Parquet, Feather or Excel file, may be gzipped; - is standard input. Several files, a "
        "glob in quotes or a folder are one table, which is read piece by piece.",
        show_default=False,
    ),
]
Stream = Annotated[
    bool | None,
    typer.Option(
        "--stream/--no-stream",
        help="Read a file piece by piece, or into memory (by its size).",
        show_default=False,
    ),
]
Snapshot = Annotated[
    str | None,
    typer.Option(help="Version or time of a Delta or Iceberg table (default: the newest).", show_default=False),
]
SkipBroken = Annotated[
    bool, typer.Option("--skip-broken", help="Leave out files and row groups that cannot be read, and list them.")
]
Checkpoint = Annotated[
    bool | None,
    typer.Option(
        "--checkpoint/--no-checkpoint",
        help="Keep sums beside the model, to go on after an interruption (default: after 5 minutes).",
        show_default=False,
    ),
]
Model = Annotated[
    Path,
    typer.Argument(
        help="A model file written by `bayeskit train`, or a network file with --target.", show_default=False
    ),
]
Network = Annotated[Path, typer.Argument(help="The network file to read.", show_default=False)]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        help="Column with the true class, and the variable that a network predicts (default: the model's).",
        show_default=False,
    ),
]
Predicted = Annotated[
    str | None,
    typer.Option("--target", "-t", help="Variable to predict, where the model is a network.", show_default=False),
]
Encoding = Annotated[str, typer.Option(help="Text encoding of the file, such as gb18030 or cp1252.")]
Sheet = Annotated[
    str | None,
    typer.Option(help="Sheet of an Excel workbook, by name or number (default: the first).", show_default=False),
]
Skip = Annotated[int, typer.Option(help="Lines or rows of a sheet to skip before the column names.", min=0)]
Delimiter = Annotated[str | None, typer.Option(help="Delimiter (detected automatically).", show_default=False)]
Decimal = Annotated[
    Literal[".", ","] | None,
    typer.Option(help="Decimal separator of numbers (decided column by column).", show_default=False),
]
Missing = Annotated[
    list[str] | None,
    typer.Option("--missing", help="Word for a missing cell, such as -9; may be repeated.", show_default=False),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Raise an error for absent columns, unseen values and cells that are not numbers."),
]
LossFile = Annotated[
    str | None,
    typer.Option("--loss", help="CSV file of losses: a row per true class, a column per action.", show_default=False),
]
Reject = Annotated[
    float | None, typer.Option(help="Loss of rejecting a row (leaving it to a person).", show_default=False)
]
RandomState = Annotated[int, typer.Option("--random-state", help="Seed of the random numbers.", min=0)]
TextColumn = Annotated[
    str | None,
    typer.Option("--text", help="Column of texts, for a text classifier.", show_default=False),
]
Ignore = Annotated[
    list[str] | None, typer.Option("--ignore", help="Leave out this column; may be repeated.", show_default=False)
]
Force = Annotated[bool, typer.Option("--force", help="Replace an output file that bayeskit did not write.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


__all__ = ["refuse_overwriting"]


def model_name(data: Sequence[str], target: str | None) -> Path:
    """Return the default name of a model file: that of the table, or of the folder of several files, and the target.

    >>> model_name(["days/days.csv.gz"], "play"), model_name(["days/*.parquet"], "play"), model_name(["-"], "play")
    (PosixPath('days-play.bayes'), PosixPath('days-play.bayes'), PosixPath('play.bayes'))
    """
    first = Path(data[0])
    parts = [part for part in (first if len(data) == 1 else first.parent).parts if not has_magic(part)]
    table = parts[-1].split(".")[0] if parts and data[0] != "-" else ""
    name = "-".join(filter(None, (table, target))) or "model"
    return Path(re.sub(r"[^\w .()-]", "_", name) + ".bayes")


def places_of_model(
    model: Path, report: bool, inputs: Sequence[str | Path | None], force: bool
) -> tuple[Path, Path | None]:
    """Return where the model and its report are written; refuse what is no place for them."""
    from bayeskit.errors import ModelFileError

    if model.suffix == ".html":
        raise ModelFileError(f"{str(model)!r}: the model file must not end in .html, which is the report's extension.")
    if not model.absolute().parent.is_dir():
        raise ModelFileError(f"there is no folder {str(model.parent)!r}; create it first.")
    page = model.with_suffix(".html") if report else None
    for path in filter(None, (model, page)):
        refuse_overwriting(path, inputs, force=force)
    return model, page


def table_output(output: Path | None, json: bool) -> tuple[Path | None, Path]:
    """Return the table to write, None for standard output, and a name whose extension says its format.

    >>> table_output(Path("-"), True)
    (None, PosixPath('rows.jsonl'))
    """
    from bayeskit.table.formats import format_named

    lines = Path("rows.jsonl")
    place = None if output is None or str(output) == "-" else output
    name = place or (lines if json else Path("rows.csv"))
    if json and format_named(name) is not format_named(lines):
        raise typer.BadParameter(f"--json writes JSON Lines, but {str(place)!r} names another format.")
    format_named(name)
    return place, name


def read_kinds(pairs: Sequence[str] | None) -> dict[str, str]:
    """Read what --kind says, NAME=KIND; a name may hold equals signs."""
    kinds = {}
    for pair in pairs or ():
        name, sign, kind = pair.rpartition("=")
        if not sign or not name:
            raise typer.BadParameter(f"a kind must have the form NAME=KIND; got {pair!r}.", param_hint="--kind")
        kinds[name] = kind
    return kinds


def load_predictor(path: Path, predicted: str | None) -> TrainedModel:
    """Load a classifier that predicts the variable named, if one is; only a network leaves that open."""
    from bayeskit.errors import BayeskitError
    from bayeskit.workflow.trained import TrainedModel

    classifier = TrainedModel.load(path, predicted)
    if predicted is not None and predicted != classifier.target_:
        known = "a class without a name" if classifier.target_ is None else repr(classifier.target_)
        raise BayeskitError(
            f"{path.name!r} predicts {known}, not {predicted!r}; only a network can predict any variable."
        )
    return classifier


def read_loss_file(path: str | None, classes: Sequence[Any], reject: float | None = None) -> Loss | None:
    """Read a table of losses; ``reject`` adds the action of rejecting a row."""
    import pyarrow as pa

    from bayeskit.decide.loss import read_loss, with_reject
    from bayeskit.errors import BayeskitError
    from bayeskit.table.files import TableFile

    if path is None and reject is None:
        return None
    if path is None:
        return with_reject(read_loss(None, classes), reject)
    file = TableFile.open(path)
    # Labels such as 01 or true stay as they are written where those of the model are text.
    text = all(isinstance(label, str) for label in classes)
    frame = file.read({file.names[0]: pa.string()} if text else None)
    try:
        return with_reject(read_loss(frame, classes), reject)
    except BayeskitError as error:
        said = error.args[0].replace("the index or first column of the loss frame", "the first column of the losses")
        raise BayeskitError(f"{file.raw.shown}: {said.replace('the loss frame', 'the losses')}") from error


def refuse_unused(given: dict[str, Any], beside: str) -> None:
    """Refuse an option that has no meaning here, rather than ignore it."""
    name = next((name for name, value in given.items() if value), None)
    if name is not None:
        raise typer.BadParameter(f"it is not used with {beside}.", param_hint=name)
