"""The studio started: a port, a token, the address, and uvicorn."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayeskit.studio.server import MAX_UPLOAD, Studio

LOCAL = ("127.0.0.1", "localhost", "::1")


@dataclass
class RunningStudio:
    """A studio that is ready to serve."""

    studio: Studio
    address: str
    server: Any
    sockets: list[socket.socket]

    def run(self) -> None:
        """Serve until Ctrl-C."""
        self.server.run(sockets=self.sockets)


def prepare(
    files: list[Path] | tuple[Path, ...] = (), *, host: str = "127.0.0.1", port: int = 0, max_upload: int = MAX_UPLOAD
) -> RunningStudio:
    """Bind a port, open the files, and return a studio that is ready; port 0 is any that is free."""
    import uvicorn

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio looks for the protocol
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind((host, port))
    port = bound.getsockname()[1]
    token = secrets.token_urlsafe(24)
    studio = Studio(max_upload)
    fragment = ""
    for path in files:
        fragment = f"#doc={studio.documents.open(path, savable=True).id}"
    names = {host, *(LOCAL if host in (*LOCAL, "0.0.0.0", "::") else ())}
    hosts = {f"[{name}]:{port}" if ":" in name else f"{name}:{port}" for name in names}
    config = uvicorn.Config(
        studio.app(token, hosts, f"bayeskit_studio_{port}"), log_level="warning", access_log=False, ws="none",
        server_header=False, timeout_keep_alive=30, limit_concurrency=400, timeout_graceful_shutdown=2,
    )  # fmt: skip
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{port}/?token={token}{fragment}"
    return RunningStudio(studio, address, uvicorn.Server(config), [bound])


def run(files: list[Path], *, host: str, port: int, max_upload: int, ready: Callable[[str], None]) -> None:
    """Serve until Ctrl-C; ``ready`` is given the address once it can be opened."""
    running = prepare(files, host=host, port=port, max_upload=max_upload)
    ready(running.address)
    running.run()
