"""The tensor product spline."""

import warnings
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np

from bottega.basis.spline_functions import check_knots, clamped_knots, place_knots
from bottega.core.cards import Card
from bottega.core.errors import DataWarning, InputError, ParameterError
from bottega.core.params import Anything, Auto, Integer, Parameter, Real
from bottega.core.path import Path, Rule
from bottega.core.smoother import Smoother
from bottega.core.typing import Array, FloatArray
from bottega.smooth._surface.points import DistinctPoints, Scaling, make_points, unit_scaling
from bottega.smooth._surface.surface import Surface, error_curve
from bottega.smooth._surface.tensor import TensorBasis, TensorFit, decompose_tensor

__all__ = ["TensorSpline"]

_PATH_SIZE = 400  # products on the path, at most
_SLOW_SIZE = 2_000  # products from which on a warning states the cost
_MOST_SIZE = 10_000  # products that are refused
_N_ALPHAS = 40


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
    select : str, default="one_se"
        Rule that picks from the path: ``"min"`` or ``"one_se"`` of the leave-one-out error, or a
        criterion (``"aic"``, ``"aicc"``, ``"bic"``, ``"hq"``, ``"gcv"``, ``"cp"``).

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
    smoother_ : Smoother
        What df, sigma, leverages, leave-one-out and the criteria follow from.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (p,)
        Names of the columns, when X is a data frame.

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
        knob="n_knots",
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
        cost="n knots^p + knots^(3 p)",
        source="D122-D126",
        n_inputs=3,
        weights=True,
        linear_smoother=True,
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

    # ---- fitting --------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the surface.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
            Inputs, at most three.
        y : array-like of shape (n,)
            Responses.
        sample_weight : array-like of shape (n,), optional
            Row weights.

        Returns
        -------
        TensorSpline
            The fitted estimator.
        """
        self._check_params()
        self._remember_frame(X)
        X, y, weight = self._validate(X, y, sample_weight)
        scaling, points = self._gather(X, y, weight)
        self.__dict__.pop("path_", None)  # of an earlier fit
        scale = None
        if isinstance(self.knots, str):
            count = self.n_knots
            if isinstance(count, str):
                self.path_, scale = self._curve(X, y, weight, None)
                count = self.path_.values[self.path_.best(self.select)]
            self.n_knots_ = int(count)
            inside = self._placed(scaling(X), weight, self.n_knots_)
        else:
            inside = self._given(scaling)
            self.n_knots_ = max(len(each) for each in inside)
        self.degree_ = self._usable_degree(points)
        fit = self._decompose(points, inside)
        self.alpha_ = self._settle_alpha(fit, y, weight)
        alpha = np.array([self.alpha_])
        self._scaling, self._basis, self._points = scaling, fit.basis, points
        self._Z, self._seen, self._gain = fit.Z, fit.seen, fit.gains(alpha)[:, 0]
        ends = zip(scaling.center, scaling.divisor, inside, strict=True)
        self.knots_ = [low + width * each for low, width, each in ends]
        self._flat = fit.coef(alpha)[:, 0]
        self.coef_ = self._flat.reshape(fit.basis.sizes)
        fitted, leverage = next(self._at_rows(fit, weight, alpha))
        away = points.of_row < 0
        if np.any(away):
            fitted[away] = self._evaluate(X[away])
        share = fit.shares(alpha)[:, 0]
        self.smoother_ = Smoother(
            y,
            fitted,
            leverage,
            df=float(share.sum()),
            weight=weight,
            trace_sst=float(share @ share),
            scale=scale,
        )
        return self

    def _gather(
        self, X: FloatArray, y: FloatArray, weight: FloatArray | None
    ) -> tuple[Scaling, DistinctPoints]:
        scaling = unit_scaling(X, weight)
        return scaling, make_points(scaling(X), y, weight)

    def _usable_degree(self, points: DistinctPoints) -> int:
        m, p = points.u.shape
        degree = int(self.degree)
        while degree > 1 and 2 * (degree + 1) ** p > m:
            degree -= 1
        return degree

    def _placed(self, u: FloatArray, weight: FloatArray | None, count: int) -> list[FloatArray]:
        """Return `count` interior knots of each input, fewer where quantiles coincide."""
        if not isinstance(self.knots, str) or self.knots not in ("quantile", "even"):
            raise ParameterError(
                f"TensorSpline: knots={self.knots!r} is not allowed; knots must be 'quantile' or "
                "'even', or for a single fit a list with the interior knots of each input."
            )
        if weight is not None:
            u, weight = u[weight > 0], weight[weight > 0]
        found = [np.unique(place_knots(column, count, self.knots, weight)) for column in u.T]
        return [each[(each > 0) & (each < 1)] for each in found]

    def _given(self, scaling: Scaling) -> list[FloatArray]:
        """Return the knots that were given, on the unit scale."""
        if not isinstance(self.n_knots, str):
            raise ParameterError(
                f"TensorSpline: n_knots={self.n_knots!r} and the knots were both given; give one."
            )
        p = self.n_features_in_
        if not isinstance(self.knots, list | tuple) or len(self.knots) != p:
            raise InputError(f"knots must be a list with the interior knots of each of {p} inputs.")
        found = []
        for k, j in enumerate(scaling.columns):
            low, width = scaling.center[k], scaling.divisor[k]
            inside = check_knots(self.knots[j], low, low + width, name=f"knots[{j}]")
            found.append((inside - low) / width)
        return found

    def _decompose(self, points: DistinctPoints, inside: list[FloatArray]) -> TensorFit:
        degree = self._usable_degree(points)
        basis = TensorBasis(tuple(clamped_knots(each, 0.0, 1.0, degree) for each in inside), degree)
        size = int(np.prod(basis.sizes))
        what = f"{' x '.join(map(str, basis.sizes))} = {size:,} coefficients"
        if size > _MOST_SIZE:
            raise InputError(
                f"{what} are too many for a dense decomposition (at most {_MOST_SIZE:,}); take "
                "fewer knots or fewer inputs."
            )
        if size > _SLOW_SIZE:
            warnings.warn(
                f"{what} take {8e-9 * size**2:.1f} GB and {size**3:.0e} operations; take fewer "
                "knots or fewer inputs to be faster.",
                DataWarning,
                stacklevel=3,
            )
        return decompose_tensor(points, basis)

    def _settle_alpha(self, fit: TensorFit, y: FloatArray, weight: FloatArray | None) -> float:
        """Return the penalty: as given, or picked for these knots."""
        if not isinstance(self.alpha, str):
            return float(self.alpha)
        felt = (fit.rough > 0) & (fit.seen > 0)
        ratio = fit.seen[felt] / fit.rough[felt]
        if not len(ratio):
            return 0.0
        top = 1e2 * ratio.max()
        alphas = np.geomspace(top, max(1e-2 * ratio.min(), 1e-10 * top), _N_ALPHAS)
        df = fit.shares(alphas).sum(axis=0)
        curve, _ = error_curve("alpha", alphas, self._at_rows(fit, weight, alphas), df, y, weight)
        return float(alphas[curve.best(self.select)])

    def _at_rows(
        self, fit: TensorFit, weight: FloatArray | None, alphas: FloatArray
    ) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Give fitted values and leverages of the rows, one penalty at a time.

        Those of rows of weight zero mean nothing and count for nothing.
        """
        point = fit.points.of_row
        share = (1.0 if weight is None else weight) / fit.points.root[point] ** 2
        fitted, leverage = fit.at_points(alphas)
        for i in range(len(alphas)):
            yield fitted[point, i], share * leverage[point, i]

    # ---- the path -------------------------------------------------------------------------------

    def _counts(self, points: DistinctPoints, values: Any) -> list[int]:
        if values is not None:
            given = np.asarray(values)
            if given.ndim != 1 or not len(given) or np.any(given < 0) or np.any(given % 1):
                raise InputError(f"values must be a list of numbers of knots; got {values!r}.")
            return [int(count) for count in given]
        if not isinstance(self.max_knots, str):
            return list(range(int(self.max_knots) + 1))
        m, p = points.u.shape
        first = self._usable_degree(points) + 1
        most = 0
        while (most + 1 + first) ** p <= min(m / 2, _PATH_SIZE):
            most += 1
        return list(range(most + 1))

    def _path(self, X: Any, y: Any, sample_weight: Any, values: Any) -> Path:
        return self._curve(X, y, sample_weight, values)[0]

    def _curve(self, X: Any, y: Any, weight: Any, values: Any) -> tuple[Path, float | None]:
        scaling, points = self._gather(X, y, weight)
        u = scaling(X)
        found: list[tuple[float, int, FloatArray, FloatArray]] = []
        for count in self._counts(points, values):
            fit = self._decompose(points, self._placed(u, weight, count))
            alpha = np.array([self._settle_alpha(fit, y, weight)])
            fitted, leverage = next(self._at_rows(fit, weight, alpha))
            # A row that is fitted exactly whatever its response has no leave-one-out error.
            if values is None and found and leverage.max() > 1 - 1e-9:
                continue
            found.append((float(fit.shares(alpha).sum()), count, fitted, leverage))
        # With a penalty picked for each number of knots, more knots need not be more complex.
        found.sort(key=lambda each: each[:2])
        return error_curve(
            self.knob,
            np.array([each[1] for each in found]),
            (each[2:] for each in found),
            np.array([each[0] for each in found]),
            y,
            weight,
        )

    def _path_predictions(
        self, X: Any, y: Any, sample_weight: Any, values: Array, X_new: Any
    ) -> Array:
        scaling, points = self._gather(X, y, sample_weight)
        u, u_new = scaling(X), scaling(X_new)
        columns = []
        for count in values:
            fit = self._decompose(points, self._placed(u, sample_weight, int(count)))
            alpha = np.array([self._settle_alpha(fit, y, sample_weight)])
            columns.append(fit.basis(u_new) @ fit.coef(alpha)[:, 0])
        return np.column_stack(columns)

    # ---- predicting -----------------------------------------------------------------------------

    def _evaluate(self, X: FloatArray) -> FloatArray:
        return np.asarray(self._basis(self._scaling(X)) @ self._flat)

    def _noise_rows(self, X: FloatArray) -> FloatArray:
        return np.asarray(
            self._basis(self._scaling(X)) @ (self._Z * (np.sqrt(self._seen) * self._gain))
        )

    def _rows_of_s(self, X: FloatArray) -> FloatArray:
        at = self._basis(self._scaling(X)) @ (self._Z * self._gain)
        S = at @ (self._basis(self._points.u) @ self._Z).T
        weight = self.smoother_.weight
        return np.asarray(S[:, self._points.of_row] * (1.0 if weight is None else weight))
