"""The best fixed linear predictor in hindsight: what regret is measured against."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from bottega.core.errors import InputError, ParameterError
from bottega.core.typing import FloatArray
from bottega.online.blocks import as_block, dense_rows
from bottega.online.interior_point import Problem, minimise
from bottega.online.regions import Ball, Everything, L1Ball, Region, Simplex, get_region
from bottega.core.losses import SQUARED_ERROR, Loss, get_loss

__all__ = ["Comparator", "best_comparator", "best_least_squares", "best_on_rows"]


@dataclass(frozen=True)
class Comparator:
    r"""A fixed predictor of least total loss on the rows of a stream, or an expert.

    Attributes
    ----------
    u : ndarray of shape (d,) or (K, d)
        Its weights; with an intercept the last of them is the weight of the constant 1. One row a
        class where there are more than two. For experts, 1 at the best of them.
    loss : float
        Its total loss over `rows` rows, penalty included.
    gap : float
        Certified: no predictor of the region has a total loss below ``loss - gap`` (on the rows it
        was computed from).
    rows : int
        Rows of the stream.
    kept : int
        Rows it was computed from. With fewer than `rows`, `loss` is an estimate.
    se : float
        Standard error of `loss`; zero where it is exact.
    region : str
        What it was chosen from, in words.
    """

    u: FloatArray
    loss: float
    gap: float
    rows: int
    kept: int
    se: float
    region: str

    @property
    def average(self) -> float:
        """Loss a row."""
        return self.loss / self.rows

    @property
    def exact(self) -> bool:
        """Whether every row of the stream was looked at."""
        return self.kept == self.rows

    def __str__(self) -> str:
        found = f"best of {self.region}: average loss {self.average:.6g}"
        if self.exact:
            known = self.gap <= 1e-12 * abs(self.loss)
            return f"{found} ({'exact' if known else f'certified to {self.gap / self.rows:.1g}'})"
        return (
            f"{found}, standard error {self.se / self.rows:.2g} (estimated from {self.kept:,} of "
            f"{self.rows:,} rows; on average too low)"
        )


def best_comparator(
    X: Any,
    y: Any,
    *,
    loss: str | Loss = "squared_error",
    region: str | Region = "ball",
    radius: float | None = None,
    penalty: float = 0.0,
    fit_intercept: bool = False,
) -> Comparator:
    r"""Return the u that minimises :math:`\sum_t [\ell(y_t, u^\top x_t) + \tfrac\sigma2 \|u\|^2]`.

    For the quadratic loss over a ball or all vectors the answer is exact: one singular value
    decomposition and one equation in one unknown (the multiplier of the ball). Everything else is
    solved by an interior-point method until a duality gap says that it is done; the gap is part of
    the answer.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, p)
        Inputs.
    y : array-like of shape (n,)
        Truths: numbers, or -1 and +1 for hinge and logistic loss.
    loss : str or Loss
        ``"squared_error"``, ``"absolute_error"``, ``"huber"``, ``"hinge"`` or ``"logistic"``.
    region : {"ball", "box", "simplex", "l1_ball", "all"} or Region
        The set of comparators: norm at most the radius; every weight in [-radius, radius]; weights
        at least 0 with sum the radius; absolute values with sum at most the radius; all vectors.
    radius : float, optional
        Its radius, 1 by default.
    penalty : float
        The L2 penalty a row, sigma.
    fit_intercept : bool
        Append the constant 1 to the inputs; its weight is part of u like the others.

    Returns
    -------
    Comparator

    Notes
    -----
    Cost :math:`n p^2` for the quadratic loss, 20 to 50 times that for others; memory
    :math:`p^2` beside the rows. Over all vectors, without a penalty, the loss may have no minimum
    (logistic loss on separable rows); then u is long, and the gap holds against every vector up to
    ten times as long as ``1 + ||u||``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2))
    >>> y = X @ [3.0, 4.0]
    >>> best_comparator(X, y, region="ball", radius=1.0).u.round(2)
    array([0.63, 0.77])
    >>> print(best_comparator(X, y, loss="absolute_error", region="all"))  # doctest: +ELLIPSIS
    best of all vectors: average loss ...
    """
    measure, where = get_loss(loss), get_region(region, radius)
    if not penalty >= 0:
        raise ParameterError(f"penalty={penalty!r} is not allowed; give a number of at least 0.")
    rows = dense_rows(as_block(X), fit_intercept)
    truths = np.asarray(y, dtype=np.float64)
    if truths.shape != (len(rows),) or not len(rows):
        raise InputError(
            f"X has {len(rows)} rows and y the shape {truths.shape}; give one truth for each of at "
            "least one row."
        )
    if not (np.all(np.isfinite(rows)) and np.all(np.isfinite(truths))):
        raise InputError("X or y holds missing or infinite values; correct them or leave them out.")
    ridge = penalty * len(rows)
    if measure == SQUARED_ERROR:
        triangle = np.asarray(np.linalg.qr(np.column_stack([rows, truths]), mode="r"))
        u, total, gap = best_least_squares(triangle, where, ridge)
    else:
        u, total, gap = best_on_rows(measure, rows, truths, where, ridge)
    return Comparator(u, total, gap, len(rows), len(rows), 0.0, where.words)


def best_least_squares(
    triangle: FloatArray, region: Region, ridge: float = 0.0
) -> tuple[FloatArray, float, float]:
    r"""Return u, its total squared loss and the gap, from the triangle of ``[X, y] = Q R``.

    :math:`\|Xu - y\|^2 = \|R_1 u - z\|^2 + \rho^2` with :math:`R = (R_1, z; 0, \rho)`, so the
    triangle says all about the rows that squared loss asks. Over the ball :math:`u(\lambda) =
    (R_1^\top R_1 + (\tfrac{ridge}{2} + \lambda) I)^{-1} R_1^\top z` with the least
    :math:`\lambda \ge 0` for which it is inside.
    """
    d = triangle.shape[1] - 1
    padded = np.zeros((d + 1, d + 1))
    padded[: len(triangle)] = triangle
    R, z, rest = padded[:d, :d], padded[:d, d], float(padded[d, d]) ** 2
    if isinstance(region, Ball | Everything):
        u, gap = _in_ball(R, z, region, ridge)
    elif isinstance(region, L1Ball) and ridge > 0:
        # The penalty as d more rows: the l1 ball is searched as a simplex, which has no norm.
        longer = np.vstack([R, np.sqrt(ridge / 2) * np.eye(d)])
        u, _, gap = best_on_rows(SQUARED_ERROR, longer, np.append(z, np.zeros(d)), region)
    else:
        u, _, gap = best_on_rows(SQUARED_ERROR, R, z, region, ridge)
    total = float(np.sum((R @ u - z) ** 2)) + rest + ridge / 2 * float(u @ u)
    return u, total, min(gap, total)


def _in_ball(
    R: FloatArray, z: FloatArray, region: Region, ridge: float
) -> tuple[FloatArray, float]:
    P, s, Qt = np.linalg.svd(R)
    seen = s > len(s) * np.finfo(np.float64).eps * s[0]
    s, Qt, along = s[seen], Qt[seen], (P.T @ z)[seen]

    def weights(multiplier: float) -> FloatArray:
        return np.asarray(s * along / (s**2 + ridge / 2 + multiplier))

    v = weights(0.0)
    if isinstance(region, Ball) and np.linalg.norm(v) > region.radius:
        # Past the upper end the norm is below ||s along|| / multiplier, so inside.
        most = float(np.linalg.norm(s * along)) / region.radius
        at = brentq(
            lambda m: 1 / region.radius - 1 / np.linalg.norm(weights(m)), 0.0, most, xtol=1e-300
        )
        v = weights(at)
        v *= region.radius / np.linalg.norm(v)
    u = Qt.T @ v
    if isinstance(region, Ball):
        pull = 2 * s * (s * v - along)
        inside = region.conjugate(-pull, ridge) + float(pull @ v) + ridge / 2 * float(v @ v)
        return u, max(inside, 0.0)
    left = (s * v - along) * s + ridge / 2 * v  # half the gradient, which should be zero
    return u, float(np.sum(left**2 / (s**2 + ridge / 2)))


def best_on_rows(
    loss: Loss,
    X: FloatArray,
    y: FloatArray,
    region: Region,
    ridge: float = 0.0,
    tol: float = 1e-9,
) -> tuple[FloatArray, float, float]:
    """Return u, its total loss (``ridge/2 ||u||^2`` included) and the gap, by interior points."""
    if isinstance(region, L1Ball):
        if ridge > 0:
            raise InputError(
                "Over the l1 ball with a penalty only the quadratic loss can be compared; use "
                "another region, or no penalty."
            )
        # u = v' - v'' with v', v'' and a rest on the simplex.
        d = X.shape[1]
        doubled = np.column_stack([X, -X, np.zeros(len(X))])
        found = minimise(Problem(loss, doubled, y, Simplex(region.radius)), tol=tol)
        return found.u[:d] - found.u[d : 2 * d], found.value, found.gap
    found = minimise(Problem(loss, X, y, region, ridge), tol=tol)
    return found.u, found.value, found.gap
