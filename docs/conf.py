"""How Sphinx builds the documentation."""

import sys
from pathlib import Path

import bottega

sys.path.insert(0, str(Path(__file__).parent))

from generate import methods_page

project = "bottega"
author = "the bottega developers"
release = version = bottega.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax", "numpydoc"]
html_theme = "pydata_sphinx_theme"
html_theme_options = {"show_toc_level": 2, "secondary_sidebar_items": ["page-toc"]}
html_title = "bottega"
exclude_patterns = ["_build"]
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
# Inherited docstrings point into scikit-learn's own user guide.
suppress_warnings = ["ref.ref"]

(Path(__file__).parent / "methods.rst").write_text(methods_page())
