"""A normal prior as a user gives it, checked."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray


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
