"""Questions as text: ``P(lung | smoke=yes, xray={yes, no})``, ``P(lung | do(smoke=yes))`` and ``argmax(lung | …)``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from bayeskit.errors import NetworkError

_TOKEN = re.compile(r"""\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<mark>[|,={}()])|(?P<word>[^\s|,={}()"']+))""")
_USAGE = (
    'write it as "P(lung | smoke=yes, xray=abnormal)", "P(lung=yes | smoke={yes, no})", "P(lung | do(smoke=yes))" or '
    '"argmax(lung | smoke=yes)"'
)


@dataclass
class ParsedQuestion:
    """A question that was read.

    Attributes
    ----------
    kind : str
        "P" or "argmax".
    names : list of str
        The variables asked for.
    event : dict
        The states of those that were asked for with a state.
    given : dict
        The evidence: a state, or a set of states.
    actions : dict
        The interventions: the state that each variable is set to.
    """

    kind: str
    names: list[str] = field(default_factory=list)
    event: dict[str, str | set[str]] = field(default_factory=dict)
    given: dict[str, str | set[str]] = field(default_factory=dict)
    actions: dict[str, str] = field(default_factory=dict)


def read_question(text: str) -> ParsedQuestion:
    """Read a question; names and states with spaces or marks go in quotes.

    Examples
    --------
    >>> question = read_question('P("night sweat"=yes | smoke={yes, no})')
    >>> question.names, question.event, sorted(question.given["smoke"])
    (['night sweat'], {'night sweat': 'yes'}, ['no', 'yes'])
    """
    tokens = _tokens(text)
    kind = tokens.word("the question")
    if kind not in ("P", "p", "argmax"):
        raise tokens.wrong(f"a question starts with P or argmax, not {kind!r}")
    question = ParsedQuestion("argmax" if kind == "argmax" else "P")
    tokens.mark("(")
    while not tokens.at("|") and not tokens.at(")"):
        name, states = tokens.item()
        if name in question.names:
            raise tokens.wrong(f"{name!r} is asked for twice")
        question.names.append(name)
        if states is not None:
            question.event[name] = states
        if not tokens.take(","):
            break
    if tokens.take("|"):
        _read_given(question, tokens)
    tokens.mark(")")
    tokens.end()
    _check(question, tokens)
    return question


def _read_given(question: ParsedQuestion, tokens: _Tokens) -> None:
    while not tokens.at(")"):
        if tokens.starts("do"):
            _read_actions(question, tokens)
        else:
            name, states = tokens.item()
            if states is None:
                raise tokens.wrong(f"{name!r} needs a state, since it is after the bar")
            if name in question.given or name in question.actions:
                raise tokens.wrong(f"{name!r} is given twice")
            question.given[name] = states
        if not tokens.take(","):
            break


def _read_actions(question: ParsedQuestion, tokens: _Tokens) -> None:
    while True:
        name, states = tokens.item()
        if not isinstance(states, str):
            raise tokens.wrong(f"do sets a variable to one state, as do({name}=yes)")
        if name in question.given or name in question.actions:
            raise tokens.wrong(f"{name!r} is given twice")
        question.actions[name] = states
        if not tokens.take(","):
            break
    tokens.mark(")")


def _check(question: ParsedQuestion, tokens: _Tokens) -> None:
    if question.kind == "argmax" and question.event:
        raise tokens.wrong("argmax finds the states; give only the names of the variables")
    if question.kind == "P" and not question.names:
        raise tokens.wrong("no variable is asked for")
    if question.event and len(question.event) < len(question.names):
        raise tokens.wrong("give a state for each variable before the bar, or for none")


class _Tokens:
    def __init__(self, text: str, tokens: list[tuple[str, str]]) -> None:
        self.text, self.tokens, self.place = text, tokens, 0

    def wrong(self, what: str) -> NetworkError:
        return NetworkError(f"question {self.text!r}: {what}; {_USAGE}.")

    def at(self, mark: str) -> bool:
        return self.place < len(self.tokens) and self.tokens[self.place] == ("mark", mark)

    def take(self, mark: str) -> bool:
        here = self.at(mark)
        self.place += here
        return here

    def starts(self, word: str) -> bool:
        """Step over a word and an opening bracket if both come next."""
        here = self.tokens[self.place : self.place + 2] == [("word", word), ("mark", "(")]
        self.place += 2 * here
        return here

    def mark(self, mark: str) -> None:
        if not self.take(mark):
            raise self.wrong(f"expected {mark!r} {self._here()}")

    def word(self, what: str) -> str:
        if self.place >= len(self.tokens) or self.tokens[self.place][0] == "mark":
            raise self.wrong(f"expected {what} {self._here()}")
        self.place += 1
        return self.tokens[self.place - 1][1]

    def item(self) -> tuple[str, str | set[str] | None]:
        name = self.word("a variable")
        if not self.take("="):
            return name, None
        if not self.take("{"):
            return name, self.word("a state")
        states = {self.word("a state")}
        while self.take(","):
            states.add(self.word("a state"))
        self.mark("}")
        return name, states

    def end(self) -> None:
        if self.place < len(self.tokens):
            raise self.wrong(f"nothing may follow the closing bracket, but there is {self.tokens[self.place][1]!r}")

    def _here(self) -> str:
        if self.place >= len(self.tokens):
            return "at the end"
        return f"before {self.tokens[self.place][1]!r}"


def _tokens(text: str) -> _Tokens:
    tokens, place = [], 0
    end = len(text.rstrip())
    while place < end:
        match = _TOKEN.match(text, place)
        if match is None:
            raise NetworkError(f"question {text!r}: a quote at character {place + 1} is not closed; {_USAGE}.")
        kind = match.lastgroup or "word"
        tokens.append(("mark" if kind == "mark" else "word", match.group(kind)))
        place = match.end()
    return _Tokens(text, tokens)
