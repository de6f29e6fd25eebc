"""How the documentation is built: `make docs`."""

import bayeskit

project = "bayeskit"
author = "The bayeskit developers"
version = release = bayeskit.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery"]

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstring says what a parameter is
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

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
html_theme_options = {"navigation_with_keys": False, "show_toc_level": 2, "secondary_sidebar_items": ["page-toc"]}
