r"""The likelihood of an additive model over its rows: one pass gives what a Newton step needs.

Symbols
-------
eta     linear predictor, with the offset
g       slope of the log-likelihood of a row in eta, times the scale
w       minus its second derivative, times the scale; w' its derivative in eta
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from bottega.additive._penalized.design import CodedRows, Design
from bottega.additive._penalized.sums import RowCounts, merged_over, summed
from bottega.core.added_sums import AddedSums
from bottega.core.families import Family
from bottega.core.typing import FloatArray

__all__ = [
    "LeftOut",
    "LikelihoodProblem",
    "Pass",
    "RowProblem",
    "Working",
    "null_deviance",
    "row_terms",
]


@dataclass(frozen=True, eq=False)
class Working:
    """What a pass over the rows gives at some coefficients.

    Attributes
    ----------
    deviance : float
        Infinite where a mean is impossible.
    pull : ndarray of shape (p,)
        X'g.
    gram : ndarray of shape (p, p)
        X'WX.
    """

    deviance: float
    pull: FloatArray
    gram: FloatArray


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Deviance of rows left out one at a time (to first order), and what its gradient needs.

    Attributes
    ----------
    deviance : float
        Sum over rows.
    direct : ndarray of shape (p,)
        The derivative in the coefficients where leverages are held.
    gram : ndarray of shape (p, p)
        X' diag(a) X, with a the derivative in the leverages.
    """

    deviance: float
    direct: FloatArray
    gram: FloatArray


class LikelihoodProblem(Protocol):
    """A likelihood in coefficients, as a Newton method sees it."""

    @property
    def n(self) -> float:
        """Number of rows."""

    @property
    def size(self) -> float:
        """About what the deviance of a poor fit is, in the units of weights and responses."""

    @property
    def passes(self) -> int:
        """Passes over the rows so far."""

    @property
    def quadratic(self) -> bool:
        """Whether the deviance is a quadratic function of the coefficients."""

    def working(self, beta: FloatArray | None) -> Working:
        """Return deviance, pull and gram at coefficients; None: at means near the responses."""

    def trace(self, beta: FloatArray, M: FloatArray) -> FloatArray:
        """Return the derivative of tr(M X'WX) in the coefficients, through W."""

    def leave_one_out(self, beta: FloatArray, V: FloatArray) -> LeftOut:
        """Return what the rows say when left out."""


def row_terms(
    family: Family, eta: FloatArray, y: FloatArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return g, w and w' of each row (observed, not expected)."""
    mu = family.mean(eta)
    first, second, third = family.the_link.slopes(eta)
    rest = y - mu
    if family.is_canonical:
        return weight * rest, weight * first, weight * second
    V, V1, V2 = family.variances(mu)
    # The slope is rest times q, q = mu' / V.
    q = first / V
    q1 = second / V - q**2 * V1
    q2 = third / V - 3 * q * second / V * V1 - first * q**2 * V2 + 2 * q**3 * V1**2
    w = first * q - rest * q1
    return weight * rest * q, weight * w, weight * (second * q + 2 * first * q1 - rest * q2)


@dataclass(frozen=True)
class Pass:
    """What a pass gives of a part of the rows; the first one also counts them."""

    sums: AddedSums
    counts: RowCounts | None

    def merge(self, other: Self) -> Self:
        """Take in another part."""
        counts = self.counts
        if counts is not None and other.counts is not None:
            counts = counts.merge(other.counts)
        return type(self)(self.sums.merge(other.sums), counts)


class RowProblem:
    """The likelihood of one predictor over binned rows.

    Parameters
    ----------
    design : Design
        Columns.
    parts : iterable of CodedRows
        All rows, or chunks of them that can be iterated over again.
    family : Family
        Distribution of the responses.
    """

    quadratic = False

    def __init__(self, design: Design, parts: Iterable[CodedRows], family: Family) -> None:
        self.design, self.parts, self.family = design, parts, family
        self.passes = 0
        self._counts = RowCounts(0, 0.0, 0.0, 0.0, 0.0, 0.0, counts=True)  # after the first pass
        self._saturated: dict[float, FloatArray] = {}  # of the last scale

    def saturated(self, scale: float) -> FloatArray:
        """Return the greatest log-likelihood at a scale, and two derivatives in its logarithm."""
        if scale not in self._saturated:
            family, counts = self.family, self.counts

            def of_part(part: CodedRows) -> tuple[FloatArray]:
                if not (counts and family.name == "gamma"):
                    return (np.array(family.saturated(part.y, part.weight, scale)),)
                # Rows of the same weight are as many rows: the weight is no precision.
                found = np.zeros(3)
                for times in np.unique(part.weight):
                    y = part.y[part.weight == times]
                    found += times * family.saturated(y, np.ones(len(y)), scale)
                return (found,)

            (found,) = summed(self.parts, of_part)
            self._saturated = {scale: found}
        return self._saturated[scale]

    def working(self, beta: FloatArray | None) -> Working:
        """Return deviance, pull and gram at coefficients; None: at means near the responses."""
        self.passes += 1
        design, family, first = self.design, self.family, not self.rows

        def of_part(part: CodedRows) -> Pass:
            with np.errstate(all="ignore"):
                counts = RowCounts.of(part) if first else None
                return Pass(AddedSums(_working(design, family, part, beta)), counts)

        return self.taken(merged_over(self.parts, of_part))

    def taken(self, found: Pass) -> Working:
        """Return what a pass over all rows gave, and remember how many there were."""
        if found.counts is not None:
            self._counts = found.counts
        return Working(*found.sums.values)

    def greatest(self, scale: float) -> float:
        """Return the greatest log-likelihood at a scale, weights as precisions."""
        family = self.family
        (found,) = summed(
            self.parts, lambda part: (float(family.saturated(part.y, part.weight, scale)[0]),)
        )
        return float(found)

    def forget_scale(self) -> None:
        """Forget what was computed for a family that has changed since."""
        self._saturated = {}

    def pearson(self, beta: FloatArray) -> float:
        """Return the weighted sum of squared residuals over the variances at the means."""
        design, family = self.design, self.family

        def of_part(part: CodedRows) -> tuple[float]:
            mu = family.mean(_eta(design, family, part, beta))
            return (float(part.weight @ ((part.y - mu) ** 2 / family.variance(mu))),)

        (total,) = summed(self.parts, of_part)
        return float(total)

    @property
    def rows(self) -> int:
        """Number of rows, whatever their weights."""
        return self._counts.rows

    @property
    def weight(self) -> float:
        """Sum of the weights."""
        return self._counts.weight

    @property
    def log_weights(self) -> float:
        """Sum of the logarithms of the weights."""
        return self._counts.log_weights

    @property
    def sum_y(self) -> float:
        """Weighted sum of the responses."""
        return self._counts.sum_y

    @property
    def counts(self) -> bool:
        """Whether all weights are whole numbers."""
        return self._counts.counts

    def constant(self) -> float:
        """Return about the best constant predictor (after a pass)."""
        mean = float(self.family.link(self.sum_y / self.weight))
        return mean - self._counts.sum_offset / self.weight

    @property
    def n(self) -> float:
        """Number of rows: weights that are whole numbers count rows."""
        return self.weight if self.counts else self.rows

    @property
    def size(self) -> float:
        """About what the deviance of a poor fit is, in the units of weights and responses."""
        return (self._counts.squares if self.family.name == "gaussian" else 0.0) or self.weight

    def trace(self, beta: FloatArray, M: FloatArray) -> FloatArray:
        """Return the derivative of tr(M X'WX) in the coefficients, through W."""
        self.passes += 1
        design, family = self.design, self.family

        def of_part(part: CodedRows) -> tuple[FloatArray]:
            eta = _eta(design, family, part, beta)
            slopes = row_terms(family, eta, part.y, part.weight)[2]
            return (design.back(part, design.forms(part, M) * slopes),)

        (found,) = summed(self.parts, of_part)
        return np.asarray(found)

    def leave_one_out(self, beta: FloatArray, V: FloatArray) -> LeftOut:
        """Return what the rows say when left out, each predictor moved by one Newton step."""
        self.passes += 1
        design, family = self.design, self.family

        def of_part(part: CodedRows) -> tuple[float, FloatArray, FloatArray]:
            eta = _eta(design, family, part, beta)
            g, w, slope = row_terms(family, eta, part.y, part.weight)
            h = design.forms(part, V)
            rest = np.maximum(1 - h * w, 1e-8)
            out = eta - h * g / rest
            deviance = float(family.deviance(part.y, family.mean(out), part.weight))
            c = -2 * row_terms(family, out, part.y, part.weight)[0]  # d deviance / d predictor
            direct = design.back(part, c * (1 / rest - (h / rest) ** 2 * g * slope))
            return deviance, direct, design.gram(part, -c * g / rest**2)

        return LeftOut(*summed(self.parts, of_part))


def _eta(design: Design, family: Family, part: CodedRows, beta: FloatArray | None) -> FloatArray:
    if beta is None:
        return family.link(family.start(part.y, part.weight))
    eta = design.predictor(part, beta)
    return eta if part.offset is None else eta + part.offset


def _working(
    design: Design, family: Family, part: CodedRows, beta: FloatArray | None
) -> tuple[float, FloatArray, FloatArray]:
    """Return deviance, pull and gram of some rows.

    Where a mean is impossible the deviance is infinite, and the step will be shorter.
    """
    eta = _eta(design, family, part, beta)
    mu = family.mean(eta)
    if not family.valid(eta, mu):
        return np.inf, np.zeros(design.p), np.zeros((design.p, design.p))
    if beta is None:  # expected weights: the observed ones may be negative far away
        g, w = family.scores(eta, part.y, part.weight)
        g = g + w * (eta if part.offset is None else eta - part.offset)
        # As of a working model without coefficients: the sum of squares of its responses.
        deviance = float(np.sum(g**2 / w))
    else:
        deviance = _finite(family.deviance(part.y, mu, part.weight))
        g, w, _ = row_terms(family, eta, part.y, part.weight)
    return deviance, design.back(part, g), design.gram(part, w)


def _finite(deviance: Any) -> float:
    return float(deviance) if np.isfinite(deviance) else np.inf


def null_deviance(parts: Iterable[CodedRows], family: Family) -> float:
    """Return the deviance of the best constant predictor (with the offset)."""

    def sums(part: CodedRows) -> tuple[float, float, float, int]:
        offset = 0.0 if part.offset is None else float(part.weight @ part.offset)
        weight, y = float(part.weight.sum()), float(part.weight @ part.y)
        return weight, y, offset, int(part.offset is not None)

    total, held, known, some = summed(parts, sums)
    constant = float(family.link(held / total)) - known / total

    def slopes(part: CodedRows) -> tuple[float, float]:
        g, w, _ = row_terms(family, _moved(part, constant), part.y, part.weight)
        return float(g.sum()), float(w.sum())

    for _ in range(50 if some else 0):
        slope, bend = summed(parts, slopes)
        move = slope / bend if bend > 0 else 0.0
        constant += move
        if abs(move) < 1e-10 * (1 + abs(constant)):
            break

    def deviance(part: CodedRows) -> tuple[float]:
        return (float(family.deviance(part.y, family.mean(_moved(part, constant)), part.weight)),)

    (found,) = summed(parts, deviance)
    return float(found)


def _moved(part: CodedRows, constant: float) -> FloatArray:
    return np.full(len(part), constant) + (0.0 if part.offset is None else part.offset)
