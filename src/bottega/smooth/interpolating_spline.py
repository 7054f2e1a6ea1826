"""Splines that pass through every point."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.interpolate import CubicSpline, PPoly

from bottega.core.cards import Card
from bottega.core.errors import DataWarning, InputError, warn_caller
from bottega.core.estimator import Unweighted
from bottega.core.params import Anything, Choice, Parameter
from bottega.core.rows import Rows
from bottega.core.typing import FloatArray
from bottega.smooth._splines.one_input import OneInputCurve

__all__ = ["InterpolatingSpline"]


class InterpolatingSpline(OneInputCurve, Unweighted):
    r"""The curve through all the points.

    A cubic spline through K points has 4 (K - 1) coefficients. K values and 3 (K - 2) smooth joints
    leave two of them free: `kind` says how they are fixed.

    Parameters
    ----------
    kind : {"natural", "clamped", "not-a-knot", "linear"}, default="natural"
        No second derivative at the ends (straight lines beyond them: of all curves through the
        points the one that bends least); given slopes at the ends; the first two and the last two
        pieces one polynomial each; or straight lines from point to point.
    slopes : pair of float, default=(0.0, 0.0)
        Slopes at the two ends, with ``kind="clamped"``.
    ties : {"mean", "error"}, default="mean"
        What to do with rows of one x and different responses, through which no curve passes: take
        their mean and warn, or refuse.

    Attributes
    ----------
    knots_ : ndarray of shape (K,)
        Distinct x, rising.
    coef_ : ndarray of shape (K - 1, 4)
        Coefficients of 1, d, d^2, d^3 on each piece, d the distance from its left knot.

    Notes
    -----
    O(n log n) to sort, O(n) to solve a tridiagonal system. It is for points without noise: with
    noise it follows every error (no degrees of freedom are left), and a `SmoothingSpline` should be
    used. Beyond the data a natural or linear one goes on as a straight line, the others as the
    polynomial of their last piece.

    References
    ----------
    .. [1] de Boor, C. (1978). A practical guide to splines. Springer.

    Examples
    --------
    >>> model = InterpolatingSpline().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 0.0])
    >>> model.predict([[0.5], [1.0], [3.0]])
    array([ 0.6875,  1.    , -1.5   ])
    >>> model.predict([[0.0], [1.0], [2.0]], derivative=2)
    array([ 0., -3.,  0.])
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "kind": Choice("natural", "clamped", "not-a-knot", "linear", help="how the ends are fixed"),
        "slopes": Anything(help="slopes at the two ends, when kind is 'clamped'"),
        "ties": Choice("mean", "error", help="what to do with one x and different responses"),
    }
    card: ClassVar[Card] = Card(
        method="interpolating_spline",
        title="Interpolating spline",
        task="regression",
        strengths=(
            "Passes through every point, and between them bends as little as a curve can.",
            "Nothing to choose but the ends.",
        ),
        weaknesses=(
            "Follows noise as if it were truth: no degrees of freedom are left to estimate it.",
            "Takes one input.",
        ),
        assumptions=(
            "The responses have no noise.",
            "The truth has two continuous derivatives (for straight pieces, it is continuous).",
        ),
        cost="n log n",
        source="D114-D115",
        n_inputs=1,
    )

    def __init__(
        self, kind: str = "natural", *, slopes: Any = (0.0, 0.0), ties: str = "mean"
    ) -> None:
        self.kind = kind
        self.slopes = slopes
        self.ties = ties

    def _settle(self, work: Rows, setting: Mapping[str, Any]) -> None:
        x, y = work.X[:, 0], work.y
        knots, place, count = np.unique(x, return_inverse=True, return_counts=True)
        if len(knots) < 2:
            raise InputError(
                f"All {len(x)} values of x are equal ({knots[0]:g}); a curve needs at least two."
            )
        order = np.argsort(x, kind="stable")
        first = y[order[np.cumsum(count) - count]]
        value = first + np.bincount(place, y - first[place]) / count
        if np.any(y != first[place]):
            self._warn_ties(int(np.sum(np.bincount(place, y != first[place]) > 0)))
        self.knots_ = knots
        self.coef_ = self._pieces(knots, value)

    def _warn_ties(self, count: int) -> None:
        words = f"{count} values of x have more than one response, and no curve passes through both"
        if self.ties == "error":
            raise InputError(f"{words}; use ties='mean', or a smoothing spline.")
        warn_caller(
            f"{words}: their means are taken. A smoothing spline may be what you want.",
            DataWarning,
        )

    def _pieces(self, knots: FloatArray, value: FloatArray) -> FloatArray:
        if self.kind == "linear":
            found = np.zeros((len(knots) - 1, 4))
            found[:, 0], found[:, 1] = value[:-1], np.diff(value) / np.diff(knots)
            return found
        ends: Any = self.kind
        if self.kind == "clamped":
            try:
                slopes = np.asarray(self.slopes, dtype=np.float64)
            except (TypeError, ValueError):
                slopes = np.empty(0)
            if slopes.shape != (2,) or not np.all(np.isfinite(slopes)):
                raise InputError(
                    f"slopes={self.slopes!r} is not allowed; slopes must be two finite numbers."
                )
            ends = ((1, slopes[0]), (1, slopes[1]))
        return np.ascontiguousarray(CubicSpline(knots, value, bc_type=ends).c[::-1].T)

    def predict(self, X: Any, derivative: int = 0) -> FloatArray:
        """Return the curve, or a derivative of it, at each row of X.

        Parameters
        ----------
        X : array-like of shape (m, 1)
            Points.
        derivative : int
            Order of the derivative, from 0 (the curve itself) to 3.

        Returns
        -------
        ndarray of shape (m,)
        """
        return self._derived(X, derivative)[1]

    def _curve_at(self, x: FloatArray, derivative: int = 0) -> FloatArray:
        pieces = PPoly(self.coef_.T[::-1], self.knots_)
        if self.kind not in ("natural", "linear"):
            return np.asarray(pieces(x, derivative))
        inside = np.clip(x, self.knots_[0], self.knots_[-1])
        found, beyond = np.asarray(pieces(inside, derivative)), x != inside
        if derivative == 0:  # on along the tangent
            found[beyond] += (x - inside)[beyond] * pieces(inside[beyond], 1)
        elif derivative > 1:
            found[beyond] = 0.0
        return found

    def _breaks(self) -> tuple[FloatArray, int]:
        return self.knots_, 3
