"""Sphinx: pages in Markdown, one of them a notebook that the build runs, and NumPy-style docstrings."""

from __future__ import annotations

import importlib.metadata
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import reference_pages

reference_pages.write()

project = "semiring"
author = "the semiring developers"
copyright = author
release = importlib.metadata.version("semiring")

# Formulas are rendered by a copy of MathJax in the pages: they need no network.
extensions = [
    *("myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon", "sphinx-mathjax-offline"),
    "name_links",
]
autosummary_generate = False  # the tables only: reference_pages writes the pages
exclude_patterns = ["_build", "jupyter_execute"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4
# Every build runs the notebook, and fails if a cell does. Messages of the compiler are no output of a cell.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
os.environ.setdefault("SEMIRING_QUIET", "1")
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
napoleon_google_docstring = False
napoleon_use_ivar = True  # an attribute of a result is listed once
napoleon_use_rtype = False  # the type and the description of a result are one entry
suppress_warnings = ["ref.python"]  # names such as `value`, which several classes have

html_theme = "furo"
html_title = "semiring"
html_static_path = ["static"]
html_css_files = ["pages.css"]
html_search_scorer = str(Path(__file__).parent / "search_scorer.js")


def setup(app: object) -> None:
    """Connect what prepares docstrings."""
    app.connect("autodoc-process-docstring", reference_pages.escape_bars)  # type: ignore[attr-defined]
