"""Ridge regression: least squares with a penalty on the squared length of the coefficients."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from bottega.core.cards import Card
from bottega.core.losses import Loss
from bottega.core.params import Auto, Boolean, Parameter, Real
from bottega.core.path import Path, Rule
from bottega.core.typing import Array, FloatArray
from bottega.linear._decomposition.coefficients import SpectralPath
from bottega.linear._decomposition.leave_one_out import leave_one_out
from bottega.linear._decomposition.problem import DecomposedProblem
from bottega.linear._penalized.constraint import ConstraintForm
from bottega.optimize.coordinate import Alphas, check_alphas, given_alphas

__all__ = ["Ridge"]


class Ridge(ConstraintForm, RegressorMixin, SpectralPath):
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
    alphas : int or array-like, default=100
        Penalties on the path: their number, or their values.

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
        "alphas": Alphas(),
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
    ) -> None:
        self.alpha = alpha
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.select = select
        self.alphas = alphas

    def _kept(self, problem: DecomposedProblem, alphas: Array) -> FloatArray:
        if np.any(alphas == 0):
            problem.spectrum.check_full_rank()
        return problem.spectrum.kept(alphas)

    def _settle(self, problem: DecomposedProblem, setting: Mapping[str, Any]) -> None:
        self.alpha_ = float(setting["alpha"])
        kept = self._kept(problem, np.array([self.alpha_]))
        self._keep(problem, problem.spectrum, kept, problem.spectrum.lost(self.alpha_))

    def _path(self, problem: DecomposedProblem, values: Any, loss: Loss | None) -> Path:
        values = given_alphas(self.alphas, values)
        if values is None:
            alphas = _default_alphas(problem.spectrum.lam, self.alphas)
        else:
            alphas = check_alphas(values)
        loo = leave_one_out(problem.blocks(), problem.spectrum, alphas, loss)
        judged: dict[str, Any] = {}
        if loss is not None:
            judged = {"error": loo.error, "error_se": loo.error_se}
            judged |= {"estimate": "loo", "loss": loss.title}
        return self._gaussian_path(problem, alphas, loo.rss, **judged)

    def _penalty_at(self, problem: DecomposedProblem, alpha: float) -> float:
        kept = self._kept(problem, np.array([alpha]))
        return float(np.sum(problem.spectrum.coef_keeping(kept) ** 2))

    def _strongest(self, problem: DecomposedProblem) -> float:
        return float(_default_alphas(problem.spectrum.lam, 2)[0])

    def _notes(self) -> tuple[str, ...]:
        scale = "standardised" if self.standardize else "unscaled"
        notes = f"Penalty alpha = {self.alpha_:.4g} on {scale} inputs; solver {self.solver_}."
        if self.alpha_ == 0:
            return (notes,)
        biased = (
            "Penalised estimates are biased towards zero: no t tests; the limits are those of the "
            "posterior interval."
        )
        return notes, biased


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
