"""A criterion against the number of components, a line per family of covariances."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import colors, dashes, records, tips, x_axis, y_axis
from bottega.plot.theme import altair, finish

__all__ = ["family_chart"]


def family_chart(path: Any, *, criterion: str = "bic") -> Any:
    """Draw a criterion of mixtures against the number of components, a line per family.

    Parameters
    ----------
    path : Path
        Of `GaussianMixture`, over ``n_components`` and ``covariance_type``.
    criterion : {"bic", "icl", "aic", "error"}
        What is drawn; ``"error"`` is the minus log-likelihood of rows held out.

    Returns
    -------
    altair.LayerChart
        The criterion less its least value, which a ring marks: smaller is better. Over a range of
        60 the axis is that of square roots, so that what happens near zero is seen. A model with a
        component at the least variance allowed leaves a gap.

    Examples
    --------
    >>> from bottega.cluster import GaussianMixture
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> path = GaussianMixture("auto", covariance_type=["EII", "VVV"]).path(X, values=[1, 2])
    >>> family_chart(path).to_dict()["title"]["text"]
    'BIC of 4 mixtures'
    """
    alt = altair()
    if not {"n_components", "covariance_type"} <= set(path.knobs):
        raise InputError(f"The chart is for mixtures; the path varies {', '.join(path.knobs)}.")
    column = path.error if criterion == "error" else path.criteria.get(criterion)
    if column is None or not np.any(np.isfinite(column)):
        raise InputError(
            f"The path has no {criterion!r}; use one of {', '.join(path.criteria)}"
            + (", error." if np.any(np.isfinite(path.error)) else ".")
        )
    sizes = np.array([setting["n_components"] for setting in path.settings])
    family = np.array([setting["covariance_type"] for setting in path.settings])
    order = np.lexsort((sizes, family))
    known = list(dict.fromkeys(family.tolist()))
    title = "minus log-likelihood held out" if criterion == "error" else criterion.upper()
    best = int(np.nanargmin(column))
    above = np.asarray(column) - column[best]
    rows = records(
        k=sizes[order],
        family=family[order],
        value=np.asarray(column)[order],
        above=above[order],
        df=path.df[order],
    )
    rows += records(
        k=[int(sizes[best])],
        family=[str(family[best])],
        value=[float(column[best])],
        above=[0.0],
        df=[float(path.df[best])],
        best=[True],
    )
    steep = {"type": "sqrt"} if np.nanmax(above) > 60 else {}
    patterns = [[[1, 0], [5, 3], [2, 2]][i // 7 % 3] for i in range(len(known))]
    base = alt.Chart().encode(
        x=x_axis("k", "components", tickMinStep=1, grid=False, zero=False, nice=False),
        y=y_axis("above", f"{title} less its least value", **steep),
        color=colors("family", known, symbolType="stroke", columns=7),
        strokeDash=dashes("family", known, patterns),
        tooltip=tips(
            ("family:N", "family"), ("k:Q", "components"), ("df:Q", "parameters"),
            ("value:Q", title, ",.2f"),
        ),
    )  # fmt: skip
    plain = base.transform_filter("!isValid(datum.best)")
    note = f"Least: {family[best]} with {sizes[best]} components, {column[best]:,.2f}."
    return finish(
        alt.layer(
            plain.mark_line(strokeWidth=1.8),
            plain.mark_point(size=24, filled=True, opacity=1),
            base.transform_filter("isValid(datum.best)").mark_point(size=230, strokeWidth=2.4),
            data=alt.Data(values=rows),
        ),
        title=f"{title[0].upper()}{title[1:]} of {len(path)} mixtures",
        subtitle=note,
        description=f"Line chart of {title} against the number of components. {note}",
    )
