"""The responses of the server: JSON, error messages, and work that is cancelled when the client leaves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from bayeskit.errors import BayeskitError
from bayeskit.studio.documents import ChangedFileError, NotOpenError, StaleError, UnsavedError
from bayeskit.studio.endpoints import Endpoint
from bayeskit.studio.shapes import Shape, check
from bayeskit.studio.workers import WorkError

MOST_JSON = 8 << 20
MOST_SAID = 1200  # characters of an error
# Seconds without a byte of a body, and the fewest bytes per second that count as sending.
SILENCE, SLOWEST = 30.0, 10_000


class TooMuchError(BayeskitError):
    """A request with too many bytes."""


class GoneError(Exception):
    """The client has left."""


class TooSlowError(BayeskitError):
    """A body that does not come."""


STATUS: dict[type[Exception], int] = {
    NotOpenError: 404,
    StaleError: 409,
    ChangedFileError: 409,
    UnsavedError: 409,
    TooMuchError: 413,
    TooSlowError: 408,
}


def client_of(request: Request) -> str:
    """Return who asks: a browser by its cookie, a program by its address."""
    return str(request.scope.get("bayeskit.client", ""))


async def pieces(request: Request) -> AsyncIterator[bytes]:
    """Return the body piece by piece; one that stops or drips is refused."""
    loop = asyncio.get_running_loop()
    start, size = loop.time(), 0
    stream = request.stream()
    while True:
        try:
            piece = await asyncio.wait_for(anext(stream), SILENCE)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise TooSlowError(f"no byte of the body came for {SILENCE:.0f} seconds; send it again.") from None
        except ClientDisconnect:
            raise GoneError from None
        size += len(piece)
        if loop.time() - start > 2 * SILENCE + size / SLOWEST:
            raise TooSlowError(f"the body comes at less than {SLOWEST // 1000} kB a second; send it again.")
        yield piece


def with_defaults(each: Endpoint, body: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a question about a network with no evidence and no action where none was given."""
    known = (each.body or {}).get("properties", {})
    if each.kind != "network" or "given" not in known:
        return body
    return {"given": {} if known["given"]["type"] == "object" else [], "do": {}, **body}


def answer(value: Any, status: int = 200) -> Response:
    """Return a value as JSON; bytes are JSON already."""
    body = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    return Response(body, status, media_type="application/json")


def sentence(error: Exception, where: str, folder: Path) -> Response:
    """Return an error as a place and a message."""
    status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), 422)
    kind = error.kind if isinstance(error, WorkError) else type(error).__name__
    # The path of an upload on the server is not shown.
    text = " ".join(str(error).split())
    parts = text.split(str(folder))
    text = parts[0] + "".join(part.split("/", 2)[-1] if part.startswith("/") else part for part in parts[1:])
    if len(text) > MOST_SAID:  # such as a cell of 200 kB
        text = f"{text[: MOST_SAID // 2]} … {text[-MOST_SAID // 2 :]}"
    details = getattr(error, "details", {})
    return answer({"error": {"where": where, "what": text, "kind": kind, **details}}, status)


async def read_body(request: Request, shape: Shape) -> dict[str, Any]:
    """Read a JSON body and check its shape."""
    body = bytearray()
    async for piece in pieces(request):
        body += piece
        if len(body) > MOST_JSON:
            raise TooMuchError(f"the body has more than {MOST_JSON >> 20} MiB; send less.")
    try:
        value = json.loads(bytes(body) or b"{}", parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise BayeskitError(f"the body is not JSON: {error}.") from None
    check(value, shape)
    parsed: dict[str, Any] = value
    return parsed


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


async def save_body(request: Request, path: Path, most: int) -> None:
    """Write the body of an upload to a file, piece by piece."""
    size = 0
    with path.open("wb") as file:
        async for piece in pieces(request):
            size += len(piece)
            if size > most:
                raise TooMuchError(
                    f"the file has more than {most >> 20} MiB, which is the limit here; start the studio with a larger "
                    "limit for uploads, or use the command."
                )
            await asyncio.to_thread(file.write, piece)
    if not size:
        raise BayeskitError("the file is empty; choose another one.")


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def while_connected(request: Request, work: Awaitable[Any]) -> Any:
    """Return what some work gives; when the client leaves, the work is cancelled."""
    task, watch = asyncio.ensure_future(work), asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise GoneError
    finally:
        watch.cancel()
        if not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def lines(events: AsyncIterator[dict[str, Any]], where: str, folder: Path) -> Response:
    """Return events as lines of JSON, as they come; the work ends when the client leaves."""

    async def body() -> AsyncIterator[bytes]:
        try:
            async for event in events:
                yield json.dumps(event, ensure_ascii=False).encode() + b"\n"
        except (BayeskitError, ValueError, OSError) as error:
            yield bytes(sentence(error, where, folder).body) + b"\n"

    return StreamingResponse(body(), media_type="application/x-ndjson")
