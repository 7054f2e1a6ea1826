"""Local regression: a polynomial of its own at every point, near rows counting most."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from bottega.core.cards import Card
from bottega.core.errors import InputError
from bottega.core.params import AnyOf, Auto, Boolean, Choice, Integer, Parameter, Real
from bottega.core.path import Rule
from bottega.core.rows import Rows
from bottega.core.typing import FloatArray
from bottega.smooth._local.binned import BinnedInput
from bottega.smooth._local.local_smoother import LocalSmoother
from bottega.smooth._local.plugin import plugin_bandwidth
from bottega.smooth._local.rows import TrainingFit, coefficient_count
from bottega.smooth._local.weights import KERNELS
from bottega.smooth._local.windows import Recipe
from bottega.smooth._local.work import LocalWork, local_work
from bottega.smooth._path.scores import FIXED_KNOB, NOISE

__all__ = ["LocalRegression"]

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


class LocalRegression(LocalSmoother):
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
        number is in units of their scales (see `standardize`), an array is one width per input in
        the input's own units. For ``kind="nearest"`` the fraction of the rows within h; above one,
        the distance of the farthest row times the root of it. ``"auto"`` picks from the path by
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
    standardize : bool, default=True
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
        "standardize": Boolean(help="put several inputs on one scale"),
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
        strengths=(
            "Assumes only that the truth is smooth; any curve or low-dimensional surface.",
            "Explicit: one linear operation on the responses, without iterations.",
            "Exact leave-one-out errors for every bandwidth at the cost of a fit each.",
            "Millions of rows of one input in well under a second, with a stated error.",
        ),
        weaknesses=(
            "Needs many rows in more than two or three inputs: near rows become rare.",
            "One bandwidth everywhere: too smooth where the truth bends, too rough where not.",
            "Keeps the training rows or their bins; there is no formula to write down.",
            "Does not extrapolate: outside the convex hull of the rows it should not be used.",
        ),
        assumptions=(
            "The mean of the response is smooth: near inputs have similar responses, and a line "
            "(or the polynomial of the degree) follows it within a window.",
            "Several inputs share a scale, or are put on one.",
            NOISE,
            FIXED_KNOB,
        ),
        cost="n for one input, n^2 for several, per bandwidth",
        source="D95-D105, D108-D113, D123-D124",
        most_rows=20_000,
    )

    def __init__(
        self,
        bandwidth: Any = "auto",
        *,
        kernel: str = "normal",
        degree: int = 1,
        kind: str = "fixed",
        weighting: str = "product",
        standardize: bool = True,
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
        self.standardize = standardize
        self.method = method
        self.n_bins = n_bins
        self.outside = outside
        self.n_bandwidths = n_bandwidths
        self.select = select

    def _prepare(self, rows: Rows, each: Any = None) -> LocalWork:
        nearest, product = self.kind == "nearest", self.weighting == "product"
        recipe = Recipe(self.kernel, self.degree, nearest, product)
        bins = None if isinstance(self.n_bins, str) else int(self.n_bins)
        work = local_work(rows, recipe, self.method, bins, self.standardize, each)
        if np.ndim(self.bandwidth):
            return work
        return replace(work, spare=work.data.spare(work.recipe))  # for all bandwidths of a path

    def _given(self, work: LocalWork) -> dict[str, Any] | None:
        if not (isinstance(self.bandwidth, str) and self.bandwidth == "plugin"):
            return super()._given(work)
        rows, columns = work.rows, work.data.columns
        if len(columns) != 1 or self.kind != "fixed" or self.degree != 1:
            raise InputError(
                "bandwidth='plugin' is for one input, kind='fixed' and degree=1; use 'auto', or "
                "give a number."
            )
        x = rows.X[:, columns[0]]
        found = plugin_bandwidth(x, rows.y, kernel=self.kernel, sample_weight=rows.weight)
        return {"bandwidth": found}

    def _settle(self, work: LocalWork, setting: Mapping[str, Any]) -> None:
        bandwidth = setting["bandwidth"]
        each = np.ndim(bandwidth) > 0
        if each:
            work = self._prepare(work.rows, bandwidth)
        p = len(work.data.columns)
        self.bandwidth_ = np.array(bandwidth, dtype=np.float64) if each else float(bandwidth)
        self.degree_ = work.recipe.degree
        self.method_ = "binned" if isinstance(work.data, BinnedInput) else "exact"
        self._warn_degree(p)
        surface, training = work.fit(1.0 if each else float(bandwidth))
        self.binning_error_ = surface.error if self.method_ == "binned" else 0.0
        self._warn_widened(training.widened, p, ", a lower degree, or kind='nearest'")
        self._keep(surface, work)
        self._keep_smoother(work.rows, training.fitted, training.leverage, training.trace_sst)

    def _training(self, work: LocalWork, value: float) -> TrainingFit:
        found: TrainingFit = work.fit(value, lengths=False)[1]
        return found

    def _grid(self, work: LocalWork) -> FloatArray:
        """Return bandwidths from nearly the global polynomial to a few rows per window."""
        data, recipe, n = work.data, work.recipe, len(work.rows)
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

    def _surface_of(self, work: LocalWork, value: float) -> Any:
        return work.data.surface(work.recipe, value)

    def _matrix(self, X: FloatArray) -> FloatArray:
        return np.asarray(self._rows.matrix(self._surface, self._rows.scale(X)))
