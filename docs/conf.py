"""Sphinx: pages in Markdown, NumPy-style docstrings, nothing else."""

from __future__ import annotations

import importlib.metadata

project = "semiring"
author = "the semiring developers"
copyright = author
release = importlib.metadata.version("semiring")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
napoleon_google_docstring = False

html_theme = "furo"
html_title = "semiring"
