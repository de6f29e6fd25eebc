"""Whether an answer to an exercise of the course is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from numbers import Real
from pkgutil import iter_modules
from typing import Any, Literal

import numpy as np

from bayeskit.course import answers
from bayeskit.errors import BayeskitError
from bayeskit.language import get_language
from bayeskit.result import Result

# Three significant digits are enough, and what is this near was rounded too early.
_RIGHT, _NEAR = 5e-3, 5e-2
# What is added to the tolerance of numbers near zero.
_TINY = 1e-12

Outcome = Literal["right", "near", "wrong", "shape"]

_WORDS: dict[str, dict[str, str]] = {
    "en": {
        "near": "near, but give at least three significant digits",
        "wrong": "not this; think again, or unfold the solution below the exercise",
        "shape": "the answer is {wanted}; got {came}",
        "number": "a number",
        "text": "a word",
        "truth": "True or False",
        "list": "a list of {n}",
        "dict": "a dict with the keys {keys}",
    },
    "zh": {
        "near": "很接近，请至少给出三位有效数字",
        "wrong": "不对；再想一想，或展开题目下面的解答",
        "shape": "答案应是{wanted}，得到的是 {came}",
        "number": "一个数",
        "text": "一个词",
        "truth": " True 或 False",
        "list": "长度为 {n} 的列表",
        "dict": "以 {keys} 为键的字典",
    },
}


@dataclass(frozen=True)
class Verdict(Result):
    """Whether an answer is right; it is true where it is.

    Attributes
    ----------
    exercise : str
        The number of the exercise.
    outcome : {"right", "near", "wrong", "shape"}
        "near" is a number with too few digits, "shape" an answer of another kind than the one asked for.
    words : str
        What is wrong, in the language of the reader; empty where nothing is.
    """

    exercise: str
    outcome: Outcome
    words: str = ""

    def __bool__(self) -> bool:
        return self.outcome == "right"

    def __repr__(self) -> str:
        return f"{self.exercise} ✓" if self else f"{self.exercise} ✗ {self.words}"


def check(exercise: str, answer: Any, *, lang: str | None = None) -> Verdict:
    """Return whether an answer to an exercise of the course is right.

    Three significant digits are enough. Lists, dicts and arrays are compared part by part, words without regard to
    capitals.

    Parameters
    ----------
    exercise : str
        The number of the exercise, such as ``"1.3"``.
    answer : object
        A number, a word, True or False, or a list, an array or a dict of them.
    lang : {"en", "zh"}, optional
        The language of what is said; by default that of ``BAYESKIT_LANG`` or of the locale.

    Examples
    --------
    >>> from bayeskit import course
    >>> course.check("1.1", 0.2085)
    1.1 ✓
    >>> course.check("1.1", 0.21)
    1.1 ✗ near, but give at least three significant digits
    >>> course.check("1.1", "cancer", lang="zh")
    1.1 ✗ 答案应是一个数，得到的是 'cancer'
    """
    words = _WORDS[_language(lang)]
    right = _plain(right_answer(exercise))
    outcome = _compare(right, _plain(answer))
    if outcome == "shape":
        return Verdict(exercise, outcome, words["shape"].format(wanted=_kind(right, words), came=_shown(answer)))
    return Verdict(exercise, outcome, words.get(outcome, ""))


def right_answer(exercise: str) -> Any:
    """Return the answer that the library works out.

    Examples
    --------
    >>> round(right_answer("1.1"), 6)
    0.208511
    """
    chapter, _, number = str(exercise).partition(".")
    chapters = {name.removeprefix("chapter_"): name for _, name, _ in iter_modules(answers.__path__)}
    name = chapters.get(chapter.zfill(2))
    if name is None or not number:
        raise BayeskitError(f"exercises are numbered '1.1' to '{len(chapters)}.…'; got {exercise!r}.")
    known = import_module(f"{answers.__name__}.{name}").ANSWERS
    if str(exercise) not in known:
        raise BayeskitError(f"chapter {chapter} has the exercises {', '.join(known)}; got {exercise!r}.")
    return known[str(exercise)]()


def _language(lang: str | None) -> str:
    if lang is not None and lang not in _WORDS:
        raise BayeskitError(f"lang must be one of {', '.join(map(repr, _WORDS))}; got {lang!r}.")
    return lang or get_language()


def _plain(value: Any) -> Any:
    """Return numbers, words, and lists and dicts of them, in place of arrays and results."""
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, set | frozenset):
        return sorted(map(_plain, value), key=str)
    if isinstance(value, Sequence):
        return [_plain(item) for item in value]
    return str(value)


def _compare(right: Any, answer: Any) -> Outcome:
    if isinstance(right, dict) and isinstance(answer, dict) and set(right) == set(answer):
        return _worst(_compare(right[key], answer[key]) for key in right)
    if isinstance(right, list) and isinstance(answer, list) and len(right) == len(answer):
        return _worst(map(_compare, right, answer))
    if isinstance(right, bool) or isinstance(answer, bool):
        return _said(right == answer) if isinstance(right, bool) and isinstance(answer, bool) else "shape"
    if isinstance(right, float) and isinstance(answer, float | int):
        away = abs(right - answer)
        if away <= _RIGHT * abs(right) + _TINY:
            return "right"
        return "near" if away <= _NEAR * abs(right) else "wrong"
    if isinstance(right, str) and isinstance(answer, str):
        return _said(right.strip().casefold() == answer.strip().casefold())
    return "shape"


def _said(same: bool) -> Outcome:
    return "right" if same else "wrong"


def _worst(outcomes: Any) -> Outcome:
    order: tuple[Outcome, ...] = ("right", "near", "wrong", "shape")
    return max(outcomes, key=order.index, default="right")


def _kind(right: Any, words: dict[str, str]) -> str:
    if isinstance(right, bool):
        return words["truth"]
    if isinstance(right, dict):
        return words["dict"].format(keys=", ".join(right))
    if isinstance(right, list):
        return words["list"].format(n=len(right))
    return words["number" if isinstance(right, float) else "text"]


def _shown(answer: Any) -> str:
    text = repr(answer)
    return text if len(text) <= 60 else f"{text[:57]}…"
