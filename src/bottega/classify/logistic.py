"""Logistic regression of two or more classes: without a penalty, or with the whole path of one."""

from collections.abc import Mapping
from typing import Any, ClassVar

from bottega.classify._logistic.estimator import LogisticEstimator
from bottega.core.cards import Card
from bottega.core.folds import Folds
from bottega.core.lists import Alphas
from bottega.core.params import (
    AnyOf,
    Anything,
    Auto,
    Boolean,
    Choice,
    ClassWeight,
    Integer,
    Jobs,
    OrNone,
    Parameter,
    Real,
    Seed,
)

__all__ = ["LogisticRegression"]

# The names that scikit-learn has for ways to find the minimum.
SOLVERS = ("auto", "lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")


class LogisticRegression(LogisticEstimator):
    r"""Linear classification by likelihood: log odds that are linear in the inputs.

    Minimises, over intercepts that are never penalised and coefficients :math:`\beta`,

    .. math:: -\frac{1}{n} \sum_i \log \hat p(y_i \mid x_i) + \alpha \sum_{c, j}
              \Bigl( l\, |s_j \beta_{cj}| + \frac{1 - l}{2} (s_j \beta_{cj})^2 \Bigr)

    Two classes have one vector of coefficients, the log odds of the second; more have one each,
    with probabilities by softmax. With row weights :math:`v_i` the sum is that of :math:`v_i` times
    the logarithms and n the sum of the :math:`v_i`.

    As it is, the model is that of scikit-learn's class of this name: ``C=1.0`` is the penalty
    :math:`\alpha = 1 / (n C)` on squares, of the inputs in their units (:math:`s_j = 1`). One word
    walks the whole path and picks from it: ``alpha="auto"``, which penalises each input on its own
    scale (:math:`s_j` its standard deviation, divisor n); ``l1_ratio=1`` with it is the lasso, that
    picks inputs. ``C=np.inf`` has no penalty: standard errors, tests, and separation said.

    Parameters
    ----------
    penalty : {"auto", "l1", "l2", "elasticnet", "deprecated"} or None, default="auto"
        What is penalised: absolute values, squares, or both as `l1_ratio` says, which also decides
        ``"auto"`` (and scikit-learn's word ``"deprecated"``). None is no penalty.
    C : float or "auto", default=1.0
        Inverse of the penalty's strength as scikit-learn has it, above 0; ``np.inf`` for none,
        ``"auto"`` as ``alpha="auto"``. It counts where `alpha` is None.
    alpha : float, "auto" or None, default=None
        Strength of the penalty, at least 0. ``"auto"`` picks from the path by the rule `select`.
        None leaves it to `C`.
    l1_ratio : float, "auto" or None, default=0.0
        Share l of the absolute values in the penalty. 0 (or None) is ridge, 1 the lasso. ``"auto"``
        walks a path of penalties for each of 0, 0.1, 0.5, 0.9 and 1, and picks both; with a number
        as `alpha` it picks the share alone.
    standardize : bool or "auto", default="auto"
        Whether to penalise each input on its own scale; results are reported on the original one.
        ``"auto"`` does with `alpha`, and does not with a number `C`, as scikit-learn.
    relax : bool, default=False
        Whether to fit the coefficients that a penalty leaves again, without it.
    fit_intercept : bool, default=True
        Whether there are intercepts, never penalised.
    select : {"min", "one_se", "aic", "aicc", "bic", "hq"}, default="one_se"
        Rule that picks from the path.
    alphas : int or array-like, default=100
        Penalties on the path: their number, or their values.
    cv : int, float, splitter or list of (train, test), default=10
        Number of folds that judge the path by their misclassification. Each class is spread over
        the folds. Or the folds themselves.
    tol : float, default=1e-8
        Largest duality gap, against the mean negative log-likelihood without inputs. The objective
        is usually nearer to its minimum by some digits.
    max_iter : int, default=100
        Newton steps for each penalty; with so many coefficients that L-BFGS takes them, a hundred
        times as many steps of it.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class; ``"balanced"`` makes the classes weigh alike. It multiplies the
        weights of the rows, also where the path is judged.
    solver : str, default="auto"
        One of scikit-learn's names. The answer does not depend on it; `solver_` says how the
        minimum was found.
    dual : bool, default=False
        The answer does not depend on it.
    intercept_scaling : float, default=1.0
        The answer does not depend on it: intercepts are not penalised.
    warm_start : bool, default=False
        Whether a fit starts at the coefficients of the one before.
    random_state : int, RandomState, Generator or None
        The answer does not depend on it: nothing is random.
    verbose : int, default=0
        Whether the progress of the fit is written to standard output.
    n_jobs : int or None, default=None
        Threads for folds; None or -1 for all cores.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The classes, sorted.
    coef_ : ndarray of shape (1, p) or (K, p)
        Coefficients on the original scale of the inputs. Without a penalty, or with squares alone,
        those of an input sum to zero over more than two classes.
    intercept_ : ndarray of shape (1,) or (K,)
        Intercepts; those of more than two classes sum to zero.
    alpha_ : float
        The penalty in use.
    l1_ratio_ : float
        The share of absolute values in it.
    C_ : float
        The same as scikit-learn measures it.
    df_ : float
        Degrees of freedom: an intercept per class but the first, and the coefficients that are not
        zero, each as far as squares in the penalty leave it.
    path_ : Path
        The whole curve, where the penalty was picked. In tables of more than half a million numbers
        its degrees of freedom may be some percent off, unless a criterion picks by them; `df_` is
        exact.
    gap_path_ : ndarray
        Relative duality gap at each penalty of `path_`.
    dual_gap_ : float
        Relative duality gap reached; without a penalty half the squared Newton step.
    n_iter_ : int
        Newton steps taken.
    converged_ : bool
        Whether the gap is at most `tol`.
    separated_ : bool or None
        Without a penalty: whether the classes can be separated, so that the coefficients have no
        limit. None where it was not looked at: with a penalty, in chunks, in very large tables.
    solver_ : {"newton", "proximal newton", "lbfgs"}
        How the minimum was found.

    Notes
    -----
    Newton with the second derivatives of all classes at once, the lasso by coordinate descent in
    each step on the columns that the path may have reached; what is left out is checked. Second
    derivatives cost n times the square of the number of coefficients of two classes, a slope n p:
    they are kept from one step and penalty to the next, corrected by what the steps show, and
    folds start with the fit and those of all rows. A fit to many rows starts from one to an eighth
    of them. With more columns than rows and squares in the penalty the rows are rotated into
    as many columns as there are rows; with thousands of coefficients, and hundreds in one fit to
    more sparse columns than rows, L-BFGS does without second derivatives. Sparse inputs stay
    sparse. Chunks are read once for each slope: the answer is that of the rows together.

    The path's df never decreases, and its criteria are those of the likelihood with that df. Its
    weakest penalty is a hundredth of the strongest with more columns than rows, else a thousandth;
    with squares alone a thousand times the lasso's strongest penalty counts as the strongest. It
    ends before that where all is explained, or five penalties in a row explain no more.

    Do not use it where classes are not divided by (nearly) flat boundaries. Without a penalty it
    needs many rows for each coefficient, and classes that overlap.

    References
    ----------
    .. [1] Friedman, J., Hastie, T. and Tibshirani, R. (2010). Regularization paths for generalized
       linear models via coordinate descent. Journal of Statistical Software 33(1).
    .. [2] Lee, J. D., Sun, Y. and Saunders, M. A. (2014). Proximal Newton-type methods for
       minimizing composite functions. SIAM Journal on Optimization 24(3), 1420-1443.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> y = np.where(X[:, 0] + 0.5 * rng.normal(size=100) > 0, "yes", "no")
    >>> lasso = LogisticRegression(alpha="auto", l1_ratio=1.0).fit(X, y)
    >>> lasso.coef_.nonzero()[1]
    array([0])
    >>> lasso.predict([[2.0, 0, 0, 0, 0]])
    array(['yes'], dtype='<U3')
    >>> free = LogisticRegression(C=np.inf).fit(X, y)
    >>> (free.tidy()["p_value"] < 0.001).tolist()
    [False, True, False, False, False, False]
    """

    knob: ClassVar[str] = "alpha"
    walks: ClassVar[Mapping[str, Any]] = {"alpha": "auto", "l1_ratio": 1.0}
    params: ClassVar[Mapping[str, Parameter]] = {
        "penalty": OrNone(
            Choice("auto", "l1", "l2", "elasticnet", "deprecated"), help="what is penalised"
        ),
        "C": Auto(
            Real(0, None, open_low=True, endless=True, log=True),
            help="inverse of the penalty, as in scikit-learn",
        ),
        "alpha": OrNone(Auto(Real(0, None, log=True)), help="strength of the penalty"),
        "l1_ratio": OrNone(Auto(Real(0, 1)), help="share of the absolute values in the penalty"),
        "standardize": AnyOf(
            Choice("auto"), Boolean(), help="penalise each input on its own scale"
        ),
        "relax": Boolean(help="fit the coefficients that are left again, without a penalty"),
        "fit_intercept": Boolean(help="have intercepts, free of penalty"),
        "select": Choice(
            "min", "one_se", "aic", "aicc", "bic", "hq", help="rule that picks from the path"
        ),
        "alphas": Alphas(),
        "cv": Folds(help="number of folds that judge the path, or folds"),
        "tol": Real(0, 1, open_low=True, log=True, help="largest relative duality gap"),
        "max_iter": Integer(1, None, help="Newton steps for each penalty"),
        "class_weight": ClassWeight(help="weight of each class: a dict, or 'balanced'"),
        "solver": Choice(*SOLVERS, help="for scikit-learn's sake: chosen by size"),
        "dual": Boolean(help="for scikit-learn's sake: the answer is the same"),
        "intercept_scaling": Real(help="for scikit-learn's sake: intercepts are not penalised"),
        "warm_start": Boolean(help="start at the coefficients of the fit before"),
        "random_state": Seed(help="for scikit-learn's sake: nothing is random"),
        "verbose": Anything(help="whether progress is written"),
        "n_jobs": Jobs(),
    }
    card: ClassVar[Card] = Card(
        method="logistic_regression",
        title="Logistic regression",
        task="classification",
        strengths=(
            "Gives probabilities from a likelihood, and readable log odds with standard errors.",
            "With absolute values in the penalty it selects inputs: most coefficients are zero.",
            "Works with many more columns than rows, and with two or more classes.",
            "Low variance, and good with boundaries oblique to the axes, unlike trees.",
        ),
        weaknesses=(
            "Captures linear boundaries between the classes only: high bias where they are curved.",
            "Of correlated inputs the lasso keeps one, and another sample may keep another.",
            "A penalty shrinks: probabilities are drawn towards the shares of the classes.",
            "Without a penalty there is no answer for classes that can be separated.",
        ),
        assumptions=(
            "The log odds of the classes are linear in the inputs.",
            "Independent rows.",
        ),
        cost="n p per penalty and fold, and n s^2 per Newton step with s inputs in the fit",
        source="D79, D91-D94, D160-D165",
        wide=True,
    )

    def __init__(
        self,
        penalty: str | None = "auto",
        *,
        C: float | str = 1.0,
        alpha: float | str | None = None,
        l1_ratio: float | str | None = 0.0,
        standardize: bool | str = "auto",
        relax: bool = False,
        fit_intercept: bool = True,
        select: str = "one_se",
        alphas: Any = 100,
        cv: Any = 10,
        tol: float = 1e-8,
        max_iter: int = 100,
        class_weight: Any = None,
        solver: str = "auto",
        dual: bool = False,
        intercept_scaling: float = 1.0,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.standardize = standardize
        self.relax = relax
        self.fit_intercept = fit_intercept
        self.select = select
        self.alphas = alphas
        self.cv = cv
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.solver = solver
        self.dual = dual
        self.intercept_scaling = intercept_scaling
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs
