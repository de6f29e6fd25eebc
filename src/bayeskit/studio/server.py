"""The studio as an ASGI application: pages, static files and the API."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from bayeskit.errors import BayeskitError
from bayeskit.network.formats.network_format import FORMATS
from bayeskit.studio import changes
from bayeskit.studio.bundled import EXAMPLES, example_file
from bayeskit.studio.documents import Document, Documents, NotOpenError, safe_name
from bayeskit.studio.endpoints import ENDPOINTS, SECONDS, VERSION, Endpoint, openapi
from bayeskit.studio.guard import App, Guard
from bayeskit.studio.page import language_of, page
from bayeskit.studio.responses import (
    GoneError,
    answer,
    lines,
    read_body,
    save_body,
    sentence,
    while_connected,
    with_defaults,
)
from bayeskit.studio.workers import prepare_workers
from bayeskit.workflow.report.style import LOOK

STATIC = Path(__file__).parent / "static"
MAX_UPLOAD = 256 << 20
# A report holds its own style and no script; it is shown apart from the page that it came from.
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox"


class Studio:
    """The open documents and what can be asked of them."""

    def __init__(self, max_upload: int = MAX_UPLOAD) -> None:
        self.documents = Documents()
        self.max_upload = max_upload

    def app(self, token: str, hosts: set[str], cookie: str = "bayeskit_studio") -> App:
        """Return the application behind its guard."""

        @asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            kinds = {each.kind for each in self.documents}
            warm = asyncio.create_task(asyncio.to_thread(prepare_workers, kinds == {"network"}))
            yield
            await warm
            self.documents.close_all()

        routes = [
            Route("/", self.show_page),
            Route("/look.css", self.look),
            Route(f"{VERSION}/openapi.json", self.describe),
            *(Route(VERSION + each.path, self._route(each), methods=[each.method]) for each in ENDPOINTS),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]
        app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={404: _no_such_place, 405: _no_such_place})
        return Guard(app, token, hosts, cookie)

    async def show_page(self, request: Request) -> Response:
        """Return the page."""
        return HTMLResponse(page(language_of(request.headers.get("accept-language", ""))))

    async def look(self, request: Request) -> Response:
        """Return the colours, which the report has too."""
        return Response(LOOK, media_type="text/css")

    async def describe(self, request: Request) -> Response:
        """Return the API as OpenAPI."""
        return answer(openapi())

    def _route(self, each: Endpoint) -> Callable[[Request], Any]:
        async def handle(request: Request) -> Response:
            where = f"{each.method} {each.path}"
            try:
                document = None
                if "id" in request.path_params:
                    document = self.documents.find(request.path_params["id"], each.kind or None)  # type: ignore[arg-type]
                body = await read_body(request, each.body) if each.body is not None else {}
                if each.task:
                    assert document is not None
                    return await self._work(request, each, document, body)
                handler = getattr(self, each.name)
                response: Response = await handler(request, document, body)
                return response
            except GoneError:
                return Response(status_code=499)
            except (BayeskitError, ValueError, TypeError, OSError, MemoryError) as error:
                return sentence(error, where, self.documents.folder)

        return handle

    async def _work(self, request: Request, each: Endpoint, document: Document, body: dict[str, Any]) -> Response:
        body = with_defaults(each, body)
        lane = document.quick if each.lane == "quick" else document.slow
        work = lane.ask(each.task, document.subject, body, SECONDS[each.lane])
        return answer(await while_connected(request, work))

    async def list_documents(self, request: Request, document: None, body: Any) -> Response:
        """List what is open."""
        return answer([each.to_json() for each in self.documents])

    async def show_document(self, request: Request, document: Document, body: Any) -> Response:
        """Show one document."""
        return answer(document.to_json())

    async def close_document(self, request: Request, document: Document, body: Any) -> Response:
        """Close a document."""
        self.documents.close(document.id)
        return answer({"closed": document.id})

    async def open_document(self, request: Request, document: None, body: Any) -> Response:
        """Open an uploaded file."""
        path, name = await self._receive(request)
        try:
            made = await asyncio.to_thread(self.documents.open, path, name=name, folder=path.parent)
        except Exception:
            path.unlink(missing_ok=True)
            raise
        return answer(made.to_json())

    async def _receive(self, request: Request) -> tuple[Path, str]:
        length = request.headers.get("content-length", "")
        name = safe_name(request.query_params.get("name", ""))
        if length.isdigit() and int(length) > self.max_upload:
            from bayeskit.studio.responses import TooMuchError

            raise TooMuchError(f"{name!r} has {int(length) >> 20} MiB; at most {self.max_upload >> 20} MiB are taken.")
        path = self.documents.new_folder() / name
        await save_body(request, path, self.max_upload)
        return path, name

    async def list_examples(self, request: Request, document: None, body: Any) -> Response:
        """List the bundled examples."""
        return answer([{"name": name, "kind": kind} for name, kind in EXAMPLES.items()])

    async def open_example(self, request: Request, document: None, body: Any) -> Response:
        """Open a bundled example."""
        name = request.path_params["name"]
        if name not in EXAMPLES:
            raise NotOpenError(f"there is no example {name[:60]!r}; there are {', '.join(EXAMPLES)}.")
        folder = self.documents.new_folder()
        path = await asyncio.to_thread(example_file, name, folder)
        return answer(self.documents.open(path, folder=folder).to_json())

    async def change(self, request: Request, document: Document, body: dict[str, Any]) -> Response:
        """Change a network."""
        document.change(await asyncio.to_thread(changes.changed, document.net, body))
        return answer(document.to_json())

    async def undo(self, request: Request, document: Document, body: Any) -> Response:
        """Take back a change."""
        document.place = max(document.place - 1, 0)
        return answer(document.to_json())

    async def redo(self, request: Request, document: Document, body: Any) -> Response:
        """Make a change again."""
        document.place = min(document.place + 1, len(document.history) - 1)
        return answer(document.to_json())

    async def save(self, request: Request, document: Document, body: Any) -> Response:
        """Write a network to the file that the command was given, and to no other."""
        if not document.savable:
            raise BayeskitError(f"{document.name!r} was not opened from a file of this machine; download it instead.")
        await asyncio.to_thread(changes.write, document.net, document.file)
        document.saved = document.place
        return answer(document.to_json())

    async def network_file(self, request: Request, document: Document, body: Any) -> Response:
        """Return a network as a file."""
        wanted = request.query_params.get("format", "bif")
        extensions = {name: form.extensions[0] for name, form in FORMATS.classes.items()} | {"bayes": ".bayes"}
        if wanted not in extensions:
            raise BayeskitError(f"format must be one of {', '.join(extensions)}; got {wanted[:40]!r}.")
        stem = safe_name(document.name).split(".")[0] or "network"
        path = self.documents.new_folder() / (stem + extensions[wanted])
        await asyncio.to_thread(changes.write, document.net, path)
        return FileResponse(path, filename=path.name, media_type="application/octet-stream")

    async def row(self, request: Request, document: Document, body: dict[str, Any]) -> Response:
        """Return a row of a table in terms of the classifier."""
        table = self.documents.find(body["table"], "table")
        arguments = {"file": str(table.file), "number": max(body["number"], 1)}
        return answer(
            await while_connected(request, document.slow.ask("row", document.subject, arguments, SECONDS["slow"]))
        )

    async def predictions(self, request: Request, document: Document, body: Any) -> Response:
        """Return predictions for an uploaded table."""
        path, name = await self._receive(request)
        output = path.parent / "predictions.csv"
        arguments = {"file": str(path), "output": str(output)}
        work = document.slow.ask("predictions", document.subject, arguments, SECONDS["long"])
        await while_connected(request, work)
        stem = Path(name).stem.split(".")[0]
        return FileResponse(output, filename=f"{stem}-predicted.csv", media_type="text/csv; charset=utf-8")

    async def model_file(self, request: Request, document: Document, body: Any) -> Response:
        """Return a classifier as a model file."""
        stem = safe_name(document.name).removesuffix(".bayes")
        return FileResponse(document.file, filename=f"{stem}.bayes", media_type="application/octet-stream")

    async def train(self, request: Request, document: Document, body: dict[str, Any]) -> Response:
        """Train from a table, event by event; at the end the model is open as a classifier."""
        folder = self.documents.new_folder()

        async def events() -> AsyncIterator[dict[str, Any]]:
            arguments = {**body, "output": str(folder)}
            async for kind, value in document.slow.follow("train", document.subject, arguments, SECONDS["long"]):
                if kind == "event":
                    yield value
                else:
                    document.results = {"report": folder / "report.html", "model": folder / "model.bayes"}
                    made = self.documents.open(folder / "model.bayes", name=f"{safe_name(body['target'])}.bayes")
                    made.source = document.id
                    yield {"done": {**_read(value), "classifier": made.to_json()}}

        return lines(events(), "POST /tables/{id}/train", self.documents.folder)

    async def report(self, request: Request, document: Document, body: Any) -> Response:
        """Return the report of the last training."""
        if "report" not in document.results:
            raise NotOpenError(f"no classifier was trained from {document.name!r} yet.")
        disposition = "attachment" if request.query_params.get("download") else "inline"
        return FileResponse(
            document.results["report"], filename=f"{Path(document.name).stem}-report.html", media_type="text/html",
            content_disposition_type=disposition, headers={"content-security-policy": REPORT_POLICY},
        )  # fmt: skip

    async def learn(self, request: Request, document: Document, body: dict[str, Any]) -> Response:
        """Learn a network from a table, step by step; at the end it is open."""

        async def events() -> AsyncIterator[dict[str, Any]]:
            async for kind, value in document.slow.follow("learn", document.subject, body, SECONDS["long"]):
                if kind == "event":
                    yield value
                else:
                    net, score, reason = pickle.loads(value)  # from our own worker
                    name = f"{Path(document.name).stem.split('.')[0]}-learned.bif"
                    made = self.documents.open_network(net, name, document.id)
                    done = {"score": score, "reason": reason, "structure": net.arcs, "network": made.to_json()}
                    yield {"done": done}

        return lines(events(), "POST /tables/{id}/learn", self.documents.folder)


def _read(value: bytes) -> dict[str, Any]:
    import json

    events: dict[str, Any] = json.loads(value)
    return events


async def _no_such_place(request: Request, error: Any) -> Response:
    what = f"there is no {request.method} {request.url.path[:200]}; the API is described in {VERSION}/openapi.json."
    return answer({"error": {"where": "address", "what": what}}, error.status_code)
