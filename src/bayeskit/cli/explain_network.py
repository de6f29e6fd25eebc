"""``bayeskit explain --of``: which findings moved a probability of a network."""

from __future__ import annotations

from pathlib import Path

import typer

from bayeskit.cli.network_files import as_numbers_of, parse_evidence, read_network
from bayeskit.cli.screen import say, say_json


def explain_in_network(model: Path, of: str | None, given: list[str], data: str | None, json: bool) -> None:
    """Explain a variable of a network given findings, without a table."""
    if of is None:
        raise typer.BadParameter("--given needs --of, the variable to explain.", param_hint="--of")
    if data is not None:
        raise typer.BadParameter("with --of there is no table; the findings are given by --given.", param_hint="DATA")
    if not given:
        raise typer.BadParameter("nothing is known, so there is nothing to explain; give --given X=x.", param_hint="-g")
    net = read_network(model)
    variable, _, state = (part.strip() for part in of.partition("="))
    explanation = net.explain(variable, given=as_numbers_of(net, parse_evidence(given)), state=state or None)
    if not json:
        say(repr(explanation))
        return
    findings = [
        {"variable": each.variable, "value": each.value, "probability": each.probability, "log_odds": each.log_odds,
         "path": list(each.path)}
        for each in explanation.findings
    ]  # fmt: skip
    facts = {"variable": explanation.variable, "state": explanation.state, "prior": explanation.prior}
    say_json({**facts, "probability": explanation.probability, "findings": findings})
