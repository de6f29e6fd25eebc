"""How the documentation is built: `make docs`."""

import re
from html import escape

from docutils.nodes import SkipNode
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.ext.autodoc import ClassDocumenter
from sphinx.util.logging import getLogger

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
}

html_theme = "pydata_sphinx_theme"
html_title = "bayeskit"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_theme_options = {"navigation_with_keys": False, "show_toc_level": 2, "secondary_sidebar_items": ["page-toc"]}


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


def setup(app):
    app.registry.add_documenter("class", EstimatorDocumenter)
    app.connect("autodoc-skip-member", skip_scikit_learns_members)
    app.add_html_math_renderer(
        "mathml",
        (lambda translator, node: write_formula(translator, node, block=False), None),
        (lambda translator, node: write_formula(translator, node, block=True), None),
    )
