"""Maximum likelihood with missing values: EM that is accelerated, and quasi-Newton steps."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.latent._ppca.latent_normal import LatentNormal
from bottega.latent._ppca.sums import LatentSums
from bottega.optimize.quasi_newton import minimise_smooth

__all__ = ["LatentAscent", "climb_by_em", "climb_by_gradient"]

_MEMORY = 6  # steps that an extrapolation looks at
_ROUNDED = 1e-5  # slope per row below which a line search may end by rounding
_RIDGE = 1e-10  # relative; keeps extrapolations from dividing by rounding

Expect = Callable[[LatentNormal], LatentSums]


@dataclass(frozen=True)
class LatentAscent:
    """Where an ascent ended: the model, its log-likelihood, and the likelihoods on the way."""

    model: LatentNormal
    log_likelihood: float
    trace: FloatArray
    n_iter: int
    converged: bool


class _ParameterVector:
    """Parameters as one vector of comparable entries: loadings and mean in units of the data."""

    def __init__(self, start: LatentNormal) -> None:
        self.p, self.K = start.W.shape
        self.unit = float(np.sqrt(start.noise))

    def vector(self, model: LatentNormal) -> FloatArray:
        parts = [model.W.ravel() / self.unit, model.mean / self.unit]
        return np.concatenate([*parts, [np.sqrt(self.p) * np.log(model.noise)]])

    def model(self, x: FloatArray) -> LatentNormal:
        inner = self.p * self.K
        W = self.unit * x[:inner].reshape(self.p, self.K)
        noise = float(np.exp(np.clip(x[-1] / np.sqrt(self.p), -700, 700)))
        return LatentNormal(self.unit * x[inner:-1], W, noise)

    def gradient(self, sums: LatentSums, model: LatentNormal) -> FloatArray:
        of_W, of_mean, of_noise = sums.gradient(model)
        parts = [self.unit * of_W.ravel(), self.unit * of_mean]
        return np.concatenate([*parts, [of_noise / np.sqrt(self.p)]])


def climb_by_em(
    expect: Expect, start: LatentNormal, *, floor: float, tol: float, max_iter: int
) -> LatentAscent:
    """Return the maximum that EM finds, its steps extrapolated where that raises the likelihood.

    Every round has one expectation step. Its parameters are the extrapolation of the last EM steps
    (Anderson acceleration); if their likelihood is lower than the last one, the plain EM step is
    taken instead, so the likelihood never falls. It stops when the slope along the step, per
    row, is at most `tol`: that is the gain the step still promises.
    """
    at = _ParameterVector(start)
    model, sums = start, expect(start)
    trace = [sums.log_likelihood]
    points: list[FloatArray] = []
    steps: list[FloatArray] = []
    converged = False
    for _ in range(max_iter):
        plain = sums.maximised(floor)
        x = at.vector(model)
        points, steps = [*points, x][-_MEMORY:], [*steps, at.vector(plain) - x][-_MEMORY:]
        slope = at.gradient(sums, model)
        further = _extrapolated(points, steps)
        promised = max(float(slope @ steps[-1]), float(slope @ (further - x)))
        if promised <= tol * sums.weight:
            converged = True
            break
        last = sums.log_likelihood
        tried = None
        if len(points) > 1:
            model = at.model(further)
            if model.noise >= floor:
                tried = expect(model)
        if tried is None or not tried.log_likelihood >= last:
            points, steps = points[-1:], steps[-1:]
            model, tried = plain, expect(plain)
            if not tried.log_likelihood >= last:  # rounding: nothing is gained any more
                model, converged = at.model(x), True
                break
        sums = tried
        trace.append(sums.log_likelihood)
    return LatentAscent(model, trace[-1], np.array(trace), max(len(trace) - 1, 1), converged)


def _extrapolated(points: list[FloatArray], steps: list[FloatArray]) -> FloatArray:
    """Return the point at which the steps, taken as linear between the points, would vanish."""
    if len(points) == 1:
        return points[-1] + steps[-1]
    moved = np.diff(np.stack(points), axis=0)
    turned = np.diff(np.stack(steps), axis=0)
    gram = turned @ turned.T
    gram[np.diag_indices_from(gram)] += _RIDGE * np.trace(gram) / len(gram) + 1e-300
    share = np.linalg.solve(gram, turned @ steps[-1])
    return points[-1] + steps[-1] - share @ (moved + turned)


def climb_by_gradient(
    expect: Expect, start: LatentNormal, *, floor: float, tol: float, max_iter: int
) -> LatentAscent:
    """Return the maximum that L-BFGS finds on the marginal likelihood; its trace only rises."""
    at = _ParameterVector(start)
    least = np.sqrt(at.p) * np.log(floor)
    weight = expect(start).weight
    best: dict[str, Any] = {"value": np.inf, "model": start}
    trace: list[float] = []

    def objective(x: FloatArray) -> tuple[float, FloatArray]:
        low = x[-1] < least
        model = at.model(np.concatenate([x[:-1], [max(x[-1], least)]]))
        sums = expect(model)
        value, slope = -sums.log_likelihood / weight, -at.gradient(sums, model) / weight
        if low:
            slope[-1] = 0.0
        if value < best["value"]:
            best.update(value=value, model=model, slope=float(np.max(np.abs(slope))))
            trace.append(-value * weight)
        return value, slope

    # The gain that a slope g still promises is of the order of g^2.
    _, n_iter = minimise_smooth(objective, at.vector(start), np.sqrt(tol), max_iter)
    # Where rounding ends the line search first, the slope is small but not as small as asked.
    limit = np.sqrt(tol) if n_iter >= max_iter else max(np.sqrt(tol), _ROUNDED)
    converged = best["slope"] <= limit
    return LatentAscent(best["model"], trace[-1], np.array(trace), max(n_iter, 1), bool(converged))
