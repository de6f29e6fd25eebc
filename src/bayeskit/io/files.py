"""Save a model to a file and load it again, with the same numbers to the last bit."""

from __future__ import annotations

from os import PathLike
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import ModelFileError
from bayeskit.io import container
from bayeskit.io.registry import MODELS, model_class


class Saveable(Protocol):
    """A model that says what goes into its file, and comes back from it."""

    def _to_file(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what goes into JSON and what goes into arrays; numbers that must stay exact go into arrays."""
        ...

    @classmethod
    def _from_file(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Build the model; ``meta`` and ``arrays`` are well formed but their contents come from a stranger."""
        ...


def save(model: Saveable, path: str | PathLike[str]) -> None:
    """Write a fitted model to a file; an old file at ``path`` stays whole until the new one is complete."""
    name = type(model).__name__
    if name not in MODELS or type(model) is not model_class(name):
        raise ModelFileError(
            f"a model file holds one of {', '.join(sorted(MODELS))}; got {type(model).__module__}.{name}. "
            "A class of your own can be kept with pickle."
        )
    meta, arrays = model._to_file()
    container.write(path, name, meta, arrays)


def load(path: str | PathLike[str]) -> Any:
    """Load a model that ``save`` wrote; the file may come from a stranger, since nothing in it is ever run.

    Parameters
    ----------
    path : str or path
        A ``.bayes`` file.

    Raises
    ------
    ModelFileError
        If the file is cut, damaged, of another kind, or from a newer bayeskit.

    Examples
    --------
    >>> import bayeskit, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tennis.bayes"
    >>> _ = path.write_text("no model")
    >>> bayeskit.load(path)
    Traceback (most recent call last):
    ...
    bayeskit.errors.ModelFileError: 'tennis.bayes' is not a model file: it is not a whole zip archive.
    """
    contents = container.read(path)
    try:
        # Numbers so large that they overflow were never learned from rows.
        with np.errstate(over="raise", invalid="raise"):
            return model_class(contents.model)._from_file(contents.meta, contents.arrays)
    except ModelFileError as error:
        raise ModelFileError(f"{container.shown(path)}: {error}") from error
    except (KeyError, IndexError, AttributeError, TypeError, ValueError, ArithmeticError) as error:
        # Each array and field is well formed here; what is wrong is how they fit together.
        raise ModelFileError(
            f"{container.shown(path)} does not describe a {contents.model}: {type(error).__name__}: {error}"
        ) from error
