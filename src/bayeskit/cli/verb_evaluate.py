"""``bayeskit evaluate``: how good a model is on rows whose class is known."""

from __future__ import annotations

from bayeskit.cli import options, screen, sequences, texts
from bayeskit.cli.training_screen import show_drift
from bayeskit.errors import BayeskitError


def evaluate(
    model: options.Model,
    data: options.Data,
    target: options.Target = None,
    loss: options.LossFile = None,
    reject: options.Reject = None,
    strict: options.Strict = False,
    decimal: options.Decimal = None,
    missing: options.Missing = None,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    json: options.Json = False,
) -> None:
    """Score a model on a table with known classes.

    Use rows that the model has not seen: on its own training rows any model looks better than it is. The file may be
    larger than memory.

    Example: bayeskit evaluate play.bayes new-days.csv
    """
    from bayeskit.decide.scores import MEASURES, MOST_IN_MATRIX
    from bayeskit.table.files import TableFile
    from bayeskit.workflow.evaluation import evaluate as score
    from bayeskit.workflow.trained import TrainedModel
    from bayeskit.workflow.wording import count

    sequences.refuse_chain(model, "evaluate", "bayeskit.load(…).score(…) judges whole sequences")
    classifier = TrainedModel.load(model, target)
    if texts.is_text_model(classifier.model):
        raise BayeskitError(
            f"{model} reads texts, and evaluate reads tables; in Python, bayeskit.load(…).score(read_texts(…)) does it."
        )
    costs = options.read_loss_file(loss, classifier.classes_.tolist(), reject)
    file = TableFile.open(data, encoding, delimiter, missing=(*classifier.missing, *(missing or ())))
    with screen.progress(not json) as progress:
        evaluation = score(classifier, file, target, costs, progress, strict=strict, decimal=decimal)
    scores = evaluation.scores
    measures = {name: getattr(scores, name) for name in MEASURES if costs is not None or name != "mean_loss"}
    if json:
        screen.say_json(
            {
                "rows": scores.n_rows,
                "unlabelled_rows": evaluation.n_unlabelled,
                **{name: measure._asdict() for name, measure in measures.items()},
                "classes": scores.classes,
                "actions": scores.actions,
                "confusion": scores.decided,
                "drift": [vars(drift) for drift in evaluation.drifts],
            }
        )
        return
    left_out = (
        f", {evaluation.n_unlabelled} without a value of {evaluation.target!r} left out"
        if evaluation.n_unlabelled
        else ""
    )
    screen.say(f"{file.name}: {count(scores.n_rows, 'row')}{left_out}")
    screen.say()
    screen.table(("score", "value"), [(MEASURES[name], str(measure)) for name, measure in measures.items()], right=(1,))
    screen.say()
    show_drift(evaluation.drifts)
    if len(scores.classes) <= MOST_IN_MATRIX:
        screen.matrix(scores.classes, scores.actions, scores.decided.tolist())
        return
    screen.say(f"{len(scores.classes)} classes have no room in a matrix; these are the most frequent errors.")
    screen.say()
    errors = [(str(truth), str(action), f"{n:,}") for truth, action, n in scores.most_frequent_errors()]
    screen.table(("true class", "decision", "rows"), errors, right=(2,))
