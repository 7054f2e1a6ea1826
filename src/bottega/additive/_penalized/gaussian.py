"""Least squares: one pass over the rows, after which no step costs n."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from bottega.additive._penalized.design import CodedRows, Design
from bottega.additive._penalized.problem import LeftOut, RowProblem, Working
from bottega.additive._penalized.state import Quadratic
from bottega.core.families import GAUSSIAN
from bottega.core.typing import FloatArray

__all__ = ["GaussianRows"]

_SAME = 1e-20  # variance of responses that are all but one number, relative to its square


class _Standardised:
    """Parts with responses about a middle, in a unit of their own, and without an offset."""

    def __init__(self, parts: Iterable[CodedRows], middle: float, unit: float) -> None:
        self.parts, self.middle, self.unit = parts, middle, unit

    def __iter__(self) -> Iterator[CodedRows]:
        for part in self.parts:
            y = part.y if part.offset is None else part.y - part.offset
            yield replace(part, y=(y - self.middle) / self.unit, offset=None)


class GaussianRows(Quadratic):
    """The sum of squares of an additive model; responses are standardised inside.

    Parameters
    ----------
    design : Design
        Columns.
    parts : iterable of CodedRows
        All rows, or chunks.
    intercept : int or None
        Which coefficient is that of the column of ones.

    Attributes
    ----------
    middle, unit : float
        A response is ``middle + unit`` times what the coefficients stand for.
    """

    def __init__(self, design: Design, parts: Iterable[CodedRows], intercept: int | None) -> None:
        for first in parts:
            y = first.y if first.offset is None else first.y - first.offset
            largest = float(np.max(np.abs(y))) or 1.0
            middle = float(first.weight @ (y / largest) / first.weight.sum())
            spread = float(first.weight @ (y / largest - middle) ** 2 / first.weight.sum())
            if spread > _SAME:  # else the unit of the responses is not to be seen here
                break
        self.middle = 0.0 if intercept is None else middle * largest
        self.unit = float(np.sqrt(spread)) * largest or largest
        self._rows = RowProblem(design, _Standardised(parts, self.middle, self.unit), GAUSSIAN)
        work = self._rows.working(np.zeros(design.p))
        size = max(work.deviance, 1e-3 * self._rows.weight)
        super().__init__(np.zeros(design.p), work, self._rows.n, size)
        self.passes = 1
        self.weight, self.rows = self._rows.weight, self._rows.rows
        self._least = 1e-13 * size

    def working(self, beta: FloatArray | None) -> Working:
        """Return deviance, pull and gram at coefficients."""
        work = super().working(beta)
        return replace(work, deviance=max(work.deviance, self._least))

    def leave_one_out(self, beta: FloatArray, V: FloatArray) -> LeftOut:
        """Return what the rows say when left out: one more pass."""
        self.passes += 1
        return self._rows.leave_one_out(beta, V)

    def null_deviance(self) -> float:
        """Return the sum of squares about the best constant (with the offset)."""
        about = self.work.deviance - self._rows.sum_y**2 / self.weight
        return max(about, 0.0) * self.unit**2

    def greatest(self, scale: float) -> float:
        """Return the greatest log-likelihood at a scale, weights as precisions."""
        return -self.rows / 2 * float(np.log(2 * np.pi * scale)) + self._rows.log_weights / 2

    def saturated(self, scale: float) -> FloatArray:
        """Return the greatest log-likelihood at a scale, and two derivatives in its logarithm."""
        value = -self.n / 2 * np.log(2 * np.pi * scale)
        if not self._rows.counts:
            value += self._rows.log_weights / 2
        return np.array([value, -self.n / 2, 0.0])
