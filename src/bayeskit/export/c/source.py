"""C text: constant arrays, and structs that point to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.export.target import writable

_PER_LINE = 10


def text(value: str) -> str:
    """Return a string literal; bytes that are not plain letters are octal, since these have a fixed length.

    >>> print(text('a"é?'))
    "a\\042\\303\\251\\077"
    """
    plain = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-+.,:;=()/<>"
    written = writable(value, "a text").encode()
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in written) + '"'


def number(value: float) -> str:
    """Return a number that C reads as the same double."""
    if np.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(float(value))


class Source:
    """Definitions, one after the other; what is defined is referred to by its name."""

    def __init__(self, prefix: str = "a") -> None:
        self.lines: list[str] = []
        self._n, self._prefix = 0, prefix

    def array(self, values: NDArray[Any], ctype: str | None = None) -> str:
        """Define a constant array and return its name; doubles, floats and integers keep every bit."""
        flat = values.ravel()
        if flat.dtype == np.float32:
            ctype, items = ctype or "float", [f"{value:.9g}" for value in flat.tolist()]
            items = [item if "." in item or "e" in item else f"{item}.0" for item in items]
            items = [f"{item}f" for item in items]
        elif flat.dtype.kind == "f":
            ctype, items = ctype or "double", [number(value) for value in flat.tolist()]
        else:
            ctype, items = ctype or "int", [str(int(value)) for value in flat.tolist()]
        return self.items(ctype, items)

    def items(self, ctype: str, items: Sequence[str], shape: str = "") -> str:
        """Define a constant array of expressions and return its name; C has no empty arrays, so those have a 0.

        ``shape`` is that of one item, such as ``[3]``.
        """
        self._n += 1
        name = f"{self._prefix}{self._n}"
        items = items or ["0"]
        body = ",\n    ".join(", ".join(items[i : i + _PER_LINE]) for i in range(0, len(items), _PER_LINE))
        self.lines.append(f"static const {ctype} {name}[]{shape} = {{\n    {body}\n}};")
        return name

    def texts(self, values: Sequence[str]) -> str:
        """Define an array of strings, one per line, and return its name."""
        self._n += 1
        name = f"{self._prefix}{self._n}"
        body = ",\n    ".join(map(text, values)) or "0"
        self.lines.append(f"static const char *const {name}[] = {{\n    {body}\n}};")
        return name

    def value(self, member: Any) -> str:
        """Return a member of a struct: an array becomes a name, None a null pointer."""
        if member is None:
            return "NULL"
        if isinstance(member, np.ndarray):
            return self.array(member.view(np.uint8), "unsigned char") if member.dtype == bool else self.array(member)
        return member if isinstance(member, str) else number(member) if isinstance(member, float) else str(int(member))

    def record(self, **members: Any) -> str:
        """Return the initialiser of a struct."""
        written = [f".{name} = {self.value(member)}" for name, member in members.items()]
        return "{" + ", ".join(written) + "}"
