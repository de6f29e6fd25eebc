"""The API, one entry per question: its path, its shape, and who answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bayeskit.studio.shapes import ARC, DO, EVIDENCE, MATRIX, NAMES, NUMBER, PLACES, ROW, TEXT, Shape, fields

VERSION = "/api/v1"
WHOLE: Shape = {"type": "integer"}
# The version that a change or save was asked for; an older one than the newest is refused with 409.
SEEN: dict[str, Shape] = {"version": WHOLE}
CASE: dict[str, Shape] = {"given": EVIDENCE, "do": DO}
CLASSIFIED: dict[str, Shape] = {
    "loss": {"anyOf": [MATRIX, {"type": "null"}]},
    "reject": {"anyOf": [NUMBER, {"type": "null"}]},
}
CHANGES = (
    "table", "states", "add-arc", "remove-arc", "add-variable", "remove-variable", "rename", "move", "note", "colour",
    "layout", "group",
)  # fmt: skip
ARCS: Shape = {"type": "array", "items": ARC}
GROUPS: Shape = {"type": "object", "description": "Variable → its group.", "additionalProperties": TEXT}
KINDS: Shape = {"type": "object", "additionalProperties": TEXT}


@dataclass(frozen=True)
class Endpoint:
    """One question that the API answers.

    ``task`` is what a worker does; without one, the method of the same ``name`` of the server answers.
    """

    method: str
    path: str
    name: str
    summary: str
    kind: str = ""  # of document
    body: Shape | None = None
    task: str = ""
    lane: str = "quick"
    upload: bool = False
    query: tuple[str, ...] = ()
    gives: str = "application/json"


def _ask(kind: str, name: str, summary: str, body: Shape, lane: str = "quick", task: str = "") -> Endpoint:
    folder = {"network": "networks", "classifier": "classifiers", "chain": "chains", "table": "tables"}[kind]
    return Endpoint("POST", f"/{folder}/{{id}}/{name}", name, summary, kind, body, task or name.replace("-", "_"), lane)


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint("GET", "/documents", "list_documents", "What is open."),
    Endpoint(
        "POST", "/documents", "open_document", "Open a network, a model (.bayes) or a table; the body is the file.",
        upload=True, query=("name",),
    ),
    Endpoint("GET", "/documents/{id}", "show_document", "One open document."),
    Endpoint("DELETE", "/documents/{id}", "close_document", "Close a document; one with unsaved work is refused with "
             "409 unless `discard` is true.", query=("discard",)),
    Endpoint("GET", "/examples", "list_examples", "Bundled networks and tables to try."),
    Endpoint("POST", "/examples/{name}", "open_example", "Open a bundled example."),
    _ask("network", "geometry", "Boxes and curves of the drawing, and the influence of each arc; `groups` that are "
         "`folded` are one box each, but for what is `near` some variables.",
         fields(groups=GROUPS, folded={"anyOf": [NAMES, {"type": "null"}]}, near=NAMES), "slow"),
    _ask("network", "posterior", "The distribution of every variable given evidence and actions; what changed most; "
         "which variables are independent of the target.", fields(**CASE, target=TEXT)),
    _ask("network", "clicks", "The distribution of every variable after one more state is known, for each open state.",
         fields(**CASE), "slow"),
    _ask("network", "report", "The report of the network as one page, `html`.", fields(**CASE, target=TEXT), "slow"),
    Endpoint("POST", "/networks/{id}/case", "case", "A row of an open table as evidence; the first is 1.", "network",
             fields({"table": TEXT, "number": WHOLE})),
    _ask("network", "explanation", "The most probable states of all variables together (MPE).", fields(**CASE), "slow"),
    _ask("network", "conflict", "How far pieces of evidence contradict each other.", fields(**CASE), "slow"),
    _ask("network", "questions", "Which variable to ask about next, for a target.", fields({"target": TEXT}, **CASE),
         "slow"),
    _ask("network", "sensitivity", "The numbers that a target is most sensitive to, for a tornado.",
         fields({"target": TEXT}, **CASE), "slow"),
    _ask("network", "separation", "Whether two variables are d-separated, and why.",
         fields({"x": TEXT, "y": TEXT}, given=NAMES, do=DO)),
    _ask("network", "table", "The conditional table of a variable.", fields({"variable": TEXT})),
    Endpoint("POST", "/networks/{id}/change", "change", "Change a table, states, an arc, a variable, or how it is "
             "drawn; can be undone. A stale version is refused with what was `touched` meanwhile, and whether this "
             "change `merges`: it may then be sent again for the `newest` version.", "network", fields(
                 {**SEEN, "change": {"type": "string", "enum": list(CHANGES)}},
                 variable=TEXT, arc=ARC, rows=MATRIX, states=NAMES, sources=NAMES, name=TEXT, places=PLACES, note=TEXT,
                 colour=TEXT, group=TEXT, variables=NAMES)),
    Endpoint("POST", "/networks/{id}/undo", "undo", "Undo the last change.", "network", fields(SEEN)),
    Endpoint("POST", "/networks/{id}/redo", "redo", "Redo a change that was undone.", "network", fields(SEEN)),
    Endpoint("POST", "/networks/{id}/save", "save", "Write the network to the file that the command was given; one "
             "that somebody else wrote meanwhile only with `overwrite`.", "network",
             fields(SEEN, overwrite={"type": "boolean"})),
    Endpoint("POST", "/networks/{id}/difference", "difference", "What the file on the disk has that the network here "
             "has not, table by table.", "network", fields()),
    Endpoint("POST", "/networks/{id}/take", "take", "Take the network of the file on the disk, which somebody else "
             "wrote; can be undone.", "network", fields(SEEN)),
    Endpoint("GET", "/networks/{id}/file", "network_file", "The network as a file.", "network", query=("format",),
             gives="application/octet-stream"),
    _ask("classifier", "schema", "The columns of a classifier, and its classes.", fields(), task="classifier"),
    _ask("classifier", "explain", "Posterior, decision, evidence by column, decision regions and the next question for "
         "a row.", fields({"row": ROW}, **CLASSIFIED)),
    _ask("classifier", "what-if", "The smallest change of a row that changes the decision.",
         fields({"row": ROW}, **CLASSIFIED), "slow"),
    Endpoint("POST", "/classifiers/{id}/row", "row", "A row of an open table by its number, the first is 1.",
             "classifier", fields({"table": TEXT, "number": WHOLE})),
    Endpoint("POST", "/classifiers/{id}/predictions", "predictions", "Predictions for a table; the body is the file, "
             "the answer is CSV.", "classifier", upload=True, query=("name",), gives="text/csv"),
    Endpoint("GET", "/classifiers/{id}/file", "model_file", "The classifier as a model file.", "classifier",
             gives="application/octet-stream"),
    _ask("chain", "schema", "The states of a hidden Markov model, and the columns of its rows.", fields(),
         task="chain"),
    _ask("chain", "bands", "The probability of each state at each time of pasted sequences, CSV with a header, and the "
         "most probable path.", fields({"text": {"type": "string", "maxLength": 4_000_000}}), "slow"),
    _ask("table", "columns", "The kind of each column, and why.", fields(target=TEXT, kinds=KINDS), "slow"),
    _ask("table", "problems", "What is wrong with the table, and what to do.", fields(target=TEXT, kinds=KINDS),
         "slow"),
    Endpoint("POST", "/tables/{id}/train", "train", "Compare classifiers and fit the best; the answer is a line of "
             "JSON per event, the last one has `done`. Closing the connection ends the work.", "table",
             fields({"target": TEXT}, kinds=KINDS, models=NAMES), gives="application/x-ndjson"),
    Endpoint("GET", "/tables/{id}/training", "training", "What the last training gave, as its `done`; null before.",
             "table"),
    Endpoint("GET", "/tables/{id}/report", "report", "The report of the last training.", "table", gives="text/html"),
    Endpoint("POST", "/tables/{id}/learn", "learn", "Learn a network from the table; the answer is a line of JSON per "
             "event: the `variables`, the arcs that each step `added` and `removed`, at last `done` with `why`: "
             "each arc's gain and rows, and what came next. `strength` asks for so many resamples.", "table",
             fields({"method": TEXT}, whitelist=ARCS, blacklist=ARCS,
                    ignore=NAMES, max_parents=WHOLE, bins=WHOLE, strength=WHOLE), gives="application/x-ndjson"),
)  # fmt: skip


def openapi() -> dict[str, Any]:
    """Return the API as an OpenAPI 3.1 document."""
    paths: dict[str, Any] = {}
    for each in ENDPOINTS:
        parts = [part[1:-1] for part in each.path.split("/") if part.startswith("{")]
        entry: dict[str, Any] = {
            "operationId": f"{each.kind or 'studio'}-{each.name}",
            "summary": each.summary,
            "parameters": [
                *({"name": part, "in": "path", "required": True, "schema": TEXT} for part in parts),
                *({"name": part, "in": "query", "required": part == "name", "schema": TEXT} for part in each.query),
            ],
            "responses": {
                "200": {"description": "The answer.", "content": {each.gives: {}}},
                "4XX": {
                    "description": "Where the error is, what was given, what is expected.",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
                },
            },
        }
        if each.upload:
            entry["requestBody"] = {"required": True, "content": {"application/octet-stream": {}}}
        elif each.body is not None:
            entry["requestBody"] = {"required": True, "content": {"application/json": {"schema": each.body}}}
        paths.setdefault(each.path, {})[each.method.lower()] = entry
    error = fields({"where": TEXT, "what": TEXT}, kind=TEXT)
    return {
        "openapi": "3.1.0",
        "info": {"title": "bayeskit studio", "version": "1"},
        "servers": [{"url": VERSION}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": fields({"error": error})},
        },
    }
