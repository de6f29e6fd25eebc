"""A small language for formulas in files and tables: numbers, names, arithmetic, comparisons, If and a few functions.

Text is parsed here and never given to Python's own ``eval``; how long and how deep it may be is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from bayeskit.errors import NetworkError
from bayeskit.network.expression_values import FUNCTIONS, UnfitValueError, apply, call, truth
from bayeskit.network.variable_names import did_you_mean

# Longer or deeper than any formula that a person writes, and below Python's own limit of calls in calls.
MAX_LENGTH = 1_000_000
MAX_DEPTH = 60
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][+-]?\d++)?+)(?![\w.])|(?P<name>[^\W\d]\w*+(?:\.[^\W\d]\w*+)*+)"
    r"""|(?P<text>"[^"\n]*+"|'[^'\n]*+')|(?P<sign>\|\||&&|==|!=|<>|<=|>=|\*\*|[-+*/^()<>=!?:,%]))"""
)
_WORDS = {"and": "and", "or": "or", "&&": "and", "||": "or", "==": "=", "<>": "!=", "**": "^"}
# How tightly an operator binds; those of one level are read from the left.
_LEVEL = {
    "or": 1, "and": 2, "=": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6,
}  # fmt: skip
_NOT, _MINUS = 3, 7


class ExpressionError(NetworkError):
    """A formula that cannot be read or computed; ``at`` is the place in its text."""

    def __init__(self, text: str, at: int, message: str) -> None:
        shown = text if len(text) <= 80 else text[:80] + "…"
        super().__init__(f"the formula {shown!r}, character {at + 1}: {message}")
        self.at, self.message = at, message


@dataclass(frozen=True)
class _Node:
    """A part of a formula: its kind, its place, what it says, and the parts that it joins."""

    kind: str
    at: int
    said: Any
    parts: tuple[_Node, ...] = ()


class Expression:
    """A formula that has been read: ``2 * x + 1``, ``If(a == "yes" and b > 3, 1, 0)``, ``max(x, y) >= 2``.

    Parameters
    ----------
    text : str
        Numbers, names, text in quotes; ``+ - * / % ^``; ``== != < <= > >=``; ``and or not`` (or ``&& || !``);
        ``If(condition, yes, no)`` (or ``condition ? yes : no``); `FUNCTIONS`. Words of operators and functions may be
        in any case.

    Examples
    --------
    >>> formula = Expression("If(x > 2, x ^ 2, -x)")
    >>> formula.value({"x": 3.0}), formula.value({"x": 1.0})
    (9.0, -1.0)
    >>> sorted(formula.names)
    ['x']
    """

    def __init__(self, text: str) -> None:
        if len(text) > MAX_LENGTH:
            raise ExpressionError(text, 0, f"the formula has {len(text)} characters; at most {MAX_LENGTH} are read.")
        self.text = text
        self.names: set[str] = set()
        self._root = _Parser(self).whole()

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    def value(self, values: Mapping[str, Any]) -> Any:
        """Return what the formula gives for these values of its names."""
        return self._evaluate(self._root, values)

    def fault(self, at: int, message: str) -> NoReturn:
        """Refuse the formula at a place."""
        raise ExpressionError(self.text, at, message)

    def _evaluate(self, node: _Node, values: Mapping[str, Any]) -> Any:
        try:
            if node.kind == "value":
                return node.said
            if node.kind == "name":
                if node.said not in values:
                    self.fault(node.at, f"{node.said!r} is not known here; {did_you_mean(node.said, sorted(values))}")
                return values[node.said]
            if node.kind == "chain":
                return self._chain(node, values)
            if node.kind == "if":
                # Only the branch that counts is computed, so the other may divide by 0.
                condition, yes, no = node.parts
                return self._evaluate(yes if truth(self._evaluate(condition, values)) else no, values)
            return call(node.said, [self._evaluate(part, values) for part in node.parts])
        except ExpressionError:
            raise
        except UnfitValueError as error:
            self.fault(node.at, str(error))
        except (ArithmeticError, ValueError):
            self.fault(node.at, "the result is not a finite number.")

    def _chain(self, node: _Node, values: Mapping[str, Any]) -> Any:
        result = self._evaluate(node.parts[0], values)
        for sign, part in zip(node.said, node.parts[1:], strict=True):
            if sign in ("and", "or") and truth(result) == (sign == "or"):
                result = truth(result)
                continue
            result = apply(sign, result, self._evaluate(part, values))
        return result


class _Parser:
    """Reads by how tightly operators bind; a run of one level is one part, so that long sums are not deep."""

    def __init__(self, expression: Expression) -> None:
        self.expression, self.text, self.at, self.depth = expression, expression.text, 0, 0
        self.kind, self.token, self.start = "", "", 0
        self.step()

    def step(self) -> None:
        """Go on to the next token."""
        follows_operand = self.kind in ("number", "text", "name") or self.token == ")"
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            rest = self.text[self.at :]
            self.start = self.at + len(rest) - len(rest.lstrip())
            if rest.strip():
                self.expression.fault(self.start, f"cannot read {rest.strip()[:20]!r} here.")
            self.kind, self.token = "end", ""
            return
        self.kind = match.lastgroup or ""
        self.start, self.at = match.start(self.kind), match.end()
        word = match.group(self.kind)
        if self.kind == "name" and word.lower() in ("and", "or", "not") and not self._is_call(follows_operand):
            self.kind, word = "sign", word.lower()
        self.token = _WORDS.get(word, word) if self.kind == "sign" else word

    def _is_call(self, follows_operand: bool) -> bool:
        """Return whether a word such as ``and`` stands for a function: ``and(a, b)`` and no operand before it."""
        return not follows_operand and bool(re.match(r"\s*\(", self.text[self.at : self.at + 20]))

    def whole(self) -> _Node:
        """Read all of the text."""
        node = self.choice()
        if self.kind != "end":
            self.expression.fault(self.start, f"expected an operator or the end, found {self.token[:20]!r}.")
        return node

    def choice(self) -> _Node:
        """Read ``condition ? yes : no``, or what is not one."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.expression.fault(self.start, f"the formula is nested more than {MAX_DEPTH} deep.")
        node = self.operation(1)
        if self.token == "?" and self.kind == "sign":
            at = self.start
            self.step()
            yes = self.choice()
            self.need(":")
            node = _Node("if", at, "if", (node, yes, self.choice()))
        self.depth -= 1
        return node

    def need(self, sign: str) -> None:
        """Step over a sign that must come."""
        if self.kind != "sign" or self.token != sign:
            self.expression.fault(self.start, f"expected {sign!r}, found {self.token[:20]!r}." if self.token else
                                  f"expected {sign!r}, found the end.")  # fmt: skip
        self.step()

    def operation(self, least: int) -> _Node:
        """Read a run of operators that bind at least so tightly."""
        node = self.operand()
        while self.kind == "sign" and _LEVEL.get(self.token, 0) >= least:
            level, at, signs, parts = _LEVEL[self.token], self.start, [], [node]
            while self.kind == "sign" and _LEVEL.get(self.token) == level:
                signs.append(self.token)
                self.step()
                parts.append(self.operation(level + 1))
            node = _Node("chain", at, tuple(signs), tuple(parts))
        return node

    def operand(self) -> _Node:
        """Read a signed operand with its power."""
        at, sign = self.start, self.token
        if self.kind == "sign" and sign in ("-", "+", "!", "not"):
            self.depth += 1
            if self.depth > MAX_DEPTH:
                self.expression.fault(at, f"the formula is nested more than {MAX_DEPTH} deep.")
            self.step()
            inner = self.operation(_NOT + 1) if sign in ("!", "not") else self.operation(_MINUS)
            self.depth -= 1
            if sign == "+":
                return inner
            return _Node("call", at, "not" if sign in ("!", "not") else "negative", (inner,))
        node = self.atom()
        if self.kind == "sign" and self.token == "^":
            at = self.start
            self.depth += 1
            if self.depth > MAX_DEPTH:
                self.expression.fault(at, f"the formula is nested more than {MAX_DEPTH} deep.")
            self.step()
            node = _Node("chain", at, ("^",), (node, self.operand()))
            self.depth -= 1
        return node

    def atom(self) -> _Node:
        """Read a number, a text, a name, a call or brackets."""
        at, kind, word = self.start, self.kind, self.token
        if kind == "sign" and word == "(":
            self.step()
            node = self.choice()
            self.need(")")
            return node
        if kind not in ("number", "text", "name"):
            self.expression.fault(at, f"expected a number, a name or '(', found {word[:20]!r}." if word else
                                  "expected a number, a name or '(', found the end.")  # fmt: skip
        self.step()
        if kind == "number":
            return _Node("value", at, float(word))
        if kind == "text":
            return _Node("value", at, word[1:-1])
        if self.kind == "sign" and self.token == "(":
            return self.arguments(at, word)
        if word.lower() in ("true", "false"):
            return _Node("value", at, word.lower() == "true")
        self.expression.names.add(word)
        return _Node("name", at, word)

    def arguments(self, at: int, name: str) -> _Node:
        """Read the arguments of a function."""
        word = name.lower()
        if word not in FUNCTIONS:
            self.expression.fault(at, f"there is no function {name!r}; {did_you_mean(word, sorted(FUNCTIONS))}")
        self.step()
        parts: list[_Node] = []
        while not (self.kind == "sign" and self.token == ")"):
            if parts:
                self.need(",")
            parts.append(self.choice())
        self.step()
        least, most = FUNCTIONS[word]
        if not least <= len(parts) <= most:
            wanted = str(least) if least == most else f"{least} or more" if most > least + 1 else f"{least} or {most}"
            self.expression.fault(at, f"{name} takes {wanted} arguments; got {len(parts)}.")
        return _Node("if" if word == "if" else "call", at, word, tuple(parts))
