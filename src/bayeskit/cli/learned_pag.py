"""A graph with hidden causes for ``bayeskit learn --method fci``: its options, its file and what is said of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayeskit.cli import screen

if TYPE_CHECKING:
    from bayeskit.network.learn.fci import LearnedPAG

_MEANINGS = {
    "-->": "a cause",
    "<->": "a hidden cause of both",
    "o->": "a cause, or a hidden cause of both",
    "o-o": "joined; nothing more is known",
    "---": "joined by the selection of rows",
    "o--": "joined by the selection of rows, perhaps also as a cause",
}


def pag_of_table(columns: dict[str, Any], method: str, options: dict[str, Any], **shared: Any) -> LearnedPAG:
    """Search with the options that the method takes; refuse the others that were given."""
    from bayeskit.errors import NetworkError
    from bayeskit.network.learn.fci import learn_pag

    given = {name: value for name, value in options.items() if value not in (None, [])}
    strange = [name for name in given if name not in ("alpha", "test")]
    if strange:
        word = {"max_seconds": "seconds"}.get(strange[0], strange[0].replace("_", "-"))
        raise NetworkError(f"method {method!r} takes no --{word}.")
    return learn_pag(columns, "rfci" if method == "rfci" else "auto", **given, **shared)


def write_pag(learned: LearnedPAG, output: Path, drawing: Path | None, json: bool) -> None:
    """Write the graph as JSON or DOT, draw it, and say what it is."""
    from json import dumps

    from bayeskit.io.container import atomic_write

    pag = learned.pag
    text = pag.to_dot() if output.suffix.lower() == ".dot" else dumps(pag.to_dict(), ensure_ascii=False, indent=1)
    with atomic_write(output.absolute()) as file:
        file.write(f"{text}\n".encode())
    if drawing is not None:
        pag.draw().save(drawing)
    if json:
        files = {"file": str(output), "drawing": None if drawing is None else str(drawing)}
        separators = [{"pair": pair, "given": given} for pair, given in learned.separators.items()]
        said = {"method": learned.method, "reason": learned.history.reason, "separators": separators}
        screen.say_json({**files, **pag.to_dict(), **said})
        return
    screen.say(f"{output}: {len(pag.names)} variables, {len(pag.edges)} edges; {learned.method}")
    for a, sign, b in pag.edges:
        screen.say(f"  {a} {sign} {b}   {_MEANINGS[sign]}")
    if drawing is not None:
        screen.say(f"{drawing}: the drawing")
