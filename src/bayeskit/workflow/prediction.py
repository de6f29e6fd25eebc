"""Predictions for a table file, batch by batch, in constant memory."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import TableError
from bayeskit.progress import Progress, report_step
from bayeskit.workflow.model_columns import ModelColumns

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeskit.decide.loss import Loss
    from bayeskit.table.files import TableFile
    from bayeskit.table.formats import TableWriter
    from bayeskit.table.scan import Scan


def predict_to_file(
    model: Any,
    source: Scan | TableFile,
    output: str | PathLike[str],
    *,
    keep: Sequence[str] = (),
    loss: Loss | None = None,
    digits: int | None = None,
    strict: bool = False,
    decimal: str | None = None,
    progress: Progress | None = None,
) -> int:
    """Predict every row of a table of any size, batch by batch, into a file; return the number of rows.

    Parameters
    ----------
    model : classifier or TrainedModel
        A fitted classifier.
    source : Scan or TableFile
        The rows: what :func:`bayeskit.scan` gave, or an opened file.
    output : path
        A ``.parquet``, ``.csv``, ``.jsonl`` or ``.xlsx`` file, text may end in ``.gz``. It appears when it is
        complete; an input is never overwritten.
    keep : sequence of str
        Columns of the table to copy, in their types where the format has types.
    loss : Loss, optional
        Adds the decision of least expected loss, and that loss.
    digits : int, optional
        Decimal places of the probabilities; by default they are written whole, and read back as the same numbers.
    strict, decimal
        As in :class:`bayeskit.workflow.model_columns.ModelColumns`; warnings say what did not fit.
    progress : callable, optional
        Called before each batch.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bayeskit import NaiveBayes, datasets, scan
    >>> import pyarrow as pa
    >>> heart = pa.table(datasets.load_heart())
    >>> model = NaiveBayes().fit(heart, target="disease")
    >>> output = pathlib.Path(tempfile.mkdtemp()) / "predicted.parquet"
    >>> predict_to_file(model, scan(heart), output)
    303
    >>> scan(output).names
    ('prediction', 'P(no)', 'P(yes)')
    """
    from bayeskit.io.container import atomic_write
    from bayeskit.io.overwriting import refuse_overwriting
    from bayeskit.table.formats import format_named, open_writer
    from bayeskit.table.scan import Scan
    from bayeskit.table.scan.rows import ScannedRows

    place = Path(output)
    format_named(place)
    rows = ScannedRows(source) if isinstance(source, Scan) else source
    paths = [piece.path for piece in source.pieces if hasattr(piece, "path")] if isinstance(source, Scan) else []
    refuse_overwriting(place, paths if isinstance(source, Scan) else [source.raw.path])
    columns = ModelColumns(model, rows, strict=strict, decimal=decimal)
    predictions = Predictions(columns, list(keep), loss, digits)
    with atomic_write(place.absolute()) as stream, open_writer(place, stream) as writer:
        n_rows = predictions.write(writer, progress)
    columns.warn()
    return n_rows


class Predictions:
    """The predictions of a model for the rows of a file."""

    def __init__(self, columns: ModelColumns, keep: list[str], loss: Loss | None, digits: int | None) -> None:
        self.columns, self.keep, self.loss, self.digits = columns, keep, loss, digits
        self.model = model = columns.model
        reserved = {"prediction", *(f"P({label})" for label in model.classes_.tolist()), "decision", "risk"}
        for name in keep:
            if name in reserved:
                raise TableError(f"the kept column {name!r} has the name of a column of the predictions; rename it.")

    def write(self, writer: TableWriter, progress: Progress | None = None) -> int:
        """Write all rows and return how many they are; ``progress`` is called before each batch."""
        n_rows = 0
        # A kept column is copied in the type in which the file holds it: in a CSV file that is the text as written.
        batches, file = self.columns.batches(dict.fromkeys(self.keep)), self.columns.file
        for done, (table, kept) in enumerate(batches):
            report_step(progress, file.name, done, file.n_batches())
            writer.write(self._predict(table, kept))
            n_rows += len(table)
        if not n_rows:
            writer.write(self._empty())
        return n_rows

    def _predict(self, table: pa.Table, kept: pa.Table) -> pa.Table:
        from bayeskit.decide.risk import bayes_action, expected_loss

        posterior = self.columns.posterior(table)
        columns: dict[str, Any] = {name: kept[name] for name in self.keep}
        columns["prediction"] = _labels(self.model.classes_.tolist(), posterior.argmax(axis=1))
        if self.loss is not None:
            columns["decision"] = _labels(self.loss.actions, bayes_action(posterior, self.loss))
            columns["risk"] = rounded(expected_loss(posterior, self.loss), self.digits)
        posterior = rounded(posterior, self.digits)
        for k, label in enumerate(self.model.classes_.tolist()):
            columns[f"P({label})"] = np.ascontiguousarray(posterior[:, k])
        return _table(columns)

    def _empty(self) -> pa.Table:
        columns: dict[str, Any] = {name: [] for name in (*self.keep, "prediction")}
        if self.loss is not None:
            columns |= {"decision": [], "risk": []}
        return _table(columns | {f"P({label})": [] for label in self.model.classes_.tolist()})


def rounded(numbers: NDArray[np.float64], digits: int | None) -> NDArray[np.float64]:
    """Return numbers with this many decimal places; None leaves them whole."""
    return numbers if digits is None else numbers.round(digits)


def _table(columns: dict[str, Any]) -> pa.Table:
    import pyarrow as pa

    return pa.table(columns)


def _labels(labels: Any, codes: Any) -> Any:
    import pyarrow as pa

    return pa.array([str(label) for label in labels]).take(pa.array(codes))
