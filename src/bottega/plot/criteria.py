"""Information criteria against the size of the model."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._knob import complexity_axis, name_of_knob, setting_in_words, value_in_words
from bottega.plot._parts import apart, colors, dashes, tips, y_axis
from bottega.plot.theme import altair, finish, plain

__all__ = ["criteria_chart"]

_TITLES = {"aic": "AIC", "aicc": "AICc", "bic": "BIC", "hq": "HQ", "cp": "Cp"}
# Of principal components: each on a scale of its own.
_TITLES |= {"share": "short of 90 %", "parallel": "parallel analysis", "mle": "minus log evidence"}
# Those of numbers of clusters, and of radii.
_TITLES |= {
    "silhouette": "1 - silhouette",
    "gap": "gain beyond chance (gap)",
    "stability": "disagreement of halves",
}
_TITLES |= {"knee": "knee of the distances"}


def criteria_chart(path: Any, *, which: Sequence[str] = ("aic", "bic", "cp")) -> Any:
    """Draw criteria against the degrees of freedom, each with its least value marked.

    Parameters
    ----------
    path : Path
        With the criteria in its `criteria`.
    which : sequence of str
        Some of ``"aic"``, ``"aicc"``, ``"bic"``, ``"hq"``, ``"cp"``. They are all on the scale of
        the deviance; ``"gcv"`` is on that of the error, which `path_chart` draws.

    Returns
    -------
    altair.LayerChart
        Each criterion less its least value: what a model loses against the one the criterion would
        pick. Over a range of 60 the axis is that of square roots, so that what happens near zero is
        seen.

    Examples
    --------
    >>> from bottega.core.path import Path, along
    >>> curve = Path(along("n_components", [0, 1, 2]), df=[1, 2, 3], train_error=[3, 2, 1.9],
    ...              error=[3, 2, 2.1], error_se=[1, 1, 1], estimate="cv", loss="squared error",
    ...              criteria={"aic": [20.0, 10.0, 11.0], "bic": [21.0, 12.0, 14.0]})
    >>> criteria_chart(curve, which=("aic", "bic")).to_dict()["title"]["text"]
    'Criteria along n_components'
    """
    alt = altair()
    names = [which] if isinstance(which, str) else list(which)
    for name in names:
        if name not in _TITLES:
            raise InputError(f"{name!r} cannot be drawn here; use some of {', '.join(_TITLES)}.")
        if name not in path.criteria:
            known = ", ".join(path.criteria) or "no criteria"
            raise InputError(f"The path along {name_of_knob(path)!r} has {known}, not {name!r}.")
    size, what = path.df, "degrees of freedom"
    if size is None:
        size, what = path.complexity, "complexity"
    rows, legend, least = [], [], []
    for name in names:
        column = np.where(np.isfinite(path.criteria[name]), path.criteria[name], np.nan)
        best = path.best(name)
        label = f"{_TITLES[name]}: least at {setting_in_words(path, best)}"
        legend.append(label)
        least.append(f"{_TITLES[name]} at {value_in_words(path, best)}")
        rows += [
            {
                "criterion": label,
                "df": plain(size[i]),
                "value": value_in_words(path, i),
                "loss": plain(column[i] - column[best]),
                "height": plain(column[i]),
                **({"least": True} if i == best else {}),
            }
            for i in range(len(path))
            if np.isfinite(column[i])
        ]
    steep = max(row["loss"] for row in rows) > 60
    base = alt.Chart().encode(
        x=complexity_axis("df", what),
        y=y_axis("loss", "criterion less its least value", **({"type": "sqrt"} if steep else {})),
        color=colors("criterion", legend, symbolType="stroke"),
        tooltip=tips(
            ("criterion:N", "criterion"),
            ("value:N", name_of_knob(path)),
            ("df:Q", what, ".4~g"),
            ("height:Q", "value", ".6~g"),
            ("loss:Q", "less the least", ".4~g"),
        ),
    )
    # Criteria may run on top of one another: dashes and rings let the one below show.
    patterns = [[1, 0], [7, 4], [2, 3], [9, 3, 2, 3], [4, 2]]
    dash = dashes("criterion", legend, patterns[: len(legend)])
    ring = apart(alt.Size, "criterion", legend, [300, 190, 105, 50, 20][: len(legend)])
    return finish(
        alt.layer(
            base.mark_line(strokeWidth=2).encode(strokeDash=dash),
            base.mark_point(size=22, filled=True, opacity=1),
            base.transform_filter("datum.least")
            .mark_point(strokeWidth=2.5, opacity=1)
            .encode(size=ring),
            data=alt.Data(values=rows),
        ),
        title=f"Criteria along {name_of_knob(path)}",
        subtitle="Rings mark the model that each criterion picks"
        + ("; the axis is that of square roots." if steep else "."),
        description=(
            f"Line chart of {len(names)} criteria, less their least values, against "
            f"{what}. Least: {'; '.join(least)}."
        ),
    )
