"""What is open in the studio: networks with their history, classifiers, chains and tables, each under an id."""

from __future__ import annotations

import asyncio
import hashlib
import re
import secrets
import shutil
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from bayeskit.errors import BayeskitError, ModelFileError
from bayeskit.studio.budget import Budget
from bayeskit.studio.changes import Draft, changed, differences, touches, write
from bayeskit.studio.journal import JOURNAL, Folder, Journal, restored
from bayeskit.studio.look import look_of, read_look, with_look, write_look
from bayeskit.studio.time_slices import is_sliced
from bayeskit.studio.workers import Lane

if TYPE_CHECKING:
    from bayeskit.network import BayesianNetwork

DocumentKind = Literal["network", "classifier", "chain", "table"]
# More documents than these are not kept open: the one that was not used for longest is closed.
MOST_OPEN = 12
MOST_STEPS = 200  # of undo


class NotOpenError(BayeskitError):
    """A document that is not open, or is of another kind."""


class StaleError(BayeskitError):
    """A change or save of a version that is no longer the newest one; ``details`` say what happened meanwhile."""

    details: dict[str, Any]


class UnsavedError(BayeskitError):
    """Closing a document with work that no file has."""


class ChangedFileError(BayeskitError):
    """A save to a file that somebody else has written since it was opened or saved here."""


@dataclass(frozen=True)
class Version:
    """A network and how it is drawn in the history of a document, under a number that no other version of it has."""

    number: int
    draft: Draft
    network: int = 0  # the version that its network came with: how it is drawn changes without it

    @property
    def net(self) -> BayesianNetwork:
        """The network."""
        return self.draft.net


@dataclass
class Document:
    """One open document.

    ``file`` is where its bytes are: the uploaded copy, or the file that the command was given, which is written only
    when the user saves.
    """

    id: str
    kind: DocumentKind
    name: str
    file: Path
    folder: Path | None = None
    savable: bool = False
    history: list[Version] = field(default_factory=list)
    place: int = 0
    saved: int = 0  # the number of the version that the file has; -1: none, it was made here
    made: int = 0  # versions so far
    on_disk: str | None = None  # the digest of the file as it was read or written last
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # one change or save at a time
    used: float = field(default_factory=time.monotonic)
    quick: Lane = field(default_factory=Lane)
    slow: Lane = field(default_factory=Lane)
    # The table that a classifier was trained from, and what training wrote.
    source: str | None = None
    results: dict[str, Any] = field(default_factory=dict)
    journal: Journal | None = None
    recovered: bool = False

    def with_workers(self, budget: Budget) -> Document:
        """Give it its two lanes, which share the studio's memory."""
        self.quick, self.slow = Lane(budget), Lane(budget)
        return self

    @property
    def version(self) -> Version:
        """The network as it is now, and its number."""
        return self.history[self.place]

    @property
    def net(self) -> BayesianNetwork:
        """The network as it is now."""
        return self.version.net

    @property
    def changed(self) -> bool:
        """Whether there is work here that no file has."""
        return (self.version.number if self.kind == "network" else 0) != self.saved

    @property
    def subject(self) -> tuple[object, Any]:
        """The object that a worker must hold, with a key that changes when it does."""
        if self.kind == "network":
            return (self.id, self.version.network), self.net
        return (self.id, str(self.file)), self.file

    def _note(self, step: dict[str, Any]) -> None:
        if self.journal is not None:
            self.journal.add(self, step)

    def _append(self, draft: Draft) -> None:
        """Set a changed network; the redo history is cleared."""
        self.made += 1
        network = self.version.network if draft.net is self.net else self.made
        self.history = [*self.history[: self.place + 1][-(MOST_STEPS - 1) :], Version(self.made, draft, network)]
        self.place = len(self.history) - 1

    def change(self, body: dict[str, Any]) -> None:
        """Make a change of :mod:`changes`."""
        step = {name: value for name, value in body.items() if name != "version"}
        draft = changed(self.version.draft, step)
        self._note({"change": step})
        self._append(draft)

    def replace(self, net: BayesianNetwork) -> None:
        """Take another network, such as the one that somebody else wrote to the file, as a change."""
        if self.journal is not None:
            if not self.journal.folder.is_dir():
                self.journal.begin(self)
            net.save(self.journal.folder / f"{self.made + 1}.bayes")
        self._note({"replace": f"{self.made + 1}.bayes"})
        self._append(self._taken(net))

    def _taken(self, net: BayesianNetwork) -> Draft:
        """Return another network, drawn as this one where its own file does not say how."""
        look = {name: dict(each) for name, each in self.version.draft.look.items() if name in net}
        for name, each in look_of(net).items():
            look.setdefault(name, {}).update(each)
        return Draft(net, look)

    def step(self, by: int) -> None:
        """Undo (-1) or redo (1)."""
        place = min(max(self.place + by, 0), len(self.history) - 1)
        if place != self.place:
            self._note({"step": by})
            self.place = place

    def replay(self, step: dict[str, Any]) -> None:
        """Make a step of a journal again."""
        if "change" in step:
            self._append(changed(self.version.draft, step["change"]))
        elif "replace" in step:
            from bayeskit.io.model_files import load_value

            assert self.journal is not None
            net: Any = load_value(self.journal.folder / step["replace"])
            self._append(self._taken(net))
        elif "step" in step:
            self.place += step["step"]
        else:
            self.saved, self.on_disk = step["saved"], step["on_disk"]

    def refuse_stale(self, seen: int, body: dict[str, Any] | None = None) -> None:
        """Raise an error for a request of somebody who has not seen the newest version.

        It says what was touched meanwhile, and whether the change in ``body`` touches something else, so that it may be
        made on top of the newest version.
        """
        newest = self.version
        if seen == newest.number:
            return
        error = StaleError(
            f"{self.name!r} was changed meanwhile: this asks for version {seen}, and it has {newest.number}. "
            "Look at it as it is now, and try again."
        )
        base = next((each for each in self.history if each.number == seen), None)
        touched = differences(base.draft, newest.draft) if base is not None else set(newest.net.names)
        merges = body is not None and "change" in body and base is not None and not touched & touches(base.net, body)
        error.details = {"newest": newest.number, "touched": sorted(touched), "merges": merges}
        raise error

    def save(self, *, overwrite: bool = False) -> None:
        """Write the network as it is now to its file; one that somebody else wrote is replaced only when told to."""
        version, target = self.version, self.file.resolve()  # a link stays a link
        on_disk = digest(target)
        if on_disk not in (None, self.on_disk) and not overwrite:
            raise ChangedFileError(
                f"{self.name!r} was written by another program since it was opened or saved here. Download this "
                "network under another name, or say that the file may be replaced."
            )
        drawn = with_look(version.net, version.draft.look)
        write(drawn, target, self.file)
        write_look(self.file, look_of(read_network(target, self.file)) if drawn.properties else {}, version.draft.look)
        self.on_disk = digest(target)
        self.keep(version.number)

    def keep(self, number: int) -> None:
        """Note that a version is in a file now."""
        self.saved = number
        self._note({"saved": number, "on_disk": self.on_disk})

    def close(self, *, keep: bool = False) -> None:
        """End its workers and remove its files; ``keep`` leaves the journal."""
        self.quick.close()
        self.slow.close()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
        if self.journal is not None and not keep:
            self.journal.remove()

    def to_json(self) -> dict[str, Any]:
        """Return what a list of documents shows."""
        shown: dict[str, Any] = {"id": self.id, "kind": self.kind, "name": self.name, "source": self.source}
        shown["changed"] = self.changed
        if self.kind == "network":
            shown |= {
                "undo": self.place > 0,
                "redo": self.place < len(self.history) - 1,
                "savable": self.savable,
                "version": self.version.number,
                "look": self.version.draft.look,
                "recovered": self.recovered,
            }
        return shown


class Documents:
    """All open documents, in a private folder that goes with the server.

    With ``recover``, what earlier servers left unsaved is opened again, and what this one leaves unsaved is kept.
    """

    def __init__(self, *, recover: bool = False, parent: Path | None = None, budget: Budget | None = None) -> None:
        self._open: dict[str, Document] = {}
        self.budget = budget or Budget()
        self._folder = Folder(parent)
        self.folder = self._folder.path
        self.recover = recover
        if recover:
            self._recover()

    def _recover(self) -> None:
        for folder in self._folder.take_over():
            try:
                document = restored(folder)
            except (BayeskitError, OSError, ValueError, KeyError, TypeError):
                continue  # a journal that cannot be read stays where it is, with its network
            if document is None:
                shutil.rmtree(folder, ignore_errors=True)
            else:
                self._open[document.id] = document.with_workers(self.budget)

    def __iter__(self) -> Any:
        return iter(self._open.values())

    def find(self, id: str, kind: DocumentKind | None = None) -> Document:
        """Return an open document; one of another kind is refused by name."""
        document = self._open.get(id)
        if document is None:
            raise NotOpenError("this document is not open any more; open the file again.")
        if kind is not None and document.kind != kind:
            raise NotOpenError(f"{document.name!r} is a {document.kind}, not a {kind}.")
        document.used = time.monotonic()
        return document

    def new_folder(self) -> Path:
        """Return an empty folder for an upload."""
        return Path(tempfile.mkdtemp(dir=self.folder))

    def open(
        self, path: Path, *, name: str | None = None, folder: Path | None = None, savable: bool = False
    ) -> Document:
        """Open a file: a network, a model or a table; its extension and its bytes decide."""
        for each in self:
            if savable and each.recovered and each.savable and each.file.resolve() == path.resolve():
                document: Document = each  # with what was not saved
                return document
        on_disk = digest(path)  # before it is read: what is written in between is then seen as another's
        return self.opened(path, *recognise(path), on_disk, name=name, folder=folder, savable=savable)

    def opened(
        self, path: Path, kind: DocumentKind, net: BayesianNetwork | None, on_disk: str | None, *,
        name: str | None = None, folder: Path | None = None, savable: bool = False,
    ) -> Document:  # fmt: skip
        """Add a document of a file that was read."""
        document = Document(secrets.token_urlsafe(9), kind, name or path.name, path, folder, savable)
        if net is not None:
            document.savable = savable = savable and not is_sliced(net)  # its file holds one slice for all times
            look = read_look(path, net) if savable else look_of(net)
            document.history, document.on_disk = [Version(0, Draft(net, look))], on_disk
            document.journal = Journal(self.folder / JOURNAL / document.id)
        return self.add(document)

    def open_network(self, net: BayesianNetwork, name: str, source: str | None = None) -> Document:
        """Open a network that has no file yet."""
        made = Document(secrets.token_urlsafe(9), "network", name, self.folder / name, source=source, saved=-1)
        made.history = [Version(0, Draft(net))]
        made.journal = Journal(self.folder / JOURNAL / made.id)
        made.journal.begin(made)
        return self.add(made)

    @property
    def unsaved(self) -> list[Document]:
        """The networks with changes that no file has."""
        return [each for each in self._open.values() if each.kind == "network" and each.changed]

    def add(self, document: Document) -> Document:
        """Keep a document, and close the least recently used one without unsaved changes when there are too many."""
        while len(self._open) >= MOST_OPEN:
            idle = [each for each in self._open.values() if not each.changed]
            if not idle:
                raise BayeskitError(f"{MOST_OPEN} documents with unsaved changes are open; save or close one of them.")
            self.close(min(idle, key=lambda each: each.used).id)
        self._open[document.id] = document.with_workers(self.budget)
        return document

    def close(self, id: str) -> None:
        """Close a document."""
        self.find(id).close()
        del self._open[id]

    def close_all(self) -> None:
        """Close everything; what is not saved stays in the journal where a later server will look for it."""
        unsaved = self.unsaved if self.recover else []
        for document in list(self._open.values()):
            document.close(keep=document in unsaved)
        self._open.clear()
        left = self.recover and any((self.folder / JOURNAL).glob("*"))  # also a journal that could not be read
        self._folder.close(keep=left)


def recognise(path: Path) -> tuple[DocumentKind, BayesianNetwork | None]:
    """Return what a file holds, and the network where it is one."""
    from bayeskit.network import BayesianNetwork
    from bayeskit.network.formats import is_network_file

    if path.suffix.lower() == ".bayes":
        from bayeskit.io.model_files import load_value
        from bayeskit.sequence.dynamic_network import DynamicNetwork
        from bayeskit.sequence.hidden_markov import HiddenMarkov
        from bayeskit.studio.time_slices import in_slices

        model = load_value(path)
        if isinstance(model, BayesianNetwork):
            return "network", model
        if isinstance(model, DynamicNetwork):
            return "network", in_slices(model)
        if isinstance(model, HiddenMarkov):
            return "chain", None
        if not hasattr(model, "schema_"):
            raise ModelFileError(
                f"{path.name!r} holds a {type(model).__name__}, which the studio has no view for; it shows networks, "
                "classifiers of tables and hidden Markov models."
            )
        return "classifier", None
    if is_network_file(path):
        return "network", BayesianNetwork.read(path)
    from bayeskit.table.files import TableFile

    TableFile.open(path)
    return "table", None


def read_network(path: Path, like: Path) -> BayesianNetwork:
    """Return the network of a file, which a link with another name may stand for."""
    from bayeskit.io.model_files import load_value
    from bayeskit.network import BayesianNetwork

    if like.suffix != path.suffix:  # the name of the link says the format
        path = like
    value: Any = load_value(path) if path.suffix == ".bayes" else BayesianNetwork.read(path)
    return cast("BayesianNetwork", value)


def digest(path: Path) -> str | None:
    """Return what tells the bytes of a file from others; None where there is no file."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def safe_name(name: str) -> str:
    """Return a file name that names a file of its folder, whatever was sent.

    Examples
    --------
    >>> safe_name("../../etc/passwd"), safe_name("病人.csv"), safe_name("..")
    ('passwd', '病人.csv', 'file')
    """
    plain = re.sub(r"[^\w.() +-]", "_", name.replace("\\", "/").rsplit("/", 1)[-1])[-80:].lstrip(".")
    return plain or "file"
