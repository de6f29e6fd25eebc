"""``bayeskit studio``: the local page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayeskit.cli import screen

if TYPE_CHECKING:
    from bayeskit.studio.serve import RunningStudio


def studio(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Networks, models (.bayes) or tables to open.", show_default=False),
    ] = None,
    port: Annotated[int, typer.Option(help="Port; 0 means any free port.", min=0, max=65535)] = 0,
    host: Annotated[
        str, typer.Option(help="Address to listen on; any other than 127.0.0.1 admits other machines.")
    ] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Another name under which browsers may ask for the page; can be repeated."),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    max_upload: Annotated[
        int, typer.Option("--max-upload", help="Largest size of an uploaded file, in MiB.", min=1)
    ] = 256,
    memory: Annotated[
        str, typer.Option(help='Memory for all work together, as in "2 GiB"; by default a quarter of the machine.')
    ] = "",
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

    if host not in LOCAL or allow_host:
        names = "".join(f" and answers to {name}" for name in allow_host or ())
        screen.warn(
            f"the studio listens on {host}{names}: whoever can reach this machine and sees the address can use it, and "
            "what is sent is not encrypted."
        )

    limit = None
    if memory:
        from bayeskit.counts.memory import read_memory
        from bayeskit.studio.budget import LEAST

        limit = int(read_memory(memory))
        if limit < LEAST:
            raise ValueError(f"--memory must be at least {LEAST >> 20} MiB; got {memory}.")

    def ready(running: RunningStudio) -> None:
        screen.say(f"bayeskit studio  {running.address}")
        for document in running.studio.documents:
            if document.recovered:
                screen.say(f"unsaved changes of {document.name} from an earlier run are open again")
        screen.say("(Ctrl-C ends it)")
        if browser:
            import webbrowser

            webbrowser.open(running.page_file().as_uri())

    def ended(unsaved: list[str]) -> None:
        if unsaved:
            screen.say(f"not saved: {', '.join(unsaved)}; the next bayeskit studio opens them again")

    run(
        files or [], host=host, port=port, allow_hosts=allow_host or (), max_upload=max_upload << 20, memory=limit,
        ready=ready, ended=ended,
    )  # fmt: skip
