"""Where to look: points drawn from a box, from given points, or by a sampler."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError, ParameterError
from bottega.core.typing import FloatArray

__all__ = ["RegionSampler"]


class RegionSampler:
    """A convex set to draw points from.

    Parameters
    ----------
    region : tuple (low, high), array-like of shape (n, d), or callable
        The corners of a box; points among which to draw; or a sampler ``region(rng, n)``.
    inputs : int or None
        Length of a vector, where it is known; it settles what two numbers mean.
    rng : numpy.random.Generator
        The source of all draws.
    """

    def __init__(self, region: Any, inputs: int | None, rng: np.random.Generator) -> None:
        self.rng = rng
        self.box: tuple[FloatArray, FloatArray] | None = None
        self._points: FloatArray | None = None
        self._sampler = region if callable(region) else None
        if isinstance(region, tuple) and len(region) == 2:
            self.box = _box(region, inputs)
        elif self._sampler is None:
            self._points = _points(region)
        self.d = self.draw(2).shape[1]
        if inputs is not None and self.d != inputs:
            raise InputError(f"region has points of {self.d} numbers; f takes {inputs}.")

    def draw(self, n: int) -> FloatArray:
        """Return n points."""
        if self.box is not None:
            low, high = self.box
            share = self.rng.random((n, len(low)))
            return np.clip(low * (1 - share) + high * share, low, high)
        if self._points is not None:
            return self._points[self.rng.integers(len(self._points), size=n)]
        assert self._sampler is not None
        found = np.asarray(self._sampler(self.rng, n), dtype=np.float64)
        if found.ndim == 1:
            found = found[:, None]
        if found.shape[0] != n or found.ndim != 2 or not np.all(np.isfinite(found)):
            raise InputError(
                f"The sampler returned an array of shape {found.shape}; it has to return {n} rows "
                "of finite numbers."
            )
        return found

    def pairs(self, n: int) -> tuple[FloatArray, FloatArray]:
        """Return n pairs: half of them drawn apart, the others near one another."""
        first, second = self.draw(n), self.draw(n)
        share = np.ones(n)
        share[::2] = 10.0 ** -self.rng.uniform(0, 3, size=len(share[::2]))
        # On the way to the second point: in the set as long as it is convex.
        return first, first + share[:, None] * (second - first)

    def reach(self, x: FloatArray, direction: FloatArray) -> float:
        """Return how far one may go from x both ways; a guess where no box is given."""
        low, high = self.box if self.box is not None else self._spread()
        size = np.abs(direction)
        moving = size > 0
        room = np.minimum(high - x, x - low)[moving] / size[moving]
        found = max(float(np.min(room)), 0.0) if room.size else 0.0
        return found if self.box is not None else 1e-2 * found

    def _spread(self) -> tuple[FloatArray, FloatArray]:
        points = self._points if self._points is not None else self.draw(100)
        return points.min(axis=0), points.max(axis=0)


def _box(region: Any, inputs: int | None) -> tuple[FloatArray, FloatArray]:
    try:
        low, high = (np.atleast_1d(np.array(each, dtype=np.float64)) for each in region)
        low, high = np.broadcast_arrays(low, high)
    except (TypeError, ValueError) as error:
        raise InputError(f"region={region!r} is no box (low, high): {error}.") from error
    if low.ndim != 1:
        raise InputError(f"region has corners of shape {low.shape}; give vectors or numbers.")
    if len(low) == 1 and inputs is not None:
        low, high = (np.repeat(each, inputs) for each in (low, high))
    if not (np.all(np.isfinite(low)) and np.all(np.isfinite(high)) and np.all(low < high)):
        raise InputError(
            "region needs a finite lower corner below a finite upper one in every coordinate; "
            f"got {low.tolist()} and {high.tolist()}."
        )
    return low, high


def _points(region: Any) -> FloatArray:
    if region is None:
        raise ParameterError(
            "region is needed here: give a box (low, high), an array of points, or a sampler "
            "taking (rng, n)."
        )
    try:
        found = np.array(region, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"region is no array of points: {error}.") from error
    if found.ndim == 1:
        found = found[:, None]
    if found.ndim != 2 or len(found) < 2 or not np.all(np.isfinite(found)):
        raise InputError(
            f"region has shape {found.shape}; give at least 2 finite points, one per row."
        )
    return found
