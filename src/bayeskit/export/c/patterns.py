"""Regular expressions → programs of a few instructions, which a C function of forty lines runs in linear time."""

from __future__ import annotations

from dataclasses import dataclass, field

from bayeskit.export.forms import BLANK

# What an instruction does; the numbers are those of the C file.
CHARACTER, CLASS, NOT_CLASS, SPLIT, JUMP, SAVE, END, MATCH = range(8)

Ranges = list[tuple[int, int]]
_DIGIT: Ranges = [(48, 57)]
_SPACE: Ranges = [(ord(character), ord(character)) for character in BLANK]


@dataclass
class Program:
    """Instructions (what, a, b), and the ranges of characters that classes name."""

    steps: list[list[int]] = field(default_factory=list)
    ranges: list[int] = field(default_factory=list)

    def add(self, what: int, a: int = 0, b: int = 0) -> int:
        """Add an instruction and return its place."""
        self.steps.append([what, a, b])
        return len(self.steps) - 1


def compiled(pattern: str) -> Program:
    """Return the program of a pattern of whole texts, as the reader writes them.

    >>> [step[0] for step in compiled("^a?$").steps]
    [3, 0, 6, 7]
    """
    return _Compiler(pattern).program


class _Compiler:
    """Reads a pattern from left to right; each piece is a list of instructions that can be written again."""

    def __init__(self, pattern: str) -> None:
        self.text = pattern
        self.at, self.n_groups = 0, 0
        self.program = Program()
        tree = self._alternatives()
        if self.at < len(self.text):
            raise ValueError(f"not understood at {self.at} in {pattern!r}")
        self._write(tree)
        self.program.add(MATCH)

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _take(self) -> str:
        self.at += 1
        return self.text[self.at - 1]

    def _alternatives(self) -> tuple:  # type: ignore[type-arg]
        branches = [self._sequence()]
        while self._peek() == "|":
            self._take()
            branches.append(self._sequence())
        return branches[0] if len(branches) == 1 else ("either", branches)

    def _sequence(self) -> tuple:  # type: ignore[type-arg]
        items = []
        while self._peek() and self._peek() not in "|)":
            items.append(self._repeated(self._item()))
        return ("all", items)

    def _item(self) -> tuple:  # type: ignore[type-arg]
        character = self._take()
        if character == "(":
            group = None
            if self.text.startswith("?:", self.at):
                self.at += 2
            else:
                self.n_groups += 1
                group = self.n_groups
            inner = self._alternatives()
            self._take()
            return inner if group is None else ("group", group, inner)
        if character == "[":
            return self._class()
        if character == "^":
            return ("all", [])  # every pattern starts at the start
        if character == "$":
            return ("end",)
        if character == ".":
            return ("class", NOT_CLASS, [(10, 10)])
        return self._escape() if character == "\\" else ("class", CHARACTER, [(ord(character),) * 2])

    def _escape(self) -> tuple:  # type: ignore[type-arg]
        character = self._take()
        known = {"d": (CLASS, _DIGIT), "s": (CLASS, _SPACE)}
        return ("class", *known.get(character, (CHARACTER, [(ord(character),) * 2])))

    def _class(self) -> tuple:  # type: ignore[type-arg]
        negated = self._peek() == "^"
        self.at += negated
        ranges: Ranges = []
        while self._peek() != "]":
            character = self._take()
            if character == "\\":
                ranges += self._escape()[2]
            elif self._peek() == "-" and self.text[self.at + 1] != "]":
                self._take()
                ranges.append((ord(character), ord(self._take())))
            else:
                ranges.append((ord(character), ord(character)))
        self._take()
        return ("class", NOT_CLASS if negated else CLASS, ranges)

    def _repeated(self, item: tuple) -> tuple:  # type: ignore[type-arg]
        character = self._peek()
        if character in ("?", "*", "+"):
            self._take()
            low, high = {"?": (0, 1), "*": (0, None), "+": (1, None)}[character]
            return ("times", item, low, high)
        if character != "{":
            return item
        end = self.text.index("}", self.at)
        bounds = self.text[self.at + 1 : end].split(",")
        self.at = end + 1
        low = int(bounds[0])
        high = low if len(bounds) == 1 else int(bounds[1]) if bounds[1] else None
        return ("times", item, low, high)

    def _write(self, tree: tuple) -> None:  # type: ignore[type-arg]
        add, steps = self.program.add, self.program.steps
        if tree[0] == "class":
            first = len(self.program.ranges) // 2
            self.program.ranges += [bound for pair in tree[2] for bound in pair]
            add(tree[1], *((tree[2][0][0], 0) if tree[1] == CHARACTER else (first, first + len(tree[2]))))
        elif tree[0] == "all":
            for item in tree[1]:
                self._write(item)
        elif tree[0] == "end":
            add(END)
        elif tree[0] == "group":
            add(SAVE, 2 * tree[1])
            self._write(tree[2])
            add(SAVE, 2 * tree[1] + 1)
        elif tree[0] == "either":
            jumps = []
            for branch in tree[1][:-1]:
                split = add(SPLIT, len(steps) + 1)
                self._write(branch)
                jumps.append(add(JUMP))
                steps[split][2] = len(steps)
            self._write(tree[1][-1])
            for jump in jumps:
                steps[jump][1] = len(steps)
        else:
            self._write_times(*tree[1:])

    def _write_times(self, item: tuple, low: int, high: int | None) -> None:  # type: ignore[type-arg]
        add, steps = self.program.add, self.program.steps
        for _ in range(low):
            self._write(item)
        if high is None:
            split = add(SPLIT, len(steps) + 1)
            self._write(item)
            add(JUMP, split)
            steps[split][2] = len(steps)
            return
        splits = []
        for _ in range(high - low):
            splits.append(add(SPLIT, len(steps) + 1))
            self._write(item)
        for split in splits:
            steps[split][2] = len(steps)
