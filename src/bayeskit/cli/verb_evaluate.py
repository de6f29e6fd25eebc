"""``bayeskit evaluate``: how good a model is on rows whose class is known."""

from __future__ import annotations

from bayeskit.cli import screen
from bayeskit.cli.options import (
    Data,
    Decimal,
    Delimiter,
    Encoding,
    Json,
    LossFile,
    Missing,
    Model,
    Reject,
    Strict,
    Target,
    load_classifier,
    read_loss_file,
)


def evaluate(
    model: Model,
    data: Data,
    target: Target = None,
    loss: LossFile = None,
    reject: Reject = None,
    strict: Strict = False,
    decimal: Decimal = None,
    missing: Missing = None,
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    json: Json = False,
) -> None:
    """Score a model on a table with known classes.

    Use rows that the model has not seen: on its own training rows any model looks better than it is. The file may be
    larger than memory.

    Example: bayeskit evaluate play.bayes new-days.csv
    """
    from bayeskit.decide.scores import MEASURES, MOST_IN_MATRIX
    from bayeskit.table.files import TableFile
    from bayeskit.workflow.evaluation import evaluate as score
    from bayeskit.workflow.wording import count

    classifier = load_classifier(model, target)
    costs = read_loss_file(loss, classifier.classes_.tolist(), reject)
    file = TableFile.open(data, encoding, delimiter, missing=(*classifier.missing, *(missing or ())))
    with screen.progress(not json) as progress:
        found = score(classifier, file, target, costs, progress, strict=strict, decimal=decimal)
    scores = found.scores
    measures = {name: getattr(scores, name) for name in MEASURES if costs is not None or name != "mean_loss"}
    if json:
        screen.say_json(
            {
                "rows": scores.n_rows,
                "unlabelled_rows": found.n_unlabelled,
                **{name: measure._asdict() for name, measure in measures.items()},
                "classes": scores.classes,
                "actions": scores.actions,
                "confusion": scores.decided,
            }
        )
        return
    left_out = f", {found.n_unlabelled} without a value of {found.target!r} left out" if found.n_unlabelled else ""
    screen.say(f"{file.name}: {count(scores.n_rows, 'row')}{left_out}")
    screen.say()
    screen.table(("score", "value"), [(MEASURES[name], str(measure)) for name, measure in measures.items()], right=(1,))
    screen.say()
    if len(scores.classes) <= MOST_IN_MATRIX:
        screen.matrix(scores.classes, scores.actions, scores.decided.tolist())
        return
    screen.say(f"{len(scores.classes)} classes have no room in a matrix; these are the most frequent errors.")
    screen.say()
    errors = [(str(truth), str(action), f"{n:,}") for truth, action, n in scores.most_frequent_errors()]
    screen.table(("true class", "decision", "rows"), errors, right=(2,))
