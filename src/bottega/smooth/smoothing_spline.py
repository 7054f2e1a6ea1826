"""The cubic smoothing spline."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import optimize

from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.errors import InputError, ParameterError
from bottega.core.lists import Alphas, alphas_of
from bottega.core.loaded import insist_on_length
from bottega.core.losses import Loss
from bottega.core.params import AnyOf, Auto, Choice, Integer, OrNone, Parameter, Real
from bottega.core.path import RULES, Path
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray
from bottega.smooth._kernels import state_space as kernels
from bottega.smooth._path.scores import FIXED_KNOB, NOISE
from bottega.smooth._splines.knot_rows import KnotRows, knot_rows
from bottega.smooth._splines.one_input import OneInputSmoother
from bottega.smooth._splines.penalty_path import ThreadArrays, penalty_path, try_penalty
from bottega.smooth.pspline import PSpline

__all__ = ["SmoothingSpline"]

# With more distinct x than this, "auto" gathers rows in at most so many knots.
_ALL_KNOTS = 10_000
# The three traces cost more memory than the fit; beyond so many knots they are left out.
_TRACE_KNOTS = 1_000_000
# S has a column for each row.
_MATRIX_ROWS = 20_000


@documented_like(PSpline, without=("coef_", "knots_"))
class SmoothingSpline(OneInputSmoother):
    r"""The curve that balances closeness to the data against its own bending.

    .. math:: \min_f \sum_i w_i \{y_i - f(x_i)\}^2 + \alpha \int f''(x)^2\, dx

    over all functions with a second derivative. The solution is a natural cubic spline with a knot
    at every distinct x.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        Penalty on bending, :math:`\alpha`, in the units of x; larger is smoother. 0 passes through
        the mean response of every x; a very large one is the least squares line. ``"auto"`` picks
        from the path by the rule `select`.
    df : float, optional
        Equivalent degrees of freedom wanted, between 2 (a line) and the number of distinct x; the
        penalty that gives them is found. Only with ``alpha="auto"``.
    select : str, default="gcv"
        Rule that picks from the path: ``"min"`` or ``"one_se"`` of the leave-one-out error,
        ``"reml"`` (restricted maximum likelihood), or a criterion (``"gcv"``, ``"aic"``,
        ``"aicc"``, ``"bic"``, ``"hq"``, ``"cp"``).
    knots : {"auto", "all"} or int, default="auto"
        Every distinct x a knot, or at most so many knots: then rows near one another share one,
        at the mean of their x. ``"auto"`` is all up to 10,000 distinct x, else at most 10,000.
    variance : {"frequentist", "posterior"}, default="frequentist"
        What standard errors are of. ``"frequentist"``: the variance of the curve under new noise,
        :math:`\sigma^2 SS^\top`, which leaves out bias. ``"posterior"``: that of f given the data,
        when f'' is white noise beforehand; wider, and right on average over x.
    alphas : int or array-like, default=50
        Penalties on the path: how many, or which.

    Attributes
    ----------
    alpha_ : float
        The penalty in use.
    curve_ : CubicCurve
        The fitted curve: its knots, values, slopes and second derivatives.
    path_ : Path
        The whole curve of errors, when `alpha` is ``"auto"`` and `df` is not given.

    Notes
    -----
    A fit costs O(n log n) to sort and O(m) for m knots; each penalty on the path, with its exact
    leverages, O(n) more. Memory is linear too. The curve is computed as the posterior mean of an
    integrated Brownian motion, filtered from left to right and smoothed back, on x scaled to
    [0, 1]. Reinsch's pentadiagonal system, the usual way, has a condition that grows with the
    fourth power of the number of rows in a bandwidth and is lost from some 10,000 rows on; here one
    rounding grows like the first power, and the answer is the same whatever the unit of x.

    Rows with the same x become one of their mean and total weight; what they differ among
    themselves is kept in the residual sum of squares, the leave-one-out error and the criteria. The
    path ends with the penalties that minimise GCV, leave-one-out and REML, refined between points
    of its grid. GCV counts rows, not distinct x.

    With fewer knots than distinct x, no knot's rows lie farther apart than a share
    ``s = 2 / knots`` of the range d of x. The curve then moves by at most about
    :math:`\max|f''|\,(s d)^2/8`, plus a share ``s df`` of its own standard error: with 10,000
    knots 5e-9 :math:`d^2 \max|f''|`, and one hundredth of the standard error at 50 degrees of
    freedom. Leave-one-out then keeps the knots where they are.

    Beyond the data the curve goes on as a straight line. The third derivative jumps at every knot
    and means little by itself. Not for data with steps or kinks, nor for x of very different
    roughness: one penalty holds everywhere.

    References
    ----------
    .. [1] Wahba, G. (1978). Improper priors, spline smoothing and the problem of guarding against
       model errors in regression. Journal of the Royal Statistical Society B 40, 364-372.
    .. [2] Wecker, W. E. and Ansley, C. F. (1983). The signal extraction approach to nonlinear
       regression and spline smoothing. Journal of the American Statistical Association 78, 81-89.
    .. [3] Green, P. J. and Silverman, B. W. (1994). Nonparametric regression and generalized linear
       models. Chapman and Hall.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(0, 10, size=200)
    >>> y = np.sin(x) + 0.3 * rng.normal(size=200)
    >>> model = SmoothingSpline().fit(x[:, None], y)
    >>> model.predict([[np.pi / 2], [3 * np.pi / 2]]).round(1)
    array([ 1., -1.])
    >>> bool(abs(model.predict([[0.0]], derivative=1)[0] - 1) < 0.3)
    True
    >>> line = SmoothingSpline(df=2.001).fit(x[:, None], y)
    >>> round(line.df_, 3)
    2.001
    """

    knob: ClassVar[str] = "alpha"
    params: ClassVar[Mapping[str, Parameter]] = {
        "alpha": Auto(Real(0, None, log=True), help="penalty on bending"),
        "df": OrNone(
            Real(2, None, open_low=True), help="degrees of freedom wanted, instead of alpha"
        ),
        "select": Choice(*RULES, "reml", help="rule that picks from the path when alpha is 'auto'"),
        "knots": AnyOf(
            Choice("auto", "all"), Integer(10, None), help="all distinct x, or at most so many"
        ),
        "variance": Choice("frequentist", "posterior", help="what standard errors are of"),
        "alphas": Alphas(5),
    }
    card: ClassVar[Card] = Card(
        method="smoothing_spline",
        title="Smoothing spline",
        task="regression",
        strengths=(
            "Follows any smooth curve of one input, without a choice of knots.",
            "The whole path with exact leave-one-out errors costs a constant times n.",
            "Gives derivatives, integrals and their standard errors.",
        ),
        weaknesses=(
            "Takes one input; several need an additive model.",
            "One penalty for the whole range: too smooth where the truth is rough.",
            "Beyond the data it is a straight line, whatever the truth does.",
        ),
        assumptions=(
            "The mean of the response has a continuous slope and a square integrable second "
            "derivative in one input.",
            "It is about equally rough over the whole range.",
            NOISE,
            FIXED_KNOB,
        ),
        cost="n log n",
        source="D118-D120, D123-D126",
        n_inputs=1,
    )

    def __init__(
        self,
        alpha: float | str = "auto",
        *,
        df: float | None = None,
        select: str = "gcv",
        knots: str | int = "auto",
        variance: str = "frequentist",
        alphas: Any = 50,
    ) -> None:
        self.alpha = alpha
        self.df = df
        self.select = select
        self.knots = knots
        self.variance = variance
        self.alphas = alphas

    def _check_params(self) -> None:
        super()._check_params()
        if self.df is not None and not isinstance(self.alpha, str):
            raise ParameterError(
                f"SmoothingSpline: alpha={self.alpha!r} and df={self.df!r} were both given; "
                "give one."
            )

    def _prepare(self, rows: Rows) -> KnotRows:
        most = None if self.knots == "all" else _ALL_KNOTS
        if not isinstance(self.knots, str):
            most = int(self.knots)
        return knot_rows(rows, most)

    _instead: ClassVar[tuple[str, ...]] = ("df",)

    def _given(self, work: KnotRows) -> dict[str, Any] | None:
        if self.df is None:
            return super()._given(work)
        return {"alpha": _alpha_for(work, float(self.df))}

    def _path(self, work: KnotRows, values: Any, loss: Loss | None) -> Path:
        return penalty_path(work, alphas_of(values, self.alphas), self.alphas, loss)

    def _curves(self, work: KnotRows, values: Sequence[Any], X_new: FloatArray) -> Array:
        x = np.ascontiguousarray(X_new[:, 0])
        return np.column_stack([work.curve(work.states(alpha))(x) for alpha in values])

    def _settle(self, work: KnotRows, setting: Mapping[str, Any]) -> None:
        rows = work.rows
        self.alpha_ = float(setting["alpha"])
        self._q = work.precision(self.alpha_ / work.span**3)
        traced = len(work.knots) <= _TRACE_KNOTS
        states = work.states(self.alpha_, traced)
        leverage, noise_variance = states[4], states[-1]
        self.curve_ = work.curve(states)
        self._range = (work.low, work.low + work.span)
        self._mean, self._total = work.mean, work.total
        share = work.shares
        # Which rows make up each knot is needed for `matrix` alone.
        self._members = None
        if len(rows) <= _MATRIX_ROWS:
            self._members = (work.order, work.per_row(np.arange(len(work.knots))), share)
        pull = np.empty(len(rows))
        pull[work.order] = share * work.per_row(leverage)
        fitted = self.curve_(np.ascontiguousarray(rows.X[:, 0]))
        trace_sst = float(work.total @ noise_variance) if traced else None
        self._keep_smoother(rows, fitted, pull, trace_sst, float(leverage.sum()))

    def check_loaded(self) -> None:
        """Raise where what was read from a file does not fit together."""
        if hasattr(self, "curve_"):
            insist_on_length(self, len(self.curve_.unit_knots), "_mean", "_total")

    def _curve_at(self, x: FloatArray, derivative: int = 0) -> FloatArray:
        return self.curve_(x, derivative)

    def _deviation(self, x: FloatArray, derivative: int) -> FloatArray:
        posterior = self.variance == "posterior"
        if posterior and derivative > 1:
            raise InputError(
                "Under the prior f'' is white noise, which has no variance; ask for derivative 0 "
                "or 1, or use variance='frequentist'."
            )
        curve = self.curve_
        q = self._q
        unit, knots = curve.unit(x), curve.unit_knots
        found = np.empty(len(x))
        # The filter starts with the second knot. What lies before it is seen from the other end.
        head = unit < knots[1]
        for part, flip in ((~head, False), (head, True)):
            if not np.any(part):
                continue
            at, mean, total, grid = unit[part], self._mean, self._total, knots
            if flip:
                at, mean, total, grid = -at, mean[::-1].copy(), total[::-1].copy(), -knots[::-1]
            P, C, N, B = kernels.full_pass(mean, total, np.diff(grid), q, True)[5:9]
            found[part] = kernels.curve_variance(at, grid, q, P, C, N, B, derivative, posterior)
        sigma = self.smoother_.sigma
        return np.asarray(sigma * np.sqrt(np.maximum(found, 0.0)) / curve.span**derivative)

    def _matrix(self, X: FloatArray) -> FloatArray:
        if self._members is None:
            raise InputError(
                f"The matrix of a smoother is for at most {_MATRIX_ROWS:,} rows; fit fewer."
            )
        curve, m = self.curve_, len(self._mean)
        q, gaps, unit = self._q, np.diff(curve.unit_knots), curve.unit(X[:, 0])
        by_knot = np.empty((len(X), m))
        for g in range(m):
            response = np.zeros(m)
            response[g] = 1.0
            value, slope, bend = kernels.full_pass(response, self._total, gaps, q, False)[:3]
            by_knot[:, g] = kernels.evaluate(unit, curve.unit_knots, value, slope, bend, 0)
        rows, knot, share = self._members
        S = np.empty((len(X), len(rows)))
        S[:, rows] = by_knot[:, knot] * share
        return S

    def _breaks(self) -> tuple[FloatArray, int]:
        return self.curve_.knots, 3


def _alpha_for(rows: KnotRows, df: float) -> float:
    """Return the penalty that gives these degrees of freedom."""
    m = len(rows.knots)
    if not df < m:
        raise InputError(
            f"df={df:g} is not allowed here: it must lie between 2 and the number of distinct "
            f"x, {m}."
        )

    scratch = ThreadArrays(rows)

    def excess(log_alpha: float) -> float:
        return try_penalty(rows, float(np.exp(log_alpha)), scratch=scratch).df - df

    # df falls from m to 2 as the penalty rises; widen until it is bracketed.
    low, high = np.log(rows.total.sum()) - 4 * np.log(m), np.log(rows.total.sum())
    while excess(low) <= 0 and low > -700:
        low -= 5
    while excess(high) >= 0 and high < 700:
        high += 5
    if not excess(low) > 0 > excess(high):
        raise InputError(
            f"df={df!r} is so near a limit (2 and {m}) that no alpha gives it; use alpha=0 for the "
            "upper one, or a very large alpha for the line."
        )
    root = optimize.brentq(excess, low, high, xtol=1e-12, rtol=1e-12)
    return float(np.exp(root) * rows.span**3)
