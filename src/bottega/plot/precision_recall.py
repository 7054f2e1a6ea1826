"""Precision and recall along the knob of one or several methods."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._curve_bands import band_layer, band_rows, words_of_bands
from bottega.plot._parts import colors, records, thinned, tips, x_axis, y_axis
from bottega.plot.theme import altair, finish, plain

__all__ = ["precision_recall_chart", "precision_recall_curve_chart"]

_MOST_POINTS = 300


def precision_recall_chart(curves: Mapping[str, Any]) -> Any:
    """Draw precision (across) and recall (up), one curve per method.

    Parameters
    ----------
    curves : mapping of str to PrecisionRecallPath
        Curves by the name of the method; objects with `knob`, `values`, `precision`, `recall` and
        `area` will do.

    Returns
    -------
    altair.LayerChart
        The points are joined in the order of the knob; the corner at the upper right is perfect.
        Points where nothing is predicted positive have no precision and are left out.
    """
    alt = altair()
    rows: list[dict[str, Any]] = []
    names = []
    for name, curve in curves.items():
        words = f"{name or curve.knob} (area {curve.area:.3f})"
        names.append(words)
        precision, recall = np.asarray(curve.precision), np.asarray(curve.recall)
        place = np.flatnonzero(np.isfinite(precision) & np.isfinite(recall))
        values = np.asarray(curve.values).tolist()
        rows += records(
            method=words,
            knob=[f"{curve.knob} = {values[i]}" for i in place],
            place=place,
            precision=precision[place],
            recall=recall[place],
        )
    if not rows:
        raise InputError("No value of the knob predicts the positive class: nothing to draw.")
    base = alt.Chart().encode(
        x=x_axis("precision", "precision", domain=[0, 1], format="~g"),
        y=y_axis("recall", "recall", domain=[0, 1], format="~g"),
        color=colors("method", names, symbolType="stroke"),
        tooltip=tips(
            ("method:N",),
            ("knob:N", "at"),
            ("precision:Q", "precision", ".3~f"),
            ("recall:Q", "recall", ".3~f"),
        ),
    )
    layers = [
        base.mark_line(strokeWidth=1.6).encode(order="place:Q"),
        base.mark_point(size=34, filled=True, opacity=1),
    ]
    return finish(
        alt.layer(*layers, data=alt.Data(values=rows)),
        title="Precision and recall along the knob",
        subtitle="Upper right is perfect; area: what lies below and left of some point.",
        description=(
            "Recall against precision, one curve per method traced by its knob: "
            + ", ".join(names)
            + "."
        ),
        width=380,
        height=340,
    )


def precision_recall_curve_chart(
    curves: Mapping[str, tuple[Any, Any]],
    bands: Mapping[str, Any],
    *,
    base: float | None = None,
    subtitle: str = "",
) -> Any:
    """Draw precision against recall along the threshold of scores.

    Parameters
    ----------
    curves : mapping of str to (recall, precision)
        The points of each curve, recall rising, by name.
    bands : mapping of str to CurveBand
        Limits of some of them: objects with `at`, `lower`, `upper`, `level` and `kind`, or None.
    base : float, optional
        Share of the class: the precision of chance, drawn as a dashed line.
    subtitle : str
        What to see in it.

    Returns
    -------
    altair.LayerChart
        The chart.

    Examples
    --------
    >>> chart = precision_recall_curve_chart({"b": ([0.5, 1.0], [1.0, 0.6])}, {}, base=0.5)
    >>> chart.to_dict()["title"]["text"]
    'Precision and recall along the threshold'
    """
    alt = altair()
    names = list(curves)
    rows: list[dict[str, Any]] = []
    for name, (recall, precision) in curves.items():
        x, y = np.asarray(recall, dtype=np.float64), np.asarray(precision, dtype=np.float64)
        kept = thinned(len(x), _MOST_POINTS)
        rows += records(curve=name, recall=x[kept], precision=y[kept], order=kept)
    drawn = {name: band for name, band in bands.items() if band is not None}
    rows += band_rows(drawn, "recall")
    share = {"domain": [0, 1], "format": "~%", "tickCount": 5}
    legend = {"symbolType": "stroke", "symbolOpacity": 1, "columns": 2}
    color = colors("curve", names, show=len(names) > 1, **legend)
    across = x_axis("recall", "recall (share of the class found)", **share)
    upward = "precision"
    layers = []
    if base is not None:
        rule = alt.Chart().mark_rule(style="reference", aria=False)
        layers.append(rule.encode(y=alt.datum(plain(float(base)))))
    line = alt.Chart()
    if drawn:
        line = line.transform_filter("isValid(datum.order)")
        layers.append(band_layer(across, y_axis("low", upward, **share), color))
    layers.append(
        line.mark_line(strokeWidth=2, interpolate="linear").encode(
            x=across,
            y=y_axis("precision", upward, **share),
            order="order:Q",
            color=color,
            tooltip=tips(
                ("curve:N", "class"), ("recall:Q", "recall", ".1%"),
                ("precision:Q", "precision", ".1%"),
            ),
        )
    )  # fmt: skip
    return finish(
        alt.layer(*layers, data=alt.Data(values=rows)),
        title="Precision and recall along the threshold",
        subtitle=[subtitle, *([words_of_bands(drawn)] if drawn else [])],
        description=f"Precision against recall: {', '.join(names)}. {subtitle}",
        width=380,
        height=330,
    )
