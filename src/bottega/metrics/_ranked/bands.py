"""Bands around curves of ranked rows.

Two kinds come from resampling: in each replicate every row has a random weight of mean one (the
Bayesian bootstrap), and the curve is drawn again. A third rests on the largest distance between a
distribution and that of a sample, and holds for every distribution and number of rows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import stats

from bottega.core.errors import InputError, ParameterError
from bottega.core.params import Integer
from bottega.core.results import check_level
from bottega.core.seeds import seed_of
from bottega.core.tables import Section, Summary
from bottega.core.typing import FloatArray, IntArray
from bottega.metrics._ranked.measured import Measured
from bottega.metrics._ranked.ranked import Ranked
from bottega.plot import band_chart

__all__ = ["KINDS", "CurveBand", "free_limits", "resampled_band"]

KINDS = ("pointwise", "simultaneous", "distribution_free")
GRID = np.linspace(0.0, 1.0, 101)
_MOST_LEVELS = 1000  # of thresholds that are resampled one by one; more are put together

Curve = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True, eq=False, repr=False)
class CurveBand(Measured):
    """Lower and upper limits of a curve.

    Attributes
    ----------
    at : ndarray of shape (m,)
        Places across.
    estimate, lower, upper : ndarray of shape (m,)
        The curve there and its limits.
    level : float
        Of confidence: at each place, or for the whole curve.
    kind : {"pointwise", "simultaneous", "distribution_free"}
        What the level is about; the last two are for the whole curve.
    names : (str, str)
        What is across, and what is upwards.
    """

    at: FloatArray
    estimate: FloatArray
    lower: FloatArray
    upper: FloatArray
    level: float
    kind: str
    names: tuple[str, str] = ("at", "estimate")

    def _columns(self) -> Mapping[str, Any]:
        return {
            self.names[0]: self.at,
            "estimate": self.estimate,
            "conf_low": self.lower,
            "conf_high": self.upper,
        }

    def summary(self) -> Summary:
        """Return the limits at every tenth place."""
        shown = np.unique(np.linspace(0, len(self.at) - 1, 11).round().astype(int))
        columns = {name: np.asarray(c)[shown].tolist() for name, c in self._columns().items()}
        title = f"{100 * self.level:g} % band of {self.names[1]} against {self.names[0]}"
        about = "at each place" if self.kind == "pointwise" else "for the whole curve"
        return Summary(title, (Section("", columns),), (f"the level holds {about}",))

    def plot(self) -> Any:
        """Draw the curve in its band."""
        usable = np.isfinite(self.estimate + self.lower + self.upper)
        return band_chart(
            self.at[usable],
            self.estimate[usable],
            (self.lower[usable], self.upper[usable]),
            names=self.names,
        )


def resampled_band(
    ranked: Ranked,
    curve: Curve,
    at: FloatArray,
    *,
    level: float,
    kind: str,
    n_resamples: int,
    random_state: Any,
    names: tuple[str, str],
    most: float = 1.0,
) -> CurveBand:
    """Return the band of a curve of (hits, others, places) by resampling."""
    check_kind(kind, ("pointwise", "simultaneous"))
    Integer(10).check("band", "n_resamples", n_resamples)
    level = check_level(level)
    estimate = curve(ranked.hits, ranked.others, at)
    rng = np.random.default_rng(seed_of(random_state, "band"))
    places = _groups(ranked.hits + ranked.others)
    draws = [_draws(ranked, side, places, n_resamples, rng) for side in (True, False)]
    found = np.array([curve(h, o, at) for h, o in zip(*draws, strict=True)])
    tail = (1 - level) / 2
    if kind == "pointwise":
        lower, upper = np.quantile(found, [tail, 1 - tail], axis=0)
        # Of few rows the quantiles may leave out the estimate itself.
        lower, upper = np.minimum(lower, estimate), np.maximum(upper, estimate)
    else:
        spread = found.std(axis=0)
        apart = np.abs(found - estimate)
        width = np.divide(apart, spread, out=np.zeros_like(apart), where=spread > 1e-12)
        reach = np.quantile(width.max(axis=1), level)
        lower, upper = estimate - reach * spread, estimate + reach * spread
    return CurveBand(
        at, estimate, np.maximum(lower, 0.0), np.minimum(upper, most), level, kind, names
    )


def _groups(rows: FloatArray) -> IntArray:
    """Return where groups of neighbouring thresholds start: at most 1,000 of about equal weight."""
    if len(rows) <= _MOST_LEVELS:
        return np.arange(len(rows))
    before = np.cumsum(rows) - rows
    place = np.floor(_MOST_LEVELS * before / rows.sum()).astype(np.intp)
    return np.flatnonzero(np.r_[True, np.diff(place) > 0])


def _draws(
    ranked: Ranked, positive: bool, starts: IntArray, count: int, rng: np.random.Generator
) -> FloatArray:
    """Return random weights of the rows of one class at each group of thresholds.

    A sum of exponential variables times the weights of rows; where weights differ a gamma variable
    of its mean and variance.
    """
    weight = np.add.reduceat(ranked.at_level(ranked.weights, positive), starts)
    square = np.add.reduceat(ranked.at_level(ranked.weights**2, positive), starts)
    shape = np.divide(weight**2, square, out=np.zeros_like(weight), where=square > 0)
    scale = np.divide(square, weight, out=np.ones_like(weight), where=weight > 0)
    return rng.gamma(shape, scale, size=(count, len(starts)))


def free_limits(
    across: FloatArray,
    up: FloatArray,
    at: FloatArray,
    sizes: tuple[int, int],
    levels: tuple[float, float],
) -> tuple[FloatArray, FloatArray]:
    """Return limits of a rising curve from those of its two distributions.

    Each of the two shares is within Kolmogorov's distance of the truth at all thresholds, with
    the probability of its level. Points of the curve are given in the order of the thresholds.
    """
    reach = [_largest_distance(level, n) for level, n in zip(levels, sizes, strict=True)]
    last = np.searchsorted(across, at + reach[0], side="right") - 1
    first = np.searchsorted(across, at - reach[0], side="left")
    lower = up[np.minimum(first, len(up) - 1)] - reach[1]
    upper = up[np.maximum(last, 0)] + reach[1]
    return np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0)


@cache
def _largest_distance(level: float, n: int) -> float:
    """Return what the largest distance of a sample's distribution stays below with probability."""
    return float(stats.kstwo.ppf(level, n))


def check_kind(kind: str, allowed: tuple[str, ...]) -> None:
    """Refuse a kind of band that a curve does not have."""
    if kind not in allowed:
        raise ParameterError(
            f"kind={kind!r} is not allowed; use {' or '.join(map(repr, allowed))}."
        )


def refuse_weights(ranked: Ranked) -> None:
    """Refuse weights for limits that count rows."""
    if ranked.weight is not None:
        raise InputError(
            "A distribution-free band is for rows without weights; use kind='simultaneous'."
        )
