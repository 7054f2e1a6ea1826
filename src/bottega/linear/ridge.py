"""Ridge regression: least squares with a penalty on the squared length of the coefficients."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from bottega.core.base import Tuned
from bottega.core.cards import Card
from bottega.core.errors import InputError
from bottega.core.params import Auto, Boolean, Integer, Parameter, Real
from bottega.core.path import Path, Rule
from bottega.core.smoother import Smoother, SmootherSums, gaussian_criteria
from bottega.core.typing import Array, FloatArray
from bottega.core.weights import check_weight
from bottega.linear._decomposition.centering import squeeze
from bottega.linear._decomposition.leave_one_out import leave_one_out
from bottega.linear._decomposition.problem import (
    DecomposedProblem,
    decompose_chunks,
    decompose_rows,
)
from bottega.linear.chunked import CheckedChunks
from bottega.linear.inference import CoefficientInference

__all__ = ["Ridge"]


class Ridge(RegressorMixin, CoefficientInference, Tuned):
    r"""Linear regression with coefficients shrunk towards zero.

    Minimises, over an intercept :math:`\beta_0` that is never penalised and coefficients
    :math:`\beta`,

    .. math:: \sum_i w_i (y_i - \beta_0 - x_i^\top \beta)^2 + \alpha \sum_j s_j^2 \beta_j^2

    where :math:`s_j` is the (weighted, divisor n) standard deviation of input j with
    ``standardize=True`` (without an intercept: its root mean square), and one otherwise. This is
    the penalty ``alpha * ||b||^2`` on the coefficients of inputs scaled to unit standard deviation.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        Strength of the penalty, at least 0; larger values shrink more. 0 is least squares.
        ``"auto"`` picks from the path by the rule `select`.
    standardize : bool, default=True
        Whether to penalise each input on its own scale; results are reported on the original one.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    select : str, default="one_se"
        Rule that picks from the path: ``"min"`` or ``"one_se"`` of the leave-one-out error, or a
        criterion (``"aic"``, ``"aicc"``, ``"bic"``, ``"hq"``, ``"gcv"``, ``"cp"``).
    n_alphas : int, default=100
        Number of penalties on the path.

    Attributes
    ----------
    coef_ : ndarray of shape (p,) or (q, p)
        Coefficients on the original scale of the inputs.
    intercept_ : float or ndarray of shape (q,)
        Intercept.
    alpha_ : float
        The penalty in use.
    path_ : Path
        The whole curve, when `alpha` is ``"auto"``.
    solver_ : {"svd", "gram", "qr", "dual"}
        How the inputs were decomposed: singular values of the rows (small data), eigenvalues of
        the p by p Gram matrix (many rows), QR factor of the rows (many rows, nearly collinear), or
        eigenvalues of the n by n Gram matrix (many columns).
    smoother_ : Smoother or SmootherSums
        What df, sigma, leverages, leave-one-out and the criteria follow from. A fit in chunks
        keeps sums alone.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (p,)
        Names of the columns, when X is a data frame.

    Notes
    -----
    One decomposition, :math:`O(n p \min(n, p))`, gives every penalty; the exact leave-one-out
    errors of m of them cost :math:`4 n m \min(n, p)` operations more. With ``U D V'`` the singular
    value decomposition of the inputs, df is one plus :math:`\sum_j d_j^2 / (d_j^2 + \alpha)`.
    Leave-one-out keeps the centre and scale of the inputs with a row left out: the centre exactly
    (it is the intercept), the scale as a fixed convention.

    Do not use it to find out which inputs matter: no coefficient becomes zero, and their
    sizes are biased towards zero. Standard errors and bands say nothing about that bias.

    A row of weight zero counts for nothing, and at a fixed `alpha` a weight of k is k copies of the
    row. With ``alpha="auto"`` the latter does not hold: leaving out a row of weight k leaves out
    all k copies. The weighted tr SS' is that of the rows times their root weights.

    References
    ----------
    .. [1] Hoerl, A. E. and Kennard, R. W. (1970). Ridge regression: biased estimation for
       nonorthogonal problems. Technometrics 12, 55-67.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 3))
    >>> y = X @ [2.0, 0.5, -1.0] + rng.normal(size=50)
    >>> model = Ridge().fit(X, y)
    >>> model.coef_.round(2), round(model.df_, 2)
    (array([ 1.83,  0.35, -0.74]), 3.56)
    >>> curve = Ridge().path(X, y)
    >>> len(curve), bool(curve.df[0] < curve.df[-1])
    (100, True)
    """

    knob: ClassVar[str] = "alpha"
    params: ClassVar[Mapping[str, Parameter]] = {
        "alpha": Auto(Real(0, None, log=True), help="strength of the penalty"),
        "standardize": Boolean(help="penalise each input on its own scale"),
        "fit_intercept": Boolean(help="have an intercept, free of penalty"),
        "select": Rule(),
        "n_alphas": Integer(2, None, help="number of penalties on the path"),
    }
    card: ClassVar[Card] = Card(
        method="ridge",
        title="Ridge regression",
        task="regression",
        knob="alpha",
        strengths=(
            "Works with more columns than rows and with collinear columns.",
            "Shrinks smoothly: a little bias buys a lot less variance.",
            "The whole path with exact leave-one-out errors comes from one decomposition.",
            "Readable: one coefficient an input, with a posterior distribution.",
        ),
        weaknesses=(
            "Only sees straight lines: anything curved or interacting is bias.",
            "Keeps every input: it never selects.",
            "Coefficients are biased towards zero, so tests on them do not hold.",
        ),
        cost="n p min(n, p)",
        source="D71-D78, D94, D47",
        wide=True,
        weights=True,
        multioutput=True,
        chunks=True,
        linear_smoother=True,
    )

    def __init__(
        self,
        alpha: float | str = "auto",
        *,
        standardize: bool = True,
        fit_intercept: bool = True,
        select: str = "one_se",
        n_alphas: int = 100,
    ) -> None:
        self.alpha = alpha
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.select = select
        self.n_alphas = n_alphas

    # ---- fitting --------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the coefficients.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
            Inputs.
        y : array-like of shape (n,) or (n, q)
            Responses.
        sample_weight : array-like of shape (n,), optional
            Row weights.

        Returns
        -------
        Ridge
            The fitted estimator.
        """
        self._check_params()
        self._remember_frame(X)
        X, y, weight = self._validate(X, y, sample_weight)
        problem = self._decompose(X, y, weight)
        scale = self._settle(problem, y.ndim)
        parts = [block.residuals(problem.spectrum, self.alpha_) for block in problem.blocks()]
        residuals = np.concatenate([part[0] for part in parts])
        leverage = 1 - np.concatenate([part[1] for part in parts])
        if y.ndim == 1:
            residuals = residuals[:, 0]
        if weight is not None and len(leverage) < len(y):  # rows of weight zero have no pull
            rows = weight > 0
            pull = np.zeros(len(y))
            pull[rows] = leverage
            leverage = pull
            fitted = self._evaluate(X)
            fitted[rows] = y[rows] - residuals
        else:
            fitted = y - residuals
        self.smoother_ = Smoother(
            y,
            fitted,
            leverage,
            df=float(problem.df(np.array([self.alpha_]))[0]),
            weight=weight,
            trace_sst=problem.trace_sst(self.alpha_),
            scale=scale,
        )
        return self

    def fit_chunks(self, chunks: Iterable[Any]) -> Self:
        """Fit to rows that come in chunks, in memory that does not grow with their number.

        Parameters
        ----------
        chunks : re-iterable of (X, y) or (X, y, w)
            Something that can be gone through several times: a list, or an object whose
            ``__iter__`` starts afresh.

        Returns
        -------
        Ridge
            With the same penalty, coefficients, df, sigma, errors and criteria as `fit` on all
            rows together. What is per row (leverages, residuals) is not kept; asking for it is
            an `InputError`.
        """
        self._check_params()
        checked = self._check_chunks(chunks)
        problem = decompose_chunks(
            checked, standardize=self.standardize, fit_intercept=self.fit_intercept
        )
        y_ndim = checked.y_ndim
        scale = self._settle(problem, y_ndim)
        alphas = np.array([self.alpha_])
        loo = leave_one_out(problem.blocks(), problem.spectrum, alphas)
        self.smoother_ = SmootherSums(
            n=problem.centering.n,
            rss=squeeze(loo.rss[0], y_ndim),
            tss=squeeze(problem.tss, y_ndim),
            df=float(problem.df(alphas)[0]),
            loo=float(loo.error[0]),
            log_weights=problem.log_weights,
            trace_sst=problem.trace_sst(self.alpha_),
            scale=scale,
        )
        return self

    def _check_chunks(self, chunks: Iterable[Any]) -> CheckedChunks:
        first = next(iter(chunks), None)
        if first is None:
            raise InputError("There are no chunks to fit; give at least one (X, y).")
        X, y, *_ = first
        self._remember_frame(X)
        # Sets the number of columns and their names; the rows are checked chunk by chunk.
        validate_data(self, X, skip_check_array=True)
        return CheckedChunks(chunks, self.n_features_in_, np.ndim(y))

    def _validate(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        X, y = validate_data(
            self,
            X,
            y,
            dtype=np.float64,
            multi_output=True,
            y_numeric=True,
            ensure_min_samples=2,
        )
        y = np.asarray(y, dtype=np.float64)
        return X, y, check_weight(sample_weight, len(y))

    def _decompose(
        self, X: FloatArray, y: FloatArray, weight: FloatArray | None
    ) -> DecomposedProblem:
        return decompose_rows(
            X,
            y.reshape(len(y), -1),
            weight,
            standardize=self.standardize,
            fit_intercept=self.fit_intercept,
        )

    def _settle(self, problem: DecomposedProblem, y_ndim: int) -> Any:
        """Choose alpha, keep what follows from it, and return the scale for Cp."""
        self.__dict__.pop("path_", None)  # of an earlier fit
        scale = None
        if isinstance(self.alpha, str):
            self.path_, scale = self._curve(problem, None, y_ndim)
            self.alpha_ = float(self.path_.values[self.path_.best(self.select)])
        else:
            self.alpha_ = float(self.alpha)
        if self.alpha_ == 0:
            problem.spectrum.check_full_rank()
        scaled = problem.spectrum.coef(np.array([self.alpha_]))
        coef, intercept = problem.centering.original(scaled[0])
        self.coef_ = squeeze(coef, y_ndim)
        self.intercept_ = squeeze(intercept, y_ndim)
        self.solver_ = problem.solver
        self._centering, self._spectrum = problem.centering, problem.spectrum
        return scale

    # ---- the path -------------------------------------------------------------------------------

    def _path(self, X: Any, y: Any, sample_weight: Any, values: Any) -> Path:
        return self._curve(self._decompose(X, y, sample_weight), values, y.ndim)[0]

    def _curve(self, problem: DecomposedProblem, values: Any, y_ndim: int) -> tuple[Path, Any]:
        """Return the path and the residual scale of its richest model, for Cp."""
        spectrum, n = problem.spectrum, problem.centering.n
        if values is None:
            alphas = _default_alphas(spectrum.lam, self.n_alphas)
        else:
            alphas = _check_alphas(values)
        if alphas[-1] == 0:
            spectrum.check_full_rank()
        df = problem.df(alphas)
        loo = leave_one_out(problem.blocks(), spectrum, alphas)
        rich = np.flatnonzero(n - df >= 1)
        scale = None
        if len(rich):
            scale = np.sqrt(loo.rss[rich[-1]] / (n - df[rich[-1]]))
            scale = squeeze(scale, y_ndim) if np.all(scale > 0) else None
        each = gaussian_criteria(
            loo.rss, df[:, None], n, scale=scale, log_weights=problem.log_weights
        )
        criteria = {
            name: found.mean(axis=1) if name == "gcv" else found.sum(axis=1)
            for name, found in each.items()
        }
        coef, _ = problem.centering.original(spectrum.coef(alphas))
        curve = Path(
            knob=self.knob,
            values=alphas,
            df=df,
            train_error=loo.rss.mean(axis=1) / problem.centering.weight,
            error=loo.error,
            error_se=loo.error_se,
            estimate="loo",
            loss="squared error",
            criteria=criteria,
            coef=coef if y_ndim == 2 else coef[:, 0],
        )
        return curve, scale

    def _path_predictions(
        self, X: Any, y: Any, sample_weight: Any, values: Array, X_new: Any
    ) -> Array:
        problem = self._decompose(X, y, sample_weight)
        alphas = np.asarray(values, dtype=np.float64)
        if np.any(alphas == 0):
            problem.spectrum.check_full_rank()
        coef, intercept = problem.centering.original(problem.spectrum.coef(alphas))
        predicted: FloatArray = np.moveaxis(X_new @ np.swapaxes(coef, 1, 2), 0, 1) + intercept
        return predicted if y.ndim == 2 else predicted[:, :, 0]

    # ---- predicting -----------------------------------------------------------------------------

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the fitted mean at each row of X.

        Parameters
        ----------
        X : array-like of shape (m, p)
            Points.
        return_std : bool
            Whether to return the standard error of the fitted mean too.

        Returns
        -------
        mean : ndarray of shape (m,) or (m, q)
        std : ndarray of the same shape
            Only with `return_std`.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        mean = self._evaluate(X)
        return (mean, self._error_at(X)) if return_std else mean

    def _evaluate(self, X: FloatArray) -> FloatArray:
        return np.asarray(X @ self.coef_.T + self.intercept_)

    def _standard_error(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return self._error_at(validate_data(self, X, dtype=np.float64, reset=False))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _default_alphas(lam: FloatArray, count: int) -> FloatArray:
    """Return penalties from one that shrinks every direction away to one that shrinks none.

    Directions whose size is near rounding do not lengthen the grid.
    The ends are rounded to a hundredth of a decade: a fit in chunks and one in memory, whose
    eigenvalues differ in their last digits, walk the same grid.
    """
    top = lam[0] if len(lam) else 1.0
    bottom = lam[lam > 1e-12 * top].min(initial=top)
    first, last = np.log10([1e3 * top, max(1e-4 * bottom, 1e-10 * top)]).round(2)
    return np.logspace(first, last, count)


def _check_alphas(values: Any) -> FloatArray:
    alphas = np.asarray(values, dtype=np.float64)
    if alphas.ndim != 1 or not len(alphas) or not np.all(np.isfinite(alphas) & (alphas >= 0)):
        raise InputError(
            f"values must be a list of finite penalties, none negative; got {values!r}."
        )
    return np.sort(alphas)[::-1]
