"""``bayeskit studio``: the local page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayeskit.cli import screen


def studio(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Networks, models (.bayes) or tables to open.", show_default=False),
    ] = None,
    port: Annotated[int, typer.Option(help="Port; 0 means any free port.", min=0, max=65535)] = 0,
    host: Annotated[
        str, typer.Option(help="Address to listen on; any other than 127.0.0.1 admits other machines.")
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    max_upload: Annotated[
        int, typer.Option("--max-upload", help="Largest size of an uploaded file, in MiB.", min=1)
    ] = 256,
) -> None:
    """Open a local page: explore a network, try a case, train from a table.

    The page is served on this machine only; the address has a token that admits one browser. Ctrl-C ends it.

    Example: bayeskit studio asia.bif

    Example: bayeskit studio heart.csv --port 8000
    """
    try:
        from bayeskit.studio.serve import LOCAL, run
    except ModuleNotFoundError as error:
        raise ValueError(f"the studio needs {error.name}; install it with: pip install 'bayeskit[studio]'") from None

    if host not in LOCAL:
        screen.warn(
            f"the studio listens on {host}: whoever can reach this machine and sees the address can use it, and what "
            "is sent is not encrypted."
        )

    def ready(address: str) -> None:
        screen.say(f"bayeskit studio  {address}")
        screen.say("(Ctrl-C ends it)")
        if browser:
            import webbrowser

            webbrowser.open(address)

    run(files or [], host=host, port=port, max_upload=max_upload << 20, ready=ready)
