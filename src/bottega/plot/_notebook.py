"""Charts in a notebook, drawn without a network."""

import base64
from functools import cache
from html import escape
from typing import Any
from uuid import uuid4

from bottega.core.errors import require
from bottega.plot.bundle import javascript, to_json

__all__ = ["NAME", "show_offline"]

NAME = "bottega"
_SCALE = 2  # pixels of the picture for one of the screen
_sent: set[str] = set()  # not empty once a chart of this process has carried the library

# The picture is replaced by the live chart, with its tooltips, where the page can draw it.
_START = """
(() => {
  const host = document.getElementById("%(name)s");
  if (!host || !window.vegaEmbed) return;
  const box = host.appendChild(document.createElement("div"));
  window.vegaEmbed(box, %(spec)s, {actions: false, mode: "vega-lite"})
    .then(() => host.firstElementChild.remove(), () => box.remove());
})();
"""


@cache  # Altair looks through all installed packages to list its renderers
def show_offline(altair: Any) -> None:
    """Let Altair's charts show themselves offline, unless another renderer was chosen.

    Altair's own default loads its drawing library from a public host. Here the first chart of a
    process carries the library, and every chart a picture of itself, which stays where a page runs
    no script. ``altair.renderers.enable("default")`` brings Altair's own way back.
    """
    if NAME not in altair.renderers.names():
        altair.renderers.register(NAME, _mimebundle)
        if altair.renderers.active == "default":
            altair.renderers.enable(NAME)


def _mimebundle(spec: dict[str, Any], **_: Any) -> dict[str, str]:
    """Return a chart as HTML that needs nothing from outside, and in words."""
    words = str(spec.get("description", "chart"))
    name = f"bottega-{uuid4().hex}"
    png = require("vl_convert", "plot").vegalite_to_png(spec, scale=_SCALE)
    picture = base64.b64encode(png).decode()
    width = int.from_bytes(png[16:20], "big") // _SCALE  # where a PNG says how wide it is
    image = f'<img alt="{escape(words)}" width="{width}" src="data:image/png;base64,{picture}">'
    library = "" if _sent else f"<script>{javascript()}</script>"
    _sent.add(NAME)
    start = _START % {"name": name, "spec": to_json(spec)}
    html = f'<div id="{name}">{image}</div>{library}<script>{start}</script>'
    return {"text/html": html, "text/plain": words}
