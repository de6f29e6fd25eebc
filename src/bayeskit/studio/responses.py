"""The responses of the server: JSON, error messages, and work that is cancelled when the client leaves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from bayeskit.errors import BayeskitError
from bayeskit.studio.documents import NotOpenError
from bayeskit.studio.endpoints import Endpoint
from bayeskit.studio.shapes import Shape, check
from bayeskit.studio.workers import WorkError

MOST_JSON = 8 << 20


class TooMuchError(BayeskitError):
    """A request with too many bytes."""


class GoneError(Exception):
    """The client has left."""


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
    status = 422
    if isinstance(error, NotOpenError):
        status = 404
    elif isinstance(error, TooMuchError):
        status = 413
    kind = error.kind if isinstance(error, WorkError) else type(error).__name__
    # The path of an upload on the server is not shown.
    text = " ".join(str(error).split())
    parts = text.split(str(folder))
    text = parts[0] + "".join(part.split("/", 2)[-1] if part.startswith("/") else part for part in parts[1:])
    return answer({"error": {"where": where, "what": text, "kind": kind}}, status)


async def read_body(request: Request, shape: Shape) -> dict[str, Any]:
    """Read a JSON body and check its shape."""
    body = bytearray()
    async for piece in request.stream():
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
        async for piece in request.stream():
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
