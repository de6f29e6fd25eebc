"""Predictions of a file, batch by batch, written as CSV, Parquet or lines of JSON."""

from __future__ import annotations

import csv
import io
import json
from typing import IO, TYPE_CHECKING, Any, Protocol

import numpy as np

from bayeskit.cli.tables import model_batches
from bayeskit.errors import TableError

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeskit.decide.loss import Loss
    from bayeskit.table.files import TableFile


class Sink(Protocol):
    """Where predictions go, table after table."""

    def write(self, table: pa.Table) -> None:
        """Write some rows."""
        ...

    def close(self) -> None:
        """Write what must come last."""
        ...


class Predictions:
    """The predictions of a model for the rows of a file."""

    def __init__(self, model: Any, file: TableFile, keep: list[str], loss: Loss | None, digits: int) -> None:
        self.model, self.file, self.keep, self.loss, self.digits = model, file, keep, loss, digits
        own = {"prediction", *(f"P({label})" for label in model.classes_.tolist()), "decision", "risk"}
        for name in keep:
            if name in own:
                raise TableError(f"the kept column {name!r} has the name of a column of the prediction; rename it.")

    def write(self, sink: Sink) -> int:
        """Write all rows and return how many they are; memory does not grow with the file."""
        import pyarrow as pa

        n_rows = 0
        # A kept column is copied as text, so that what was written comes out as it went in.
        for table, kept in model_batches(self.model, self.file, dict.fromkeys(self.keep, pa.string())):
            sink.write(self._predict(table, kept))
            n_rows += len(table)
        if not n_rows:
            sink.write(self._empty())
        sink.close()
        return n_rows

    def _predict(self, table: pa.Table, kept: pa.Table) -> pa.Table:
        from bayeskit.decide.risk import bayes_action, expected_loss

        posterior = self.model.predict_proba(table)
        columns: dict[str, Any] = {name: kept[name] for name in self.keep}
        columns["prediction"] = _labels(self.model.classes_.tolist(), posterior.argmax(axis=1))
        if self.loss is not None:
            columns["decision"] = _labels(self.loss.actions, bayes_action(posterior, self.loss))
            columns["risk"] = expected_loss(posterior, self.loss).round(self.digits)
        rounded = posterior.round(self.digits)
        for k, label in enumerate(self.model.classes_.tolist()):
            columns[f"P({label})"] = np.ascontiguousarray(rounded[:, k])
        return _table(columns)

    def _empty(self) -> pa.Table:
        columns: dict[str, Any] = {name: [] for name in (*self.keep, "prediction")}
        if self.loss is not None:
            columns |= {"decision": [], "risk": []}
        return _table(columns | {f"P({label})": [] for label in self.model.classes_.tolist()})


def _table(columns: dict[str, Any]) -> pa.Table:
    import pyarrow as pa

    return pa.table(columns)


def _labels(labels: Any, codes: Any) -> Any:
    import pyarrow as pa

    return pa.array([str(label) for label in labels]).take(pa.array(codes))


class CsvSink:
    """Lines of CSV, the names first; text stands in quotes only where it must."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._started = file, False

    def write(self, table: pa.Table) -> None:
        """Write some rows."""
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.csv as pcsv

        if not self._started:
            head = io.StringIO()
            csv.writer(head, lineterminator="\n").writerow(table.column_names)
            self._file.write(head.getvalue().encode())
            self._started = True
        texts = [column for column in table.columns if pa.types.is_string(column.type)]
        special = any(pc.any(pc.match_substring_regex(pc.unique(text), '[",\r\n]')).as_py() for text in texts)
        options = pcsv.WriteOptions(include_header=False, quoting_style="needed" if special else "none")
        pcsv.write_csv(table, self._file, options)

    def close(self) -> None:
        """Nothing comes last."""


class JsonSink:
    """One JSON object a line."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, table: pa.Table) -> None:
        """Write some rows."""
        for row in table.to_pylist():
            self._file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")

    def close(self) -> None:
        """Nothing comes last."""


class ParquetSink:
    """A Parquet file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._writer: Any = None

    def write(self, table: pa.Table) -> None:
        """Write some rows."""
        import pyarrow.parquet as pq

        if self._writer is None:
            self._writer = pq.ParquetWriter(self._file, table.schema)
        self._writer.write_table(table)

    def close(self) -> None:
        """Write the footer."""
        if self._writer is not None:
            self._writer.close()
