"""Maximum likelihood with missing values: EM that is accelerated, and quasi-Newton steps."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.latent._ppca.latent_normal import LatentNormal
from bottega.latent._ppca.sums import LatentSums
from bottega.optimize.em import Ascent, ascend
from bottega.optimize.extrapolation import Extrapolation
from bottega.optimize.quasi_newton import minimise_smooth

__all__ = ["climb_by_em", "climb_by_gradient", "climbed"]

_ROUNDED = 1e-5  # slope per row below which a line search may end by rounding

Expect = Callable[[LatentNormal], LatentSums]


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
) -> Ascent:
    """Return the maximum that EM finds, its steps extrapolated where that raises the likelihood.

    Every round has one expectation step, or two where the extrapolation is rejected. It stops when
    the slope along the step, per row, is at most `tol`: that is the gain the step still promises.
    """
    at = _ParameterVector(start)

    def allowed(x: FloatArray) -> LatentNormal | None:
        model = at.model(x)
        return model if model.noise >= floor else None

    found = ascend(
        start,
        expect,
        lambda sums: sums.maximised(floor),
        lambda sums, _: sums.log_likelihood,
        max_iter=max_iter,
        tol=tol,
        extrapolation=Extrapolation(
            at.vector, allowed, lambda sums, model: at.gradient(sums, model) / sums.weight
        ),
    )
    # An EM step cannot lower the likelihood: where it does, rounding is all that is left.
    return replace(found, converged=True, falls=()) if found.falls else found


def climb_by_gradient(
    expect: Expect, start: LatentNormal, *, floor: float, tol: float, max_iter: int
) -> Ascent:
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
    return climbed(best["model"], trace, n_iter, bool(converged))


def climbed(model: LatentNormal, trace: list[float], n_iter: int, converged: bool) -> Ascent:
    """Return an ascent that has no E and M steps: the model, and likelihoods on the way."""
    level = np.array(trace)
    return Ascent(model, level, np.zeros(0), level, None, n_iter, converged, ())
