"""``bayeskit compare``: two models on one file, row by row."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayeskit.cli import screen
from bayeskit.cli.options import (
    Data,
    Decimal,
    Delimiter,
    Encoding,
    Json,
    Missing,
    Model,
    Strict,
    Target,
    load_classifier,
)


def compare(
    first: Model,
    second: Annotated[Path, typer.Argument(help="The model file to compare it with.", show_default=False)],
    data: Data,
    target: Target = None,
    strict: Strict = False,
    decimal: Decimal = None,
    missing: Missing = None,
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    json: Json = False,
) -> None:
    """Compare two models on one table with known classes.

    The scores are subtracted row by row, so that the standard error of the difference shows whether it is more than
    chance.

    Example: bayeskit compare naive.bayes tan.bayes new-days.csv
    """
    from bayeskit.decide.scores import MEASURES
    from bayeskit.table.files import TableFile
    from bayeskit.workflow.evaluation import compare_models
    from bayeskit.workflow.wording import count

    models = load_classifier(first, target), load_classifier(second, target)
    # Each model reads the file, so that standard input is kept.
    file = TableFile.open(data, encoding, delimiter, missing=missing or (), keep=True)
    found = compare_models(*models, file, target, strict=strict, decimal=decimal)
    names, sides = (first.name, second.name), ("first", "second", "difference")
    if json:
        measures = {name: dict(zip(sides, each, strict=True)) for name, each in found.measures.items()}
        screen.say_json(
            {
                "first": names[0],
                "second": names[1],
                "rows": found.n_rows,
                **measures,
                "only_first_right": found.only_first_right,
                "only_second_right": found.only_second_right,
                "p_value": found.p_value,
            }
        )
        return
    screen.say(f"{file.name}: {count(found.n_rows, 'row')}")
    screen.say()
    rows = [(MEASURES[name], *map(str, each)) for name, each in found.measures.items()]
    screen.table(("score", *names, "difference"), rows, right=(1, 2, 3))
    screen.say()
    only = f"right in {names[0]} only: {count(found.only_first_right, 'row')}"
    screen.say(f"{only}; in {names[1]} only: {count(found.only_second_right, 'row')}")
    screen.say(f"p-value of McNemar's exact test: {found.p_value:.4g}")
