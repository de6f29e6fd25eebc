"""Names that a format cannot hold, in a comment of ours beside the plain ones."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from bayeskit.network.formats.network_parts import FileText


def names_line(
    comment: str,
    names: Sequence[str],
    states: Sequence[Sequence[str]],
    plain: Sequence[str],
    plain_states: Sequence[Sequence[str]],
) -> list[str]:
    """Return a comment for each variable whose name or states are not as they stand in the file."""
    return [
        f"{comment} bayeskit: {json.dumps([short, name, *named], ensure_ascii=False)}"
        for name, named, short, words in zip(names, states, plain, plain_states, strict=True)
        if (name, *named) != (short, *words)
    ]


def read_names(
    source: FileText, comment: str, names: Sequence[str], states: Sequence[tuple[str, ...]]
) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return names and states with what the comments of a file say of them."""
    full, named = list(names), list(states)
    places = {name: i for i, name in enumerate(names)}
    for line in re.finditer(rf"^{re.escape(comment)} bayeskit: (.*)$", source.text, re.MULTILINE):
        try:
            words = json.loads(line.group(1))
        except (ValueError, RecursionError):
            words = None
        good = isinstance(words, list) and len(words) > 1 and all(isinstance(word, str) and word for word in words)
        i = places.get(words[0], -1) if good else -1
        if i < 0 or len(words) != len(states[i]) + 2 or len(set(words[2:])) < len(states[i]):
            source.fault(
                line.start(1), "expected the plain name, the name and the states of a variable as a JSON list."
            )
        full[i], named[i] = words[1], tuple(words[2:])
    if len(set(full)) < len(full):
        source.fault(0, "two variables have the same name.")
    return full, named
