"""``bayeskit export``: a model as a program of another engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bayeskit.cli.options import Force, refuse_overwriting

if TYPE_CHECKING:
    from bayeskit.export.target import Target


def export(
    model: Annotated[Path, typer.Argument(help="A model file written by `bayeskit train`.", show_default=False)],
    to: Annotated[str, typer.Option("--to", help="What to write: sql, onnx or c.")] = "sql",
    dialect: Annotated[
        Literal["duckdb", "postgres", "spark", "sqlite"], typer.Option(help="The database that the query is for.")
    ] = "duckdb",
    table: Annotated[
        str,
        typer.Option(help="The table that the query reads; for DuckDB also a file, such as days.csv."),
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
            help="Rows that miss a column on which others depend (TAN, AutoBayes): sum over its values, or answer NULL."
        ),
    ] = "sum",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Output file; standard output by default.", show_default=False),
    ] = None,
    force: Force = False,
) -> None:
    """Write a classifier as one SELECT, which scores a table inside the database, as an ONNX model or as a C file.

    The result of the query has the kept columns, the most probable class as `prediction`, and the probability of each
    class. NULL is a missing cell; a row that the model refuses gets NULL. AutoBayes, NaiveBayes, GaussianNB, TAN, KDB,
    ODE, SPODE, AODE, GaussianBayes, LogisticRegression and MDLTree can be written.

    With --to onnx (not for TAN, KDB and ODE) there is an input for each column, and the label and the probabilities are
    outputs, in double precision. --output names its file. With --to c it is one C99 file that needs no library; its
    first lines say how it is called. The other options are for SQL.

    Example: bayeskit export play.bayes --to sql --dialect duckdb --table days.csv -o score.sql

    Example: bayeskit export play.bayes --to sql --dialect postgres --schema public --table days --keep id

    Example: bayeskit export play.bayes --to onnx -o play.onnx

    Example: bayeskit export play.bayes --to c -o play.c
    """
    from bayeskit.io.container import atomic_write
    from bayeskit.workflow.trained import TrainedModel

    if output is not None:
        refuse_overwriting(output, (model,), force=force)
    target = _target(to, output)
    trained = TrainedModel.load(model)
    given = {
        "dialect": dialect,
        "table": table,
        "schema": schema,
        "keep": keep,
        "missing_parents": missing_parents,
        "missing": trained.missing,
        "temperature": trained.temperature,
    }
    written = target.write(trained.model, **{name: given[name] for name in target.options})
    if output is None:
        typer.echo(written.decode(), nl=False)
        return
    with atomic_write(output.absolute()) as stream:
        stream.write(written)


def _target(to: str, output: Path | None) -> Target:
    from bayeskit.export.target import targets

    if to not in targets():
        raise typer.BadParameter(f"{to!r} is not one of {', '.join(sorted(targets()))}.", param_hint="--to")
    target = targets()[to]
    if target.file and output is None:
        raise typer.BadParameter(f"name the file to write, such as {target.file}.", param_hint="--output")
    return target
