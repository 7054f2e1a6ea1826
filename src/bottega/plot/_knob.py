"""What varies along a path: its name, its values in words, and its axis."""

from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.plot._parts import x_axis
from bottega.plot.theme import altair, decades, number, plain

_MOST_FAMILIES = 10  # lines that can be told apart


def name_of_knob(path: Any) -> str:
    """Return what varies along a path: one parameter, or several."""
    return ", ".join(path.varying)


def value_in_words(path: Any, i: int) -> str:
    """Write the value of the knob of a model, or its setting where several parameters vary."""
    varying = path.varying
    if len(varying) > 1:
        return setting_in_words(path, i)
    return number(path.settings[i][varying[0]])


def setting_in_words(path: Any, i: int) -> str:
    """Write what sets a model of a path apart from the others.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> path = SimpleNamespace(varying=("alpha",), settings=[
    ...     {"alpha": 2.0, "l1_ratio": 0.5}, {"alpha": 0.1, "l1_ratio": 0.5}])
    >>> setting_in_words(path, 1)
    'alpha = 0.1'
    """
    return ", ".join(f"{name} = {number(path.settings[i][name])}" for name in path.varying)


def tip_of_df(path: Any) -> list[tuple[str, ...]]:
    """Return the line of a tooltip about degrees of freedom, for a path that has them."""
    return [] if path.df is None else [("df:Q", "degrees of freedom", ".4~g")]


def place_on_axis(path: Any, i: int) -> Any:
    """Return where a model stands on `knob_axis`: by its knob, or by its complexity."""
    if len(path.varying) > 1:
        return plain(path.complexity[i])
    return plain(path.values[i]) if is_axis_of_numbers(path) else number(path.values[i])


def is_axis_of_numbers(path: Any) -> bool:
    """Return True if one knob varies, and its values are numbers that run one way."""
    if len(path.varying) > 1:
        return False
    values = path.values
    if values.dtype.kind not in "iuf" or not np.all(np.isfinite(values)):
        return False
    step = np.diff(values)
    return bool(np.all(step > 0) or np.all(step < 0))


def complexity_axis(field: str, title: str, padding: int = 12) -> Any:
    """Return the x channel of a size of models, simplest left."""
    spread = {"zero": False, "nice": False, "padding": padding}
    return x_axis(field, f"{title}  (more complex →)", grid=False, tickCount=8, **spread)


def knob_axis(path: Any) -> tuple[Any, FloatArray]:
    """Return the x channel, simplest left, and each value's place on it as a share of its width."""
    if len(path.varying) > 1:
        span = path.complexity[-1] - path.complexity[0]
        channel = complexity_axis("x", "complexity" if path.df is None else "degrees of freedom")
        return channel, (path.complexity - path.complexity[0]) / (span or 1.0)
    title = f"{path.knob}  (more complex →)"
    if not is_axis_of_numbers(path):
        place = np.linspace(0, 1, len(path)) if len(path) > 1 else np.zeros(1)
        order = [number(value) for value in path.values]
        words = altair().Axis(labelAngle=0, labelOverlap=True)
        return altair().X("x", type="ordinal", sort=order, title=title, axis=words), place
    values = path.values.astype(np.float64)
    return _numbers_axis(values, title, reverse=bool(values[0] > values[-1]))


def _numbers_axis(values: FloatArray, title: str, *, reverse: bool) -> tuple[Any, FloatArray]:
    """Return the x channel of numbers, and each one's place on it as a share of its width."""
    positive = values[values > 0]
    wide = values.min() >= 0 and positive.size > 0 and _is_log_scaled(np.unique(positive))
    given: dict[str, Any] = {"reverse": reverse}
    place = values
    if wide:
        ticks = decades(positive.min(), positive.max())
        if values.min() > 0:
            given["type"] = "log"
            place = np.log10(values)
        else:  # zero has no logarithm: linear up to the least positive value, logarithmic above
            given |= {"type": "symlog", "constant": float(positive.min())}
            place = np.log1p(values / positive.min())
            ticks = [0.0, *ticks]
        given |= {"values": ticks, "format": "~g"}
    else:
        given["zero"] = False
    given |= {"nice": False, "padding": 12, "tickCount": 8, "labelOverlap": True, "grid": False}
    low, high = (place.max(), place.min()) if reverse else (place.min(), place.max())
    return x_axis("x", title, **given), (place - low) / ((high - low) or 1.0)


def families_of(path: Any) -> tuple[str, str, list[str]] | None:
    """Return the main knob of a path over several, the others, and their values at each model.

    The main knob has the most values, and they are numbers. None where one knob varies, or where
    the others have more values than lines can be told apart.
    """
    if len(path.varying) < 2:
        return None
    sizes = {name: len({str(s[name]) for s in path.settings}) for name in path.varying}
    main = max(sizes, key=lambda name: sizes[name])
    values = np.asarray([setting[main] for setting in path.settings])
    if values.dtype.kind not in "iuf" or not np.all(np.isfinite(values)):
        return None
    others = [name for name in path.varying if name != main]
    named = [", ".join(number(setting[name]) for name in others) for setting in path.settings]
    return (main, ", ".join(others), named) if len(set(named)) <= _MOST_FAMILIES else None


def family_axis(path: Any, main: str) -> tuple[Any, FloatArray, FloatArray]:
    """Return the x channel of the main knob, each model's value, and its place on the axis."""
    values = np.asarray([setting[main] for setting in path.settings], dtype=np.float64)
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    falls = bool(np.sum(ranks * (np.arange(len(values)) - (len(values) - 1) / 2)) < 0)
    axis, share = _numbers_axis(values, f"{main}  (more complex →)", reverse=falls)
    return axis, values, share


def _is_log_scaled(values: FloatArray) -> bool:
    """Return True if positive values span over two decades, or were laid out in equal ratios."""
    if values.max() > 100 * values.min():
        return True
    ratios = np.diff(np.log(values))
    return values.max() > 5 * values.min() and bool(np.ptp(ratios) < 0.01 * np.abs(ratios).max())
