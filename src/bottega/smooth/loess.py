"""Loess: local polynomials in windows that hold a fixed fraction of the rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.errors import InputError
from bottega.core.params import Auto, Boolean, Choice, Integer, Parameter, Real
from bottega.core.path import Rule
from bottega.core.rows import Rows
from bottega.core.typing import FloatArray, IntArray
from bottega.smooth._local.local_smoother import LocalSmoother
from bottega.smooth._local.rows import LocalRows, TrainingFit, coefficient_count, make_rows
from bottega.smooth._loess.procedure import LoessFit, LoessSmoother, fit_loess
from bottega.smooth._path.scores import FIXED_KNOB, NOISE
from bottega.smooth.local_regression import LocalRegression

__all__ = ["Loess"]

_DIRECT_ROWS = 2_000  # up to this many rows surface="auto" is direct
_EXACT_ROWS = 1_000  # up to this many statistics="auto" of a direct surface are exact
_MOST_BLENDED = 4  # inputs: a cell has 2^p corners
_WIDEST, _NARROWEST = 2.0, 0.02  # spans of the path


@dataclass(frozen=True)
class _LoessWork:
    """The rows that count, the rows of the windows, and where the former are among the latter."""

    rows: Rows
    data: LocalRows
    place: IntArray
    degree: int


@documented_like(LocalRegression, without=("bandwidth_", "method_", "binning_error_"))
class Loess(LocalSmoother):
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
    standardize : bool, default=True
        Whether to divide each of several inputs by its standard deviation without the outer tenths
        of the rows, before distances are taken (R calls it normalize). One input is never scaled.
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
    n_spans : int, default=20
        Number of spans on the path.

    Attributes
    ----------
    span_ : float
        The span in use.
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
    _slope_errors: ClassVar[bool] = False
    params: ClassVar[Mapping[str, Parameter]] = {
        "span": Auto(Real(0, None, open_low=True, log=True), help="fraction of rows in a window"),
        "degree": Integer(0, 2, help="degree of the local polynomials"),
        "family": Choice("gaussian", "symmetric", help="least squares, or robust"),
        "standardize": Boolean(help="put several inputs on one scale"),
        "surface": Choice("auto", "direct", "interpolate", help="fit everywhere, or blend"),
        "cell": Real(0, None, open_low=True, help="share of a window's rows in a cell, at most"),
        "iterations": Integer(1, None, help="number of fits of the robust family"),
        "statistics": Choice("auto", "exact", "plain", help="whether to compute two_delta"),
        "span_of": Choice("weight", "rows", help="what the fraction counts"),
        "outside": LocalRegression.params["outside"],
        "n_spans": Integer(2, None, help="number of spans on the path"),
        "select": Rule(),
    }
    card: ClassVar[Card] = Card(
        method="loess",
        title="Loess",
        task="regression",
        strengths=(
            "Assumes only that the truth is smooth; any curve or low-dimensional surface.",
            "Windows widen where rows are sparse, so the fit is steady everywhere.",
            "Resists outliers with family='symmetric'.",
            "Exact standard errors and leave-one-out errors from the same pass.",
        ),
        weaknesses=(
            "Needs many rows in more than two or three inputs: near rows become rare.",
            "Keeps the training rows; there is no formula to write down.",
            "One window for all inputs: it does not select among them.",
            "Does not extrapolate: outside the convex hull of the rows it should not be used.",
        ),
        assumptions=(
            "The mean of the response is smooth: near inputs have similar responses, and a "
            "polynomial of low degree follows it within a window.",
            "Distances between rows mean something: the inputs share a scale, or are put on one.",
            NOISE,
            FIXED_KNOB,
        ),
        cost="n^2 span, or near n with a blended surface",
        source="D106-D107, D95-D101, D109",
        most_rows=100_000,
        n_inputs=4,
    )

    def __init__(
        self,
        span: float | str = "auto",
        *,
        degree: int = 2,
        family: str = "gaussian",
        standardize: bool = True,
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
        self.standardize = standardize
        self.surface = surface
        self.cell = cell
        self.iterations = iterations
        self.statistics = statistics
        self.span_of = span_of
        self.outside = outside
        self.n_spans = n_spans
        self.select = select

    def _prepare(self, rows: Rows) -> _LoessWork:
        by_weight = self.span_of == "weight"
        # Where the fraction counts rows, those of weight zero are among them.
        whole = rows if by_weight or rows.given is None else rows.given
        local = make_rows(
            whole.X, whole.y, whole.weight, standardize=self.standardize, by_weight=by_weight
        )
        place = np.empty(len(whole), dtype=np.intp)
        place[local.order] = np.arange(len(whole))
        if whole is not rows:
            place = place[rows.kept]
        return _LoessWork(rows, local, place, local.highest_degree(self.degree))

    def _settle(self, work: _LoessWork, setting: Mapping[str, Any]) -> None:
        rows, local = work.rows, work.data
        p = len(local.columns)
        self.span_, self.degree_ = float(setting["span"]), work.degree
        self._warn_degree(p)
        blends = self._blends(local)
        cheap = blends or len(local.y) <= _EXACT_ROWS
        two_delta = self.statistics == "exact" or (self.statistics == "auto" and cheap)
        fit = self._fit_at(work, self.span_, two_delta)
        training, place = fit.training, work.place
        self._warn_widened(training.widened if np.ptp(local.X) > 0 else 0, p, " or a lower degree")
        self.surface_ = "interpolate" if blends else "direct"
        self._keep(fit.surface, work)
        self._place = place
        self.robust_weight_ = np.ones(len(rows if rows.given is None else rows.given))
        self.robust_weight_[slice(None) if rows.kept is None else rows.kept] = fit.robust[place]
        self.statistics_ = fit.statistics()
        one, two = self.statistics_["one_delta"], self.statistics_["two_delta"]
        self.smoother_ = LoessSmoother(
            rows.y,
            training.fitted[place],
            training.leverage[place],
            weight=rows.weight,
            trace_sst=training.trace_sst,
            scale=self._path_scale,
            spread=fit.spread(one),
            lookup=one**2 / two if two > 0 else np.nan,
        )

    def _fit_at(self, work: _LoessWork, span: float, two_delta: bool = False) -> LoessFit:
        return fit_loess(
            work.data,
            span,
            work.degree,
            cell=self.cell if self._blends(work.data) else None,
            rounds=self.iterations if self.family == "symmetric" else 1,
            two_delta=two_delta,
        )

    def _blends(self, local: LocalRows) -> bool:
        """Return True if the surface is blended."""
        n, p = local.X.shape
        if self.surface == "auto":
            return n > _DIRECT_ROWS and p <= _MOST_BLENDED
        if self.surface == "interpolate" and p > _MOST_BLENDED:
            raise InputError(
                f"surface='interpolate' is for at most {_MOST_BLENDED} inputs that vary, and there "
                f"are {p}: use surface='direct', or fewer inputs."
            )
        return self.surface == "interpolate"

    def _training(self, work: _LoessWork, value: float) -> TrainingFit:
        return self._fit_at(work, value).training

    def _grid(self, work: _LoessWork) -> FloatArray:
        """Return spans from all rows at nearly equal weight to a few rows per coefficient."""
        local = work.data
        few = 3 * coefficient_count(local.X.shape[1], work.degree) / len(local.y)
        narrow = min(max(few, _NARROWEST), 1.0)
        return np.unique(np.geomspace(_WIDEST, narrow, self.n_spans).round(4))[::-1]

    def _surface_of(self, work: _LoessWork, value: float) -> Any:
        return self._fit_at(work, value).surface

    def _matrix(self, X: FloatArray) -> FloatArray:
        return np.asarray(self._surface.matrix(self._rows.scale(X))[:, self._place])
