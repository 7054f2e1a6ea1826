"""Least angle regression: the exact path from no coefficients to least squares."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.folds import Folds
from bottega.core.likelihood import gaussian_path
from bottega.core.losses import Loss
from bottega.core.params import Auto, Boolean, Choice, Integer, OrNone, Parameter
from bottega.core.path import Path, Rule, along
from bottega.core.rows import Rows
from bottega.core.tuned import Tuned
from bottega.core.typing import Array
from bottega.linear._least_angle.angle_path import AnglePath, angle_path
from bottega.linear._selected.coefficients import (
    SelectedCoefficients,
    check_whole_numbers,
    totals_of,
)
from bottega.linear.lasso import Lasso

__all__ = ["LeastAngle"]


@documented_like(Lasso, without=("gap_path_", "dual_gap_", "converged_", "solver_"))
class LeastAngle(SelectedCoefficients, RegressorMixin, Tuned):
    r"""Linear regression along the path of least angles, or along the exact path of the lasso.

    The walk starts with all coefficients at zero. The column most correlated with the residual
    becomes active and its coefficient grows until another column is as correlated; then both move
    along the direction that makes equal angles with them, and so on, to least squares. With
    ``method="lasso"`` a column whose coefficient comes back to zero leaves, and the walk visits
    every solution of

    .. math:: \min_{\beta_0, \beta} \; \frac{1}{2 \sum_i w_i} \sum_i w_i (y_i - \beta_0 - x_i^\top
              \beta)^2 + \alpha \sum_j s_j |\beta_j|

    where :math:`s_j` is the (weighted, divisor n) standard deviation of input j with
    ``standardize=True``, and one otherwise.

    Parameters
    ----------
    n_nonzero_coefs : int or "auto", default="auto"
        Number of steps to walk: 0 is the mean of the response alone, and each step gives one more
        column a coefficient. (With ``method="lasso"`` a step may drop a column instead.)
        ``"auto"`` picks from the path by the rule `select`. More steps than the path has stay at
        its end.
    method : {"lar", "lasso"}, default="lar"
        Whether active columns stay for good, or leave when their coefficient comes back to zero.
    standardize : bool, default=True
        Whether to compare columns on one scale; results are reported on the original one.
    fit_intercept : bool, default=True
        Whether there is an intercept, free of penalty.
    cv : int, float, "loo", splitter or list of (train, test), default=10
        Number of folds (at most one per row), the share of rows to hold out, or the folds.
    max_iter : int or None, default=None
        Where to stop the walk; None walks to least squares (with p > n: to a perfect fit).

    Attributes
    ----------
    support_ : ndarray of int
        Columns with a coefficient.
    n_nonzero_coefs_ : int
        Steps walked to the model.
    n_iter_ : int
        Steps of the whole walk.
    alpha_ : float
        The largest absolute correlation ``|x_j' r| / n`` there: the lasso's penalty.
    df_ : float
        Degrees of freedom: the active columns, and one for the intercept.
    alphas_ : ndarray of shape (m,)
        Alpha at every knot of the path, decreasing.
    coef_path_ : ndarray of shape (m, p)
        Coefficients at every knot, on the original scale; linear in alpha in between.
    active_ : list of ndarray
        Columns active on the segment that starts at each knot.
    entered_ : ndarray of shape (m,)
        Column that enters at each knot, -1 where none does.
    drops_ : list of (int, int)
        Knot and column of every column that leaves (``method="lasso"``).
    collinear_ : ndarray of int
        Columns that lie in the span of those active at the end and were therefore never let in:
        they keep a zero coefficient, and the fit loses nothing.
    path_ : Path
        The whole curve, when `n_nonzero_coefs` is ``"auto"``.

    Notes
    -----
    After one QR factor of the data, :math:`O(n p^2)`, a step costs :math:`O(p \min(n, p))`: the
    triangular factor of the active columns is updated when one enters or leaves. With p > n at
    most n - 1 columns are active (n without an intercept).

    The degrees of freedom are the number of active columns (plus the intercept): exact for the
    lasso on average, and for ``"lar"`` under mild conditions. A lasso path may drop several columns
    in a row; its curve is ordered by degrees of freedom, then by steps.

    The error is cross-validated at the knots of the whole data: for ``"lar"`` each fold is judged
    after the same number of steps, for ``"lasso"`` where its own path passes the same alpha,
    between two of its knots as a rule. A perfect fit with no degrees of freedom left has infinite
    criteria.

    Where two columns tie exactly the one on the left enters first, at a knot of its own with the
    same alpha. Do not use it for p in the tens of thousands when a few alphas will do (coordinate
    descent is quicker), nor read its coefficients as tested: they are shrunk and chosen.

    References
    ----------
    .. [1] Efron, B., Hastie, T., Johnstone, I. and Tibshirani, R. (2004). Least angle regression.
       Annals of Statistics 32, 407-499.
    .. [2] Zou, H., Hastie, T. and Tibshirani, R. (2007). On the "degrees of freedom" of the lasso.
       Annals of Statistics 35, 2173-2192.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 6))
    >>> y = 2 * X[:, 1] - X[:, 4] + rng.normal(size=80)
    >>> model = LeastAngle(select="min").fit(X, y)
    >>> model.entered_[:2], len(model.alphas_)
    (array([1, 4]), 7)
    >>> LeastAngle(2, method="lasso").fit(X, y).support_
    array([1, 4])
    """

    knob: ClassVar[str] = "n_nonzero_coefs"
    params: ClassVar[Mapping[str, Parameter]] = {
        "n_nonzero_coefs": Auto(Integer(0), help="number of steps along the path"),
        "method": Choice("lar", "lasso", help="whether columns may leave again"),
        "standardize": Boolean(help="compare columns on one scale"),
        "fit_intercept": Boolean(help="have an intercept, free of penalty"),
        "select": Rule(),
        "cv": Folds(help="folds of the cross-validation"),
        "max_iter": OrNone(Integer(1), help="where to stop the walk"),
    }
    card: ClassVar[Card] = Card(
        method="least_angle",
        title="Least angle regression",
        task="regression",
        strengths=(
            "The whole path, exact, for the cost of about one least-squares fit.",
            "Selects columns and shrinks them: few inputs, and gently.",
            "Works with more columns than rows.",
            "The order in which columns enter is easy to interpret.",
        ),
        weaknesses=(
            "Captures linear effects only: anything curved or interacting is bias.",
            "Among strongly correlated columns it picks one by small differences.",
            "Coefficients are shrunk and selected, so tests on them do not hold.",
            "Depends on the scale of the inputs: standardise them, as is the default.",
        ),
        assumptions=(
            "The mean is linear in the inputs, and few of them matter.",
            "Independent errors of constant variance (up to the row weights).",
        ),
        cost="n p min(n, p) in each fold",
        source="D89-D90, D94",
        wide=True,
    )

    def __init__(
        self,
        n_nonzero_coefs: int | str = "auto",
        *,
        method: str = "lar",
        standardize: bool = True,
        fit_intercept: bool = True,
        select: str = "one_se",
        cv: Any = 10,
        max_iter: int | None = None,
    ) -> None:
        self.n_nonzero_coefs = n_nonzero_coefs
        self.method = method
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.select = select
        self.cv = cv
        self.max_iter = max_iter

    def _prepare(self, rows: Rows) -> AnglePath:
        return angle_path(
            rows,
            lasso=self.method == "lasso",
            standardize=self.standardize,
            fit_intercept=self.fit_intercept,
            max_iter=self.max_iter,
        )

    def _settle(self, walk: AnglePath, setting: Mapping[str, Any]) -> None:
        step = min(int(setting["n_nonzero_coefs"]), len(walk.alphas) - 1)
        self.coef_path_, intercept = walk.centering.original(walk.coef)
        self.coef_, self.intercept_ = self.coef_path_[step], float(intercept[step])
        self.support_ = np.flatnonzero(self.coef_)
        self.n_nonzero_coefs_, self.alpha_ = step, float(walk.alphas[step])
        self.alphas_, self.n_iter_ = walk.alphas, len(walk.alphas) - 1
        self.entered_, self.active_ = walk.entered, walk.active()
        self.drops_ = [(int(i), int(walk.left[i])) for i in np.flatnonzero(walk.left >= 0)]
        self.collinear_ = walk.collinear
        df = walk.count[step] + self.fit_intercept
        self._keep_totals(totals_of(walk.rows), rss=walk.rss[step], df=df)

    def _path(self, walk: AnglePath, values: Any, loss: Loss | None) -> Path:
        self.alphas_ = walk.alphas  # where the folds are judged
        steps = np.arange(len(walk.alphas))
        if values is not None:
            steps = check_whole_numbers(values, 0, len(walk.alphas) - 1)
        # Simplest first; of equally many columns the one earlier on the path.
        steps = steps[np.argsort(walk.count[steps], kind="stable")]
        return gaussian_path(
            along("n_nonzero_coefs", steps),
            rss=walk.rss[steps],
            df=walk.count[steps] + self.fit_intercept,
            n=walk.centering.n,
            weight=walk.centering.weight,
            log_weights=walk.rows.log_weights,
            coef=walk.centering.original(walk.coef[steps])[0],
            richest=(walk.full_rss, walk.rank + self.fit_intercept),
        )

    def _predictions(
        self, walk: AnglePath, settings: Sequence[Mapping[str, Any]], X_new: Any, method: str
    ) -> Array:
        steps = np.array([int(setting["n_nonzero_coefs"]) for setting in settings])
        if self.method == "lasso":
            scaled = walk.at_alphas(self.alphas_[steps])
        else:
            scaled = walk.coef[np.minimum(steps, len(walk.alphas) - 1)]
        coef, intercept = walk.centering.original(scaled)
        return np.asarray(X_new @ coef.T + intercept)
