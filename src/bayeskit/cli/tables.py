"""Tables on the command line: the columns of a model read from a file, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeskit.decide.loss import Loss
    from bayeskit.table.files import TableFile

# Options that several verbs share, each with one meaning.
Data = Annotated[str, typer.Argument(help="CSV or Parquet file, may be gzipped; - is standard input.")]
Model = Annotated[Path, typer.Argument(help="A model that `bayeskit train` saved.", show_default=False)]
Encoding = Annotated[str, typer.Option(help="How the letters of the CSV are stored, such as gb18030 or cp1252.")]
Delimiter = Annotated[str | None, typer.Option(help="What parts the cells; found by itself.", show_default=False)]
LossFile = Annotated[
    str | None, typer.Option("--loss", help="CSV of costs: a row a truth, a column an action.", show_default=False)
]
Reject = Annotated[float | None, typer.Option(help="The cost of leaving a row to a person.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def load_classifier(path: Path) -> Any:
    """Load a classifier; a file that holds something else is refused by name."""
    from bayeskit.errors import ModelFileError
    from bayeskit.io.files import load

    model = load(path)
    if not hasattr(model, "predict_proba"):
        raise ModelFileError(f"{path.name!r} holds a {type(model).__name__}; a classifier is needed here.")
    return model


def column_types(model: Any) -> dict[str, pa.DataType]:
    """Return the type in which each column of a model must be read."""
    import pyarrow as pa

    types = {}
    for variable in model.schema_:
        values = variable.values if variable.is_discrete and variable.kind != "binned" else (0.0,)
        if variable.kind == "unknown" or any(isinstance(value, str) for value in values):
            types[variable.name] = pa.string()
        elif values and all(isinstance(value, bool) for value in values):
            types[variable.name] = pa.bool_()
        else:
            types[variable.name] = pa.float64()
    return types


def target_type(model: Any) -> pa.DataType:
    """Return the type in which the target must be read."""
    import pyarrow as pa

    kind = model.classes_.dtype.kind
    return pa.bool_() if kind == "b" else pa.float64() if kind in "iuf" else pa.string()


def model_batches(
    model: Any, file: TableFile, others: dict[str, pa.DataType] | None = None
) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Yield batches of a file: the model's columns in its order, and the other columns asked for."""
    import pyarrow as pa

    types = column_types(model)
    more = dict(others or {})
    file.refuse_absent(tuple(types), "the model")
    file.refuse_absent(tuple(more), "the request")
    for batch in file.batches({**more, **types}):
        if batch.num_rows:
            table = pa.Table.from_batches([batch])
            yield table.select(list(types)), table.select(list(more))


def read_loss_file(
    path: str | None, classes: Sequence[Any], reject: float | None = None, encoding: str = "utf-8"
) -> Loss | None:
    """Read a table of costs; ``reject`` adds the action of leaving a row to a person."""
    from bayeskit.decide.loss import read_loss, with_reject
    from bayeskit.table.files import TableFile

    if path is None and reject is None:
        return None
    frame = None if path is None else TableFile.open(path, encoding).read()
    return with_reject(read_loss(frame, classes), reject)


def batch_labels(model: Any, column: Any, first_row: int) -> tuple[Any, Any]:
    """Return the class positions of a target column and which rows have one; an unknown class is refused by row."""
    import numpy as np

    from bayeskit.errors import TableError

    known = ~np.asarray(column.is_null())
    codes = np.zeros(len(column), dtype=np.intp)
    positions = {label: code for code, label in enumerate(model.classes_.tolist())}
    for row, label in enumerate(column.to_pylist()):
        if known[row]:
            if label not in positions:
                seen = ", ".join(map(repr, model.classes_.tolist()[:10]))
                raise TableError(f"row {first_row + row}: the class {label!r} was not seen in training; seen: {seen}.")
            codes[row] = positions[label]
    return codes, known
