"""Smooth problems with too many coefficients for their second derivatives: L-BFGS."""

from typing import Any

import numpy as np
from scipy import optimize

from bottega.core.typing import FloatArray

__all__ = ["minimise_smooth"]

_PAIRS = 20  # steps that the curvature is learnt from


def minimise_smooth(
    objective: Any, start: FloatArray, tol: float, max_iter: int
) -> tuple[FloatArray, int]:
    """Return the minimum of a smooth convex function, and the steps taken.

    ``objective(x)`` gives value and gradient; `tol` is the largest entry of the gradient.
    """
    options: Any = {"maxiter": max_iter, "maxcor": _PAIRS, "gtol": tol, "ftol": 0.0}
    options["maxls"] = 50
    minimize: Any = optimize.minimize  # its stubs know no dict of options
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    return np.asarray(found.x), int(found.nit)
