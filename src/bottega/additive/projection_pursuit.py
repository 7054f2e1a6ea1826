"""Projection pursuit: sums of smooth functions of directions."""

from collections.abc import Mapping
from typing import Any, ClassVar

from bottega.additive._pursuit.classification import PursuitClassification
from bottega.additive._pursuit.estimator import SEARCH, WORK
from bottega.additive._pursuit.regression import PursuitRegression
from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.lists import Listed
from bottega.core.params import Choice, ClassWeight, OrNone, Parameter, Real
from bottega.core.path import Rule

__all__ = ["ProjectionPursuitClassifier", "ProjectionPursuitRegressor"]

_STRENGTHS = (
    "Captures interactions of any kind: every function is of a direction, not of one input.",
    "A universal approximator that needs few terms, usually two to ten.",
    "The answer does not depend on the units of the inputs, nor on rotations of them.",
)
_WEAKNESSES = (
    "The terms have no reading, unless a direction happens to have a meaning.",
    "Overfits when the number of terms is not limited: the path chooses it.",
    "The criterion has local minima; several starts make a bad one unlikely, not impossible.",
    "Weak with many inputs that do not matter: every direction spends a coefficient on each.",
)


class ProjectionPursuitRegressor(PursuitRegression):
    r"""Regression by a sum of smooth functions of directions.

    Minimises over directions :math:`a_m` of length one, ridge functions :math:`f_m` of mean zero
    and variance one, and shares :math:`\beta_{mk}`

    .. math:: \sum_k \omega_k \sum_i w_i \Bigl(y_{ik} - \beta_{0k}
              - \sum_{m=1}^{M} \beta_{mk} f_m\{a_m^\top (x_i - \bar x)\}\Bigr)^2

    where each function is as smooth as its smoother makes it. Several responses share directions
    and functions.

    Parameters
    ----------
    n_terms : int or "auto", default="auto"
        Number M of ridge functions; 0 leaves the constant. ``"auto"`` picks from the path, which
        starts there, by the rule `select`.
    max_terms : int, default=5
        Terms are added up to this number, or `n_terms` if that is more; then those that matter
        least are removed one by one.
    smoother : {"spline", "supersmoother"}, default="spline"
        What smooths along a direction: a smoothing spline, or running lines whose span is chosen
        at every point.
    df : float or "auto", default="auto"
        Degrees of freedom of each spline, above 1; ``"auto"`` chooses them by generalised
        cross-validation.
    gcv_penalty : float, default=2.0
        What a degree of freedom is charged there. 1 is plain cross-validation, which follows the
        noise that the choice of the direction found.
    span : float or "auto", default="auto"
        Share of the rows in a window of the supersmoother, the same everywhere; ``"auto"``
        chooses between 0.05 and 0.5 at every point.
    bass : float, default=0.0
        From 0 to 10: how much smoother than by errors alone the supersmoother is.
    optlevel : int, default=2
        What is readjusted after a term is added or removed. 0: nothing; 1: functions and shares, by
        backfitting; 2: directions too; 3: the shares of all terms together as well.
    n_starts : int, default=8
        Random directions from which the search for a new term starts, beside those that the data
        suggest: the linear fit, the directions of most curvature, and each input alone.
    response_weight : array-like of shape (q,) or None, default=None
        Weight :math:`\omega_k` of each response; None is one over its variance, so that all count
        alike.
    select : str, default="one_se"
        Rule that picks from the path: ``"min"`` or ``"one_se"`` of the error in folds, or a
        criterion (``"aic"``, ``"aicc"``, ``"bic"``, ``"hq"``, ``"gcv"``, ``"cp"``).
    cv : int, float, splitter or list of (train, test), default=5
        Number of folds that judge the path, or the folds.
    tol : float, default=0.001
        Relative decrease of the criterion in a pass of backfitting at which it stops.
    max_iter : int, default=50
        Passes of backfitting after each change of terms.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the random directions.
    n_jobs : int or None, default=None
        Threads for folds; None or -1 for all cores.

    Attributes
    ----------
    n_terms_ : int
        Number of terms in use.
    directions_ : ndarray of shape (M, p)
        Directions of length one, in the units of the inputs; the most important term first.
    ridge_functions_ : list of CubicCurve
        Functions of the projection of the centred inputs; call one with an array.
    terms_ : RidgeTerms
        All of it together: center, directions, functions, shares `beta` and intercepts.
    importance_ : ndarray of shape (M,)
        Size of the share of each term, summed over the responses.
    df_ : float
        Degrees of freedom: of the functions, directions and shares. They leave out the search.
    path_ : Path
        The whole curve, where `n_terms` is ``"auto"``.
    n_iter_ : int
        Passes of backfitting after the last change of terms.
    converged_ : bool
        Whether the last of them gained less than `tol`.

    Notes
    -----
    Inputs are turned into uncorrelated coordinates first. Along a direction rows are gathered in at
    most 256 cells, even in the ranks and in the projection, so that a smooth costs one pass over
    the rows without sorting: a Gauss-Newton step of a direction is O(n p) (second derivatives come
    from at most 16,384 rows). The step takes the function as one that follows the direction. A
    walk to M terms and back costs O(n p M^2) times the passes. Models of the path are the better of
    the forward and the backward one with as many terms.

    Beyond the data each function goes on as a straight line. There are no standard errors: the
    terms were chosen by looking at the response. For prediction intervals use
    `bottega.risk.split_conformal` or `bottega.risk.cross_conformal`, which hold for any model.

    Do not use it to explain the effect of single inputs, with nearly as many inputs as rows (every
    direction spends a coefficient on each input; the path then ends up with few terms, or none),
    nor for functions with jumps.

    References
    ----------
    .. [1] Friedman, J. H. and Stuetzle, W. (1981). Projection pursuit regression. Journal of the
       American Statistical Association 76, 817-823.
    .. [2] Friedman, J. H. (1984). SMART user's guide. Technical report 1, Laboratory for
       Computational Statistics, Stanford University.
    .. [3] Friedman, J. H. (1984). A variable span smoother. Technical report 5, ibid.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> y = np.sin(X[:, 0] + X[:, 1]) + 0.1 * rng.normal(size=300)
    >>> model = ProjectionPursuitRegressor(max_terms=3).fit(X, y)
    >>> model.n_terms_
    1
    >>> model.directions_.round(1) + 0.0
    array([[0.7, 0.7, 0. , 0. ]])
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        **SEARCH,
        "response_weight": OrNone(
            Listed(Real(0, None, open_low=True)), help="weight of each response"
        ),
        "select": Rule(),
        **WORK,
    }
    card: ClassVar[Card] = Card(
        method="projection_pursuit",
        title="Projection pursuit regression",
        task="regression",
        strengths=_STRENGTHS,
        weaknesses=_WEAKNESSES,
        assumptions=(
            "The mean of the response is nearly a sum of few smooth functions of directions.",
            "The noise has mean zero and the same variance everywhere, over the weight of the row.",
        ),
        cost="n p terms^2 per pass of backfitting and fold",
        source="D133-D134",
    )

    def __init__(
        self,
        n_terms: int | str = "auto",
        *,
        max_terms: int = 5,
        smoother: str = "spline",
        df: float | str = "auto",
        gcv_penalty: float = 2.0,
        span: float | str = "auto",
        bass: float = 0.0,
        optlevel: int = 2,
        n_starts: int = 8,
        response_weight: Any = None,
        select: str = "one_se",
        cv: Any = 5,
        tol: float = 1e-3,
        max_iter: int = 50,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_terms = n_terms
        self.max_terms = max_terms
        self.smoother = smoother
        self.df = df
        self.gcv_penalty = gcv_penalty
        self.span = span
        self.bass = bass
        self.optlevel = optlevel
        self.n_starts = n_starts
        self.response_weight = response_weight
        self.select = select
        self.cv = cv
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs


@documented_like(ProjectionPursuitRegressor, without=("response_weight",))
class ProjectionPursuitClassifier(PursuitClassification):
    r"""Classification by sums of smooth functions of directions.

    With ``method="likelihood"`` the log odds of two classes are

    .. math:: \log \frac{p(x)}{1 - p(x)} = \beta_0 + \sum_{m=1}^{M} \beta_m
              f_m\{a_m^\top (x - \bar x)\}

    and more classes have one such sum each, with shared directions and functions and
    probabilities by softmax; the likelihood is maximised. With ``method="indicator"`` the sums are
    fitted to the indicators of the classes by least squares, and the largest one decides.

    Parameters
    ----------
    method : {"likelihood", "indicator"}, default="likelihood"
        What is fitted. ``"indicator"`` has no probabilities.
    select : {"min", "one_se", "aic", "aicc", "bic", "hq"}, default="one_se"
        Rule that picks from the path; criteria are of the likelihood.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class; ``"balanced"`` makes the classes weigh alike. It multiplies the
        weights of the rows.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The classes, sorted.

    Notes
    -----
    The likelihood is maximised by Fisher scoring: each pass of backfitting fits the terms to
    working residuals, at most four log odds from the predictor, with their weights. A pass that
    does not raise the likelihood is taken again with half its length. Classes that can be separated
    have no largest likelihood: passes end where the deviance is a hundredth of that without terms.

    Do not use it to explain the effect of single inputs, nor with nearly as many inputs as rows.

    References
    ----------
    .. [1] Friedman, J. H. (1984). SMART user's guide. Technical report 1, Laboratory for
       Computational Statistics, Stanford University.
    .. [2] Roosen, C. B. and Hastie, T. J. (1994). Automatic smoothing spline projection pursuit.
       Journal of Computational and Graphical Statistics 3, 235-248.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 3))
    >>> y = np.where(np.abs(X[:, 0] - X[:, 1]) < 1, "near", "far")
    >>> model = ProjectionPursuitClassifier(max_terms=2).fit(X, y)
    >>> model.predict([[1.0, 1.0, 0.0], [2.0, -1.0, 0.0]]).tolist()
    ['near', 'far']
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        **SEARCH,
        "method": Choice("likelihood", "indicator", help="what is fitted"),
        "select": Choice(
            "min", "one_se", "aic", "aicc", "bic", "hq", help="rule that picks from the path"
        ),
        "class_weight": ClassWeight(help="weight of each class: a dict, or 'balanced'"),
        **WORK,
    }
    card: ClassVar[Card] = Card(
        method="projection_pursuit",
        title="Projection pursuit classification",
        task="classification",
        strengths=(*_STRENGTHS, "Curved boundaries between classes, with probabilities."),
        weaknesses=_WEAKNESSES,
        assumptions=(
            "The log odds of the classes are nearly sums of few smooth functions of directions.",
            "Independent rows.",
        ),
        cost="n p terms^2 per pass of backfitting and fold, times the classes",
        source="D133-D134, D171, D174",
    )

    def __init__(
        self,
        n_terms: int | str = "auto",
        *,
        max_terms: int = 5,
        smoother: str = "spline",
        df: float | str = "auto",
        gcv_penalty: float = 2.0,
        span: float | str = "auto",
        bass: float = 0.0,
        optlevel: int = 2,
        n_starts: int = 8,
        method: str = "likelihood",
        select: str = "one_se",
        class_weight: Any = None,
        cv: Any = 5,
        tol: float = 1e-3,
        max_iter: int = 50,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_terms = n_terms
        self.method = method
        self.max_terms = max_terms
        self.smoother = smoother
        self.df = df
        self.gcv_penalty = gcv_penalty
        self.span = span
        self.bass = bass
        self.optlevel = optlevel
        self.n_starts = n_starts
        self.select = select
        self.cv = cv
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
