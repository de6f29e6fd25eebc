"""Messages of an mbox file, as one column of texts."""

from __future__ import annotations

from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from html.parser import HTMLParser
from pathlib import Path

from bayeskit.errors import TableError
from bayeskit.table.raw_file import open_raw

# What a message has: its subject and body as one text, these alone, and the name of its file.
COLUMNS = ("text", "subject", "from", "mailbox")
# Bytes of one message; the rest of a longer one, which is attachments as a rule, is not read.
_MOST = 1 << 25


def is_mailbox(path: Path) -> bool:
    """Return whether a file is an mbox file by its name."""
    return path.name.removesuffix(".gz").endswith(".mbox")


def messages(path: Path) -> Iterator[tuple[dict[str, str], int]]:
    """Yield the messages of an mbox file, one at a time, each with how many bytes have been read.

    A message begins at a line ``From …`` after an empty line, or at the beginning of the file.
    """
    raw = open_raw(path)
    if raw.head and not raw.head.startswith(b"From "):
        raise TableError(f"{raw.shown}: an mbox file begins with a line 'From …'; got {raw.head[:40]!r}.")
    name = path.name.removesuffix(".gz").removesuffix(".mbox")
    lines: list[bytes] = []
    size = done = 0
    after_empty = True
    with raw.open() as file:
        for line in file:
            if after_empty and line.startswith(b"From ") and done:
                yield _columns(lines, name), done
                lines, size = [], 0
            elif done and size < _MOST:
                # Lines of the body that begin with From are written as >From.
                lines.append(line[1:] if line.startswith(b">") and line.lstrip(b">").startswith(b"From ") else line)
                size += len(line)
            after_empty = not line.strip()
            done += len(line)
    if done:
        yield _columns(lines, name), done


def _columns(lines: list[bytes], mailbox: str) -> dict[str, str]:
    message = message_from_bytes(b"".join(lines), policy=policy.default)
    subject, sender = (_header(message, name) for name in ("subject", "from"))
    return {"text": f"{subject}\n{_body(message)}".strip(), "subject": subject, "from": sender, "mailbox": mailbox}


def _header(message: EmailMessage, name: str) -> str:
    try:
        return str(message[name] or "")
    except (ValueError, IndexError, AttributeError):  # a header that the standard library cannot parse
        return next((str(value) for key, value in message.raw_items() if key.lower() == name), "")


def _body(message: EmailMessage) -> str:
    """Return the plain text of a message, or what its HTML shows; broken bytes are read as �."""
    part = message.get_body(("plain", "html"))
    if part is None:
        return ""
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else str(payload).encode("utf-8", "replace")
    try:
        text = data.decode(part.get_content_charset() or "utf-8", "replace")
    except LookupError:  # an encoding that nobody knows
        text = data.decode("utf-8", "replace")
    return _shown(text) if part.get_content_type() == "text/html" else text


class _Shown(HTMLParser):
    """The text of a page without its styles and scripts."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in ("style", "script")

    def handle_endtag(self, tag: str) -> None:
        self._hidden = max(0, self._hidden - (tag in ("style", "script")))

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.pieces.append(data)


def _shown(page: str) -> str:
    parser = _Shown()
    parser.feed(page)
    parser.close()
    return " ".join(" ".join(parser.pieces).split())
