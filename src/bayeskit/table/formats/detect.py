"""Which encoding the bytes of a text file are in: by its byte order mark, else by what its bytes would mean."""

from __future__ import annotations

import codecs
import re

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Bytes that cp1252 does not have, or that stand for letters hardly anybody writes.
_NOT_WESTERN = rb"[\x00\x81\x8d\x8f\x90\x9d\xfe\xff]"
# For each encoding of East Asia: the codec that knows its everyday characters, and their first bytes.
_EAST_ASIA = {
    "gb18030": ("gb2312", range(0xB0, 0xD8)),
    "big5": ("big5", range(0xA4, 0xC7)),
    "euc-kr": ("euc-kr", range(0xB0, 0xC9)),
}
# Of the characters outside ASCII, everyday ones make up at least this share in a text of that language.
_EVERYDAY = 0.8


def detect_encoding(head: bytes) -> str:
    """Return the encoding of a text by its first bytes: "utf-8" where it is, or where nothing else is likelier.

    Examples
    --------
    >>> detect_encoding("Müller, Größe".encode("cp1252")), detect_encoding("北京市朝阳区".encode("gb18030"))
    ('cp1252', 'gb18030')
    >>> detect_encoding("Größe".encode()), detect_encoding("x".encode("utf-16"))
    ('utf-8', 'utf-16')
    """
    for mark, name in _MARKS:
        if head.startswith(mark):
            return "utf-8" if name == "utf-8-sig" else name
    if _is_utf8(head):
        return "utf-8"
    for name, (everyday, first_bytes) in _EAST_ASIA.items():
        if _share_of_everyday(head, name, everyday, first_bytes) >= _EVERYDAY:
            return name
    if _is_japanese(head):
        return "shift_jis"
    return "utf-8" if re.search(_NOT_WESTERN, head) else "cp1252"


def _is_utf8(head: bytes) -> bool:
    """Return whether bytes are UTF-8, perhaps damaged in a few places: then its error names the place."""
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(head)
    n_bad = text.count("\ufffd")
    n_good = sum(char > "\x7f" for char in text) - n_bad if n_bad else 0
    return n_bad == 0 or n_good >= n_bad


def _decoded(head: bytes, name: str) -> str | None:
    try:
        return codecs.getincrementaldecoder(name)("strict").decode(head)
    except UnicodeDecodeError:
        return None


def _share_of_everyday(head: bytes, name: str, everyday: str, first_bytes: range) -> float:
    text = _decoded(head, name)
    wide = [char for char in text or "" if char > "\x7f"]
    known = [char.encode(everyday, "ignore")[:1] for char in wide]
    return sum(byte != b"" and byte[0] in first_bytes for byte in known) / len(wide) if wide else 0.0


def _is_japanese(head: bytes) -> bool:
    wide = [char for char in _decoded(head, "shift_jis") or "" if char > "\x7f"]
    return bool(wide) and sum("\u3040" <= char <= "\u30ff" for char in wide) >= 0.3 * len(wide)
