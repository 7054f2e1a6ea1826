"""Inputs of linear models that several experiments draw."""

import numpy as np

from bottega.core.typing import FloatArray


def standardized(X: FloatArray) -> FloatArray:
    """Return columns of mean 0 and variance 1 (divisor n)."""
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))


def correlated_design(n: int, p: int, rng: np.random.Generator) -> FloatArray:
    """Return standardised columns that are random combinations of one another."""
    return standardized(rng.normal(size=(n, p)) @ rng.normal(size=(p, p)))


def equicorrelated_design(n: int, p: int, rho: float, rng: np.random.Generator) -> FloatArray:
    """Return columns of mean 0 and variance 1 with correlation rho, all of it exactly.

    Examples
    --------
    >>> X = equicorrelated_design(20, 3, 0.5, np.random.default_rng(0))
    >>> (X.T @ X / 20).round(6).tolist()[0]
    [1.0, 0.5, 0.5]
    """
    Z = rng.normal(size=(n, p))
    Q = np.linalg.qr(Z - Z.mean(axis=0))[0] * np.sqrt(n)
    C = np.full((p, p), rho)
    np.fill_diagonal(C, 1.0)
    return np.asarray(Q @ np.linalg.cholesky(C).T)
