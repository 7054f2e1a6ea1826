"""The ridge functions of projection pursuit."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import records, some_points, tips, x_axis, y_axis
from bottega.plot.theme import altair, panels

__all__ = ["ridge_functions_chart"]

_POINTS = 200  # of a curve
_WIDTH, _HEIGHT = 230, 160


def ridge_functions_chart(
    terms: Any,
    names: Any,
    *,
    rows: Any = None,
    residual: Any = None,
    columns: int = 3,
) -> Any:
    """Draw each ridge function along its direction.

    Parameters
    ----------
    terms : RidgeTerms
        What a fitted projection pursuit keeps as ``terms_``.
    names : sequence of str
        Names of the inputs.
    rows : array-like of shape (n, p), optional
        Rows to draw as points; of many, some are drawn.
    residual : array-like of shape (n,), optional
        What the model leaves of their one response: a point is that plus the function.
    columns : int
        Panels side by side.

    Returns
    -------
    altair.ConcatChart
        One panel per term, the most important first, all on the same height.

    Examples
    --------
    >>> from bottega.additive import ProjectionPursuitRegressor
    >>> X = np.random.default_rng(0).normal(size=(80, 2))
    >>> model = ProjectionPursuitRegressor(1, max_terms=1).fit(X, np.sin(X[:, 0]))
    >>> chart = ridge_functions_chart(model.terms_, ["a", "b"])
    >>> chart.to_dict()["concat"][0]["title"]["text"]
    'f1: 1 a'
    """
    alt = altair()
    if not terms.functions:
        raise InputError("The model has no terms to draw: it predicts a constant (n_terms_ = 0).")
    q = terms.beta.shape[1]
    if residual is not None and q > 1:
        raise InputError(
            f"Partial residuals are of one predictor, and there are {q}; draw without them."
        )
    share = terms.beta[:, 0] if q == 1 else np.sqrt(np.sum(terms.beta**2, axis=1))
    Z = None if rows is None else terms.projections(np.asarray(rows, dtype=np.float64))
    drawn, titles = [], terms.names(list(names))
    tall = "share in the prediction" if q == 1 else "ridge function"
    for m, curve in enumerate(terms.functions):
        low, high = curve.knots[[0, -1]].tolist()
        x = np.linspace(low, high, _POINTS)
        data = records(kind="function", x=x, y=share[m] * curve(x))
        if Z is not None:
            z = np.ascontiguousarray(Z[:, m])
            height = share[m] * curve(z) + (0.0 if residual is None else residual)
            at, height = some_points((z, height))
            data += records(kind="row", x=at, y=height)
        base = alt.Chart(alt.Data(values=data)).encode(
            x=x_axis("x", "projection", zero=False, nice=False, grid=False, tickCount=4),
            y=y_axis("y", tall if m % columns == 0 else None, tickCount=5),
        )
        line = base.transform_filter("datum.kind == 'function'").mark_line(
            style="honest", strokeWidth=2
        )
        layers = [
            line.encode(tooltip=tips(("x:Q", "projection", ".4~g"), ("y:Q", "share", ".4~g")))
        ]
        if Z is not None:
            dots = base.transform_filter("datum.kind == 'row'")
            layers.insert(0, dots.mark_circle(style="faint", size=14))
        head = alt.TitleParams(titles[m], fontSize=12.5, offset=6)
        panel = alt.layer(*layers).properties(title=head, width=_WIDTH, height=_HEIGHT)
        drawn.append(panel)
    points = (
        ""
        if Z is None
        else "; points are rows"
        + ("" if residual is None else ", with what the model leaves of them")
    )
    return panels(
        alt.concat(*drawn, columns=columns, spacing=24).resolve_scale(y="shared"),
        title="Ridge functions",
        subtitle=f"The most important first{points}.",
        description="Curves along the directions " + "; ".join(titles) + ".",
    )
