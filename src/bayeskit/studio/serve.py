"""The studio started: a port, a token, the address, and uvicorn."""

from __future__ import annotations

import html
import secrets
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bayeskit.studio.connections import bounded_protocol, ready_server
from bayeskit.studio.server import MAX_UPLOAD, Studio

LOCAL = ("127.0.0.1", "localhost", "::1")
EVERY = ("0.0.0.0", "::")


@dataclass
class RunningStudio:
    """A studio that is ready to serve."""

    studio: Studio
    address: str
    sockets: list[socket.socket]
    server: Any = None
    ready: Callable[[], None] = field(default=lambda: None)
    unsaved: list[str] = field(default_factory=list)  # the names of what was not saved when it ended

    def run(self) -> None:
        """Serve until Ctrl-C or SIGTERM; whatever happens, temporary files are removed."""
        try:
            self.server.run(sockets=self.sockets)
        finally:
            self.unsaved = [each.name for each in self.studio.documents.unsaved]
            self.studio.documents.close_all()

    def page_file(self) -> Path:
        """Write a private page that leads to the address, for a browser.

        The token is then on no command line, which every user of the machine could read.
        """
        path = self.studio.documents.folder / "open.html"
        target = html.escape(self.address, quote=True)
        path.write_text(f'<meta charset="utf-8"><meta http-equiv="refresh" content="0;url={target}">', "utf-8")
        path.chmod(0o600)
        return path


def prepare(
    files: Sequence[Path] = (), *, host: str = "127.0.0.1", port: int = 0, max_upload: int = MAX_UPLOAD,
    recover: bool = False, memory: int | None = None, allow_hosts: Sequence[str] = (),
) -> RunningStudio:  # fmt: skip
    """Bind a port, open the files, and return a studio that is ready; port 0 is any that is free."""
    import uvicorn

    bound = _bind(host, port)
    studio = None
    try:
        port = bound.getsockname()[1]
        token = secrets.token_urlsafe(24)
        studio = Studio(max_upload, recover=recover, memory=memory)
        fragment = ""
        for path in files:
            fragment = f"#doc={studio.documents.open(path, savable=True).id}"
        names = {host.lower(), *(name.lower() for name in allow_hosts), *(LOCAL if host in (*LOCAL, *EVERY) else ())}
        hosts = {f"[{name}]:{port}" if ":" in name else f"{name}:{port}" for name in names}
        config = uvicorn.Config(
            studio.app(token, hosts, f"bayeskit_studio_{port}"), log_level="warning", access_log=False, ws="none",
            server_header=False, timeout_keep_alive=30, timeout_graceful_shutdown=2, http=bounded_protocol(),
        )  # fmt: skip
        # Every address of the machine is no address to go to.
        shown = (allow_hosts[0] if allow_hosts else "127.0.0.1") if host in EVERY else host
        shown = f"[{shown}]" if ":" in shown else shown
        running = RunningStudio(studio, f"http://{shown}:{port}/?token={token}{fragment}", [bound])
        running.server = ready_server(config, lambda: running.ready())
    except BaseException:
        bound.close()
        if studio is not None:
            studio.documents.close_all()
        raise
    return running


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio looks for the protocol
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise OSError(
            f"the studio cannot listen on {host}, port {port}: {error.strerror or error}; choose another port, or "
            "as the host an address or name of this machine."
        ) from None
    return bound


def run(
    files: Sequence[Path], *, ready: Callable[[RunningStudio], None], ended: Callable[[list[str]], None], **options: Any
) -> None:
    """Serve until Ctrl-C; ``ready`` is called once the page can be opened, ``ended`` with what was not saved."""
    running = prepare(files, recover=True, **options)
    running.ready = lambda: ready(running)
    try:
        running.run()
    finally:
        ended(running.unsaved)
