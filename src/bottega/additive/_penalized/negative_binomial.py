"""Counts whose theta is estimated with the smoothing parameters."""

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize_scalar

from bottega.additive._penalized.engine import PenalizedEngine
from bottega.additive._penalized.fit import Fit
from bottega.additive._penalized.sums import summed
from bottega.core.families import NegativeBinomial

__all__ = ["NegativeBinomialEngine"]

# Logarithm of theta over the mean count: from far more spread than a geometric to all but Poisson.
_LEAST, _MOST = -5.0, 12.0


class NegativeBinomialEngine(PenalizedEngine):
    """Fits to counts; `choose` estimates theta too, `at` takes it as it stands.

    Theta is where the criterion of the smoothing parameters is least (REML), or where the
    conditional AIC is (the other criteria compare fits at one theta only).
    """

    def choose(self, method: str = "reml", start: Fit | None = None) -> Fit:
        """Return the fit whose smoothing parameters and theta a criterion chose."""
        tried: dict[float, Fit] = {}
        last = [start]

        def value(log_theta: float) -> float:
            self._set_theta(float(np.exp(log_theta)))
            fit = PenalizedEngine.choose(self, method, last[0])
            last[0] = tried[log_theta] = fit
            return fit.score if method == "reml" else 2 * fit.df - 2 * fit.loglik

        total, weight = summed(
            self.parts, lambda part: (float(part.weight @ part.y), float(part.weight.sum()))
        )
        middle = float(np.log(max(total / weight, 1e-3)))
        found = minimize_scalar(
            value,
            bounds=(middle + _LEAST, middle + _MOST),
            method="bounded",
            options={"xatol": 1e-4},
        )
        fit = tried[float(found.x)]
        self._set_theta(float(np.exp(found.x)))
        return replace(fit, n_iter=self.rows.passes)

    def _set_theta(self, theta: float) -> None:
        family = NegativeBinomial(self.family.link_name, theta)
        self.rows.family = self.family = family
        self.rows.forget_scale()
