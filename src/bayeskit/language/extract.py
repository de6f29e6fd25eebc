"""Write the catalogue anew from the source: ``python -m bayeskit.language.extract``.

Translations that are there stay; a sentence that is new has an empty one, and one that is gone goes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from bayeskit.language.catalogue import read_po
from bayeskit.language.sentences import sentences

PLACE = Path(__file__).with_name("zh.po")
_HEADER = 'msgid ""\nmsgstr "Language: zh_CN\\nContent-Type: text/plain; charset=UTF-8\\n"\n'


def written(translations: Mapping[str, str]) -> str:
    """Return the catalogue as text: every sentence of the source with its file and its translation."""
    parts = [_HEADER]
    for sentence, places in sentences(Path(__file__).parents[1]).items():
        parts.append(
            f"#: {' '.join(places)}\nmsgid {_quoted(sentence)}\nmsgstr {_quoted(translations.get(sentence, ''))}\n"
        )
    return "\n".join(parts)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def main() -> None:
    """Write the catalogue and say how many sentences wait for a translation."""
    PLACE.write_text(written(read_po(PLACE) if PLACE.exists() else {}), encoding="utf-8")
    entries = read_po(PLACE)
    print(f"{PLACE.name}: {len(entries)} sentences, {sum(not text for text in entries.values())} without a translation")


if __name__ == "__main__":
    main()
