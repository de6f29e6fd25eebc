"""The targets of export: each is a class that registers itself."""

from __future__ import annotations

import pkgutil
from abc import ABC, abstractmethod
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from bayeskit.errors import BayeskitError

# Each target by its name; see `targets`.
TARGETS: dict[str, type[Target]] = {}


class Target(ABC):
    """A form in which a fitted classifier is written for another engine.

    A target is a file or a folder of `bayeskit.export` with a subclass that has a name; nothing else lists it. A
    subclass that is defined elsewhere is known from then on too.
    """

    name: ClassVar[str]
    # The options that `write` takes; the command passes no others.
    options: ClassVar[tuple[str, ...]] = ()
    # What the result is called where it must go to a file, such as "play.onnx"; empty where it is text.
    file: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" in vars(cls):
            known = TARGETS.get(cls.name)
            if known is not None and known.__qualname__ != cls.__qualname__:
                raise BayeskitError(f"there is a target '{cls.name}' already; give the new one another name.")
            TARGETS[cls.name] = cls

    @abstractmethod
    def write(self, model: Any, **options: Any) -> bytes:
        """Return the model in this form; a model that cannot be written is an error that names it."""


def targets() -> dict[str, Target]:
    """Return each target by its name.

    Examples
    --------
    >>> {"c", "onnx", "sql"} <= set(targets())
    True
    """
    _import_files()
    return {name: target() for name, target in TARGETS.items()}


@cache
def _import_files() -> None:
    # Defining a target lists it.
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        import_module(f"bayeskit.export.{module.name}")


def writable(text: str, what: str) -> str:
    """Return the text; characters that no program can hold are an error."""
    if "\0" in text:
        raise BayeskitError(f"{what} of the model, {text!r}, holds the character U+0000, which no program can hold.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BayeskitError(f"{what} of the model, {text!r}, cannot be written as UTF-8.") from None
    return text
