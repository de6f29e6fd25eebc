"""The explanation of a text's class: the words for and against it, marked in the text."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeskit.explain import rendering
from bayeskit.explain.explanation import Explanation, Word
from bayeskit.result import AGAINST, FOR

# Below this share of the strongest word, a word is shown without a mark.
_FAINT = 0.05


class _WordTerms(Explanation):
    """One line per distinct word, with its count."""

    def labels(self) -> list[str]:
        return [
            f"{name}{f' × {n}' if n > 1 else ''}{'' if used else ' (not known)'}"
            for name, n, used in zip(self.features, self.values, self.used, strict=True)
        ]


@dataclass(frozen=True, repr=False, eq=False)
class TextExplanation:
    r"""Why one class is more probable than another for one text.

    .. math:: \log \frac{P(a \mid d)}{P(b \mid d)} = \log \frac{P(a)}{P(b)} + \sum_{i} w_i

    Attributes
    ----------
    text : str
        The text.
    classes : (a, b)
        The two classes; a positive weight supports a.
    prior : float
        The log-odds before any word. In the Bernoulli model it includes the weights of all *absent* words.
    words : tuple of Word
        The tokens in the order of the text.
    probability : float
        P(a given the text) among all classes.
    """

    text: str
    classes: tuple[Any, Any]
    prior: float
    words: tuple[Word, ...]
    probability: float

    @property
    def log_odds(self) -> float:
        """The prior plus the weights of all words."""
        return self.prior + float(sum(word.weight for word in self.words))

    def by_word(self) -> Explanation:
        """Return one term for each different word, the strongest first."""
        same: dict[str, list[Word]] = {}
        for word in self.words:
            same.setdefault(word.token, []).append(word)
        weight = {token: sum(word.weight for word in words) for token, words in same.items()}
        order = tuple(sorted(weight, key=lambda token: -abs(weight[token])))
        terms, used = np.array([weight[token] for token in order]), np.array([same[t][-1].used for t in order], bool)
        counts = tuple(len(same[token]) for token in order)
        return _WordTerms(self.classes, self.prior, order, counts, terms, used, self.probability)

    def _shares(self, most: int | None = None) -> list[tuple[int, int, float, Word]]:
        """Return the pieces of the text in order: begin, end, share of the strongest weight (0 between words), word."""
        n = len(self.text) if most is None else min(most, len(self.text))
        strongest = max((abs(word.weight) for word in self.words if np.isfinite(word.weight)), default=0.0) or 1.0
        at: list[float] = [0.0] * n
        of: list[Word | None] = [None] * n
        # Tokens may overlap (pairs of ideographs, n-grams): a character shows the sum of what it takes part in.
        for word in self.words:
            for i in range(word.begin, min(word.end, n)):
                at[i] += word.weight / strongest
                of[i] = of[i] or word
        pieces: list[tuple[int, int, float, Word]] = []
        blank = Word("", 0, 0, 0.0, False)
        for i, share in enumerate(at):
            word = of[i] or blank
            if pieces and pieces[-1][2] == share and pieces[-1][3] is word:
                pieces[-1] = (pieces[-1][0], i + 1, share, word)
            else:
                pieces.append((i, i + 1, share, word))
        return pieces

    def marked(self) -> str:
        """Return the text with ⁺ after words that support the first class, and ⁻ after those against it."""
        out = []
        for begin, end, share, _ in self._shares():
            mark = "" if abs(share) < _FAINT else "⁺" if share > 0 else "⁻"
            out.append(self.text[begin:end] + mark)
        return "".join(out)

    def to_html(self) -> str:
        """Return the text as HTML with words coloured by sign and size of their weight; all text is escaped."""
        first, second = (html.escape(str(name)) for name in self.classes)
        head = f"{first} <b>{self.log_odds:+.3f}</b> over {second}, P({first}) = {self.probability:.3f}"
        return f'<div><p>{head}</p><p style="white-space:pre-wrap">{self.coloured_html()}</p></div>'

    def coloured_html(self, most: int | None = None) -> str:
        """Return the text alone with its words coloured, or its first characters."""
        out = []
        for begin, end, share, word in self._shares(most):
            piece = html.escape(self.text[begin:end])
            if abs(share) >= _FAINT:
                colour = FOR if share > 0 else AGAINST
                style = f"background:{colour}{round(min(abs(share), 1.0) * 0.6 * 255):02x};border-radius:.2em"
                title = html.escape(f"{word.token}: {word.weight:+.3f}", quote=True)
                piece = f'<span style="{style}" title="{title}">{piece}</span>'
            out.append(piece)
        cut = most is not None and len(self.text) > most
        return "".join(out) + ("…" if cut else "")

    def __str__(self) -> str:
        return f"{rendering.text(self.by_word())}\n{self.marked()}"

    def __repr__(self) -> str:
        return rendering.with_colours(lambda: [rendering.rich_table(self.by_word()), self.rich_text()]) or str(self)

    def _repr_html_(self) -> str:
        return self.to_html() + rendering.html_table(self.by_word())

    def rich_text(self) -> Any:
        """Return the text as rich shows it: words in two colours, bold where they are strong."""
        from rich.text import Text

        shown = Text()
        for begin, end, share, _ in self._shares():
            style = "" if abs(share) < _FAINT else FOR if share > 0 else AGAINST
            shown.append(self.text[begin:end], style=f"bold {style}" if style and abs(share) > 0.5 else style or None)
        return shown
