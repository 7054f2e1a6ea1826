"""Chords against the graph: the definition of convexity, on samples."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bottega.core.errors import InputError
from bottega.core.stored import stored
from bottega.core.typing import FloatArray

__all__ = ["Witness", "chord", "finite_or_said", "steepest_on_line"]

_EPS = float(np.finfo(np.float64).eps)
_ON_LINE = 33  # points of a line that is searched for its worst chord


@stored
@dataclass(frozen=True, eq=False)
class Witness:
    """Two points whose chord lies below the graph in between: proof that f is not convex.

    Attributes
    ----------
    x, y : ndarray of shape (d,)
        The ends.
    share : float
        The number lambda of the point in between, ``share * x + (1 - share) * y``.
    between : ndarray of shape (d,)
        That point.
    value : float
        f there.
    chord : float
        Height of the chord there, ``share * f(x) + (1 - share) * f(y)``.
    violation : float
        `value` less `chord`: positive.
    rounding : float
        What rounding may add to the violation.
    """

    x: FloatArray
    y: FloatArray
    share: float
    between: FloatArray
    value: float
    chord: float
    rounding: float

    @property
    def violation(self) -> float:
        """How far the graph lies above the chord; negative where it lies below."""
        if self.chord == np.inf or self.value == -np.inf:
            return -np.inf
        return self.value - self.chord

    @property
    def size(self) -> float:
        """The violation in units of rounding."""
        return self.violation / max(self.rounding, 1e-300)

    @property
    def real(self) -> bool:
        """True if the violation is larger than rounding."""
        return bool(self.violation > self.rounding)

    def __str__(self) -> str:
        x, y = (np.array2string(v, precision=4, threshold=5) for v in (self.x, self.y))
        return (
            f"x = {x}, y = {y}, lambda = {self.share:.4g}: f is {self.value:.6g} in between, "
            f"{self.violation:.3g} above the chord"
        )


def finite_or_said(f: Callable[[FloatArray], float], x: FloatArray) -> float:
    """Return f(x), which may be infinite, or say where it is no number."""
    with np.errstate(all="ignore"):
        value = f(x)
    if np.isnan(value):
        where = np.array2string(x, precision=4, threshold=5)
        raise InputError(
            f"f is not a number at x = {where}; keep region to where f is defined, or return inf "
            "outside of its domain."
        )
    return value


def chord(
    f: Callable[[FloatArray], float], x: FloatArray, y: FloatArray, share: float, tol: float
) -> Witness:
    """Return the chord between two points, compared with the graph at one point of it."""
    between = share * x + (1 - share) * y
    return _witness(
        x, y, share, between, finite_or_said(f, x), finite_or_said(f, y),
        finite_or_said(f, between), tol,
    )  # fmt: skip


def _witness(
    x: FloatArray,
    y: FloatArray,
    share: float,
    between: FloatArray,
    fx: float,
    fy: float,
    fz: float,
    tol: float,
) -> Witness:
    # An infinite end lifts the chord above any graph; minus infinity lowers it below any.
    ends = [v for w, v in ((share, fx), (1 - share, fy)) if w > 0]
    if np.inf in ends:
        height = np.inf
    else:
        height = -np.inf if -np.inf in ends else share * fx + (1 - share) * fy
    known = [abs(v) for v in (fx, fy, fz) if np.isfinite(v)]
    rounding = tol * max(known, default=0.0)
    # The point in between is rounded too: by a few units of its last digit, times the slope.
    gap = float(np.max(np.abs(x - y)))
    if gap > 0 and all(np.isfinite(v) for v in (fx, fy, fz)):
        move = 4 * _EPS * float(np.max(np.maximum(np.abs(x), np.abs(y)))) * np.sqrt(len(x))
        slope = max(abs(fx - fz), abs(fy - fz)) / (gap * max(min(share, 1 - share), 1e-3))
        rounding += move * slope
    return Witness(x, y, share, between, fz, height, rounding)


def steepest_on_line(
    f: Callable[[FloatArray], float], x: FloatArray, y: FloatArray, tol: float
) -> Witness | None:
    """Return the worst chord between points of a line: a hull's edge farthest below the graph."""
    share = np.linspace(1, 0, _ON_LINE)
    points = share[:, None] * x + (1 - share)[:, None] * y
    values = np.array([finite_or_said(f, point) for point in points])
    kept = _lower_hull(np.arange(_ON_LINE, dtype=np.float64), values)
    best: Witness | None = None
    for a, b in pairwise(kept):
        for j in range(a + 1, b):
            at = (b - j) / (b - a)
            found = _witness(
                points[a], points[b], at, at * points[a] + (1 - at) * points[b],
                values[a], values[b], values[j], tol,
            )  # fmt: skip
            if best is None or found.size > best.size:
                best = found
    if best is None:
        return None
    return chord(f, best.x, best.y, best.share, tol)  # at the very point that is reported


def _lower_hull(t: FloatArray, values: FloatArray) -> list[int]:
    """Return the points of the lower convex hull of a graph, from left to right."""
    kept: list[int] = []
    for i in range(len(t)):
        if values[i] == np.inf:
            continue
        while len(kept) > 1:
            a, b = kept[-2], kept[-1]
            with np.errstate(all="ignore"):
                left = (values[b] - values[a]) / (t[b] - t[a])
                right = (values[i] - values[b]) / (t[i] - t[b])
            if left < right:
                break
            kept.pop()
        kept.append(i)
    return kept
