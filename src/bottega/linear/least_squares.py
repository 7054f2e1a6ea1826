"""Least squares: the linear model, with everything that is known about it."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Self

import narwhals.stable.v2 as nw
import numpy as np
from scipy import stats
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from bottega.core.base import Estimator
from bottega.core.cards import Card
from bottega.core.errors import DataWarning, InputError
from bottega.core.params import Boolean, Choice, Parameter
from bottega.core.smoother import Smoother, SmootherSums
from bottega.core.tables import Section, Summary
from bottega.core.typing import BoolArray, FloatArray
from bottega.core.weights import check_weight
from bottega.linear._decomposition.centering import squeeze
from bottega.linear._decomposition.leave_one_out import RowBlock, leave_one_out
from bottega.linear._decomposition.problem import DecomposedProblem
from bottega.linear._decomposition.rank import names_of, term_names
from bottega.linear._decomposition.unpenalized import decompose_unpenalized, flops
from bottega.linear.chunked import CheckedChunks
from bottega.linear.inference import CoefficientInference

__all__ = ["LeastSquares"]

_SHOWN = 20  # coefficients in a summary


class LeastSquares(RegressorMixin, CoefficientInference, Estimator):
    r"""Linear regression by least squares.

    Minimises, over an intercept :math:`\beta_0` and coefficients :math:`\beta`,

    .. math:: \sum_i w_i (y_i - \beta_0 - x_i^\top \beta)^2.

    Parameters
    ----------
    method : {"auto", "qr", "cholesky"}, default="auto"
        How the equations are solved. ``"cholesky"`` factorises the p by p matrix X'X: the fewest
        operations, at the price of half the digits when columns are nearly collinear. ``"qr"``
        factorises the rows themselves: four times the work of many rows, and as accurate as can
        be. ``"auto"`` takes QR for small data and wherever Cholesky would lose digits.
    fit_intercept : bool, default=True
        Whether there is an intercept.

    Attributes
    ----------
    coef_ : ndarray of shape (p,) or (q, p)
        Coefficients; zero for aliased columns.
    intercept_ : float or ndarray of shape (q,)
        Intercept.
    aliased_ : ndarray of bool, shape (p,)
        Columns that are combinations of the columns before them (and of the constant, with an
        intercept).
    residual_covariance_ : ndarray of shape (q, q)
        Covariance of the errors of the responses, Y'(I - P)Y / (n - df); one by one for a single
        response.
    solver_ : {"qr", "cholesky"}
        How the equations were solved.
    flops_ : float
        Operations of the solver: ``p^3 + n p^2 / 2`` for Cholesky, ``2 n p^2`` for QR, with p the
        number of coefficients.
    smoother_ : Smoother or SmootherSums
        What df, sigma, leverages, leave-one-out and the criteria follow from. A fit in chunks
        keeps sums alone.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (p,)
        Names of the columns, when X is a data frame.

    Notes
    -----
    Rows are handled in blocks: besides X itself there are a few numbers a row. df is the rank of
    the inputs, plus one with an intercept. Several responses are fitted together: the coefficients
    are those of q single regressions.

    Where columns are collinear, no data can share their effect out among them. As in R's ``lm`` a
    column that is a combination of earlier ones (less than 1e-7 of its length is left, 1e-6 with
    Cholesky) is aliased: its coefficient is zero, `tidy` shows it as missing, and a `DataWarning`
    names it. Columns that do not vary are aliased with the intercept without a warning. Which of a
    collinear set is aliased depends on their order; predictions at rows that keep the collinearity
    do not.

    `sigma_`, standard errors and tests assume independent errors of variance
    :math:`\sigma^2 / w_i`, and the tests normal ones. n counts the rows of positive weight.
    R squared is about the mean, without an intercept too.

    Do not use it with nearly as many columns as rows, or to choose among many inputs: the variance
    grows with every column, and tests after a selection do not hold. `Ridge` shrinks instead.

    References
    ----------
    .. [1] Golub, G. H. and Van Loan, C. F. (2013). Matrix Computations, 4th ed., chapter 5. Johns
       Hopkins University Press.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 2))
    >>> y = 1 + X @ [2.0, 0.0] + rng.normal(size=50)
    >>> model = LeastSquares().fit(X, y)
    >>> model.coef_.round(2), round(model.intercept_, 2)
    (array([ 2.18, -0.  ]), 1.03)
    >>> model.tidy()["p_value"].round(3).tolist()
    [0.0, 0.0, 0.983]
    >>> model.solver_, model.flops_
    ('qr', 900.0)
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "method": Choice("auto", "qr", "cholesky", help="how the equations are solved"),
        "fit_intercept": Boolean(help="have an intercept"),
    }
    card: ClassVar[Card] = Card(
        method="least_squares",
        title="Least squares",
        task="regression",
        knob=None,
        strengths=(
            "Unbiased where the truth is linear, with exact tests and intervals.",
            "Readable: one coefficient an input, with its standard error.",
            "One pass over the rows solves it; leave-one-out costs nothing more.",
        ),
        weaknesses=(
            "Only sees straight lines: anything curved or interacting is bias.",
            "Its variance grows with every column and explodes near collinearity.",
            "A single outlying row can pull it far away.",
        ),
        cost="n p^2",
        source="D24-D30, D36, M401-M409, A62",
        weights=True,
        multioutput=True,
        chunks=True,
        linear_smoother=True,
    )
    alpha_ = 0.0  # what the inference for penalised fits calls no penalty

    def __init__(self, *, method: str = "auto", fit_intercept: bool = True) -> None:
        self.method = method
        self.fit_intercept = fit_intercept

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
        LeastSquares
            The fitted estimator.
        """
        self._check_params()
        self._remember_frame(X)
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
        weight = check_weight(sample_weight, len(y))
        rows: Any = slice(None)
        chunk = X, y.reshape(len(y), -1), weight
        if weight is not None and not np.all(weight > 0):
            rows = weight > 0
            chunk = chunk[0][rows], chunk[1][rows], weight[rows]
        problem = self._solve([chunk], y.ndim)
        fitted, leverage = self._evaluate(X), np.zeros(len(y))
        parts = [block.residuals(problem.spectrum, 0.0) for block in problem.blocks()]
        residuals = np.concatenate([part[0] for part in parts])
        leverage[rows] = 1 - np.concatenate([part[1] for part in parts])
        fitted[rows] = y[rows] - residuals.reshape(fitted[rows].shape)
        self.smoother_ = Smoother(
            y,
            fitted,
            leverage,
            df=self._df(problem),
            weight=weight,
            trace_sst=problem.trace_sst(0.0),
        )
        if chunk[2] is not None:
            residuals *= np.sqrt(chunk[2])[:, None]
        self._keep_covariance(residuals.T @ residuals)
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
        LeastSquares
            With the same coefficients, df, sigma, errors and criteria as `fit` on all rows
            together. What is per row (leverages, residuals) is not kept; asking for it is an
            `InputError`.
        """
        self._check_params()
        first = next(iter(chunks), None)
        if first is None:
            raise InputError("There are no chunks to fit; give at least one (X, y).")
        X, y, *_ = first
        self._remember_frame(X)
        # Sets the number of columns and their names; the rows are checked chunk by chunk.
        validate_data(self, X, skip_check_array=True)
        checked = CheckedChunks(chunks, self.n_features_in_, np.ndim(y))
        problem = self._solve(checked, checked.y_ndim)
        scatter = np.zeros((len(problem.tss), len(problem.tss)))

        def blocks() -> Iterator[RowBlock]:
            for block in problem.blocks():
                scatter[:] += block.outside.T @ block.outside
                yield block

        loo = leave_one_out(blocks(), problem.spectrum, np.zeros(1))
        self.smoother_ = SmootherSums(
            n=problem.centering.n,
            rss=squeeze(loo.rss[0], checked.y_ndim),
            tss=squeeze(problem.tss, checked.y_ndim),
            df=self._df(problem),
            loo=float(loo.error[0]),
            log_weights=problem.log_weights,
            trace_sst=problem.trace_sst(0.0),
        )
        self._keep_covariance(scatter)
        return self

    def _solve(self, chunks: Any, y_ndim: int) -> DecomposedProblem:
        """Decompose, keep the coefficients, and say which columns add nothing."""
        problem, self.aliased_ = decompose_unpenalized(
            chunks, method=self.method, fit_intercept=self.fit_intercept
        )
        coef, intercept = problem.centering.original(problem.spectrum.coef(np.zeros(1))[0])
        self.coef_ = squeeze(coef, y_ndim)
        self.intercept_ = squeeze(intercept, y_ndim)
        self.solver_ = problem.solver
        p = self.n_features_in_ + self.fit_intercept
        self.flops_ = flops(problem.solver, problem.centering.n, p)
        self._centering, self._spectrum = problem.centering, problem.spectrum
        collinear = self.aliased_ & ~problem.centering.constant
        if collinear.any():
            warnings.warn(
                f"Collinear inputs: {names_of(self, collinear)} can be written by the columns "
                f"before (rank {problem.spectrum.rank} of {len(collinear)} columns, "
                f"{problem.centering.n} rows). They get a zero coefficient (see aliased_); leave "
                "them out, or share the effect among collinear columns by Ridge.",
                DataWarning,
                stacklevel=3,
            )
        return problem

    def _df(self, problem: DecomposedProblem) -> float:
        return float(problem.spectrum.rank + self.fit_intercept)

    def _keep_covariance(self, scatter: FloatArray) -> None:
        left = self.smoother_.df_residual
        self.residual_covariance_ = scatter / left if left > 0 else np.full_like(scatter, np.nan)

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

    # ---- inference ------------------------------------------------------------------------------

    def covariance(self, kind: str = "sampling") -> FloatArray:
        r"""Return the covariance matrix of `coef_`, :math:`\sigma^2 (X^\top X)^{-1}`.

        Parameters
        ----------
        kind : {"sampling", "posterior"}
            Without a penalty both are the same.

        Returns
        -------
        ndarray of shape (p, p) or (q, p, p)
            With rows and columns of aliased inputs missing.
        """
        if kind not in ("sampling", "posterior"):
            raise InputError(f"kind={kind!r} is not allowed; use 'sampling' or 'posterior'.")
        found = super().covariance("sampling")
        found[..., self.aliased_, :] = np.nan
        found[..., :, self.aliased_] = np.nan
        return found

    def _term_errors(self, kind: str) -> FloatArray:
        return super()._term_errors("sampling")

    def _terms(self, level: float = 0.95) -> dict[str, Any]:
        columns = super()._terms(level)
        aliased: BoolArray = np.concatenate(
            [np.zeros(int(self.fit_intercept), bool), self.aliased_]
        )
        absent = np.resize(aliased, len(columns["term"]))
        for name, column in columns.items():
            if name not in ("response", "term"):
                columns[name] = np.where(absent, np.nan, column)
        return columns

    def vif(self) -> Any:
        r"""Return the variance inflation factors, one row an input.

        :math:`1 / (1 - R_j^2)`, with :math:`R_j^2` from the regression of input j on the other
        inputs in use (about zero instead of the mean without an intercept): how many times the
        variance of its coefficient is what it would be were the inputs uncorrelated. Above 10 the
        data hardly tell its effect from those of the others.

        Returns
        -------
        data frame
            Columns term and vif; missing for aliased inputs.
        """
        check_is_fitted(self)
        unit = self._spectrum.quadratic(self._spectrum.V, 1.0, 0.0, "sampling")
        factor = np.where(self.aliased_, np.nan, unit * self._centering.weight)
        return self._make_frame({"term": term_names(self), "vif": factor})

    def _f_test(self) -> dict[str, float]:
        """Return the F test of all coefficients being zero, for one response."""
        fit, rank = self._fitted_smoother(), self._spectrum.rank
        statistic = np.nan
        if self._spectrum.rotated.shape[1] == 1 and rank and fit.df_residual > 0:
            with np.errstate(divide="ignore", invalid="ignore"):
                statistic = np.sum(self._spectrum.rotated**2) / rank / np.square(fit.sigma)
        p_value = stats.f.sf(statistic, rank, fit.df_residual)
        return {"statistic": float(statistic), "p_value": float(p_value)}

    def glance(self) -> Any:
        """Return one row about the model: size, df, scale, fit, criteria and the F test.

        Returns
        -------
        data frame
            The columns of every linear smoother, and the F test of all coefficients being zero:
            statistic, p_value (missing with several responses), df_residual.
        """
        frame = nw.from_native(super().glance(), eager_only=True)
        columns = frame.to_dict(as_series=False)
        test = self._f_test() | {"df_residual": self._fitted_smoother().df_residual}
        return self._make_frame(columns | {name: [value] for name, value in test.items()})

    def summary(self) -> Summary:
        """Return tables about residuals, coefficients and the fit, as text, HTML and Markdown."""
        fit, terms = self._fitted_smoother(), self._terms()
        sections = [self._glance_section()]
        if isinstance(fit, Smoother) and fit.y.ndim == 1:
            used = slice(None) if fit.weight is None else fit.weight > 0
            root = 1.0 if fit.weight is None else np.sqrt(fit.weight[used])
            marks = np.quantile(root * fit.residuals[used], [0, 0.25, 0.5, 0.75, 1])
            names = ("min", "1Q", "median", "3Q", "max")
            heading = "Residuals" if fit.weight is None else "Weighted residuals"
            row = {name: [float(mark)] for name, mark in zip(names, marks, strict=True)}
            sections.append(Section(heading, row))
        shown = {name: list(column[:_SHOWN]) for name, column in terms.items()}
        sections.append(Section("Coefficients", shown))
        notes = [f"Solved by {self.solver_} in {self.flops_:.4g} operations."]
        test = self._f_test()
        if np.isfinite(test["statistic"]):
            spare = 1 - (1 - fit.r_squared) * (fit.n - 1) / fit.df_residual
            notes.append(
                f"F = {test['statistic']:.4g} on {self._spectrum.rank} and {fit.df_residual:g} df, "
                f"p = {test['p_value']:.4g}; adjusted R squared {spare:.4g}."
            )
        if self.aliased_.any():
            notes.append(
                f"Aliased, with a zero coefficient: {names_of(self, self.aliased_)}, constant or "
                "collinear with the columns before."
            )
        if len(terms["term"]) > _SHOWN:
            count = len(terms["term"])
            notes.append(f"The first {_SHOWN} of {count} terms are shown; tidy() has them all.")
        return Summary(self.card.title, tuple(sections), tuple(notes))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
