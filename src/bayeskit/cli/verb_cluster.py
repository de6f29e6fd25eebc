"""``bayeskit cluster``: a table in, the cluster of each row out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeskit.cli import screen
from bayeskit.cli.options import (
    Data,
    Decimal,
    Delimiter,
    Encoding,
    Force,
    Json,
    Missing,
    RandomState,
    refuse_overwriting,
)

if TYPE_CHECKING:
    from bayeskit.workflow.clustering import Clustering


def cluster(
    data: Data,
    number: Annotated[
        str, typer.Option("--clusters", "-k", help="Number of clusters, or auto (chosen by BIC).")
    ] = "auto",
    model: Annotated[
        str, typer.Option("--model", "-m", help="latent-class (any columns), gaussian or k-means (numbers).")
    ] = "latent-class",
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="The rows with their clusters: .csv, .jsonl, .parquet or .xlsx."),
    ] = Path("clusters.csv"),
    save: Annotated[
        Path | None, typer.Option("--save", help="Write the model to this .bayes file.", show_default=False)
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option("--ignore", help="Leave out this column; may be repeated.", show_default=False)
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", help="NAME=KIND: categorical or numeric; may be repeated.", show_default=False),
    ] = None,
    random_state: RandomState = 0,
    decimal: Decimal = None,
    missing: Missing = None,
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Find clusters in a table.

    Fits a mixture by EM, says how large each cluster is and where it differs most from all rows, and writes the table
    with the cluster of each row and its probability. Missing cells are fine.

    Example: bayeskit cluster birds.csv --ignore species -o birds-clustered.csv

    Example: bayeskit cluster points.csv -k 4 -m gaussian --save points.bayes
    """
    from bayeskit.io.container import atomic_write
    from bayeskit.table.files import TableFile
    from bayeskit.table.formats import format_named, open_writer
    from bayeskit.workflow.clustering import cluster_file

    if number != "auto" and not (number.isdecimal() and int(number) >= 1):
        raise typer.BadParameter(f"'auto' or a whole number of at least 1; got {number!r}.", param_hint="--clusters")
    format_named(output)
    for place in (output, save):
        if place is not None:
            refuse_overwriting(place, (data,), force=force)
    if save is not None and save.resolve() == output.resolve():
        raise typer.BadParameter(f"{str(save)!r} is where the rows go (--output).", param_hint="--save")
    file = TableFile.open(data, encoding, delimiter, missing=missing or ())
    found = cluster_file(
        file,
        model,  # type: ignore[arg-type]
        "auto" if number == "auto" else int(number),
        ignore or [],
        _pairs(kind or []),
        decimal,
        random_state,
    )
    with atomic_write(output.absolute()) as target, open_writer(output, target) as writer:
        writer.write(found.table)
    if save is not None:
        found.model.save(save, force=force)
    _say(found, output, save, json)


def _pairs(kinds: list[str]) -> dict[str, str]:
    pairs = {}
    for pair in kinds:
        name, sign, kind = pair.rpartition("=")
        if not sign or not name:
            raise typer.BadParameter(f"a kind must have the form NAME=KIND; got {pair!r}.", param_hint="--kind")
        pairs[name] = kind
    return pairs


def _say(found: Clustering, output: Path, save: Path | None, json: bool) -> None:
    from bayeskit.workflow.wording import count

    summary, model = found.model.summary(), found.model
    tried = [{"clusters": each.n_components, "bic": each.bic} for each in model.selection_]
    if json:
        files = {"file": str(output), "saved": None if save is None else str(save)}
        screen.say_json({**summary.to_json(), "tried": tried, **files})
        return
    left = [note for note in found.notes if not note.used]
    if left:
        screen.say("left out: " + ", ".join(f"{note.name} ({note.why})" for note in left))
    if len(tried) > 1:
        chosen = ", ".join(f"{each['clusters']}: {each['bic']:.1f}" for each in tried)
        screen.say(f"{model.n_components_} clusters by BIC (smaller is better): {chosen}")
    sizes: list[Any] = (model.labels_ == c for c in range(model.n_components_))  # type: ignore[assignment]
    rows = [
        (
            str(each["cluster"]),
            str(int(own.sum())),
            f"{each['weight']:.1%}",
            "\n".join(each["differs"]) or "like all rows",
        )
        for each, own in zip(summary.to_json()["clusters"], sizes, strict=True)
    ]
    screen.table(("cluster", "rows", "weight", "differs most from all rows in"), rows, right=(0, 1, 2))
    screen.say(f"{output}: {count(found.table.num_rows, 'row')} with their clusters")
    if save is not None:
        screen.say(f"{save}: the model")
