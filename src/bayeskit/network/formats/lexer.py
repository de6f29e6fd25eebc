"""Text into tokens, with the place of each, for the formats that are read in Python."""

from __future__ import annotations

import re
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from bayeskit.network.formats.network_parts import FileText

_NUMBERS = re.compile(r"[0-9eE+\-.\s]*")
# Possessive, so that a long run of digits is read once: given back digit by digit, it would take its length squared.
_NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+")


class Scanner:
    """A reader of tokens.

    ``blank`` matches what lies between tokens. ``token`` has the groups ``quoted`` (a string, with its quotes) and
    ``word``; a sign matches neither. Only the stretch from ``start`` to ``end`` of the text is read.
    """

    def __init__(
        self,
        source: FileText,
        blank: re.Pattern[str],
        token: re.Pattern[str],
        start: int = 0,
        end: int | None = None,
    ) -> None:
        self.source, self.blank, self.token = source, blank, token
        self.at = start  # where the next token starts
        self.end = len(source.text) if end is None else end
        self._skip()

    def _skip(self) -> None:
        found = self.blank.match(self.source.text, self.at, self.end)
        self.at = found.end() if found else self.at

    def fault(self, message: str, at: int | None = None) -> NoReturn:
        """Refuse the file at this place."""
        self.source.fault(self.at if at is None else at, message)

    def _match(self) -> re.Match[str] | None:
        if self.at >= self.end:
            return None
        found = self.token.match(self.source.text, self.at, self.end)
        if not found:
            self.fault(f"cannot read {self.source.text[self.at]!r} here.")
        return found

    def peek(self) -> str:
        """Return the next token as it stands, or nothing at the end."""
        found = self._match()
        return found.group() if found else ""

    def found(self) -> str:
        """Name the next token for an error."""
        text = self.peek()
        return repr(text if len(text) <= 40 else text[:40] + "…") if text else "the end of the file"

    def take(self, sign: str) -> bool:
        """Step over a sign or word if it comes next."""
        found = self._match()
        if found is None or found.group() != sign:
            return False
        self.at = found.end()
        self._skip()
        return True

    def need(self, sign: str) -> None:
        """Step over a sign or word that must come next."""
        if not self.take(sign):
            self.fault(f"expected {sign!r}, found {self.found()}.")

    def word(self, what: str) -> str:
        """Return the next word or quoted string, without its quotes."""
        found = self._match()
        if found is None or (found["quoted"] is None and found["word"] is None):
            self.fault(f"expected {what}, found {self.found()}.")
        self.at = found.end()
        self._skip()
        return found["quoted"][1:-1] if found["quoted"] is not None else found["word"]


def numbers(source: FileText, text: str, at: int, *, verbatim: bool = True) -> NDArray[np.float64]:
    """Return the numbers of a stretch of text that starts at this place in the source.

    Anything else in it is a fault with its place; ``nan``, ``inf`` and ``1_000``, which Python reads, are no numbers.
    Where the text does not stand in the source as it is (``verbatim=False``), the fault is placed at its start.
    """
    pieces = text.split()
    if _NUMBERS.fullmatch(text):
        try:
            return np.array([float(piece) for piece in pieces])
        except ValueError:
            pass  # found again below, with its place
    for found in re.finditer(r"\S+", text):
        if not _NUMBER.fullmatch(found.group()):
            shown = found.group() if len(found.group()) <= 40 else found.group()[:40] + "…"
            source.fault(at + found.start() if verbatim else at, f"expected a number, found {shown!r}.")
    return np.array([float(piece) for piece in pieces])
