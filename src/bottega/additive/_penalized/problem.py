r"""The likelihood of an additive model over its rows: one pass gives what a Newton step needs.

Symbols
-------
eta     linear predictor, with the offset
g       slope of the log-likelihood of a row in eta, times the scale
w       minus its second derivative, times the scale; w' its derivative in eta
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from bottega.additive._penalized.design import CodedRows, Design
from bottega.core.families import Family
from bottega.core.parallel import answers_in_turn
from bottega.core.rows import are_counts
from bottega.core.typing import FloatArray

__all__ = ["LeftOut", "LikelihoodProblem", "RowProblem", "Working", "null_deviance", "row_terms"]


# Far from the fit means may be impossible; the deviance is then infinite, and the step shorter.
_QUIET = np.errstate(all="ignore")


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
        self.rows, self.weight, self.log_weights = 0, 0.0, 0.0  # after the first pass
        self.squares = 0.0
        self.sum_y = self.sum_offset = 0.0
        self.counts = True
        self._saturated: dict[float, FloatArray] = {}  # of the last scale

    def saturated(self, scale: float) -> FloatArray:
        """Return the greatest log-likelihood at a scale, and two derivatives in its logarithm."""
        if scale not in self._saturated:
            found = np.zeros(3)
            for part in self.parts:
                if self.counts and self.family.name == "gamma":
                    # Rows of the same weight are as many rows: the weight is no precision.
                    for times in np.unique(part.weight):
                        y = part.y[part.weight == times]
                        found += times * self.family.saturated(y, np.ones(len(y)), scale)
                else:
                    found += self.family.saturated(part.y, part.weight, scale)
            self._saturated = {scale: found}
        return self._saturated[scale]

    @_QUIET
    def working(self, beta: FloatArray | None) -> Working:
        """Return deviance, pull and gram at coefficients; None: at means near the responses."""
        self.passes += 1
        p, family = self.design.p, self.family
        total = Working(0.0, np.zeros(p), np.zeros((p, p)))
        first = not self.rows

        def counted() -> Iterator[CodedRows]:
            for part in self.parts:
                if first:
                    self._count(part)
                yield part

        def of_part(part: CodedRows) -> Working | None:
            eta = self._eta(part, beta)
            mu = family.mean(eta)
            if not family.valid(eta, mu):
                return None
            if beta is None:  # expected weights: the observed ones may be negative far away
                g, w = family.scores(eta, part.y, part.weight)
                g = g + w * (eta if part.offset is None else eta - part.offset)
                # As of a working model without coefficients: the sum of squares of its responses.
                deviance = float(np.sum(g**2 / w))
            else:
                deviance = _finite(family.deviance(part.y, mu, part.weight))
                g, w, _ = row_terms(family, eta, part.y, part.weight)
            return Working(deviance, self.design.back(part, g), self.design.gram(part, w))

        for found in answers_in_turn(_QUIET(of_part), counted()):
            if found is None or total.deviance == np.inf:
                total = replace(total, deviance=np.inf)
            else:
                np.add(total.pull, found.pull, out=total.pull)
                np.add(total.gram, found.gram, out=total.gram)
                total = replace(total, deviance=total.deviance + found.deviance)
        return total

    def greatest(self, scale: float) -> float:
        """Return the greatest log-likelihood at a scale, weights as precisions."""
        return sum(float(self.family.saturated(p.y, p.weight, scale)[0]) for p in self.parts)

    def forget_scale(self) -> None:
        """Forget what was computed for a family that has changed since."""
        self._saturated = {}

    def pearson(self, beta: FloatArray) -> float:
        """Return the weighted sum of squared residuals over the variances at the means."""
        total = 0.0
        for part in self.parts:
            mu = self.family.mean(self._eta(part, beta))
            total += float(part.weight @ ((part.y - mu) ** 2 / self.family.variance(mu)))
        return total

    def _count(self, part: CodedRows) -> None:
        self.rows += len(part)
        self.weight += float(part.weight.sum())
        self.log_weights += float(np.sum(np.log(part.weight)))
        self.counts = self.counts and are_counts(part.weight)
        self.sum_y += float(part.weight @ part.y)
        self.squares += float(part.weight @ part.y**2)
        self.sum_offset += 0.0 if part.offset is None else float(part.weight @ part.offset)

    def constant(self) -> float:
        """Return about the best constant predictor (after a pass)."""
        mean = float(self.family.link(self.sum_y / self.weight))
        return mean - self.sum_offset / self.weight

    @property
    def n(self) -> float:
        """Number of rows: weights that are whole numbers count rows."""
        return self.weight if self.counts else self.rows

    @property
    def size(self) -> float:
        """About what the deviance of a poor fit is, in the units of weights and responses."""
        return (self.squares if self.family.name == "gaussian" else 0.0) or self.weight

    @_QUIET
    def trace(self, beta: FloatArray, M: FloatArray) -> FloatArray:
        """Return the derivative of tr(M X'WX) in the coefficients, through W."""
        self.passes += 1
        found = np.zeros(self.design.p)
        for part in self.parts:
            slopes = row_terms(self.family, self._eta(part, beta), part.y, part.weight)[2]
            found += self.design.back(part, self.design.forms(part, M) * slopes)
        return found

    @_QUIET
    def leave_one_out(self, beta: FloatArray, V: FloatArray) -> LeftOut:
        """Return what the rows say when left out, each predictor moved by one Newton step."""
        self.passes += 1
        p, family = self.design.p, self.family
        deviance, direct, gram = 0.0, np.zeros(p), np.zeros((p, p))
        for part in self.parts:
            eta = self._eta(part, beta)
            g, w, slope = row_terms(family, eta, part.y, part.weight)
            h = self.design.forms(part, V)
            rest = np.maximum(1 - h * w, 1e-8)
            out = eta - h * g / rest
            deviance += float(family.deviance(part.y, family.mean(out), part.weight))
            c = -2 * row_terms(family, out, part.y, part.weight)[0]  # d deviance / d predictor
            direct += self.design.back(part, c * (1 / rest - (h / rest) ** 2 * g * slope))
            gram += self.design.gram(part, -c * g / rest**2)
        return LeftOut(deviance, direct, gram)

    def _eta(self, part: CodedRows, beta: FloatArray | None) -> FloatArray:
        if beta is None:
            return self.family.link(self.family.start(part.y, part.weight))
        eta = self.design.predictor(part, beta)
        return eta if part.offset is None else eta + part.offset


def _finite(deviance: Any) -> float:
    return float(deviance) if np.isfinite(deviance) else np.inf


def null_deviance(parts: Iterable[CodedRows], family: Family) -> float:
    """Return the deviance of the best constant predictor (with the offset)."""
    total = held = known = 0.0
    some = False
    for part in parts:
        some = some or part.offset is not None
        total += float(part.weight.sum())
        held += float(part.weight @ part.y)
        known += 0.0 if part.offset is None else float(part.weight @ part.offset)
    constant = float(family.link(held / total)) - known / total
    for _ in range(50 if some else 0):
        slope = bend = 0.0
        for part in parts:
            g, w, _ = row_terms(family, _moved(part, constant), part.y, part.weight)
            slope, bend = slope + float(g.sum()), bend + float(w.sum())
        move = slope / bend if bend > 0 else 0.0
        constant += move
        if abs(move) < 1e-10 * (1 + abs(constant)):
            break
    return sum(
        float(family.deviance(part.y, family.mean(_moved(part, constant)), part.weight))
        for part in parts
    )


def _moved(part: CodedRows, constant: float) -> FloatArray:
    return np.full(len(part), constant) + (0.0 if part.offset is None else part.offset)
