"""Strings → tokens: words by the rules of Unicode, scikit-learn's pattern, characters, or a function of your own."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeskit._kernels import TextReader
from bayeskit.errors import TableError

UNITS = ("words", "sklearn", "characters")
IDEOGRAPHS = ("bigrams", "characters")
FORMS = ("NFC", "NFD", "NFKC", "NFKD")
# Documents handed to a kernel at once: what is folded for it is this much text at the most, whatever the corpus.
_TOGETHER = 512


@dataclass(frozen=True)
class Tokenizer:
    """How a text becomes tokens.

    Parameters
    ----------
    tokens : {"words", "sklearn", "characters"} or callable, default "words"
        - "words": the words of Unicode Standard Annex #29, with digits joined as in 3.14 and apostrophes as in don't;
          a typographic one inside a word is that of the keyboard, so that don’t is the same token. Emoji are words;
          invisible characters (soft hyphens, direction marks) are left out of a word. Scripts without spaces (Chinese
          ideographs, Hiragana, Thai, …) are split by ``ideographs``.
        - "sklearn": two or more letters, digits and underscores in a row, which is scikit-learn's default pattern.
        - "characters": every character; two or more white spaces count as one space.
        - a function that takes a string and gives strings, such as ``jieba.lcut``.
    ngram_range : (int, int), default (1, 1)
        The least and the largest n of the n-grams, of words or of characters. Words are joined by one space.
    lowercase : bool, default True
        Fold the case: by full case folding ("Straße" is "strasse"), or for "sklearn" by lower case.
    punctuation : bool, default False
        Whether punctuation becomes tokens too, for "words".
    ideographs : {"bigrams", "characters"}, default "bigrams"
        Whether scripts without spaces become overlapping pairs, or single characters, for "words".
    unicode_form : {"NFC", "NFD", "NFKC", "NFKD"}, optional
        The Unicode normal form that texts are brought to first: NFC makes é one character however it was typed.
    hashing : int, optional
        Number of buckets that tokens are hashed into, instead of a vocabulary.
    hash_seed : int, default 0
        Seed of the hash.

    Examples
    --------
    >>> Tokenizer().split("Don't panic: it's 3.14!")
    ["don't", 'panic', "it's", '3.14']
    >>> Tokenizer().split("朴素贝叶斯 works")
    ['朴素', '素贝', '贝叶', '叶斯', 'works']
    >>> Tokenizer(punctuation=True).split("Really?!")
    ['really', '?', '!']
    >>> Tokenizer("characters", ngram_range=(2, 2)).split("Bayes")
    ['ba', 'ay', 'ye', 'es']
    """

    tokens: str | Callable[[str], Iterable[str]] = "words"
    ngram_range: tuple[int, int] = (1, 1)
    lowercase: bool = True
    punctuation: bool = False
    ideographs: str = "bigrams"
    unicode_form: str | None = None
    hashing: int | None = None
    hash_seed: int = 0

    @property
    def reader(self) -> TextReader:
        """The kernel's tokenizer."""
        unit = UNITS.index(self.tokens) if isinstance(self.tokens, str) else 0
        low, high = self.ngram_range
        return TextReader(
            unit,
            self.punctuation,
            self.ideographs == "bigrams",
            int(low),
            int(high),
            self.lowercase,
            None if isinstance(self.tokens, str) else self.tokens,
            self.hashing or 0,
            self.hash_seed,
        )

    def normal(self, text: str) -> str:
        """Return the text in its normal form, if one is set."""
        form: Any = self.unicode_form
        return text if form is None or unicodedata.is_normalized(form, text) else unicodedata.normalize(form, text)

    def prepare(self, text: str) -> str:
        """Bring a text to its normal form and fold the letters beyond ASCII; the kernel folds A to Z itself."""
        if text.isascii() and isinstance(self.tokens, str):
            return text
        text = self.normal(text)
        if not self.lowercase:
            return text
        return text.lower() if self.tokens == "sklearn" else text.casefold()

    def split(self, text: str) -> list[str]:
        """Return the tokens of one text."""
        return self.reader.tokens(self.prepare(text))

    def spans(self, text: str) -> list[tuple[str, int, int]]:
        """Return the tokens of one text, each with where it begins and ends in the (normal form of the) text.

        Tokens of a function are searched in the text one after the other; those that are not found get an empty span
        at the current position.

        >>> Tokenizer().spans("Weiß wie Schnee")
        [('weiss', 0, 4), ('wie', 5, 8), ('schnee', 9, 15)]
        """
        text = self.normal(text)
        prepared = self.prepare(text)
        if not isinstance(self.tokens, str):
            return _spans_by_search(self.reader.tokens(prepared), text)
        spans = self.reader.spans(prepared)
        if text.isascii():
            return spans
        # Folding may lengthen a character: places are brought back by character.
        back = _places(text, self)
        return [(token, back[begin], back[end]) for token, begin, end in spans]

    def batches(self, texts: Sequence[str]) -> Iterator[tuple[slice, list[str]]]:
        """Yield prepared documents, some at a time, with where they stand."""
        for begin in range(0, len(texts), _TOGETHER):
            part = slice(begin, min(begin + _TOGETHER, len(texts)))
            yield part, [self.prepare(text) for text in texts[part]]


def _places(text: str, tokenizer: Tokenizer) -> list[int]:
    places = []
    for i, sign in enumerate(text):
        places += [i] * len(tokenizer.prepare(sign))
    return [*places, len(text)]


def _spans_by_search(tokens: list[str], text: str) -> list[tuple[str, int, int]]:
    spans, begin, low = [], 0, text.lower()
    for token in tokens:
        at = text.find(token, begin)
        at = low.find(token, begin) if at < 0 and len(low) == len(text) else at
        if at >= 0:
            begin = at + len(token)
        spans.append((token, at if at >= 0 else begin, begin))
    return spans


def read_documents(texts: Any) -> list[str]:
    """Return documents as a list of strings; anything else is an error that names the row.

    >>> read_documents(["one", "two"])
    ['one', 'two']
    >>> read_documents(["one", None])
    Traceback (most recent call last):
    ...
    bayeskit.errors.TableError: document 1 must be text; got None; write an empty text "" for a document without words.
    """
    if isinstance(texts, str):
        raise TableError("Iterable over raw text documents expected, string object received; put one text into a list.")
    if isinstance(texts, bytes):
        raise TableError(
            "bytes are not text: decode them, such as with data.decode('utf-8'), and put them into a list."
        )
    documents = _as_list(texts)
    if set(map(type, documents)) <= {str}:
        return documents
    for row, text in enumerate(documents):
        if not isinstance(text, str):
            if isinstance(text, bytes):
                raise TableError(f"document {row} is bytes; decode it first, such as with text.decode('utf-8').")
            raise TableError(
                f'document {row} must be text; got {text!r:.60}; write an empty text "" for a document without words.'
            )
    return [str(text) for text in documents]  # texts of a class of their own, such as numpy.str_


def _as_list(texts: Any) -> list[Any]:
    if isinstance(texts, list):
        return texts
    shape = getattr(texts, "shape", None)
    if isinstance(texts, dict) or (shape is not None and len(shape) != 1 and not (len(shape) == 2 and shape[1] == 1)):
        what = f"shape {shape}" if shape is not None else type(texts).__name__
        raise TableError(f"documents are a list of texts or one column of them; got {what}.")
    if shape is not None and len(shape) == 2:  # a table of one column
        texts = texts.to_numpy() if hasattr(texts, "to_numpy") else np.asarray(texts)
        return list(texts.ravel().tolist())
    for way in ("to_pylist", "to_list", "tolist"):  # Arrow, polars and pandas, NumPy
        if hasattr(texts, way):
            return list(getattr(texts, way)())
    if not hasattr(texts, "__iter__"):
        raise TableError(f"documents are a list of texts or one column of them; got {type(texts).__name__}.")
    return list(texts)
