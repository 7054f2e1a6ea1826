"""The best fixed linear predictor in hindsight: what regret is measured against."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError, ParameterError
from bottega.core.losses import SQUARED_ERROR, Loss, get_loss
from bottega.core.typing import FloatArray
from bottega.online._stream.blocks import as_block, dense_rows
from bottega.optimize.constrained import least_loss_in, least_squares_in
from bottega.optimize.regions import Region, get_region

__all__ = ["Comparator", "best_comparator"]


@dataclass(frozen=True)
class Comparator:
    r"""A fixed predictor of least total loss on the rows of a stream, or an expert.

    Attributes
    ----------
    u : ndarray of shape (d,) or (K, d)
        Its weights; with an intercept the last of them is the weight of the constant 1. One row per
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
        """Loss per row."""
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
    alpha: float = 0.0,
    fit_intercept: bool = False,
) -> Comparator:
    r"""Return the u that minimises :math:`\sum_t [\ell(y_t, u^\top x_t) + \tfrac\sigma2 \|u\|^2]`.

    For the squared error over a ball or all vectors the answer is exact: one singular value
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
    alpha : float
        The L2 penalty: alpha/2 times the squared norm is part of every row's loss.
    fit_intercept : bool
        Append the constant 1 to the inputs; its weight is part of u like the others.

    Returns
    -------
    Comparator

    Notes
    -----
    Cost :math:`n p^2` for the squared error, 20 to 50 times that for others; memory
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
    if not alpha >= 0:
        raise ParameterError(f"alpha={alpha!r} is not allowed; give a number of at least 0.")
    rows = dense_rows(as_block(X), fit_intercept)
    truths = np.asarray(y, dtype=np.float64)
    if truths.shape != (len(rows),) or not len(rows):
        raise InputError(
            f"X has {len(rows)} rows and y the shape {truths.shape}; give one truth for each of at "
            "least one row."
        )
    if not (np.all(np.isfinite(rows)) and np.all(np.isfinite(truths))):
        raise InputError("X or y holds missing or infinite values; correct them or leave them out.")
    ridge = alpha * len(rows)
    if measure == SQUARED_ERROR:
        triangle = np.asarray(np.linalg.qr(np.column_stack([rows, truths]), mode="r"))
        u, total, gap = least_squares_in(triangle, where, ridge)
    else:
        u, total, gap = least_loss_in(measure, rows, truths, where, ridge)
    return Comparator(u, total, gap, len(rows), len(rows), 0.0, where.words)
