"""How the documentation is built: `make docs`."""

import re
import runpy
import shutil
import sys
from html import escape
from pathlib import Path

from docutils.nodes import SkipNode
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.ext.autodoc import ClassDocumenter
from sphinx.search import languages
from sphinx.search.en import SearchEnglish
from sphinx.util.logging import getLogger

sys.path.insert(0, str(Path(__file__).parent))
import class_pages

import bayeskit
from bayeskit.learn.model import plain_class

logger = getLogger(__name__)

project = "bayeskit"
author = "The bayeskit developers"
version = release = bayeskit.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery"]

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstring says what a parameter is
# Several models have an attribute of the same name, and a table of attributes links to all of them.
suppress_warnings = ["ref.python"]
numpydoc_show_class_members = False  # autodoc lists them
html_math_renderer = "mathml"

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1,
    "abort_on_example_error": True,
    "matplotlib_animations": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "bayeskit"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "logo": {
        "image_light": "_static/logo-light.svg",
        "image_dark": "_static/logo-dark.svg",
        "alt_text": "bayeskit, the first page",
    },
}


class EstimatorDocumenter(ClassDocumenter):
    """Shows an estimator with the members of its model, which is where they are written."""

    priority = ClassDocumenter.priority + 1

    def get_real_modname(self):
        return plain_class(self.object).__module__ if isinstance(self.object, type) else super().get_real_modname()

    def get_object_members(self, want_all):
        shown, self.object = self.object, plain_class(self.object) if isinstance(self.object, type) else self.object
        try:
            return super().get_object_members(want_all)
        finally:
            self.object = shown


class EnglishAndChinese(SearchEnglish):
    """English words, and every pair of neighbouring Chinese characters: Chinese has no spaces between words.

    The page finds a query of three characters and more inside any run of characters; one of two must be in the index.
    """

    def split(self, input):
        runs = re.findall(r"[\u4e00-\u9fff]{2,}", input)
        return [*super().split(input), *(run[k : k + 2] for run in runs for k in range(len(run) - 1))]


languages["en"] = EnglishAndChinese


def skip_scikit_learns_members(app, what, name, member, skip, options):
    """Leave out what scikit-learn writes into every estimator; its own pages describe it."""
    return True if str(getattr(member, "__module__", "")).startswith("sklearn.") else None


def write_formula(translator, node, *, block):
    # Browsers draw MathML by themselves, so that the pages need no script from elsewhere and read well offline.
    # TeX reads \frac12 as one half; the converter would read the number 12.
    text = re.sub(r"\\([td]?)frac\s*(\d)\s*([0-9A-Za-z])", r"\\\1frac{\2}{\3}", node.astext())
    try:
        formula = str(tex2mathml(text.replace(r"\dots", r"\ldots "), as_block=block))
    except MathError as error:
        logger.warning("the formula %r cannot be drawn: %s", node.astext(), error, location=node)
        formula = escape(node.astext())
    translator.body.append(f"<div class='formula'>{formula}</div>" if block else formula)
    raise SkipNode


CHAPTER = re.compile(r"course/(en|zh)/\d\d_\w+")


def prepare_course(app, name, template, context, doctree):
    """Begin each chapter of the course with a link to its notebook, and say which pages are Chinese."""
    if name.startswith("course/zh/"):
        context["language"] = "zh-CN"  # for screen readers, and for the right shapes of characters
    if CHAPTER.fullmatch(name) and "body" in context:
        title = "这一章的 Jupyter 笔记本" if "/zh/" in name else "This chapter as a Jupyter notebook"
        context["body"] = f'<p><a href="{Path(name).name}.ipynb" download>{title}</a></p>\n{context["body"]}'


def write_notebooks(app, error):
    """Write the notebooks of the course beside its pages, and the films that they show."""
    if error is None and app.builder.name == "html":
        shutil.copytree(Path(app.srcdir) / "course/films", Path(app.outdir) / "course/films", dirs_exist_ok=True)
        write = runpy.run_path(str(Path(app.srcdir) / "course/notebooks.py"))["write_notebook"]
        for page in sorted(Path(app.srcdir).glob("course/*/[0-9]*.md")):
            write(page, Path(app.outdir) / page.relative_to(app.srcdir).with_suffix(".ipynb"))


def write_generated(app):
    """Write what the pages show before they are read: a page for each class, and a film for each chapter."""
    class_pages.write_pages(Path(app.srcdir) / "reference")
    runpy.run_path(str(Path(app.srcdir) / "course/films.py"))["write_films"](Path(app.srcdir) / "course/films")


def link_class_pages(app, name, source):
    """List the classes of a page of the reference; each has a page of its own."""
    if re.fullmatch(r"reference/[^/]+", name):
        source[0] = class_pages.with_links(source[0])


def setup(app):
    app.connect("builder-inited", write_generated)
    app.connect("source-read", link_class_pages)
    app.connect("html-page-context", prepare_course)
    app.connect("build-finished", write_notebooks)
    app.registry.add_documenter("class", EstimatorDocumenter)
    app.connect("autodoc-skip-member", skip_scikit_learns_members)
    app.add_html_math_renderer(
        "mathml",
        (lambda translator, node: write_formula(translator, node, block=False), None),
        (lambda translator, node: write_formula(translator, node, block=True), None),
    )
