"""The page, rendered by the server: its frame in the reader's language; modules fill it."""

from __future__ import annotations

from html import escape

MODULE = "/static/main.js"


def language_of(accept: str) -> str:
    """Return "zh" or "en", the first of the two that a browser asks for.

    Examples
    --------
    >>> language_of("fr-FR,zh-CN;q=0.8,en;q=0.5"), language_of(""), language_of("en-GB,zh;q=0.9")
    ('zh', 'en', 'en')
    """
    asked = []
    for place, part in enumerate(accept.split(",")):
        name, _, weight = part.strip().partition(";q=")
        try:
            asked.append((-float(weight or 1), place, name.lower()[:2]))
        except ValueError:
            continue
    return next((name for _, _, name in sorted(asked) if name in ("zh", "en")), "en")


def page(language: str) -> str:
    """Return the page; without JavaScript it shows a message."""
    title = {"en": "bayeskit studio", "zh": "bayeskit 工作台"}[language]
    no_script = {
        "en": "This page needs JavaScript, all of which comes from this machine.",
        "zh": "本页需要 JavaScript，全部脚本都来自本机。",
    }[language]
    return (
        f'<!DOCTYPE html>\n<html lang="{"zh-CN" if language == "zh" else "en"}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<title>{escape(title)}</title><link rel="icon" href="/static/icon.svg">'
        '<link rel="stylesheet" href="/look.css"><link rel="stylesheet" href="/static/studio.css">'
        f'<script type="module" src="{MODULE}"></script></head>\n'
        '<body><div id="studio" class="studio"></div>'
        f"<noscript><p>{escape(no_script)}</p></noscript></body></html>\n"
    )
