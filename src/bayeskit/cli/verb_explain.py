"""``bayeskit explain``: why a row gets its class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeskit.cli import screen
from bayeskit.cli.tables import Data, Delimiter, Encoding, Json, Model, load_classifier, model_batches

if TYPE_CHECKING:
    from bayeskit.table.files import TableFile

# The most doubtful rows that are explained when nothing else is asked for.
DOUBTFUL = 3


def explain(
    model: Model,
    data: Data,
    row: Annotated[
        int | None, typer.Option("--row", "-r", help="Explain this row; the first is 1.", min=1, show_default=False)
    ] = None,
    doubtful: Annotated[
        int | None,
        typer.Option("--doubtful", "-k", help="Explain the k most doubtful rows.", min=1, show_default=str(DOUBTFUL)),
    ] = None,
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    json: Json = False,
) -> None:
    """Explain predictions as evidence for and against.

    Starts from the odds before anything is known and adds what each column says, in units of log-odds: +0.7 doubles
    the odds. Without --row the most doubtful rows are explained.

    Example: bayeskit explain play.bayes days.csv --row 3
    """
    from bayeskit.table.files import TableFile

    if row is not None and doubtful is not None:
        raise typer.BadParameter("give --row or --doubtful, not both.")
    classifier = load_classifier(model)
    file = TableFile.open(data, encoding, delimiter)
    rows = _one_row(classifier, file, row) if row is not None else _doubtful(classifier, file, doubtful or DOUBTFUL)
    explained = [(number, classifier.explain(cells)) for number, cells in rows]
    if json:
        screen.say_json([{"row": number, **_as_json(explanation)} for number, explanation in explained])
        return
    for number, explanation in explained:
        screen.say(f"row {number}")
        screen.say(str(explanation))
        screen.say()


def _one_row(model: Any, file: TableFile, row: int) -> list[tuple[int, dict[str, Any]]]:
    from bayeskit.errors import TableError

    done = 0
    for table, _ in model_batches(model, file):
        if row <= done + len(table):
            return [(row, table.slice(row - done - 1, 1).to_pylist()[0])]
        done += len(table)
    raise TableError(f"row {row} was asked for; {file.name!r} has {done} rows.")


def _doubtful(model: Any, file: TableFile, most: int) -> list[tuple[int, dict[str, Any]]]:
    """Return the rows whose most probable class has the least probability, in constant memory."""
    import numpy as np

    found: list[tuple[float, int, dict[str, Any]]] = []
    done = 0
    for table, _ in model_batches(model, file):
        sure = model.predict_proba(table).max(axis=1)
        here = np.argsort(sure, kind="stable")[:most].tolist()
        found += [(float(sure[i]), done + i + 1, table.slice(i, 1).to_pylist()[0]) for i in here]
        found = sorted(found, key=lambda item: item[:2])[:most]
        done += len(table)
    return [(number, cells) for _, number, cells in found]


def _as_json(explanation: Any) -> dict[str, Any]:
    return {
        "classes": explanation.classes,
        "probability": explanation.probability,
        "prior_log_odds": explanation.prior,
        "log_odds": explanation.log_odds,
        "evidence": [
            {"feature": name, "value": value, "log_odds": term, "used": used}
            for name, value, term, used in zip(
                explanation.features,
                explanation.values,
                explanation.terms.tolist(),
                explanation.used.tolist(),
                strict=True,
            )
        ],
    }
