"""The studio's views in a notebook: a widget that asks the library in the kernel and shares what is known."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayeskit.errors import BayeskitError
from bayeskit.workflow.report.style import DARK, FONTS, LIGHT

if TYPE_CHECKING:
    from anywidget import AnyWidget

STATIC = Path(__file__).parent / "static"
# In the order in which they need each other.
MODULES = (
    "dom", "api", "words", "cards", "conflicts", "strokes", "drawing", "evidence", "groups", "real_card",
    "variable_editor", "variable_card", "scenarios", "cases", "share", "network_view", "classifier_view", "widget",
)  # fmt: skip


@cache
def bundle() -> str:
    """Return the modules of the page as one module, which is what a notebook loads; nothing else is different."""
    parts = []
    for name in MODULES:
        text = (STATIC / f"{name}.js").read_text(encoding="utf-8")
        text = re.sub(
            r'^import (\{[^}]*\}|\* as \w+) from "\./(\w+)\.js";$',
            lambda line: f"const {line[1].removeprefix('* as ')} = {line[2]}_js;",
            text,
            flags=re.MULTILINE,
        )
        if name == "widget":
            parts.append(text)
            continue
        given = re.findall(r"^export (?:async )?(?:function\*?|class|const) (\w+)", text, flags=re.MULTILINE)
        body = re.sub(r"^export ", "", text, flags=re.MULTILINE)
        parts.append(f"const {name}_js = (() => {{\n{body}\nreturn {{ {', '.join(given)} }};\n}})();\n")
    return "\n".join(parts)


@cache
def style() -> str:
    """Return the page's style, for elements of the widget alone."""
    css = (STATIC / "studio.css").read_text(encoding="utf-8")
    frames = "".join(re.findall(r"^@keyframes.*$", css, flags=re.MULTILINE))
    # A widget follows its own width, not the window's, and its panel is never a drawer.
    css = re.sub(r"^@media \(max-width:760px\)\{.*?^\}$", "", css, flags=re.MULTILINE | re.DOTALL)
    css = re.sub(r"^(@keyframes|html|body|:root|@media \(prefers-color-scheme).*$", "", css, flags=re.MULTILINE)
    known = "--known:#b7791f;--known-fill:color-mix(in srgb,#e0a030 20%,var(--card));--fade:150ms"
    dark = f"{DARK};--known:#e0b04a"
    return (
        f"{frames}\n.bayeskit-explorer{{{LIGHT};{known};font:14px/1.5 {FONTS};color:var(--ink);background:var(--paper);"
        f"border:1px solid var(--line);border-radius:12px;overflow:hidden;{css}\n"
        ".studio{height:600px;grid-template-columns:minmax(0,1fr) 330px}.stage{height:100%}"
        "container-type:inline-size}\n"
        "@container (max-width:700px){.bayeskit-explorer .studio{height:auto;grid-template-columns:minmax(0,1fr)}"
        ".bayeskit-explorer .stage{height:420px}.bayeskit-explorer .panel{border-left:0;max-height:520px}}\n"
        f"@media (prefers-color-scheme:dark){{body:not([data-jp-theme-light=true]) .bayeskit-explorer{{{dark}}}}}\n"
        f"[data-jp-theme-light=false] .bayeskit-explorer{{{dark}}}\n"
    )


def answer(subject: Any, message: Any) -> dict[str, Any]:
    """Answer a question of the widget as the server would; what goes wrong is a sentence."""
    from bayeskit.studio.endpoints import ENDPOINTS
    from bayeskit.studio.responses import with_defaults
    from bayeskit.studio.shapes import check
    from bayeskit.studio.workers import all_tasks

    try:
        kind, value = subject
        question = str(message.get("question"))
        endpoints = [each for each in ENDPOINTS if each.kind == kind and each.name == question and each.task]
        if not endpoints:
            raise BayeskitError(f"there is no question {question[:60]!r}.")
        check(message.get("body"), endpoints[0].body or {})
        body = with_defaults(endpoints[0], message["body"])
        said = all_tasks()[endpoints[0].task](value, lambda event: None, **body)
        return {"id": message.get("id"), "answer": said.decode()}
    except (BayeskitError, ValueError, TypeError, MemoryError) as error:
        return {"id": message.get("id"), "error": {"what": " ".join(str(error).split()), "kind": type(error).__name__}}


def explore(subject: Any) -> AnyWidget:
    """Show a network or a classifier in a notebook, as the studio does; what is known can be read from Python.

    Parameters
    ----------
    subject : BayesianNetwork or classifier
        A network has its evidence in ``widget.given``, its interventions in ``widget.actions`` and its target in
        ``widget.target``; a classifier its case in ``widget.row``. Setting them updates the view.

    Examples
    --------
    >>> from bayeskit import datasets, explore
    >>> widget = explore(datasets.load_asia())  # doctest: +SKIP
    >>> widget.given  # after a click on a state  # doctest: +SKIP
    {'smoke': 'yes'}
    """
    from bayeskit.network import BayesianNetwork
    from bayeskit.workflow.trained import TrainedModel

    try:
        import anywidget
        import traitlets
    except ModuleNotFoundError as error:
        raise BayeskitError(f"explore needs {error.name}; install it: pip install 'bayeskit[notebook]'.") from None
    if isinstance(subject, BayesianNetwork):
        held: tuple[str, Any] = ("network", subject)
    elif hasattr(subject, "schema_") and hasattr(subject, "predict_proba"):
        held = ("classifier", subject if isinstance(subject, TrainedModel) else TrainedModel(subject))
    else:
        raise BayeskitError(f"explore shows networks and fitted classifiers; got {type(subject).__name__}.")

    class Explorer(anywidget.AnyWidget):
        _esm = bundle()
        _css = style()
        kind = traitlets.Unicode(held[0]).tag(sync=True)
        name = traitlets.Unicode(type(subject).__name__).tag(sync=True)
        given = traitlets.Dict().tag(sync=True)
        actions = traitlets.Dict().tag(sync=True)
        target = traitlets.Unicode("").tag(sync=True)
        row = traitlets.Dict().tag(sync=True)

    made = Explorer()
    made.on_msg(lambda widget, message, _: widget.send(answer(held, message)))
    widget: AnyWidget = made
    return widget
