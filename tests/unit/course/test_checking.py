"""The exercises: each is asked in both languages, solved on its page, and answered by the library."""

import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import numpy as np
import pytest

from bayeskit import course
from bayeskit.course import answers
from bayeskit.errors import BayeskitError

COURSE = Path(__file__).parents[3] / "docs/course"
CHAPTERS = [import_module(f"{answers.__name__}.{name}") for _, name, _ in iter_modules(answers.__path__)]
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


def pages(language):
    return sorted((COURSE / language).glob("[0-9]*.md"))


def test_both_languages_have_the_same_chapters_with_the_same_code():
    assert [page.name for page in pages("en")] == [page.name for page in pages("zh")]
    for english, chinese in zip(pages("en"), pages("zh"), strict=True):
        assert BLOCK.findall(english.read_text("utf-8")) == BLOCK.findall(chinese.read_text("utf-8")), english.name


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_exercise_is_asked_and_solved_on_its_page(language):
    assert len(pages(language)) == len(CHAPTERS)
    for page, chapter in zip(pages(language), CHAPTERS, strict=True):
        text = page.read_text("utf-8")
        assert re.findall(r"^\*\*(\d+\.\d+)\*\* ", text, re.MULTILINE) == list(chapter.ANSWERS)
        assert re.findall(r"^(\d+\.\d+) ✓$", text, re.MULTILINE) == list(chapter.ANSWERS)
        assert len(chapter.ANSWERS) >= 10


def test_three_digits_are_enough_and_fewer_are_said_to_be_near():
    assert course.check("1.1", 0.2085)
    assert course.check("1.1", np.float64(0.209))
    assert course.check("1.1", 0.21).outcome == "near"
    assert course.check("1.1", 0.5).outcome == "wrong"


@pytest.mark.parametrize(
    ("exercise", "answer", "said"),
    [
        ("1.1", "one fifth", "the answer is a number; got 'one fifth'"),
        ("1.1", True, "the answer is a number; got True"),
        ("1.7", 3, "the answer is a word; got 3"),
        ("5.4", ["根蒂"], "the answer is a list of 2; got ['根蒂']"),
        ("4.8", 1, "the answer is True or False; got 1"),
    ],
)
def test_an_answer_of_another_kind_is_told_what_is_asked_for(exercise, answer, said):
    assert said in str(course.check(exercise, answer))


def test_words_and_sets_are_compared_without_capitals_and_order():
    assert course.check("1.7", " Cancer ")
    assert course.check("5.4", {"脐部", "根蒂"})


def test_the_language_comes_from_the_argument_or_the_environment(monkeypatch):
    with pytest.raises(BayeskitError, match="lang must be one of 'en', 'zh'"):
        course.check("1.1", 0.21, lang="de")
    assert "三位有效数字" in str(course.check("1.1", 0.21, lang="zh"))
    monkeypatch.setenv("BAYESKIT_LANG", "zh_CN")
    assert "三位有效数字" in str(course.check("1.1", 0.21))


@pytest.mark.parametrize("number", ["99.1", "1", "one", ""])
def test_an_unknown_exercise_is_refused_by_its_number(number):
    with pytest.raises(BayeskitError, match=r"exercises are numbered '1\.1' to"):
        course.check(number, 1)
    with pytest.raises(BayeskitError, match=r"chapter 1 has the exercises 1\.1, 1\.2"):
        course.check("1.99", 1)
