"""GeNIe's XDSL: tables, noisy-MAX, deterministic nodes and linear equations."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from bayeskit.errors import NetworkError
from bayeskit.network import dag
from bayeskit.network.cpd.causes import IndependentCauses, make_causes, without_effect
from bayeskit.network.cpd.distribution import Distribution
from bayeskit.network.cpd.equation import Equation
from bayeskit.network.cpd.gaussian import GaussianCPD
from bayeskit.network.expression import ExpressionError
from bayeskit.network.formats.effect_order import in_effect_order
from bayeskit.network.formats.gaussian_text import equation_text
from bayeskit.network.formats.lexer import numbers
from bayeskit.network.formats.network_format import NetworkFormat
from bayeskit.network.formats.network_parts import FileText, Parts, checked_rows, not_answered
from bayeskit.network.formats.plain_names import plain_names
from bayeskit.network.formats.xml_elements import Element, escaped, read_elements

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

_NODES = ("cpt", "noisymax", "deterministic", "equation")
_DECISION = {"decision": "decision", "utility": "utility", "mau": "utility"}
# Names that XDSL cannot hold as they are stand in a property of ours.
_OURS = "bayeskit_names"
_UNNAMED = "network"
# Half of the size of a node's rectangle; the position is its center.
_HALF = (50, 25)


class _Reader:
    def __init__(self, source: FileText, normalize: bool) -> None:
        self.source, self.normalize = source, normalize
        root = read_elements(source)
        smile = next((child for child in root.children if child.name == "smile"), None)
        if smile is None:
            source.fault(0, "an XDSL file holds an element 'smile'; there is none.")
        self.smile = smile
        for held in smile.all("dynamic"):
            source.fault(
                held.at,
                "the network repeats over time, which is not read from XDSL; unroll it in GeNIe, or write its slices "
                "as x0 and xt for DynamicNetwork.read.",
            )
        self.nodes = [node for group in smile.all("nodes") for node in group.children]
        self.names: list[str] = []
        self.taken: set[str] = set()
        self.states: list[tuple[str, ...]] = []
        self.places: dict[str, int] = {}
        self.plain_states: list[dict[str, int]] = []
        genie = [each for group in smile.all("extensions") for each in group.all("genie")]
        self.drawn = {
            node.attributes.get("id", ""): node for each in genie for node in each.walk() if node.name == "node"
        }
        # pyAgrum writes tables in which the first parent changes fastest, where GeNIe has the last.
        self.from_pyagrum = any(each.attributes.get("app", "").startswith("aGrUM") for each in genie)

    def fault(self, node: Element, message: str) -> NoReturn:
        self.source.fault(node.at, message)

    def parts(self) -> Parts:
        for node in self.nodes:
            self.declare(node)
        parents = [self.parents(node) for node in self.nodes]
        tables = [self.table(i, node, above) for i, (node, above) in enumerate(zip(self.nodes, parents, strict=True))]
        properties = {name: self.properties(node) for name, node in zip(self.names, self.nodes, strict=True)}
        label = self.smile.attributes.get("id", _UNNAMED)
        properties[""] = {"label": label} if label != _UNNAMED else {}
        return Parts(self.names, self.states, parents, tables, [node.at for node in self.nodes], properties)

    def declare(self, node: Element) -> None:
        plain = node.attributes.get("id", "").strip()
        if node.name in _DECISION:
            not_answered(self.source, node.at, plain, _DECISION[node.name])
        if node.name not in _NODES:
            self.fault(node, f"{plain!r} is a {node.name[:40]!r} node; known are {', '.join(_NODES)}.")
        if not plain or plain in self.places:
            self.fault(node, f"the id {plain!r} is empty or appears twice.")
        states = [state.attributes.get("id", "") for state in node.all("state")]
        if node.name != "equation" and (not states or len(set(states)) < len(states) or "" in states):
            self.fault(node, f"{plain!r} needs states that differ and are not empty; got {states[:8]!r}.")
        self.places[plain] = len(self.places)
        self.plain_states.append({state: k for k, state in enumerate(states)})
        name, named = self.full_names(node, plain, states)
        self.names.append(name)
        self.states.append(named)

    def full_names(self, node: Element, plain: str, states: list[str]) -> tuple[str, tuple[str, ...]]:
        """Return the name and the states that our own property gives, or those of the file."""
        ours = next((each for each in node.all("property") if each.attributes.get("id") == _OURS), None)
        words: Any = [plain, *states]
        if ours is not None:
            try:
                words = json.loads(ours.text)
            except (ValueError, RecursionError):
                words = None
            good = isinstance(words, list) and all(isinstance(word, str) and word for word in words)
            if not good or len(words) != len(states) + 1 or len(set(words[1:])) < len(states):
                self.fault(ours, f"{_OURS} must list the name and the {len(states)} states of {plain!r}.")
        if words[0] in self.taken:
            self.fault(node, f"the name {words[0]!r} appears twice.")
        self.taken.add(words[0])
        return words[0], tuple(words[1:])

    def parents(self, node: Element) -> tuple[int, ...]:
        above = [word for text in node.texts("parents") for word in text.split()]
        for name in above:
            if name not in self.places:
                self.fault(node, f"the parent {name[:40]!r} of {node.attributes['id']!r} is not in the file.")
        if len({*above, node.attributes["id"]}) <= len(above):
            self.fault(node, f"a parent of {node.attributes['id']!r} appears twice.")
        return tuple(self.places[name] for name in above)

    def table(self, i: int, node: Element, above: tuple[int, ...]) -> Any:
        cards = [len(self.states[p]) for p in above]
        if node.name == "equation":
            return self.equation(node, above)
        if 0 in cards:
            real = self.names[above[cards.index(0)]]
            self.fault(node, f"{self.names[i]!r} is discrete and has the real parent {real!r}.")
        if node.name == "cpt":
            shown = [*reversed(cards)] if self.from_pyagrum else cards
            at, values = self.numbers(node, "probabilities")
            table = checked_rows(self.source, at, self.names[i], values, (*shown, len(self.states[i])), self.normalize)
            axes = [*reversed(range(len(above))), len(above)]
            return np.ascontiguousarray(table.transpose(axes)) if self.from_pyagrum else table
        return self.deterministic(i, node, cards) if node.name == "deterministic" else self.noisy(i, node, cards)

    def numbers(self, node: Element, name: str) -> tuple[int, Any]:
        held = node.one(self.source, name)
        start = self.source.text.find(">", held.at) + 1
        verbatim = self.source.text.startswith(held.text, start)
        return held.at, numbers(self.source, held.text, start if verbatim else held.at, verbatim=verbatim)

    def deterministic(self, i: int, node: Element, cards: list[int]) -> Any:
        held = node.one(self.source, "resultingstates")
        words, card = held.text.split(), len(self.states[i])
        strange = [word for word in words if word not in self.plain_states[i]]
        if strange:
            self.fault(held, f"{strange[0][:40]!r} is not a state of {self.names[i]!r}.")
        rows = np.zeros((len(words), card))
        rows[np.arange(len(words)), [self.plain_states[i][word] for word in words]] = 1.0
        shape = (*reversed(cards), card) if self.from_pyagrum else (*cards, card)
        table = checked_rows(self.source, held.at, self.names[i], rows.reshape(-1), shape, False)
        axes = [*reversed(range(len(cards))), len(cards)]
        return np.ascontiguousarray(table.transpose(axes)) if self.from_pyagrum else table

    def noisy(self, i: int, node: Element, cards: list[int]) -> IndependentCauses:
        """Read a noisy-MAX: a column for each state of each parent in the order of its strengths, then the leak.

        The last own state is "no effect"; the numbers are without the leak (Díez).
        """
        card, name = len(self.states[i]), self.names[i]
        at, values = self.numbers(node, "parameters")
        if len(values) != (sum(cards) + 1) * card:
            self.source.fault(at, f"{name!r} needs {(sum(cards) + 1) * card} parameters; got {len(values)}.")
        rows = values.reshape(-1, card)[:, ::-1]
        order = self.strengths(node, name, cards)
        links, first = [], 0
        for states, n in zip(order, cards, strict=True):
            link = np.empty((n, card))
            link[states] = rows[first : first + n]
            links.append(link)
            first += n
        fixed = [without_effect(link) for link in links]
        try:
            return make_causes("max", rows[-1].copy(), links, tuple(reversed(range(card))), fixed, f"{name!r}")
        except NetworkError as error:
            self.source.fault(at, str(error))

    def strengths(self, node: Element, name: str, cards: list[int]) -> list[list[int]]:
        """Return for each parent its states in the order of the columns."""
        if not node.all("strengths"):
            return [list(range(card)) for card in cards]
        held = node.one(self.source, "strengths")
        words = held.text.split()
        if len(words) != sum(cards) or not all(re.fullmatch(r"[0-9]{1,9}", word) for word in words):
            self.fault(held, f"the strengths of {name!r} are one place for each state of its parents.")
        out, first = [], 0
        for card in cards:
            order = [int(word) for word in words[first : first + card]]
            if sorted(order) != list(range(card)):
                self.fault(held, f"the strengths of {name!r} must order the states 0 to {card - 1}; got {order}.")
            if any(order[k] != place for place, k in enumerate(order)):  # the two readings of an order differ
                self.fault(
                    held,
                    f"the strengths {order} of {name!r} can be read in two ways; sort the parent's states in GeNIe.",
                )
            out.append(order)
            first += card
        return out

    def equation(self, node: Element, above: tuple[int, ...]) -> Equation:
        held = node.one(self.source, "definition")
        plain = node.attributes["id"]
        match = re.match(r"\s*(\w+)\s*=(?!=)", held.text)
        if match is None or match.group(1) != plain:
            self.fault(held, f"the equation of {plain!r} must begin with '{plain} ='.")
        aliases = {alias: self.names[place] for alias, place in self.places.items() if place in above}
        try:
            return Equation(held.text[match.end() :], by_place=True, aliases=aliases)
        except ExpressionError as error:
            self.fault(held, f"{plain!r}: {error}")

    def properties(self, node: Element) -> dict[str, str]:
        out = {
            each.attributes["id"]: each.text
            for each in node.all("property")
            if each.attributes.get("id") not in (None, "", _OURS)
        }
        drawn = self.drawn.get(node.attributes["id"])
        if drawn is None:
            return out
        label = next(iter(drawn.texts("name")), "")
        if label and label not in (node.attributes["id"], self.names[self.places[node.attributes["id"]]]):
            out["label"] = label
        for comment in drawn.texts("comment")[:1]:
            out["comment"] = comment
        for position in drawn.texts("position")[:1]:
            if re.fullmatch(r"-?\d{1,9}(\s+-?\d{1,9}){3}", position):
                left, top, right, bottom = map(int, position.split())
                out["position"] = f"{(left + right) // 2} {(top + bottom) // 2}"
        return out


class XDSL(NetworkFormat):
    """GeNIe's XDSL."""

    name = "xdsl"
    extensions = (".xdsl",)
    holds_real = True

    def read(self, source: FileText, normalize: bool) -> Parts:
        """Read XDSL; decisions, utilities and equations that are not linear are refused by name."""
        return _Reader(source, normalize).parts()

    def write(self, net: BayesianNetwork) -> str:
        """Write XDSL; a noisy-OR or noisy-MAX stays one, and a real variable becomes an equation.

        GeNIe has "no effect" as the last state of a noisy-MAX, so such a variable is written with its states from the
        largest effect to none.
        """
        plain = plain_names(net.names)
        states, cpds = in_effect_order(net)
        label = net.properties.get("", {}).get("label", _UNNAMED)
        lines = ['<?xml version="1.0" encoding="UTF-8"?>']
        lines += [f'<smile version="1.0" id="{escaped(plain_names([label])[0])}" numsamples="10000">', "<nodes>"]
        for i in dag.topological_order(net.parents):  # a parent is known when its child is read
            lines += _node(net, i, plain, states[i], cpds[i])
        lines += ["</nodes>", "<extensions>", f'<genie version="1.0" app="bayeskit" name="{escaped(label)}">']
        for name, short in zip(net.names, plain, strict=True):
            lines += _drawn(name, short, net.properties.get(name, {}))
        return "\n".join([*lines, "</genie>", "</extensions>", "</smile>"]) + "\n"


def _drawn(name: str, short: str, said: Mapping[str, str]) -> list[str]:
    lines = [f'<node id="{short}"><name>{escaped(said.get("label", name))}</name>']
    place = re.fullmatch(r"(-?\d{1,9}) (-?\d{1,9})", said.get("position", ""))
    if place:
        (x, y), (w, h) = map(int, place.groups()), _HALF
        lines.append(f"<position>{x - w} {y - h} {x + w} {y + h}</position>")
    if said.get("comment"):
        lines.append(f"<comment>{escaped(said['comment'])}</comment>")
    return [*lines, "</node>"]


def _node(net: BayesianNetwork, i: int, plain: list[str], named: Sequence[str], cpd: Distribution) -> list[str]:
    name, states = net.names[i], plain_names(named)
    kind, body = _definition(plain[i], [plain[p] for p in net.parents[i]], cpd)
    lines = [f'<{kind} id="{plain[i]}">', *(f'<state id="{state}"/>' for state in states)]
    if net.parents[i]:
        lines.append(f"<parents>{' '.join(plain[p] for p in net.parents[i])}</parents>")
    lines += body
    if (plain[i], *states) != (name, *named):
        words = json.dumps([name, *named], ensure_ascii=False)
        lines.append(f'<property id="{_OURS}">{escaped(words)}</property>')
    for key, text in net.properties.get(name, {}).items():
        if key not in ("label", "comment", "position"):
            lines.append(f'<property id="{escaped(key)}">{escaped(text)}</property>')
    return [*lines, f"</{kind}>"]


def _definition(name: str, parents: list[str], cpd: Distribution) -> tuple[str, list[str]]:
    if isinstance(cpd, GaussianCPD):
        return "equation", [f"<definition>{escaped(f'{name}={equation_text(cpd, parents)}')}</definition>"]
    if isinstance(cpd, IndependentCauses) and cpd.combine == "max":
        strengths = [k for link in cpd.links for k in range(len(link))]
        rows = np.concatenate([*cpd.links, cpd.leak[None, :]])[:, ::-1]
        return "noisymax", [
            f"<strengths>{' '.join(map(str, strengths))}</strengths>",
            f"<parameters>{' '.join(map(repr, rows.ravel().tolist()))}</parameters>",
        ]
    return "cpt", [f"<probabilities>{' '.join(map(repr, cpd.values.ravel().tolist()))}</probabilities>"]
