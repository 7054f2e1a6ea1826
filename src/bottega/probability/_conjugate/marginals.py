"""Distributions of one parameter: quantiles and regions of highest density, at any size."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special, stats

__all__ = ["BetaMarginal", "GammaMarginal", "Marginal", "NormalMarginal", "StudentMarginal"]

Pieces = list[tuple[float, float]]

_HALVINGS = 200  # of an interval of probabilities: to the last bit, however small


class Marginal(ABC):
    """A distribution of one parameter.

    `form` is ``"inside"`` for a density with its only maximum inside the support, ``"falls"`` or
    ``"rises"`` for one that has it at an end, ``"two ends"`` for one that has two, ``"flat"``.
    """

    @abstractmethod
    def frozen(self) -> Any:
        """Return the distribution as SciPy has it."""

    @property
    @abstractmethod
    def form(self) -> str:
        """Where the density has its maximum."""

    @property
    @abstractmethod
    def mode(self) -> float:
        """Where the density is highest; NaN if that is not one place."""

    @abstractmethod
    def lower(self, p: float) -> float:
        """Return the value with probability p below it."""

    @abstractmethod
    def upper(self, p: float) -> float:
        """Return the value with probability p above it."""

    @abstractmethod
    def log_ratio(self, x: float, y: float) -> float:
        """Return log density at x less log density at y, without cancellation."""

    def equal_tailed(self, level: float) -> tuple[float, float]:
        """Return the interval that leaves out as much below as above."""
        tail = (1 - level) / 2
        return self.lower(tail), self.upper(tail)

    def highest_density(self, level: float) -> Pieces:
        """Return the pieces of the smallest region with probability `level`."""
        rest = 1 - level
        if self.form in ("falls", "flat"):
            return [(self.lower(0.0), self.upper(rest))]
        if self.form == "rises":
            return [(self.lower(rest), self.upper(0.0))]
        if self.form == "two ends":
            p = _sign_change(lambda p: -self.log_ratio(self.lower(p), self.upper(level - p)), level)
            return [(self.lower(0.0), self.lower(p)), (self.upper(level - p), self.upper(0.0))]
        p = _sign_change(lambda p: self.log_ratio(self.lower(p), self.upper(rest - p)), rest)
        return [(self.lower(p), self.upper(rest - p))]


def _sign_change(function: Callable[[float], float], end: float) -> float:
    """Return where a function that is negative near 0 becomes positive, before `end`."""
    low, high = 0.0, end
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        value = function(middle)
        if middle in (low, high) or value == 0 or math.isnan(value):
            return middle
        low, high = (middle, high) if value < 0 else (low, middle)
    return 0.5 * (low + high)


@dataclass(frozen=True)
class BetaMarginal(Marginal):
    """Beta with parameters a and b."""

    a: float
    b: float

    def frozen(self) -> Any:
        """Return the distribution as SciPy has it."""
        return stats.beta(self.a, self.b)

    @property
    def form(self) -> str:
        """Where the density has its maximum."""
        a, b = self.a, self.b
        if a > 1 and b > 1:
            return "inside"
        if a == 1 and b == 1:
            return "flat"
        if a < 1 and b < 1:
            return "two ends"
        return "falls" if a <= 1 and b >= 1 else "rises"

    @property
    def mode(self) -> float:
        """Where the density is highest."""
        ends = {"flat": math.nan, "two ends": math.nan, "falls": 0.0, "rises": 1.0}
        if self.form in ends:
            return ends[self.form]
        return (self.a - 1) / ((self.a - 1) + (self.b - 1))

    def lower(self, p: float) -> float:
        """Return the value with probability p below it."""
        if self.a > self.b:  # the small one of x and 1 - x keeps its digits
            return 1 - _beta_quantile(self.b, self.a, p, above=True)
        return _beta_quantile(self.a, self.b, p, above=False)

    def upper(self, p: float) -> float:
        """Return the value with probability p above it."""
        if self.a > self.b:
            return 1 - _beta_quantile(self.b, self.a, p, above=False)
        return _beta_quantile(self.a, self.b, p, above=True)

    def log_ratio(self, x: float, y: float) -> float:
        """Return log density at x less log density at y."""
        with np.errstate(all="ignore"):
            return _times_log_ratio(self.a - 1, x, y) + _times_log_ratio(self.b - 1, 1 - x, 1 - y)

    def highest_density(self, level: float) -> Pieces:
        """Return the pieces of the smallest region with probability `level`."""
        if self.a > self.b:
            pieces = BetaMarginal(self.b, self.a).highest_density(level)
            return [(1 - high, 1 - low) for low, high in reversed(pieces)]
        return super().highest_density(level)


@dataclass(frozen=True)
class GammaMarginal(Marginal):
    """Gamma with a shape and a rate."""

    shape: float
    rate: float

    def frozen(self) -> Any:
        """Return the distribution as SciPy has it."""
        return stats.gamma(self.shape, scale=1 / self.rate)

    @property
    def form(self) -> str:
        """Where the density has its maximum."""
        return "inside" if self.shape > 1 else "falls"

    @property
    def mode(self) -> float:
        """Where the density is highest."""
        return max(self.shape - 1, 0.0) / self.rate

    def lower(self, p: float) -> float:
        """Return the value with probability p below it."""
        return float(special.gammaincinv(self.shape, p)) / self.rate

    def upper(self, p: float) -> float:
        """Return the value with probability p above it."""
        return float(special.gammainccinv(self.shape, p)) / self.rate

    def log_ratio(self, x: float, y: float) -> float:
        """Return log density at x less log density at y."""
        with np.errstate(all="ignore"):
            return _times_log_ratio(self.shape - 1, x, y) - self.rate * (x - y)


@dataclass(frozen=True)
class _Symmetric(Marginal):
    """A density that falls on both sides of its middle."""

    mean: float
    scale: float

    @property
    def form(self) -> str:
        """Where the density has its maximum."""
        return "inside"

    @property
    def mode(self) -> float:
        """Where the density is highest."""
        return self.mean

    def log_ratio(self, x: float, y: float) -> float:
        """Return log density at x less log density at y."""
        found = self.frozen()
        return float(found.logpdf(x) - found.logpdf(y))

    def lower(self, p: float) -> float:
        """Return the value with probability p below it."""
        return float(self.frozen().ppf(p))

    def upper(self, p: float) -> float:
        """Return the value with probability p above it."""
        return float(self.frozen().isf(p))

    def highest_density(self, level: float) -> Pieces:
        """Return the interval around the middle."""
        return [self.equal_tailed(level)]


@dataclass(frozen=True)
class NormalMarginal(_Symmetric):
    """Normal."""

    def frozen(self) -> Any:
        """Return the distribution as SciPy has it."""
        return stats.norm(self.mean, self.scale)


@dataclass(frozen=True)
class StudentMarginal(_Symmetric):
    """Student's t, shifted and scaled."""

    df: float

    def frozen(self) -> Any:
        """Return the distribution as SciPy has it."""
        return stats.t(self.df, self.mean, self.scale)

    def lower(self, p: float) -> float:
        """Return the value with probability p below it."""
        return self.mean - self.scale * self._standard(p)

    def upper(self, p: float) -> float:
        """Return the value with probability p above it."""
        return self.mean + self.scale * self._standard(p)

    def _standard(self, p: float) -> float:
        """Return the standard value with probability p above it.

        With few degrees of freedom it is taken from the Beta distribution of df / (df + t^2): it
        may lie beyond all floating-point numbers, and is infinite then.
        """
        if self.df >= 1 or p in (0, 0.5, 1):
            return float(stats.t.isf(p, self.df))
        if p > 0.5:
            return -self._standard(1 - p)
        share = _beta_quantile(self.df / 2, 0.5, 2 * p, above=False)
        if share <= 1e-300:
            return math.inf
        return math.sqrt(self.df * (1 - share)) / math.sqrt(share)


def _times_log_ratio(factor: float, x: float, y: float) -> float:
    """Return factor * log(x / y)."""
    if factor == 0 or x == y:
        return 0.0
    if x == 0 or y == 0:
        return factor * (-math.inf if x == 0 else math.inf)
    ratio = (x - y) / y
    return factor * (math.log1p(ratio) if abs(ratio) < 0.5 else math.log(x) - math.log(y))


def _beta_quantile(a: float, b: float, p: float, *, above: bool) -> float:
    """Return the quantile of Beta(a, b) with a <= b, by its tail below or above.

    SciPy's inverse fails in silence for parameters far apart and large, so its answer is checked
    by the probability there, and bisected where that is wrong.
    """
    inverse = special.betainccinv if above else special.betaincinv
    tail = special.betaincc if above else special.betainc
    if p in (0, 1):
        return float(above == (p == 0))
    found = float(inverse(a, b, p))
    if abs(float(tail(a, b, found)) - p) <= 1e-9 * min(p, 1 - p) + 1e-15:
        return found
    low, high = -745.0, 0.0  # logarithms
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        is_left = (float(tail(a, b, math.exp(middle))) > p) == above
        low, high = (middle, high) if is_left else (low, middle)
    return math.exp(high) if low > -745.0 else 0.0
