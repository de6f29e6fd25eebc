"""Networks as JSON: pyAgrum's, of tables, and pgmpy's, of linear Gaussian variables."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from bayeskit.errors import NetworkError
from bayeskit.network.cpd.gaussian import GaussianCPD
from bayeskit.network.formats.network_format import NetworkFormat
from bayeskit.network.formats.network_parts import FileText, Parts, checked_rows

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

# The name may be that of a slice of pyAgrum's KTBN, rain[0], whose states follow.
_SLICE = r"\[(?:0|[1-9][0-9]{0,5})\]"
_FAST = re.compile(
    rf"(?P<name>[^\[\]{{}}]+(?:{_SLICE}(?=[\[{{]))?)" r"(?:\[(?P<numbers>[^\[\]{}]*)\]|\{(?P<labels>[^\[\]{}]*)\})?"
)
_NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+")
# Names that pyAgrum's short form cannot hold stand under a key of ours.
_OURS = "bayeskit"


class _Reader:
    def __init__(self, source: FileText, normalize: bool) -> None:
        self.source, self.normalize = source, normalize
        try:
            self.data = json.loads(
                source.text, parse_constant=lambda word: self.fault(word, f"{word} is not a number.")
            )
        except json.JSONDecodeError as error:
            source.fault(error.pos, f"this is not JSON: {error.msg}.")
        except RecursionError:
            source.fault(0, "the JSON is nested too deep.")

    def fault(self, word: str, message: str) -> NoReturn:
        """Refuse the file where a word stands first."""
        self.source.fault(max(self.source.text.find(word), 0), message)

    def no_number(self, word: str) -> NoReturn:
        self.fault(word, f"{word} is not a number.")

    def field(self, held: Any, key: str, kind: type, of: str) -> Any:
        if not isinstance(held, dict) or not isinstance(held.get(key), kind):
            self.fault(
                of, f"expected {key!r} of {of or 'the network'}, as {'an object' if kind is dict else 'a list'}."
            )
        return held[key]

    def parts(self) -> Parts:
        nodes = self.field(self.data, "nodes", list, "")
        if not all(isinstance(node, str) and node for node in nodes):
            self.fault("nodes", "'nodes' must be a list of names.")
        return self.gaussian(nodes) if "cpds" in self.data else self.discrete(nodes)

    def places(self, names: list[str]) -> dict[str, int]:
        places = {name: i for i, name in enumerate(names)}
        if len(places) < len(names):
            twice = next(name for i, name in enumerate(names) if places[name] != i)
            self.fault(twice, f"node {twice!r} appears twice.")
        return places

    def parents(self, name: str, above: Any, places: dict[str, int]) -> tuple[int, ...]:
        if not isinstance(above, list) or not all(isinstance(parent, str) and parent in places for parent in above):
            self.fault(name, f"the parents of {name!r} must be a list of names of the file.")
        if len({*above, name}) <= len(above):
            self.fault(name, f"a parent of {name!r} appears twice.")
        return tuple(places[parent] for parent in above)

    def at(self, name: str) -> int:
        return max(self.source.text.find(json.dumps(name, ensure_ascii=False)), 0)

    def gaussian(self, nodes: list[str]) -> Parts:
        """Read pgmpy's: coefficients, variance and parents of each variable."""
        places, cpds = self.places(nodes), self.field(self.data, "cpds", dict, "")
        parents, tables = [], []
        for name in nodes:
            held = self.field(cpds, name, dict, name)
            above = self.parents(name, held.get("parents", []), places)
            lines = self.field(held, "coefficients", dict, name)
            slopes = [self.number(lines.get(nodes[p]), name, f"the coefficient of {nodes[p]!r}") for p in above]
            strange = lines.keys() - {"(Intercept)", *(nodes[p] for p in above)}
            if strange:
                self.fault(name, f"{name!r} has a coefficient for {sorted(strange)[0]!r}, which is not its parent.")
            variance = self.number(held.get("variance"), name, "the variance")
            if not variance > 0:
                self.fault(name, f"the variance of {name!r} must be above 0; got {variance:g}.")
            intercept = self.number(lines.get("(Intercept)"), name, "the intercept")
            parents.append(above)
            numbers = (np.array([intercept]), np.array([slopes]).reshape(1, -1), np.array([sqrt(variance)]))
            tables.append(GaussianCPD((0,) * len(above), *numbers))
        return Parts(nodes, [()] * len(nodes), parents, tables, [0] * len(nodes))

    def number(self, value: Any, name: str, what: str) -> float:
        value = value[0] if isinstance(value, list) and len(value) == 1 else value
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            self.fault(name, f"{what} of {name!r} must be one number; got {str(value)[:40]!r}.")
        return float(value)

    def discrete(self, nodes: list[str]) -> Parts:
        """Read pyAgrum's: variables in its short form, parents, and tables whose first parent changes fastest."""
        read = [self.fast(node) for node in nodes]
        plain, states = [name for name, _ in read], [each for _, each in read]
        places = self.places(plain)
        above_of, cpt = (self.field(self.data, key, dict, "") for key in ("parents", "cpt"))
        names, states = self.full_names(plain, states)
        parents, tables = [], []
        for i, name in enumerate(plain):
            above = self.parents(name, above_of.get(name, []), places)
            values = self.field(cpt, name, list, name)
            if not all(isinstance(p, int | float) and not isinstance(p, bool) for p in values):
                self.fault(name, f"the table of {name!r} must be a list of numbers.")
            shape = (*(len(states[p]) for p in reversed(above)), len(states[i]))
            numbers = np.array(values, dtype=np.float64)
            table = checked_rows(self.source, self.at(name), names[i], numbers, shape, self.normalize)
            tables.append(np.ascontiguousarray(table.transpose([*reversed(range(len(above))), len(above)])))
            parents.append(above)
        return Parts(names, states, parents, tables, [0] * len(names), {"": self.properties()})

    def fast(self, text: str) -> tuple[str, tuple[str, ...]]:
        """Read ``A``, ``A[3]``, ``A[2,5]``, ``A[0,1.5,3]`` or ``A{x|y}``."""
        match = _FAST.fullmatch(text)
        if match is None:
            self.fault(text, f"the variable {text[:40]!r} is not in the form A, A[3] or A{{x|y}}.")
        if match["labels"] is not None:
            states = tuple(match["labels"].split("|"))
        else:
            words = [word.strip() for word in (match["numbers"] or "2").split(",")]
            if not all(_NUMBER.fullmatch(word) for word in words):
                self.fault(text, f"the numbers of {text[:40]!r} cannot be read.")
            if len(words) > 2:
                states = (*(f"[{a};{b}[" for a, b in pairwise(words[:-1])), f"[{words[-2]};{words[-1]}]")
            else:
                first, last = (0, int(float(words[0])) - 1) if len(words) == 1 else (int(float(w)) for w in words)
                if not 0 <= last - first < len(self.source.text):
                    self.fault(text, f"{text[:40]!r} has more states than the file can hold numbers for, or none.")
                states = tuple(str(k) for k in range(first, last + 1))
        if len(set(states)) < len(states) or "" in states:
            self.fault(text, f"the states of {text[:40]!r} must differ and not be empty.")
        return match["name"], states

    def full_names(self, plain: list[str], states: list[tuple[str, ...]]) -> tuple[list[str], list[tuple[str, ...]]]:
        if _OURS not in self.data:
            return plain, states
        ours = self.data[_OURS]
        good = isinstance(ours, list) and len(ours) == len(plain)
        good = good and all(
            isinstance(words, list)
            and len(words) == len(named) + 1
            and all(isinstance(word, str) and word for word in words)
            and len(set(words[1:])) == len(named)
            for words, named in zip(ours, states, strict=True)
        )
        if not good or len({words[0] for words in ours}) < len(plain):
            self.fault(_OURS, "the names of the variables must be a list of names with their states.")
        return [words[0] for words in ours], [tuple(words[1:]) for words in ours]

    def properties(self) -> dict[str, str]:
        held = self.data.get("properties", {})
        return {key: text for key, text in held.items() if isinstance(text, str)} if isinstance(held, dict) else {}


class JSON(NetworkFormat):
    """Networks as JSON, of pyAgrum and pgmpy."""

    name = "jgum"
    extensions = (".jgum", ".json")
    holds_real = True

    def read(self, source: FileText, normalize: bool) -> Parts:
        """Read pyAgrum's JSON of a discrete network, or pgmpy's of a linear Gaussian one."""
        return _Reader(source, normalize).parts()

    def write(self, net: BayesianNetwork) -> str:
        """Write a discrete network as pyAgrum does, and one of real variables only as pgmpy does."""
        if net.real:
            return _gaussian(net)
        simple = re.compile(rf"[^\[\]{{}}]+(?:{_SLICE})?")
        plain = [name if simple.fullmatch(name) else f"v{i}" for i, name in enumerate(net.names)]
        if len(set(plain)) < len(plain):
            plain = [f"v{i}" for i in range(len(plain))]
        hard = plain != list(net.names) or any(re.search(r"[|\[\]{}]", state) for each in net.states for state in each)
        nodes = [
            f"{name}[{len(states)}]" if hard else f"{name}{{{'|'.join(states)}}}"
            for name, states in zip(plain, net.states, strict=True)
        ]
        cpt = {
            plain[i]: table.transpose([*reversed(range(table.ndim - 1)), table.ndim - 1]).ravel().tolist()
            for i, table in enumerate(net.tables)
        }
        data: dict[str, Any] = {"type": "BN", "GumJsonVersion": "1.0", "nodes": nodes}
        data["parents"] = {plain[i]: [plain[p] for p in above] for i, above in enumerate(net.parents)}
        data |= {"cpt": cpt, "properties": dict(net.properties.get("", {}))}
        if hard:
            data[_OURS] = [[name, *states] for name, states in zip(net.names, net.states, strict=True)]
        return json.dumps(data, ensure_ascii=False) + "\n"


def _gaussian(net: BayesianNetwork) -> str:
    discrete = [name for name in net.names if name not in net.real]
    if discrete:
        raise NetworkError(
            f"JSON files hold networks whose variables are all real, or all discrete; {discrete[0]!r} is discrete. "
            "Write .net, .xdsl or .bayes."
        )
    cpds: dict[str, Any] = {}
    for i, name in enumerate(net.names):
        cpd = net.cpds[i]
        assert isinstance(cpd, GaussianCPD)
        above = [net.names[p] for p in net.parents[i]]
        lines = {"(Intercept)": [float(cpd.intercept[0])]}
        lines |= {parent: [slope] for parent, slope in zip(above, cpd.slope[0].tolist(), strict=True)}
        # The root of a rounded square is the same number again, in doubles.
        cpds[name] = {"coefficients": lines, "variance": [float(cpd.sd[0]) ** 2], "parents": above}
    return json.dumps({"nodes": list(net.names), "arcs": list(map(list, net.arcs)), "cpds": cpds}, ensure_ascii=False)
