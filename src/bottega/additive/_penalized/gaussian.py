"""Least squares: one pass over the rows, after which no step costs n."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from bottega.additive._penalized.design import CodedRows, Design
from bottega.additive._penalized.problem import LeftOut, Pass, RowProblem, Working
from bottega.additive._penalized.state import Quadratic
from bottega.additive._penalized.sums import RowCounts, merged_over
from bottega.core.added_sums import AddedSums
from bottega.core.families import GAUSSIAN
from bottega.core.typing import FloatArray

__all__ = ["DesignProducts", "GaussianRows", "ResponseUnits", "squares_of"]

_SAME = 1e-20  # variance of responses that are all but one number, relative to its square


@dataclass(frozen=True)
class ResponseUnits:
    """About the middle and the spread of the responses.

    Attributes
    ----------
    middle, unit : float
        A response is ``middle + unit`` times what the coefficients stand for.
    """

    middle: float
    unit: float

    @classmethod
    def of(cls, parts: Iterable[tuple[FloatArray, FloatArray | None]]) -> Self:
        """Return the scale of responses with their weights: of the first part that has one."""
        middle, unit = 0.0, 1.0
        for y, weight in parts:
            largest = float(np.max(np.abs(y))) or 1.0
            mean = float(np.average(y / largest, weights=weight))
            spread = float(np.average((y / largest - mean) ** 2, weights=weight))
            middle, unit = mean * largest, float(np.sqrt(spread)) * largest or largest
            if spread > _SAME:  # else the unit of the responses is not to be seen here
                break
        return cls(middle, unit)


def squares_of(design: Design, part: CodedRows) -> Pass:
    """Return what least squares needs of rows: products of responses and columns."""
    each = part.weight * part.y if part.weighted else part.y
    found = float(each @ part.y), design.back(part, each), design.gram(part, part.weight)
    return Pass(AddedSums(found), RowCounts.of(part))


@dataclass(frozen=True)
class DesignProducts:
    """What a pass over rows has given to least squares before its columns were all known."""

    scale: ResponseUnits
    found: Pass


@runtime_checkable
class HasProducts(Protocol):
    """Parts of the rows whose products with the columns of a design may be known."""

    def products(self, design: Design) -> DesignProducts | None:
        """Return the products with the columns of a design, or None where they are not known."""


class _Standardised:
    """Parts with responses about a middle, in a unit of their own, and without an offset."""

    def __init__(self, parts: Iterable[CodedRows], scale: ResponseUnits) -> None:
        self.parts, self.scale = parts, scale

    def __iter__(self) -> Iterator[CodedRows]:
        return map(self._standardised, self.parts)

    def reduce(self, function: Callable[[CodedRows], Any]) -> Any:
        """Return what a function gives for each part, merged."""
        return merged_over(self.parts, lambda part: function(self._standardised(part)))

    def _standardised(self, part: CodedRows) -> CodedRows:
        y = part.y if part.offset is None else part.y - part.offset
        return replace(part, y=(y - self.scale.middle) / self.scale.unit, offset=None)


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
    scale : ResponseUnits
        What responses are standardised by.
    """

    def __init__(self, design: Design, parts: Iterable[CodedRows], intercept: int | None) -> None:
        ready: DesignProducts | None = None
        if intercept is not None and isinstance(parts, HasProducts):
            ready = parts.products(design)
        if ready is None:
            self.scale = ResponseUnits.of(
                (part.y if part.offset is None else part.y - part.offset, part.weight)
                for part in parts
            )
            if intercept is None:
                self.scale = replace(self.scale, middle=0.0)
        else:
            self.scale = ready.scale
        standardised = _Standardised(parts, self.scale)
        self._rows = RowProblem(design, standardised, GAUSSIAN)
        if ready is None:
            found = merged_over(standardised, partial(squares_of, design))
        else:
            found = ready.found
        work = self._rows.taken(found)
        size = max(work.deviance, 1e-3 * self._rows.weight)
        super().__init__(np.zeros(design.p), work, self._rows.n, size)
        self.passes = 1
        self.weight, self.rows = self._rows.weight, self._rows.rows
        self._least = 1e-13 * size

    @property
    def middle(self) -> float:
        """What is taken off the responses."""
        return self.scale.middle

    @property
    def unit(self) -> float:
        """What they are divided by after that."""
        return self.scale.unit

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
