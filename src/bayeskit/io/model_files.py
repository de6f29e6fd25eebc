"""Save a model to a file and load it again, with the same numbers to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import ModelFileError
from bayeskit.io import container
from bayeskit.io.overwriting import refuse_overwriting
from bayeskit.io.registry import MODELS, STATISTICS, estimator_named, model_class

# The field of a model file for what is known beside the model.
NOTES = "notes"


class Stored(Protocol):
    """A statistic or a network that says what goes into its file, and comes back from it."""

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what goes into JSON and what goes into arrays; numbers that must stay exact go into arrays."""
        ...

    @classmethod
    def from_parts(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Build it again; ``meta`` and ``arrays`` are well formed but their contents are untrusted."""
        ...


def save(model: Any, path: str | PathLike[str], notes: dict[str, Any] | None = None, *, force: bool = False) -> None:
    """Write a fitted model, or counts, to a file; an old file at ``path`` stays whole until the new one is complete.

    ``notes``, in terms of JSON, are kept beside the model for :func:`load_with_notes`. A file that bayeskit did not
    write is replaced only with ``force``.
    """
    refuse_overwriting(Path(path), (), force=force)
    # A class may be stored under the name of the one that makes it.
    name = getattr(type(model), "_stored_as", type(model).__name__)
    if name not in {**MODELS, **STATISTICS} or type(model).__dict__.get("_plain", type(model)) is not model_class(name):
        raise ModelFileError(
            f"a model file holds one of {', '.join(sorted(MODELS))}; got {type(model).__module__}.{name}. "
            "A class of your own can be kept with pickle."
        )
    meta, arrays = model._to_parts() if hasattr(model, "_to_parts") else model.to_parts()
    container.write(path, name, {**meta, NOTES: notes} if notes else meta, arrays)


def load(path: str | PathLike[str]) -> Any:
    """Load a model that ``save`` wrote, as an estimator; the file may be untrusted, since no code in it is ever run.

    Parameters
    ----------
    path : str or path
        A ``.bayes`` file.

    Raises
    ------
    ModelFileError
        If the file is cut, damaged, of another kind, or from another version of bayeskit.

    Examples
    --------
    >>> import bayeskit, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tennis.bayes"
    >>> _ = path.write_text("no model")
    >>> bayeskit.load(path)
    Traceback (most recent call last):
    ...
    bayeskit.errors.ModelFileError: 'tennis.bayes' is not a model file: it is not a complete zip archive.
    """
    return _load(path, estimator_named)[0]


def load_value(path: str | PathLike[str]) -> Any:
    """Load a model as a plain value: it predicts and explains as the estimator does, without importing scikit-learn."""
    return _load(path, model_class)[0]


def load_with_notes(path: str | PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """Load a model as :func:`load_value` does, with the notes that were saved beside it."""
    return _load(path, model_class)


def _load(path: str | PathLike[str], class_named: Callable[[str], type[Any]]) -> tuple[Any, dict[str, Any]]:
    contents = container.read(path)
    notes = contents.meta.get(NOTES) or {}
    if not isinstance(notes, dict):
        raise ModelFileError(f"{container.shown(path)}: its notes are not a dict.")
    try:
        # Numbers so large that they overflow were never learned from rows.
        with np.errstate(over="raise", invalid="raise"):
            kind = class_named(contents.model)
            read = kind._from_parts if hasattr(kind, "_from_parts") else kind.from_parts
            return read(contents.meta, contents.arrays), notes
    except ModelFileError as error:
        raise ModelFileError(f"{container.shown(path)}: {error}") from error
    except (KeyError, IndexError, AttributeError, TypeError, ValueError, ArithmeticError) as error:
        # Each array and field is well formed here; what is wrong is how they fit together.
        raise ModelFileError(
            f"{container.shown(path)} does not describe a {contents.model}: {type(error).__name__}: {error}"
        ) from error
