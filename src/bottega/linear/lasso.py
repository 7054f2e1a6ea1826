"""The lasso: least squares with a penalty on absolute coefficients."""

from collections.abc import Mapping
from typing import Any, ClassVar

from bottega.core.cards import Card
from bottega.core.params import Parameter
from bottega.linear._penalized.regression import CARD, PenalizedRegression, without

__all__ = ["Lasso"]


class Lasso(PenalizedRegression):
    r"""Linear regression that picks inputs: coefficients shrunk, most of them to zero.

    By default each input is penalised on its own scale (``standardize=True``) and the penalty is
    chosen from the data (``alpha="auto"``). With ``standardize=False`` and a number as `alpha` the
    answer is that of scikit-learn's class of this name, which has neither.

    Minimises, over an intercept that is never penalised and coefficients :math:`\beta`,

    .. math:: \frac{1}{2n} \sum_i (y_i - \beta_0 - x_i^\top \beta)^2
              + \alpha \sum_j w_j |s_j \beta_j|

    where :math:`s_j` is the (divisor n) standard deviation of input j with ``standardize=True``,
    and one otherwise. With row weights :math:`v_i` the sum is that of :math:`v_i` times the squares
    and n the sum of the :math:`v_i`. For uncorrelated standardised inputs the solution is that of
    least squares, each coefficient moved by alpha towards zero and no further.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        Strength of the penalty, at least 0; larger values leave fewer inputs. ``"auto"`` picks
        from the path by the rule `select`. 0 is least squares, allowed where that is unique.
    weights : array-like of shape (p,), optional
        Penalty weight of each input, one by default. 0 leaves its coefficient free of penalty,
        inf leaves the input out. (R's glmnet rescales its ``penalty.factor`` to sum to p; this
        does not.)
    adaptive : bool, default=False
        Whether to divide each weight by the absolute coefficient (on the penalised scale) of a
        pilot fit: least squares, or ridge where that is not unique. The folds have their own.
    relax : bool, default=False
        Whether to refit the inputs picked at each alpha by least squares, and to judge and report
        that fit. Where they are linearly dependent the penalised fit stays.
    standardize : bool, default=True
        Whether to penalise each input on its own scale (standard deviation with divisor n);
        results are reported on the original one.
    fit_intercept : bool, default=True
        Whether there is an intercept, never penalised.
    select : str, default="one_se"
        Rule that picks from the path: ``"min"`` or ``"one_se"`` of the cross-validated error, or a
        criterion (``"aic"``, ``"aicc"``, ``"bic"``, ``"hq"``, ``"gcv"``, ``"cp"``).
    alphas : int or array-like, default=100
        Penalties on the path: their number, from the smallest that leaves no input in, or their
        values.
    eps : float or "auto", default="auto"
        Weakest penalty of the path as a share of the strongest; ``"auto"`` is 0.001, or 0.01 with
        more inputs than rows.
    cv : int, splitter, list of (train, test) or None, default=10
        Number of folds that judge the path, or the folds. None judges it by generalised
        cross-validation instead, which costs nothing more.
    tol : float, default=1e-6
        Largest duality gap, against half the mean square of the centred response.
    max_iter : int, default=10000
        Sweeps of coordinate descent for each penalty.
    positive : bool, default=False
        Whether coefficients must not be negative.
    warm_start : bool, default=False
        Whether the descent starts at the coefficients of the fit before. The answer is the same.
    precompute : bool or array-like of shape (p, p), default=False
        The answer does not depend on it: products of columns are computed once where that is
        quicker, whatever is given.
    copy_X : bool, default=True
        The answer does not depend on it: X is never changed.
    random_state : int, RandomState, Generator or None
        The answer does not depend on it: nothing is random.
    selection : {"cyclic", "random"}, default="cyclic"
        The answer does not depend on it: the descent is always in cycles.

    Attributes
    ----------
    coef_ : ndarray of shape (p,)
        Coefficients on the original scale of the inputs.
    sparse_coef_ : sparse array of shape (1, p)
        The same, sparse.
    intercept_ : float
        Intercept.
    alpha_ : float
        The penalty in use.
    df_ : float
        Number of coefficients that are not zero, and one for the intercept.
    path_ : Path
        The whole curve, when `alpha` is ``"auto"``.
    gap_path_ : ndarray
        Relative duality gap at each penalty of `path_`.
    dual_gap_ : float
        Duality gap reached: how far the (penalised) objective is from its minimum at most.
    n_iter_ : int
        Sweeps of coordinate descent taken.
    converged_ : bool
        Whether the gap is within `tol`.
    solver_ : {"gram", "rows"}
        Whether the fit is from the p by p matrix of products, or from the rows with working sets.

    Notes
    -----
    Coordinate descent with warm starts finds the inputs and their signs; the linear system that
    these leave is solved directly, so the gap reached is that of rounding, far below `tol`. With
    no more than 1000 columns, and at least as many rows, all happens on the p by p matrix of
    products, :math:`O(n p^2)` once for the path and all folds. With more, each penalty costs one
    product of the inputs with the residuals of all folds together; only columns that the path is
    about to reach are looked at, and what is left out is checked. Sparse inputs stay sparse.

    df is the number of coefficients that are not zero (and the intercept), an unbiased estimate for
    the lasso [2]_. Where a coefficient becomes zero again further down, the path's df stays,
    so that it never decreases. With `relax` the count leaves out that the inputs were searched for.

    A row of weight zero counts for nothing, and a weight of k is k copies of the row, in the folds
    too. Do not read coefficients as effects: they are biased towards zero, and a different sample
    would pick other inputs out of a correlated group.

    References
    ----------
    .. [1] Tibshirani, R. (1996). Regression shrinkage and selection via the lasso. Journal of the
       Royal Statistical Society B 58, 267-288.
    .. [2] Zou, H., Hastie, T. and Tibshirani, R. (2007). On the "degrees of freedom" of the lasso.
       Annals of Statistics 35, 2173-2192.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 100))
    >>> y = 2 * X[:, 0] - X[:, 7] + rng.normal(size=50)
    >>> model = Lasso().fit(X, y)
    >>> bool(np.all(model.coef_[[0, 7]] != 0)), model.df_ < 25, model.converged_
    (True, True, True)
    >>> curve = Lasso().path(X, y)
    >>> len(curve), curve.estimate, int(curve.df[0])
    (100, 'cv', 1)
    >>> s = Lasso().bound(X, y, alpha=0.5)  # the largest sum of absolute coefficients
    >>> round(Lasso().alpha_of_bound(X, y, s), 6)
    0.5
    """

    l1_ratio = 1.0
    params: ClassVar[Mapping[str, Parameter]] = without("l1_ratio")
    card: ClassVar[Card] = Card(
        method="lasso",
        title="Lasso",
        strengths=(
            "Selects inputs: most coefficients are exactly zero, and selection is continuous in "
            "the penalty.",
            "Works with many more columns than rows.",
            "The whole path is exact: its duality gap is at rounding level.",
        ),
        weaknesses=(
            "Captures linear effects only: anything curved or interacting is bias.",
            "Of correlated inputs it keeps one, and another sample may keep another.",
            "Coefficients are biased towards zero, and there are no tests on them.",
            "Finds the right inputs only where those outside are not imitated by those inside "
            "(irrepresentable condition).",
        ),
        assumptions=(
            "The mean is linear in the inputs, and few of them matter.",
            "Independent errors of constant variance (up to the row weights).",
        ),
        source="D79-D82, D86, D91-D94",
        **CARD,
    )

    def __init__(
        self,
        alpha: float | str = "auto",
        *,
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
