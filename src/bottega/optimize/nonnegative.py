r"""Least squares with coefficients that are not negative.

.. math:: \min_{w \ge 0} \|b - A w\|^2, \qquad\text{or over}\quad \sum_m w_m = 1 \text{ as well}
"""

import numpy as np
from scipy.optimize import nnls

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.optimize._program.scaling import power_of_two
from bottega.optimize.objective import numbers_of

__all__ = ["nonnegative_least_squares"]


def nonnegative_least_squares(
    A: FloatArray, b: FloatArray, *, sum_to_one: bool = False
) -> FloatArray:
    r"""Return the coefficients that minimise the squared error and are not negative.

    Parameters
    ----------
    A : array-like of shape (n, m)
        Columns to combine.
    b : array-like of shape (n,)
        What their sum should be.
    sum_to_one : bool, default=False
        Whether the coefficients must sum to one.

    Returns
    -------
    ndarray of shape (m,)
        The coefficients.

    See Also
    --------
    quadratic_program : The same with ``Q = A'A``, ``c = -A'b`` and ``low=0``.

    Notes
    -----
    With the sum at one, ``b = b 1'w``, so the squared error is :math:`q(w) = \|(A - b 1')w\|^2`.
    Write any :math:`u \ge 0` as :math:`s w` with s its sum: then
    :math:`\min_s s^2 q(w) + r^2 (s - 1)^2 = r^2 q(w) / (r^2 + q(w))`, which grows with
    :math:`q(w)`. So non-negative least squares with one more row, of r, gives the exact answer
    after division by its sum, for any r > 0; r is chosen to keep the problem well scaled.

    Columns that are equal share their coefficient in a way that is not determined; the first gets
    it.

    Examples
    --------
    >>> A = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> nonnegative_least_squares(A, np.array([1.0, 1.0, 3.0])).round(3).tolist()
    [1.333, 1.333]
    >>> nonnegative_least_squares(A, np.array([1.0, 0.0, 0.0]), sum_to_one=True).round(3).tolist()
    [1.0, 0.0]
    """
    A, b = (numbers_of(each, name, copy=False) for each, name in ((A, "A"), (b, "b")))
    if A.ndim != 2 or not A.shape[1] or b.shape != (len(A),):
        raise InputError(
            f"A has shape {A.shape} and b {b.shape}; give a matrix and one number per row of it."
        )
    if not np.all(np.isfinite(A)) or not np.all(np.isfinite(b)):
        raise InputError("A or b has values that are not finite.")
    if not sum_to_one:
        return _solve(A, b)
    D = A - b[:, None]
    r = np.sqrt(np.einsum("ij,ij->j", D, D).min())
    if r == 0:  # a column that is right everywhere
        r = 1.0
    rows = np.vstack([D, np.full((1, D.shape[1]), r)])
    target = np.zeros(len(rows))
    target[-1] = r
    found = _solve(rows, target)
    return np.asarray(found / found.sum())


def _solve(A: FloatArray, b: FloatArray) -> FloatArray:
    # The triangle of a QR decomposition carries the same problem in m + 1 rows.
    if len(A) > A.shape[1] + 1:
        R = np.asarray(np.linalg.qr(np.column_stack([A, b]), mode="r"))
        A, b = R[:, :-1], R[:, -1]
    size = np.sqrt(np.einsum("ij,ij->j", A, A))
    size[size == 0] = 1.0
    # SciPy looks for slopes above a tolerance that knows the size of A alone.
    unit = power_of_two(np.max(np.abs(b), initial=0.0))
    found, _ = nnls(A / size, b / unit)
    return np.asarray(found / size * unit)
