"""A catalogue of sentences in gettext's .po format, and how a sentence with values in it is found there."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

_BESIDE = re.compile(r"(\{\d+\})(?:\{\d+\})+")
_VALUE = re.compile(r"\{(\d+)\}")
# Where one sentence ends and the next begins, or one part of a sentence.
_SENTENCE_END = re.compile(r"(?<=[.:;!?)])(\s+)")
_COMMA = re.compile(r"(, )")
_EDGE = re.compile(r"^(\s*(?:[-!•]\s+)?)(.*?)(\s*)$", re.DOTALL)
# Single words that a sentence may hold as a value and that are translated there; names in messages stand in quotes.
_UNITS = frozenset({"row", "rows", "document", "documents", "column", "columns", "variable", "class", "feature"})
# A sentence with fewer letters of its own is meant only where its values are single words or numbers.
_FEW_LETTERS = 7
# Chinese marks at the end of a sentence, which bring their own room.
_FULL_WIDTH = "\u3002\uff0c\uff1b\uff1a\uff1f\uff01"
# Parts of a text that are tried together.
_MOST_PARTS = 12


@dataclass(frozen=True)
class Sentence:
    """A sentence with numbered values, cut at them.

    Attributes
    ----------
    pieces : tuple of str
        The words between the values: one more than there are values.
    order : tuple of int
        The number of each value.
    translation : str
        The sentence in the other language, with the same numbers.
    """

    pieces: tuple[str, ...]
    order: tuple[int, ...]
    translation: str

    @classmethod
    def of(cls, template: str, translation: str) -> Sentence:
        """Cut a template such as ``"{0} must be a number; got {1}."``."""
        # Of values that stand side by side the first takes all.
        parts = _VALUE.split(_BESIDE.sub(r"\1", template))
        return cls(tuple(map(_unescaped, parts[::2])), tuple(map(int, parts[1::2])), translation)

    @property
    def anchor(self) -> str:
        """The longest piece: a text without it is another sentence."""
        return max(self.pieces, key=len)

    @cached_property
    def is_short(self) -> bool:
        """Whether the words are so few that another sentence may have them too."""
        return sum(char.isalpha() for piece in self.pieces for char in piece) < _FEW_LETTERS

    @property
    def n_literal(self) -> int:
        """How many characters are the sentence's, not those of values."""
        return sum(map(len, self.pieces))

    def values(self, text: str) -> dict[int, str] | None:
        """Return the values that make the text of this sentence, or None; in time linear in the text."""
        first, last = self.pieces[0], self.pieces[-1]
        if not text.startswith(first) or not text.endswith(last) or len(text) < len(first) + len(last):
            return None
        values: dict[int, str] = {}
        at, end = len(first), len(text) - len(last)
        for number, piece in zip(self.order, self.pieces[1:], strict=True):
            is_last = piece is last and len(values) == len(self.order) - 1
            stop = end if is_last else text.find(piece, at, end)
            if stop < 0:
                return None
            values[number] = text[at:stop]
            at = stop + len(piece)
        return values if not self.is_short or not any(" " in each for each in values.values()) else None


class Catalogue:
    """Sentences of one language.

    Examples
    --------
    >>> words = Catalogue({"{0} must be a number; got {1}.": "{0} 必须是数值，得到的是 {1}。", "{0} rows": "{0} 行"})
    >>> words.translate("prior must be a number; got 'x'.")
    "prior 必须是数值，得到的是 'x'。"
    >>> words.translate("n must be a number; got 3 rows.")
    'n 必须是数值，得到的是 3 行。'
    """

    def __init__(self, entries: dict[str, str]) -> None:
        self._exact = {
            _unescaped(key).strip(): _unescaped(text) for key, text in entries.items() if not _VALUE.search(key)
        }
        cut = [Sentence.of(key.strip(), text.strip()) for key, text in entries.items() if _VALUE.search(key)]
        # The sentence with the most words of its own is the one that was meant.
        self._cut = [(one.anchor, one) for one in sorted(cut, key=lambda one: -one.n_literal) if one.anchor.strip()]

    @classmethod
    def read(cls, path: Path) -> Catalogue:
        """Read a .po file; entries without a translation are left out."""
        return cls({key: text for key, text in read_po(path).items() if text})

    def exact(self, text: str) -> str:
        """Return the translation of a whole text without values, or the text."""
        return self._exact.get(text.strip(), text)

    def translate(self, text: str) -> str:
        """Return a text line by line, sentence by sentence."""
        return "\n".join(map(self._line, text.split("\n")))

    def _line(self, line: str) -> str:
        edges = _EDGE.match(line)
        assert edges is not None  # the pattern matches every line
        before, text, after = edges.groups()
        return before + (self._whole(text) or self._by_sentence(text)) + after

    def _whole(self, text: str) -> str | None:
        if text in self._exact:
            return self._exact[text]
        for anchor, sentence in self._cut:
            if anchor in text:
                values = sentence.values(text)
                if values is not None:
                    return self._filled(sentence.translation, values)
        return None

    def _filled(self, translation: str, values: dict[int, str]) -> str:
        parts = _VALUE.split(translation)
        parts[::2] = map(_unescaped, parts[::2])
        parts[1::2] = (self._value(values.get(int(number), "")) for number in parts[1::2])
        return "".join(parts)

    def _value(self, text: str) -> str:
        """Return a value; a part of a sentence is translated, a name in quotes or a single word is not."""
        if text in _UNITS:
            return self.exact(text)
        if " " not in text.strip() or text.startswith(("'", '"', "[", "{")):
            return text
        return self._line(text)

    def _by_sentence(self, text: str, gaps: tuple[re.Pattern[str], ...] = (_SENTENCE_END, _COMMA)) -> str:
        """Return a text that is several sentences or parts of them: as many as possible together."""
        parts = gaps[0].split(text) if gaps else [text]
        if len(parts) > _MOST_PARTS:
            return text
        if len(parts) == 1:
            return self._by_sentence(text, gaps[1:]) if gaps else text
        said, at = "", 0
        while at < len(parts):
            for stop in range(len(parts), at, -2):
                other = self._whole("".join(parts[at:stop]))
                if other is not None:
                    break
            else:
                other, stop = self._by_sentence(parts[at], gaps[1:]), at + 1
            said += other
            if stop < len(parts) and said[-1:] not in _FULL_WIDTH:
                said += parts[stop]
            at = stop + 1
        return said


def read_po(path: Path) -> dict[str, str]:
    """Return the entries of a .po file: the sentence and its translation, "" where there is none yet."""
    entries: dict[str, str] = {}
    parts: dict[str, list[str]] = {}
    place: list[str] = []
    for line in [*path.read_text(encoding="utf-8").splitlines(), ""]:
        keyword, _, rest = line.partition(" ")
        if keyword in ("msgid", "msgstr"):
            place = parts.setdefault(keyword, [])
            place.append(ast.literal_eval(rest))
        elif line.startswith('"'):
            place.append(ast.literal_eval(line))
        elif not line.strip() and parts:
            entries["".join(parts["msgid"])] = "".join(parts.get("msgstr", []))
            parts = {}
    entries.pop("", None)  # the header
    return entries


def _unescaped(text: str) -> str:
    return text.replace("{{", "{").replace("}}", "}")
