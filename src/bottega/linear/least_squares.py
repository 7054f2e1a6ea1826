"""Least squares: the linear model, with everything that is known about it."""

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import stats
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bottega.core.cards import Card
from bottega.core.chunked import Chunked
from bottega.core.chunks import CheckedChunks
from bottega.core.documents import documented_like
from bottega.core.params import Boolean, Choice, Jobs, Parameter, Real
from bottega.core.results import glance_row, glance_section, shown_terms, term_names
from bottega.core.rows import Rows
from bottega.core.smoother import Smoother
from bottega.core.tables import Section, Summary
from bottega.core.typing import BoolArray, FloatArray
from bottega.linear._decomposition.coefficients import SpectralCoefficients
from bottega.linear._decomposition.problem import DecomposedProblem, decompose_moments, moments_of
from bottega.linear._decomposition.rank import names_of, warn_collinear
from bottega.linear._decomposition.unpenalized import flops, solve_unpenalized
from bottega.linear.ridge import Ridge

__all__ = ["LeastSquares"]


@documented_like(Ridge, without=("alpha_", "path_"))
class LeastSquares(RegressorMixin, SpectralCoefficients, Chunked):
    r"""Linear regression by least squares.

    Minimises, over an intercept :math:`\beta_0` and coefficients :math:`\beta`,

    .. math:: \sum_i w_i (y_i - \beta_0 - x_i^\top \beta)^2.

    Parameters
    ----------
    method : {"auto", "qr", "cholesky"}, default="auto"
        How the equations are solved. ``"cholesky"`` factorises the p by p matrix X'X: the fewest
        operations, at the cost of half the digits when columns are nearly collinear. ``"qr"``
        factorises the rows themselves: four times the work of many rows, and as accurate as can
        be. ``"auto"`` takes QR for small data and wherever Cholesky would lose digits.

    copy_X : bool, default=True
        The answer does not depend on it: X is never changed.
    tol : float, default=1e-6
        The answer does not depend on it: the equations are solved directly.
    n_jobs : int or None, default=None
        Threads of the linear algebra; None or -1 for all cores.
    positive : bool, default=False
        Whether coefficients must not be negative. df and standard errors then take the inputs with
        a positive coefficient as given, and there are no tests.

    Attributes
    ----------
    coef_ : ndarray of shape (p,) or (q, p)
        Coefficients; zero for aliased columns.
    rank_ : int
        Number of columns that are not aliased.
    singular_ : ndarray of shape (min(n, p),)
        Singular values of the (weighted) inputs, centred where there is an intercept.
    aliased_ : ndarray of bool, shape (p,)
        Columns that are combinations of the columns before them (and of the constant, with an
        intercept).
    residual_covariance_ : ndarray of shape (q, q)
        Covariance of the errors of the responses, Y'(I - P)Y / (n - df); one by one for a single
        response.
    solver_ : {"qr", "cholesky", "gram"}
        How the equations were solved; ``"gram"`` is for positive coefficients.
    flops_ : float
        Operations of the solver: ``p^3 + n p^2 / 2`` for Cholesky, ``2 n p^2`` for QR, with p the
        number of coefficients.

    Notes
    -----
    Rows are handled in blocks: besides X itself there are a few numbers per row. df is the rank of
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
        "copy_X": Boolean(help="for scikit-learn's sake: X is never changed"),
        "tol": Real(0, help="for scikit-learn's sake: the fit is direct"),
        "n_jobs": Jobs(),
        "positive": Boolean(help="admit no negative coefficients"),
    }
    card: ClassVar[Card] = Card(
        method="least_squares",
        title="Least squares",
        task="regression",
        strengths=(
            "Familiar and effective: unbiased where the truth is linear, with exact tests and "
            "intervals.",
            "Easy to interpret: one coefficient per input, with its standard error.",
            "Simple to compute, with recursive updates as rows arrive; leave-one-out costs nothing "
            "more.",
            "Its variance does not suffer from the curse of dimensionality: every row informs "
            "every coefficient.",
        ),
        weaknesses=(
            "Captures linear effects only: anything curved or interacting is bias.",
            "Its variance grows with every column and explodes near collinearity.",
            "A single outlying row can pull it far away.",
            "Forced for classification: harmless where only the prediction matters.",
        ),
        assumptions=(
            "The mean is linear in the inputs.",
            "Errors are independent with constant variance (up to the row weights); normal ones "
            "for exact tests.",
            "More rows than columns; columns that are combinations of others are dropped.",
        ),
        cost="n p^2",
        source="D24-D30, D36, M401-M409, A62",
    )
    alpha_ = 0.0  # what the inference for penalised fits calls no penalty

    def __init__(
        self,
        *,
        method: str = "auto",
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        positive: bool = False,
    ) -> None:
        self.method = method
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive

    def _prepare(self, rows: Rows) -> DecomposedProblem:
        chunks = [(rows.X, rows.y.reshape(len(rows), -1), rows.weight)]
        return self._decompose(moments_of(chunks), chunks, rows.y.ndim, rows)

    def _prepare_merged(self, statistics: Any, chunks: CheckedChunks) -> DecomposedProblem:
        return self._decompose(statistics, chunks, chunks.y_ndim, None)

    def _decompose(self, *source: Any) -> DecomposedProblem:
        # A column that others could replace may be needed where these must not be negative.
        solve = None if self.positive else partial(solve_unpenalized, self.method)
        how: Any = {"standardize": True, "fit_intercept": self.fit_intercept, "solve": solve}
        return decompose_moments(*source, **how)

    def _settle(self, problem: DecomposedProblem, setting: Mapping[str, Any]) -> None:
        n, p = problem.centering.n, self.n_features_in_ + self.fit_intercept
        self.flops_ = flops(problem.solver, n, p)
        self.aliased_: BoolArray = np.zeros(self.n_features_in_, dtype=np.bool_)
        if self.positive:
            self._singular = _singular_values(problem)
            return self._keep_bounded(problem, 0.0)
        spectrum = problem.spectrum
        all_kept = np.ones((spectrum.rank, 1))
        scatter = self._keep(problem, spectrum, all_kept, 0 * all_kept)
        self.aliased_ = problem.aliased  # type: ignore[assignment]
        if self.aliased_.any():
            self._singular = _singular_values(problem)
        left = self.smoother_.df_residual
        self.residual_covariance_ = scatter / left if left > 0 else np.full_like(scatter, np.nan)
        collinear = self.aliased_ & ~problem.centering.constant
        warn_collinear(self, collinear, spectrum.rank, n)
        return None

    @property
    def singular_(self) -> FloatArray:
        """Singular values of the inputs as the fit sees them, unscaled."""
        check_is_fitted(self)
        if hasattr(self, "_singular"):
            return self._singular
        root = np.sqrt(self._spectrum.lam)[:, None] * self._spectrum.V.T
        return np.asarray(np.linalg.svd(root * self._centering.scale, compute_uv=False))

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def vif(self) -> Any:
        r"""Return the variance inflation factors, one row per input.

        :math:`1 / (1 - R_j^2)`, with :math:`R_j^2` from the regression of input j on the other
        inputs in use (about zero instead of the mean without an intercept): how many times the
        variance of its coefficient is what it would be were the inputs uncorrelated. Above 10 the
        data hardly tell its effect from those of the others.

        Returns
        -------
        data frame
            Columns term and vif; missing for aliased inputs.
        """
        self._fitted_smoother()
        unit = self._spectrum.quadratic(self._spectrum.V, 1.0, 0.0, "sampling")
        factor = np.where(self.aliased_ | (unit == 0), np.nan, unit * self._centering.weight)
        return self._make_frame({"term": term_names(self, intercept=False), "vif": factor})

    def _f_test(self) -> dict[str, float]:
        """Return the F test of all coefficients being zero, for one response."""
        fit, rank = self._fitted_smoother(), self._spectrum.rank
        statistic = np.nan
        if (
            not self.positive
            and self._spectrum.rotated.shape[1] == 1
            and rank
            and fit.df_residual > 0
        ):
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
        fit = self._fitted_smoother()
        row = glance_row(fit, **self._f_test(), df_residual=fit.df_residual)
        return self._make_frame({name: [value] for name, value in row.items()})

    def summary(self) -> Summary:
        """Return tables about residuals, coefficients and the fit, as text, HTML and Markdown."""
        fit = self._fitted_smoother()
        terms, more = shown_terms(self._terms())
        sections = [glance_section(self._glance_row())]
        if isinstance(fit, Smoother) and fit.y.ndim == 1:
            used = slice(None) if fit.weight is None else fit.weight > 0
            root = 1.0 if fit.weight is None else np.sqrt(fit.weight[used])
            marks = np.quantile(root * fit.residuals[used], [0, 0.25, 0.5, 0.75, 1])
            names = ("min", "1Q", "median", "3Q", "max")
            heading = "Residuals" if fit.weight is None else "Weighted residuals"
            row = {name: [float(mark)] for name, mark in zip(names, marks, strict=True)}
            sections.append(Section(heading, row))
        return Summary(self.card.title, (*sections, terms), (*self._notes(), *more))

    def _notes(self) -> tuple[str, ...]:
        fit, test = self._fitted_smoother(), self._f_test()
        notes = [f"Solved by {self.solver_} in {self.flops_:.4g} operations."]
        if np.isfinite(test["statistic"]):
            spare = 1 - (1 - fit.r_squared) * (fit.n - 1) / fit.df_residual
            notes.append(
                f"F = {test['statistic']:.4g} on {self._spectrum.rank} and {fit.df_residual:g} df, "
                f"p = {test['p_value']:.4g}; adjusted R squared {spare:.4g}."
            )
        if self.positive:
            notes.append("No coefficient may be negative, so there are no tests.")
        if self.aliased_.any():
            notes.append(
                f"Aliased, with a zero coefficient: {names_of(self, self.aliased_)}, constant or "
                "collinear with the columns before."
            )
        return tuple(notes)


def _singular_values(problem: DecomposedProblem) -> FloatArray:
    """Return the singular values of all columns, those that are aliased included."""
    assert problem.gram is not None
    scale = problem.centering.scale
    square = np.linalg.eigvalsh(problem.gram * np.multiply.outer(scale, scale))[::-1]
    count = min(problem.centering.n, len(scale))
    return np.sqrt(np.maximum(square[:count], 0.0))
