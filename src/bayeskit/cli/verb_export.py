"""``bayeskit export``: a model as a program of another engine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from bayeskit.cli.options import Force, refuse_overwriting


def export(
    model: Annotated[Path, typer.Argument(help="A model file written by `bayeskit train`.", show_default=False)],
    to: Annotated[Literal["sql", "onnx"], typer.Option("--to", help="What to write: sql or onnx.")] = "sql",
    dialect: Annotated[
        Literal["duckdb", "postgres", "spark", "sqlite"], typer.Option(help="The database that the query is for.")
    ] = "duckdb",
    table: Annotated[
        str, typer.Option(help="The table that the query reads; for DuckDB also a file, such as days.parquet.")
    ] = "data",
    schema: Annotated[
        str | None, typer.Option(help="The database schema that the table is in.", show_default=False)
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            help="Column of the table that the result has too, such as a key; may be repeated "
            "(by default those that the model reads).",
            show_default=False,
        ),
    ] = None,
    missing_parents: Annotated[
        Literal["sum", "null"],
        typer.Option(
            help="Rows that miss a column on which others depend (TAN, KDB): sum over its values, or answer NULL."
        ),
    ] = "sum",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Output file; standard output by default.", show_default=False),
    ] = None,
    force: Force = False,
) -> None:
    """Write a classifier as one SELECT, which scores a table inside the database, or as an ONNX model.

    The result of the query has the kept columns, the most probable class as `prediction`, and the probability of each
    class. NULL is a missing cell; a row that the model refuses gets NULL. NaiveBayes, GaussianNB, TAN, KDB, ODE and
    SPODE can be written.

    With --to onnx, NaiveBayes and GaussianNB become a graph for ONNX Runtime: an input for each column, and the label
    and the probabilities as outputs, in double precision. --output names its file; the other options are for SQL.

    Example: bayeskit export play.bayes --to sql --dialect duckdb --table days.csv -o score.sql

    Example: bayeskit export play.bayes --to sql --dialect postgres --schema public --table days --keep id

    Example: bayeskit export play.bayes --to onnx -o play.onnx
    """
    from bayeskit.io.container import atomic_write
    from bayeskit.io.model_files import load_value

    if output is not None:
        refuse_overwriting(output, (model,), force=force)
    if to == "onnx":
        from bayeskit.export.onnx.score import to_onnx

        if output is None:
            raise typer.BadParameter("name the file to write, such as play.onnx.", param_hint="--output")
        written: bytes = to_onnx(load_value(model)).SerializeToString()
    else:
        from bayeskit.export.sql.score import to_sql

        place = (table,) if schema is None else (schema, table)
        text = to_sql(load_value(model), dialect, table=place, keep=keep, missing_parents=missing_parents)
        if output is None:
            typer.echo(text, nl=False)
            return
        written = text.encode()
    with atomic_write(output.absolute()) as stream:
        stream.write(written)
