"""The sums of a long pass over files, kept beside the result, so that the next call goes on where this one ended."""

from __future__ import annotations

import io
import json
import pickle
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

from bayeskit.errors import TableError, warn_caller
from bayeskit.io.container import atomic_write

if TYPE_CHECKING:
    from bayeskit.table.scan.pieces import PieceReader

_FORMAT = "bayeskit checkpoint 1"
# Writing takes at most one part in twenty of the time.
_WORK_PER_WRITING = 20
# Work that is shorter is done again rather than kept, unless the user named a folder.
_WORTH_KEEPING = 10.0


@dataclass(frozen=True)
class Checkpoint:
    """A folder that holds the sums of each pass: what was counted so far, and of which files.

    Parameters
    ----------
    folder : path
        Made when the first sums are written, and removed by :meth:`remove` once the result is safe.
    after : float
        Seconds of work before sums are written; with 0 they are written as soon as there are any.
    say : callable
        Called with a sentence when work goes on or cannot be kept.
    """

    folder: Path
    after: float = 0.0
    say: Callable[[str], None] = warn_caller
    begun: float = field(default_factory=time.monotonic)

    def of(self, task: Any, readers: Sequence[PieceReader], shown: str) -> Kept:
        """Return where the sums of a pass are kept; passes differ by what is counted, and by files and columns."""
        pieces = [(_identity(reader), reader.columns) for reader in readers]
        return Kept(self, _digest(pickle.dumps(task)), _digest(repr(pieces).encode()), shown)

    def remove(self) -> None:
        """Remove the folder; what bayeskit did not write stays, and so does the folder then."""
        if not self.folder.is_dir():
            return
        for path in self.folder.glob("*.sums"):
            path.unlink()
        if not any(self.folder.iterdir()):
            rmtree(self.folder)


def _identity(reader: PieceReader) -> Any:
    identity = getattr(reader.piece, "identity", None)
    if identity is None:
        raise TableError(
            f"{reader.piece.name} cannot be checked for changes, so that its sums cannot be kept; a checkpoint is for "
            "files and for tables in Delta or Iceberg format."
        )
    return identity


@dataclass
class Kept:
    """The sums of one pass."""

    checkpoint: Checkpoint
    task: str  # digest of what is counted
    files: str  # digest of the files, and of the columns that are read
    shown: str
    n_units: int = 0
    written: float = 0.0  # when, and how long it took
    took: float = 0.0
    failed: bool = False

    @property
    def path(self) -> Path:
        """The file of the sums."""
        return self.checkpoint.folder / f"{self.task}-{self.files}.sums"

    def load(self, units: Sequence[Sequence[PieceReader]]) -> tuple[int, Any]:
        """Return how many units were counted before, and their sums; (0, None) to begin at the beginning."""
        self.n_units = len(units)
        self.written = time.monotonic()
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            self._say_others()
            return 0, None
        except OSError as error:
            raise TableError(f"the checkpoint '{self.path}' cannot be read: {error.strerror or error}.") from error
        n_done, total = _read(data, self.n_units)
        if not n_done:
            self.checkpoint.say(f"the checkpoint '{self.path}' is damaged; counting begins anew.")
            return 0, None
        rows = sum(reader.piece.n_rows or 0 for unit in units[:n_done] for reader in unit)
        counted = f" ({rows:,} rows)" if rows else ""
        last = units[n_done - 1][-1].piece.name
        self.checkpoint.say(f"going on after {last}: {n_done:,} of {self.n_units:,} parts were counted{counted}.")
        return n_done, total

    def _say_others(self) -> None:
        """Say it where the folder has sums of this model and other files, or of another model."""
        others = [path.stem for path in self.checkpoint.folder.glob("*.sums")]
        if any(other.startswith(f"{self.task}-") for other in others):
            self.checkpoint.say(
                f"the files of {self.shown} changed since the checkpoint '{self.checkpoint.folder}' was written: "
                "names, sizes or footers are others; counting begins anew."
            )
        elif any(other.endswith(f"-{self.files}") for other in others) and not self._is_later(others):
            self.checkpoint.say(
                f"the checkpoint '{self.checkpoint.folder}' is of another model or other options; counting begins anew."
            )

    def _is_later(self, others: Sequence[str]) -> bool:
        """Return whether the sums there are of passes of this run, after which this one comes."""
        return any((self.checkpoint.folder / f"{other}.sums") in _SEEN for other in others)

    def save(self, n_done: int, total: Any, *, interrupted: bool = False) -> None:
        """Write the sums, where enough time has passed since the last time, or the work ends."""
        now, ended = time.monotonic(), n_done == self.n_units
        worked = now - self.checkpoint.begun
        due = worked >= self.checkpoint.after and now - self.written >= _WORK_PER_WRITING * self.took
        last = (ended or interrupted) and (self.checkpoint.after == 0 or worked >= _WORTH_KEEPING)
        if self.failed or not (due or last):
            return
        try:
            self.checkpoint.folder.mkdir(parents=True, exist_ok=True)
            with atomic_write(self.path.absolute()) as target:
                target.write(_written(n_done, total, self.n_units))
        except OSError as error:
            self.failed = True
            self.checkpoint.say(
                f"the checkpoint '{self.path}' cannot be written: {error.strerror or error}; the work goes on without."
            )
            return
        _SEEN.add(self.path)
        self.written = time.monotonic()
        self.took = self.written - now
        if interrupted:
            self.checkpoint.say(f"{n_done:,} of {self.n_units:,} parts are kept in '{self.path.parent}'.")


# Sums that this process wrote or read: those of earlier passes are no reason to speak of another model.
_SEEN: set[Path] = set()


def _written(n_done: int, total: Any, n_units: int) -> bytes:
    sums = pickle.dumps(total, protocol=5)
    head = {"format": _FORMAT, "done": n_done, "of": n_units, "digest": _digest(sums)}
    return json.dumps(head).encode() + b"\n" + sums


def _read(data: bytes, n_units: int) -> tuple[int, Any]:
    """Return what was written; (0, None) where it is damaged."""
    line, _, sums = data.partition(b"\n")
    try:
        head = json.loads(line)
        if head["format"] != _FORMAT or head["of"] != n_units or head["digest"] != _digest(sums):
            return 0, None
        return int(head["done"]), _Sums(io.BytesIO(sums)).load()
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, ImportError, pickle.UnpicklingError):
        return 0, None


class _Sums(pickle.Unpickler):
    """Reads values of this library, of NumPy and of Arrow, and calls nothing else: a file must not run code."""

    _FUNCTIONS = frozenset(
        {
            ("numpy._core.multiarray", "_reconstruct"),
            ("numpy.core.multiarray", "_reconstruct"),
            ("numpy._core.multiarray", "scalar"),
            ("numpy.core.multiarray", "scalar"),
            ("numpy._core.numeric", "_frombuffer"),
            ("numpy.core.numeric", "_frombuffer"),
            ("numpy", "ndarray"),
            ("numpy", "dtype"),
            ("collections", "Counter"),
            ("collections", "OrderedDict"),
            ("builtins", "set"),
            ("builtins", "frozenset"),
            ("builtins", "slice"),
            ("datetime", "date"),
            ("datetime", "datetime"),
        }
    )

    def find_class(self, module: str, name: str) -> Any:
        """Return a class of this library, or one of the functions that rebuild arrays."""
        if (module, name) in self._FUNCTIONS or (module == "pyarrow.lib" and not name.startswith("__")):
            return super().find_class(module, name)
        if module == "bayeskit" or module.startswith("bayeskit."):
            found = super().find_class(module, name)
            if isinstance(found, type):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} has no place in a checkpoint")


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=12).hexdigest()
