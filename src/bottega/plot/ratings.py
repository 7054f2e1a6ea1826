"""Tables of ratings: what is known beside what is predicted, and errors over rank and penalty."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import tips, y_names
from bottega.plot.theme import altair, finish, number, panels, plain

__all__ = ["error_grid_chart", "ratings_chart"]

_CELL = 34


def ratings_chart(observed: Any, predicted: Any, users: Sequence[str], items: Sequence[str]) -> Any:
    """Draw observed ratings beside predicted ones: rows are users, columns are items.

    Parameters
    ----------
    observed : array-like of shape (n, m)
        Ratings, NaN where there is none.
    predicted : array-like of shape (n, m)
        Predicted ratings.
    users, items : sequence of str
        Their names.

    Returns
    -------
    altair.HConcatChart
        The numbers are predictions of ratings that are not known; known ones are outlined.

    Examples
    --------
    >>> chart = ratings_chart([[5, np.nan]], [[4.8, 2.1]], ["Ann"], ["Alien", "Titanic"])
    >>> chart.to_dict()["title"]["text"]
    'Observed and predicted ratings'
    """
    alt = altair()
    known, told = np.asarray(observed, np.float64), np.asarray(predicted, np.float64)
    if known.shape != told.shape or known.shape != (len(users), len(items)):
        raise InputError(
            f"observed has shape {known.shape} and predicted {told.shape}; with {len(users)} users "
            f"and {len(items)} items both must be ({len(users)}, {len(items)})."
        )
    rows = [
        {
            "user": str(users[x]),
            "item": str(items[i]),
            "observed": plain(known[x, i]),
            "predicted": plain(told[x, i]),
        }
        for x in range(len(users))
        for i in range(len(items))
    ]
    both = np.concatenate([known[np.isfinite(known)], told.ravel()])
    span = [plain(float(both.min())), plain(float(both.max()))]
    names = [str(name) for name in items]
    # Half opacity at most keeps the number in a cell readable.
    depth = alt.Scale(domain=span, range=[0.04, 0.55], clamp=True)

    def panel(field: str, title: str, *, first: bool) -> Any:
        axis = alt.Axis(orient="top", domain=False, ticks=False, labelAngle=-45, labelLimit=90)
        labels = {"labelLimit": 110} if first else {"labels": False}
        base = (
            alt.Chart()
            .transform_filter(f"isValid(datum.{field})")
            .encode(
                x=alt.X("item", type="nominal", sort=names, title=None, axis=axis,
                        scale=alt.Scale(domain=names)),
                y=y_names("user", [str(name) for name in users], None, **labels),
                tooltip=tips(
                    ("user:N", "user"),
                    ("item:N", "item"),
                    ("observed:Q", "observed", ".3~g"),
                    ("predicted:Q", "predicted", ".3~g"),
                ),
            )
        )  # fmt: skip
        shade = alt.FillOpacity(field, type="quantitative", scale=depth, legend=None)
        cells = base.mark_rect(style="honest", stroke=None, cornerRadius=2)
        words = base.mark_text(style="label", fontSize=11).encode(
            text=alt.Text(field, type="quantitative", format=".2~g")
        )
        layers = [cells.encode(fillOpacity=shade), words]
        if not first:
            outline = base.transform_filter("isValid(datum.observed)")
            layers.append(
                outline.mark_rect(style="label", filled=False, strokeWidth=1, cornerRadius=2)
            )
        size = {"width": _CELL * len(items), "height": 26 * len(users)}
        return alt.layer(*layers).properties(title=title, **size)

    chart = alt.hconcat(
        panel("observed", "observed", first=True),
        panel("predicted", "predicted (outlined: known)", first=False),
        data=alt.Data(values=rows),
    )
    count = int(np.count_nonzero(np.isfinite(known)))
    return panels(
        chart,
        title="Observed and predicted ratings",
        subtitle=f"{count:,} of {known.size:,} ratings shown are known; the darker, the higher.",
        description=(
            f"Two tables of {len(users)} users and {len(items)} items: {count} observed ratings, "
            f"and predictions of all {known.size}, from {number(told.min())} to "
            f"{number(told.max())}."
        ),
    )


def error_grid_chart(path: Any, *, select: str | None = None) -> Any:
    """Draw the honest error of a path over two parameters as a grid of cells.

    Parameters
    ----------
    path : Path
        Over two parameters, the first a number of components.
    select : str, optional
        Rule that picks; that of the path by default.

    Returns
    -------
    altair.LayerChart
        The darker a cell, the lower its error; the picked one is outlined.
    """
    alt = altair()
    main, other = path.knobs[:2]
    rule = select or path.select or "one_se"
    picked, least = path.best(rule), path.best("min")
    root = "rmse" in path.criteria
    error = path.criteria["rmse"] if root else path.error
    across = sorted({setting[main] for setting in path.settings})
    down = sorted({setting[other] for setting in path.settings}, reverse=True)
    marks = {least: "least error", picked: "picked"}
    rows = [
        {
            "x": number(setting[main]),
            "y": number(setting[other], 3),
            "error": plain(error[k]),
            "se": plain(path.error_se[k]),
            **({"mark": marks[k]} if k in marks else {}),
        }
        for k, setting in enumerate(path.settings)
    ]
    low, high = float(np.nanmin(error)), float(np.nanmax(error))
    limit = low + 0.6 * (high - low) or 1.0
    base = alt.Chart().encode(
        x=alt.X("x", type="nominal", sort=[number(v) for v in across], title=main,
                axis=alt.Axis(labelAngle=0, domain=False, ticks=False)),
        y=y_names("y", [number(v, 3) for v in down], other),
        tooltip=tips(
            ("x:N", main), ("y:N", other), ("error:Q", "error", ".5~g"),
            ("se:Q", "standard error of its square" if root else "its standard error", ".3~g"),
        ),
    )  # fmt: skip
    depth = alt.Scale(domain=[low, limit], range=[0.6, 0.04], clamp=True)
    shade = alt.FillOpacity("error", type="quantitative", scale=depth, legend=None)
    cells = base.mark_rect(style="honest", stroke=None, cornerRadius=2).encode(fillOpacity=shade)
    words = base.mark_text(style="label").encode(
        text=alt.Text("error", type="quantitative", format=".4~g")
    )
    outlines = [
        base.transform_filter(f"datum.mark === '{name}'").mark_rect(
            style=style, filled=False, strokeWidth=2.5, cornerRadius=2
        )
        for name, style in (("least error", "reference"), ("picked", "picked"))
    ]
    what = "root mean squared error" if root else f"mean {path.loss}"
    chosen = path.settings[picked]
    return finish(
        alt.layer(cells, words, *outlines, data=alt.Data(values=rows)),
        title=f"Error over {main} and {other}",
        subtitle=[
            f"{what[0].upper()}{what[1:]} of entries held out; the darker, the lower.",
            f"Outlined: picked by {rule} ({main} {number(chosen[main])}, {other} "
            f"{number(chosen[other], 3)}); dashed: least error.",
        ],
        description=(
            f"Grid of the {what} of held-out entries over {main} ({len(across)} values) and "
            f"{other} ({len(down)} values); least {number(error[least])}, picked "
            f"{number(error[picked])}."
        ),
        width=72 * len(across),
        height=34 * len(down),
    )
