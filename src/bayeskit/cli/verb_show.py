"""``bayeskit show``: what is in a model or network file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bayeskit.cli import screen
from bayeskit.cli.options import Json


def show(
    source: Annotated[Path, typer.Argument(help="A .bayes model or a network file.", show_default=False)],
    json: Json = False,
) -> None:
    """Show what is in a model or network file.

    For a classifier: its classes, the values that are the strongest evidence for each, and its columns. For a network:
    its variables, their states and parents.

    Example: bayeskit show play.bayes
    """
    model = _read(source)
    if hasattr(model, "posterior"):  # a network; its class is not loaded to look at anything else
        _show_network(source, model, json)
    elif json:
        screen.say_json(_classifier_json(model))
    else:
        screen.say(str(model.summary()))
        structure = getattr(model, "structure_", None)
        if structure is not None and not hasattr(structure, "members"):
            screen.say(f"\nparents\n{_indented(str(structure))}")
        if hasattr(model, "get_params"):  # a dynamic network has tables, and no settings
            settings = ", ".join(f"{name}={value!r}" for name, value in model.get_params(deep=False).items())
            screen.say(f"\nsettings\n  {settings}")


def _read(source: Path) -> Any:
    if source.suffix == ".bayes":
        from bayeskit.io.model_files import load_value

        return load_value(source)
    from bayeskit.cli.network_files import read_network
    from bayeskit.errors import BayeskitError
    from bayeskit.network.formats import is_network_file

    if source.is_file() and not is_network_file(source):
        raise BayeskitError(
            f"show takes a model (.bayes) or a network file; {source.name!r} is neither. `bayeskit train` makes a "
            "model of a table."
        )
    return read_network(source)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def _classifier_json(model: Any) -> dict[str, Any]:
    if hasattr(model, "loss_"):  # a decision over a classifier
        read = model.loss_
        costs = [dict(zip(map(str, read.actions), row, strict=True)) for row in read.matrix.tolist()]
        inner = getattr(model.estimator_, "estimator", model.estimator_)
        loss = dict(zip(map(str, read.classes), costs, strict=True))
        return {"model": "BayesDecision", "loss": loss, "estimator": _classifier_json(inner)}
    summary = model.summary()
    if not hasattr(model, "get_params"):
        return dict(summary.to_json())
    settings = {name: str(value) for name, value in model.get_params(deep=False).items()}
    if hasattr(summary, "to_json"):  # a model that is fitted whole has facts of its own
        return {**summary.to_json(), "target": model.target_, "settings": settings}
    return {
        "model": summary.title,
        "target": model.target_,
        "rows": summary.n_rows,
        "classes": [
            {"class": label, "probability": p, "rows": n}
            for label, p, n in zip(summary.classes, summary.prior.tolist(), summary.n_class.tolist(), strict=True)
        ],
        "columns": [
            {"name": f.name, "kind": f.kind, "missing": f.missing_rate, "values": f.values, "edges": f.edges}
            for f in summary.features
        ],
        "settings": settings,
    }


def _show_network(source: Path, net: Any, json: bool) -> None:
    variables = [
        {"name": name, "states": list(states), "parents": [net.names[i] for i in above]}
        for name, states, above in zip(net.names, net.states, net.parents, strict=True)
    ]
    if json:
        screen.say_json(
            {"model": "BayesianNetwork", "variables": variables, "arcs": len(net.arcs), "parameters": net.n_parameters}
        )
        return
    screen.say(f"{source.name}: {len(net.names)} variables, {len(net.arcs)} arcs, {net.n_parameters} free parameters")
    screen.say()
    rows = [(item["name"], _listed(item["states"]), _listed(item["parents"]) or "–") for item in variables]
    screen.table(("variable", "states", "parents"), rows)


def _listed(names: list[Any], most: int = 8) -> str:
    shown = ", ".join(map(str, names[:most]))
    return shown if len(names) <= most else f"{shown}, … ({len(names)} in all)"
