"""The interchange format BIF 0.15, as the repositories of networks use it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bayeskit._kernels import parse_bif
from bayeskit.errors import NetworkError
from bayeskit.network.cpd.table import MOST_AXES, TOLERANCE
from bayeskit.network.formats.network_format import NetworkFormat
from bayeskit.network.formats.network_parts import FileText, Parts, refuse

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

# What needs no quotes: the signs of the grammar, spaces and the start of a comment do.
_PLAIN = re.compile(r'(?!/[/*])[^\s{}()\[\],;|"]+')


class BIF(NetworkFormat):
    """The interchange format BIF 0.15, as the repositories of networks use it."""

    name = "bif"
    extensions = (".bif",)

    def read(self, source: FileText, normalize: bool) -> Parts:
        """Read BIF; tables may be rows, ``default`` rows, or one ``table`` whose child's states change slowest."""
        data = source.text.encode()
        parsed = parse_bif(data, normalize, TOLERANCE)
        if len(parsed) == 2:
            (line, column), message = parsed
            refuse(source.name, line, column, message)
        names, states, parents, numbers, spans = parsed
        cards = [len(named) for named in states]
        places = _in_characters([at for _, _, at in spans], data)
        for name, above, at in zip(names, parents, places, strict=True):
            if len(above) >= MOST_AXES:
                source.fault(at, f"{name!r} has {len(above)} parents; a table can have at most {MOST_AXES - 1}.")
        tables = [
            numbers[first : first + size].reshape([*(cards[p] for p in above), card])
            for (first, size, _), above, card in zip(spans, parents, cards, strict=True)
        ]
        return Parts(names, states, parents, tables, places)

    def write(self, net: BayesianNetwork) -> str:
        """Write BIF; every number is the shortest that reads back as the same."""
        lines = ["network unknown {", "}"]
        for name, names in zip(net.names, net.states, strict=True):
            shown = ", ".join(map(_word, names))
            lines += [f"variable {_word(name)} {{", f"  type discrete [ {len(names)} ] {{ {shown} }};", "}"]
        for name, above, table in zip(net.names, net.parents, net.tables, strict=True):
            given = ", ".join(_word(net.names[p]) for p in above)
            lines.append(
                f"probability ( {_word(name)} | {given} ) {{" if above else f"probability ( {_word(name)} ) {{"
            )
            rows = table.reshape(-1, table.shape[-1]).tolist()
            if not above:
                lines.append(f"  table {', '.join(map(repr, rows[0]))};")
            else:
                keys = [""]
                for p in above:
                    words = list(map(_word, net.states[p]))
                    keys = [f"{key}, {word}" if key else word for key in keys for word in words]
                lines += [f"  ({key}) {', '.join(map(repr, row))};" for key, row in zip(keys, rows, strict=True)]
            lines.append("}")
        return "\n".join(lines) + "\n"


def _in_characters(places: list[int], data: bytes) -> list[int]:
    if data.isascii():
        return places
    characters, done, places_in_text = 0, 0, dict.fromkeys(places, 0)
    for at in sorted(places_in_text):
        characters += len(data[done:at].decode())
        done, places_in_text[at] = at, characters
    return [places_in_text[at] for at in places]


def _word(name: str) -> str:
    if _PLAIN.fullmatch(name):
        return name
    if '"' in name:
        raise NetworkError(f"BIF cannot hold the name {name!r}: it has a double quote; rename it or write XMLBIF.")
    return f'"{name}"'
