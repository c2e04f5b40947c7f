"""Sphinx configuration of the documentation site; ``pages.py`` prepares the sources."""

import re
from typing import Any

project = "Navloom"
html_title = project
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 4
default_role = "code"
highlight_language = "none"

autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
maximum_signature_line_length = 72
napoleon_numpy_docstring = False
napoleon_use_ivar = True

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_copyright = False

_INDENTED = re.compile(r"(?m)^([^\s:.*-].*)(?<!::)\n\n(?=    \S)")


def _as_it_stands(*event: Any) -> None:
    """Turn indented blocks of our docstrings into literal blocks, as Markdown does."""
    lines = event[-1]
    lines[:] = _INDENTED.sub(r"\1\n\n::\n\n", "\n".join(lines)).split("\n")


def setup(app: Any) -> None:
    """Register the docstring filter to run after napoleon, which parses the sections."""
    app.connect("autodoc-process-docstring", _as_it_stands, priority=900)
