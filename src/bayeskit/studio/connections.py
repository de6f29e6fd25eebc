"""Connections: how long a request may take to arrive, how many an address may have, and who must give way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEADER_SECONDS = 20.0
MOST_PER_ADDRESS, MOST = 200, 400


def bounded_protocol(
    header_seconds: float = HEADER_SECONDS, most_per_address: int = MOST_PER_ADDRESS, most: int = MOST
) -> type[Any]:
    """Return uvicorn's protocol with bounds.

    A connection whose request line and headers are not there in time is closed. Where an address has too many
    connections, the one that waits for longest without a request gives way, so that half-sent requests keep nobody out;
    when all are being answered, the new one is closed.
    """

    class Bounded(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            others = [each for each in self.connections if each is not self]  # a set; the order is by `_since`
            self._since = self.loop.time()
            address = (self.client or ("",))[0]
            mine = [each for each in others if (each.client or ("",))[0] == address]
            crowd = mine if len(mine) >= most_per_address else others if len(others) >= most else []
            if crowd:
                waiting = [each for each in crowd if not each.answering()]
                min(waiting, key=lambda each: each._since).leave() if waiting else self.leave()
            self._expect_headers()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._since = self.loop.time() if self.answering() else self._since
            self._expect_headers()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._since = self.loop.time()

        def answering(self) -> bool:
            """Whether a request is here that has no whole answer yet."""
            return self.cycle is not None and not self.cycle.response_complete

        def _expect_headers(self) -> None:
            # A keep-alive connection without a byte of its next request has uvicorn's own timer.
            if self.answering() or self.timeout_keep_alive_task is not None:
                if self._timer is not None:
                    self._timer.cancel()
                self._timer = None
            elif self._timer is None:
                self._timer = self.loop.call_later(header_seconds, self._late)

        def _late(self) -> None:
            self._timer = None
            if not self.answering():
                self.leave()

        def leave(self) -> None:
            """Close the connection now, whatever is still to be sent."""
            self.transport.abort()

        def connection_lost(self, exc: Exception | None) -> None:
            if self._timer is not None:
                self._timer.cancel()
            super().connection_lost(exc)

    return Bounded


def ready_server(config: Any, ready: Callable[[], None]) -> Any:
    """Return a uvicorn server that calls ``ready`` once its socket listens."""
    import uvicorn

    class Ready(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets=sockets)
            if not self.should_exit:
                ready()

    return Ready(config)
