"""The JavaScript that draws the charts, as one text to put inside a page, and data beside it.

vl-convert carries Vega, Vega-Lite and Vega-Embed and joins them in about three seconds; the result
is kept in the user's cache folder, so that only the first page pays for it.
"""

import json
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from bottega.core.errors import BottegaError, require
from bottega.core.files import user_folder, write_atomically

__all__ = ["javascript", "to_json"]


def javascript() -> str:
    """Return the drawing libraries as one script; it sets ``window.vegaEmbed``."""
    vl_convert = require("vl_convert", "plot")
    kept = _kept_file(vl_convert.__version__)
    try:
        text = "" if kept is None else kept.read_text(encoding="utf-8")
        digest, _, script = text.partition("\n")
        if digest == _digest(script):  # a damaged file is as good as none
            return script
    except (OSError, UnicodeDecodeError):
        pass
    # A carriage return would be read as a line feed inside a page, which changes the script's hash.
    script = str(vl_convert.javascript_bundle()).replace("\r", "")
    if kept is not None:
        _keep(kept, script)
    return script


def to_json(value: Any) -> str:
    """Write JSON that can stand inside a script element whatever the texts in it hold."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _kept_file(version: str) -> Path | None:
    home = user_folder("cache")
    return None if home is None else home / f"vega-{version}.js"


def _keep(path: Path, script: str) -> None:
    with suppress(OSError, BottegaError):  # a cache that cannot be written only costs time
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, f"{_digest(script)}\n{script}".encode())


def _digest(script: str) -> str:
    return sha256(script.encode()).hexdigest()
