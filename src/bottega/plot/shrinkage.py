"""How linear methods shrink: direction by direction, and coefficient by coefficient."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.plot._parts import colors, dashes, only, records, segment, tips, x_axis, y_axis
from bottega.plot.theme import altair, finish, number, plain

__all__ = ["shrinkage_chart", "threshold_chart"]


def shrinkage_chart(d: Any, alphas: Any = (), n_components: Any = ()) -> Any:
    r"""Draw what ridge and principal components regression keep of each direction of the inputs.

    Parameters
    ----------
    d : array-like of shape (r,)
        Singular values of the centred (and scaled) inputs.
    alphas : float or sequence of float
        Penalties of ridge, which keeps :math:`d_j^2 / (d_j^2 + \alpha)`.
    n_components : int or sequence of int
        Numbers of components: the first so many are kept whole, the others dropped.

    Returns
    -------
    altair.LayerChart
        The share kept against the number of the direction, largest singular value first: the smooth
        fall of ridge beside the steps of principal components regression. The legend gives the
        degrees of freedom without the intercept, the sum of the shares.

    Examples
    --------
    >>> shrinkage_chart([3.0, 1.0], alphas=1.0, n_components=1).to_dict()["title"]["text"]
    'Shrinkage of each direction'
    """
    alt = altair()
    d = np.sort(np.asarray(d, dtype=np.float64))[::-1]
    penalties, counts = np.atleast_1d(alphas), np.atleast_1d(n_components)
    if d.ndim != 1 or not d.size or not np.all(np.isfinite(d) & (d > 0)):
        raise InputError("d must be a list of positive singular values.")
    if not penalties.size and not counts.size:
        raise InputError("There is nothing to draw; give alphas=, n_components= or both.")
    if np.any(penalties < 0) or np.any((counts < 0) | (counts > d.size)):
        raise InputError(
            f"alphas must not be negative and n_components lie between 0 and {d.size}; got "
            f"{penalties.tolist()} and {counts.tolist()}."
        )
    place = np.arange(1, d.size + 1)
    series: list[tuple[str, str, FloatArray]] = []
    for alpha in np.sort(penalties):
        kept = d**2 / (d**2 + alpha)
        series.append((f"ridge, alpha = {number(alpha)} (df {kept.sum():.3g})", "ridge", kept))
    for count in np.sort(counts):
        kept = (place <= count).astype(np.float64)
        series.append((f"{int(count)} components (df {int(count)})", "components", kept))
    rows = []
    for name, kind, kept in series:
        rows += records(series=name, kind=kind, direction=place, d=d, kept=kept)
    names = [name for name, _, _ in series]
    patterns = [[1, 0] if kind == "ridge" else [6, 4] for _, kind, _ in series]
    base = alt.Chart().encode(
        x=x_axis(
            "direction",
            "direction, by falling singular value",
            **{"domain": [1, max(d.size, 2)], "nice": False, "padding": 14},
            **{"grid": False, "tickMinStep": 1, "format": "d", "tickCount": min(d.size, 12)},
        ),
        y=y_axis(
            "kept", "share kept", domain=[0, 1.04], nice=False, values=[0, 0.2, 0.4, 0.6, 0.8, 1]
        ),
        color=colors("series", names, orient="right", columns=1, symbolType="stroke"),
        tooltip=tips(
            ("series:N", "fit"),
            ("direction:Q", "direction"),
            ("d:Q", "singular value", ".4~g"),
            ("kept:Q", "share kept", ".3~g"),
        ),
    )
    lines = base.encode(strokeDash=dashes("series", names, patterns))
    return finish(
        alt.layer(
            only(lines, "ridge").mark_line(strokeWidth=2),
            only(lines, "components").mark_line(strokeWidth=2, interpolate="step"),
            base.mark_point(size=40, filled=True, opacity=1),
            data=alt.Data(values=rows),
        ),
        title="Shrinkage of each direction",
        subtitle="Ridge shrinks smoothly, most where the inputs vary least; components are kept "
        "or dropped.",
        description=(
            f"Line chart of the share of each of {d.size} directions that is kept by: "
            f"{'; '.join(names)}."
        ),
    )


def threshold_chart(alpha: float = 1.0, *, limit: float | None = None) -> Any:
    r"""Draw how ridge, lasso and subset selection change a coefficient of orthonormal inputs.

    Parameters
    ----------
    alpha : float
        The penalty :math:`\alpha`.
    limit : float, optional
        How far the axis goes; twice the greatest threshold by default.

    Returns
    -------
    altair.LayerChart
        Against the least-squares coefficient b: ridge :math:`b / (1 + \alpha)`, lasso
        :math:`\mathrm{sgn}(b) (|b| - \alpha)_+` and subset selection, which keeps b where
        :math:`|b| > \sqrt{2 \alpha}`: the least of half the residual sum of squares plus
        :math:`\alpha b^2 / 2`, :math:`\alpha |b|` and :math:`\alpha` per coefficient kept.

    Examples
    --------
    >>> threshold_chart(0.5).to_dict()["title"]["text"]
    'Shrinkage of one coefficient'
    """
    alt = altair()
    if not (np.isfinite(alpha) and alpha > 0):
        raise InputError(f"alpha={alpha!r} is not allowed; alpha must be a positive number.")
    cut = float(np.sqrt(2 * alpha))
    most = max(alpha, cut)
    end = 2 * most if limit is None else float(limit)
    if not end > most:
        raise InputError(f"limit={limit!r} is not allowed; it must be greater than {most:.4g}.")
    # Straight pieces; that of subset selection jumps, so its three pieces are lines of their own.
    pieces: list[tuple[str, list[tuple[float, float]]]] = [
        ("ridge", [(-end, -end / (1 + alpha)), (end, end / (1 + alpha))]),
        ("lasso", [(-end, alpha - end), (-alpha, 0), (alpha, 0), (end, end - alpha)]),
        ("subset", [(-end, -end), (-cut, -cut)]),
        ("subset", [(-cut, 0), (cut, 0)]),
        ("subset", [(cut, cut), (end, end)]),
    ]
    rows = [
        {"rule": rule, "piece": piece, "b": plain(float(b)), "shrunk": plain(float(shrunk))}
        for piece, (rule, points) in enumerate(pieces)
        for b, shrunk in points
    ]
    rules = ["ridge", "lasso", "subset"]
    domain = [plain(-end), plain(end)]
    span = {"domain": domain, "nice": False, "tickCount": 7}
    base = alt.Chart().encode(
        x=x_axis("b", "least-squares coefficient", grid=False, **span),
        y=y_axis("shrunk", "coefficient after shrinkage", **span),
        detail="piece:N",
        color=colors("rule", rules),
        strokeDash=dashes("rule", rules, [[1, 0], [1, 0], [6, 4]]),
    )
    return finish(
        alt.layer(
            segment(*domain, style="guide", aria=False),
            base.mark_line(strokeWidth=2.2),
            data=alt.Data(values=rows),
        ),
        title="Shrinkage of one coefficient",
        subtitle=f"Orthonormal inputs, penalty {number(alpha)}; the dotted line is least squares.",
        description=(
            "Line chart of the shrunk against the least-squares coefficient: ridge divides by "
            f"{number(1 + alpha)}, lasso takes off {number(alpha)} down to zero, subset selection "
            f"drops what is at most {number(cut)}."
        ),
        width=380,
        height=380,
    )
