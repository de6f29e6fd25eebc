"""``bayeskit export``: a model as a program of another engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bayeskit.cli.options import Force, refuse_overwriting

if TYPE_CHECKING:
    from bayeskit.export.target import Target
    from bayeskit.workflow.trained import TrainedModel

# DuckDB plans a query of so many bytes for seconds, and of more bytes for more than in proportion.
LONG_QUERY = 1_000_000

Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        help="Column of the table that the result has too, such as a key; may be repeated "
        "(by default those that the model reads).",
        show_default=False,
    ),
]
Distill = Annotated[
    Literal["tree", "tan"] | None,
    typer.Option(
        help="Write a small model instead that imitates this one on the table --rows; what is lost is printed.",
        show_default=False,
    ),
]
Converted = Annotated[
    bool,
    typer.Option(
        "--converted",
        help="Read the columns as the model has them, such as 'sold (month)', instead of the raw ones; what each must "
        "hold is printed.",
    ),
]
Rows = Annotated[Path | None, typer.Option(help="The table on which --distill imitates the model.", show_default=False)]
MaxNodes = Annotated[
    int | None, typer.Option(help="The most nodes of the tree of --distill.", min=1, show_default=False)
]


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
    keep: Keep = None,
    missing_parents: Annotated[
        Literal["sum", "null"],
        typer.Option(
            help="Rows that miss a column on which others depend (TAN, AutoBayes): sum over its values, or answer NULL."
        ),
    ] = "sum",
    converted: Converted = False,
    distill: Distill = None,
    rows: Rows = None,
    max_nodes: MaxNodes = None,
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

    With --to onnx there is an input for each column, and the label and the probabilities are outputs, in double
    precision. --output names its file. With --to c it is one C99 file that needs no library; its first lines say how it
    is called. The other options are for SQL, but for --distill, which writes a tree that can be read, or a TAN.

    All read the raw columns of the table: what was converted in training (dates, decimal commas, units), the program
    converts too. ONNX cannot, and takes --converted columns.

    Example: bayeskit export play.bayes --to sql --dialect duckdb --table days.csv -o score.sql

    Example: bayeskit export play.bayes --to sql --dialect postgres --schema public --table days --keep id

    Example: bayeskit export play.bayes --to onnx -o play.onnx

    Example: bayeskit export play.bayes --to c -o play.c

    Example: bayeskit export play.bayes --to sql --distill tree --max-nodes 50 --rows days.csv -o score.sql
    """
    from bayeskit.export.raw import inputs_in_words, refuse_converted
    from bayeskit.io.container import atomic_write
    from bayeskit.workflow.trained import TrainedModel

    _check_distilling(distill, rows, max_nodes)
    if output is not None:
        refuse_overwriting(output, (model, rows), force=force)
    target = _target(to, output)
    trained = TrainedModel.load(model)
    missing = trained.missing
    inputs = inputs_in_words(trained.schema_) if converted else {}
    if distill is not None and rows is not None:
        if not converted:  # the small model learns from columns that were converted already
            refuse_converted(trained.schema_, "a distilled model")
        trained = _distilled(trained, distill, rows, max_nodes)
    given = {
        "dialect": dialect,
        "table": table,
        "schema": schema,
        "keep": keep,
        "missing_parents": missing_parents,
        "missing": missing,
        "temperature": trained.temperature,
        "converted": converted,
    }
    for name, said in inputs.items():
        typer.echo(f"{name}: {said}", err=True)
    written = target.write(trained.model, **{name: given[name] for name in target.options})
    if to == "sql":
        _warn_of_long_query(len(written), distilled=distill is not None)
    if output is None:
        typer.echo(written.decode(), nl=False)
        return
    with atomic_write(output.absolute()) as stream:
        stream.write(written)


def _warn_of_long_query(n_bytes: int, *, distilled: bool) -> None:
    if n_bytes <= LONG_QUERY:
        return
    advice = (
        "" if distilled else " A small model that imitates this one is planned at once: --distill tree --rows TABLE."
    )
    typer.echo(
        f"The query has {n_bytes / 1e6:.1f} MB. A database plans it for seconds to a minute, however few the rows."
        + advice,
        err=True,
    )


def _check_distilling(distill: str | None, rows: Path | None, max_nodes: int | None) -> None:
    if distill is None and (rows is not None or max_nodes is not None):
        name = "--rows" if rows is not None else "--max-nodes"
        raise typer.BadParameter("it is used with --distill only.", param_hint=name)
    if distill is not None and rows is None:
        raise typer.BadParameter("name a table to imitate the model on: --rows data.csv.", param_hint="--distill")
    if distill == "tan" and max_nodes is not None:
        raise typer.BadParameter("it is for a tree; a TAN has no nodes to cut.", param_hint="--max-nodes")


def _distilled(trained: TrainedModel, to: Literal["tree", "tan"], rows: Path, max_nodes: int | None) -> TrainedModel:
    """Return the small model, calibrated as the other; what is lost goes to standard error."""
    import pyarrow as pa

    from bayeskit.export.distill import distill
    from bayeskit.table.files import TableFile
    from bayeskit.workflow.model_columns import ModelColumns, target_type
    from bayeskit.workflow.trained import TrainedModel

    file = TableFile.open(rows, missing=trained.missing)
    columns = ModelColumns(trained, file)
    label = trained.target_ if trained.target_ in file.names else None
    batches = list(columns.batches({} if label is None else {label: target_type(trained)}))
    columns.warn()
    table = pa.concat_tables([features for features, _ in batches])
    if label is not None:
        table = table.append_column(label, pa.concat_tables([more for _, more in batches])[label])
    small = distill(trained, table, to, max_nodes=max_nodes, target=label)
    name = "a TAN" if small.n_nodes is None else f"a tree of {small.n_nodes} nodes"
    losses = "" if small.log_loss is None else f", log-loss {small.log_loss:.4f} (before {small.log_loss_before:.4f})"
    typer.echo(
        f"Distilled to {name}. On {small.n_rows} rows left out: {small.agreement:.1%} of the labels are those of the "
        f"model, divergence {small.divergence:.4f} nats{losses}.",
        err=True,
    )
    return TrainedModel(small.model)


def _target(to: str, output: Path | None) -> Target:
    from bayeskit.export.target import targets

    if to not in targets():
        raise typer.BadParameter(f"{to!r} is not one of {', '.join(sorted(targets()))}.", param_hint="--to")
    target = targets()[to]
    if target.file and output is None:
        raise typer.BadParameter(f"name the file to write, such as {target.file}.", param_hint="--output")
    return target
