"""The sentences of the library, read from its source: what a catalogue has to translate.

A sentence is a string or an f-string that a person will read: the message of an exception or a warning, a line on the
screen, a heading or a paragraph of a report, the help of an option. In an f-string each value is a number in braces, as
in ``"feature {0}, row {1}: value {2} was not seen in fit"``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import TypeGuard

# Calls whose arguments are sentences.
SPEAKING = frozenset({"say", "note", "warn", "warn_caller", "echo", "BadParameter", "UsageError"})
# Calls whose arguments are headings and labels too, which may be single words; an anchor or data may come first.
LABELLING = {"label": 0, "translated_label": 0, "translated": 0, "grid": 0, "table": 0, "section": 1}
# Keywords of any call that hold words for a person.
SPOKEN_KEYWORDS = frozenset({"help", "why", "show_default"})
# Modules in which every string of several words is for a person: notes of columns, problems, reports, explanations.
SPOKEN_MODULES = (
    "table/problem", "table/conventions", "table/file_conventions", "table/labels", "table/names", "table/dates",
    "table/formats/sheets", "table/formats/xlsx", "table/formats/header", "table/missing_words",
    "table/formats/recognise", "table/formats/jsonl", "table/raw_file",
    "kinds/", "classify/auto/explanation_parts", "classify/summaries", "workflow/", "explain/", "cli/",
    "network/learn/methods/",
)  # fmt: skip
# What the library behind the command says of its arguments and writes into a help page.
OF_THE_COMMAND = """
    No such option: {0}|No such option: {0} Did you mean {1}?|No such command {0}.|Missing argument {0}.
    Missing option {0}.|Missing parameter: {0}|Option {0} requires an argument.|Got unexpected extra argument ({0})
    {0} is not a valid integer.
    Got unexpected extra arguments ({0})|{0} is not a valid float.|{0} is not one of {1}.|{0} is not in the range {1}.
    Invalid value for {0}: {1}|Path {0} does not exist.|File {0} does not exist.|Error:|Warning:|left|Usage:|Arguments:
    Options:|Commands:|[OPTIONS]|[required]|[default:|; required]|Show this message and exit.
    Install completion for the current shell.|row {0}|document {0}|{0} feature
    {0} features|{0} bin|{0} bins
    Show completion for the current shell, to copy it or customize the installation.
"""
# Words that stand alone: headings of tables, kinds of columns, parts of explanations, names of scores.
LABELS = """
    prior|posterior|rows|row|features|missing|edges|observe|value|values|risk after|approximate|over|log-odds|column
    columns|kind|reason|example|class|classes|share|classifier|error|log-loss|Brier|calibration|mean loss|fit|predict
    precision|recall|predicted|decision|true class|threshold|chosen|misses|lift|weight|member|word|group|state|parents
    settings|data|predicts|date|command|model|validation|versions|limits|none|before|now|difference|document|documents
    Contents|target|left out|categorical|numeric|text|gaussian|poisson|bernoulli|lognormal|kde|equal-width
    equal-frequency|mdl|unknown|ordered|variable|states|cluster|drift|largest change|report|where|what|floor|feature
    year|month|weekday|days|hour|percentages
"""
# Names of files and modules, elements of HTML and styles, which no one reads.
_NAME = re.compile(
    r"[\w{}]+(\.[\w{}]+)+|<[^>]*>.*|[\w-]+(:|=|\()\S.*|bold \{0\}|bayeskit \{0\}|message|# .*|\n\{0\}body.*", re.DOTALL
)
_VALUE = re.compile(r"\{\d+\}")


def sentences(package: Path) -> dict[str, list[str]]:
    """Return every sentence of a package with the files in which it stands, in order."""
    files: dict[str, list[str]] = {sentence: ["language"] for sentence in _listed(OF_THE_COMMAND, LABELS)}
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for sentence in (*_of_module(tree, name.startswith(SPOKEN_MODULES)), *_of_verb(tree, path.stem)):
            places = files.setdefault(sentence, [])
            if name not in places:
                places.append(name)
    return files


def _listed(*lists: str) -> Iterator[str]:
    return (each.strip() for text in lists for each in re.split(r"[|\n]", text) if each.strip())


def paragraphs(docstring: str) -> list[str]:
    """Return the paragraphs of a docstring, each in one line, as the help of a verb shows them."""
    return [" ".join(part.split()) for part in cleandoc(docstring).split("\n\n")]


def is_prose(template: str) -> bool:
    """Say whether a string has several words for a person in it, or one word beside a value.

    >>> is_prose("{0} must be a number"), is_prose("{0}, {1}"), is_prose("log_loss"), is_prose("SELECT x FROM t")
    (True, False, False, False)
    """
    words = re.findall(r"(?<![\w<-])[a-z]{2,}(?![\w=(])", _VALUE.sub(" ", template))
    return len(words) > 1 or (len(words) == 1 and " " in template.strip() and _VALUE.search(template) is not None)


def _of_verb(tree: ast.Module, stem: str) -> Iterator[str]:
    """Yield the help of a verb of the command, and of the command itself."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and (f"verb_{node.name}" == stem or node.name == "_root"):
            yield from paragraphs(ast.get_docstring(node) or "")


def _of_module(tree: ast.Module, everything: bool) -> Iterator[str]:
    taken: set[int] = set(_docstrings(tree))
    for node in ast.walk(tree):
        yield from _counted(node)
        for spoken, single in _spoken(node):
            yield from _strings(spoken, single, taken)
    if everything:
        for node in ast.walk(tree):
            if isinstance(node, ast.expr):
                yield from (each for each in _strings(node, False, taken, deep=False) if not _is_markup(each))


def _docstrings(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield id(node.value)


def _is_markup(text: str) -> bool:
    """Say whether a string is HTML, a style, a policy of a page or a pattern, which no one reads."""
    return (
        re.search(r"<[a-z!/]|\\[wdsbW]|\(\?|^\W*\{\{|\w:[\w#{]\S*;|-src '|srgb|system-ui|font-family", text) is not None
    )


def _spoken(node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """Yield the expressions at a node that a person will read, and whether they may be single words."""
    if not isinstance(node, ast.Call):
        return
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in LABELLING:
        yield from ((each, True) for each in node.args[LABELLING[name] :])
    elif name in SPEAKING or name.endswith(("Error", "Warning")):
        yield from ((each, name in SPEAKING) for each in node.args)
    yield from ((keyword.value, True) for keyword in node.keywords if keyword.arg in SPOKEN_KEYWORDS)


def _counted(node: ast.AST) -> Iterator[str]:
    """Yield what ``count(n, "row")`` says of one and of several."""
    match node:
        case ast.Call(func=ast.Name(id="count") | ast.Attribute(attr="count"), args=[_, ast.Constant(value=str(noun))]):
            yield f"{{0}} {noun}"
            yield f"{{0}} {noun}{'es' if noun.endswith(('s', 'ch')) else 's'}"


def _strings(node: ast.expr, single: bool, taken: set[int], *, deep: bool = True) -> Iterator[str]:
    """Yield the sentence that an expression makes, and the smaller ones that it is made of."""
    if id(node) in taken:
        return
    taken.add(id(node))
    template, parts = _template(node, taken)
    if (
        template is not None
        and not _NAME.fullmatch(template)
        and (_has_word(template) if single else is_prose(template))
    ):
        yield template
    if deep or template is not None:
        for part in parts:
            yield from _strings(part, single and template is None, taken)


def _has_word(template: str) -> bool:
    return re.search(r"[A-Za-z]{2}", _VALUE.sub("", template)) is not None


def _template(node: ast.expr, taken: set[int]) -> tuple[str | None, list[ast.expr]]:
    """Return an expression as a sentence with numbers in braces, and the expressions behind these."""
    if not _is_text(node):
        return None, [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    pieces: list[str] = []
    values: list[ast.expr] = []

    def take(part: ast.expr) -> None:
        taken.add(id(part))
        if isinstance(part, ast.Constant):
            pieces.append(str(part.value).replace("{", "{{").replace("}", "}}"))
        elif isinstance(part, ast.JoinedStr):
            for value in part.values:
                take(value)
        elif _is_sum(part):
            take(part.left)
            take(part.right)
        else:
            pieces.append(f"{{{len(values)}}}")
            inner = part.value if isinstance(part, ast.FormattedValue) else part
            taken.discard(id(inner))
            values.append(inner)

    take(node)
    return "".join(pieces), values


def _is_text(node: ast.expr) -> bool:
    if _is_sum(node):
        return _is_text(node.left) or _is_text(node.right)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_sum(node: ast.expr) -> TypeGuard[ast.BinOp]:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)
