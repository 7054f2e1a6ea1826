"""Successive orthogonalisation: multiple regression as a chain of simple ones."""

from typing import Any

import numpy as np
from sklearn.utils import check_array

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.linear._decomposition.rank import TOLERANCE

__all__ = ["gram_schmidt"]


def gram_schmidt(X: Any, *, intercept: bool = True) -> tuple[FloatArray, FloatArray]:
    r"""Orthogonalise the columns of X one after the other.

    With :math:`z_0 = x_0 = 1`, for :math:`j = 1, \dots, p`

    .. math:: \hat\gamma_{kj} = \frac{z_k^\top x_j}{z_k^\top z_k}, \qquad
              z_j = x_j - \sum_{k=0}^{j-1} \hat\gamma_{kj} z_k.

    The sum starts at k = 0: the constant is projected out too. (Some notes print k = 1, which
    leaves the mean inside and gives other coefficients.)

    Parameters
    ----------
    X : array-like of shape (n, p)
        Inputs, linearly independent (and not constant, with an intercept).
    intercept : bool
        Whether the columns start with the constant :math:`x_0 = 1`.

    Returns
    -------
    Z : ndarray of shape (n, d)
        Orthogonal columns; d is p, plus one with an intercept.
    gamma : ndarray of shape (d, d)
        Upper triangular with ones on the diagonal: ``Z @ gamma`` is ``[1, X]``.

    Notes
    -----
    The simple regression of y on the last column :math:`z_p` gives the coefficient of
    :math:`x_p` in the multiple regression, because :math:`z_p` is what of :math:`x_p` no other
    column explains. The other coefficients follow by back-substitution,
    ``solve(gamma, Z'y / diag(Z'Z))``, or by bringing each column last. Cost: 2 n d^2.

    Coefficients are taken from what is left of :math:`x_j` after the earlier steps (the modified
    form): the same numbers as above in exact arithmetic, and far less rounding. With nearly
    collinear columns Z still loses its orthogonality; `LeastSquares` uses Householder's QR.

    References
    ----------
    .. [1] Hastie, T., Tibshirani, R. and Friedman, J. (2009). The Elements of Statistical Learning,
       2nd ed., algorithm 3.1. Springer.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [4.0, 4.0]])
    >>> y = np.array([1.0, 3.0, 2.0, 5.0])
    >>> Z, gamma = gram_schmidt(X)
    >>> last = Z[:, -1]
    >>> round(float(last @ y / (last @ last)), 10)
    -0.7
    >>> np.allclose(Z @ gamma, np.column_stack([np.ones(4), X]))
    True
    """
    Z = check_array(X, dtype=np.float64, copy=True)
    if intercept:
        Z = np.column_stack([np.ones(len(Z)), Z])
    d = Z.shape[1]
    if len(Z) < d:
        raise InputError(
            f"{d} columns cannot be independent in {len(Z)} rows: give more rows or fewer columns."
        )
    gamma = np.eye(d)
    length = np.linalg.norm(Z, axis=0)
    for j in range(d):
        for k in range(j):
            gamma[k, j] = Z[:, k] @ Z[:, j] / (Z[:, k] @ Z[:, k])
            Z[:, j] -= gamma[k, j] * Z[:, k]
        if np.linalg.norm(Z[:, j]) <= TOLERANCE * length[j]:
            raise InputError(
                f"Column {j - intercept} of X is a combination of the columns before it"
                f"{' and the constant' if intercept else ''}: leave it out."
            )
    return Z, gamma
