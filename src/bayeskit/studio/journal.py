"""The journal: what is not saved comes back after the server was killed.

The folder of a server is locked while it lives. In it, each document that was changed has a folder with the network as
it was opened and a line for each change, undo, redo and save since. A server that starts takes over the folders that
no living server holds: it makes the changes again, and removes the rest.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayeskit.studio.documents import Document

PREFIX = "bayeskit-studio-"
JOURNAL = "journal"
ABANDONED = 3600  # seconds after which a folder without a lock belongs to nobody
WORKERS = "workers"  # a file with the name of the folder that multiprocessing uses


def _hold(file: IO[Any]) -> bool:
    """Lock a file until it is closed; whether nobody else holds it."""
    try:
        import fcntl
    except ImportError:  # without locks every folder seems to be in use, and is left alone
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


class Folder:
    """The private folder of a server, held while it lives."""

    def __init__(self, parent: Path | None = None) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        # Held before it has its name: whoever sees the lock sees it locked.
        self._lock = (self.path / "new").open("w")
        _hold(self._lock)
        (self.path / "new").rename(self.path / "lock")

    def close(self, *, keep: bool = False) -> None:
        """Remove the folder; with ``keep``, all but the journals."""
        for each in self.path.iterdir() if self.path.is_dir() else ():
            if keep and each.name in (JOURNAL, "lock"):
                continue
            shutil.rmtree(each, ignore_errors=True) if each.is_dir() else each.unlink(missing_ok=True)
        if not keep:
            shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()

    def take_over(self) -> list[Path]:
        """Move the journals of servers that are gone here, and remove what else they left."""
        moved = []
        for folder in sorted(self.path.parent.glob(f"{PREFIX}*")):
            with suppress(OSError):
                moved += self._take(folder)
        return moved

    def _take(self, folder: Path) -> list[Path]:
        # A folder that somebody else made could name any file to be written: only our own are read.
        state = folder.lstat()
        if folder == self.path or folder.is_symlink() or state.st_uid != os.getuid() or state.st_mode & 0o022:
            return []
        moved = []
        if not (folder / "lock").exists():
            if time.time() - state.st_mtime > ABANDONED:  # killed while it began; a younger one may be beginning now
                shutil.rmtree(folder, ignore_errors=True)
            return []
        with (folder / "lock").open("r+") as lock:
            if not _hold(lock):
                return []
            for journal in sorted((folder / JOURNAL).glob("*")) if (folder / JOURNAL).is_dir() else ():
                target = self.path / JOURNAL / journal.name
                target.parent.mkdir(exist_ok=True)
                journal.rename(target)
                moved.append(target)
            _remove_workers(folder)
            shutil.rmtree(folder, ignore_errors=True)
        return moved


def _remove_workers(folder: Path) -> None:
    """Remove the folder in which the workers of a server that was killed had their socket."""
    with suppress(OSError):
        sockets = Path((folder / WORKERS).read_text(encoding="utf-8"))
        if sockets.name.startswith("pymp-") and sockets.lstat().st_uid == os.getuid():
            shutil.rmtree(sockets, ignore_errors=True)


class Journal:
    """The journal of one document: its first line says what it is, each other one what was done."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def _steps(self) -> Path:
        return self.folder / "steps.jsonl"

    def begin(self, document: Document) -> None:
        """Write the document as it is before its first change."""
        first = document.history[0]
        self.folder.mkdir(parents=True, exist_ok=True)
        first.net.save(self.folder / "base.bayes")
        about = {
            "id": document.id, "name": document.name, "file": str(document.file), "savable": document.savable,
            "source": document.source, "saved": document.saved, "on_disk": document.on_disk, "look": first.draft.look,
            "number": first.number,
        }  # fmt: skip
        new = self.folder / "new"
        new.write_text(json.dumps(about) + "\n", encoding="utf-8")
        new.rename(self._steps)

    def add(self, document: Document, step: dict[str, Any]) -> None:
        """Add a step, before anybody is told that it was made."""
        if not self._steps.exists():
            self.begin(document)
        with self._steps.open("ab") as file:
            file.write(json.dumps(step).encode() + b"\n")

    def steps(self) -> Iterator[dict[str, Any]]:
        """Return the lines; one that was not written to its end was told to nobody and is left out."""
        for line in self._steps.read_bytes().splitlines(keepends=True):
            if line.endswith(b"\n"):
                yield json.loads(line)

    def remove(self) -> None:
        """Remove the journal."""
        shutil.rmtree(self.folder, ignore_errors=True)


def restored(folder: Path) -> Document | None:
    """Return the document of a journal with its changes made again; None where all of it had been saved."""
    from bayeskit.io.model_files import load_value
    from bayeskit.studio.changes import Draft
    from bayeskit.studio.documents import Document, Version

    journal = Journal(folder)
    steps = journal.steps()
    about = next(steps, None)
    if about is None:
        return None
    document = Document(about["id"], "network", about["name"], Path(about["file"]), savable=about["savable"])
    document.source, document.saved, document.on_disk = about["source"], about["saved"], about["on_disk"]
    base: Any = load_value(folder / "base.bayes")
    document.history, document.made = [Version(about["number"], Draft(base, about["look"]))], about["number"]
    document.journal, document.recovered = journal, True
    for step in steps:
        document.replay(step)
    return document if document.changed else None
