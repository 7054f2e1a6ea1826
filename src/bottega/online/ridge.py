"""Ridge regression on a stream: the forecaster of Vovk, Azoury and Warmuth, and the plain one."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.utils.validation import check_is_fitted

from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.loaded import insist
from bottega.core.losses import SQUARED_ERROR, Loss
from bottega.core.params import Boolean, Choice, Parameter, Real
from bottega.core.rows import Rows
from bottega.core.sparse import dense_parts
from bottega.core.typing import FloatArray
from bottega.online._kernels.ridge import ridge_rows
from bottega.online._learner.base import OnlineRegressor, with_constant
from bottega.online.gradient_descent import OnlineGradientDescentRegressor

__all__ = ["OnlineRidge"]


@documented_like(OnlineGradientDescentRegressor, without=("max_gradient_",))
class OnlineRidge(OnlineRegressor):
    r"""Ridge regression, row by row, with a regret that grows like a logarithm.

    After every row the coefficients are those of ridge regression on all rows so far, the minimum
    of :math:`\sum_t (y_t - w^\top x_t)^2 + \alpha \lVert w \rVert^2`. With
    :math:`A = \alpha I + \sum_t x_t x_t^\top` over the rows before, a row x is predicted by
    :math:`w^\top x` ("ridge") or by :math:`w^\top x / (1 + x^\top A^{-1} x)` ("vovk"), which is
    what ridge regression gives when x enters the matrix before its response is known: less bold
    where x is unlike anything seen.

    Parameters
    ----------
    alpha : float
        Penalty. Larger values keep the coefficients smaller.
    forecaster : {"vovk", "ridge"}
        How rows are predicted.
    fit_intercept : bool
        Append the constant 1 to the inputs as their last column. Its weight is penalised like the
        others: the bound is about the whole vector.

    Attributes
    ----------
    coef_ : ndarray of shape (p,)
        Coefficients of ridge regression on all rows so far.
    n_samples_seen_ : int
        Rows seen.
    max_response_ : float
        Largest absolute response so far, Y in the bound.
    max_error_ : float
        Largest absolute error of predicting a row by ridge regression before it was seen.
    regret_bound_ : float
        What the summed loss is at most above the least penalised one, see `regret_bound`.

    Notes
    -----
    A row costs about :math:`3 p^2` operations, memory is :math:`p^2` numbers. The matrix is kept
    by its triangular factor, into which rows are turned by Givens rotations: nothing is inverted
    and nothing cancels, however long the stream. Sparse blocks are made dense part by part.

    The losses it is charged exceed the least :math:`\sum_t (y_t - u^\top x_t)^2 + \alpha \lVert u
    \rVert^2` by at most :math:`Y^2 \ln\det(A_T / \alpha)` ("vovk"), of order
    :math:`p\, Y^2 \ln T`; for "ridge" the largest squared error of a forecast takes the place of
    :math:`Y^2`.

    Do not use it with very many columns (`OnlineGradientDescentRegressor` costs p per row), nor
    where the relation changes (`bottega.linear.RecursiveLeastSquares` can forget).

    References
    ----------
    .. [1] Vovk, V. (2001). Competitive on-line statistics. International Statistical Review 69,
       213-248.
    .. [2] Azoury, K. S. and Warmuth, M. K. (2001). Relative loss bounds for on-line density
       estimation with the exponential family of distributions. Machine Learning 43, 211-246.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = X @ [2.0, -1.0] + 0.1 * rng.normal(size=200)
    >>> model = OnlineRidge(fit_intercept=False)
    >>> losses = model.learn_block(X, y)
    >>> w = np.linalg.solve(X.T @ X + np.eye(2), X.T @ y)
    >>> bool(np.allclose(model.coef_, w))
    True
    >>> bool(losses.sum() - np.sum((y - X @ w) ** 2) - w @ w < model.regret_bound_)
    True
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "alpha": Real(0, open_low=True, log=True, help="penalty on the squared coefficients"),
        "forecaster": Choice("vovk", "ridge", help="how rows are predicted"),
        "fit_intercept": Boolean(help="append the constant 1 to the inputs"),
    }
    card: ClassVar[Card] = Card(
        method="online_ridge",
        title="Online ridge regression",
        task="regression",
        strengths=(
            "Learns row by row, and is ridge regression on all rows at any time.",
            "Its regret on any stream grows like a logarithm, by a bound that is computed.",
            "Needs no step size.",
        ),
        weaknesses=(
            "Captures linear effects only.",
            "Costs the square of the number of columns per row.",
            "Never forgets: a relation that changes is averaged.",
        ),
        assumptions=(
            "None about how rows arise: the bound holds on every stream of bounded responses.",
            "Columns are on comparable scales, since one penalty applies to all.",
        ),
        cost="n p^2",
        source="A63-A68, D31-D35",
        standardize=True,
        twin_of="ridge",
        wide=True,
    )

    def __init__(
        self, *, alpha: float = 1.0, forecaster: str = "vovk", fit_intercept: bool = True
    ) -> None:
        self.alpha = alpha
        self.forecaster = forecaster
        self.fit_intercept = fit_intercept

    def _charged_loss(self) -> Loss:
        return SQUARED_ERROR

    def _start(self) -> None:
        d = self._width()
        self._triangle = np.zeros((d + 1, d + 1))
        self._triangle[np.arange(d), np.arange(d)] = np.sqrt(self.alpha)
        self.max_response_ = self.max_error_ = 0.0

    def check_loaded(self) -> None:
        """Raise where what was read from a file does not fit together."""
        if hasattr(self, "_triangle"):
            shape = (self._width() + 1,) * 2
            insist(self._triangle.shape == shape, "a triangle of another number of columns")

    def _learn_rows(self, rows: Rows, *, charge: bool) -> FloatArray:
        X, y, R = rows.X, rows.y, self._triangle.copy()
        intercept, vovk = bool(self.fit_intercept), self.forecaster == "vovk"
        root = None if rows.weight is None else np.sqrt(rows.weight)
        if root is not None:  # a row of weight c counts like the row times the root of c
            y, intercept = root * y, False
        predictions, errors = np.empty(len(y)), np.empty(len(y))
        for part, dense in dense_parts(X):
            if root is not None:
                dense = with_constant(dense, self.fit_intercept) * root[part, None]
            ridge_rows(R, dense, y[part], intercept, vovk, predictions[part], errors[part])
        if not (np.all(np.isfinite(R)) and np.all(np.isfinite(errors))):
            self._refuse(
                X,
                "The squares of these numbers overflow: bring inputs and response to a smaller "
                "scale.",
            )
        self._triangle = R
        self.n_samples_seen_ += len(y)
        self.max_response_ = max(self.max_response_, float(np.max(np.abs(y))))
        self.max_error_ = max(self.max_error_, float(np.max(np.abs(errors))))
        return np.asarray((y - predictions) ** 2)

    def _prediction_weights(self) -> FloatArray:
        check_is_fitted(self)
        return np.atleast_2d(solve_triangular(self._triangle[:-1, :-1], self._triangle[:-1, -1]))

    @property
    def regret_bound_(self) -> float:
        """What the summed loss is at most above the least penalised one."""
        return self.regret_bound()

    def regret_bound(self, norm_u: float = 0.0) -> float:
        r"""Return what the summed loss so far is at most above that of a comparator.

        :math:`\alpha \lVert u \rVert^2 + Y^2 \ln\det(A_T / \alpha)` for "vovk"; for "ridge" the
        largest squared error of a forecast stands in the place of :math:`Y^2`.

        Parameters
        ----------
        norm_u : float
            Norm of the comparator; 0 gives the bound against the least penalised loss.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        diagonal = np.diag(self._triangle)[:-1]
        log_det = 2 * float(np.sum(np.log(diagonal))) - len(diagonal) * np.log(self.alpha)
        size = self.max_response_ if self.forecaster == "vovk" else self.max_error_
        return float(self.alpha * norm_u**2 + size**2 * max(log_det, 0.0))

    def predict(self, X: Any) -> FloatArray:
        """Return the forecast of each row, as it would be made if the row came next."""
        X = self._check_new(X)
        weights, R = self._prediction_weights()[0], self._triangle[:-1, :-1]
        forecasts = np.empty(X.shape[0])
        for part, rows in dense_parts(X):
            rows = with_constant(rows, self.fit_intercept)
            forecasts[part] = rows @ weights
            if self.forecaster == "vovk":
                root = solve_triangular(R, rows.T, trans="T")  # x'A^{-1}x is its squared length
                forecasts[part] /= 1 + np.sum(root**2, axis=0)
        return forecasts
