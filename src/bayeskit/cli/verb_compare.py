"""``bayeskit compare``: two models on one file, row by row."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayeskit.cli import options, screen, texts
from bayeskit.errors import BayeskitError


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
    chance.

    Example: bayeskit compare naive.bayes tan.bayes new-days.csv
    """
    from bayeskit.decide.scores import MEASURES
    from bayeskit.table.files import TableFile
    from bayeskit.workflow.evaluation import compare_models
    from bayeskit.workflow.held_out_texts import compare_texts
    from bayeskit.workflow.trained import TrainedModel
    from bayeskit.workflow.wording import count

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
        name, unit = file.name, "row"
    names, sides = (first.name, second.name), ("first", "second", "difference")
    if json:
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
