"""``bayeskit cluster``: a table in, the cluster of each row out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayeskit.cli import options, screen

if TYPE_CHECKING:
    from bayeskit.workflow.clustering import Clustering


def cluster(
    data: options.Data,
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
    ignore: options.Ignore = None,
    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", help="NAME=KIND: categorical or numeric; may be repeated.", show_default=False),
    ] = None,
    random_state: options.RandomState = 0,
    decimal: options.Decimal = None,
    missing: options.Missing = None,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    force: options.Force = False,
    json: options.Json = False,
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
            options.refuse_overwriting(place, (data,), force=force)
    if save is not None and save.resolve() == output.resolve():
        raise typer.BadParameter(f"{str(save)!r} is where the rows go (--output).", param_hint="--save")
    file = TableFile.open(data, encoding, delimiter, missing=missing or ())
    clustering = cluster_file(
        file,
        model,  # type: ignore[arg-type]
        "auto" if number == "auto" else int(number),
        ignore or [],
        options.read_kinds(kind),
        decimal,
        random_state,
    )
    with atomic_write(output.absolute()) as target, open_writer(output, target) as writer:
        writer.write(clustering.table)
    if save is not None:
        clustering.model.save(save)
    _say(clustering, output, save, json)


def _say(clustering: Clustering, output: Path, save: Path | None, json: bool) -> None:
    from bayeskit.workflow.wording import count

    summary, model = clustering.model.summary(), clustering.model
    tried = [{"clusters": each.n_components, "bic": each.bic} for each in model.selection_]
    if json:
        files = {"file": str(output), "saved": None if save is None else str(save)}
        screen.say_json({**summary.to_json(), "tried": tried, **files})
        return
    left = [note for note in clustering.notes if not note.used]
    if left:
        screen.say("left out: " + ", ".join(f"{note.name} ({note.why})" for note in left))
    if len(tried) > 1:
        chosen = ", ".join(f"{each['clusters']}: {each['bic']:.1f}" for each in tried)
        screen.say(f"{model.n_components_} clusters by BIC (smaller is better): {chosen}")
    rows = []
    for c, each in enumerate(summary.to_json()["clusters"]):
        differs = "\n".join(each["differs"]) or "like all rows"
        rows.append((str(each["cluster"]), str(int((model.labels_ == c).sum())), f"{each['weight']:.1%}", differs))
    screen.table(("cluster", "rows", "weight", "differs most from all rows in"), rows, right=(0, 1, 2))
    screen.say(f"{output}: {count(clustering.table.num_rows, 'row')} with their clusters")
    if save is not None:
        screen.say(f"{save}: the model")
