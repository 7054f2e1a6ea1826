"""Pictures of a stream: regret and its bound, mistakes and their bound, the running loss."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bottega.plot.lines import lines_chart

__all__ = ["mistakes_chart", "regret_chart", "running_loss_chart"]


def regret_chart(
    rows: Any, regret: Any, bounds: Mapping[str, Any], *, title: str, subtitle: str | Sequence[str]
) -> Any:
    """Draw average regret and what it is at most against the number of rows, both logarithmic.

    Parameters
    ----------
    rows : array-like of shape (m,)
        Numbers of rows.
    regret : array-like of shape (m,)
        Average regret; what is not positive has no place on a logarithmic axis and is left out,
        and the subtitle says how often.
    bounds : mapping of str to array-like of shape (m,)
        Bounds by name.
    title, subtitle : str
        Titles.

    Returns
    -------
    altair.LayerChart
        The chart.
    """
    known = {name: values for name, values in bounds.items() if np.any(np.isfinite(values))}
    lines = [subtitle] if isinstance(subtitle, str) else list(subtitle)
    below = int(np.sum(np.asarray(regret) <= 0))
    if below:
        lines.append(f"Not shown: {below} of {len(np.asarray(rows))} points at or below zero.")
    words = {"title": title, "subtitle": lines}
    drawn = {"average regret": regret, **known}
    return _over_rows(rows, drawn, "average regret", log_y=True, dashed=list(known), **words)


def mistakes_chart(
    rows: Any, mistakes: Any, bound: Any, *, title: str, subtitle: str | Sequence[str]
) -> Any:
    """Draw mistakes, and the most there can be, against the number of rows, both logarithmic.

    Parameters
    ----------
    rows, mistakes, bound : array-like of shape (m,)
        Numbers of rows, mistakes so far, and their bound (missing where there is none).
    title, subtitle : str
        Titles.

    Returns
    -------
    altair.LayerChart
        The chart.
    """
    lines = {"mistakes": mistakes}
    if np.any(np.isfinite(bound)):
        lines["mistake bound, best comparator"] = bound
    words = {"title": title, "subtitle": subtitle}
    return _over_rows(rows, lines, "mistakes so far", log_y=True, dashed=list(lines)[1:], **words)


def running_loss_chart(rows: Any, loss: Any, *, title: str, subtitle: str | Sequence[str]) -> Any:
    """Draw the mean loss of all rows so far against their number.

    Parameters
    ----------
    rows, loss : array-like of shape (m,)
        Numbers of rows and mean losses.
    title, subtitle : str
        Titles.

    Returns
    -------
    altair.LayerChart
        The chart.
    """
    lines = {"mean loss so far": loss}
    what = "mean loss, charged before learning"
    return _over_rows(rows, lines, what, title=title, subtitle=subtitle)


def _over_rows(rows: Any, lines: Mapping[str, Any], what: str, **options: Any) -> Any:
    return lines_chart(rows, lines, x_title="rows", y_title=what, log_x=True, **options)
