"""The adaptive lasso: each penalty divided by the size of a pilot's coefficient."""

from collections.abc import Mapping
from typing import Any, ClassVar

from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.params import Parameter
from bottega.linear._penalized.regression import CARD, THEIRS, PenalizedRegression, without
from bottega.linear.lasso import Lasso

__all__ = ["AdaptiveLasso"]


@documented_like(Lasso)
class AdaptiveLasso(PenalizedRegression):
    r"""The lasso with each penalty divided by the size of a pilot's coefficient.

    Minimises :math:`\mathrm{RSS} / 2n + \alpha \sum_j |\beta_j| / |\tilde\beta_j|` on standardised
    inputs, with the pilot :math:`\tilde\beta` by least squares, or by ridge where that is not
    unique. Inputs that the pilot finds large are hardly shrunk and those it finds small are
    dropped, so that, unlike the lasso, it finds the right inputs in large samples whatever their
    correlation. It is `Lasso` with ``adaptive=True``.

    Notes
    -----
    Solver, degrees of freedom, row weights and folds are those of `Lasso`; every fold has a pilot
    of its own. Do not read coefficients as effects: a different sample would pick other inputs out
    of a correlated group.

    References
    ----------
    .. [1] Zou, H. (2006). The adaptive lasso and its oracle properties. Journal of the American
       Statistical Association 101, 1418-1429.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 6))
    >>> y = 2 * X[:, 0] - X[:, 3] + rng.normal(size=80)
    >>> AdaptiveLasso().fit(X, y).coef_.nonzero()[0]
    array([0, 3])
    """

    l1_ratio = 1.0
    adaptive = True
    params: ClassVar[Mapping[str, Parameter]] = without("l1_ratio", "adaptive", *THEIRS)
    card: ClassVar[Card] = Card(
        method="adaptive_lasso",
        title="Adaptive lasso",
        strengths=(
            "Finds the inputs that matter in large samples, whatever their correlation.",
            "Shrinks large coefficients little.",
            "The whole path is exact: its duality gap is at rounding level.",
        ),
        weaknesses=(
            "Captures linear effects only: anything curved or interacting is bias.",
            "Depends on its pilot estimate, which is poor with few rows or collinear columns.",
            "There are no tests on its coefficients.",
        ),
        assumptions=(
            "The mean is linear in the inputs, and few of them matter.",
            "The pilot estimate tells the inputs that matter from the others.",
        ),
        source="D85, D86, M10",
        **CARD,
    )

    def __init__(
        self,
        alpha: float | str = "auto",
        *,
        weights: Any = None,
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
    ) -> None:
        self.alpha = alpha
        self.weights = weights
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
