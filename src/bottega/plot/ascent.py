"""The bound of expectation-maximisation, step by step."""

from typing import Any

import numpy as np

from bottega.plot._parts import colors, records, tips, x_axis, y_axis
from bottega.plot.theme import HEIGHT, WIDTH, altair, finish, number, panels

__all__ = ["ascent_chart"]

_MOST = 60  # iterations after which single steps cannot be told apart


def ascent_chart(ascent: Any, *, most: int = _MOST) -> Any:
    """Draw the log-likelihood and the bound after each E and M step.

    Parameters
    ----------
    ascent : Ascent
        What `bottega.optimize.em` returned.
    most : int
        Iterations drawn; the others come after them, where little happens.

    Returns
    -------
    altair.LayerChart or altair.VConcatChart
        The bound is a staircase under the log-likelihood: an E step raises it to touch, an M step
        raises both. The dotted rule between them is the Kullback-Leibler distance. Of extrapolated
        steps, which do not end at the M step, the log-likelihood is drawn alone. Where the entropy
        of q was traced, a second panel shows it.

    Examples
    --------
    >>> from bottega.optimize import em
    >>> found = em(3.0, lambda m: m, lambda q: q / 2, lambda q, m: -q * m - (q - m) ** 2, tol=1e-9)
    >>> ascent_chart(found).to_dict()["title"]["text"]
    'Expectation-maximisation, step by step'
    """
    alt = altair()
    count = min(ascent.n_iter, most)
    stairs = len(ascent.after_m) > 0
    # After M step t, just before its E step closes the gap: at t; after that E step: at t + 1/2.
    place = np.arange(2 * count + 1) / 2
    level = np.empty(2 * count + 1)
    level[0::2] = ascent.log_likelihood[: count + 1]
    level[1::2] = ascent.log_likelihood[1 : count + 1]
    step = np.array(["E" if i % 2 == 0 else "M" for i in range(2 * count + 1)])
    shown = slice(None, None, 1 if stairs else 2)
    names = ["log-likelihood", "bound"] if stairs else ["log-likelihood"]
    rows = records(x=place[shown], y=level[shown], series="log-likelihood", step=step[shown])
    gaps: list[Any] = []
    if stairs:
        bound = np.empty(2 * count + 1)
        bound[0::2], bound[1::2] = ascent.after_e[: count + 1], ascent.after_m[:count]
        rows += records(x=place, y=bound, series="bound", step=step)
        gaps = records(x=place[1::2], low=bound[1::2], high=level[1::2], kl=(level - bound)[1::2])
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=x_axis("x", "iteration", nice=False, grid=False, tickMinStep=1),
        y=y_axis("y", "log-likelihood", zero=False),
        color=colors("series", names),
        tooltip=tips(
            ("series:N", "curve"), ("step:N", "after step"), ("x:Q", "iteration"),
            ("y:Q", "value", ".6~g"),
        ),
    )  # fmt: skip
    rules = (
        alt.Chart(alt.Data(values=gaps))
        .mark_rule(style="guide")
        .encode(
            x=x_axis("x", "iteration"),
            y=y_axis("low", "log-likelihood", zero=False),
            y2="high:Q",
            tooltip=tips(("x:Q", "after M step"), ("kl:Q", "KL", ".4~g")),
        )
    )
    layers = [*([rules] if stairs else []), base.mark_line(strokeWidth=2)]
    if count <= _MOST:
        layers.append(base.mark_point(size=26, filled=True, opacity=1))
    notes = [
        f"{number(ascent.n_iter)} iteration{'s' * (ascent.n_iter != 1)}, "
        f"{'converged' if ascent.converged else 'not converged'}: from "
        f"{ascent.log_likelihood[0]:,.2f} to {ascent.log_likelihood[-1]:,.2f}.",
    ]
    if stairs:
        notes.append("Half steps: after the M step; dotted: the distance of q from the posterior.")
    if count < ascent.n_iter:
        notes.append(f"The first {count} of {ascent.n_iter} iterations.")
    if not ascent.monotone:
        notes.append(f"The bound fell in iteration {ascent.falls[0]}.")
    title = "Expectation-maximisation, step by step"
    words = f"Line chart of log-likelihood and bound after each step. {' '.join(notes)}"
    if ascent.entropy is None:
        return finish(alt.layer(*layers), title=title, subtitle=notes, description=words)
    upper = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    return panels(
        alt.vconcat(upper, _entropy_panel(ascent.entropy[: count + 1]), spacing=14),
        title=title,
        subtitle=notes,
        description=f"{words} Below it the entropy of q after each E step.",
    )


def _entropy_panel(entropy: Any) -> Any:
    """Draw how undecided the latent variables are after each E step."""
    alt = altair()
    rows = records(x=np.arange(len(entropy)), y=np.asarray(entropy))
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=x_axis("x", "iteration", nice=False, grid=False, tickMinStep=1),
        y=y_axis("y", "entropy of q", zero=True),
        tooltip=tips(("x:Q", "iteration"), ("y:Q", "entropy", ".4~g")),
    )
    point = base.mark_point(size=26, filled=True, opacity=1, style="honest")
    panel = base.mark_line(strokeWidth=2, style="honest") + point
    return panel.properties(width=WIDTH, height=90)
