"""``bayeskit compare``: two models on one file, row by row."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeskit.cli import screen
from bayeskit.cli.tables import Data, Delimiter, Encoding, Json, Model, load_classifier

if TYPE_CHECKING:
    from bayeskit.table.files import TableFile


def compare(
    first: Model,
    second: Annotated[Path, typer.Argument(help="The model to compare it with.", show_default=False)],
    data: Data,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The column that holds the truth.", show_default=False)
    ] = None,
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    json: Json = False,
) -> None:
    """Compare two models on one table that holds the truth.

    The difference of the scores is taken row by row, so that its standard error tells whether it is more than chance.

    Example: bayeskit compare naive.bayes tan.bayes new-days.csv
    """
    from bayeskit.cli.scoring import target_of
    from bayeskit.errors import ModelFileError
    from bayeskit.table.files import TableFile

    models = [load_classifier(first), load_classifier(second)]
    labels = [model.classes_.tolist() for model in models]
    if labels[0] != labels[1]:
        raise ModelFileError(f"the models do not know the same classes: {labels[0]} and {labels[1]}.")
    file = TableFile.open(data, encoding, delimiter)
    found = _pair(models, file, target_of(models[0], target, file))
    names = (first.name, second.name)
    if json:
        screen.say_json({"first": names[0], "second": names[1], **found})
        return
    screen.say(f"{file.name}: {found['rows']} rows")
    screen.say()
    rows = [
        (words, *(str(found[score][side]) for side in ("first", "second", "difference")))
        for score, words in (("error", "error"), ("log_loss", "log-loss"), ("brier", "Brier"))
    ]
    screen.table(("score", *names, "difference"), rows, right=(1, 2, 3))
    screen.say()
    only = f"right only in {names[0]}: {found['only_first_right']} rows"
    screen.say(f"{only}; only in {names[1]}: {found['only_second_right']} rows")
    screen.say(f"chance of a split at least as uneven between equal models (McNemar, exact): {found['p_value']:.4g}")


def _pair(models: list[Any], file: TableFile, target: str) -> dict[str, Any]:
    from scipy.stats import binomtest

    from bayeskit.cli.scoring import scored_batches
    from bayeskit.errors import TableError

    sums: Any = 0
    only = [0, 0]
    n_rows = 0
    for posteriors, y, _ in scored_batches(models, file, target):
        rows = _row_scores(posteriors, y)  # (3 scores, first / second / difference, n_rows)
        right = rows[0, :2] == 0
        only[0] += int((right[0] & ~right[1]).sum())
        only[1] += int((right[1] & ~right[0]).sum())
        sums = sums + _moments(rows)
        n_rows += len(y)
    if not n_rows:
        raise TableError(f"{file.name!r} has no row with a value of {target!r}.")
    split = sum(only)
    return {
        "rows": n_rows,
        **{
            score: {side: _measure(sums[:, k, s], n_rows) for s, side in enumerate(("first", "second", "difference"))}
            for k, score in enumerate(("error", "log_loss", "brier"))
        },
        "only_first_right": only[0],
        "only_second_right": only[1],
        "p_value": float(binomtest(only[0], split).pvalue) if split else 1.0,
    }


def _row_scores(posteriors: list[Any], y: Any) -> Any:
    import numpy as np

    from bayeskit.decide.scores import LEAST

    rows = np.arange(len(y))
    each = []
    for posterior in posteriors:
        p_true = posterior[rows, y]
        brier = (posterior**2).sum(axis=1) - 2 * p_true + 1
        each.append(np.stack([posterior.argmax(axis=1) != y, -np.log(np.clip(p_true, LEAST, 1.0)), brier]))
    return np.stack([each[0], each[1], each[1] - each[0]], axis=1)


def _moments(rows: Any) -> Any:
    import numpy as np

    return np.stack([rows.sum(axis=2), (rows**2).sum(axis=2)])


def _measure(sums: Any, n_rows: int) -> Any:
    import numpy as np

    from bayeskit.decide.scores import Measure

    mean = float(sums[0]) / n_rows
    variance = max(float(sums[1]) - n_rows * mean**2, 0.0) / max(n_rows - 1, 1)
    return Measure(mean, float(np.sqrt(variance / n_rows)))
