"""Bands of curves of scores: their rows, their layer, their words."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bottega.plot._parts import records
from bottega.plot.theme import altair

_ABOUT = {"pointwise": "at each place", "simultaneous": "for the whole curve"}


def band_rows(bands: Mapping[str, Any], across: str) -> list[dict[str, Any]]:
    """Return the rows of bands by the name of their curve; what is not finite is left out."""
    rows: list[dict[str, Any]] = []
    for name, band in bands.items():
        low, high = (np.asarray(each, dtype=np.float64) for each in (band.lower, band.upper))
        kept = np.isfinite(low) & np.isfinite(high)
        at = np.asarray(band.at, dtype=np.float64)[kept]
        rows += records(curve=name, low=low[kept], high=high[kept], **{across: at})
    return rows


def band_layer(across: Any, low: Any, color: Any) -> Any:
    """Return the layer of the bands among the rows."""
    area = altair().Chart().transform_filter("isValid(datum.low)")
    area = area.mark_area(opacity=0.2, strokeWidth=0, interpolate="linear", clip=True)
    return area.encode(x=across, y=low, y2="high", color=color)


def words_of_bands(bands: Mapping[str, Any]) -> str:
    """Say what the bands mean."""
    band = next(iter(bands.values()))
    about = _ABOUT.get(band.kind, "for the whole curve, whatever the distribution")
    return f"Band: {100 * band.level:g} % {about}."
