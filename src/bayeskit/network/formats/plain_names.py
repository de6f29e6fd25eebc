"""Plain words for names, for formats that have nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def plain_names(names: Sequence[str], longest: int = 1000, taken: Sequence[str] = ()) -> list[str]:
    """Return a plain word for each name, all different; a name that is one already stays.

    Examples
    --------
    >>> plain_names(["a", "b c", "b-c", "3"])
    ['a', 'b_c', 'b_c_2', '_3']
    """
    used = {name for name in names if PLAIN.fullmatch(name) and len(name) <= longest and name not in taken}
    used.update(taken)
    counts: dict[str, int] = {}
    plain = []
    for name in names:
        short = name
        if not PLAIN.fullmatch(name) or len(name) > longest or name in taken:
            stem = re.sub(r"[^A-Za-z0-9_]", "_", name)
            stem = (stem if PLAIN.fullmatch(stem) else f"_{stem}")[: longest - 6]
            short = stem
            while short in used:
                counts[stem] = counts.get(stem, 1) + 1
                short = f"{stem}_{counts[stem]}"
            used.add(short)
        plain.append(short)
    return plain
