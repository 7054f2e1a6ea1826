r"""What a fit of an additive model leaves: coefficients, their covariances, the penalties chosen.

Symbols
-------
n     rows (that count)
p     coefficients of a predictor, block after block, constraints absorbed
D     predictors: 1, or the number of classes less one (multinomial)
W     weights of the last working model (minus the second derivatives of the log-likelihood, times
      the scale)
S     sum of the penalties of all blocks, each times its smoothing parameter
V     inverse of X'WX + S
"""

from dataclasses import dataclass

import numpy as np

from bottega.core.likelihood import Family
from bottega.core.loaded import insist, insist_on_length, is_array
from bottega.core.stored import stored
from bottega.core.typing import BoolArray, FloatArray, IntArray

__all__ = ["Fit"]


@stored
@dataclass(frozen=True, eq=False)
class Fit:
    r"""A fitted additive model.

    With several predictors (multinomial) everything over coefficients goes predictor after
    predictor: p is then D times the coefficients of one, and the blocks are repeated D times.

    Attributes
    ----------
    coef : ndarray of shape (p,)
        Coefficients, block after block. Those that no row determines are zero.
    sizes : tuple of int
        Number of coefficients of each block (of one predictor).
    n_predictors : int
        D: 1 but for the multinomial.
    family : Family
        Distribution of the response, with its link (and theta of the negative binomial).
    alphas : tuple of ndarray
        Smoothing parameters of each block, one for each of its penalties (an additional last one
        where the engine added a penalty on the null space).
    penalty : ndarray of shape (p, p)
        S.
    gram : ndarray of shape (p, p)
        X'WX.
    covariance : ndarray of shape (p, p)
        Bayesian covariance, ``V * scale``: its intervals cover across the function.
    covariance_freq : ndarray of shape (p, p)
        Covariance of the noise alone, ``V X'WX V * scale``.
    covariance_corrected : ndarray of shape (p, p) or None
        The Bayesian covariance with the uncertainty of the smoothing parameters to first order;
        None where they were given.
    edf : ndarray of shape (p,)
        Diagonal of F = V X'WX; sums over blocks are the df of the terms.
    scale : float
        Dispersion: that of the criterion for REML, otherwise the residual one.
    scale_known : bool
        Whether the family fixes it at 1.
    method : str
        How the smoothing parameters were chosen, ``"reml"``, ``"gcv"``, ``"ubre"``, ``"loo"``, or
        ``"given"``.
    score : float
        Value of that criterion: minus the log of the restricted likelihood, or the GCV, UBRE or
        leave-one-out score a row.
    deviance : float
        Of the fitted means, weighted.
    null_deviance : float
        Of the best constant (with the offset).
    loglik : float
        Log-likelihood at the coefficients and the scale.
    n : int
        Rows with positive weight. (For the choice of smoothing parameters weights that are whole
        numbers count rows.)
    weight : float
        Sum of their weights.
    n_iter : int
        Passes over the rows.
    converged : bool
    gradient : float
        Largest entry of the gradient of the criterion in the logarithms of the smoothing
        parameters (those at a bound left out).
    dropped : ndarray of bool of shape (p,)
        Coefficients set to zero because neither rows nor penalties determine them.
    active : tuple of ndarray
        Positions of the shape constraints of each block that hold with equality; empty without.
    engine : str
        ``"penalized"`` or ``"backfitting"``.
    """

    coef: FloatArray
    sizes: tuple[int, ...]
    family: Family
    alphas: tuple[FloatArray, ...]
    penalty: FloatArray
    gram: FloatArray
    covariance: FloatArray
    covariance_freq: FloatArray
    edf: FloatArray
    scale: float
    scale_known: bool
    method: str
    score: float
    deviance: float
    null_deviance: float
    loglik: float
    n: int
    weight: float
    n_iter: int
    converged: bool
    gradient: float
    dropped: BoolArray
    covariance_corrected: FloatArray | None = None
    active: tuple[IntArray, ...] = ()
    n_predictors: int = 1
    engine: str = "penalized"

    def check_loaded(self) -> None:
        """Raise where what was read from a file does not fit together."""
        p = sum(self.sizes) * self.n_predictors
        insist_on_length(self, p, "coef", "edf", "dropped")
        for name in ("penalty", "gram", "covariance", "covariance_freq", "covariance_corrected"):
            found = getattr(self, name)
            insist(found is None or is_array(found, np.float64, (p, p)), f"{name} does not fit")

    @property
    def slices(self) -> tuple[slice, ...]:
        """Where the coefficients of each block stand, predictor after predictor."""
        ends = np.cumsum(self.sizes * self.n_predictors).tolist()
        return tuple(
            slice(end - size, end)
            for size, end in zip(self.sizes * self.n_predictors, ends, strict=True)
        )

    @property
    def df(self) -> float:
        """Degrees of freedom of the model: the trace of F."""
        return float(self.edf.sum())

    @property
    def df_residual(self) -> float:
        """Rows less degrees of freedom."""
        return self.n - self.df

    def block_df(self) -> FloatArray:
        """Return the degrees of freedom of each block, predictor after predictor."""
        return np.array([self.edf[each].sum() for each in self.slices])
