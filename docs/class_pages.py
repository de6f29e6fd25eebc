"""A page for each class of the reference: what ``docs/reference/*.md`` say of a class becomes a page of its own.

The pages of the reference name their classes in blocks of ``autoclass``, with the members that are shown. While the
documentation is built each block becomes ``reference/classes/NAME.md``, with the version that brought the class and the
methods that it shares with all models, and the page itself lists the classes by the first sentence of each.
"""

import importlib
import inspect
import re
from pathlib import Path

BLOCK = re.compile(r"^\.\. autoclass:: (\S+)\n((?:   :.*\n)*)", re.MULTILINE)
FIRST_VERSION = "0.1.0"  # of classes whose docstrings name no other by `versionadded`


def write_pages(folder):
    """Write the page of each class named in the pages of a folder; a page that would stay as it is is not touched."""
    classes = Path(folder) / "classes"
    classes.mkdir(exist_ok=True)
    wanted = {}
    for page in sorted(Path(folder).glob("*.md")):
        for path, options in BLOCK.findall(page.read_text(encoding="utf-8")):
            if ":no-index:" not in options:  # described on another page
                wanted[page_name(path)] = page_of(path, options, page.stem)
    for old in classes.glob("*.md"):
        if old.stem not in wanted:
            old.unlink()
    for name, text in wanted.items():
        path = classes / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def page_of(path, options, group):
    """Return the page of a class."""
    kind = imported(path)
    version = "" if "versionadded" in (kind.__doc__ or "") else f"\n   .. versionadded:: {FIRST_VERSION}\n"
    shared = shared_methods(kind) if ":inherited-members:" not in options else []
    also = f"\nAs [all models](NaiveBayes.md): {', '.join(f'`{name}`' for name in shared)}.\n" if shared else ""
    block = f"```{{eval-rst}}\n.. autoclass:: {path}\n{options}{version}```\n"
    return f"# {path.rpartition('.')[2]}\n\nOf the page [{group}](../{group}.md).\n\n{block}{also}"


def shared_methods(kind):
    """Return the public methods of an estimator that NaiveBayes has as well, and that are described there."""
    from sklearn.base import BaseEstimator

    from bayeskit import NaiveBayes
    from bayeskit.learn.model import plain_class

    if not issubclass(kind, BaseEstimator) or kind is NaiveBayes:
        return []
    names = (name for name in dir(kind) if not name.startswith("_") and not re.fullmatch(r"set_\w+_request", name))
    methods = {name for name in names if inspect.isfunction(getattr(kind, name)) and hasattr(NaiveBayes, name)}
    return sorted(methods - set(vars(plain_class(kind))) - set(dir(BaseEstimator)))


def with_links(text):
    """Return a page of the reference with a list of links in place of each run of classes, and their pages hidden."""
    here = [page_name(path) for path, options in BLOCK.findall(text) if ":no-index:" not in options]
    text = BLOCK.sub(lambda match: f"* {link(match[1])}: {first_sentence(imported(match[1]))}\n", text)
    if not here:
        return text
    hidden = "\n".join(f"classes/{name}" for name in here)
    return f"{text}\n```{{toctree}}\n:hidden:\n\n{hidden}\n```\n"


def link(path):
    """Return a link to the page of a class, as reStructuredText."""
    return f":doc:`{path.rpartition('.')[2]} <classes/{page_name(path)}>`"


def first_sentence(kind):
    """Return the first sentence of a docstring."""
    paragraph = " ".join(inspect.getdoc(kind).split("\n\n")[0].split())
    return re.split(r"(?<=[.!?])\s", paragraph)[0]


def page_name(path):
    """Return the name of the page of a class: its own, and for what is no public name that of its module before it."""
    module, _, name = path.rpartition(".")
    return name if module.count(".") < 2 else f"{module.rpartition('.')[2]}.{name}"


def imported(path):
    """Return a class by its full name."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)
