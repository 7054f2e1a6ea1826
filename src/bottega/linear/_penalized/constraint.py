r"""The two forms of a penalty: a strength that multiplies it, or a bound that it must keep.

Minimising RSS plus alpha times a penalty is minimising RSS with the penalty at most s: every alpha
has its s, and every s that binds its alpha.
"""

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy.optimize import brentq
from sklearn.base import clone

from bottega.core.errors import InputError

# Below this share of the strongest useful alpha the coefficients are those without a penalty.
_WEAKEST = 1e-12


class ConstraintForm:
    """`bound` and `alpha_of_bound` of an estimator that gives `_penalty_at` and `_strongest`."""

    @abstractmethod
    def _penalty_at(self, work: Any, alpha: float) -> float:
        """Return the penalty (without alpha) of the coefficients at one alpha."""

    @abstractmethod
    def _strongest(self, work: Any) -> float:
        """Return an alpha at which the penalty of the coefficients is zero, or nearly so."""

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
        if not (np.ndim(alpha) == 0 and np.isfinite(alpha) and alpha > 0):
            raise InputError(f"alpha={alpha!r} is not allowed; alpha must be a positive number.")
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
        if not (np.ndim(s) == 0 and np.isfinite(s) and s > 0):
            raise InputError(f"s={s!r} is not allowed; s must be a positive number.")
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
