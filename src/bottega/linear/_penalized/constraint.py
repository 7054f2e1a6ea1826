r"""The two forms of a penalty: a strength that multiplies it, or a bound that it must keep.

Minimising RSS plus alpha times a penalty is minimising RSS with the penalty at most s: every alpha
has its s, and every s that binds its alpha.
"""

from typing import Any

import numpy as np
from scipy.optimize import brentq
from sklearn.base import clone

from bottega.core.errors import InputError

# Below this share of the strongest useful alpha the coefficients are those without a penalty.
_WEAKEST = 1e-12


def check_positive(name: str, value: Any) -> None:
    """Raise an `InputError` unless a value is one positive number."""
    if not (np.ndim(value) == 0 and np.isfinite(value) and value > 0):
        raise InputError(f"{name}={value!r} is not allowed; {name} must be a positive number.")


class ConstraintForm:
    """`bound` and `alpha_of_bound` of an estimator with two hooks.

    ``_penalty_at(work, alpha)`` is the penalty (without alpha) of the coefficients at an alpha,
    ``_strongest(work)`` an alpha at which that is zero, or nearly so.
    """

    def _work(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any]:
        worker: Any = clone(self)
        worker._check_params()
        return worker, worker._prepare(worker._read(X, y, sample_weight))

    def bound(self, X: Any, y: Any, alpha: float, sample_weight: Any = None) -> float:
        r"""Return the bound s on the coefficients that gives the fit at a given alpha.

        The fit minimises RSS over coefficients whose penalty is at most s:
        :math:`\sum_j (s_j \beta_j)^2 \le s` for ridge, :math:`\sum_j w_j |s_j \beta_j| \le s` for
        the lasso, on the scale that is penalised.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        alpha : float
            Strength of the penalty, above 0.

        Returns
        -------
        float
        """
        check_positive("alpha", alpha)
        worker, work = self._work(X, y, sample_weight)
        return float(worker._penalty_at(work, float(alpha)))

    def alpha_of_bound(self, X: Any, y: Any, s: float, sample_weight: Any = None) -> float:
        """Return the alpha whose fit has a penalty of exactly s; 0 where s does not bind.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        s : float
            Bound on the penalty of the coefficients, above 0 (see `bound`).

        Returns
        -------
        float
        """
        check_positive("s", s)
        worker, work = self._work(X, y, sample_weight)

        def excess(log_alpha: float) -> float:
            return float(worker._penalty_at(work, float(np.exp(log_alpha))) - s)

        high = np.log(worker._strongest(work))
        low = high + np.log(_WEAKEST)
        if excess(low) <= 0:
            return 0.0
        while excess(high) > 0:  # ridge shrinks without end
            high += np.log(10)
        return float(np.exp(brentq(excess, low, high, xtol=1e-13)))
