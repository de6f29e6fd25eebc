"""Lists of classes that fill themselves: search methods, structure scores and file formats, one file each."""

from __future__ import annotations

from dataclasses import fields
from functools import cached_property
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Generic, TypeVar, cast

from bayeskit.errors import ModelFileError, NetworkError
from bayeskit.io.expect import expect_field

T = TypeVar("T")


class Registry(Generic[T]):
    """The classes of one sort by their ``name``: those in the files of a folder, and those that are defined elsewhere.

    Parameters
    ----------
    what : str
        What they are, as the option that chooses one is called: "method".
    folder : str
        The package whose files are imported when a class is looked for.
    """

    def __init__(self, what: str, folder: str) -> None:
        self.what, self.folder = what, folder
        self._classes: dict[str, type[T]] = {}

    def add(self, cls: type[T]) -> None:
        """List a class that has a name of its own; called when it is defined."""
        if "name" not in vars(cls):
            return
        name: str = vars(cls)["name"]
        known = self._classes.get(name)
        if known is not None and known.__qualname__ != cls.__qualname__:
            raise NetworkError(f"there is a {self.what} {name!r} already; give the new one another name.")
        self._classes[name] = cls

    @property
    def classes(self) -> dict[str, type[T]]:
        """Each class by its name."""
        self._imported  # noqa: B018 - the first time it imports the files, which lists their classes
        return self._classes

    @cached_property
    def _imported(self) -> bool:
        package = import_module(self.folder)
        for file in iter_modules(package.__path__):
            import_module(f"{self.folder}.{file.name}")
        return True

    def to_json(self, value: T) -> dict[str, Any]:
        """Return an object, a frozen dataclass, as its name and its options."""
        options = {field.name: getattr(value, field.name) for field in fields(cast(Any, value))}
        return {"name": cast(Any, value).name, "options": options}

    def from_json(self, data: Any) -> T:
        """Read what :meth:`to_json` gave; the file may come from an untrusted source."""
        name, options = expect_field(data, "name", str), expect_field(data, "options", dict)
        if name not in self.classes:
            raise ModelFileError(f"this version knows no {self.what} {name!r}.")
        try:
            return self.classes[name](**options)
        except (TypeError, NetworkError) as error:
            raise ModelFileError(f"the options of the {self.what} {name!r} are not valid: {error}") from None

    def choose(self, base: type[T], value: str | T) -> T:
        """Return the object that a word means, with its own defaults, or the object itself."""
        if isinstance(value, base):
            return value
        if isinstance(value, str) and value in self.classes:
            return self.classes[value]()
        words = ", ".join(map(repr, sorted(self.classes)))
        raise NetworkError(f"{self.what} must be one of {words}, or an object with options; got {value!r}.")
