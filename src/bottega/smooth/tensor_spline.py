"""The tensor product spline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from bottega.basis.spline_functions import check_knots, clamped_knots, place_knots
from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.errors import DataWarning, InputError, warn_caller
from bottega.core.losses import SQUARED_ERROR, Loss
from bottega.core.params import Anything, Auto, Integer, Parameter, Real
from bottega.core.path import Path, Rule, along
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray
from bottega.smooth._path.penalized import penalty_grid
from bottega.smooth._path.scores import (
    FIXED_KNOB,
    NOISE,
    Score,
    check_knot_choice,
    knot_counts,
    loo_path,
)
from bottega.smooth._surface.points import DistinctPoints, Scaling, make_points, unit_scaling
from bottega.smooth._surface.surface import Surface
from bottega.smooth._surface.tensor import TensorBasis, TensorFit, decompose_tensor
from bottega.smooth.thin_plate_spline import ThinPlateSpline

__all__ = ["TensorSpline"]

_PATH_SIZE = 400  # products on the path, at most
_SLOW_SIZE = 2_000  # products from which on a warning states the cost
_MOST_SIZE = 10_000  # products that are refused
_N_ALPHAS = 40


@dataclass(frozen=True)
class _TensorWork:
    """The rows and their scaled points; the fit and the penalty of each number of knots."""

    rows: Rows
    scaling: Scaling
    points: DistinctPoints
    degree: int
    fits: dict[int, tuple[TensorFit, float]] = field(default_factory=dict)


@documented_like(ThinPlateSpline, without=("rank_", "rank_error_"))
class TensorSpline(Surface):
    r"""A surface made of products of B-splines, one factor per input.

    .. math:: f(x) = \sum_{j_1} \cdots \sum_{j_p} \vartheta_{j_1 \ldots j_p}
              \prod_k h_{k j_k}(x_k)

    with :math:`K + 4` cubic B-splines per input, :math:`h_{kj}`, for K interior knots, so
    :math:`(K_1 + 4)(K_2 + 4)` coefficients for two. They are found by least squares, or with a
    penalty on bending along each input,

    .. math:: \min \sum_i w_i \{y_i - f(x_i)\}^2 + \alpha \sum_k
              \int \Bigl(\frac{\partial^2 f}{\partial u_k^2}\Bigr)^2 du ,

    u being the inputs scaled to [0, 1].

    Parameters
    ----------
    n_knots : int or "auto", default="auto"
        Number of interior knots of each input; more follow the data more closely. ``"auto"`` picks
        from the path by the rule `select`.
    degree : int, default=3
        Degree of the B-splines. It is lowered until ``(degree + 1)^p`` is at most half the number
        of distinct points, but not below 1.
    knots : {"quantile", "even"} or list of array-like, default="quantile"
        Where the interior knots lie; or the interior knots of each input themselves, as many as one
        likes. Give n_knots or the knots.
    alpha : float or "auto", default=0
        Strength of the penalty; 0 is least squares. ``"auto"`` picks one for each number of knots
        by the rule `select`.
    max_knots : int or "auto", default="auto"
        Most knots per input on the path; ``"auto"`` stops at 400 coefficients, or when there are
        more than half as many coefficients as distinct points.

    Attributes
    ----------
    n_knots_ : int
        Number of interior knots of each input in use (the most, where they differ).
    knots_ : list of ndarray
        Interior knots of each input that varies, in its units.
    degree_ : int
        The degree in use.
    alpha_ : float
        The penalty in use.
    coef_ : ndarray
        Coefficients, one axis per input that varies.
    path_ : Path
        The whole curve, when `n_knots` is ``"auto"``.

    Notes
    -----
    A fit with q coefficients costs O(n 16^p + n q + q^3), and q is ``(K + 4)^p``: 144 for 8 knots
    and two inputs, 1,728 for three. A `DataWarning` states the cost from 2,000 on; more than 10,000
    are refused. That growth is the curse of dimensionality: beyond two inputs, add functions of one
    or two inputs instead.

    Where no row falls within reach of a product its coefficient is not determined. Among all least
    squares solutions the one with the least penalty is taken (the limit of a vanishing `alpha`),
    and df counts what the rows determine. Leave-one-out keeps the knots where they are. Penalised,
    df lies between 4 (for two inputs: products of straight lines) and the number of coefficients.

    Derivatives are those of the B-splines: up to the degree in each input, of which the highest
    jumps at the knots.

    Unlike the thin-plate spline it needs no common scale of the inputs, and depends on how the axes
    are turned. An input that does not vary is left out. Beyond the range of an input the surface
    goes on along its tangent there.

    References
    ----------
    .. [1] de Boor, C. (1978). A practical guide to splines, chapter 17. Springer.
    .. [2] Eilers, P. H. C. and Marx, B. D. (2003). Multivariate calibration with temperature
       interaction using two-dimensional penalized signal regression. Chemometrics and Intelligent
       Laboratory Systems 66, 159-174.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(400, 2))
    >>> y = np.sin(5 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=400)
    >>> model = TensorSpline(2).fit(X, y)
    >>> round(model.df_, 6), model.coef_.shape
    (36.0, (6, 6))
    >>> TensorSpline().fit(X, y).n_knots_
    0
    """

    knob: ClassVar[str] = "n_knots"
    params: ClassVar[Mapping[str, Parameter]] = {
        "n_knots": Auto(Integer(0, None), help="number of interior knots of each input"),
        "degree": Integer(1, None, help="degree of the B-splines"),
        "knots": Anything(help="'quantile', 'even', or the interior knots of each input"),
        "alpha": Auto(Real(0, None, log=True), help="strength of the penalty"),
        "max_knots": Auto(Integer(0, None), help="most knots on the path"),
        "select": Rule(),
    }
    card: ClassVar[Card] = Card(
        method="tensor_spline",
        title="Tensor product spline",
        task="regression",
        strengths=(
            "A smooth surface over two inputs of any units, interactions and all.",
            "Few coefficients, whatever the number of rows.",
            "Plain least squares: tests and criteria for linear models hold.",
        ),
        weaknesses=(
            "The number of coefficients grows with the power of the number of inputs.",
            "Corners without rows are guesses.",
            "Depends on how the axes are turned.",
        ),
        assumptions=(
            "The mean of the response is near a piecewise polynomial of each input, with all "
            "their products.",
            NOISE,
            FIXED_KNOB,
        ),
        cost="n knots^p + knots^(3 p)",
        source="D122-D126",
        n_inputs=3,
    )

    def __init__(
        self,
        n_knots: int | str = "auto",
        *,
        degree: int = 3,
        knots: Any = "quantile",
        alpha: float | str = 0.0,
        max_knots: int | str = "auto",
        select: str = "one_se",
    ) -> None:
        self.n_knots = n_knots
        self.degree = degree
        self.knots = knots
        self.alpha = alpha
        self.max_knots = max_knots
        self.select = select

    def _check_params(self) -> None:
        super()._check_params()
        check_knot_choice(self, "a list with the interior knots of each input")

    def _prepare(self, rows: Rows) -> _TensorWork:
        scaling = unit_scaling(rows.X)
        points = make_points(scaling(rows.X), rows.y, rows.weight)
        m, p = points.u.shape
        degree = int(self.degree)
        while degree > 1 and 2 * (degree + 1) ** p > m:
            degree -= 1
        return _TensorWork(rows, scaling, points, degree)

    def _given(self, work: _TensorWork) -> dict[str, Any] | None:
        if isinstance(self.knots, str):
            return super()._given(work)
        return {"n_knots": max(map(len, self._given_knots(work.scaling, work.rows.X.shape[1])))}

    def _given_knots(self, scaling: Scaling, p: int) -> list[FloatArray]:
        """Return the knots that were given, on the unit scale."""
        if not isinstance(self.knots, list | tuple) or len(self.knots) != p:
            raise InputError(f"knots must be a list with the interior knots of each of {p} inputs.")
        found = []
        for k, j in enumerate(scaling.columns):
            low, width = scaling.center[k], scaling.divisor[k]
            inside = check_knots(self.knots[j], low, low + width, name=f"knots[{j}]")
            found.append((inside - low) / width)
        return found

    def _fit_knots(
        self, work: _TensorWork, count: int, loss: Loss | None
    ) -> tuple[TensorFit, float]:
        """Return the decomposition for a number of knots, and the penalty for it."""
        if count not in work.fits:
            if isinstance(self.knots, str):
                u, weight = work.scaling(work.rows.X), work.rows.weight
                # Fewer where quantiles coincide.
                found = [np.unique(place_knots(x, count, self.knots, weight)) for x in u.T]
                inside = [each[(each > 0) & (each < 1)] for each in found]
            else:
                inside = self._given_knots(work.scaling, work.rows.X.shape[1])
            fit = self._decompose(work, inside)
            work.fits[count] = fit, self._alpha_for(work, fit, loss)
        return work.fits[count]

    def _decompose(self, work: _TensorWork, inside: list[FloatArray]) -> TensorFit:
        degree = work.degree
        basis = TensorBasis(tuple(clamped_knots(each, 0.0, 1.0, degree) for each in inside), degree)
        size = int(np.prod(basis.sizes))
        what = f"{' x '.join(map(str, basis.sizes))} = {size:,} coefficients"
        if size > _MOST_SIZE:
            raise InputError(
                f"{what} are too many for a dense decomposition (at most {_MOST_SIZE:,}); take "
                "fewer knots or fewer inputs."
            )
        if size > _SLOW_SIZE:
            warn_caller(
                f"{what} take {8e-9 * size**2:.1f} GB and {size**3:.0e} operations; take fewer "
                "knots or fewer inputs to be faster.",
                DataWarning,
            )
        return decompose_tensor(work.points, basis)

    def _alpha_for(self, work: _TensorWork, fit: TensorFit, loss: Loss | None) -> float:
        """Return the penalty: as given, or picked for these knots."""
        if not isinstance(self.alpha, str):
            return float(self.alpha)
        if not len(fit.axes.ratio):
            return 0.0
        alphas = penalty_grid(fit.axes.ratio, _N_ALPHAS)
        loss = SQUARED_ERROR if loss is None else loss
        scores = fit.scores(alphas, work.rows, loss)
        curve = loo_path(along("alpha", alphas), scores, work.rows, loss)
        return float(alphas[curve.best(self.select)])

    def _path(self, work: _TensorWork, values: Any, loss: Loss | None) -> Path:
        m, p = work.points.u.shape
        most = 0
        while (most + 2 + work.degree) ** p <= min(m / 2, _PATH_SIZE):
            most += 1
        found: list[tuple[float, int, Score]] = []
        for count in knot_counts(self, values, most):
            fit, alpha = self._fit_knots(work, count, loss)
            (score,) = fit.scores(np.array([alpha]), work.rows, loss)
            # A row that is fitted exactly whatever its response has no leave-one-out error.
            if values is None and found and score.leverage > 1 - 1e-9:
                continue
            found.append((score.df, count, score))
        # With a penalty picked for each number of knots, more knots need not be more complex.
        found.sort(key=lambda each: each[:2])
        settings = along(self.knob, [count for _, count, _ in found])
        return loo_path(settings, [score for *_, score in found], work.rows, loss)

    def _curves(self, work: _TensorWork, values: Sequence[Any], X_new: FloatArray) -> Array:
        u, columns = work.scaling(X_new), []
        for count in values:
            fit, alpha = self._fit_knots(work, count, None)
            columns.append(fit.basis(u) @ fit.axes.coef(np.array([alpha]))[:, 0])
        return np.column_stack(columns)

    def _settle(self, work: _TensorWork, setting: Mapping[str, Any]) -> None:
        scaling = work.scaling
        self.n_knots_, self.degree_ = int(setting["n_knots"]), work.degree
        fit, self.alpha_ = self._fit_knots(work, self.n_knots_, None)
        alpha, axes = np.array([self.alpha_]), fit.axes
        self._basis, self._Z, self._seen = fit.basis, axes.Z, axes.seen
        self._gain, self._flat = axes.gains(alpha)[:, 0], axes.coef(alpha)[:, 0]
        self.coef_ = self._flat.reshape(fit.basis.sizes)
        ends = zip(scaling.center, scaling.divisor, fit.basis.knots, strict=True)
        end = work.degree + 1
        self.knots_ = [low + width * each[end:-end] for low, width, each in ends]
        self._keep(scaling, fit, alpha, work.rows)

    def _check_orders(self, orders: tuple[int, ...]) -> None:
        if max(orders) > self.degree_:
            raise InputError(
                f"B-splines of degree {self.degree_} have derivatives up to that order in each "
                f"input; order {max(orders)} was asked for."
            )

    def _surface_at(self, u: FloatArray, orders: tuple[int, ...]) -> FloatArray:
        return np.asarray(self._basis(u, orders) @ self._flat)

    def _noise_at(self, u: FloatArray, orders: tuple[int, ...]) -> FloatArray:
        return np.asarray(self._basis(u, orders) @ (self._Z * (np.sqrt(self._seen) * self._gain)))

    def _matrix(self, X: FloatArray) -> FloatArray:
        at = self._basis(self._scaling(X)) @ (self._Z * self._gain)
        S = at @ (self._basis(self._points.u) @ self._Z).T
        return np.asarray(S[:, self._points.of_row] * self._pull)
