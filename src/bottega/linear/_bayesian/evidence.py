r"""The evidence of a Bayesian linear model, and where it is greatest.

The evidence is the density of the responses with the coefficients integrated over their prior
N(0, I / weight_precision), under noise of variance 1 / noise_precision. In the coordinates of the
singular vectors of the inputs it is a sum over directions, so a whole grid costs one decomposition.

Symbols
-------
lam     squared singular values of the inputs above rounding, r of them
power   squared coordinates of the responses along the left singular vectors
rest    sum of squares of the responses outside of the inputs' span
n       number of observations
gamma   sum of lam / (lam + weight_precision / noise_precision): the coefficients that the data,
        not the prior, settle
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray

_PER_DECADE = 10  # points of the search grid
_LEVEL = 1e-10  # slopes below this, per direction, are rounding errors


@dataclass(frozen=True)
class Maximum:
    """Where the evidence is greatest."""

    weight_precision: float
    noise_precision: float
    n_iter: int = 0  # steps of the root finder
    converged: bool = True  # False: no maximum, the evidence only rises with the noise precision


@dataclass(frozen=True)
class Evidence:
    """The log evidence as a function of the two precisions."""

    lam: FloatArray
    power: FloatArray
    rest: float
    n: float

    def _shares(self, weight_precision: Any, noise_precision: Any) -> tuple[FloatArray, FloatArray]:
        """Return what prior and data weigh in each direction: they add to one."""
        ratio = np.asarray(weight_precision / noise_precision)  # it may be infinite
        odds = self.lam / ratio[..., None]
        return 1 / (1 + odds), odds / (1 + odds)

    def __call__(self, weight_precision: Any, noise_precision: Any) -> Any:
        """Return the log evidence; arrays of precisions give arrays."""
        prior, _ = self._shares(weight_precision, noise_precision)
        penalised = self.rest + prior @ self.power
        return 0.5 * (
            np.log(prior).sum(axis=-1)
            + self.n * np.log(np.asarray(noise_precision) / (2 * np.pi))
            - noise_precision * penalised
        )

    def gamma(self, weight_precision: float, noise_precision: float) -> float:
        """Return the effective number of coefficients."""
        return float(self._shares(weight_precision, noise_precision)[1].sum())

    def maximize(self, weight_precision: float | None, noise_precision: float | None) -> Maximum:
        r"""Return the precisions of greatest evidence; those that are given stay as they are.

        At an inner maximum MacKay's equations hold: the precision of the weights is
        :math:`\gamma / \|m\|^2`, that of the noise :math:`(n - \gamma) / RSS`. Their root is
        bracketed on a grid, so that of several maxima the greatest is found, and refined by Brent's
        method. Where the evidence only rises with the precision of the weights, its limit is the
        model without inputs: it is infinite then.
        """
        if weight_precision is not None and noise_precision is not None:
            return Maximum(weight_precision, noise_precision)
        grid = self._grid(weight_precision, noise_precision)
        at = self._pair(np.exp(grid), weight_precision, noise_precision)
        slope, height = self._slope(*at, weight_precision), self(*at)
        # Far out the evidence is level, and the sign of its slope is that of rounding errors.
        clear = np.flatnonzero(np.abs(slope) > _LEVEL * len(self.lam))
        rises = slope[clear] > 0
        peaks = np.flatnonzero(rises[:-1] & ~rises[1:])
        best, n_iter, top = None, 0, -np.inf

        def slope_at(u: float) -> float:
            pair = self._pair(np.exp(u), weight_precision, noise_precision)
            return float(self._slope(*pair, weight_precision))

        for i in peaks:
            u, report = brentq(
                slope_at, grid[clear[i]], grid[clear[i + 1]], xtol=1e-13, full_output=True
            )
            n_iter += report.iterations
            pair = self._pair(np.exp(u), weight_precision, noise_precision)
            if self(*pair) > top:
                best, top = pair, float(self(*pair))
        converged, end = True, int(np.argmax(height))
        if best is None or height[end] > top:
            if weight_precision is None and end == len(grid) - 1:
                best = self._pair(np.array(np.inf), weight_precision, noise_precision)
            else:
                best, converged = (at[0][end], at[1][end]), False
        return Maximum(float(best[0]), float(best[1]), n_iter, converged)

    def _pair(
        self, value: Any, weight_precision: float | None, noise_precision: float | None
    ) -> tuple[Any, Any]:
        """Return both where the one that is free (of both: their ratio) has the value."""
        if weight_precision is not None:
            return np.full_like(value, weight_precision), value
        if noise_precision is not None:
            return value, np.full_like(value, noise_precision)
        penalised = self.rest + self._shares(value, 1.0)[0] @ self.power
        noise = self.n / penalised  # for a ratio, that of the noise has a formula
        return value * noise, noise

    def _slope(self, weight_precision: Any, noise_precision: Any, fixed_weight: Any) -> Any:
        """Return (twice) the derivative of the evidence by the logarithm of what is free."""
        prior, data = self._shares(weight_precision, noise_precision)
        gamma = data.sum(axis=-1)
        if fixed_weight is not None:
            return self.n - gamma - noise_precision * (self.rest + prior**2 @ self.power)
        shrunk = (prior * data) @ self.power
        return gamma - noise_precision * shrunk  # which is weight_precision ||m||^2

    def _grid(self, weight_precision: float | None, noise_precision: float | None) -> FloatArray:
        """Return logarithms wide enough to hold every inner maximum."""
        r, total = len(self.lam), self.rest + self.power.sum()
        if weight_precision is not None:
            # Noise between a thousand times the responses and what rounding leaves of them.
            low, high = 1e-3 * self.n / total, 1e30 * self.n / total
        else:
            low, high = 1e-8 * self.lam.min(), 1e8 * self.lam.max()
            length = np.sum(self.power / self.lam)  # of the coefficients without a prior
            noise = self.rest / self.n if noise_precision is None else 1 / noise_precision
            if noise > 0 and length > 0:
                low = min(low, 1e-3 * r * noise / length)
            if noise_precision is not None:
                low, high = low * noise_precision, high * noise_precision
        count = int(_PER_DECADE * np.log10(high / low)) + 2
        return np.linspace(np.log(low), np.log(high), count)


def normal_prior(
    mean: Any, covariance: Any, p: int, fit_intercept: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the mean of the prior, and a root L of its covariance LL' (the identity if None).

    Both are for p coefficients, or for an intercept and p coefficients.
    """
    sizes = (p, p + 1) if fit_intercept else (p,)
    if covariance is None:
        size, root = p, np.eye(p)
    else:
        given = np.asarray(covariance, dtype=np.float64)
        size = len(given) if given.ndim else 0
        if given.shape != (size, size) or size not in sizes:
            allowed = " or ".join(f"({each}, {each})" for each in sizes)
            raise InputError(
                f"prior_covariance has shape {given.shape}; with {p} columns it must be {allowed}"
                f"{' (the intercept first)' if fit_intercept else ''}."
            )
        root = _root(given)
    if mean is None:
        return np.zeros(size), root
    center = np.asarray(mean, dtype=np.float64)
    if center.shape != (size,) or not np.all(np.isfinite(center)):
        raise InputError(
            f"prior_mean has shape {center.shape}; it needs {size} finite numbers, one per row of "
            "the prior's covariance."
        )
    return center, root


def _root(covariance: FloatArray) -> FloatArray:
    """Return the Cholesky factor of a covariance matrix."""
    if np.all(np.isfinite(covariance)) and np.allclose(covariance, covariance.T):
        try:
            return np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
        except np.linalg.LinAlgError:
            pass
    raise InputError(
        "prior_covariance must be a symmetric, positive definite matrix of finite numbers; this "
        "one is not."
    )
