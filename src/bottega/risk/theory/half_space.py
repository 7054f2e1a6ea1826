r"""Half spaces with the fewest mistakes, exactly: possible for tiny problems only.

Minimise over w the number of rows with :math:`y_t\, w^\top x_t \le 0`. Deciding whether k mistakes
suffice is NP-complete, and no polynomial algorithm comes within a constant factor of the least
number unless P = NP.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_X_y

from bottega.core.errors import InputError
from bottega.core.typing import Array, FloatArray
from bottega.optimize.half_space import count_violations, fewest_violations

__all__ = ["HalfSpace", "half_space_erm"]


@dataclass(frozen=True)
class HalfSpace:
    """A half space with the fewest mistakes on its training rows.

    Attributes
    ----------
    coef : ndarray of shape (d,)
        Normal vector.
    intercept : float
        0 for a half space through the origin.
    classes : ndarray of shape (2,)
        The label outside and the label inside.
    mistakes : int
        Rows with ``y w.x <= 0``: a row on the plane is a mistake.
    error : float
        Their share.
    planes : int
        Sets of rows whose plane had to be looked at: what makes the search blow up.
    """

    coef: FloatArray
    intercept: float
    classes: Array
    mistakes: int
    error: float
    planes: int

    def predict(self, X: Any) -> Array:
        """Return the label of each row; the plane itself belongs to the second class."""
        inside = np.asarray(X, dtype=np.float64) @ self.coef + self.intercept >= 0
        return np.asarray(self.classes[inside.astype(np.intp)])


def half_space_erm(
    X: Any, y: Any, *, intercept: bool = True, max_planes: int = 2_000_000
) -> HalfSpace:
    r"""Return a half space with the fewest mistakes on the training rows.

    All planes through some of the rows are looked at, see `bottega.optimize.half_space`.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Inputs.
    y : array-like of shape (m,)
        Two labels; the second in sorted order is the inside.
    intercept : bool
        Whether the plane may miss the origin: a column of ones is then appended.
    max_planes : int
        Most sets of d - 1 distinct rows (of d with the intercept) to look at.

    Returns
    -------
    HalfSpace

    Notes
    -----
    Rows nearer to a plane than 1e-10 of their length count as on it. Use it to see what the least
    training error is on a toy problem. To learn, take the perceptron, logistic regression or a
    support vector machine, which minimise something else and are fast.

    References
    ----------
    .. [1] Johnson, D. S. and Preparata, F. P. (1978). The densest hemisphere problem. Theoretical
       Computer Science 6, 93-107.

    Examples
    --------
    No line separates the corners of a square labelled crosswise; one mistake is the least.

    >>> corners = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> half_space_erm(corners, [-1, 1, 1, -1]).mistakes
    1
    """
    X, y = check_X_y(X, y, dtype=np.float64)
    classes = np.unique(y)
    if len(classes) != 2:
        raise InputError(f"A half space tells two classes apart; y has {len(classes)}.")
    # In powers of two near the largest number of each column: the answer has no units.
    exponent = np.frexp(np.max(np.abs(X), axis=0))[1]
    rows = np.ldexp(X, -exponent)
    rows = np.column_stack([rows, np.ones(len(X))]) if intercept else rows
    signed = np.where(y == classes[1], 1.0, -1.0)[:, np.newaxis] * rows
    w, seen = fewest_violations(signed, max_planes)
    mistakes = count_violations(signed, w)
    # The longest of the coefficients keeps its size, so that none can overflow.
    power = np.append(-exponent, 0) if intercept else -exponent
    w = np.ldexp(w, power - np.max(power[w != 0], initial=np.min(power)))
    if np.any(w):  # rows of zeros alone leave no direction
        w /= np.linalg.norm(w)
    return HalfSpace(
        w[: X.shape[1]],
        float(w[-1]) if intercept else 0.0,
        classes,
        mistakes,
        mistakes / len(X),
        seen,
    )
