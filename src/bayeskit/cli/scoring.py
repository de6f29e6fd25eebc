"""Models scored on a file that holds the truth, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from bayeskit.cli.tables import batch_labels, column_types, target_type
from bayeskit.errors import TableError

if TYPE_CHECKING:
    from bayeskit.decide.loss import Loss
    from bayeskit.decide.scores import Scores
    from bayeskit.table.files import TableFile

MEASURES = {
    "error": "error",
    "log_loss": "log-loss",
    "brier": "Brier",
    "calibration_error": "calibration",
    "mean_loss": "mean loss",
}


def target_of(model: Any, named: str | None, file: TableFile) -> str:
    """Return the column that holds the truth: the one that was named, or that of the training."""
    target = named or model._target
    if target is None:
        raise TableError("the model does not say which column is its target; say --target.")
    file.refuse_absent((target,), "the model")
    return str(target)


def scored_batches(models: list[Any], file: TableFile, target: str) -> Iterator[tuple[list[Any], Any, int]]:
    """Yield each model's posteriors of a batch, the true classes, and how many rows had none and were left out.

    All models must know the same classes; each reads its own columns in one pass over the file.
    """
    import pyarrow as pa

    types: dict[str, Any] = {}
    for model in models:
        for name, kind in column_types(model).items():
            if types.setdefault(name, kind) != kind:
                raise TableError(f"column {name!r} is {types[name]} for one model and {kind} for the other.")
        file.refuse_absent(tuple(column_types(model)), "the model")
    done = 0
    for batch in file.batches({**types, target: target_type(models[0])}):
        table = pa.Table.from_batches([batch])
        y, known = batch_labels(models[0], table[target], done + 1)
        done += len(table)
        rows = table.filter(pa.array(known))
        if len(rows):
            posteriors = [model.predict_proba(rows.select(list(column_types(model)))) for model in models]
            yield posteriors, y[known], int((~known).sum())


def score_file(model: Any, file: TableFile, target: str, loss: Loss | None) -> tuple[Scores, int]:
    """Return a model's scores and the number of rows without a label."""
    from bayeskit.decide.scores import Scores

    total: Scores | None = None
    unlabelled = 0
    for (posterior,), y, left_out in scored_batches([model], file, target):
        scores = Scores.of(posterior, y, model.classes_.tolist(), loss)
        total = scores if total is None else total + scores
        unlabelled += left_out
    if total is None:
        raise TableError(f"{file.name!r} has no row with a value of {target!r}.")
    return total, unlabelled


def measures(scores: Scores, with_loss: bool) -> dict[str, Any]:
    """Return the scores by name, each with its standard error."""
    return {name: getattr(scores, name) for name in MEASURES if with_loss or name != "mean_loss"}
