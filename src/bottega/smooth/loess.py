"""Loess: local polynomials in windows that hold a fixed fraction of the rows."""

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bottega.core.base import LinearSmoother, Tuned
from bottega.core.cards import Card
from bottega.core.errors import DataWarning, InputError
from bottega.core.parallel import in_threads
from bottega.core.params import Auto, Boolean, Choice, Integer, Parameter, Real
from bottega.core.path import Path, Rule
from bottega.core.smoother import Smoother, gaussian_criteria, mean_and_se
from bottega.core.typing import Array, BoolArray, FloatArray
from bottega.core.weights import check_weight
from bottega.smooth._local.rows import LocalRows, coefficient_count, make_rows
from bottega.smooth._loess.procedure import LoessFit, fit_loess
from bottega.smooth._loess.smoother import LoessSmoother
from bottega.smooth._surface.hull import inside_hull

__all__ = ["Loess"]

_DIRECT_ROWS = 2_000  # up to this many rows surface="auto" is direct
_EXACT_ROWS = 1_000  # up to this many statistics="auto" of a direct surface are exact
_MOST_BLENDED = 4  # inputs: a cell has 2^p corners
_WIDEST, _NARROWEST = 2.0, 0.02  # spans of the path


class Loess(LinearSmoother, RegressorMixin, Tuned):
    r"""Local polynomial regression on the nearest fraction of the rows.

    The fit at a point x is the value there of the polynomial of degree `degree` that minimises

    .. math:: \sum_i w_i\, W\!\left(\frac{\|x_i - x\|}{h(x)}\right) (y_i - \text{poly}(x_i))^2,
        \qquad W(u) = (1 - u^3)_+^3

    with h(x) the distance within which the fraction `span` of the rows lies. The window widens
    where rows are sparse. For ``family="symmetric"`` the fit is repeated with bisquare weights of
    the residuals, so that outliers lose their pull.

    Parameters
    ----------
    span : float or "auto", default="auto"
        Fraction of the rows in each window; larger is smoother. Above one all rows are in, and the
        radius is the distance of the farthest times ``sqrt(span)``. ``"auto"`` picks from the path.
    degree : {0, 1, 2}, default=2
        Degree of the local polynomials; with 2, products of inputs are among the terms.
    family : {"gaussian", "symmetric"}, default="gaussian"
        Least squares, or robust by bisquare weights.
    normalize : bool, default=True
        Whether to divide each of several inputs by its standard deviation without the outer tenths
        of the rows, before distances are taken. One input is never scaled.
    surface : {"auto", "direct", "interpolate"}, default="auto"
        Fit at every point, or at the vertices of a k-d tree with a smooth surface blended from
        their values and slopes (up to 4 inputs). ``"auto"`` is direct up to 2,000 rows.
    cell : float, default=0.2
        For the blended surface: cells hold at most the share ``span * cell`` of the rows. Larger
        is faster and coarser.
    iterations : int, default=4
        Number of fits for ``family="symmetric"``, the first of them plain.
    statistics : {"auto", "exact", "plain"}, default="auto"
        Whether to compute ``two_delta``, on which only the degrees of freedom of intervals depend.
        For a direct surface it is the most costly: about ``n q^2`` operations; ``"auto"`` computes
        it up to 1,000 rows, and always for a blended surface.
    span_of : {"weight", "rows"}, default="weight"
        What the fraction counts when there are sample weights: the weight (a row of weight k is k
        copies of it, one of weight zero is not there), or rows whatever their weight, as R does.
    outside : {"extrapolate", "warn", "nan"}, default="extrapolate"
        What `predict` does with points outside the convex hull of the training rows: fit
        there as anywhere, do so and warn, or give nan.
    n_spans : int, default=20
        Number of spans on the path.
    select : str, default="one_se"
        Rule that picks from the path: ``"min"`` or ``"one_se"`` of the leave-one-out error, or a
        criterion (``"aic"``, ``"aicc"``, ``"bic"``, ``"hq"``, ``"gcv"``, ``"cp"``).

    Attributes
    ----------
    span_ : float
        The span in use.
    degree_ : int
        The degree in use: lower than `degree` where the rows lie at too few places for it.
    surface_ : {"direct", "interpolate"}
        How the surface is made.
    statistics_ : dict
        ``trace`` (tr S), ``enp`` (tr SS', the equivalent number of parameters), ``one_delta``
        (tr (I-S)(I-S)'), ``two_delta`` (the trace of its square; nan if not computed): of the
        smoother without robustness weights, as R gives them.
    robust_weight_ : ndarray of shape (n,)
        Robustness weights of the last fit; all one for ``family="gaussian"``.
    smoother_ : LoessSmoother
        What df, sigma, leverages, leave-one-out and the criteria follow from.
    path_ : Path
        The whole curve, when `span` is ``"auto"``.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (p,)
        Names of the columns, when X is a data frame.

    Notes
    -----
    **Cost.** Direct: each point meets the rows of its window, ``n^2 span`` in all, one input; with
    several inputs each point meets every row once to find its window. Leverages and standard
    errors come from the same pass. Blended: the vertices alone are fitted, about ``10 n``
    operations for any span. No n by n matrix is made.

    **Degrees of freedom** are tr S. The residual scale is
    :math:`s^2 = \sum w r^2 / \delta_1`; intervals use Student's t with
    :math:`\delta_1^2 / \delta_2` degrees of freedom where :math:`\delta_2` is known, n - df
    otherwise. For the robust family s is that of the pseudo-values, and `leverage_` and `df_` are
    of the smoother with the last robustness weights held fixed.

    **Leave-one-out** is exact for a direct surface with every window's radius (and robustness
    weight) held: a span refitted without the row would let another row in. For a blended surface
    the same formula is an approximation, as good as the blending.

    A window that holds fewer distinct rows than coefficients is widened, with a `DataWarning`.
    A window whose rows lie on a line (or another set where the polynomial is not unique) takes the
    shortest coefficients. An input that is constant is left out.

    Not for many inputs: in more than three or four the nearest fraction is not near. It keeps the
    training rows.

    References
    ----------
    .. [1] Cleveland, W. S. and Devlin, S. J. (1988). Locally weighted regression: an approach to
       regression analysis by local fitting. JASA 83, 596-610.
    .. [2] Cleveland, W. S., Grosse, E. and Shyu, W. M. (1992). Local regression models. In
       Statistical Models in S, chapter 8.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = np.sort(rng.uniform(0, 6, size=100))
    >>> y = np.sin(x) + 0.2 * rng.normal(size=100)
    >>> model = Loess(span=0.5).fit(x[:, None], y)
    >>> round(model.df_, 2), round(model.sigma_, 3)
    (6.85, 0.195)
    >>> mean, std = model.predict([[1.5], [4.5]], return_std=True)
    >>> mean.round(2), std.round(3)
    (array([ 1.  , -0.95]), array([0.047, 0.05 ]))
    >>> Loess().fit(x[:, None], y).span_
    0.7512
    """

    knob: ClassVar[str] = "span"
    params: ClassVar[Mapping[str, Parameter]] = {
        "span": Auto(Real(0, None, open_low=True, log=True), help="fraction of rows in a window"),
        "degree": Integer(0, 2, help="degree of the local polynomials"),
        "family": Choice("gaussian", "symmetric", help="least squares, or robust"),
        "normalize": Boolean(help="put several inputs on one scale"),
        "surface": Choice("auto", "direct", "interpolate", help="fit everywhere, or blend"),
        "cell": Real(0, None, open_low=True, help="share of a window's rows in a cell, at most"),
        "iterations": Integer(1, None, help="number of fits of the robust family"),
        "statistics": Choice("auto", "exact", "plain", help="whether to compute two_delta"),
        "span_of": Choice("weight", "rows", help="what the fraction counts"),
        "outside": Choice(
            "extrapolate", "warn", "nan", help="points outside the convex hull of the rows"
        ),
        "n_spans": Integer(2, None, help="number of spans on the path"),
        "select": Rule(),
    }
    card: ClassVar[Card] = Card(
        method="loess",
        title="Loess",
        task="regression",
        knob="span",
        strengths=(
            "Assumes only that the truth is smooth; any curve or low-dimensional surface.",
            "Windows widen where rows are sparse, so the fit is steady everywhere.",
            "Robust against outliers when asked.",
            "Exact standard errors and leave-one-out errors from the same pass.",
        ),
        weaknesses=(
            "Needs many rows in more than two or three inputs: near rows become rare.",
            "Keeps the training rows; there is no formula to write down.",
            "One window for all inputs: it does not select among them.",
        ),
        cost="n^2 span, or near n with a blended surface",
        source="D106-D107, D95-D101, D109",
        most_rows=100_000,
        n_inputs=4,
        weights=True,
        linear_smoother=True,
    )

    def __init__(
        self,
        span: float | str = "auto",
        *,
        degree: int = 2,
        family: str = "gaussian",
        normalize: bool = True,
        surface: str = "auto",
        cell: float = 0.2,
        iterations: int = 4,
        statistics: str = "auto",
        span_of: str = "weight",
        outside: str = "extrapolate",
        n_spans: int = 20,
        select: str = "one_se",
    ) -> None:
        self.span = span
        self.degree = degree
        self.family = family
        self.normalize = normalize
        self.surface = surface
        self.cell = cell
        self.iterations = iterations
        self.statistics = statistics
        self.span_of = span_of
        self.outside = outside
        self.n_spans = n_spans
        self.select = select

    # ---- fitting --------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the surface.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
            Inputs.
        y : array-like of shape (n,)
            Responses.
        sample_weight : array-like of shape (n,), optional
            Row weights: the variance of a response is sigma^2 over its weight.

        Returns
        -------
        Loess
            The fitted estimator.
        """
        self._check_params()
        self._remember_frame(X)
        X, y, weight = self._validate(X, y, sample_weight)
        rows = self._rows(X, y, weight)
        degree = rows.highest_degree(self.degree)
        self._warn_degree(rows, degree)
        self.span_ = float(self._resolve_knob(X, y, weight))
        self.degree_ = degree
        cheap = self._blends(rows) or len(rows.y) <= _EXACT_ROWS
        two_delta = self.statistics == "exact" or (self.statistics == "auto" and cheap)
        fit = self._fit_at(rows, self.span_, degree, two_delta)
        if fit.training.widened:
            self._warn_widened(fit.training.widened, rows)
        self.surface_ = "interpolate" if self._blends(rows) else "direct"
        self._columns, self._divisor, self._order = rows.columns, rows.divisor, rows.order
        self._n, self._fitted_surface = len(y), fit.surface
        self.robust_weight_ = np.ones(len(y))
        self.robust_weight_[rows.order] = fit.robust
        self.statistics_ = fit.statistics(two_delta=two_delta)
        self.smoother_ = self._smoother(fit, X, y, weight)
        return self

    def _validate(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        y = np.asarray(y, dtype=np.float64)
        return self._check_width(X), y, check_weight(sample_weight, len(y))

    def _points(self, X: Any) -> FloatArray:
        return self._check_width(validate_data(self, X, dtype=np.float64, reset=False))

    def _rows(self, X: FloatArray, y: FloatArray, weight: FloatArray | None) -> LocalRows:
        return make_rows(X, y, weight, normalize=self.normalize, by_weight=self.span_of == "weight")

    def _fit_at(
        self, rows: LocalRows, span: float, degree: int, two_delta: bool = False
    ) -> LoessFit:
        return fit_loess(
            rows,
            span,
            degree,
            cell=self.cell if self._blends(rows) else None,
            rounds=self.iterations if self.family == "symmetric" else 1,
            two_delta=two_delta,
        )

    def _blends(self, rows: LocalRows) -> bool:
        """Return True if the surface is blended."""
        n, p = rows.X.shape
        if self.surface == "auto":
            return n > _DIRECT_ROWS and p <= _MOST_BLENDED
        if self.surface == "interpolate" and p > _MOST_BLENDED:
            raise InputError(
                f"surface='interpolate' is for at most {_MOST_BLENDED} inputs that vary, and there "
                f"are {p}: use surface='direct', or fewer inputs."
            )
        return self.surface == "interpolate"

    def _smoother(
        self, fit: LoessFit, X: FloatArray, y: FloatArray, weight: FloatArray | None
    ) -> LoessSmoother:
        rows, training = fit.rows, fit.training
        one, two = self.statistics_["one_delta"], self.statistics_["two_delta"]
        spread = fit.spread(one)
        fitted, leverage = np.empty(len(y)), np.zeros(len(y))
        fitted[rows.order], leverage[rows.order] = training.fitted, training.leverage
        away = np.flatnonzero(weight == 0) if weight is not None else np.empty(0, dtype=np.intp)
        if len(away):
            fitted[away] = fit.surface.evaluate(X[away][:, rows.columns] / rows.divisor)[0][:, 0]
        return LoessSmoother(
            y,
            fitted,
            leverage,
            weight=weight,
            trace_sst=training.trace_sst,
            scale=self._path_scale if hasattr(self, "path_") else None,
            spread=spread,
            lookup=one**2 / two if two > 0 else np.nan,
        )

    def _warn_degree(self, rows: LocalRows, degree: int) -> None:
        if degree < self.degree:
            terms = coefficient_count(rows.X.shape[1], self.degree)
            warnings.warn(
                f"The rows lie at too few places for the {terms} coefficients of degree "
                f"{self.degree}: degree {degree} is used instead. Give more rows or a lower "
                "degree.",
                DataWarning,
                stacklevel=3,
            )

    def _warn_widened(self, widened: int, rows: LocalRows) -> None:
        if np.ptp(rows.X) == 0:
            return
        terms = coefficient_count(rows.X.shape[1], self.degree_)
        warnings.warn(
            f"At span={self.span_:.4g}, {widened} windows held fewer than {terms} distinct rows, "
            f"too few for degree {self.degree_}, and were widened until they did. Use a larger "
            "span or a lower degree.",
            DataWarning,
            stacklevel=3,
        )

    # ---- the path -------------------------------------------------------------------------------

    def _path(self, X: Any, y: Any, sample_weight: Any, values: Any) -> Path:
        rows = self._rows(X, y, sample_weight)
        degree = rows.highest_degree(self.degree)
        spans = self._grid(rows, degree) if values is None else _check_spans(values)
        results = in_threads(lambda span: self._fit_at(rows, span, degree).training, spans.tolist())
        weight = None if sample_weight is None else rows.weight
        smoothers = [Smoother(rows.y, r.fitted, r.leverage, weight=weight) for r in results]
        squared = np.column_stack([smoother.loo_residuals**2 for smoother in smoothers])
        with np.errstate(invalid="ignore"):  # a row that is alone in its window has no error
            error, error_se = mean_and_se(squared, weight)
        if values is None:
            # The method's own grid leaves out spans that are too narrow somewhere.
            good = np.isfinite(error) & ~np.array([r.widened > 0 for r in results])
            good = good if np.any(good) else np.isfinite(error)
            good = good if np.any(good) else spans == spans.max()
        else:
            good = np.ones(len(spans), dtype=bool)
        df = np.array([smoother.df for smoother in smoothers])
        chosen = np.flatnonzero(good)
        chosen = chosen[np.argsort(df[chosen], kind="stable")]
        df, rss = df[chosen], np.array([smoothers[i].rss for i in chosen])
        n = smoothers[0].n
        rich = np.flatnonzero((n - df >= 1) & (rss > 0))
        scale = float(np.sqrt(rss[rich[-1]] / (n - df[rich[-1]]))) if len(rich) else None
        self._path_scale = scale
        return Path(
            knob=self.knob,
            values=spans[chosen],
            df=df,
            train_error=rss / (len(rows.y) if weight is None else weight.sum()),
            error=error[chosen],
            error_se=error_se[chosen],
            estimate="loo",
            loss="squared error",
            criteria=gaussian_criteria(
                rss, df, n, scale=scale, log_weights=smoothers[0].log_weights
            ),
        )

    def _grid(self, rows: LocalRows, degree: int) -> FloatArray:
        """Return spans from all rows at nearly equal weight to a few rows a coefficient."""
        few = 3 * coefficient_count(rows.X.shape[1], degree) / len(rows.y)
        narrow = min(max(few, _NARROWEST), 1.0)
        return np.unique(np.geomspace(_WIDEST, narrow, self.n_spans).round(4))[::-1]

    def _path_predictions(
        self, X: Any, y: Any, sample_weight: Any, values: Array, X_new: Any
    ) -> Array:
        rows = self._rows(X, y, sample_weight)
        degree = rows.highest_degree(self.degree)
        Z = np.ascontiguousarray(X_new[:, rows.columns] / rows.divisor)
        columns = [
            self._fit_at(rows, span, degree).surface.evaluate(Z)[0][:, 0]
            for span in np.asarray(values, dtype=np.float64).tolist()
        ]
        return np.column_stack(columns)

    # ---- predicting -----------------------------------------------------------------------------

    def predict(self, X: Any, return_std: bool = False, derivative: int = 0) -> Any:
        """Return the fitted mean, or a derivative of it, at each row of X.

        Parameters
        ----------
        X : array-like of shape (m, p)
            Points.
        return_std : bool
            Whether to return the standard error of the fitted mean too.
        derivative : {0, 1, 2}
            0 for the mean; 1 (and for one input 2) for the slope (curvature) of the local
            polynomial, up to its degree.

        Returns
        -------
        mean : ndarray of shape (m,), or (m, p) for the slopes of several inputs
        std : ndarray of shape (m,)
            Only with `return_std`.
        """
        check_is_fitted(self)
        Z = self._scale(self._points(X))
        away = self._outside(Z)
        if derivative:
            if return_std:
                raise InputError("Standard errors are given for the mean alone: derivative=0.")
            found = self._derivative(Z, derivative)
        else:
            found = self._fitted_surface.evaluate(Z)[0][:, 0]
        std = self._error_at(Z) if return_std else None
        if away is not None:
            found[away] = np.nan
            if std is not None:
                std[away] = np.nan
        return found if std is None else (found, std)

    def _scale(self, X: FloatArray) -> FloatArray:
        return np.ascontiguousarray(X[:, self._columns] / self._divisor)

    def _error_at(self, Z: FloatArray) -> FloatArray:
        return np.asarray(
            self.smoother_.sigma * np.sqrt(self._fitted_surface.evaluate(Z, lengths=True)[1][:, 0])
        )

    def _standard_error(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return self._error_at(self._scale(self._points(X)))

    def _derivative(self, Z: FloatArray, order: int) -> FloatArray:
        p = self.n_features_in_
        if order > self.degree_ or (order == 2 and p > 1):
            raise InputError(
                f"derivative={order} is not available: the local polynomials have degree "
                f"{self.degree_}"
                + (", and of several inputs only slopes are given." if p > 1 else ".")
            )
        values, _ = self._fitted_surface.evaluate(Z, count=1 + max(order, Z.shape[1]))
        if p == 1:
            return values[:, order] / self._divisor[0] ** order
        slopes = np.zeros((len(Z), p))
        slopes[:, self._columns] = values[:, 1:] / self._divisor
        return slopes

    def matrix(self, X: Any) -> FloatArray:
        """Return the rows of the smoother at points: the weight of each training response.

        Parameters
        ----------
        X : array-like of shape (m, p)
            Points.

        Returns
        -------
        ndarray of shape (m, n)
            ``matrix(X) @ y`` is ``predict(X)``. For small n: it is the one thing here that is
            large.
        """
        check_is_fitted(self)
        Z = self._scale(self._points(X))
        found = np.zeros((len(Z), self._n))
        found[:, self._order] = self._fitted_surface.matrix(Z)
        return found

    def _outside(self, Z: FloatArray) -> BoolArray | None:
        """Return which points are to be nan, having warned where that was asked for."""
        if self.outside == "extrapolate":
            return None
        away = ~inside_hull(self._fitted_surface.fits.X, Z)
        if self.outside == "nan":
            return away
        if np.any(away):
            warnings.warn(
                f"{int(away.sum())} of {len(Z)} points lie outside the training rows: the fit "
                "there is an extrapolation, and its standard error does not say how wrong it may "
                "be. Use outside='nan' to leave them out.",
                DataWarning,
                stacklevel=3,
            )
        return None


def _check_spans(values: Any) -> FloatArray:
    spans = np.asarray(values, dtype=np.float64)
    if spans.ndim != 1 or not len(spans) or not np.all(np.isfinite(spans) & (spans > 0)):
        raise InputError(f"values must be a list of finite spans above zero; got {values!r}.")
    return np.sort(spans)[::-1]
