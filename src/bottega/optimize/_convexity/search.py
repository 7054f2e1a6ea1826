"""The search for a violation: chords, tangents and second derivatives, on samples."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.optimize._convexity.chords import Witness, chord, finite_or_said, steepest_on_line
from bottega.optimize._convexity.places import RegionSampler
from bottega.optimize.objective import Objective

__all__ = ["ConvexityCheck", "ViolationSearch", "along_eigenvector"]

_REFINED = 5  # suspects of a check that are followed up by a search along their line


@dataclass(frozen=True)
class ConvexityCheck:
    """One way of looking for violations.

    Attributes
    ----------
    name : str
        ``"chords"``, ``"tangents"`` or ``"second derivatives"``.
    tried : int
        How often it looked.
    violations : int
        How often it found one, beyond rounding.
    worst : float
        The smallest margin: chord less graph, graph less tangent, or smallest eigenvalue.
    """

    name: str
    tried: int
    violations: int
    worst: float


class ViolationSearch:
    """Looks for chords below the graph, and keeps the worst that it met.

    Parameters
    ----------
    objective : Objective
        The function.
    places : RegionSampler
        Where to look.
    tol : float
        Relative rounding of the function's values.
    given : bool
        True if second derivatives are given, not taken as differences.
    """

    def __init__(
        self, objective: Objective, places: RegionSampler, tol: float, given: bool
    ) -> None:
        self.objective, self.places, self.tol, self.given = objective, places, tol, given
        self.worst: Witness | None = None
        self.closest: Witness | None = None  # of those that do not violate: to be drawn

    def _note(self, found: Witness | None) -> None:
        if found is not None and found.real and (self.worst is None or _clearer(found, self.worst)):
            self.worst = found

    def chords(self, n: int) -> ConvexityCheck:
        """Compare n chords with the graph at a random point of each."""
        first, second = self.places.pairs(n)
        shares = self.places.rng.uniform(0.05, 0.95, size=n)
        shares[::3] = 0.5
        found = [
            chord(self.objective.value, x, y, float(share), self.tol)
            for x, y, share in zip(first, second, shares, strict=True)
        ]
        bad = sorted((each for each in found if each.real), key=lambda w: -w.size)
        for each in bad[:_REFINED]:
            self._note(each)
            self._note(steepest_on_line(self.objective.value, each.x, each.y, self.tol))
        apart = [each for each in found if np.isfinite(each.chord) and np.isfinite(each.value)]
        if apart:
            # Of the longer chords, the one that leaves the least room.
            lengths = np.array([np.max(np.abs(each.x - each.y)) for each in apart])
            long = [each for each, size in zip(apart, lengths, strict=True)
                    if size >= np.median(lengths)]  # fmt: skip
            self.closest = min(long, key=lambda w: -w.violation)
        return ConvexityCheck("chords", n, len(bad), min(-each.violation for each in found))

    def tangents(self, n: int) -> ConvexityCheck:
        """Compare the graph with n tangents at the other end of a pair."""
        first, second = self.places.pairs(n)
        suspects: list[tuple[float, FloatArray, FloatArray]] = []
        worst = np.inf
        for x, y in zip(first, second, strict=True):
            fx = finite_or_said(self.objective.value, x)
            fy = finite_or_said(self.objective.value, y)
            if not (np.isfinite(fx) and np.isfinite(fy)):
                continue
            with np.errstate(all="ignore"):
                slope = float(self.objective.gradient(x) @ (y - x))
            if np.isnan(slope):
                where = np.array2string(x, precision=4, threshold=5)
                raise InputError(f"The gradient is not a number at x = {where}.")
            margin = fy - fx - slope
            worst = min(worst, margin)
            rounding = self.tol * max(abs(fx), abs(fy), abs(slope))
            rounding += 1e-15 * float(np.abs(self.objective.gradient(x)) @ np.abs(x))
            if margin < -rounding:
                suspects.append((margin / max(rounding, 1e-300), x, y))
        suspects.sort(key=lambda each: each[0])
        for _, x, y in suspects[:_REFINED]:
            self._note(steepest_on_line(self.objective.value, x, y, self.tol))
        return ConvexityCheck("tangents", n, len(suspects), worst)

    def curvatures(self, n: int) -> ConvexityCheck:
        """Look at the smallest eigenvalue of the Hessian at n points."""
        suspects: list[tuple[float, FloatArray, FloatArray]] = []
        worst = np.inf
        tried = 0
        for x in self.places.draw(n):
            if not np.isfinite(finite_or_said(self.objective.value, x)):
                continue
            with np.errstate(all="ignore"):
                matrix = self.objective.hessian(x)
            if not np.all(np.isfinite(matrix)):
                continue  # a kink, or the edge of the domain
            values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
            tried += 1
            worst = min(worst, float(values[0]))
            size = float(np.max(np.abs(values)))
            # Differences of second order are right to about 1e-5 only.
            if values[0] < -1e-4 * size:
                suspects.append((float(values[0]) / size, x, vectors[:, 0]))
        suspects.sort(key=lambda each: each[0])
        confirmed = 0
        for _, x, v in suspects[: 4 * _REFINED]:
            reach = self.places.reach(x, v)
            if reach > 0:
                found = along_eigenvector(self.objective.value, x, v, reach, self.tol)
                confirmed += found.real
                self._note(found)
        # Differences at a kink may err by themselves: what no chord confirms does not count.
        return ConvexityCheck(
            "second derivatives", tried, len(suspects) if self.given else confirmed, worst
        )


def along_eigenvector(
    f: Callable[[FloatArray], float], x: FloatArray, v: FloatArray, reach: float, tol: float
) -> Witness:
    """Return the clearest chord through x along a direction of negative curvature."""
    best: Witness | None = None
    for share in (1.0, 0.3, 0.1, 0.03, 0.01):
        found = chord(f, x - share * reach * v, x + share * reach * v, 0.5, tol)
        if best is None or _clearer(found, best):
            best = found
    assert best is not None
    return best


def _clearer(one: Witness, two: Witness) -> bool:
    """Return True if a violation is real and the larger, or the other is not real."""
    if one.real != two.real:
        return one.real
    return one.violation > two.violation
