"""The elastic net: least squares with a penalty on absolute values and squares of coefficients."""

from collections.abc import Mapping
from typing import Any, ClassVar

from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.params import Parameter
from bottega.linear._penalized.regression import CARD, SHARED, PenalizedRegression
from bottega.linear.lasso import Lasso

__all__ = ["ElasticNet"]

# From the lasso on: of equal degrees of freedom the sparser penalty comes first.
_RATIOS = (1.0, 0.99, 0.95, 0.9, 0.7, 0.5, 0.1)


@documented_like(Lasso)
class ElasticNet(PenalizedRegression):
    r"""Linear regression that picks inputs, and keeps correlated ones together.

    By default each input is penalised on its own scale (``standardize=True``) and the penalty is
    chosen from the data (``alpha="auto"``). With ``standardize=False`` and a number as `alpha` the
    answer is that of scikit-learn's class of this name, which has neither.

    Minimises, over an intercept that is never penalised and coefficients :math:`\beta`,

    .. math:: \frac{1}{2n} \sum_i (y_i - \beta_0 - x_i^\top \beta)^2 + \alpha \sum_j w_j
              \Bigl( l\, |s_j \beta_j| + \frac{1 - l}{2} (s_j \beta_j)^2 \Bigr)

    where :math:`s_j` is the (divisor n) standard deviation of input j with ``standardize=True``,
    and one otherwise. With row weights :math:`v_i` the sum is that of :math:`v_i` times the squares
    and n the sum of the :math:`v_i`.

    Parameters
    ----------
    l1_ratio : float or "auto", default=0.5
        Share l of the absolute values in the penalty. 1 is the lasso, 0 ridge regression (at a
        given alpha; `Ridge` is quicker, and has a path).
        ``"auto"`` walks a path of alphas for each of 0.1, 0.5, 0.7, 0.9, 0.95, 0.99 and 1, and
        picks both. Along a path with ``standardize=True`` it is the share where the response has
        unit standard deviation, so that the units of y do not change the fit.

    Attributes
    ----------
    l1_ratio_ : float
        The share in use, in the objective as it is written above.

    Notes
    -----
    Absolute values of coefficients are in units of y, and their squares in units of its square. So
    with another unit of y the same share l is another compromise. A path therefore states l for a
    response of unit standard deviation :math:`s_y`, as glmnet does: the share in the objective is
    :math:`l / (l + (1 - l) / s_y)`, which `l1_ratio_` and the settings of the path say. At a given
    alpha, and with ``standardize=False`` as in scikit-learn, l is the share as it is written.

    Solver, degrees of freedom, row weights and folds are those of `Lasso`. With
    ``l1_ratio="auto"`` the path is ordered by degrees of freedom, among equals from the lasso to
    the smallest share. Do not read coefficients as effects: they are biased towards zero.

    References
    ----------
    .. [1] Zou, H. and Hastie, T. (2005). Regularization and variable selection via the elastic net.
       Journal of the Royal Statistical Society B 67, 301-320.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 5))
    >>> X[:, 1] = X[:, 0] + 0.01 * rng.normal(size=60)
    >>> y = 2 * X[:, 0] + rng.normal(size=60)
    >>> ElasticNet(alpha=0.5).fit(X, y).coef_.round(1) + 0.0
    array([0.8, 0.8, 0. , 0. , 0. ])
    >>> both = ElasticNet(l1_ratio="auto").fit(X, y)
    >>> len(both.path_), both.path_.settings[0]["l1_ratio"]
    (700, 1.0)
    >>> other = ElasticNet().fit(X, 1000 * y)
    >>> bool(np.allclose(other.coef_, 1000 * ElasticNet().fit(X, y).coef_))
    True
    """

    knobs: ClassVar[tuple[str, ...]] = ("alpha", "l1_ratio")
    params: ClassVar[Mapping[str, Parameter]] = SHARED
    card: ClassVar[Card] = Card(
        method="elastic_net",
        title="Elastic net",
        strengths=(
            "Selects inputs and shrinks the rest, with more columns than rows too.",
            "Correlated inputs come in together instead of one of them by chance.",
            "The whole path is exact: its duality gap is at rounding level.",
        ),
        weaknesses=(
            "Captures linear effects only: anything curved or interacting is bias.",
            "Two penalties to choose: tuning both walks a path for each share of absolute values.",
            "Coefficients are biased towards zero, and there are no tests on them.",
        ),
        assumptions=(
            "The mean is linear in the inputs, and few groups of them matter.",
            "Independent errors of constant variance (up to the row weights).",
        ),
        source="M10, D79, D91-D94",
        **CARD,
    )

    def __init__(
        self,
        alpha: float | str = "auto",
        *,
        l1_ratio: float | str = 0.5,
        weights: Any = None,
        adaptive: bool = False,
        relax: bool = False,
        standardize: bool = True,
        fit_intercept: bool = True,
        select: str = "one_se",
        alphas: Any = 100,
        eps: float | str = "auto",
        cv: Any = 10,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        positive: bool = False,
        warm_start: bool = False,
        precompute: Any = False,
        copy_X: bool = True,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.weights = weights
        self.adaptive = adaptive
        self.relax = relax
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.select = select
        self.alphas = alphas
        self.eps = eps
        self.cv = cv
        self.tol = tol
        self.max_iter = max_iter
        self.positive = positive
        self.warm_start = warm_start
        self.precompute = precompute
        self.copy_X = copy_X
        self.random_state = random_state
        self.selection = selection

    def _ratios(self) -> tuple[float, ...]:
        return _RATIOS if isinstance(self.l1_ratio, str) else super()._ratios()
