r"""Hyperplanes: sides, distances, margins; separability, the widest margin, the fewest mistakes.

A hyperplane is the set :math:`\{x : w^\top x + w_0 = 0\}`. The side where the left is positive, and
the plane itself, belong to the second of two classes.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_array

from bottega.core.errors import InputError
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.optimize.separators import separator, shortest_separator, widest_separator
from bottega.risk.theory.half_space import HalfSpace, half_space_erm

__all__ = [
    "Hyperplane",
    "distance",
    "fewest_mistakes",
    "homogenise",
    "margin",
    "minimum_norm_separator",
    "separable",
]


@dataclass(frozen=True, eq=False)
class Hyperplane:
    """The set of points with ``coef.x + intercept = 0``.

    Parameters
    ----------
    coef : array-like of shape (d,)
        Normal vector, not zero.
    intercept : float
        The constant.
    classes : array-like of shape (2,)
        Labels of the negative and of the positive side.

    Examples
    --------
    >>> plane = Hyperplane([3.0, 4.0], -10.0)
    >>> plane.distance([[0.0, 0.0], [2.0, 1.0], [6.0, 8.0]]).tolist()
    [-2.0, 0.0, 8.0]
    >>> plane.offset, plane.foot.tolist()
    (2.0, [1.2, 1.6])
    """

    coef: FloatArray
    intercept: float = 0.0
    classes: Array = (-1, 1)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        coef = np.array(self.coef, dtype=np.float64, ndmin=1)
        if coef.ndim != 1 or not np.all(np.isfinite(coef)) or not np.any(coef):
            raise InputError(
                f"coef must be a vector of finite numbers, not all zero; got {self.coef!r}."
            )
        if not np.isfinite(self.intercept):
            raise InputError(f"intercept={self.intercept!r} is not allowed; give a finite number.")
        if len(self.classes) != 2:
            raise InputError(f"classes={self.classes!r} is not allowed; a plane has two sides.")
        object.__setattr__(self, "coef", coef)
        object.__setattr__(self, "intercept", float(self.intercept))
        object.__setattr__(self, "classes", np.asarray(self.classes))

    @classmethod
    def of(cls, model: Any) -> Self:
        """Return the hyperplane of a fitted linear classifier of two classes."""
        coef = np.asarray(getattr(model, "coef_", np.zeros((0, 0))), dtype=np.float64)
        coef = coef[0] if coef.ndim == 2 and len(coef) == 1 else coef
        classes: Any = getattr(model, "classes_", ())
        if coef.ndim != 1 or len(classes) != 2:
            raise InputError(
                f"{type(model).__name__} is no linear classifier of two classes with one vector "
                "coef_; a hyperplane is made of such a one."
            )
        intercept = float(np.ravel(getattr(model, "intercept_", 0.0))[0])
        return cls(coef, intercept, classes)

    @classmethod
    def of_homogeneous(cls, w: Any, classes: Any = (-1, 1)) -> Self:
        """Return the hyperplane of homogeneous coordinates, the constant last."""
        w = np.asarray(w, dtype=np.float64)
        return cls(w[:-1], float(w[-1]), classes)

    @property
    def homogeneous(self) -> FloatArray:
        """The vector ``(coef, intercept)``: its product with ``(x, 1)`` is the value at x."""
        return np.append(self.coef, self.intercept)

    @property
    def norm(self) -> float:
        """Length of the normal vector."""
        return float(np.linalg.norm(self.coef))

    @property
    def offset(self) -> float:
        """Signed distance of the plane from the origin, along the normal: -w0 / ||w||."""
        return -self.intercept / self.norm

    @property
    def foot(self) -> FloatArray:
        """The point of the plane that is nearest to the origin."""
        return self.offset * self.coef / self.norm

    def decision_function(self, X: Any) -> FloatArray:
        """Return ``X @ coef + intercept``."""
        X = check_array(X, dtype=np.float64)
        if X.shape[1] != len(self.coef):
            raise InputError(f"X has {X.shape[1]} columns; the plane is in {len(self.coef)}.")
        return np.asarray(X @ self.coef + self.intercept)

    def predict(self, X: Any) -> Array:
        """Return the label of the side of each row; the plane belongs to the positive one."""
        return np.asarray(self.classes[(self.decision_function(X) >= 0).astype(np.intp)])

    def distance(self, X: Any) -> FloatArray:
        """Return the signed distance of each row, positive on the normal's side."""
        return self.decision_function(X) / self.norm

    def project(self, X: Any) -> FloatArray:
        """Return the nearest point of the plane to each row."""
        X = check_array(X, dtype=np.float64)
        return np.asarray(X - np.outer(self.distance(X), self.coef / self.norm))

    def margins(self, X: Any, y: Any) -> FloatArray:
        """Return the distance of each row, negative where it is on the wrong side."""
        return _signs(y, self.classes) * self.distance(X)

    def margin(self, X: Any, y: Any) -> float:
        """Return the least of `margins`: positive if the plane separates the classes."""
        return float(np.min(self.margins(X, y)))

    def mistakes(self, X: Any, y: Any) -> IntArray:
        """Return the rows that are on the wrong side, or on the plane."""
        return np.flatnonzero(self.margins(X, y) <= 0)


def distance(coef: Any, intercept: float, X: Any) -> FloatArray:
    """Return the signed distance of rows from the plane ``coef.x + intercept = 0``.

    Examples
    --------
    >>> distance([3.0, 4.0], -10.0, [[6.0, 8.0]]).tolist()
    [8.0]
    """
    return Hyperplane(coef, intercept).distance(X)


def margin(coef: Any, intercept: float, X: Any, y: Any) -> float:
    """Return the least distance of rows from a plane, negative if one is on the wrong side.

    Parameters
    ----------
    coef : array-like of shape (d,)
        Normal vector.
    intercept : float
        The constant.
    X : array-like of shape (m, d)
        Rows.
    y : array-like of shape (m,)
        Two labels; the second in sorted order is that of the normal's side.

    Examples
    --------
    >>> margin([1.0, 0.0], 0.0, [[2.0, 5.0], [-3.0, 1.0]], ["right", "left"])
    2.0
    """
    return Hyperplane(coef, intercept, _two(y)).margin(X, y)


def homogenise(X: Any) -> FloatArray:
    """Return rows with a constant 1 appended: planes anywhere become planes through the origin.

    Examples
    --------
    >>> homogenise([[2.0, 5.0]]).tolist()
    [[2.0, 5.0, 1.0]]
    """
    X = check_array(X, dtype=np.float64)
    return np.column_stack([X, np.ones(len(X))])


def separable(X: Any, y: Any, *, fit_intercept: bool = True) -> bool:
    """Return True if some plane has the two classes strictly on its two sides.

    Decided by linear programming, in time polynomial in the size of the data.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Rows.
    y : array-like of shape (m,)
        Two labels.
    fit_intercept : bool
        Whether the plane may miss the origin.

    Notes
    -----
    A yes is checked on the rows; a no is that of the linear program, whose tolerance takes margins
    below about 1e-7 of the rows' spread for none. Columns are centred and scaled first, which
    changes nothing in the answer.

    Examples
    --------
    >>> corners = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> separable(corners, [0, 1, 1, 1]), separable(corners, [0, 1, 1, 0])
    (True, False)
    """
    X, y, classes = _read(X, y)
    return _some_separator(X, _signs(y, classes), fit_intercept) is not None


def minimum_norm_separator(X: Any, y: Any, *, fit_intercept: bool = True) -> Hyperplane:
    r"""Return the separating hyperplane of the widest margin.

    .. math:: \min_{w, w_0} \|w\|^2 \quad \text{with} \quad y_t (w^\top x_t + w_0) \ge 1
        \text{ for all } t

    a quadratic program with one solution; the margin is :math:`1 / \|w\|`.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Rows.
    y : array-like of shape (m,)
        Two labels; the second in sorted order is that of the normal's side.
    fit_intercept : bool
        Whether the plane may miss the origin; the constant is not part of the norm.

    Returns
    -------
    Hyperplane
        Scaled so that the closest rows have the value 1. Rows that no plane separates are refused.

    See Also
    --------
    bottega.risk.hard_margin : The same through the origin, as a vector.
    bottega.kernel.SupportVectorClassifier : With kernels, and for rows that overlap.

    Examples
    --------
    >>> plane = minimum_norm_separator([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]], ["a", "a", "b"])
    >>> plane.coef.round(6).tolist(), round(plane.intercept, 6)
    ([1.0, 0.0], -2.0)
    """
    X, y, classes = _read(X, y)
    if len(classes) < 2:
        raise InputError(f"y has only the class {classes[0]}; a plane separates two.")
    sign = _signs(y, classes)
    start = _some_separator(X, sign, fit_intercept)
    if start is None:
        through = "" if fit_intercept else " through the origin"
        raise InputError(
            f"No plane{through} separates the two classes, so there is no widest margin. Use a "
            "support vector machine with a finite C, or `fewest_mistakes` for a few rows."
        )
    middle = X.mean(axis=0) if fit_intercept else np.zeros(X.shape[1])
    if fit_intercept:
        found = widest_separator(X[sign < 0] - middle, X[sign > 0] - middle, start)
    else:
        rows = sign[:, np.newaxis] * X
        u = shortest_separator(rows, start / np.min(rows @ start))
        found = None if u is None else (u, 0.0)
    if found is None:
        raise InputError(
            "The margin between the classes is too narrow for double precision; scale the columns "
            "to like ranges, or treat the rows as not separable."
        )
    coef, constant = found
    return Hyperplane(coef, constant - float(coef @ middle), classes)


def fewest_mistakes(
    X: Any, y: Any, *, fit_intercept: bool = True, max_planes: int = 2_000_000
) -> HalfSpace:
    """Return a hyperplane with the fewest training mistakes, by exact search.

    Whether k mistakes suffice is NP-complete, and no polynomial algorithm comes within any constant
    factor of the least number unless P = NP: the search grows as the number of rows to the power of
    the number of columns, and is refused beyond `max_planes`.

    Parameters
    ----------
    X : array-like of shape (m, d)
        A few rows of a few columns.
    y : array-like of shape (m,)
        Two labels.
    fit_intercept : bool
        Whether the plane may miss the origin.
    max_planes : int
        Most planes to look at.

    Returns
    -------
    HalfSpace
        With `mistakes`, `error`, `coef`, `intercept` and `predict`.

    Examples
    --------
    >>> fewest_mistakes([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]).mistakes
    1
    """
    return half_space_erm(X, y, intercept=fit_intercept, max_planes=max_planes)


def _read(X: Any, y: Any) -> tuple[FloatArray, Array, Array]:
    X = check_array(X, dtype=np.float64)
    y = np.asarray(y)
    if y.shape != (len(X),):
        raise InputError(f"X has {len(X)} rows and y the shape {y.shape}; give one label per row.")
    return X, y, _two(y)


def _two(y: Any) -> Array:
    classes = np.unique(np.asarray(y))
    if len(classes) > 2:
        raise InputError(f"y has {len(classes)} classes; a plane separates two.")
    if len(classes) == 1 and classes[0] in (-1, 1):
        return np.array([-1, 1])
    return classes


def _signs(y: Any, classes: Array) -> FloatArray:
    y = np.asarray(y)
    strange = ~np.isin(y, classes)
    if strange.any():
        raise InputError(
            f"y holds {y[strange][0]}; the two sides are {classes[0]} and {classes[-1]}."
        )
    return np.where(y == classes[-1], 1.0, -1.0)


def _some_separator(X: FloatArray, sign: FloatArray, fit_intercept: bool) -> FloatArray | None:
    """Return the normal vector of some plane that separates the rows; None if there is none.

    The program is solved for columns of mean zero and length one, and rows of length one.
    """
    if np.ptp(sign) == 0 and fit_intercept:
        return np.zeros(X.shape[1])
    scale = np.maximum(np.abs(X).max(axis=0), np.finfo(float).tiny)
    Z = X / scale
    if fit_intercept:
        Z = Z - Z.mean(axis=0)
        spread = np.abs(Z).max(axis=0)
        spread[spread == 0] = 1.0
        Z, scale = np.column_stack([Z / spread, np.ones(len(Z))]), scale * spread
    length = np.linalg.norm(Z, axis=1)
    if not length.all():
        return None  # a row at the origin is on every plane through it
    w = separator(sign[:, np.newaxis] * Z / length[:, np.newaxis])
    return None if w is None else w[: X.shape[1]] / scale
