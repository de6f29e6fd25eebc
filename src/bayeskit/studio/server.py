"""The studio as an ASGI application: pages, static files and the API."""

from __future__ import annotations

import asyncio
import json
import pickle
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from bayeskit.errors import BayeskitError
from bayeskit.network.formats.network_format import FORMATS
from bayeskit.studio.budget import Budget
from bayeskit.studio.bundled import EXAMPLES, example_file
from bayeskit.studio.changes import compare, write
from bayeskit.studio.documents import Document, Documents, NotOpenError, UnsavedError, digest, safe_name
from bayeskit.studio.endpoints import ENDPOINTS, VERSION, Endpoint, openapi
from bayeskit.studio.guard import App, Guard
from bayeskit.studio.journal import WORKERS
from bayeskit.studio.look import with_look
from bayeskit.studio.page import language_of, page
from bayeskit.studio.responses import (
    GoneError,
    answer,
    client_of,
    lines,
    read_body,
    save_body,
    sentence,
    while_connected,
    with_defaults,
)
from bayeskit.studio.workers import Lane, prepare_workers
from bayeskit.workflow.report.style import LOOK

if TYPE_CHECKING:
    from bayeskit.network import BayesianNetwork

STATIC = Path(__file__).parent / "static"
MAX_UPLOAD = 256 << 20
KEEPS_ALL = ("bif", "xmlbif", "net", "bayes")  # formats that hold names and numbers: a download is then a copy
# A report holds its own style and no script; it is shown apart from the page that it came from.
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox"


class Studio:
    """The open documents and what can be asked of them."""

    def __init__(self, max_upload: int = MAX_UPLOAD, *, recover: bool = False, memory: int | None = None) -> None:
        self.documents = Documents(recover=recover, budget=Budget(memory))
        self.max_upload = max_upload

    def app(self, token: str, hosts: set[str], cookie: str = "bayeskit_studio") -> App:
        """Return the application behind its guard."""

        @asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            kinds = {each.kind for each in self.documents}
            note = self.documents.folder / WORKERS
            prepared = asyncio.create_task(asyncio.to_thread(prepare_workers, note, kinds == {"network"}))
            warm = asyncio.create_task(self._warm(prepared))
            yield
            warm.cancel()
            await prepared

        routes = [
            Route("/", self.show_page),
            Route("/look.css", self.look),
            Route(f"{VERSION}/openapi.json", self.describe),
            *(Route(VERSION + each.path, self._route(each), methods=[each.method]) for each in ENDPOINTS),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]
        app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={404: _no_such_place, 405: _no_such_place})
        return Guard(app, token, hosts, cookie)

    async def _warm(self, prepared: asyncio.Task[None]) -> None:
        """Ask the first questions about the newest network, so that the page finds its workers ready."""
        await asyncio.shield(prepared)
        newest = next((each for each in reversed(list(self.documents)) if each.kind == "network"), None)
        if newest is not None:
            first = newest.quick.ask("posterior", newest.subject, {"given": {}, "do": {}}, "quick")
            drawing = newest.slow.ask("geometry", newest.subject, {}, "slow")
            await asyncio.gather(first, drawing, return_exceptions=True)

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
        work = lane.ask(each.task, document.subject, body, each.lane, client_of(request))
        return answer(await while_connected(request, work))

    async def list_documents(self, request: Request, document: None, body: Any) -> Response:
        """List what is open."""
        return answer([each.to_json() for each in self.documents])

    async def show_document(self, request: Request, document: Document, body: Any) -> Response:
        """Show one document."""
        return answer(document.to_json())

    async def close_document(self, request: Request, document: Document, body: Any) -> Response:
        """Close a document; one with work that no file has only with ``discard``."""
        if document.changed and request.query_params.get("discard") != "true":
            raise UnsavedError(f"{document.name!r} has work that no file has; save or download it, or discard it.")
        self.documents.close(document.id)
        return answer({"closed": document.id})

    async def open_document(self, request: Request, document: None, body: Any) -> Response:
        """Open an uploaded file; what is left of one that cannot be opened is removed."""
        path, name = await self._receive(request)
        try:
            kind, net, on_disk = await self._read(request, path)
            made = self.documents.opened(path, kind, net, on_disk, name=name, folder=path.parent)
        except BaseException:
            shutil.rmtree(path.parent, ignore_errors=True)
            raise
        return answer(made.to_json())

    async def _read(self, request: Request, path: Path) -> tuple[Any, BayesianNetwork | None, str | None]:
        """Read a file in a worker of its own; return its kind, its network and its digest."""
        on_disk = await asyncio.to_thread(digest, path)  # before it is read: what is written in between is another's
        lane = Lane(self.documents.budget)
        try:
            work = lane.ask("open", (str(path), path), {}, "open", client_of(request))
            kind, net = pickle.loads(await while_connected(request, work))  # from our own worker
            return kind, net, on_disk
        finally:
            lane.close()

    async def _receive(self, request: Request) -> tuple[Path, str]:
        length = request.headers.get("content-length", "")
        name = safe_name(request.query_params.get("name", ""))
        if length.isdigit() and int(length) > self.max_upload:
            from bayeskit.studio.responses import TooMuchError

            raise TooMuchError(f"{name!r} has {int(length) >> 20} MiB; at most {self.max_upload >> 20} MiB are taken.")
        path = self.documents.new_folder() / name
        try:
            await save_body(request, path, self.max_upload)
        except BaseException:
            shutil.rmtree(path.parent, ignore_errors=True)
            raise
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

    @asynccontextmanager
    async def _newest(self, document: Document, body: dict[str, Any]) -> AsyncIterator[None]:
        """Hold a document while its newest version, which the client has seen, is changed or saved."""
        async with document.turn:
            document.refuse_stale(body["version"], body)
            yield

    async def change(self, request: Request, document: Document, body: dict[str, Any]) -> Response:
        """Change a network."""
        async with self._newest(document, body):
            await asyncio.to_thread(document.change, body)
        return answer(document.to_json())

    async def undo(self, request: Request, document: Document, body: dict[str, Any]) -> Response:
        """Take back a change."""
        async with self._newest(document, body):
            await asyncio.to_thread(document.step, -1)
        return answer(document.to_json())

    async def redo(self, request: Request, document: Document, body: dict[str, Any]) -> Response:
        """Make a change again."""
        async with self._newest(document, body):
            await asyncio.to_thread(document.step, 1)
        return answer(document.to_json())

    async def difference(self, request: Request, document: Document, body: Any) -> Response:
        """Compare a network with its file."""
        theirs, _ = await self._on_disk(request, document)
        return answer(compare(document.net, theirs))

    async def take(self, request: Request, document: Document, body: dict[str, Any]) -> Response:
        """Take the network that somebody else wrote to the file."""
        async with self._newest(document, body):
            theirs, on_disk = await self._on_disk(request, document)
            await asyncio.to_thread(document.replace, theirs)
            document.on_disk = on_disk
            document.keep(document.version.number)
        return answer(document.to_json())

    async def _on_disk(self, request: Request, document: Document) -> tuple[BayesianNetwork, str | None]:
        if not document.savable:
            raise BayeskitError(f"{document.name!r} was not opened from a file of this machine.")
        kind, net, on_disk = await self._read(request, document.file)
        if net is None:
            raise BayeskitError(f"{document.name!r} holds a {kind} now, not a network.")
        return net, on_disk

    async def save(self, request: Request, document: Document, body: dict[str, Any]) -> Response:
        """Write a network to the file that the command was given, and to no other."""
        if not document.savable:
            raise BayeskitError(f"{document.name!r} was not opened from a file of this machine; download it instead.")
        async with self._newest(document, body):
            await asyncio.to_thread(document.save, overwrite=body.get("overwrite", False))
        return answer(document.to_json())

    async def network_file(self, request: Request, document: Document, body: Any) -> Response:
        """Return a network as a file."""
        wanted = request.query_params.get("format", "bif")
        extensions = {name: form.extensions[0] for name, form in FORMATS.classes.items()} | {"bayes": ".bayes"}
        if wanted not in extensions:
            raise BayeskitError(f"format must be one of {', '.join(extensions)}; got {wanted[:40]!r}.")
        stem = safe_name(document.name).split(".")[0] or "network"
        path = self.documents.new_folder() / (stem + extensions[wanted])
        version = document.version
        await asyncio.to_thread(write, with_look(version.net, version.draft.look), path)
        if not document.savable and wanted in KEEPS_ALL:
            document.keep(version.number)
        return FileResponse(path, filename=path.name, media_type="application/octet-stream")

    async def case(self, request: Request, document: Document, body: dict[str, Any]) -> Response:
        """Return a row of a table as evidence for a network."""
        table = self.documents.find(body["table"], "table")
        arguments = {"file": str(table.file), "number": body["number"]}
        work = document.slow.ask("case", document.subject, arguments, "slow", client_of(request))
        return answer(await while_connected(request, work))

    async def row(self, request: Request, document: Document, body: dict[str, Any]) -> Response:
        """Return a row of a table in terms of the classifier."""
        table = self.documents.find(body["table"], "table")
        arguments = {"file": str(table.file), "number": max(body["number"], 1)}
        return answer(
            await while_connected(
                request, document.slow.ask("row", document.subject, arguments, "slow", client_of(request))
            )
        )

    async def predictions(self, request: Request, document: Document, body: Any) -> Response:
        """Return predictions for an uploaded table."""
        path, name = await self._receive(request)
        output = path.parent / "predictions.csv"
        arguments = {"file": str(path), "output": str(output)}
        work = document.slow.ask("predictions", document.subject, arguments, "long", client_of(request))
        try:
            await while_connected(request, work)
        except BaseException:
            shutil.rmtree(path.parent, ignore_errors=True)
            raise
        stem = Path(name).stem.split(".")[0]
        return FileResponse(output, filename=f"{stem}-predicted.csv", media_type="text/csv; charset=utf-8")

    async def model_file(self, request: Request, document: Document, body: Any) -> Response:
        """Return a classifier as a model file."""
        stem = safe_name(document.name).removesuffix(".bayes")
        document.saved = 0
        return FileResponse(document.file, filename=f"{stem}.bayes", media_type="application/octet-stream")

    async def train(self, request: Request, document: Document, body: dict[str, Any]) -> Response:
        """Train from a table, event by event; at the end the model is open as a classifier."""
        folder = self.documents.new_folder()

        async def events() -> AsyncIterator[dict[str, Any]]:
            arguments = {**body, "output": str(folder)}
            work = document.slow.follow("train", document.subject, arguments, "long", client_of(request))
            async for kind, value in work:
                if kind == "event":
                    yield value
                else:
                    name = f"{safe_name(body['target'])}.bayes"
                    made = self.documents.opened(folder / "model.bayes", "classifier", None, None, name=name)
                    made.source, made.saved = document.id, -1
                    done = {**json.loads(value), **body, "classifier": made.to_json()}
                    document.results = {"report": folder / "report.html", "done": done}
                    yield {"done": done}

        return lines(events(), "POST /tables/{id}/train", self.documents.folder)

    async def training(self, request: Request, document: Document, body: Any) -> Response:
        """Return what the last training gave."""
        return answer(document.results.get("done"))

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
            work = document.slow.follow("learn", document.subject, body, "long", client_of(request))
            async for kind, value in work:
                if kind == "event":
                    yield value
                else:
                    net, score, reason, why = pickle.loads(value)  # from our own worker
                    name = f"{Path(document.name).stem.split('.')[0]}-learned.bif"
                    made = self.documents.open_network(net, name, document.id)
                    done = {"score": score, "reason": reason, "structure": net.arcs, "why": why}
                    done["network"] = made.to_json()
                    yield {"done": done}

        return lines(events(), "POST /tables/{id}/learn", self.documents.folder)


async def _no_such_place(request: Request, error: Any) -> Response:
    what = f"there is no {request.method} {request.url.path[:200]}; the API is described in {VERSION}/openapi.json."
    return answer({"error": {"where": "address", "what": what}}, error.status_code)
