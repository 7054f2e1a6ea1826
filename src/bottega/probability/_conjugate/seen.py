"""What a conjugate model keeps of the data: sums that are enough for every answer."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from bottega.core.errors import InputError
from bottega.core.stored import stored
from bottega.core.typing import FloatArray

__all__ = ["Counts", "Events", "MeanAndSpread", "read_observations", "read_weights"]


@stored
@dataclass(frozen=True)
class Counts:
    """How often (or with which weight) each outcome was seen."""

    of: tuple[float, ...]

    @property
    def n(self) -> float:
        """Total weight."""
        return math.fsum(self.of)

    def plus(self, other: "Counts") -> "Counts":
        """Return the counts of both."""
        return Counts(tuple(a + b for a, b in zip(self.of, other.of, strict=True)))


@stored
@dataclass(frozen=True)
class MeanAndSpread:
    """Weight, mean and standard deviation (divisor n) of numbers."""

    n: float = 0.0
    mean: float = 0.0
    std: float = 0.0

    @classmethod
    def of(cls, values: FloatArray, weights: FloatArray) -> "MeanAndSpread":
        """Return the moments of weighted numbers, without overflow where they have none."""
        n = float(weights.sum())
        if n == 0:
            return cls()
        share = weights / n
        scale = float(np.abs(values).max()) or 1.0
        scaled = values / scale
        center = float(share @ scaled)
        center += float(share @ (scaled - center))  # a second pass: the mean to rounding
        gap = scaled - center
        widest = float(np.abs(gap).max())
        spread = widest * math.sqrt(float(share @ (gap / widest) ** 2)) if widest > 0 else 0.0
        return cls(n, scale * center, scale * spread)

    def plus(self, other: "MeanAndSpread") -> "MeanAndSpread":
        """Return the moments of both."""
        n = self.n + other.n
        if self.n == 0 or other.n == 0:
            return other if self.n == 0 else self
        p, q = self.n / n, other.n / n
        gap = other.mean - self.mean
        spread = math.hypot(
            self.std * math.sqrt(p), other.std * math.sqrt(q), gap * math.sqrt(p) * math.sqrt(q)
        )
        return MeanAndSpread(n, p * self.mean + q * other.mean, spread)


@stored
@dataclass(frozen=True)
class Events:
    """Counts of events: how many in all, over which exposure.

    `constant` is the part of the log-likelihood that does not depend on the rate.
    """

    n: float = 0.0
    total: float = 0.0
    exposure: float = 0.0
    constant: float = 0.0

    @classmethod
    def of(cls, values: FloatArray, exposure: FloatArray, weights: FloatArray) -> "Events":
        """Return the sums of weighted counts."""
        constant = special.xlogy(values, exposure) - special.gammaln(values + 1)
        return cls(
            float(weights.sum()),
            float(weights @ values),
            float(weights @ exposure),
            float(weights @ constant),
        )

    def plus(self, other: "Events") -> "Events":
        """Return the sums of both."""
        return Events(
            self.n + other.n,
            self.total + other.total,
            self.exposure + other.exposure,
            self.constant + other.constant,
        )


def read_observations(data: Any, owner: str) -> FloatArray:
    """Return observations as a vector of finite numbers."""
    try:
        values = np.atleast_1d(np.asarray(data, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise InputError(f"{owner}: the observations must be numbers; got {data!r}.") from error
    if values.ndim != 1:
        raise InputError(
            f"{owner}: the observations must be one list of numbers; got an array of shape "
            f"{values.shape}."
        )
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise InputError(
            f"{owner}: observation {bad[0]} is {values[bad[0]]}; leave out what is missing."
        )
    return values


def read_weights(sample_weight: Any, n: int, owner: str) -> FloatArray:
    """Return one weight per observation, ones where none are given."""
    if sample_weight is None:
        return np.ones(n)
    try:
        weights = np.atleast_1d(np.asarray(sample_weight, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise InputError(f"{owner}: sample_weight must be numbers.") from error
    if weights.shape != (n,):
        raise InputError(
            f"{owner}: sample_weight has shape {weights.shape} and there are {n} observations; "
            "give one weight per observation."
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[0]
        raise InputError(
            f"{owner}: sample_weight of observation {bad} is {weights[bad]}; weights must be "
            "finite and not negative."
        )
    return weights
