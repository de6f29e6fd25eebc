"""XMLBIF 0.3, read by expat with everything that a table of numbers does not need switched off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayeskit.network.formats.lexer import numbers
from bayeskit.network.formats.network_format import NetworkFormat
from bayeskit.network.formats.network_parts import FileText, Parts, checked_rows, not_answered
from bayeskit.network.formats.xml_elements import Element, escaped, read_elements

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

# The elements that may stand in each element.
_INSIDE = {
    "": {"BIF"},
    "BIF": {"NETWORK"},
    "NETWORK": {"NAME", "PROPERTY", "VARIABLE", "DEFINITION"},
    "VARIABLE": {"NAME", "OUTCOME", "VALUE", "PROPERTY"},
    "DEFINITION": {"FOR", "GIVEN", "TABLE", "PROPERTY"},
}


class XMLBIF(NetworkFormat):
    """XMLBIF 0.3."""

    name = "xmlbif"
    extensions = (".xmlbif", ".bifxml", ".xml")

    def read(self, source: FileText, normalize: bool) -> Parts:
        """Read XMLBIF; the child's states change fastest in a table."""
        network = [block for bif in read_elements(source, _INSIDE).children for block in bif.children]
        variables = [variable for block in network for variable in block.all("VARIABLE")]
        states = _read_states(source, variables)
        places = {name: i for i, name in enumerate(states)}
        families = _read_families(source, [each for block in network for each in block.all("DEFINITION")], places)
        cards = [len(outcomes) for outcomes in states.values()]
        tables = []
        for name, i in places.items():
            if i not in families:
                source.fault(variables[i].at, f"variable {name!r} has no definition.")
            block, above = families[i]
            table = block.one(source, "TABLE")
            shape = (*(cards[p] for p in above), cards[i])
            tables.append(checked_rows(source, table.at, name, _numbers(source, table), shape, normalize))
        ordered = [families[i] for i in range(len(places))]
        parents, starts = [above for _, above in ordered], [block.at for block, _ in ordered]
        properties = {name: _properties(variable) for name, variable in zip(states, variables, strict=True)}
        properties[""] = {key: text for block in network for key, text in _properties(block).items()}
        return Parts(list(places), list(states.values()), parents, tables, starts, properties)

    def write(self, net: BayesianNetwork) -> str:
        """Write XMLBIF."""
        # No document type declaration: it is optional, and the XML parser of pyAgrum stumbles over one.
        lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<BIF VERSION="0.3">', "<NETWORK>"]
        lines += ["<NAME>unknown</NAME>", *_written(net, "")]
        for name, names in zip(net.names, net.states, strict=True):
            outcomes = "".join(f"<OUTCOME>{escaped(state)}</OUTCOME>" for state in names)
            said = "".join(_written(net, name))
            lines.append(f'<VARIABLE TYPE="nature"><NAME>{escaped(name)}</NAME>{outcomes}{said}</VARIABLE>')
        for name, above, table in zip(net.names, net.parents, net.tables, strict=True):
            given = "".join(f"<GIVEN>{escaped(net.names[p])}</GIVEN>" for p in above)
            rows = "\n".join(" ".join(map(repr, row)) for row in table.reshape(-1, table.shape[-1]).tolist())
            lines.append(f"<DEFINITION><FOR>{escaped(name)}</FOR>{given}<TABLE>\n{rows}\n</TABLE></DEFINITION>")
        return "\n".join([*lines, "</NETWORK>", "</BIF>"]) + "\n"


def _read_states(source: FileText, blocks: list[Element]) -> dict[str, tuple[str, ...]]:
    states: dict[str, tuple[str, ...]] = {}
    for block in blocks:
        name = block.one(source, "NAME").text.strip()
        if block.attributes.get("TYPE", "nature") != "nature":
            not_answered(source, block.at, name, block.attributes["TYPE"][:40])
        if name in states or not name:
            source.fault(block.at, f"variable {name!r} appears twice or has no name.")
        outcomes = block.texts("OUTCOME", "VALUE")
        if not outcomes or len(set(outcomes)) < len(outcomes) or "" in outcomes:
            source.fault(
                block.at, f"variable {name!r} needs outcomes that differ and are not empty; got {outcomes[:8]!r}."
            )
        states[name] = tuple(outcomes)
    return states


def _read_families(
    source: FileText, blocks: list[Element], places: dict[str, int]
) -> dict[int, tuple[Element, tuple[int, ...]]]:
    families: dict[int, tuple[Element, tuple[int, ...]]] = {}
    for block in blocks:
        child = _place(source, places, block.one(source, "FOR"))
        above = tuple(_place(source, places, item) for item in block.all("GIVEN"))
        if child in families:
            source.fault(block.at, "the variable has two definitions.")
        if len({child, *above}) < len(above) + 1:
            source.fault(block.at, "a variable appears twice in the definition.")
        families[child] = block, above
    return families


def _numbers(source: FileText, table: Element) -> NDArray[np.float64]:
    # Comments and references may stand in the text, so a fault in it is placed at the element.
    start = source.text.find(">", table.at) + 1
    if source.text.startswith(table.text, start):
        return numbers(source, table.text, start)
    return numbers(source, table.text, table.at, verbatim=False)


def _place(source: FileText, places: dict[str, int], item: Element) -> int:
    name = item.text.strip()
    if name not in places:
        source.fault(item.at, f"variable {name[:40]!r} is not in the file.")
    return places[name]


def _properties(block: Element) -> dict[str, str]:
    """Return ``name = value`` properties; one without a value is kept with an empty one."""
    pairs = (text.partition("=") for text in block.texts("PROPERTY"))
    return {name.strip(): value.strip() for name, _, value in pairs if name.strip()}


def _written(net: BayesianNetwork, name: str) -> list[str]:
    return [f"<PROPERTY>{escaped(f'{key} = {text}')}</PROPERTY>" for key, text in net.properties.get(name, {}).items()]
