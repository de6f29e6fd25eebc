"""What a worker does with a classifier: each task asks the library and returns JSON."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bayeskit.errors import BayeskitError
from bayeskit.studio.network_tasks import Report, _json

MOST_QUESTIONS, MOST_PIECES = 8, 4_000
_loaded: dict[Path, Any] = {}


def _trained(path: Any) -> Any:
    """Return the classifier of a model file, loaded once; a notebook gives the classifier itself."""
    from bayeskit.workflow.trained import TrainedModel

    if isinstance(path, TrainedModel):
        return path
    if path not in _loaded:
        _loaded.clear()
        _loaded[path] = TrainedModel.load(path)
    return _loaded[path]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def schema(path: Path, report: Report) -> bytes:
    """Return the columns of a classifier as a form shows them, and its classes."""
    from bayeskit.kinds import kind_of
    from bayeskit.table.schema import bin_names

    trained = _trained(path)
    columns = []
    for variable in trained.schema_:
        numeric = variable.is_numeric or variable.is_binned
        columns.append(
            {
                "name": variable.name,
                "kind": variable.kind,
                "description": kind_of(variable).description,
                "numeric": numeric,
                "values": [] if numeric else [_plain(value) for value in variable.values],
                "edges": list(variable.edges),
                "bins": list(bin_names(variable.edges)) if variable.edges else [],
            }
        )
    return _json(
        {
            "text": _reads_texts(trained),
            "model": type(trained.model).__name__,
            "target": trained.target_,
            "classes": [str(label) for label in trained.classes_.tolist()],
            "temperature": trained.temperature,
            "columns": columns,
        }
    )


def _loss(trained: Any, loss: list[list[float]] | None, reject: float | None) -> Any:
    from bayeskit.decide.loss import read_loss, with_reject

    return with_reject(read_loss(loss, trained.classes_.tolist()), reject)


def _cells(trained: Any, row: dict[str, Any]) -> dict[str, Any]:
    """Return the cells of a row that are known; an empty field is not observed."""
    unknown = [name for name in row if name not in trained.schema_.names]
    if unknown:
        raise BayeskitError(f"the model has no column {unknown[0]!r}; it has {', '.join(trained.schema_.names[:20])}.")
    return {name: value for name, value in row.items() if value is not None}


def _reads_texts(trained: Any) -> bool:
    return hasattr(trained.model, "top_words")


def _marked(said: Any) -> list[dict[str, Any]]:
    """Return the text in pieces, each with the weight of its word (0 between words)."""
    pieces, at = [], 0
    for word in said.words:
        begin, end = word.begin, word.end
        if begin < at or end <= begin:
            continue
        if begin > at:
            pieces.append({"text": said.text[at:begin], "weight": 0.0})
        pieces.append({"text": said.text[begin:end], "weight": float(word.weight) if np.isfinite(word.weight) else 0.0})
        at = end
    return [*pieces, {"text": said.text[at:], "weight": 0.0}][:MOST_PIECES]


def explain(
    path: Path, report: Report, row: dict[str, Any], loss: list[list[float]] | None = None, reject: float | None = None
) -> bytes:
    """Return posterior, decision, evidence by column and the next question for one row."""
    from bayeskit.decide.regions import regions
    from bayeskit.explain.relevance import value_of_information

    trained = _trained(path)
    rule, cells = _loss(trained, loss, reject), _cells(trained, row)
    text = str(next(iter(cells.values()), "")) if _reads_texts(trained) else None
    posterior = trained.posterior(cells) if text is None else trained.predict_proba([text]).ravel()
    risks = posterior @ rule.matrix
    marked: list[dict[str, Any]] = []
    if text is None:
        explanation = trained.explain(cells).strongest()
    else:
        said = trained.model.explain(text)
        explanation, marked = said.by_word().strongest(), _marked(said)
    answer: dict[str, Any] = {
        "classes": [str(label) for label in trained.classes_.tolist()],
        "posterior": posterior.tolist(),
        "actions": [str(action) for action in rule.actions],
        "risks": risks.tolist(),
        "decision": str(rule.actions[int(risks.argmin())]),
        "evidence": {
            "for": str(explanation.classes[0]), "against": str(explanation.classes[1]), "prior": explanation.prior,
            "log_odds": explanation.log_odds, "probability": explanation.probability,
            "terms": [
                {"label": label, "feature": name, "log_odds": float(term), "used": bool(used)}
                for label, name, term, used in zip(
                    explanation.labels(), explanation.features, explanation.terms, explanation.used, strict=True
                )
            ],
        },
        "regions": [],
        "marked": marked,
        "questions": None,
    }  # fmt: skip
    if len(rule.classes) == 2:
        answer["regions"] = [{"action": str(r.action), "low": r.low, "high": r.high} for r in regions(rule)]
    if text is not None:
        answer["questions"] = []
    elif trained.temperature == 1.0 and hasattr(trained.model, "domains"):
        asked = value_of_information(trained.model, cells, rule)
        answer["questions"] = [{"feature": q.feature, "value": q.value} for q in asked if q.value > 1e-12][
            :MOST_QUESTIONS
        ]
    return _json(answer)


def what_if(
    path: Path, report: Report, row: dict[str, Any], loss: list[list[float]] | None = None, reject: float | None = None
) -> bytes:
    """Return the smallest change of a row that changes the decision."""
    from bayeskit.explain.what_if import what_if as turn

    trained = _trained(path)
    if _reads_texts(trained):
        raise BayeskitError("what-if changes columns; a text has none. Change words of the text instead.")
    if trained.temperature != 1.0:
        raise BayeskitError("what-if is for models without calibration; this one has a temperature.")
    known = _cells(trained, row)
    if not known:
        raise BayeskitError("every column is unknown, so there is nothing to change; fill one in.")
    change = turn(trained.model, known, loss=_loss(trained, loss, reject), max_changes=2)
    return _json(
        {
            "changes": {name: _plain(value) for name, value in change.changes.items()},
            "before": str(change.before), "after": str(change.after), "tried": change.n_tried,
        }
    )  # fmt: skip


def row(path: Path, report: Report, file: str, number: int) -> bytes:
    """Return one row of a table in terms of the model; the first is 1."""
    from bayeskit.table.files import TableFile
    from bayeskit.workflow.model_columns import ModelColumns, row_of_file

    columns = ModelColumns(_trained(path), TableFile.open(file))
    cells = row_of_file(columns, number)
    return _json({"row": {name: _plain(value) for name, value in cells.items()}, "notes": columns.problems()})


def predictions(path: Path, report: Report, file: str, output: str) -> bytes:
    """Write the predictions for a table to a CSV file; every column of the table comes first."""
    from bayeskit.table.files import TableFile
    from bayeskit.table.formats import open_writer
    from bayeskit.workflow.model_columns import ModelColumns
    from bayeskit.workflow.prediction import Predictions

    table = TableFile.open(file)
    columns = ModelColumns(_trained(path), table)
    with open(output, "wb") as target, open_writer(Path(output), target) as writer:
        n_rows = Predictions(columns, list(table.names), None, 6).write(
            writer, lambda step: report({"step": step.name, "done": step.done, "total": step.total or 0})
        )
    return _json({"rows": n_rows, "notes": columns.problems()})


TASKS: dict[str, Callable[..., bytes]] = {
    "classifier": schema,
    "explain": explain,
    "what_if": what_if,
    "row": row,
    "predictions": predictions,
}
