"""``bayeskit explain``: why a row gets its class."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from bayeskit.cli import options, screen, sequences, texts
from bayeskit.cli.explain_network import explain_in_network

# How many of the least certain rows are explained by default.
DOUBTFUL = 3


def explain(
    model: options.Model,
    data: Annotated[
        str | None,
        typer.Argument(help="Table of rows, or - for standard input; none with --of.", show_default=False),
    ] = None,
    of: Annotated[
        str | None,
        typer.Option("--of", help="Explain this variable of a network; X=x explains one state.", show_default=False),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option("--given", "-g", help="Evidence for --of, variable=value; may be repeated.", show_default=False),
    ] = None,
    row: Annotated[
        int | None, typer.Option("--row", "-r", help="Explain this row; the first is 1.", min=1, show_default=False)
    ] = None,
    doubtful: Annotated[
        int | None,
        typer.Option("--doubtful", "-k", help="Explain the k least certain rows.", min=1, show_default=str(DOUBTFUL)),
    ] = None,
    target: options.Predicted = None,
    text: options.TextColumn = None,
    strict: options.Strict = False,
    decimal: options.Decimal = None,
    missing: options.Missing = None,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    json: options.Json = False,
) -> None:
    """Explain predictions as evidence for and against a class.

    Starts from the prior log-odds and adds the contribution of each column, in log-odds: +0.7 doubles the odds.
    Without --row the least certain rows are explained. A text classifier shows the words in the text; for it DATA is a
    file with a column of texts, or - for one text from standard input. A hidden Markov model shows how each row of the
    sequence moved the state of the row.

    With --of a network is asked without a table: which finding moved the probability how far, the strongest first.

    Example: bayeskit explain play.bayes days.csv --row 3

    Example: bayeskit explain asia.xdsl --of lung=yes --given smoke=yes --given xray=yes
    """
    if of is not None or given:
        explain_in_network(model, of, given or [], data, json)
        return
    if data is None:
        raise typer.BadParameter("give a table, or for a network --of and --given.", param_hint="DATA")
    from bayeskit.table.files import TableFile
    from bayeskit.workflow.model_columns import ModelColumns, least_certain_rows, row_of_file

    if row is not None and doubtful is not None:
        raise typer.BadParameter("give --row or --doubtful, not both.")
    chain = sequences.chain_of(model)
    if chain is not None:
        sequences.refuse_unused([data], {"--text": text, "--strict": strict, "--target": target}, "a chain")
        rows_of = TableFile.open(data, encoding, delimiter, missing=tuple(missing or ()), keep=True)
        sequences.explain(chain, rows_of, row, doubtful or DOUBTFUL, decimal, json)
        return
    classifier = options.load_predictor(model, target)
    is_text = texts.is_text_model(classifier.model)
    if is_text:
        explained: list[Any] = texts.explained(classifier, data, text, encoding, row, doubtful or DOUBTFUL)
    else:
        file = TableFile.open(data, encoding, delimiter, missing=(*classifier.missing, *(missing or ())))
        columns = ModelColumns(classifier, file, strict=strict, decimal=decimal)
        if row is not None:
            rows = [(row, row_of_file(columns, row))]
        else:
            rows = least_certain_rows(columns, doubtful or DOUBTFUL)
        columns.warn()
        explained = [(number, classifier.explain(cells)) for number, cells in rows]
    if json:
        screen.say_json([{"row": number, **_as_json(explanation)} for number, explanation in explained])
        return
    show: Callable[[Any], str] = repr if is_text and sys.stdout.isatty() else str  # colours for a person
    for number, explanation in explained:
        screen.say(f"{'document' if is_text else 'row'} {number}\n{show(explanation)}\n")


def _as_json(explanation: Any) -> dict[str, Any]:
    facts = {
        "classes": explanation.classes,
        "probability": explanation.probability,
        "prior_log_odds": explanation.prior,
        "log_odds": explanation.log_odds,
    }
    if not hasattr(explanation, "features"):  # of a text
        return {**facts, "words": [word._asdict() for word in explanation.words]}
    if explanation.floor:
        facts["floor_log_odds"] = explanation.floor
    columns = zip(explanation.features, explanation.values, explanation.terms, explanation.used, strict=True)
    names = ("feature", "value", "log_odds", "used")
    evidence = [dict(zip(names, column, strict=True)) for column in columns]
    for term in evidence:
        if term["feature"] in explanation.words:  # a column of text
            term["words"] = [word._asdict() for word in explanation.words[term["feature"]]]
    return {**facts, "evidence": evidence}
