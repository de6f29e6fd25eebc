"""One offline page about a network: drawing, tables, posteriors, explanation, sensitivity, questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from io import StringIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from bayeskit.errors import NetworkError, TooLargeError
from bayeskit.io.overwriting import MADE_BY, refuse_overwriting
from bayeskit.network.answer_tables import text_table

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

# Tables that are shown whole; of larger networks those of the variables that a reader asks about.
MOST_TABLES = 60
_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "pre{background:#f6f6f6;padding:.6rem .8rem;overflow-x:auto;font-size:13px}h2{margin-top:2.2rem}"
    "figure{margin:1rem 0;overflow:auto}svg{max-width:100%;height:auto}"
)


class Reports:
    """The report of a network."""

    def report(
        self,
        path: str | PathLike[str],
        *,
        given: Mapping[str, Any] | None = None,
        target: str | None = None,
        title: str = "Bayesian network",
        force: bool = False,
    ) -> Path:
        """Write one page that any browser opens without a network connection, and return its path.

        Parameters
        ----------
        path : path
            An HTML file. One that bayeskit did not write is replaced only with ``force``.
        given : mapping, optional
            Evidence: posteriors stand beside the priors.
        target : str, optional
            The variable that the evidence is about (by default the network's own target, if it has one): the page then
            explains its posterior, shows which numbers matter, and what to observe next.
        title : str
            The heading.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from bayeskit import datasets
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "asia.html"
        >>> datasets.load_asia().report(path, given={"smoke": "yes"}, target="lung").name
        'asia.html'
        """
        net, place = cast("BayesianNetwork", self), Path(path)
        about = net.target if target is None else net.names[net.index(target)]
        if about is not None and about in (given or {}):
            raise NetworkError(f"the target {about!r} is part of the evidence, so there is nothing to say about it.")
        refuse_overwriting(place, (), force=force)
        drawing = net.draw(given=given, bars=True).svg
        sections = [_section("The network", f"<figure>{drawing}</figure>{_pre(repr(net))}")]
        sections.append(_section("Probabilities", _pre(_before_and_after(net, given))))
        if about is not None and net.cards[net.index(about)]:
            sections += _about(net, about, given)
        sections.append(_section("Tables", _tables(net)))
        page = (
            f'<!doctype html><html lang="en" {MADE_BY}><head><meta charset="utf-8">'
            f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body><h1>{escape(title)}</h1>"
            f"{''.join(sections)}</body></html>\n"
        )
        place.write_text(page, encoding="utf-8")
        return place


def _section(title: str, body: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{body}</section>"


def _pre(text: str) -> str:
    return f"<pre>{escape(text)}</pre>"


def _before_and_after(net: BayesianNetwork, given: Mapping[str, Any] | None) -> str:
    """Return the probabilities of all variables, without evidence and with it."""
    before: Any = net.posterior()
    after: Any = net.posterior(given=given) if given else None
    rows = []
    for name in net.names:
        cells = [name, _shown(before[name])]
        rows.append((*cells, _shown(after[name])) if after is not None else tuple(cells))
    known = ", ".join(f"{name} = {value}" for name, value in (given or {}).items())
    head = ("variable", "P", f"P given {known}") if after is not None else ("variable", "P")
    return text_table(head, rows, len(rows))


def _shown(answer: Any) -> str:
    if hasattr(answer, "items"):
        return "  ".join(f"{state} {p:.4g}" for state, p in answer.items())
    return f"mean {answer.mean:.5g}, sd {answer.sd:.4g}"


def _about(net: BayesianNetwork, target: str, given: Mapping[str, Any] | None) -> list[str]:
    """Return what is said of one variable: why, which numbers matter, what to ask next."""

    def why() -> str:
        return _pre(repr(net.explain(target, given=given or {})))

    def numbers() -> str:
        found = net.sensitivity(target, given=given)
        return _tornado(found) + _pre(repr(found))

    def questions() -> str:
        rows = [(q.variable, f"{q.information:.4g}", f"{q.value:.4g}") for q in net.questions(target, given=given)]
        return _pre(text_table(("observe", "information (nats)", "value"), rows[:20], len(rows)))

    parts = {f"Why: {target}": why} if given else {}
    if all(net.cards):  # the rest is for discrete networks
        parts[f"Which numbers matter for {target}"] = numbers
        parts[f"What to observe next about {target}"] = questions
    return [_section(title, _unless_too_large(body)) for title, body in parts.items()]


def _unless_too_large(body: Callable[[], str]) -> str:
    """Return what a section says, or why it would take too much: the rest of the page is written all the same."""
    try:
        return body()
    except TooLargeError as error:
        return f"<p>{escape(str(error))}</p>"


def _tornado(found: Any) -> str:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return ""  # the numbers stand below as text
    figure = Figure(figsize=(8.0, 4.5), layout="constrained")
    found.plot(figure.subplots())
    out = StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    svg = out.getvalue()
    return f"<figure>{svg[svg.index('<svg') :]}</figure>"


def _tables(net: BayesianNetwork) -> str:
    shown = net.names[:MOST_TABLES]
    parts = [f"<h3>{escape(name)}</h3>{_pre(repr(net[name]))}" for name in shown]
    if len(net.names) > len(shown):
        parts.append(f"<p>… and {len(net.names) - len(shown)} more.</p>")
    return "".join(parts)
