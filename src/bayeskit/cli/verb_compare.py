"""``bayeskit compare``: two models on one file, row by row."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayeskit.cli import options, screen, sequences, texts
from bayeskit.errors import BayeskitError

if TYPE_CHECKING:
    from bayeskit.workflow.evaluation import PairedComparison


def compare(
    first: options.Model,
    second: Annotated[Path, typer.Argument(help="The model file to compare it with.", show_default=False)],
    data: options.Data,
    target: options.Target = None,
    text: options.TextColumn = None,
    strict: options.Strict = False,
    decimal: options.Decimal = None,
    missing: options.Missing = None,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    json: options.Json = False,
) -> None:
    """Compare two models on one table, or on texts, with known classes.

    The scores are subtracted row by row, so that the standard error of the difference shows whether it is more than
    chance. Chains are compared by their states or classes where these are known, and by log P(sequence) where the
    states are hidden.

    Example: bayeskit compare naive.bayes tan.bayes new-days.csv
    """
    from bayeskit.table.files import TableFile
    from bayeskit.workflow.evaluation import compare_models
    from bayeskit.workflow.held_out_texts import compare_texts
    from bayeskit.workflow.trained import TrainedModel

    names, unit = (first.name, second.name), "row"
    chains = sequences.chain_of(first), sequences.chain_of(second)
    if any(chain is not None for chain in chains):
        if any(chain is None for chain in chains):
            raise BayeskitError(f"{first.name} and {second.name}: one reads sequences and the other single rows.")
        sequences.refuse_unused([data], {"--text": text, "--strict": strict}, "a chain")
        file = TableFile.open(data, encoding, delimiter, missing=missing or (), keep=True)
        judged = sequences.compare(chains, names, file, target, decimal, json)
        if judged is not None:
            unit = "sequence" if type(chains[0]).__name__ == "SequenceClassifier" else "row"
            _say(judged, names, file.name, unit, json)
        return
    models = TrainedModel.load(first, target), TrainedModel.load(second, target)
    read_texts = [texts.is_text_model(model.model) for model in models]
    if any(read_texts):
        if not all(read_texts):
            raise BayeskitError(f"{first.name} and {second.name}: one reads texts and the other a table.")
        texts.refuse_options_of_tables(
            {"--strict": strict, "--decimal": decimal, "--missing": missing, "--delimiter": delimiter}
        )
        source = texts.source_of(models[0], data, text, target, encoding)
        comparison, name, unit = compare_texts(models[0].model, models[1].model, source), source.path.name, "document"
    else:
        # Each model reads the file, so that standard input is kept.
        file = TableFile.open(data, encoding, delimiter, missing=missing or (), keep=True)
        comparison = compare_models(*models, file, target, strict=strict, decimal=decimal)
        name = file.name
    _say(comparison, names, name, unit, json)


def _say(comparison: PairedComparison, names: tuple[str, str], name: str, unit: str, as_json: bool) -> None:
    from bayeskit.decide.scores import MEASURES
    from bayeskit.workflow.wording import count

    sides = ("first", "second", "difference")
    if as_json:
        measures = {name: dict(zip(sides, each, strict=True)) for name, each in comparison.measures.items()}
        screen.say_json(
            {
                "first": names[0],
                "second": names[1],
                f"{unit}s": comparison.n_rows,
                **measures,
                "only_first_right": comparison.only_first_right,
                "only_second_right": comparison.only_second_right,
                "p_value": comparison.p_value,
            }
        )
        return
    screen.say(f"{name}: {count(comparison.n_rows, unit)}")
    screen.say()
    rows = [(MEASURES[name], *map(str, each)) for name, each in comparison.measures.items()]
    screen.table(("score", *names, "difference"), rows, right=(1, 2, 3))
    screen.say()
    only = f"right in {names[0]} only: {count(comparison.only_first_right, unit)}"
    screen.say(f"{only}; in {names[1]} only: {count(comparison.only_second_right, unit)}")
    screen.say(f"p-value of McNemar's exact test: {comparison.p_value:.4g}")
