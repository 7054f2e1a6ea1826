r"""The evidence of a Bayesian linear model, and where it is greatest.

The evidence is the density of the responses with the coefficients integrated over their prior
N(0, I / alpha), under noise of precision beta. In the coordinates of the singular vectors of the
inputs it is a sum over directions, so a whole grid costs one decomposition.

Symbols
-------
lam     squared singular values of the inputs above rounding, r of them
power   squared coordinates of the responses along the left singular vectors
rest    sum of squares of the responses outside of the inputs' span
n       number of observations
gamma   sum of beta lam / (alpha + beta lam): the coefficients that the data, not the prior, settle
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

    alpha: float
    beta: float
    n_iter: int = 0  # steps of the root finder
    converged: bool = True  # False: no maximum, the evidence only rises with beta


@dataclass(frozen=True)
class Evidence:
    """The log evidence as a function of the two precisions."""

    lam: FloatArray
    power: FloatArray
    rest: float
    n: float

    def _shares(self, alpha: Any, beta: Any) -> tuple[FloatArray, FloatArray]:
        """Return what prior and data weigh in each direction: they add to one."""
        odds = self.lam / np.asarray(alpha / beta)[..., None]  # an infinite alpha is allowed
        return 1 / (1 + odds), odds / (1 + odds)

    def __call__(self, alpha: Any, beta: Any) -> Any:
        """Return the log evidence; arrays of precisions give arrays."""
        prior, _ = self._shares(alpha, beta)
        penalised = self.rest + prior @ self.power
        return 0.5 * (
            np.log(prior).sum(axis=-1)
            + self.n * np.log(np.asarray(beta) / (2 * np.pi))
            - beta * penalised
        )

    def gamma(self, alpha: float, beta: float) -> float:
        """Return the effective number of coefficients."""
        return float(self._shares(alpha, beta)[1].sum())

    def maximize(self, alpha: float | None, beta: float | None) -> Maximum:
        r"""Return the precisions of greatest evidence; those that are given stay as they are.

        At an inner maximum MacKay's equations hold: :math:`\alpha = \gamma / \|m\|^2` and
        :math:`\beta = (n - \gamma) / RSS`. Their root is bracketed on a grid, so that of several
        maxima the greatest is found, and refined by Brent's method. Where the evidence only rises
        with alpha, its limit is the model without inputs: alpha is infinite then.
        """
        if alpha is not None and beta is not None:
            return Maximum(alpha, beta)
        grid = self._grid(alpha, beta)
        at = self._pair(np.exp(grid), alpha, beta)
        slope, height = self._slope(*at, alpha), self(*at)
        # Far out the evidence is level, and the sign of its slope is that of rounding errors.
        clear = np.flatnonzero(np.abs(slope) > _LEVEL * len(self.lam))
        rises = slope[clear] > 0
        peaks = np.flatnonzero(rises[:-1] & ~rises[1:])
        best, n_iter, top = None, 0, -np.inf

        def slope_at(u: float) -> float:
            pair = self._pair(np.exp(u), alpha, beta)
            return float(self._slope(*pair, alpha))

        for i in peaks:
            u, report = brentq(
                slope_at, grid[clear[i]], grid[clear[i + 1]], xtol=1e-13, full_output=True
            )
            n_iter += report.iterations
            pair = self._pair(np.exp(u), alpha, beta)
            if self(*pair) > top:
                best, top = pair, float(self(*pair))
        converged, end = True, int(np.argmax(height))
        if best is None or height[end] > top:
            if alpha is None and end == len(grid) - 1:
                best = self._pair(np.array(np.inf), alpha, beta)
            else:
                best, converged = (at[0][end], at[1][end]), False
        return Maximum(float(best[0]), float(best[1]), n_iter, converged)

    def _pair(self, value: Any, alpha: float | None, beta: float | None) -> tuple[Any, Any]:
        """Return (alpha, beta) where the free precision (of both: their ratio) has the value."""
        if alpha is not None:
            return np.full_like(value, alpha), value
        if beta is not None:
            return value, np.full_like(value, beta)
        penalised = self.rest + self._shares(value, 1.0)[0] @ self.power
        noise = self.n / penalised  # for a ratio, the best beta has a formula
        return value * noise, noise

    def _slope(self, alpha: Any, beta: Any, fixed_alpha: Any) -> Any:
        """Return (twice) the derivative of the evidence by the logarithm of what is free."""
        prior, data = self._shares(alpha, beta)
        gamma = data.sum(axis=-1)
        if fixed_alpha is not None:
            return self.n - gamma - beta * (self.rest + prior**2 @ self.power)
        return gamma - beta * ((prior * data) @ self.power)  # which is alpha ||m||^2

    def _grid(self, alpha: float | None, beta: float | None) -> FloatArray:
        """Return logarithms wide enough to hold every inner maximum."""
        r, total = len(self.lam), self.rest + self.power.sum()
        if alpha is not None:
            # Noise between a thousand times the responses and what rounding leaves of them.
            low, high = 1e-3 * self.n / total, 1e30 * self.n / total
        else:
            low, high = 1e-8 * self.lam.min(), 1e8 * self.lam.max()
            length = np.sum(self.power / self.lam)  # of the coefficients without a prior
            noise = self.rest / self.n if beta is None else 1 / beta
            if noise > 0 and length > 0:
                low = min(low, 1e-3 * r * noise / length)
            if beta is not None:
                low, high = low * beta, high * beta
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
