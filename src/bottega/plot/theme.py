"""One look for all charts: colours, font, sizes.

No chart names a colour. Marks carry a style (``"honest"``, ``"picked"``, ``"reference"``, ...) or a
colour scale, and `config` gives both their colours. So the same chart can be drawn for a light
page, a dark page, or (in the report) with colours that the page's own style sheet supplies.

The first four colours follow Okabe and Ito's, chosen to be told apart with the common weaknesses of
colour vision, darkened (or on the dark page lightened) until they stand out from the background.
The others only serve charts of many classes, whose legend and tooltips name each.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bottega.core.errors import require
from bottega.plot._notebook import show_offline

__all__ = ["DARK", "LIGHT", "config"]

WIDTH = 640
HEIGHT = 300
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

LIGHT: Mapping[str, str] = {
    "surface": "#ffffff",
    "ink": "#23282f",
    "muted": "#6a7380",
    "grid": "#e6e9ee",
    "rule": "#b7bec8",
    "c1": "#0072b2",
    "c2": "#bd5300",
    "c3": "#00835f",
    "c4": "#b1548a",
    "c5": "#8a6d00",
    "c6": "#3292cc",
    "c7": "#7a4fb5",
    "c8": "#5f6b7a",
    "c9": "#a83232",
    "c10": "#4f7a28",
}
DARK: Mapping[str, str] = {
    "surface": "#16191d",
    "ink": "#e8eaee",
    "muted": "#a2abb8",
    "grid": "#2c323a",
    "rule": "#59626e",
    "c1": "#5db4ea",
    "c2": "#f2943f",
    "c3": "#3ec79b",
    "c4": "#e08fbd",
    "c5": "#e3c750",
    "c6": "#9ad4f5",
    "c7": "#b89be8",
    "c8": "#aab4c2",
    "c9": "#f08080",
    "c10": "#a6d06a",
}


def altair() -> Any:
    """Return the drawing library, or say which extra brings it."""
    library = require("altair", "plot")
    show_offline(library)
    return library


def config(colors: Mapping[str, str] = LIGHT, background: str | None = None) -> dict[str, Any]:
    """Return the Vega-Lite configuration of the look.

    Parameters
    ----------
    colors : mapping
        `LIGHT`, `DARK`, or other colours under the same names.
    background : str, optional
        Colour behind the chart; the palette's ``"surface"`` by default.

    Examples
    --------
    >>> config(DARK)["background"]
    '#16191d'
    """
    ink, muted, rule = colors["ink"], colors["muted"], colors["rule"]
    return {
        "background": background or colors["surface"],
        "font": FONT,
        "view": {"stroke": None},
        "title": {
            "anchor": "start",
            "frame": "group",
            "color": ink,
            "fontSize": 15,
            "fontWeight": 600,
            "offset": 14,
            "subtitleColor": muted,
            "subtitleFontSize": 12.5,
            "subtitlePadding": 5,
        },
        "axis": {
            "domainColor": rule,
            "gridColor": colors["grid"],
            "labelColor": muted,
            "labelFontSize": 12,
            "labelLimit": 170,
            "tickColor": rule,
            "tickSize": 4,
            "titleColor": ink,
            "titleFontSize": 12.5,
            "titleFontWeight": 500,
            "titlePadding": 10,
        },
        "legend": {
            "labelColor": ink,
            "labelFontSize": 12,
            "labelLimit": 320,
            "orient": "top",
            "title": None,
            "titleColor": ink,
            "symbolSize": 200,
            "symbolStrokeWidth": 2,
            "columnPadding": 18,
        },
        "header": {"labelColor": ink, "labelFontSize": 12.5, "labelFontWeight": 600},
        "range": {
            "category": [colors[f"c{i}"] for i in range(1, 11)],
            "ordinal": [colors["c1"], colors["c8"], muted],  # honest, training, a limit
        },
        # Vega-Lite looks for "color" in a style; "fill" and "stroke" would lose to its defaults.
        "style": {
            "honest": {"color": colors["c1"]},
            "picked": {"color": colors["c2"]},
            "reference": {"color": muted, "strokeDash": [5, 4], "strokeWidth": 1.3},
            "guide": {"color": rule, "strokeDash": [2, 3], "strokeWidth": 1},
            "faint": {"color": rule, "strokeWidth": 1},
            "label": {"color": ink, "fontSize": 12},
            "strong-label": {"color": colors["c2"], "fontSize": 12, "fontWeight": 600},
        },
    }


def finish(
    chart: Any,
    *,
    title: str,
    subtitle: str | Sequence[str] = (),
    description: str,
    width: Any = WIDTH,
    height: Any = HEIGHT,
) -> Any:
    """Give a chart its title, its size, its words for those who cannot see it, and the look."""
    lines = [subtitle] if isinstance(subtitle, str) else list(subtitle)
    heading = altair().TitleParams(title, subtitle=lines) if lines else altair().TitleParams(title)
    return chart.properties(
        title=heading, width=width, height=height, description=description
    ).configure(**config())


def panels(chart: Any, *, title: str, subtitle: str | Sequence[str], description: str) -> Any:
    """Finish a chart of several panels, whose size is that of each panel."""
    done = finish(chart, title=title, subtitle=subtitle, description=description)
    for size in ("width", "height"):
        done[size] = altair().Undefined
    return done


def plain(value: Any) -> Any:
    """Turn a number into what JSON can hold: 7 significant digits, None for no number."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(f"{float(value):.7g}") if np.isfinite(value) else None
    return value if value is None else str(value)


def decades(low: float, high: float, most: int = 9) -> list[float]:
    """Return round numbers inside a range for a logarithmic axis.

    Powers of ten, thinned where there are many; with 2 and 5 between them where there are few.

    Examples
    --------
    >>> decades(0.5, 200), decades(1, 1e4)
    ([0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0], [1.0, 10.0, 100.0, 1000.0, 10000.0])
    """
    first, last = int(np.floor(np.log10(low))), int(np.ceil(np.log10(high)))
    steps = ("1", "2", "5") if np.log10(high / low) < 3 else ("1",)
    found = [float(f"{step}e{power}") for power in range(first, last + 1) for step in steps]
    inside = [tick for tick in found if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
    return inside[:: -(-len(inside) // most)] if inside else []


def number(value: Any, digits: int = 4) -> str:
    """Write a number for a reader: few significant digits, thousands apart, a dash for none.

    Examples
    --------
    >>> number(12915.49), number(-0.0512345), number(3e-9), number(7), number("cubic")
    ('12,915', '−0.05123', '3e-09', '7', 'cubic')
    """
    if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
        return "–" if value is None else str(value)
    if isinstance(value, int | np.integer):
        text = f"{int(value):,}"
    elif np.isnan(value):
        return "–"
    elif 1000 <= abs(float(value)) < 1e9:
        text = f"{value:,.0f}"
    else:
        text = f"{value:.{digits}g}"
    return "−" + text[1:] if text.startswith("-") else text
