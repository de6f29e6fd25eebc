"""English and Chinese: what a person reads, in the person's language.

The library writes English. Where a person reads it (a message of an exception, a line of the command, a report) it
passes through `translated`, which looks the sentence up in the catalogue of the language, ``zh.po``.

The language is that of ``BAYESKIT_LANG``, or of the locale (``LC_ALL``, ``LC_MESSAGES``, ``LANG``), or English.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from bayeskit.language.catalogue import Catalogue

LANGUAGES = ("en", "zh")
_VARIABLES = ("BAYESKIT_LANG", "LC_ALL", "LC_MESSAGES", "LANG")

# What `set_language` chose; until it is called, the environment decides.
_chosen: str | None = None


def get_language() -> str:
    """Return "en" or "zh", the language in which bayeskit speaks to a person.

    Examples
    --------
    >>> with language("zh"):
    ...     get_language()
    'zh'
    """
    if _chosen is not None:
        return _chosen
    asked = next((os.environ[name] for name in _VARIABLES if os.environ.get(name)), "")
    return "zh" if asked.lower().startswith("zh") else "en"


def set_language(name: str | None) -> None:
    """Choose the language of messages, summaries and reports: "en", "zh", or None for that of the environment.

    Examples
    --------
    >>> set_language("fr")
    Traceback (most recent call last):
    ...
    ValueError: language must be 'en' or 'zh', or None for that of the environment; got 'fr'.
    """
    global _chosen
    if name is not None and name not in LANGUAGES:
        raise ValueError(f"language must be 'en' or 'zh', or None for that of the environment; got {name!r}.")
    _chosen = name


@contextmanager
def language(name: str | None) -> Iterator[None]:
    """Speak a language inside a ``with`` block.

    Examples
    --------
    >>> with language("zh"):
    ...     print(translated("there is no row to explain."))
    没有可解释的行。
    """
    before = _chosen
    set_language(name)
    try:
        yield
    finally:
        set_language(before)


def translated(text: str) -> str:
    """Return sentences of the library in the language of the reader; what the catalogue does not know stays as it is.

    Values inside a sentence (names of columns, cells, numbers) are carried over unchanged.
    """
    return text if get_language() == "en" or not text else _catalogue(get_language()).translate(text)


def label(text: str) -> str:
    """Return a word or a heading of the library in the language of the reader.

    Unlike `translated` it looks up the whole text only, so that single words may be given to it; never give it data.
    """
    return text if get_language() == "en" else _catalogue(get_language()).exact(text)


@cache
def _catalogue(name: str) -> Catalogue:
    return Catalogue.read(Path(__file__).with_name(f"{name}.po"))
