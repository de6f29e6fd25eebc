"""``bayeskit predict``: posteriors and decisions for a file of any size."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayeskit.cli import options, screen, sequences, texts
from bayeskit.cli.tables import inputs, is_many, refuse_parts_of_scan, scan_of

if TYPE_CHECKING:
    from bayeskit.workflow.prediction import Predictions


Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Output file: .csv, .jsonl, .parquet or .xlsx, or .csv.gz; - is standard output, the default.",
        show_default=False,
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option("--keep", help="Copy this column of the data to the output; may be repeated.", show_default=False),
]
Digits = Annotated[
    int | None,
    typer.Option(help="Decimal places of the probabilities (default: all).", min=1, max=17, show_default=False),
]


def predict(
    model: options.Model,
    data: options.Tables,
    output: Output = None,
    keep: Keep = None,
    loss: options.LossFile = None,
    reject: options.Reject = None,
    target: options.Predicted = None,
    text: options.TextColumn = None,
    digits: Digits = None,
    strict: options.Strict = False,
    decimal: options.Decimal = None,
    missing: options.Missing = None,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    sheet: options.Sheet = None,
    skip: options.Skip = 0,
    snapshot: options.Snapshot = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Predict the class of each row of a table.

    Writes the most probable class and the probability of each class; with --loss or --reject also the decision with
    the least expected loss, and that loss. The file may be larger than memory; several files, a glob or a folder are
    one table. A text classifier reads the column --text of a file, or a folder of text files. A chain (train --group)
    gives the state of each row, or the class of each sequence.

    Example: bayeskit predict play.bayes days.csv -o days-predicted.csv

    Example: bayeskit predict play.bayes - --loss costs.csv --reject 0.2 < days.csv

    Example: bayeskit predict play.bayes 'new/*.parquet' -o predicted.parquet

    Example: bayeskit predict asia.bif patients.csv --target lung
    """
    from bayeskit.table.files import TableFile

    place, name = options.table_output(output, json)
    chain = sequences.chain_of(model)
    if chain is not None:
        unused = {"--keep": keep, "--loss": loss, "--reject": reject, "--target": target, "--text": text}
        sequences.refuse_unused(data, {**unused, "--digits": digits, "--strict": strict}, "a chain")
        options.refuse_overwriting(place, (*data, model), force=force)
        rows_of = TableFile.open(data[0], encoding, delimiter, missing=missing or ())
        _write(sequences.SequencePredictions(chain, rows_of, decimal), place, name)
        return
    classifier = options.load_predictor(model, target)
    is_text = texts.is_text_model(classifier.model)
    words = (*classifier.missing, *(missing or ()))
    scan = None
    if not is_text and is_many(data):
        scan = scan_of(data, None, encoding, delimiter, words, snapshot)
    elif snapshot is not None:
        raise typer.BadParameter("it is for tables in Delta or Iceberg format.", param_hint="--snapshot")
    options.refuse_overwriting(place, (*inputs(data, scan), model, loss), force=force)
    costs = options.read_loss_file(loss, classifier.classes_.tolist(), reject)
    if is_text:
        documents = texts.TextPredictions(classifier, data, text, encoding, keep or [], costs, digits)
        options.refuse_overwriting(place, documents.files)
        _write(documents, place, name)
        return
    from bayeskit.table.scan.rows import ScannedRows
    from bayeskit.workflow.model_columns import ModelColumns
    from bayeskit.workflow.prediction import Predictions

    refuse_parts_of_scan(scan, sheet, skip)
    rows: TableFile | ScannedRows = (
        TableFile.open(data[0], encoding, delimiter, missing=words, sheet=sheet, skip=skip)
        if scan is None
        else ScannedRows(scan)
    )
    columns = ModelColumns(classifier, rows, strict=strict, decimal=decimal)
    _write(Predictions(columns, keep or [], costs, digits), place, name)
    columns.warn()


def _write(
    predictions: Predictions | texts.TextPredictions | sequences.SequencePredictions, place: Path | None, name: Path
) -> None:
    """Write the predictions to a file, or to standard output where there is no ``place``; ``name`` has the format."""
    from bayeskit.io.container import atomic_write
    from bayeskit.table.formats import open_writer
    from bayeskit.workflow.wording import count

    if place is None:
        with open_writer(name, sys.stdout.buffer) as writer:
            predictions.write(writer)
        sys.stdout.buffer.flush()
        return
    with (
        atomic_write(place.absolute()) as stream,
        open_writer(name, stream) as writer,
        screen.progress() as progress,
    ):
        n_rows = predictions.write(writer, progress)
    screen.note(f"{place}: {count(n_rows, 'row')}")
