"""Regression splines: least squares with few knots."""

from collections.abc import Mapping, Sequence
from math import factorial
from typing import Any, ClassVar

import numpy as np

from bottega.basis.spline_functions import check_knots, natural_transform
from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.errors import DataWarning, InputError, ParameterError, warn_caller
from bottega.core.losses import Loss
from bottega.core.params import Anything, Auto, Choice, Integer, Parameter
from bottega.core.path import Path, Rule, along
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray
from bottega.smooth._path.scores import FIXED_KNOB, NOISE, check_knot_choice, knot_counts, loo_path
from bottega.smooth._splines.basis_smoother import BasisSmoother, SplineFit
from bottega.smooth._splines.least_squares import KnotChoices
from bottega.smooth.pspline import PSpline

__all__ = ["RegressionSpline"]


@documented_like(PSpline, without=("alpha_",))
class RegressionSpline(BasisSmoother):
    r"""A piecewise polynomial with few knots, fitted by least squares.

    Between neighbouring knots :math:`\xi_1 < \dots < \xi_K` the curve is a polynomial of degree d,
    and at the knots it has d - 1 continuous derivatives: K + d + 1 parameters (K + 4 for a cubic),
    estimated by plain least squares.

    Parameters
    ----------
    n_knots : int or "auto", default="auto"
        Number K of interior knots; more bend more. ``"auto"`` picks from the path by `select`.
    kind : {"bspline", "truncated", "natural"}, default="bspline"
        Which coefficients to report: of B-splines, or of powers and truncated powers (the same
        curves); or natural cubic splines, which go on as straight lines beyond the data and have
        K + 2 parameters.
    degree : int, default=3
        Degree of the pieces. Natural splines are cubic. With ``n_knots="auto"`` and too few
        distinct x for it and for an error to be left, a lower one is taken, with a warning.
    knots : {"quantile", "even"} or array-like of shape (K,), default="quantile"
        Where the knots are: at quantiles of x (of its distinct values where ties make quantiles
        coincide), evenly spaced, or given; then `n_knots` stays ``"auto"``.
    max_knots : int or "auto", default="auto"
        Most knots on the path; ``"auto"`` is a fifth of the number of distinct x, at most 40.

    Attributes
    ----------
    n_knots_ : int
        Number of knots in use.
    degree_ : int
        Degree in use.
    knots_ : ndarray of shape (K,)
        Interior knots in use.
    coef_ : ndarray of shape (K + d + 1,) or (K + 2,)
        Coefficients of the basis named by `kind`.
    path_ : Path
        The whole curve over the number of knots, when `n_knots` is ``"auto"``.

    Notes
    -----
    Computed with B-splines whatever `kind`: truncated powers are nearly collinear. A number of
    knots costs O(n d^2 + K^3); the path leaves out numbers at which a piece has too few rows. df is
    the number of parameters. Leave-one-out keeps the knots where they are.

    Beyond the data B-splines and truncated powers go on as polynomials and soon run away. Where the
    knots should be is not learned: a curve that bends hard in one place wants given knots, a
    `SmoothingSpline` or a `PSpline`.

    References
    ----------
    .. [1] de Boor, C. (1978). A practical guide to splines. Springer.
    .. [2] Hastie, T., Tibshirani, R. and Friedman, J. (2009). The elements of statistical learning.
       Springer, section 5.2.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(0, 10, size=200)
    >>> y = np.sin(x) + 0.3 * rng.normal(size=200)
    >>> model = RegressionSpline(3).fit(x[:, None], y)
    >>> model.df_
    7.0
    >>> model.predict([[np.pi / 2], [3 * np.pi / 2]]).round(1)
    array([ 1. , -0.9])
    >>> RegressionSpline(knots=[3.0, 6.0], kind="natural").fit(x[:, None], y).df_
    4.0
    """

    knob: ClassVar[str] = "n_knots"
    params: ClassVar[Mapping[str, Parameter]] = {
        "n_knots": Auto(Integer(0, None), help="number of interior knots"),
        "kind": Choice("bspline", "truncated", "natural", help="which basis to report"),
        "degree": Integer(1, None, help="degree of the pieces"),
        "knots": Anything(help="'quantile', 'even', or the interior knots themselves"),
        "max_knots": Auto(Integer(0, None), help="most knots on the path"),
        "select": Rule(),
    }
    card: ClassVar[Card] = Card(
        method="regression_spline",
        title="Regression spline",
        task="regression",
        strengths=(
            "Plain least squares: tests, intervals and criteria hold as in linear regression.",
            "Parametric, and nearly as flexible as a non-parametric curve.",
            "A handful of coefficients is all that is kept.",
            "The path over the number of knots has exact leave-one-out errors.",
        ),
        weaknesses=(
            "Where the knots stand matters, and it is not learned.",
            "Beyond the data the polynomials run away, unless it is natural.",
            "Takes one input; several need an additive model.",
        ),
        assumptions=(
            "The mean of the response is near a piecewise polynomial of one input with few knots.",
            NOISE,
            FIXED_KNOB,
        ),
        cost="n K",
        source="D114-D117, D120",
        n_inputs=1,
    )

    def __init__(
        self,
        n_knots: int | str = "auto",
        *,
        kind: str = "bspline",
        degree: int = 3,
        knots: Any = "quantile",
        max_knots: int | str = "auto",
        select: str = "one_se",
    ) -> None:
        self.n_knots = n_knots
        self.kind = kind
        self.degree = degree
        self.knots = knots
        self.max_knots = max_knots
        self.select = select

    def _check_params(self) -> None:
        super()._check_params()
        if self.kind == "natural" and self.degree != 3:
            raise ParameterError(
                f"RegressionSpline: degree={self.degree!r} is not allowed with kind='natural'; "
                "natural splines are cubic."
            )
        check_knot_choice(self, "numbers")

    def _prepare(self, rows: Rows) -> KnotChoices:
        x = np.ascontiguousarray(rows.X[:, 0])
        distinct = np.unique(x)
        degree = int(self.degree)
        free = isinstance(self.n_knots, str) and isinstance(self.knots, str)
        if free and self.kind != "natural":
            if len(distinct) < 2:
                raise InputError(f"All {len(x)} values of x are equal; a curve needs at least two.")
            # Where all is to be chosen, a degree that leaves an error to estimate.
            degree = min(degree, max(1, len(distinct) - 2))
        even = isinstance(self.knots, str) and self.knots == "even"
        return KnotChoices(rows, x, distinct, degree, self.kind == "natural", even)

    def _given(self, work: KnotChoices) -> dict[str, Any] | None:
        if isinstance(self.knots, str):
            return super()._given(work)
        return {"n_knots": np.size(self.knots)}

    def _path(self, work: KnotChoices, values: Any, loss: Loss | None) -> Path:
        own = values is None
        counts, scores = [], []
        for count in knot_counts(self, values, min(40, len(work.distinct) // 5)):
            try:
                score = work.score_count(count, loss)
            except InputError:
                if own and count > 0:
                    continue  # a piece without rows
                raise
            # A row that is fitted exactly whatever its response has no leave-one-out error.
            if own and count > 0 and score.leverage > 1 - 1e-9:
                continue
            counts.append(count)
            scores.append(score)
        return loo_path(along(self.knob, counts), scores, work.rows, loss)

    def _curves(self, work: KnotChoices, values: Sequence[Any], X_new: FloatArray) -> Array:
        fits = [work.fit_count(count)[1] for count in values]
        return np.column_stack([fit.design(X_new[:, 0]) @ fit.coef for fit in fits])

    def _settle(self, work: KnotChoices, setting: Mapping[str, Any]) -> None:
        if work.degree < self.degree:
            warn_caller(
                f"x has too few distinct values for pieces of degree {self.degree}: degree "
                f"{work.degree} is used. Give n_knots to insist.",
                DataWarning,
            )
        if isinstance(self.knots, str):
            interior, fit = work.fit_count(int(setting["n_knots"]))
        else:
            interior = check_knots(self.knots, float(work.distinct[0]), float(work.distinct[-1]))
            fit, _ = work.fit(interior)
        self.n_knots_, self.knots_, self.degree_ = len(interior), interior, work.degree
        self._keep(fit, work.rows)
        self.coef_ = self._reported(fit)

    def _reported(self, fit: SplineFit) -> FloatArray:
        """Return the coefficients of the basis that `kind` names."""
        degree, knots = fit.degree, fit.knots
        if self.kind == "bspline":
            return fit.coef
        if self.kind == "natural":
            return np.asarray(natural_transform(knots).T @ fit.coef)
        # The first piece as a polynomial about its left end, then in powers of x; then the jumps.
        low = knots[:1]
        about = [
            float((fit.design(low, k) @ fit.coef)[0]) / factorial(k) for k in range(degree + 1)
        ]
        powers = np.polynomial.Polynomial(about)(np.polynomial.Polynomial([-low[0], 1.0]))
        middle = np.concatenate([low, self.knots_, knots[-1:]])
        top = fit.design((middle[:-1] + middle[1:]) / 2, degree) @ fit.coef
        start = np.zeros(degree + 1)
        start[: len(powers.coef)] = powers.coef
        return np.concatenate([start, np.diff(top) / factorial(degree)])
