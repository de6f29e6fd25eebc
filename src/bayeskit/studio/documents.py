"""What is open in the studio: networks with their history, classifiers and tables, each under an id."""

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
from typing import TYPE_CHECKING, Any, Literal

from bayeskit.errors import BayeskitError, ModelFileError
from bayeskit.studio.changes import write
from bayeskit.studio.workers import Lane

if TYPE_CHECKING:
    from bayeskit.network import BayesianNetwork

DocumentKind = Literal["network", "classifier", "table"]
# More documents than these are not kept open: the one that was not used for longest is closed.
MOST_OPEN = 12
MOST_STEPS = 200  # of undo


class NotOpenError(BayeskitError):
    """A document that is not open, or is of another kind."""


class StaleError(BayeskitError):
    """A change or save of a version that is no longer the newest one."""


class ChangedFileError(BayeskitError):
    """A save to a file that somebody else has written since it was opened or saved here."""


@dataclass(frozen=True)
class Version:
    """A network in the history of a document, under a number that no other version of it has."""

    number: int
    net: BayesianNetwork


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
    saved: int = 0  # the number of the version that the file has
    made: int = 0  # versions so far
    on_disk: str | None = None  # the digest of the file as it was read or written last
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # one change or save at a time
    used: float = field(default_factory=time.monotonic)
    quick: Lane = field(default_factory=Lane)
    slow: Lane = field(default_factory=Lane)
    # The table that a classifier was trained from, and what training wrote.
    source: str | None = None
    results: dict[str, Path] = field(default_factory=dict)

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
        """Whether there is work here that the file does not have."""
        return self.kind == "network" and self.version.number != self.saved

    @property
    def subject(self) -> tuple[object, Any]:
        """The object that a worker must hold, with a key that changes when it does."""
        if self.kind == "network":
            return (self.id, self.version.number), self.net
        return (self.id, str(self.file)), self.file

    def change(self, net: BayesianNetwork) -> None:
        """Set a changed network; the redo history is cleared."""
        self.made += 1
        self.history = [*self.history[: self.place + 1][-(MOST_STEPS - 1) :], Version(self.made, net)]
        self.place = len(self.history) - 1

    def refuse_stale(self, seen: int) -> None:
        """Raise an error for a request of somebody who has not seen the newest version."""
        if seen != self.version.number:
            raise StaleError(
                f"{self.name!r} was changed meanwhile: this asks for version {seen}, and it has {self.version.number}. "
                "Look at it as it is now, and try again."
            )

    def save(self, *, overwrite: bool = False) -> None:
        """Write the network as it is now to its file; one that somebody else wrote is replaced only when told to."""
        version, target = self.version, self.file.resolve()  # a link stays a link
        on_disk = digest(target)
        if on_disk not in (None, self.on_disk) and not overwrite:
            raise ChangedFileError(
                f"{self.name!r} was written by another program since it was opened or saved here. Download this "
                "network under another name, or say that the file may be replaced."
            )
        write(version.net, target if target.suffix == self.file.suffix else self.file)
        self.on_disk, self.saved = digest(self.file), version.number

    def close(self) -> None:
        """End its workers and remove its files."""
        self.quick.close()
        self.slow.close()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def to_json(self) -> dict[str, Any]:
        """Return what a list of documents shows."""
        shown: dict[str, Any] = {"id": self.id, "kind": self.kind, "name": self.name, "source": self.source}
        if self.kind == "network":
            shown |= {
                "undo": self.place > 0,
                "redo": self.place < len(self.history) - 1,
                "changed": self.changed,
                "savable": self.savable,
                "version": self.version.number,
            }
        return shown


class Documents:
    """All open documents, in a private folder that goes with the server."""

    def __init__(self) -> None:
        self._open: dict[str, Document] = {}
        self.folder = Path(tempfile.mkdtemp(prefix="bayeskit-studio-"))

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
        on_disk = digest(path)  # before it is read: what is written in between is then seen as another's
        kind, net = recognise(path)
        document = Document(secrets.token_urlsafe(9), kind, name or path.name, path, folder, savable)
        if net is not None:
            document.history, document.on_disk = [Version(0, net)], on_disk
        return self.add(document)

    def open_network(self, net: BayesianNetwork, name: str, source: str | None = None) -> Document:
        """Open a network that has no file yet."""
        _refuse_real(net, name)
        made = Document(secrets.token_urlsafe(9), "network", name, self.folder / name, source=source)
        made.history = [Version(0, net)]
        return self.add(made)

    def add(self, document: Document) -> Document:
        """Keep a document, and close the least recently used one without unsaved changes when there are too many."""
        while len(self._open) >= MOST_OPEN:
            idle = [each for each in self._open.values() if not each.changed]
            if not idle:
                raise BayeskitError(f"{MOST_OPEN} networks with unsaved changes are open; save or close one of them.")
            self.close(min(idle, key=lambda each: each.used).id)
        self._open[document.id] = document
        return document

    def close(self, id: str) -> None:
        """Close a document."""
        self.find(id).close()
        del self._open[id]

    def close_all(self) -> None:
        """Close everything."""
        for id in list(self._open):
            self.close(id)
        shutil.rmtree(self.folder, ignore_errors=True)


def _refuse_real(net: BayesianNetwork, name: str) -> None:
    if net.real:
        raise BayeskitError(
            f"{name!r} has the real variable {net.real[0]!r}, which the studio has no view for yet; ask it with "
            "bayeskit query."
        )


def recognise(path: Path) -> tuple[DocumentKind, BayesianNetwork | None]:
    """Return what a file holds, and the network where it is one."""
    from bayeskit.network import BayesianNetwork
    from bayeskit.network.formats import is_network_file

    if path.suffix.lower() == ".bayes":
        from bayeskit.io.model_files import load_value

        model = load_value(path)
        if isinstance(model, BayesianNetwork):
            _refuse_real(model, path.name)
            return "network", model
        if not hasattr(model, "schema_"):
            raise ModelFileError(
                f"{path.name!r} holds a {type(model).__name__}, which the studio has no view for; it shows networks "
                "and classifiers of tables."
            )
        return "classifier", None
    if is_network_file(path):
        return "network", BayesianNetwork.read(path)
    from bayeskit.table.files import TableFile

    TableFile.open(path)
    return "table", None


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
