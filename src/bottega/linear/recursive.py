"""Recursive least squares: a linear model that learns from rows as they come."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.errors import InputError
from bottega.core.params import Boolean, Choice, Parameter, Real
from bottega.core.results import CoefficientResults, glance_row, term_names, tidy_columns
from bottega.core.smoother import SmootherSums
from bottega.core.typing import BoolArray, FloatArray
from bottega.linear._decomposition.rank import warn_collinear
from bottega.linear._decomposition.triangle import Triangle, TriangleLearner, TriangleSolution
from bottega.linear.least_squares import LeastSquares

__all__ = ["RecursiveLeastSquares"]


@documented_like(LeastSquares, without=("residual_covariance_", "solver_", "flops_", "smoother_"))
class RecursiveLeastSquares(CoefficientResults, RegressorMixin, TriangleLearner):
    r"""Least squares on a stream: after every row or block, the fit to all rows so far.

    Minimises :math:`\sum_{i \le n} \lambda^{n-i} w_i (y_i - \beta_0 - x_i^\top \beta)^2` with
    :math:`\lambda` the forgetting factor. With :math:`\tilde x = (1, x)`,
    :math:`V_n = (\sum_i \tilde x_i \tilde x_i^\top)^{-1}` and :math:`\lambda = 1`, a new row
    changes the fit by its prediction error (the *innovation*) times a gain,

    .. math:: h = \frac{1}{1 + \tilde x^\top V_n \tilde x}, \quad
              e = y_{n+1} - \tilde x^\top \hat\beta_n, \quad
              \hat\beta_{n+1} = \hat\beta_n + h V_n \tilde x\, e, \quad
              V_{n+1} = V_n - h V_n \tilde x \tilde x^\top V_n,

    and :math:`RSS_{n+1} = RSS_n + h e^2`. Written like this, rounding errors in V grow without
    bound. The same numbers are computed here from the triangle R of the rows'
    QR decomposition (:math:`V = (R^\top R)^{-1}`): a row is turned into it by Givens rotations,
    whose cosines give h and e; a block by Householder's reflections.

    Parameters
    ----------
    start : {"exact", "ridge"}, default="exact"
        ``"exact"`` is least squares at every moment: while the rows do not yet determine all
        coefficients, those of the columns that are combinations of earlier ones are zero.
        ``"ridge"`` starts at :math:`\hat\beta_0 = 0, V_0 = I`, which is exactly ridge regression
        with ``alpha=1`` on unscaled inputs, **the intercept penalised too**; with many rows it
        hardly matters, and every coefficient is defined from the first row on.
    forgetting : float, default=1.0
        How much of the past each new row leaves, above 0 and at most 1. The fit remembers about
        ``1 / (1 - forgetting)`` rows; 1 forgets nothing.

    Attributes
    ----------
    coef_ : ndarray of shape (p,)
        Coefficients.
    intercept_ : float
        Intercept.
    aliased_ : ndarray of bool, shape (p,)
        Columns that, so far, are combinations of the columns before them: their coefficient is 0.
    n_samples_seen_ : int
        Rows of positive weight since the start.
    innovations_ : ndarray of shape (m,)
        Error of predicting each row of the last block from all rows before it, after
        ``partial_fit(..., row_by_row=True)``; missing while no prediction is determined.
    df_ : float
        Number of determined coefficients; with ``start="ridge"`` the trace of the smoother matrix.
    sigma_ : float
        Residual standard deviation, root of RSS / (n - df); with forgetting, n counts each row by
        the share that is remembered. Missing while n is not above df.

    Notes
    -----
    A row costs about 3 p^2 operations, a block of m rows 2 m p^2; memory is p^2 numbers. Give rows
    in blocks where you can: a call has a fixed cost of its own, far above that of a row. A weight
    of k is k copies of a row for the coefficients; the rows that count for sigma are those of
    positive weight. Standard errors are those of :math:`\sigma^2 V_n`: with ``start="ridge"`` the
    posterior standard deviation, with forgetting an approximation.

    A column is a combination of earlier ones where less than 1e-7 of its length (about its mean,
    with an intercept) is left. A large common level of the inputs does no harm with
    ``start="exact"``; the prior of ``start="ridge"`` is about the origin as it is.

    `glance` shows nobs, df, sigma and deviance of the fit so far.
    Do not use it where the relation is not linear, or, without forgetting, where it changes in
    time: all rows count the same.

    References
    ----------
    .. [1] Plackett, R. L. (1950). Some theorems in least squares. Biometrika 37, 149-157.
    .. [2] Gentleman, W. M. (1973). Least squares computations by Givens transformations without
       square roots. IMA Journal of Applied Mathematics 12, 329-336.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2))
    >>> y = 1 + X @ [2.0, -1.0] + 0.1 * rng.normal(size=100)
    >>> model = RecursiveLeastSquares()
    >>> for part in np.split(np.arange(100), 10):
    ...     model = model.partial_fit(X[part], y[part])
    >>> model.coef_.round(2), round(model.intercept_, 2), model.n_samples_seen_
    (array([ 1.99, -0.98]), 0.98, 100)
    >>> low, high = model.interval(X[:1], kind="prediction")
    >>> bool(low[0] < y[0] < high[0])
    True
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "start": Choice("exact", "ridge", help="nothing known at first, or (0, I): ridge, alpha 1"),
        "forgetting": Real(0, 1, open_low=True, help="share of the past that a new row leaves"),
        "fit_intercept": Boolean(help="have an intercept"),
    }
    card: ClassVar[Card] = Card(
        method="recursive_least_squares",
        title="Recursive least squares",
        task="regression",
        strengths=(
            "Learns row by row, and is the fit to all rows at every moment.",
            "Memory, and time per row, do not grow with the number of rows.",
            "Follows relations that change in time, with a forgetting factor.",
            "Streams learnt apart can be merged.",
        ),
        weaknesses=(
            "Captures linear effects only: anything curved or interacting is bias.",
            "Keeps no rows: no leverages, and outliers cannot be examined again.",
            "The updates row by row cannot run in parallel; blocks can be merged.",
        ),
        assumptions=(
            "The mean is linear in the inputs, and the same for all rows unless forgetting follows "
            "its changes.",
            "Errors are independent with constant variance (up to the row weights).",
        ),
        cost="n p^2",
        source="D31-D36",
        twin_of="least_squares",
    )

    def __init__(
        self, *, start: str = "exact", forgetting: float = 1.0, fit_intercept: bool = True
    ) -> None:
        self.start = start
        self.forgetting = forgetting
        self.fit_intercept = fit_intercept

    def _settle(self, triangle: Triangle, setting: Mapping[str, Any]) -> None:
        self._triangle = triangle
        self.n_samples_seen_ = triangle.count

    def _finish(self, work: Triangle, rows: Any, setting: Mapping[str, Any]) -> None:
        super()._finish(work, rows, setting)
        if self.start == "exact" and work.count > len(work.R):  # fewer rows may yet be joined
            aliased = self.aliased_
            collinear = aliased & ~work.constant()
            warn_collinear(self, collinear, int(np.sum(~aliased)), work.count)

    def partial_fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, row_by_row: bool = False
    ) -> Self:
        """Learn from more rows: one, or a block.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.
        y : array-like of shape (m,)
            Responses.
        sample_weight : array-like of shape (m,), optional
            Row weights; rows of weight zero count for nothing.
        row_by_row : bool
            Go through the rows one after the other and keep the error of predicting each from
            those before it, in `innovations_`. The coefficients are the same; it takes about
            three times as long.

        Returns
        -------
        RecursiveLeastSquares
            The estimator.
        """
        if hasattr(self, "_triangle"):
            rows, triangle = self._next_rows(X, y, sample_weight), self._triangle
        else:
            self._check_params()
            rows = self._read(X, y, sample_weight)
            triangle = self._new_triangle()
        self.__dict__.pop("innovations_", None)  # of an earlier block
        if row_by_row:
            errors = triangle.update_by_row(rows.X, rows.y, rows.weight, self._prior(triangle))
            self.innovations_ = errors
            if rows.given is not None:
                self.innovations_ = np.full(len(rows.given), np.nan)
                self.innovations_[rows.kept] = errors
        else:
            triangle.update(rows.X, rows.y, rows.weight)
        self._settle(triangle, {})
        return self

    def merge(self, other: "RecursiveLeastSquares") -> Self:
        """Take in the rows that another learner saw: what both know adds up.

        Parameters
        ----------
        other : RecursiveLeastSquares
            A learner with the same parameters and columns, from a stream beside this one. With
            forgetting, both keep what they still remember.

        Returns
        -------
        RecursiveLeastSquares
            This learner, as if it had seen all rows of both.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        if self.get_params() != other.get_params():
            raise InputError(
                f"Only learners with the same parameters merge; got {self} and {other}."
            )
        ours, theirs = (term_names(each, intercept=False) for each in (self, other))
        if ours != theirs:
            raise InputError(f"Only learners of the same columns merge; got {ours} and {theirs}.")
        self._triangle.merge(other._triangle, beside=True)
        self.n_samples_seen_ = self._triangle.count
        self.__dict__.pop("innovations_", None)
        return self

    def _prior(self, triangle: Triangle) -> float:
        """Return the precision of the start (0, I) that is still remembered."""
        return float(triangle.forgetting**triangle.age) if self.start == "ridge" else 0.0

    def _solution(self) -> TriangleSolution:
        check_is_fitted(self)
        return self._triangle.solve(self._prior(self._triangle))

    def _sums(self, solution: TriangleSolution) -> SmootherSums:
        rows: Any = self._triangle.rows
        return SmootherSums(n=rows, rss=solution.rss, tss=np.nan, df=solution.df, loo=np.nan)

    @property
    def coef_(self) -> FloatArray:
        """Coefficients."""
        return self._solution().coef[int(self.fit_intercept) :]

    @property
    def intercept_(self) -> float:
        """Intercept."""
        return self._solution().intercept

    @property
    def aliased_(self) -> BoolArray:
        """Columns that, so far, are combinations of the columns before them."""
        return self._solution().aliased[int(self.fit_intercept) :]

    @property
    def df_(self) -> float:
        """Degrees of freedom."""
        return self._solution().df

    @property
    def sigma_(self) -> float:
        """Residual standard deviation."""
        return float(self._sums(self._solution()).sigma)

    def covariance(self) -> FloatArray:
        r"""Return :math:`\sigma^2 V_n`, the covariance of the coefficients, intercept first.

        Returns
        -------
        ndarray of shape (d, d)
            With d one more than the number of columns with an intercept. Rows and columns of
            aliased inputs are missing.
        """
        solution = self._solution()
        root = solution.original_root()
        found = np.square(self._sums(solution).sigma) * root @ root.T
        found[solution.aliased] = np.nan
        found[:, solution.aliased] = np.nan
        return np.asarray(found)

    def _mean_at(self, X: FloatArray) -> FloatArray:
        return self._solution().mean_at(X)

    def _with_error(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        solution = self._solution()
        return solution.mean_at(X), solution.unit_error_at(X) * self._sums(solution).sigma

    def _noise(self) -> SmootherSums:
        return self._sums(self._solution())

    def _terms(self, level: float = 0.95) -> dict[str, Any]:
        solution = self._solution()
        sums = self._sums(solution)
        estimate = np.where(solution.aliased, np.nan, solution.coef)
        if self.fit_intercept:
            estimate[0] = solution.intercept
        error = np.linalg.norm(solution.original_root(), axis=1) * sums.sigma
        return tidy_columns(
            term_names(self, intercept=self.fit_intercept),
            estimate,
            std_error=np.where(solution.aliased, np.nan, error),
            test=self.start == "exact",  # with a prior the estimates are biased
            df=sums.df_residual if np.isfinite(sums.sigma) else np.nan,
            level=level,
        )

    def _glance_row(self) -> dict[str, Any]:
        solution = self._solution()
        row = {"nobs": self.n_samples_seen_, "df": solution.df, "deviance": solution.rss}
        return glance_row(row | {"sigma": float(self._sums(solution).sigma)})
