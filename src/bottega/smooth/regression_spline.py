"""Regression splines: least squares with few knots."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from math import factorial
from typing import Any, ClassVar, Self

import numpy as np
from scipy import linalg

from bottega.basis.spline_functions import (
    LocalDesign,
    check_knots,
    clamped_knots,
    design,
    natural_transform,
    place_knots,
)
from bottega.core.cards import Card
from bottega.core.errors import DataWarning, InputError, ParameterError
from bottega.core.params import Anything, Auto, Choice, Integer, Parameter
from bottega.core.path import Path, Rule
from bottega.core.smoother import gaussian_criteria
from bottega.core.typing import Array, FloatArray
from bottega.smooth._kernels import banded as kernels
from bottega.smooth._splines.basis_smoother import BasisSmoother, leave_one_out, local_design

__all__ = ["RegressionSpline"]

# A Gram matrix of B-splines has a condition of some thousands; beyond this a function sees no data.
_SINGULAR = 1e-13


@dataclass(frozen=True)
class _Fit:
    """The least squares fit with one set of knots."""

    all_knots: FloatArray
    B: LocalDesign
    M: FloatArray
    right: FloatArray
    df: int


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
    select : str, default="one_se"
        Rule that picks from the path: ``"min"`` or ``"one_se"`` of the leave-one-out error, or a
        criterion (``"aic"``, ``"aicc"``, ``"bic"``, ``"hq"``, ``"gcv"``, ``"cp"``).

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
    smoother_ : Smoother
        What df, sigma, leverages, leave-one-out and the criteria follow from.
    n_features_in_ : int
        Number of columns seen in `fit`, 1.
    feature_names_in_ : ndarray of shape (1,)
        Name of the column, when X is a data frame.

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
        knob="n_knots",
        strengths=(
            "Plain least squares: tests, intervals and criteria hold as in linear regression.",
            "A handful of coefficients is all that is kept.",
            "The path over the number of knots has exact leave-one-out errors.",
        ),
        weaknesses=(
            "Where the knots stand matters, and it is not learned.",
            "Beyond the data the polynomials run away, unless it is natural.",
            "Takes one input; several need an additive model.",
        ),
        cost="n K",
        source="D114-D117, D120",
        n_inputs=1,
        weights=True,
        linear_smoother=True,
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

    # ---- fitting --------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the curve.

        Parameters
        ----------
        X : array-like or data frame of shape (n, 1)
            The input.
        y : array-like of shape (n,)
            Responses.
        sample_weight : array-like of shape (n,), optional
            Row weights.

        Returns
        -------
        RegressionSpline
            The fitted estimator.
        """
        self._check_params()
        self._remember_frame(X)
        x, y, weight = self._validate(X, y, sample_weight)
        if self.kind == "natural" and self.degree != 3:
            raise ParameterError(
                f"RegressionSpline: degree={self.degree!r} is not allowed with kind='natural'; "
                "natural splines are cubic."
            )
        self.degree_ = self._usable_degree(x, weight)
        if self.degree_ < self.degree:
            warnings.warn(
                f"x has too few distinct values for pieces of degree {self.degree}: degree "
                f"{self.degree_} is used. Give n_knots to insist.",
                DataWarning,
                stacklevel=2,
            )
        given = not isinstance(self.knots, str)
        if given and not isinstance(self.n_knots, str):
            raise ParameterError(
                f"RegressionSpline: n_knots={self.n_knots!r} and the knots were both given; "
                "give one."
            )
        scale = None
        if given:
            self.__dict__.pop("path_", None)  # of an earlier fit
            counted = x if weight is None else x[weight > 0]
            interior = check_knots(self.knots, float(counted.min()), float(counted.max()))
            fit = self._least_squares(x, y, weight, interior)
        else:
            count = int(self._resolve_knob(x, y, weight))
            interior = self._placed(x, weight, count)
            fit = self._least_squares(x, y, weight, interior)
            if hasattr(self, "path_"):
                scale = self._scale
        self.n_knots_, self.knots_ = len(interior), interior
        self._linear_ends, self._degree = self.kind == "natural", self.degree_
        self._all_knots = fit.all_knots
        self._keep(x, y, weight, fit.M, fit.right, float(fit.df), float(fit.df), scale)
        self.coef_ = self._reported(interior)
        return self

    def _usable_degree(self, x: FloatArray, weight: FloatArray | None) -> int:
        """Return the degree; where all is to be chosen, one that leaves an error to estimate."""
        free = isinstance(self.n_knots, str) and isinstance(self.knots, str)
        if not free or self.kind == "natural":
            return int(self.degree)
        distinct = len(np.unique(x if weight is None else x[weight > 0]))
        if distinct < 2:
            raise InputError(f"All {len(x)} values of x are equal; a curve needs at least two.")
        return min(int(self.degree), max(1, distinct - 2))

    def _placed(self, x: FloatArray, weight: FloatArray | None, count: int) -> FloatArray:
        """Return the interior knots, `count` of them."""
        if self.knots not in ("quantile", "even"):
            raise ParameterError(
                f"RegressionSpline: knots={self.knots!r} is not allowed; knots must be 'quantile', "
                "'even' or numbers."
            )
        if weight is not None:
            x, weight = x[weight > 0], weight[weight > 0]
        low, high = float(x.min()), float(x.max())
        if not high > low:
            raise InputError(f"All {len(x)} values of x are equal ({low:g}); a curve needs more.")
        if self.knots == "even":
            return place_knots(x, count, "even")
        found = place_knots(x, count, weight=weight)
        if not np.all(np.diff(np.concatenate([[low], found, [high]])) > 0):
            found = place_knots(np.unique(x), count)
        return found

    def _least_squares(
        self, x: FloatArray, y: FloatArray, weight: FloatArray | None, interior: FloatArray
    ) -> _Fit:
        counted = x if weight is None else x[weight > 0]
        degree, natural = self._usable_degree(x, weight), self.kind == "natural"
        df = len(interior) + (2 if natural else degree + 1)
        distinct = len(np.unique(counted))
        if distinct < df:
            raise InputError(
                f"{len(interior)} knots make {df} parameters, and x has only {distinct} distinct "
                "values; take fewer knots or a lower degree."
            )
        knots = clamped_knots(interior, float(counted.min()), float(counted.max()), degree)
        B = local_design(x, knots, degree, 0, natural)
        w = np.ones(len(x)) if weight is None else weight
        band, right = kernels.band_gram(B.values, B.first, w, y, B.size)
        G = np.zeros((B.size, B.size))
        for k in range(min(len(band), B.size)):
            rows = np.arange(B.size - k)
            G[rows + k, rows] = G[rows, rows + k] = band[k, : B.size - k]
        T = natural_transform(knots) if natural else None
        inner = G if T is None else T.T @ G @ T
        # On one scale, so that a place with few rows does not look like one with none.
        unit = np.sqrt(np.diagonal(inner))
        if unit.min(initial=np.inf) > 0:
            values, vectors = linalg.eigh(inner / np.outer(unit, unit))
        if not unit.min(initial=np.inf) > 0 or values[0] < _SINGULAR * values[-1]:
            raise InputError(
                f"With the knots {np.array2string(interior, precision=4, threshold=6)} some pieces "
                "have too few rows to be fitted; take fewer knots, or knots='quantile'."
            )
        root = vectors / np.sqrt(values) / unit[:, None]
        M = root @ root.T
        return _Fit(knots, B, M if T is None else T @ M @ T.T, right, df)

    def _reported(self, interior: FloatArray) -> FloatArray:
        """Return the coefficients of the basis that `kind` names."""
        degree = self._degree
        if self.kind == "bspline":
            return self._coef
        if self.kind == "natural":
            return np.asarray(natural_transform(self._all_knots).T @ self._coef)
        # The first piece as a polynomial about its left end, then in powers of x; then the jumps.
        low = self._all_knots[:1]
        about = [
            float((design(low, self._all_knots, degree, k) @ self._coef)[0]) / factorial(k)
            for k in range(degree + 1)
        ]
        powers = np.polynomial.Polynomial(about)(np.polynomial.Polynomial([-low[0], 1.0]))
        middle = np.concatenate([low, interior, self._all_knots[-1:]])
        top = design((middle[:-1] + middle[1:]) / 2, self._all_knots, degree, degree) @ self._coef
        start = np.zeros(degree + 1)
        start[: len(powers.coef)] = powers.coef
        return np.concatenate([start, np.diff(top) / factorial(degree)])

    # ---- the path -------------------------------------------------------------------------------

    def _counts(self, x: FloatArray, weight: FloatArray | None, values: Any) -> list[int]:
        if values is not None:
            given = np.asarray(values)
            if given.ndim != 1 or not len(given) or np.any(given < 0) or np.any(given % 1):
                raise InputError(f"values must be whole numbers of knots; got {values!r}.")
            return sorted(int(value) for value in given)
        distinct = len(np.unique(x if weight is None else x[weight > 0]))
        most = min(40, distinct // 5) if isinstance(self.max_knots, str) else int(self.max_knots)
        return list(range(most + 1))

    def _path(self, X: Any, y: Any, sample_weight: Any, values: Any) -> Path:
        rows: list[tuple[float, ...]] = []
        for count in self._counts(X, sample_weight, values):
            try:
                interior = self._placed(X, sample_weight, count)
                fit = self._least_squares(X, y, sample_weight, interior)
            except ParameterError:
                raise
            except InputError:
                if values is None and count > 0:
                    continue  # a piece without rows
                raise
            rss, error, spread, leverage = leave_one_out(fit.B, fit.M, fit.right, y, sample_weight)
            # A row that is fitted exactly whatever its response has no leave-one-out error.
            if values is None and count > 0 and leverage > 1 - 1e-9:
                continue
            rows.append((count, fit.df, rss, error, spread))
        counts, df, rss, error, spread = np.array(rows, dtype=np.float64).T
        n = len(y) if sample_weight is None else int(np.count_nonzero(sample_weight))
        total = float(n) if sample_weight is None else float(np.sum(sample_weight))
        rich = n - df[-1]
        self._scale = float(np.sqrt(rss[-1] / rich)) if rich >= 1 and rss[-1] > 0 else None
        logs = 0.0
        if sample_weight is not None:
            logs = float(np.log(sample_weight[sample_weight > 0]).sum())
        return Path(
            knob=self.knob,
            values=counts.astype(np.int64),
            df=df,
            train_error=rss / total,
            error=error,
            error_se=spread,
            estimate="loo",
            loss="squared error",
            criteria=gaussian_criteria(rss, df, n, scale=self._scale, log_weights=logs),
        )

    def _path_predictions(
        self, X: Any, y: Any, sample_weight: Any, values: Array, X_new: Any
    ) -> Array:
        columns = []
        for count in values:
            interior = self._placed(X, sample_weight, int(count))
            fit = self._least_squares(X, y, sample_weight, interior)
            natural = self.kind == "natural"
            degree = self._usable_degree(X, sample_weight)
            at = local_design(X_new, fit.all_knots, degree, 0, natural)
            columns.append(at @ (fit.M @ fit.right))
        return np.column_stack(columns)
