"""Local regression: a polynomial of its own at every point, near rows counting most."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bottega.core.base import LinearSmoother, Tuned
from bottega.core.cards import Card
from bottega.core.errors import DataWarning, InputError
from bottega.core.parallel import in_threads
from bottega.core.params import AnyOf, Auto, Boolean, Choice, Integer, Parameter, Real
from bottega.core.path import Path, Rule
from bottega.core.smoother import Smoother
from bottega.core.typing import Array, BoolArray, FloatArray
from bottega.core.weights import check_weight
from bottega.smooth._local.binned import BinnedRows
from bottega.smooth._local.exact import ExactRows, exact_rows
from bottega.smooth._local.plugin import plugin_bandwidth
from bottega.smooth._local.rows import TrainingFit, coefficient_count, make_rows
from bottega.smooth._local.scores import Score, score_of, smoother_path
from bottega.smooth._local.weights import KERNELS
from bottega.smooth._local.windows import Recipe

__all__ = ["LocalRegression"]

_EXACT_PLACES = 5_000  # up to this many distinct values method="auto" is exact
_NARROWEST = 0.002  # of the range: standard deviation of the narrowest window of the path
_WIDEST_FRACTION, _NARROWEST_FRACTION = 2.0, 0.02


@dataclass(frozen=True)
class _Bandwidths(Parameter):
    """One bandwidth for each input."""

    def accepts(self, value: Any) -> bool:
        if not isinstance(value, list | tuple | np.ndarray):
            return False
        return np.ndim(value) == 1 and len(value) > 0 and all(_POSITIVE.accepts(v) for v in value)

    def describe(self) -> str:
        return "a list of such numbers, one per input"

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": _POSITIVE.schema()}

    def parse(self, text: str) -> list[float]:
        return [float(part) for part in text.split(",")]


_POSITIVE = Real(0, None, open_low=True, log=True)


class LocalRegression(LinearSmoother, RegressorMixin, Tuned):
    r"""Weighted least squares about each point, with weights that fade with distance.

    The fit at a point x is the value there of the polynomial of degree `degree` that minimises

    .. math:: \sum_i w_i \, (y_i - \text{poly}(x_i))^2 \, w(x_i - x; h),
        \qquad w(t; h) = w_0(t/h)/h

    which is linear in the responses: :math:`\hat f(x) = s_h(x)^\top y`. For one input and degree 1
    that is :math:`n^{-1}\sum_i \{a_2 - a_1(x_i - x)\} w(x_i - x; h) y_i / (a_2 a_0 - a_1^2)` with
    :math:`a_r = n^{-1}\sum_i (x_i - x)^r w(x_i - x; h)`.

    Parameters
    ----------
    bandwidth : float, array-like of shape (p,), "auto" or "plugin", default="auto"
        Width h of the windows; larger is smoother. For one input in its own units. For several, a
        number is in units of their scales (see `normalize`), an array is one width per input in the
        input's own units. For ``kind="nearest"`` the fraction of the rows within h; above one, the
        distance of the farthest row times the root of it. ``"auto"`` picks from the path by
        `select`; ``"plugin"`` estimates the width of least asymptotic error (one input, degree 1:
        `plugin_bandwidth`).
    kernel : {"normal", "biquadratic", "tricube", "epanechnikov"}, default="normal"
        The weight function. For the normal h is the standard deviation; the others end at h and
        are cheaper. It matters little, once the bandwidth is right.
    degree : {0, 1, 2}, default=1
        Degree of the local polynomials; with 2, products of inputs are among the terms.
    kind : {"fixed", "nearest"}, default="fixed"
        One width everywhere, or one that reaches the nearest fraction of the rows.
    weighting : {"product", "spherical"}, default="product"
        For several inputs: the product of a weight in each, or the weight of the distance (for the
        normal these are the same).
    normalize : bool, default=True
        Whether to divide each of several inputs by its standard deviation without the outer tenths
        of the rows. One input is never scaled, nor are inputs with a bandwidth each.
    method : {"auto", "exact", "binned"}, default="auto"
        Fit at every point to all rows, or (one input) at the points of a grid to rows binned on
        it, and interpolate. ``"auto"`` bins above 5,000 distinct values of one input.
    n_bins : int or "auto", default="auto"
        Number of grid points. ``"auto"`` takes ten to a standard deviation of the weight function,
        between 401 and 20,001.
    outside : {"extrapolate", "warn", "nan"}, default="extrapolate"
        What `predict` does with points outside the convex hull of the training rows: fit there as
        anywhere, do so and warn, or give nan.
    n_bandwidths : int or "auto", default="auto"
        Number of values on the path; ``"auto"`` is 30 for one input, 10 for several, whose fits
        cost more and whose errors change less from one to the next.
    select : str, default="one_se"
        Rule that picks from the path: ``"min"`` or ``"one_se"`` of the leave-one-out error, or a
        criterion (``"aic"``, ``"aicc"``, ``"bic"``, ``"hq"``, ``"gcv"``, ``"cp"``).

    Attributes
    ----------
    bandwidth_ : float or ndarray of shape (p,)
        The bandwidth in use.
    degree_ : int
        The degree in use: lower than `degree` where the rows lie at too few places for it.
    method_ : {"exact", "binned"}
        How the fits are made.
    binning_error_ : float
        Bound on the error of binned fits against exact ones, at the rows; zero for exact fits. It
        is twice the largest change of the curve when the grid is twice as coarse; the error itself
        is about a sixth of that.
    smoother_ : Smoother
        What df, sigma, leverages, leave-one-out and the criteria follow from.
    path_ : Path
        The whole curve, when `bandwidth` is ``"auto"``.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (p,)
        Names of the columns, when X is a data frame.

    Notes
    -----
    **Cost.** Exact: each distinct value meets the rows of its window; value, leverage and length of
    the row of S come from the same sums, so each bandwidth of the path costs one fit. For one input
    wide windows are summed by boxes of rows, to the last digits, at a cost that does not grow with
    the window: about n operations per bandwidth in all. Several inputs, and nearest fractions, take
    up to n^2. Windows of the normal function end at 8.58 h, where the weight is 1e-16 of its peak.
    Binned: one pass over the rows, and at most ``n_bins^2``, whatever n.

    **Degrees of freedom** are tr S; all three definitions are in ``smoother_.df_definitions``. They
    fall from the number of distinct places to the number of coefficients as h grows.

    **Leave-one-out** is exact for a fixed bandwidth. For ``kind="nearest"`` it holds every
    window's width; for binned fits it is as good as the binning. If the bandwidth is picked by it,
    the fit is no longer linear in y, and its error a little flattered.

    A window with fewer places than coefficients is widened until it has enough, which one
    `DataWarning` says. An input that is constant is left out.

    Not for many inputs: in more than three or four hardly any rows are near. It keeps the training
    rows, or their bins.

    References
    ----------
    .. [1] Fan, J. and Gijbels, I. (1996). Local Polynomial Modelling and Its Applications.
    .. [2] Loader, C. (1999). Local Regression and Likelihood.
    .. [3] Fan, J. and Marron, J. S. (1994). Fast implementations of nonparametric curve estimators.
       Journal of Computational and Graphical Statistics 3, 35-56.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = np.sort(rng.uniform(0, 6, size=100))
    >>> y = np.sin(x) + 0.2 * rng.normal(size=100)
    >>> model = LocalRegression(bandwidth=0.4).fit(x[:, None], y)
    >>> round(model.df_, 2), round(float(model.sigma_), 3)
    (7.35, 0.2)
    >>> mean, std = model.predict([[1.5], [4.5]], return_std=True)
    >>> mean.round(2), std.round(3)
    (array([ 0.95, -0.89]), array([0.047, 0.04 ]))
    """

    knob: ClassVar[str] = "bandwidth"
    params: ClassVar[Mapping[str, Parameter]] = {
        "bandwidth": AnyOf(
            Choice("auto", "plugin"), _POSITIVE, _Bandwidths(), help="width of the windows"
        ),
        "kernel": Choice(*KERNELS, help="weight function"),
        "degree": Integer(0, 2, help="degree of the local polynomials"),
        "kind": Choice("fixed", "nearest", help="one width everywhere, or nearest fraction"),
        "weighting": Choice("product", "spherical", help="weights of several inputs"),
        "normalize": Boolean(help="put several inputs on one scale"),
        "method": Choice("auto", "exact", "binned", help="all rows, or rows binned on a grid"),
        "n_bins": Auto(Integer(11, None), help="number of grid points"),
        "outside": Choice("extrapolate", "warn", "nan", help="points outside the convex hull"),
        "n_bandwidths": Auto(Integer(2, None), help="number of values on the path"),
        "select": Rule(),
    }
    card: ClassVar[Card] = Card(
        method="local_regression",
        title="Local regression",
        task="regression",
        knob="bandwidth",
        strengths=(
            "Assumes only that the truth is smooth; any curve or low-dimensional surface.",
            "Exact leave-one-out errors for every bandwidth at the cost of a fit each.",
            "Millions of rows of one input in well under a second, with a stated error.",
        ),
        weaknesses=(
            "Needs many rows in more than two or three inputs: near rows become rare.",
            "One bandwidth everywhere: too smooth where the truth bends, too rough where not.",
            "Keeps the training rows or their bins; there is no formula to write down.",
        ),
        cost="n for one input, n^2 for several, per bandwidth",
        source="D95-D105, D108-D113, D123-D124",
        most_rows=20_000,
        weights=True,
        linear_smoother=True,
    )

    def __init__(
        self,
        bandwidth: Any = "auto",
        *,
        kernel: str = "normal",
        degree: int = 1,
        kind: str = "fixed",
        weighting: str = "product",
        normalize: bool = True,
        method: str = "auto",
        n_bins: int | str = "auto",
        outside: str = "extrapolate",
        n_bandwidths: int | str = "auto",
        select: str = "one_se",
    ) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.degree = degree
        self.kind = kind
        self.weighting = weighting
        self.normalize = normalize
        self.method = method
        self.n_bins = n_bins
        self.outside = outside
        self.n_bandwidths = n_bandwidths
        self.select = select

    # ---- fitting --------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the curve or surface.

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
        LocalRegression
            The fitted estimator.
        """
        self._check_params()
        self._remember_frame(X)
        given = self._validate(X, y, sample_weight)
        kept, X, y, weight = _counted(*given)
        data = self._data(X, y, weight, self._each(X.shape[1]))
        recipe = self._recipe(data, self.degree)
        self._warn_degree(data, recipe.degree)
        self.bandwidth_ = self._resolve_bandwidth(X, y, weight, data)
        self.degree_ = recipe.degree
        self.method_ = "binned" if isinstance(data, BinnedRows) else "exact"
        surface: Any
        surface, training = data.fit(recipe, self._scalar(self.bandwidth_))
        self._surface = surface
        self._rows, self._n, self._kept, self._first = data, len(given[1]), kept, X[0]
        self.binning_error_ = surface.error if self.method_ == "binned" else 0.0
        self._warn_widened(training.widened, data)
        self.smoother_ = self._smoother(training, *given)
        return self

    def _validate(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        return X, np.asarray(y, dtype=np.float64), check_weight(sample_weight, len(y))

    def _data(
        self,
        X: FloatArray,
        y: FloatArray,
        weight: FloatArray | None,
        each: FloatArray | None = None,
    ) -> ExactRows | BinnedRows:
        """Return the rows ready to be fitted, exact or binned.

        `each` is the bandwidth of each input, which is then its unit.
        """
        line = X.shape[1] == 1 and np.ptp(X) > 0
        if self.method == "binned" and not line:
            raise InputError(
                "method='binned' is for one input that varies; use method='exact', or one column."
            )
        if self.method == "binned" or (self.method == "auto" and line and _many_places(X[:, 0])):
            bins = None if isinstance(self.n_bins, str) else int(self.n_bins)
            unit = np.ones(1) if each is None else each
            return BinnedRows(
                np.ascontiguousarray(X[:, 0] / unit),
                np.ascontiguousarray(y),
                np.ones(1) if weight is None else weight,
                unit,
                bins,
            )
        rows = make_rows(X, y, weight, normalize=self.normalize and each is None, by_weight=True)
        if each is not None:
            unit = each[rows.columns]
            rows = replace(rows, X=np.ascontiguousarray(rows.X / unit), divisor=unit)
        return exact_rows(rows)

    def _each(self, p: int) -> FloatArray | None:
        """Return the bandwidth of each input, where they have one each."""
        if np.ndim(self.bandwidth) == 0:
            return None
        each = np.asarray(self.bandwidth, dtype=np.float64)
        if len(each) != p:
            raise InputError(
                f"bandwidth has {len(each)} numbers and X has {p} columns: give one per input, or "
                "a single number."
            )
        if self.kind == "nearest":
            raise InputError("kind='nearest' takes one fraction for all inputs; got an array.")
        return each

    def _recipe(self, data: ExactRows | BinnedRows, degree: int) -> Recipe:
        return Recipe(
            self.kernel,
            data.highest_degree(degree),
            self.kind == "nearest",
            self.weighting == "product",
        )

    def _resolve_bandwidth(
        self, X: FloatArray, y: FloatArray, weight: FloatArray | None, data: ExactRows | BinnedRows
    ) -> Any:
        if isinstance(self.bandwidth, str) and self.bandwidth == "plugin":
            self.__dict__.pop("path_", None)
            if len(data.columns) != 1 or self.kind != "fixed" or self.degree != 1:
                raise InputError(
                    "bandwidth='plugin' is for one input, kind='fixed' and degree=1; use 'auto', "
                    "or give a number."
                )
            return plugin_bandwidth(
                X[:, data.columns[0]], y, kernel=self.kernel, sample_weight=weight
            )
        found = self._resolve_knob(X, y, weight)
        return float(found) if np.ndim(found) == 0 else np.array(found, dtype=np.float64)

    @staticmethod
    def _scalar(bandwidth: Any) -> float:
        """Return the bandwidth on the scale of the rows: one where each input has its own."""
        return float(bandwidth) if np.ndim(bandwidth) == 0 else 1.0

    def _smoother(
        self,
        training: TrainingFit,
        X: FloatArray,
        y: FloatArray,
        weight: FloatArray | None,
    ) -> Smoother:
        fitted, leverage = np.empty(len(y)), np.zeros(len(y))
        fitted[self._kept], leverage[self._kept] = training.fitted, training.leverage
        away = np.flatnonzero(weight == 0) if weight is not None else ()
        if len(away):
            fitted[away] = self._surface.evaluate(self._scale(X[away]))[0][:, 0]
        return Smoother(
            y,
            fitted,
            leverage,
            weight=weight,
            trace_sst=training.trace_sst,
            scale=self._path_scale if hasattr(self, "path_") else None,
        )

    def _warn_degree(self, data: ExactRows | BinnedRows, degree: int) -> None:
        if degree < self.degree:
            terms = coefficient_count(len(data.columns), self.degree)
            warnings.warn(
                f"The rows lie at too few places for the {terms} coefficients of degree "
                f"{self.degree}: degree {degree} is used instead. Give more rows or a lower "
                "degree.",
                DataWarning,
                stacklevel=3,
            )

    def _warn_widened(self, widened: int, data: ExactRows | BinnedRows) -> None:
        if widened:
            terms = coefficient_count(len(data.columns), self.degree_)
            warnings.warn(
                f"At bandwidth={self.bandwidth_!r}, {widened} windows held fewer than {terms} "
                f"distinct rows, too few for degree {self.degree_}, and were widened until they "
                "did. Use a larger bandwidth, a lower degree, or kind='nearest'.",
                DataWarning,
                stacklevel=3,
            )

    # ---- the path -------------------------------------------------------------------------------

    def _path(self, X: Any, y: Any, sample_weight: Any, values: Any) -> Path:
        _, X, rows, weight = _counted(X, y, sample_weight)
        data = self._data(X, rows, weight)
        recipe = self._recipe(data, self.degree)
        grid = self._grid(data, recipe, len(rows)) if values is None else _check_values(values)
        spare = data.spare(recipe)

        def score(value: float) -> Score:
            training = data.fit(recipe, value, lengths=False, spare=spare)[1]
            smoother = Smoother(rows, training.fitted, training.leverage, weight=weight)
            return score_of(smoother, fine=training.widened == 0)

        scores = in_threads(score, grid.tolist(), stage="bandwidths")
        curve, self._path_scale = smoother_path(
            self.knob, grid, scores, weight=weight, n=len(rows), drop=values is None
        )
        return curve

    def _grid(self, data: ExactRows | BinnedRows, recipe: Recipe, n: int) -> FloatArray:
        """Return bandwidths from nearly the global polynomial to a few rows per window."""
        p = len(data.columns)
        k = coefficient_count(p, recipe.degree)
        kernel = KERNELS[self.kernel]
        automatic = isinstance(self.n_bandwidths, str)
        count = (30 if p == 1 else 10) if automatic else int(self.n_bandwidths)
        if recipe.nearest:
            few = (3 * k if kernel.reach == 1 else k) / n
            narrow = min(max(few, _NARROWEST_FRACTION), 1.0)
            found = np.geomspace(_WIDEST_FRACTION, narrow, count)
        else:
            narrow = float(np.clip((k / n) ** (1 / p) / p, _NARROWEST, 0.5))
            unit = (data.widest or 1.0) / kernel.deviation
            found = np.geomspace(unit, unit * narrow, count)
        # Few digits, so that a value can be written down and given again.
        return np.array(list(dict.fromkeys(float(f"{value:.5g}") for value in found)))

    def _path_predictions(
        self, X: Any, y: Any, sample_weight: Any, values: Array, X_new: Any
    ) -> Array:
        data = self._data(*_counted(X, y, sample_weight)[1:])
        recipe = self._recipe(data, self.degree)
        Z = np.ascontiguousarray(X_new[:, data.columns] / data.divisor)
        columns = [
            data.fit(recipe, value, lengths=False)[0].evaluate(Z)[0][:, 0]
            for value in np.asarray(values, dtype=np.float64).tolist()
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
            Whether to return the standard error too. It is about noise alone: nothing about bias.
        derivative : {0, 1, 2}
            0 for the mean; 1 (and for one input 2) for the slope (curvature) of the local
            polynomial, up to its degree.

        Returns
        -------
        mean : ndarray of shape (m,), or (m, p) for the slopes of several inputs
        std : ndarray of the same shape
            Only with `return_std`.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        self._check_derivative(derivative)
        away = self._outside(X)
        p = self.n_features_in_
        line = len(self._rows.columns) == 1
        count = 1 if not derivative else 1 + (derivative if line else len(self._rows.columns))
        found, length = self._surface.evaluate(self._scale(X), lengths=return_std, count=count)
        with np.errstate(invalid="ignore"):
            both = np.stack([found, self.smoother_.sigma * np.sqrt(length)])
        if not derivative:
            answer = both[:, :, 0]
        elif p == 1:
            answer = both[:, :, derivative] / self._rows.divisor[0] ** derivative
        else:
            answer = np.zeros((2, len(X), p))
            answer[:, :, self._rows.columns] = (
                both[:, :, 1 : 1 + len(self._rows.columns)] / self._rows.divisor
            )
        if away is not None:
            answer[:, away] = np.nan
        return (answer[0], answer[1]) if return_std else answer[0]

    def _check_derivative(self, derivative: Any) -> None:
        several = self.n_features_in_ > 1
        if derivative not in range(min(self.degree_, 1 if several else 2) + 1):
            raise InputError(
                f"derivative={derivative!r} is not available: the local polynomials have "
                f"degree {self.degree_}"
                + (", and of several inputs only slopes are given." if several else ".")
            )

    def _scale(self, X: FloatArray) -> FloatArray:
        return np.ascontiguousarray(X[:, self._rows.columns] / self._rows.divisor)

    def _standard_error(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        Z = self._scale(validate_data(self, X, dtype=np.float64, reset=False))
        length = self._surface.evaluate(Z, lengths=True)[1][:, 0]
        return np.asarray(self.smoother_.sigma * np.sqrt(length))

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
        Z = self._scale(validate_data(self, X, dtype=np.float64, reset=False))
        found = np.zeros((len(Z), self._n))
        found[:, self._kept] = self._rows.matrix(self._surface, Z)
        return found

    def _outside(self, X: FloatArray) -> BoolArray | None:
        """Return which points are to be nan, having warned where that was asked for."""
        if self.outside == "extrapolate":
            return None
        still = np.setdiff1d(np.arange(X.shape[1]), self._rows.columns)  # inputs that do not vary
        away = ~self._rows.inside(self._scale(X)) | np.any(
            X[:, still] != self._first[still], axis=1
        )
        if self.outside == "nan":
            return np.asarray(away)
        if np.any(away):
            warnings.warn(
                f"{int(away.sum())} of {len(X)} points lie outside the convex hull of the training "
                "rows: the fit there is an extrapolation, and its standard error does not say how "
                "wrong it may be. Use outside='nan' to leave them out.",
                DataWarning,
                stacklevel=3,
            )
        return None


def _counted(X: Any, y: Any, weight: Any) -> tuple[Any, Any, Any, Any]:
    """Return the positions and the rows of positive weight."""
    if weight is None:
        return np.arange(len(y)), X, y, weight
    kept = np.flatnonzero(weight > 0)
    return kept, X[kept], y[kept], weight[kept]


def _many_places(x: FloatArray) -> bool:
    """Return True if there are more distinct values than exact fits are for."""
    some = x[: 4 * _EXACT_PLACES]  # enough to see it, most often
    if len(np.unique(some)) > _EXACT_PLACES:
        return True
    return len(x) > len(some) and int(np.count_nonzero(np.diff(np.sort(x)))) >= _EXACT_PLACES


def _check_values(values: Any) -> FloatArray:
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 1 or not len(found) or not np.all(np.isfinite(found) & (found > 0)):
        raise InputError(f"values must be a list of finite bandwidths above zero; got {values!r}.")
    return np.sort(found)[::-1]
