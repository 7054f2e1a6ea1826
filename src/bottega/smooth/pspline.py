"""P-splines: many B-splines, and a penalty on the differences of their coefficients."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from bottega.basis.spline_functions import LocalDesign, design, difference_penalty, even_knots
from bottega.core.cards import Card
from bottega.core.errors import InputError
from bottega.core.lists import Alphas, alphas_of
from bottega.core.losses import Loss
from bottega.core.params import Auto, Integer, Parameter, Real
from bottega.core.path import Path, Rule, along
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray
from bottega.smooth._path.penalized import PenalizedAxes, penalized_axes, penalty_grid
from bottega.smooth._path.scores import FIXED_KNOB, NOISE, largest_first, loo_path
from bottega.smooth._splines.basis_smoother import BasisSmoother, SplineFit, gram

__all__ = ["PSpline"]

# Directions in which the data say this much less than in their best one are not seen at all.
_UNSEEN = 1e-12


@dataclass(frozen=True)
class _PenalizedBasis:
    """The rows and their B-splines, in coordinates from which every penalty follows."""

    rows: Rows
    knots: FloatArray
    degree: int
    B: LocalDesign
    axes: PenalizedAxes

    def fit(self, alpha: float) -> SplineFit:
        """Return the fit at a penalty: M is (B'WB + alpha D'D)^-1."""
        axes, at = self.axes, np.array([alpha])
        if alpha == 0 and np.any(axes.seen == 0):
            raise InputError(
                "alpha=0 leaves coefficients that no row determines; give a positive alpha or a "
                "smaller n_basis."
            )
        M = (axes.Z * axes.gains(at)[:, 0]) @ axes.Z.T
        share, coef = axes.shares(at)[:, 0], axes.coef(at)[:, 0]
        df, trace_sst = float(share.sum()), float(share @ share)
        return SplineFit(self.knots, self.degree, True, M, coef, df, trace_sst)


class PSpline(BasisSmoother):
    r"""Many B-splines on even knots, kept smooth by a penalty on neighbouring coefficients.

    .. math:: \min_c \sum_i w_i \Bigl\{y_i - \sum_j c_j B_j(x_i)\Bigr\}^2
              + \alpha \sum_j (\Delta^m c_j)^2

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        Strength of the penalty; larger is smoother. A very large one is the least squares
        polynomial of degree ``order - 1``. ``"auto"`` picks from the path by the rule `select`.
    n_basis : int, default=40
        Number of B-splines: enough to follow the truth; the penalty does the rest.
    degree : int, default=3
        Degree of the B-splines.
    order : int, default=2
        Order m of the differences.
    select : str, default="one_se"
        Rule that picks from the path: ``"min"`` or ``"one_se"`` of the leave-one-out error, or a
        criterion (``"aic"``, ``"aicc"``, ``"bic"``, ``"hq"``, ``"gcv"``, ``"cp"``).
    alphas : int or array-like, default=60
        Penalties on the path: how many, or which.

    Attributes
    ----------
    alpha_ : float
        The penalty in use.
    coef_ : ndarray of shape (n_basis,)
        Coefficients of the B-splines.
    knots_ : ndarray of shape (n_basis + degree + 1,)
        All knots, evenly spaced and going on beyond the data.
    path_ : Path
        The whole curve, when `alpha` is ``"auto"``.
    smoother_ : Smoother
        What df, sigma, leverages, leave-one-out and the criteria follow from.

    Notes
    -----
    One eigendecomposition, O(n degree^2 + n_basis^3), serves every penalty; each on the path costs
    O(n degree^2 + n_basis^3) more for its exact leverages. df lies between `order` and the smaller
    of n_basis and the number of distinct x. More B-splines than distinct x are allowed: the penalty
    fills the gaps.

    Beyond the data the curve goes on as a straight line. Standard errors are those of the noise:
    they leave out the bias of the penalty.

    References
    ----------
    .. [1] Eilers, P. H. C. and Marx, B. D. (1996). Flexible smoothing with B-splines and penalties.
       Statistical Science 11, 89-121.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(0, 10, size=200)
    >>> y = np.sin(x) + 0.3 * rng.normal(size=200)
    >>> model = PSpline(select="min").fit(x[:, None], y)
    >>> model.predict([[np.pi / 2], [3 * np.pi / 2]]).round(1)
    array([ 1., -1.])
    >>> 5 < model.df_ < 20
    True
    """

    knob: ClassVar[str] = "alpha"
    params: ClassVar[Mapping[str, Parameter]] = {
        "alpha": Auto(Real(0, None, log=True), help="strength of the penalty"),
        "n_basis": Integer(4, None, help="number of B-splines"),
        "degree": Integer(1, None, help="degree of the B-splines"),
        "order": Integer(1, None, help="order of the differences that are penalised"),
        "select": Rule(),
        "alphas": Alphas(),
    }
    card: ClassVar[Card] = Card(
        method="pspline",
        title="P-spline",
        task="regression",
        strengths=(
            "A smooth curve with few coefficients, whatever the number of rows.",
            "Neither the number nor the place of the knots matters much.",
            "The whole path with exact leave-one-out errors comes from one decomposition.",
        ),
        weaknesses=(
            "Even knots waste functions where there are few rows.",
            "One penalty for the whole range: too smooth where the truth is rough.",
            "Takes one input; several need an additive model.",
        ),
        assumptions=(
            "The mean of the response is a smooth function of one input.",
            NOISE,
            FIXED_KNOB,
        ),
        cost="n + n_basis^3",
        source="D118-D120, D123-D126",
        n_inputs=1,
    )

    def __init__(
        self,
        alpha: float | str = "auto",
        *,
        n_basis: int = 40,
        degree: int = 3,
        order: int = 2,
        select: str = "one_se",
        alphas: Any = 60,
    ) -> None:
        self.alpha = alpha
        self.n_basis = n_basis
        self.degree = degree
        self.order = order
        self.select = select
        self.alphas = alphas

    def _prepare(self, rows: Rows) -> _PenalizedBasis:
        x = np.ascontiguousarray(rows.X[:, 0])
        low, high = float(x.min()), float(x.max())
        distinct = len(np.unique(x))
        size, degree, order = int(self.n_basis), int(self.degree), int(self.order)
        if distinct < order:
            raise InputError(
                f"PSpline with differences of order {order} needs at least {order} distinct values "
                f"of x; there are {distinct}."
            )
        if not high > low:
            raise InputError(f"All {len(x)} values of x are equal ({low:g}); a curve needs more.")
        if size <= max(degree, order):
            raise InputError(
                f"n_basis={size} is too few for degree {degree} and differences of order {order}; "
                f"take at least {max(degree, order) + 1}."
            )
        knots = even_knots(low, high, size, degree)
        B = design(x, knots, degree, linear_ends=True)
        G, right = gram(B, rows)
        D = difference_penalty(size, order)
        # Polynomials below the order are free of penalty.
        axes = penalized_axes(G, D, right, free=order, unseen=_UNSEEN)
        return _PenalizedBasis(rows, knots, degree, B, axes)

    def _path(self, work: _PenalizedBasis, values: Any, loss: Loss | None) -> Path:
        values = alphas_of(values, self.alphas)
        if values is None:
            alphas = penalty_grid(work.axes.ratio, self.alphas)
        else:
            alphas = largest_first(values)
        scores = [work.fit(alpha).score(work.B, work.rows, loss) for alpha in alphas]
        return loo_path(along(self.knob, alphas), scores, work.rows, loss)

    def _curves(self, work: _PenalizedBasis, values: Sequence[Any], X_new: FloatArray) -> Array:
        B = design(X_new[:, 0], work.knots, work.degree, linear_ends=True)
        return B @ np.column_stack([work.fit(alpha).coef for alpha in values])

    def _settle(self, work: _PenalizedBasis, setting: Mapping[str, Any]) -> None:
        self.alpha_ = float(setting["alpha"])
        fit, axes = work.fit(self.alpha_), work.axes
        scaled = axes.Z * (np.sqrt(axes.seen) * axes.gains(np.array([self.alpha_]))[:, 0])
        self._keep(replace(fit, noise=scaled @ scaled.T), work.rows)
        self.knots_, self.coef_ = fit.knots, fit.coef
