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
        match = self.blank.match(self.source.text, self.at, self.end)
        self.at = match.end() if match else self.at

    def fault(self, message: str, at: int | None = None) -> NoReturn:
        """Refuse the file at this place."""
        self.source.fault(self.at if at is None else at, message)

    def _match(self) -> re.Match[str] | None:
        if self.at >= self.end:
            return None
        match = self.token.match(self.source.text, self.at, self.end)
        if not match:
            self.fault(f"cannot read {self.source.text[self.at]!r} here.")
        return match

    def peek(self) -> str:
        """Return the next token as it stands, or nothing at the end."""
        match = self._match()
        return match.group() if match else ""

    def next_token(self) -> str:
        """Name the next token for an error."""
        text = self.peek()
        return repr(text if len(text) <= 40 else text[:40] + "…") if text else "the end of the file"

    def take(self, sign: str) -> bool:
        """Step over a sign or word if it comes next."""
        match = self._match()
        if match is None or match.group() != sign:
            return False
        self.at = match.end()
        self._skip()
        return True

    def need(self, sign: str) -> None:
        """Step over a sign or word that must come next."""
        if not self.take(sign):
            self.fault(f"expected {sign!r}, found {self.next_token()}.")

    def word(self, what: str) -> str:
        """Return the next word or quoted string, without its quotes."""
        match = self._match()
        if match is None or (match["quoted"] is None and match["word"] is None):
            self.fault(f"expected {what}, found {self.next_token()}.")
        self.at = match.end()
        self._skip()
        return match["quoted"][1:-1] if match["quoted"] is not None else match["word"]


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
    for match in re.finditer(r"\S+", text):
        if not _NUMBER.fullmatch(match.group()):
            shown = match.group() if len(match.group()) <= 40 else match.group()[:40] + "…"
            source.fault(at + match.start() if verbatim else at, f"expected a number, found {shown!r}.")
    return np.array([float(piece) for piece in pieces])
