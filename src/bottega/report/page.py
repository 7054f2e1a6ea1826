"""From a comparison or a description to one HTML file."""

import base64
import os
from datetime import datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import bottega
from bottega.core.errors import require
from bottega.core.files import write_atomically
from bottega.plot import DARK, LIGHT
from bottega.plot.bundle import javascript, to_json
from bottega.report.content import content
from bottega.report.described import described
from bottega.report.figures import chart_config

__all__ = ["render", "render_description", "write", "write_description"]


def render(comparison: Any, *, date: datetime | None = None) -> str:
    """Return the report of a comparison as the text of one HTML page.

    Parameters
    ----------
    comparison : Comparison
        What `bottega.compare` returned.
    date : datetime, optional
        When the report was made; now by default.

    Returns
    -------
    str
        A page that needs nothing from outside: style, charts and the libraries that draw them are
        inside. Its security policy lets only its own two scripts run and forbids every request.

    Notes
    -----
    Names of columns and labels are shown, never interpreted. Cost: about a second, and three more
    for the first report on a machine, which puts the drawing libraries together.
    """
    return _page("report.html", content(comparison, date))


def render_description(description: Any, *, date: datetime | None = None) -> str:
    """Return the report of a description as the text of one HTML page, as `render` does.

    Parameters
    ----------
    description : Description
        What `bottega.describe` returned.
    date : datetime, optional
        When the report was made; now by default.
    """
    return _page("described.html", described(description, date))


def _page(template: str, parts: dict[str, Any]) -> str:
    """Return a template filled in, with style, charts and the libraries that draw them."""
    drawing, starting = javascript(), _template_text("draw.js")
    figures = {"config": chart_config(), "specs": {f.name: f.spec for f in parts["drawn"].made}}
    page: str = _template(template).render(
        **parts,
        version=bottega.__version__,
        style=_template_text("style.css"),
        colors={"light": LIGHT, "dark": DARK},
        libraries=drawing,
        starter=starting,
        hashes=[_hash(drawing), _hash(starting)],
        figures_json=to_json(figures),
    )
    return page


def write(comparison: Any, path: str | os.PathLike[str]) -> Path:
    """Write the report of a comparison to a file, whole or not at all.

    Parameters
    ----------
    comparison : Comparison
        What `bottega.compare` returned.
    path : path
        The HTML file to write; an older one is replaced.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    InputError
        When the folder does not exist or cannot be written to.
    """
    return write_atomically(path, render(comparison).encode(errors="replace"))


def write_description(description: Any, path: str | os.PathLike[str]) -> Path:
    """Write the report of a description to a file, whole or not at all, as `write` does.

    Parameters
    ----------
    description : Description
        What `bottega.describe` returned.
    path : path
        The HTML file to write; an older one is replaced.
    """
    return write_atomically(path, render_description(description).encode(errors="replace"))


@cache
def _template(name: str) -> Any:
    jinja2 = require("jinja2", "report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("bottega.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


@cache
def _template_text(name: str) -> str:
    folder = Path(__file__).parent / "templates"
    return (folder / name).read_text(encoding="utf-8").replace("\r", "").strip()


def _hash(script: str) -> str:
    """Return a script's fingerprint in the form that a page's security policy names it by."""
    return "sha256-" + base64.b64encode(sha256(script.encode()).digest()).decode()
