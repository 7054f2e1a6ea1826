"""The charts of a report as files of their own."""

import os
from pathlib import Path
from typing import Any

from bottega.core.errors import BottegaError, InputError, require
from bottega.core.files import write_atomically
from bottega.report.content import content

__all__ = ["write_charts"]

_SCALE = 2  # pixels of a PNG per unit of the chart


def write_charts(comparison: Any, folder: str | os.PathLike[str]) -> list[Path]:
    """Write every chart of the report into a folder, each as PNG and as SVG.

    Parameters
    ----------
    comparison : Comparison
        What `bottega.compare` returned.
    folder : path
        Where to; it is made if it does not exist. Files of the same names are replaced.

    Returns
    -------
    list of pathlib.Path
        The files.

    Raises
    ------
    BottegaError
        When some charts could not be drawn or written; the others are there.
    """
    folder = Path(folder)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"Cannot make the folder {str(folder)!r}: {error.strerror}.") from error
    library = require("vl_convert", "plot")
    written, failed = [], []
    figures = content(comparison)["drawn"]
    for figure in figures.made:
        spec = figure.chart.to_dict(validate=False)
        name = figure.name.removesuffix("-chart")
        try:
            png = library.vegalite_to_png(spec, scale=_SCALE)
            written.append(write_atomically(folder / f"{name}.png", png))
            svg = library.vegalite_to_svg(spec)
            written.append(write_atomically(folder / f"{name}.svg", svg.encode()))
        except Exception as error:  # the other charts are wanted all the same
            failed.append(f"The chart {name!r} could not be written ({error}).")
    if failed or figures.failed:
        raise BottegaError(" ".join([*figures.failed, *failed]))
    return written
