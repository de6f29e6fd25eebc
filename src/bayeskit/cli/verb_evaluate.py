"""``bayeskit evaluate``: how good a model is on rows whose truth is known."""

from __future__ import annotations

from typing import Annotated

import typer

from bayeskit.cli import screen
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


def evaluate(
    model: Model,
    data: Data,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The column that holds the truth.", show_default=False)
    ] = None,
    loss: LossFile = None,
    reject: Reject = None,
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    json: Json = False,
) -> None:
    """Score a model on a table that holds the truth.

    Use rows that the model has not seen: on its own training rows any model looks better than it is. The file may be
    larger than memory.

    Example: bayeskit evaluate play.bayes new-days.csv
    """
    from bayeskit.cli.scoring import MEASURES, measures, score_file, target_of
    from bayeskit.table.files import TableFile

    classifier = load_classifier(model)
    costs = read_loss_file(loss, classifier.classes_.tolist(), reject)
    file = TableFile.open(data, encoding, delimiter)
    truth = target_of(classifier, target, file)
    scores, unlabelled = score_file(classifier, file, truth, costs)
    found = measures(scores, costs is not None)
    if json:
        screen.say_json(
            {
                "rows": scores.n_rows,
                "unlabelled_rows": unlabelled,
                **{name: measure._asdict() for name, measure in found.items()},
                "classes": scores.classes,
                "actions": scores.actions,
                "confusion": scores.decided,
            }
        )
        return
    screen.say(
        f"{file.name}: {scores.n_rows} rows" + (f", {unlabelled} without {truth!r} left out" if unlabelled else "")
    )
    screen.say()
    screen.table(("score", "value"), [(MEASURES[name], str(measure)) for name, measure in found.items()], right=(1,))
    screen.say()
    head = ["truth", *(f"decided {action}" for action in scores.actions)]
    rows = [[str(c), *map(str, n)] for c, n in zip(scores.classes, scores.decided.tolist(), strict=True)]
    screen.table(head, rows, right=range(1, len(head)))
