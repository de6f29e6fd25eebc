"""``bayeskit evaluate``: how good a model is on rows or documents whose class is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from bayeskit.cli import options, screen, sequences, texts
from bayeskit.cli.training_screen import show_drift

if TYPE_CHECKING:
    from bayeskit.decide.scores import Scores


class _Judged(NamedTuple):
    """The scores, and what was judged."""

    scores: Scores
    name: str
    unit: str
    n_unlabelled: int = 0
    target: str = ""
    drifts: Sequence[Any] = ()  # columns that differ from the training table


def evaluate(
    model: options.Model,
    data: options.Data,
    target: options.Target = None,
    text: options.TextColumn = None,
    loss: options.LossFile = None,
    reject: options.Reject = None,
    strict: options.Strict = False,
    decimal: options.Decimal = None,
    missing: options.Missing = None,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    sheet: options.Sheet = None,
    skip: options.Skip = 0,
    json: options.Json = False,
) -> None:
    """Score a model on a table, or on texts, with known classes.

    Use rows that the model has not seen: on its own training rows any model looks better than it is. The file may be
    larger than memory. A chain is judged on whole sequences: the state of each row given all of them, or the class.

    Example: bayeskit evaluate play.bayes new-days.csv

    Example: bayeskit evaluate stars.bayes new-reviews.jsonl --text review --target stars
    """
    from bayeskit.workflow.trained import TrainedModel

    chain = sequences.chain_of(model)
    if chain is not None:
        sequences.refuse_unused([data], {"--text": text, "--strict": strict}, "a chain")
        costs = options.read_loss_file(loss, chain.classes_.tolist(), reject)
        form = (encoding, delimiter, sheet, skip)
        judged = _of_sequences(chain, data, target, costs, form, decimal, missing)
        (_say_json if json else _show)(judged, costs is not None)
        return
    classifier = TrainedModel.load(model, target)
    costs = options.read_loss_file(loss, classifier.classes_.tolist(), reject)
    if texts.is_text_model(classifier.model):
        texts.refuse_options_of_tables(
            {"--strict": strict, "--decimal": decimal, "--missing": missing, "--delimiter": delimiter}
        )
        evaluation, name = texts.evaluate(classifier, data, text, target, costs, encoding, as_json=json)
        judged = _Judged(evaluation.scores, name, "document", evaluation.n_unlabelled, evaluation.target)
    else:
        if text is not None:
            raise typer.BadParameter("the model reads a table, not texts.", param_hint="--text")
        judged = _of_table(
            classifier, data, target, costs, (encoding, delimiter, sheet, skip), strict, decimal, missing, json
        )
    (_say_json if json else _show)(judged, costs is not None)


def _of_sequences(
    chain: Any,
    data: str,
    target: str | None,
    costs: Any,
    form: tuple[str, str | None, str | None, int],
    decimal: str | None,
    missing: list[str] | None,
) -> _Judged:
    from bayeskit.table.files import TableFile
    from bayeskit.workflow.sequences import evaluate_sequences

    encoding, delimiter, sheet, skip = form
    words = tuple(missing or ())
    file = TableFile.open(data, encoding, delimiter, missing=words, keep=True, sheet=sheet, skip=skip)
    scores, n_unlabelled, truth = evaluate_sequences(chain, file, target, costs, decimal)
    unit = "row" if type(chain).__name__ == "HiddenMarkov" else "sequence"
    return _Judged(scores, file.name, unit, n_unlabelled, truth)


def _of_table(
    classifier: Any,
    data: str,
    target: str | None,
    costs: Any,
    form: tuple[str, str | None, str | None, int],
    strict: bool,
    decimal: str | None,
    missing: list[str] | None,
    json: bool,
) -> _Judged:
    from bayeskit.table.files import TableFile
    from bayeskit.workflow.evaluation import evaluate as score

    encoding, delimiter, sheet, skip = form
    words = (*classifier.missing, *(missing or ()))
    file = TableFile.open(data, encoding, delimiter, missing=words, sheet=sheet, skip=skip)
    with screen.progress(not json) as progress:
        evaluation = score(classifier, file, target, costs, progress, strict=strict, decimal=decimal)
    return _Judged(evaluation.scores, file.name, "row", evaluation.n_unlabelled, evaluation.target, evaluation.drifts)


def _measures(scores: Scores, with_loss: bool) -> dict[str, Any]:
    from bayeskit.decide.scores import MEASURES

    return {name: getattr(scores, name) for name in MEASURES if with_loss or name != "mean_loss"}


def _say_json(judged: _Judged, with_loss: bool) -> None:
    scores = judged.scores
    screen.say_json(
        {
            f"{judged.unit}s": scores.n_rows,
            f"unlabelled_{judged.unit}s": judged.n_unlabelled,
            **{name: measure._asdict() for name, measure in _measures(scores, with_loss).items()},
            "classes": scores.classes,
            "actions": scores.actions,
            "confusion": scores.decided,
            "drift": [vars(drift) for drift in judged.drifts],
        }
    )


def _show(judged: _Judged, with_loss: bool) -> None:
    from bayeskit.decide.scores import MEASURES, MOST_IN_MATRIX
    from bayeskit.workflow.wording import count

    scores, left_out = judged.scores, ""
    if judged.n_unlabelled:
        left_out = f", {judged.n_unlabelled} without a value of {judged.target!r} left out"
    screen.say(f"{judged.name}: {count(scores.n_rows, judged.unit)}{left_out}")
    screen.say()
    rows = [(MEASURES[name], str(measure)) for name, measure in _measures(scores, with_loss).items()]
    screen.table(("score", "value"), rows, right=(1,))
    screen.say()
    show_drift(judged.drifts)
    if len(scores.classes) <= MOST_IN_MATRIX:
        screen.matrix(scores.classes, scores.actions, scores.decided.tolist())
        return
    screen.say(f"{len(scores.classes)} classes have no room in a matrix; these are the most frequent errors.")
    screen.say()
    errors = [(str(truth), str(action), f"{n:,}") for truth, action, n in scores.most_frequent_errors()]
    screen.table(("true class", "decision", f"{judged.unit}s"), errors, right=(2,))
