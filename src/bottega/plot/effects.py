"""The effect of each input of an additive model."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.frames import default_names
from bottega.core.typing import FloatArray
from bottega.plot._parts import facets, records, tips, x_axis, y_axis
from bottega.plot.theme import altair, panels

__all__ = ["effects_chart"]


def effects_chart(effects: Any, *, names: Any = None, most: int = 12, columns: int = 3) -> Any:
    """Draw the effect of each input of an additive model: stumps added up, input by input.

    Parameters
    ----------
    effects : StumpEffects, mapping or sequence
        What ``AdaBoostClassifier.to_additive()`` returns; or for each input two arrays: the
        thresholds (k, rising) and the effect on each of the k + 1 intervals that they cut. A
        mapping goes from names to such pairs.
    names : sequence of str, optional
        Names, where `effects` is a sequence.
    most : int
        Of more inputs, those with the widest effect are drawn.
    columns : int
        Panels side by side.

    Returns
    -------
    altair.FacetChart
        One panel per input, in the order of the width of its effect; all on the same height, so
        that they can be compared. The levels of a category stand side by side, in the order that
        its panel names. An input that no stump uses has no panel.

    Examples
    --------
    >>> chart = effects_chart({"age": ([30.0, 50.0], [-1.0, 0.2, 0.8])})
    >>> chart.to_dict()["title"]["text"]
    'Effect of each input'
    """
    alt = altair()
    pairs = _effect_pairs(effects, names)
    if not pairs:
        raise InputError("No input has an effect: there is nothing to draw.")
    pairs.sort(key=lambda each: -float(np.ptp(each[2])))
    shown = pairs[:most]
    rows = []
    for name, ends, heights in shown:
        corners, order = np.repeat(ends, 2)[1:-1], np.arange(2 * len(heights))
        rows += records(input=name, x=corners, effect=np.repeat(heights, 2), step=order)
    sizes = f"{len(shown)} of {len(pairs)} inputs" if len(pairs) > most else "all that are used"
    lines = alt.Chart().mark_line(style="honest", strokeWidth=2)
    lines = lines.encode(
        x=x_axis("x", None, zero=False, nice=False, grid=False, tickCount=4, labelOverlap=True),
        y=y_axis("effect", "effect", tickCount=5),
        order="step:Q",
        tooltip=tips(("x:Q", "at", ".4~g"), ("effect:Q", "effect", ".4~g")),
    )
    zero = alt.Chart().mark_rule(style="guide").encode(y=alt.datum(0))
    panel = alt.layer(zero, lines, data=alt.Data(values=rows)).properties(width=190, height=130)
    names = [each[0] for each in shown]
    return panels(
        facets(panel, "input", names, columns).resolve_scale(x="independent"),
        title="Effect of each input",
        subtitle=f"The widest effects first; {sizes}.",
        description="Step curves of the effects of " + ", ".join(names) + ".",
    )


def _effect_pairs(effects: Any, names: Any) -> list[tuple[str, FloatArray, FloatArray]]:
    """Return name, ends of the steps and their heights, of every input that has an effect."""
    pairs: list[tuple[str, FloatArray, FloatArray]] = []
    if hasattr(effects, "steps"):
        inputs = zip(effects.names, effects.cuts, effects.steps, effects.levels, strict=True)
        for name, cuts, heights, levels in inputs:
            if levels is None:
                given = _numeric(str(name), cuts, heights)
            else:
                title = f"{name}: " + " | ".join(str(level) for level in levels)
                title = title if len(title) <= 34 else title[:33] + "…"
                ends = np.arange(len(levels) + 1, dtype=np.float64) - 0.5
                given = title, ends, np.asarray(heights, dtype=np.float64)
            if np.ptp(given[2]) > 0:
                pairs.append(given)
        return pairs
    if isinstance(effects, Mapping):
        listing = list(effects.items())
    else:
        listed = list(effects)
        words = default_names(len(listed)) if names is None else list(names)
        listing = list(zip(words, listed, strict=True))
    for name, (cuts, heights) in listing:
        if len(cuts):
            pairs.append(_numeric(str(name), cuts, heights))
    return pairs


def _numeric(name: str, cuts: Any, heights: Any) -> tuple[str, FloatArray, FloatArray]:
    cuts, heights = np.asarray(cuts, dtype=np.float64), np.asarray(heights, dtype=np.float64)
    if heights.shape != (len(cuts) + 1,):
        raise InputError(
            f"The effect of {name!r} has {heights.size} values for {cuts.size} thresholds; one "
            "for each interval is needed."
        )
    if not cuts.size:
        return name, np.zeros(2), heights
    # An effect goes on beyond its outermost thresholds: a tenth of their span is shown.
    span = float(cuts[-1] - cuts[0]) or max(abs(float(cuts[0])), 1.0)
    ends = np.concatenate([[cuts[0] - 0.1 * span], cuts, [cuts[-1] + 0.1 * span]])
    return name, ends, heights
