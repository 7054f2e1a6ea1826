"""Ridge regression: least squares with a penalty on the squared length of the coefficients."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import Tags

from bottega.core.cards import Card
from bottega.core.deal import MOST_ORDERED
from bottega.core.errors import InputError
from bottega.core.lists import Alphas, Listed, alphas_of
from bottega.core.losses import Loss
from bottega.core.params import (
    AnyOf,
    Boolean,
    Choice,
    Integer,
    OrNone,
    Parameter,
    Real,
    Seed,
)
from bottega.core.path import Path, Rule
from bottega.core.typing import Array, FloatArray
from bottega.linear._decomposition.coefficients import SpectralPath
from bottega.linear._decomposition.leave_one_out import leave_one_out
from bottega.linear._decomposition.positive import nonnegative_coef, residual_squares
from bottega.linear._decomposition.problem import DecomposedProblem
from bottega.linear._penalized.constraint import ConstraintForm

__all__ = ["Ridge"]

# The names that scikit-learn has for ways to solve the equations.
SOLVERS = ("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs")


class Ridge(ConstraintForm, RegressorMixin, SpectralPath):
    r"""Linear regression with coefficients shrunk towards zero.

    By default each input is penalised on its own scale (``standardize=True``) and the penalty is
    chosen from the data (``alpha="auto"``). With ``standardize=False`` and a number as `alpha` the
    answer is that of scikit-learn's class of this name, which has neither.

    Minimises, over an intercept :math:`\beta_0` that is never penalised and coefficients
    :math:`\beta`,

    .. math:: \sum_i w_i (y_i - \beta_0 - x_i^\top \beta)^2 + \alpha \sum_j s_j^2 \beta_j^2

    where :math:`s_j` is the (weighted, divisor n) standard deviation of input j with
    ``standardize=True`` (without an intercept: its root mean square), and one otherwise. This is
    the penalty ``alpha * ||b||^2`` on the coefficients of inputs scaled to unit standard deviation.

    Parameters
    ----------
    alpha : float, "auto" or array-like of shape (q,), default="auto"
        Strength of the penalty, at least 0; larger values shrink more. 0 is least squares, of
        collinear inputs the solution with the shortest coefficients (on the penalised scale).
        ``"auto"`` picks from the path by the rule `select`. An array has a penalty for each of
        several responses; these are then fitted one by one, without a common smoother.
    standardize : bool, default=True
        Whether to penalise each input on its own scale; results are reported on the original one.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    select : str, default="one_se"
        Rule that picks from the path: ``"min"`` or ``"one_se"`` of the leave-one-out error, or a
        criterion (``"aic"``, ``"aicc"``, ``"bic"``, ``"hq"``, ``"gcv"``, ``"cp"``).
    alphas : int or array-like, default=100
        Penalties on the path: their number, or their values.
    positive : bool, default=False
        Whether coefficients must not be negative. The path is then judged by ten folds; df and
        standard errors take the inputs with a positive coefficient as given.
    copy_X : bool, default=True
        The answer does not depend on it: X is never changed.
    max_iter : int or None, default=None
        The answer does not depend on it: the equations are solved directly.
    tol : float, default=1e-4
        The answer does not depend on it.
    solver : str, default="auto"
        One of scikit-learn's names. The answer does not depend on it, as all would have to agree;
        `solver_` says how the equations were solved. ``positive=True`` admits ``"lbfgs"`` alone.
    random_state : int, RandomState, Generator or None
        The answer does not depend on it: nothing is random.

    Attributes
    ----------
    coef_ : ndarray of shape (p,) or (q, p)
        Coefficients on the original scale of the inputs.
    intercept_ : float or ndarray of shape (q,)
        Intercept.
    alpha_ : float or ndarray of shape (q,)
        The penalty in use.
    rank_ : int
        Number of directions in which the inputs vary.
    n_iter_ : int
        One: the equations are solved directly.
    path_ : Path
        The whole curve, when `alpha` is ``"auto"``.
    solver_ : {"svd", "gram", "qr", "dual"}
        How the inputs were decomposed: singular values of the rows (small data), eigenvalues of
        the p by p Gram matrix (many rows), QR factor of the rows (many rows, nearly collinear), or
        eigenvalues of the n by n Gram matrix (many columns).
    smoother_ : Smoother or SmootherSums
        What df, sigma, leverages, leave-one-out and the criteria follow from. A fit in chunks
        keeps sums alone.

    Notes
    -----
    One decomposition, :math:`O(n p \min(n, p))`, gives every penalty; the exact leave-one-out
    errors of m of them cost :math:`4 n m \min(n, p)` operations more. With ``U D V'`` the singular
    value decomposition of the inputs, df is one plus :math:`\sum_j d_j^2 / (d_j^2 + \alpha)`.
    Sparse inputs of more than four million numbers are never made dense: the products of the
    columns (or, with more columns than rows, of the rows) are centred afterwards.
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
        "alpha": AnyOf(
            Choice("auto"), Real(0, None, log=True), Listed(Real(0)), help="strength of the penalty"
        ),
        "standardize": Boolean(help="penalise each input on its own scale"),
        "fit_intercept": Boolean(help="have an intercept, free of penalty"),
        "select": Rule(),
        "alphas": Alphas(),
        "positive": Boolean(help="admit no negative coefficients"),
        "copy_X": Boolean(help="for scikit-learn's sake: X is never changed"),
        "max_iter": OrNone(Integer(1), help="for scikit-learn's sake: the fit is direct"),
        "tol": Real(0, help="for scikit-learn's sake: the fit is direct"),
        "solver": Choice(*SOLVERS, help="for scikit-learn's sake: the fit is direct"),
        "random_state": Seed(help="for scikit-learn's sake: nothing is random"),
    }
    card: ClassVar[Card] = Card(
        method="ridge",
        title="Ridge regression",
        task="regression",
        strengths=(
            "Works with more columns than rows and with collinear columns.",
            "Shrinks smoothly: a little bias buys a lot less variance than selecting inputs one by "
            "one.",
            "The whole path with exact leave-one-out errors comes from one decomposition.",
            "Easy to interpret: one coefficient per input, with a posterior distribution.",
        ),
        weaknesses=(
            "Captures linear effects only: anything curved or interacting is bias.",
            "Keeps every input: it never selects.",
            "Coefficients are biased towards zero, so tests on them do not hold.",
            "Depends on the scale of the inputs: standardise them, as is the default.",
        ),
        assumptions=(
            "The mean is near a linear function of the inputs, with coefficients of similar size "
            "once scaled.",
            "Independent errors; the posterior intervals take them as normal.",
        ),
        cost="n p min(n, p)",
        source="D71-D78, D94, D47",
        wide=True,
    )

    def __init__(
        self,
        alpha: float | str = "auto",
        *,
        standardize: bool = True,
        fit_intercept: bool = True,
        select: str = "one_se",
        alphas: Any = 100,
        positive: bool = False,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        solver: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.select = select
        self.alphas = alphas
        self.positive = positive
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.random_state = random_state

    def _check_params(self) -> None:
        super()._check_params()
        if self.solver not in ("auto", "lbfgs") and self.positive:
            raise InputError(
                f"solver={self.solver!r} does not support positive=True; leave it at 'auto'."
            )
        if self.solver == "lbfgs" and not self.positive:
            raise InputError("solver='lbfgs' is for positive=True alone; leave it at 'auto'.")

    def _kept(self, problem: DecomposedProblem, alphas: Array) -> FloatArray:
        return problem.spectrum.kept(alphas)

    def _scaled_coef(self, problem: DecomposedProblem, alphas: Array) -> FloatArray:
        if self.positive:
            return nonnegative_coef(problem.spectrum, alphas)
        return super()._scaled_coef(problem, alphas)

    def _settle(self, problem: DecomposedProblem, setting: Mapping[str, Any]) -> None:
        self.n_iter_ = 1
        if np.ndim(setting["alpha"]):
            return self._settle_each(problem, np.asarray(setting["alpha"], dtype=np.float64))
        self.alpha_ = float(setting["alpha"])
        if self.positive:
            return self._keep_bounded(problem, self.alpha_)
        kept = self._kept(problem, np.array([self.alpha_]))
        self._keep(problem, problem.spectrum, kept, problem.spectrum.lost(self.alpha_))
        return None

    def _settle_each(self, problem: DecomposedProblem, alphas: FloatArray) -> None:
        """Settle a penalty for each response."""
        q = len(problem.tss)
        if len(alphas) == 1:
            return self._settle(problem, {"alpha": alphas[0]})
        if len(alphas) != q:
            raise InputError(
                "Number of targets and number of penalties do not correspond: "
                f"{len(alphas)} != {q}; give one alpha, or one per response."
            )
        self.alpha_ = alphas  # type: ignore[assignment]
        spectrum = problem.spectrum
        if self.positive:
            each = [replace(spectrum, rotated=spectrum.rotated[:, [k]]) for k in range(q)]
            coef = np.stack(
                [nonnegative_coef(one, alphas[[k]])[0, 0] for k, one in enumerate(each)]
            )
        else:
            coef = spectrum.coef_of_each(alphas)
        return self._keep_apart(problem, coef)

    def _path(self, problem: DecomposedProblem, values: Any, loss: Loss | None) -> Path:
        values = alphas_of(values, self.alphas)
        if values is None:
            alphas = _default_alphas(problem, self.alphas)
        else:
            alphas = np.sort(np.asarray(values, dtype=np.float64))[::-1]
        if self.positive:  # the columns that are used depend on y: folds judge the path
            rss = residual_squares(problem, nonnegative_coef(problem.spectrum, alphas))
            return self._gaussian_path(problem, alphas, rss)
        if loss is None or self._needs_no_errors(problem):
            lost = problem.spectrum.lost(alphas)
            rss = problem.squares_outside() + np.square(lost).T @ problem.spectrum.rotated**2
            return self._gaussian_path(problem, alphas, rss)
        loo = leave_one_out(problem.reduce, problem.spectrum, alphas, loss)
        judged: dict[str, Any] = {"error": loo.error, "error_se": loo.error_se}
        judged |= {"estimate": "loo", "loss": loss.title}
        return self._gaussian_path(problem, alphas, loo.rss, **judged)

    def _needs_no_errors(self, problem: DecomposedProblem) -> bool:
        """Return True for more than a million rows in chunks, and a rule that takes a criterion.

        Leave-one-out would be a further pass over them.
        """
        many = problem.rows is None and problem.centering.n > MOST_ORDERED
        return many and self.select not in ("min", "one_se")

    def _penalty_at(self, problem: DecomposedProblem, alpha: float) -> float:
        return float(np.sum(self._scaled_coef(problem, np.array([alpha])) ** 2))

    def _strongest(self, problem: DecomposedProblem) -> float:
        return float(_default_alphas(problem, 2)[0])

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _notes(self) -> tuple[str, ...]:
        scale = "standardised" if self.standardize else "unscaled"
        notes = f"Penalty alpha = {self.alpha_:.4g} on {scale} inputs; solver {self.solver_}."
        if self.positive:
            return notes, "No coefficient may be negative, so there are no tests."
        if self.alpha_ == 0:
            return (notes,)
        biased = (
            "Penalised estimates are biased towards zero: no t tests; the limits are those of the "
            "posterior interval."
        )
        return notes, biased


def _default_alphas(problem: DecomposedProblem, count: int) -> FloatArray:
    """Return penalties from one that shrinks every direction away to one that shrinks none.

    Directions whose size is near rounding do not lengthen the grid.
    The ends are rounded to a hundredth of a decade: a fit in chunks and one in memory, whose
    eigenvalues differ in their last digits, walk the same grid. They are those for weights of mean
    one, so that the size of all weights changes nothing but the size of the penalties.
    """
    unit = problem.centering.weight / problem.centering.n
    lam = problem.spectrum.lam / unit
    top = lam[0] if len(lam) else 1.0
    bottom = lam[lam > 1e-12 * top].min(initial=top)
    first, last = np.log10([1e3 * top, max(1e-4 * bottom, 1e-10 * top)]).round(2)
    return np.asarray(unit * np.logspace(first, last, count))
