"""How well scores separate the classes: the ROC curve."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score, roc_curve

from bottega.core.errors import InputError
from bottega.core.typing import Array, FloatArray
from bottega.plot._curve_bands import band_layer, band_rows, words_of_bands
from bottega.plot._parts import colors, records, segment, tips, x_axis, y_axis
from bottega.plot.theme import altair, finish

__all__ = ["roc_chart", "roc_curves_chart"]

MOST_CURVES = 10
_MOST_POINTS = 200


def roc_chart(y_true: Any, scores: Any, classes: Any) -> Any:
    """Draw the ROC curve of the second of two classes, or of each class against the rest.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Observed labels.
    scores : array-like of shape (n,) or (n, K)
        Scores or probabilities, one column per class; for two classes the scores of the second
        class alone will do.
    classes : array-like of shape (K,)
        The labels, in the order of the columns. Of more than 10 the most frequent 10 are drawn.

    Returns
    -------
    altair.LayerChart
        With the area under each curve (AUC) in words: the probability that a row of the class has
        a higher score than a row outside it. Half is chance.

    Examples
    --------
    >>> chart = roc_chart(["a", "b", "b"], [0.2, 0.1, 0.9], ["a", "b"])
    >>> chart.to_dict()["title"]["subtitle"]
    ["AUC 0.500 for class 'b' (1 is perfect, 0.5 is chance)."]
    """
    true, names = np.asarray(y_true), np.asarray(classes)
    score = _columns(np.asarray(scores, dtype=np.float64), true, names)
    usable = np.all(np.isfinite(score), axis=1)
    true, score = true[usable], score[usable]
    sizes = np.array([np.count_nonzero(true == label) for label in names])
    if len(names) == 2:
        drawn = np.array([1])
    else:
        drawn = np.sort(np.argsort(-sizes, kind="stable")[:MOST_CURVES])
    drawn = drawn[(sizes[drawn] > 0) & (sizes[drawn] < true.size)]
    if not drawn.size:
        raise InputError("A ROC curve needs rows of at least two classes; there is only one here.")
    curves, areas = {}, []
    for j in drawn:
        positive = true == names[j]
        area = float(roc_auc_score(positive, score[:, j]))
        areas.append(area)
        false, found, _ = roc_curve(positive, score[:, j])
        curves[f"{names[j]}: AUC {area:.3f}"] = false, found
    if len(names) == 2:
        label = names[1].item() if isinstance(names[1], np.generic) else names[1]
        subtitle = f"AUC {areas[0]:.3f} for class {label!r} (1 is perfect, 0.5 is chance)."
    else:
        shown = f"the {len(drawn)} most frequent" if len(drawn) < len(names) else "each"
        subtitle = (
            f"Of {shown} against the rest; mean AUC {np.mean(areas):.3f} "
            "(1 is perfect, 0.5 is chance)."
        )
    return roc_curves_chart(curves, {}, subtitle, legend=len(names) > 2)


def roc_curves_chart(
    curves: Mapping[str, tuple[Any, Any]],
    bands: Mapping[str, Any],
    subtitle: str,
    *,
    legend: bool | None = None,
) -> Any:
    """Draw ROC curves that are computed already, with bands where there are any.

    Parameters
    ----------
    curves : mapping of str to (false, true)
        Shares of false alarms and of the class found, rising from 0 to 1, by name.
    bands : mapping of str to CurveBand
        Limits of some of them: objects with `at`, `lower`, `upper` and `level`, or None.
    subtitle : str
        What to see in it.
    legend : bool, optional
        Whether to name the curves; by default where there are several.

    Returns
    -------
    altair.LayerChart
        The chart, with the diagonal of chance.

    Examples
    --------
    >>> chart = roc_curves_chart({"b": ([0, 0, 1], [0, 0.5, 1])}, {}, "AUC 0.75")
    >>> len(chart.to_dict()["data"]["values"])
    3
    """
    alt = altair()
    names = list(curves)
    rows: list[dict[str, Any]] = []
    for name, (false, found) in curves.items():
        x, y = _thinned(np.asarray(false, dtype=float), np.asarray(found, dtype=float))
        rows += records(curve=name, false=x, true=y, order=np.arange(len(x)))
    drawn = {name: band for name, band in bands.items() if band is not None}
    rows += band_rows(drawn, "false")
    share = {"domain": [0, 1], "format": "~%", "tickCount": 5}
    place: dict[str, Any] = {"columns": 1}
    if len(names) > 4:
        place = {"orient": "bottom", "columns": 2, "labelLimit": 130}
    color = colors("curve", names, show=len(names) > 1 if legend is None else legend, **place)
    across = x_axis("false", "false alarms (share of the other rows)", **share)
    upward = "found (share of the rows of the class)"
    curve = alt.Chart()
    if drawn:
        curve = curve.transform_filter("isValid(datum.order)")
    curve = curve.mark_line(strokeWidth=2, interpolate="linear").encode(
        x=across,
        y=y_axis("true", upward, **share),
        order="order:Q",
        color=color,
        tooltip=tips(
            ("curve:N", "class"), ("false:Q", "false alarms", ".1%"), ("true:Q", "found", ".1%")
        ),
    )
    layers = [segment(0, 1, style="reference", aria=False)]
    if drawn:
        layers.append(band_layer(across, y_axis("low", upward, **share), color))
    words = [subtitle, *([words_of_bands(drawn)] if drawn else [])]
    return finish(
        alt.layer(*layers, curve, data=alt.Data(values=rows)),
        title="How well the scores separate the classes (ROC)",
        subtitle=words,
        description="ROC curve with the chance diagonal; " + "; ".join(names) + f". {words[0]}",
        width=360,
        height=330,
    )


def _columns(score: FloatArray, true: Array, names: Array) -> FloatArray:
    if score.ndim == 1 and len(names) == 2:
        score = np.column_stack([-score, score])
    if score.shape != (true.size, len(names)):
        raise InputError(
            f"scores has shape {score.shape}; {true.size} rows and {len(names)} classes need "
            f"({true.size}, {len(names)})."
        )
    return score


def _thinned(false: FloatArray, true: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the corners of a curve, at most 200, evenly spread along its length."""
    if false.size > _MOST_POINTS:
        along = false + true  # grows from 0 to 2 along the curve
        wanted = np.linspace(0, along[-1], _MOST_POINTS)
        kept = np.unique(np.searchsorted(along, wanted).clip(0, false.size - 1))
        kept[0], kept[-1] = 0, false.size - 1
        false, true = false[kept], true[kept]
    return false, true
