"""A likelihood in the forms that a user may give it in."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.probability._grid.prior import called

__all__ = ["logarithm_of"]


def logarithm_of(likelihood: Any, log: bool) -> Callable[[FloatArray], FloatArray]:
    """Return the log-likelihood as a function of an array."""
    if hasattr(likelihood, "log_likelihood"):
        if len(likelihood.parameters) != 1:
            raise InputError(
                f"grid_posterior: {type(likelihood).__name__} has the parameters "
                f"{', '.join(likelihood.parameters)}; a grid is of one."
            )
        return lambda theta: called(likelihood.log_likelihood, theta, "log-likelihood")
    if not callable(likelihood):
        raise InputError(
            f"grid_posterior: the likelihood must be a function of the parameter; got "
            f"{likelihood!r}."
        )
    if log:
        return lambda theta: called(likelihood, theta, "log-likelihood")

    def logs(theta: FloatArray) -> FloatArray:
        found = called(likelihood, theta, "likelihood")
        if (found < 0).any():
            raise InputError(
                f"grid_posterior: the likelihood is negative at {theta[np.argmin(found)]:.6g}; if "
                "it is in logarithms leave log=True."
            )
        with np.errstate(divide="ignore"):
            return np.log(found)

    return logs
