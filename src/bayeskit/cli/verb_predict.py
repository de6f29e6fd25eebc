"""``bayeskit predict``: posteriors and decisions for a file of any size."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from bayeskit.cli.tables import (
    Data,
    Delimiter,
    Encoding,
    Json,
    LossFile,
    Model,
    Reject,
    load_classifier,
    read_loss_file,
)


def predict(
    model: Model,
    data: Data,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="CSV or .parquet file; by default the screen.", show_default=False),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", help="Copy this column of the data; may be repeated.", show_default=False),
    ] = None,
    loss: LossFile = None,
    reject: Reject = None,
    digits: Annotated[int, typer.Option(help="Decimals of a probability.", min=1, max=17)] = 6,
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    json: Json = False,
) -> None:
    """Predict each row of a table.

    Gives the most probable class and the probability of each; with --loss or --reject also the decision of least risk
    and what it is expected to cost. The file may be larger than memory.

    Example: bayeskit predict play.bayes days.csv -o days-predicted.csv

    Example: bayeskit predict play.bayes - --loss costs.csv --reject 0.2 < days.csv
    """
    from bayeskit.cli.predictions import CsvSink, JsonSink, ParquetSink, Predictions, Sink
    from bayeskit.io.container import beside
    from bayeskit.table.files import TableFile

    classifier = load_classifier(model)
    costs = read_loss_file(loss, classifier.classes_.tolist(), reject)
    file = TableFile.open(data, encoding, delimiter)
    predictions = Predictions(classifier, file, keep or [], costs, digits)
    if output is None:
        sink: Sink = JsonSink(sys.stdout.buffer) if json else CsvSink(sys.stdout.buffer)
        n_rows = predictions.write(sink)
        sys.stdout.buffer.flush()
        return
    with beside(output.absolute()) as target:
        if json:
            sink = JsonSink(target)
        else:
            sink = ParquetSink(target) if output.suffix == ".parquet" else CsvSink(target)
        n_rows = predictions.write(sink)
    typer.echo(f"{output}: {n_rows} rows", err=True)
