"""What a fitted kernel ridge regression offers: means, standard errors, and its function."""

from typing import Any

import numpy as np

from bottega.core.errors import NotKept
from bottega.core.linear_smoother import LinearSmoother
from bottega.core.rows import Rows
from bottega.core.typing import FloatArray
from bottega.core.validate import with_warning
from bottega.kernel._inputs.points import KernelInputs
from bottega.kernel._ridge.decompose import decompose_features, decompose_kernel
from bottega.kernel.expansion import KernelExpansion

__all__ = ["FittedRidge", "row_blocks"]

_BLOCK = 2**22  # kernels in a block of new rows


class FittedRidge(LinearSmoother, KernelInputs):
    """The methods of a fitted model: `_coef` are those of the training rows, or of `_features`."""

    kernel_: Any
    X_fit_: Any
    alpha_: float
    intercept_: Any
    approximation_: str
    fit_intercept: bool
    _features: Any
    _coef: FloatArray

    @property
    def dual_coef_(self) -> FloatArray:
        """Coefficients of the kernels with the training rows."""
        if getattr(self, "_features", None) is not None or not hasattr(self, "_coef"):
            raise NotKept(
                "Coefficients of the training rows are those of the whole kernel matrix; this "
                "model has few features in its place. See expansion_."
            )
        return self._coef

    @property
    def expansion_(self) -> KernelExpansion:
        """The fitted function, without its intercept, as an element of the kernel's space."""
        self._fitted_smoother()
        if self._coef.ndim != 1 or self._precomputed or self.approximation_ == "fourier":
            raise NotKept("An expansion is of one response, with points and a kernel.")
        if self._features is None:
            return KernelExpansion(self.kernel_, self.X_fit_, self._coef)
        coef = self._features.whitening @ self._coef
        return KernelExpansion(self.kernel_, self._features.landmarks, coef)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the fitted mean of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.
        return_std : bool
            Whether to return the standard errors of the means too; they are about noise alone.

        Returns
        -------
        ndarray of shape (m,) or (m, q), or a pair of them
            Means, and standard errors with `return_std`.
        """
        X = self._check_new(X)
        found = np.empty((X.shape[0], *self._coef.shape[1:]))
        with np.errstate(over="ignore", invalid="ignore"):
            for rows in row_blocks(X.shape[0], len(self._coef)):
                found[rows] = self._table(X[rows]) @ self._coef + self.intercept_
        if return_std:
            return with_warning(found), self._error_at(X)
        return with_warning(found)

    def _table(self, X: Any) -> FloatArray:
        """Return the kernels of checked rows with those of the fit, or their features."""
        if self._features is not None:
            return self._features(X)
        return self._between(self.kernel_, X, self.X_fit_)

    def _standard_error(self, X: Any) -> FloatArray:
        return self._error_at(self._check_new(X))

    def _error_at(self, X: Any) -> FloatArray:
        S, weight = self._matrix(X), self.smoother_.weight
        spread = np.sqrt(np.sum(S**2 / (1.0 if weight is None else weight[weight > 0]), axis=1))
        sigma = np.asarray(self.smoother_.sigma)
        return spread * sigma if sigma.ndim == 0 else spread[:, None] * sigma

    def _matrix(self, X: Any) -> FloatArray:
        weight = self.smoother_.weight
        counted = None if weight is None else weight[weight > 0]
        rows = Rows(self.X_fit_, None, counted)
        n = len(rows)
        zero, intercept = np.zeros((n, 1)), bool(self.fit_intercept)
        own, new = self._table(self.X_fit_), self._table(X)
        alphas = np.array([self.alpha_])
        if self._features is None:
            mean = np.average(own, axis=0, weights=counted) if intercept else np.zeros(n)
            spectrum = decompose_kernel(own, zero, rows, intercept=intercept, eigenvectors=True)
            moved = (new - mean) * spectrum.root
            inner = (moved @ spectrum.Q) * spectrum.gains(alphas)[:, 0]
        else:
            spectrum, V, mean = decompose_features(own, zero, rows, intercept=intercept)
            gains = spectrum.gains(alphas)[:, 0] * np.sqrt(spectrum.lam)
            inner = (new - mean) @ V * gains
        S = (inner @ spectrum.Q.T) * spectrum.root
        if intercept:
            S += spectrum.root**2 / np.sum(spectrum.root**2)
        return np.asarray(S)


def row_blocks(n: int, width: int) -> list[slice]:
    """Return slices of n rows, of so many that their tables of a width are not large."""
    step = max(1, _BLOCK // max(1, width))
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
