"""The search for the greatest likelihood: several starts, then Newton's method."""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy import optimize

from bottega.core.typing import BoolArray, FloatArray
from bottega.probability._likelihood.space import LIMIT, Space

__all__ = [
    "NegativeLogLikelihood",
    "SearchEnd",
    "climb",
    "curvature",
    "held_at",
    "search",
    "starts_of",
]

_STEP = 1e-4  # of a difference, in coordinates of size one
_LONGEST = 2.0
_NEAR = 1e-11  # what a Newton step still promises to gain when the search stops
_CANDIDATES = 4
_ROUNDING = 1e-14  # of coordinates, relative to their size: a few units in the last place
_CORNER = 0.2
_GRID = (-2.5, -1.0, 0.0, 1.0, 2.5)

Function = Callable[[FloatArray], float]


@dataclass(frozen=True)
class NegativeLogLikelihood:
    """Minus the log-likelihood of weighted data."""

    space: Space
    data: FloatArray
    weights: FloatArray

    def __call__(self, u: FloatArray) -> float:
        """Return minus the log-likelihood at coordinates; infinite where it is not defined."""
        for axis, c in zip(self.space.axes, u, strict=True):
            if not math.isfinite(c) or (not axis.is_open and abs(c) > LIMIT + 1):
                return math.inf
        with np.errstate(all="ignore"):
            each = self.each(self.space.values(u))
            total = float(self.weights @ each)
        # +inf would be an infinite density: the search must not end there.
        return -total if math.isfinite(total) else math.inf

    def each(self, values: dict[str, float]) -> FloatArray:
        """Return the log density (or probability) of each observation."""
        distribution = self.space.distribution
        law = distribution.logpmf if hasattr(distribution, "pmf") else distribution.logpdf
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            return np.asarray(law(self.data, *values.values()), dtype=np.float64)


@dataclass(frozen=True)
class SearchEnd:
    """Where a search ended."""

    u: FloatArray
    value: float
    n_iter: int
    converged: bool


def starts_of(objective: NegativeLogLikelihood) -> list[FloatArray]:
    """Return coordinates to start from, the most likely first: SciPy's, and matched quantiles."""
    space = objective.space
    found = [_within(objective, space.coordinates(values)) for values in _peers(objective)]
    found += [space.coordinates(values) for values in _matched(objective)]
    ranked = sorted(((objective(u), i) for i, u in enumerate(found)))
    return [found[i] for value, i in ranked if math.isfinite(value)][:_CANDIDATES]


def _within(objective: Function, u: FloatArray) -> FloatArray:
    """Return a start at the edge of the support, on its inner side if rounding put it outside."""
    around = product((0.0, -_ROUNDING, _ROUNDING), repeat=len(u))
    near = (u + np.array(moves) * (1 + np.abs(u)) for moves in around)
    return next((each for each in near if math.isfinite(objective(each))), u)


def search(objective: NegativeLogLikelihood, max_iter: int) -> SearchEnd | None:
    """Return the best point from several starts, None where no start has a finite likelihood."""
    ends = [climb(objective, start, max_iter) for start in starts_of(objective)]
    if not ends:
        return None
    least = min(end.value for end in ends)
    # Of ends that are as good the one that is sure of it.
    best = min(ends, key=lambda end: (end.value > least + 1e-9, not end.converged, end.value))
    return best if best.converged else _without_slopes(objective, best, max_iter)


def held_at(objective: Function, u: FloatArray, held: BoolArray, max_iter: int) -> SearchEnd:
    """Return the best point with some coordinates held where they are."""
    full = u.copy()

    def others(v: FloatArray) -> float:
        full[~held] = v
        return objective(full)

    end = climb(others, u[~held], max_iter)
    found = u.copy()
    found[~held] = end.u
    return SearchEnd(found, end.value, end.n_iter, end.converged)


def climb(objective: Function, start: FloatArray, max_iter: int) -> SearchEnd:
    """Return the end of Newton's method from a start: downhill, with differences for slopes."""
    u, value = np.array(start, dtype=np.float64), objective(start)
    for iteration in range(1, max_iter + 1):
        if not u.size:
            return SearchEnd(u, value, 0, math.isfinite(value))
        gradient, hessian = _differences(objective, u, value)
        if not (np.isfinite(gradient).all() and np.isfinite(hessian).all()):
            return SearchEnd(u, value, iteration, False)
        scale = np.sqrt(np.maximum(np.abs(np.diag(hessian)), 1e-8))
        eigen, vectors = np.linalg.eigh(hessian / np.outer(scale, scale))
        # Uphill or flat directions are walked along their slope instead.
        curve = np.maximum(np.abs(eigen), 1e-6)
        slope = vectors.T @ (gradient / scale)
        gain = float(0.5 * np.sum(slope**2 / curve))
        if gain <= _NEAR * (1 + 1e-3 * abs(value)) and eigen.min() > -1e-3:
            return SearchEnd(u, value, iteration, True)
        step = -(vectors @ (slope / curve)) / scale
        step *= min(1.0, _LONGEST / float(np.abs(step).max()))
        for _ in range(40):
            tried = _inside(u + step)
            lower = objective(tried)
            if lower < value:
                break
            step *= 0.5
        else:
            # Rounding leaves nothing to gain: the end, if the slope says so too.
            return SearchEnd(u, value, iteration, gain < 1e-6)
        if value - lower <= 1e-13 * (1 + abs(value)) and gain < 1e-7:
            return SearchEnd(tried, lower, iteration, True)
        u, value = tried, lower
    return SearchEnd(u, value, max_iter, False)


def curvature(objective: Function, u: FloatArray) -> FloatArray:
    """Return the second derivatives, by differences of a twentieth of a standard error.

    Two widths are combined so that the errors of fourth order cancel. Where they differ by much the
    function has corners and no second derivative: NaN.
    """
    value = objective(u)
    rough = np.diag(_differences(objective, u, value)[1])
    with np.errstate(all="ignore"):
        width = np.clip(0.05 / np.sqrt(np.where(rough > 0, rough, np.nan)), 1e-5, 0.05)
    width = np.where(np.isfinite(width), width, _STEP)
    coarse, fine = (_differences(objective, u, value, width * f)[1] for f in (1.0, 0.5))
    with np.errstate(all="ignore"):
        corner = np.abs(np.diag(coarse) / np.diag(fine) - 1) > _CORNER
    found = (4 * fine - coarse) / 3
    found[corner], found[:, corner] = np.nan, np.nan
    return found


def _differences(
    objective: Function, u: FloatArray, value: float, width: Any = _STEP
) -> tuple[FloatArray, FloatArray]:
    """Return gradient and Hessian by central differences."""
    p = len(u)
    h = np.broadcast_to(np.asarray(width, dtype=np.float64), (p,))
    up, down = np.empty(p), np.empty(p)
    hessian = np.empty((p, p))
    for j in range(p):
        move = np.zeros(p)
        move[j] = h[j]
        up[j], down[j] = objective(u + move), objective(u - move)
        with np.errstate(invalid="ignore"):
            hessian[j, j] = (up[j] - 2 * value + down[j]) / h[j] ** 2
        for i in range(j):
            other = np.zeros(p)
            other[i] = h[i]
            corners = [objective(u + a * move + b * other) for a, b in product((1, -1), repeat=2)]
            with np.errstate(invalid="ignore"):
                mixed = corners[0] - corners[1] - corners[2] + corners[3]
                hessian[i, j] = hessian[j, i] = mixed / (4 * h[i] * h[j])
    with np.errstate(invalid="ignore"):
        return (up - down) / (2 * h), hessian


def _inside(u: FloatArray) -> FloatArray:
    # Coordinates of places have no limits; they are never so large but in a search gone astray.
    return np.clip(u, -1e8, 1e8)


def _without_slopes(objective: Function, point: SearchEnd, max_iter: int) -> SearchEnd:
    """Return the end of Nelder and Mead's search: for likelihoods with edges and corners."""
    u, value = point.u, point.value
    for _ in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = optimize.minimize(
                objective,
                u,
                method="Nelder-Mead",
                options={
                    "maxiter": max_iter * 10,
                    "xatol": 1e-10,
                    "fatol": 1e-10,
                    "adaptive": len(u) > 2,
                },
            )
        gained = value - float(found.fun)
        if gained > 0:
            u, value = np.asarray(found.x), float(found.fun)
        if gained <= 1e-8:
            break
    again = climb(objective, u, max_iter)
    if again.converged and again.value <= value:
        return again
    return SearchEnd(u, value, point.n_iter + int(found.nit), bool(found.success))


def _peers(objective: NegativeLogLikelihood) -> list[dict[str, float]]:
    """Return what SciPy's own fit finds, where it finds something."""
    space = objective.space
    if not hasattr(space.distribution, "fit") or np.ptp(objective.weights) > 0:
        return []
    held = {f"f{name}": value for name, value in space.held.items()}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            values = space.distribution.fit(objective.data, **held)
        except Exception:  # whatever SciPy raises: it is only one start among others
            return []
    if not np.isfinite(values).all():
        return []
    return [dict(zip(space.names, map(float, values), strict=True))]


def _matched(objective: NegativeLogLikelihood) -> list[dict[str, float]]:
    """Return shapes from a grid, each with the place and size that match quantiles of the data."""
    space, data = objective.space, objective.data
    shapes = [axis for axis in space.axes if axis.name not in ("loc", "scale")]
    # Moments of the data are often near a shape, of counts above all.
    with np.errstate(all="ignore"):  # beyond all numbers they are no shape
        mean = np.average(data, weights=objective.weights)
        variance = np.average((data - mean) ** 2, weights=objective.weights)
        guesses = [mean, variance, 1 / mean if mean else 0.0]
        if variance > mean > 0:
            guesses += [mean**2 / (variance - mean), mean / variance]
        if mean > 0 and variance > 0:
            guesses += [mean**2 / variance, mean / (1 + mean)]
    grids = []
    for axis in shapes:
        values = {axis.value(u) for u in _GRID}
        values |= {float(g) for g in guesses if axis.low < g < axis.high}
        grids.append(sorted(values))
    quantiles = np.quantile(data, [0.1, 0.5, 0.9])
    found = []
    for choice in product(*grids):
        named = dict(space.held) | dict(zip((axis.name for axis in shapes), choice, strict=True))
        found += _placed(space, named, quantiles, data)
    return found


def _placed(
    space: Space, values: dict[str, float], quantiles: FloatArray, data: FloatArray
) -> list[dict[str, float]]:
    """Return the parameters with location and scale from quantiles."""
    if "loc" not in space.free and "scale" not in space.free:
        return [{name: values.get(name, 0.0) for name in space.names}]
    shapes = [values[name] for name in space.names if name not in ("loc", "scale")]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        standard = np.asarray(space.distribution.ppf([0.1, 0.5, 0.9], *shapes), dtype=np.float64)
        ends = np.asarray(space.distribution.support(*shapes), dtype=np.float64)
    if not np.isfinite(standard).all():
        return []
    scale = values.get("scale", 1.0)
    if "scale" in space.free:
        if "loc" in space.free:
            scale = (quantiles[2] - quantiles[0]) / (standard[2] - standard[0] or 1.0)
        else:
            scale = (quantiles[1] - values["loc"]) / (standard[1] or 1.0)
    if not scale > 0:
        scale = float(np.std(data)) or 1.0
    loc = quantiles[1] - scale * standard[1] if "loc" in space.free else values["loc"]
    placed = [values | {"loc": float(loc), "scale": float(scale)}]
    # All data must lie in the support.
    low, high = float(data.min()), float(data.max())
    if np.isfinite(ends[0]) and "loc" in space.free:
        margin = 0.01 * (high - low or 1.0)
        placed.append(
            values | {"loc": low - margin - scale * float(ends[0]), "scale": float(scale)}
        )
    if np.isfinite(ends).all() and {"loc", "scale"} <= set(space.free):
        margin = 0.01 * (high - low or 1.0)
        wide = (high - low + 2 * margin) / float(ends[1] - ends[0])
        placed.append(values | {"loc": low - margin - wide * float(ends[0]), "scale": wide})
    return [{name: each[name] for name in space.names} for each in placed]
