"""A distributed minimisation: the value over time, and what each worker spent."""

from typing import Any

import numpy as np

from bottega.plot._parts import colors, records, thinned, tips, x_axis, y_axis
from bottega.plot.theme import altair, number, panels

__all__ = ["distributed_chart"]

_WIDTH = 600


def distributed_chart(found: Any) -> Any:
    """Draw the value of the function over time, and below it who worked how long.

    Parameters
    ----------
    found : DistributedMinimum
        What `bottega.optimize.distributed_descent` or `simulated_cluster` returned.

    Returns
    -------
    altair.VConcatChart
        Above, the distance of the value from the least one met, over time; below, one bar per
        worker with the seconds it computed, beside the seconds of the whole run.

    Examples
    --------
    >>> import numpy as np
    >>> from bottega.optimize import simulated_cluster
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> found = simulated_cluster(X, X[:, 0] > 0, alpha=1.0, duration=0.02, random_state=0)
    >>> len(distributed_chart(found).to_dict()["vconcat"])
    2
    """
    alt = altair()
    kept = thinned(len(found.times), 500)
    clock = "simulated seconds" if found.simulated else "seconds"
    values = found.trace.values[kept]
    rows = records(time=found.times[kept], value=np.where(np.isfinite(values), values, np.nan))
    way = (
        alt.Chart(alt.Data(values=[row for row in rows if row["value"] is not None]))
        .mark_line(strokeWidth=2, point={"size": 14, "filled": True}, style="honest")
        .encode(
            x=x_axis("time", clock, nice=False, grid=False),
            y=y_axis("value", "value of f", zero=False),
            tooltip=tips(("time:Q", clock, ".4~g"), ("value:Q", "f", ".6~g")),
        )
        .properties(width=_WIDTH, height=220)
    )
    spent = found.work.sum(axis=0)
    names = [f"worker {i + 1}" for i in range(found.n_workers)]
    kinds = ["computing", "waiting, messages, updates"]
    bars = records(name=np.array(names), seconds=spent, kind=kinds[0], order=0)
    bars += records(
        name=np.array(names), seconds=np.maximum(found.seconds - spent, 0), kind=kinds[1], order=1
    )
    shares = (
        alt.Chart(alt.Data(values=bars))
        .mark_bar()
        .encode(
            x=x_axis("seconds", clock, nice=False, grid=False, domain=[0, float(max(found.seconds,
                     spent.max(initial=0.0)))]),
            y=alt.Y("name", type="nominal", sort=names, title=None),
            color=colors("kind", kinds),
            order="order:Q",
            tooltip=tips(("name:N",), ("kind:N",), ("seconds:Q", clock, ".4~g")),
        )
        .properties(width=_WIDTH, height=26 * found.n_workers)
    )  # fmt: skip
    words = [
        f"{found.n_workers} workers, {number(found.seconds)} {clock}: {number(found.speed_up)} "
        f"times the work of one, bound {number(found.bound)}.",
    ]
    if found.staleness is not None and len(found.staleness):
        words.append(
            f"{number(len(found.staleness))} updates, on average "
            f"{number(float(np.mean(found.staleness)))} old."
        )
    title = f"{found.method[:1].upper()}{found.method[1:]}"
    return panels(
        alt.vconcat(way, shares, spacing=22).resolve_scale(color="independent"),
        title=title,
        subtitle=words,
        description=f"{title}: line chart of the value over time, and bars of work per worker. "
        + " ".join(words),
    )
