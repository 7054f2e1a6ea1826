"""Precision and recall along the knob of one or several methods."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import colors, records, tips, x_axis, y_axis
from bottega.plot.theme import altair, finish

__all__ = ["precision_recall_chart"]


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
