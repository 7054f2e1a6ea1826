"""Regression and classification by sums of hinges and their products, chosen from the data."""

from collections.abc import Mapping
from typing import Any, ClassVar

from bottega.additive._adaptive_model.classification import AdaptiveClassification
from bottega.additive._adaptive_model.parameters import CARD, FITTING, SHARED
from bottega.additive._adaptive_model.regression import AdaptiveRegression
from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.kinds import ClassWeight
from bottega.core.links import LINKS
from bottega.core.params import Auto, Choice, Integer, OrNone, Parameter

__all__ = ["AdaptiveSplines", "AdaptiveSplinesClassifier"]

_FAMILIES = ("gaussian", "binomial", "poisson", "gamma")


class AdaptiveSplines(AdaptiveRegression):
    r"""Regression by hinges and their products, grown forwards and removed backwards.

    .. math:: \hat f(x) = \beta_0 + \sum_{m=1}^{M} \beta_m h_m(x), \qquad
              h_m(x) = \prod_k \bigl[\pm (x_{j(k, m)} - t_{km})\bigr]_+

    Growth starts with the constant. Each step multiplies one of the terms so far by a pair of
    hinges :math:`[x_j - t]_+, [t - x_j]_+` of another input, at the knot t among its values that
    lowers the squared residuals most. The terms are then removed one by one, always the one that is
    missed least, and the number of terms kept is the one with the least

    .. math:: GCV = \frac{1}{n} \frac{\sum_i (y_i - \hat f(x_i))^2}{(1 - df / n)^2}, \qquad
              df = M + 1 + c\, \frac{M}{2}

    The method is also known by the trademark MARS.

    Parameters
    ----------
    n_terms : int or "auto", default="auto"
        Terms kept, the constant among them: the knob. ``"auto"`` picks by the rule `select`.
    degree : int, default=1
        Most inputs in a product: 1 is an additive model, 2 has interactions of two inputs (and is
        what a comparison of methods takes).
    max_terms : int or "auto", default="auto"
        Most terms grown. ``"auto"``: twice the columns, at least 20 and at most 200, and one.
    penalty : float or "auto", default="auto"
        Degrees of freedom c that each knot counts for in GCV; ``"auto"``: 2 for degree 1, 3 beyond.
    threshold : float, default=0.001
        Growth stops when a step raises R squared by less, or R squared is so near to one.
    minspan, endspan : int or "auto", default="auto"
        Rows from one knot to the next, and beyond the outermost knots, so that runs of noise are
        not followed; ``"auto"``: Friedman's rules.
    fast_k : int, default=20
        Terms that are tried as parents in each step, the most promising ones; 0 for all.
    fast_beta : float, default=1.0
        How many places a parent moves up in the queue for each step that it was not tried.
    rounds : int, default=1
        How often terms are grown and removed by least squares: each further round grows on from the
        terms of least GCV, and is the last one if that does not fall.
    linear_features : sequence of str or int, optional
        Columns that enter without knots.
    categorical_features : "auto" or sequence of str, int or bool, default="auto"
        Columns of numbers that are categories, besides the texts and categories of a frame.
    family : {"gaussian", "binomial", "poisson", "gamma"}, default="gaussian"
        Distribution of the response. Terms are always found by least squares; for families other
        than the gaussian the coefficients of the chosen terms are then fitted by likelihood. A
        binomial response is 0 or 1, or a proportion with the numbers of trials as weights.
    link : str, optional
        Link of the family: by default identity, logit, log and log in the order of the families.
    select : {"gcv", "min", "one_se", "aic", ...}, default="gcv"
        Rule that picks the number of terms. ``"min"`` and ``"one_se"`` use the held-out error of
        folds, in which everything is grown anew; the others hold nothing out.
    cv : int, float, splitter or list of (train, test), default=10
        Folds that judge the path.
    alpha : float, default=1e-6
        Ridge of coefficients by likelihood, in orthogonal coordinates of the terms and as a share
        of what the rows tell about one where no input counts. A millionth changes most coefficients
        in their sixth digit, and bounds those of responses that are separated.
    tol : float, default=1e-8
        Precision of coefficients by likelihood: the largest gain left, against the deviance
        without inputs.
    max_iter : int, default=50
        Newton steps for coefficients by likelihood.

    Attributes
    ----------
    n_terms_ : int
        Terms in use.
    basis_ : Basis
        The terms: ``basis_.terms``, and ``basis_.matrix`` at checked inputs.
    gcv_ : float
        GCV of least squares on the terms, summed over several responses.
    df_ : float
        Terms, plus the penalty for half of those beside the constant, and for the search of sets of
        levels.
    rss_ : float
        Weighted residual sum of squares of the predictions.
    deviance_ : float
        Deviance; for the gaussian the residual sum of squares.
    converged_ : bool
        Whether coefficients by likelihood reached `tol`; True for least squares.
    n_iter_ : int
        Newton steps taken; 1 for least squares.
    path_ : Path
        Criteria (and, if folds were asked for, honest errors) over the number of terms, where it
        was picked.
    columns_in_ : MixedInputs
        Names and levels of the columns.
    n_outputs_ : int
        Number of responses.

    See Also
    --------
    AdaptiveSplinesClassifier : the same for classes.
    AdditiveModel : smooth functions of single inputs, with tests and bands.

    Notes
    -----
    Candidate knots of an input are scanned in one pass with running sums, in coordinates that are
    orthogonal to the terms so far, so a step costs n for each parent and input, not a refit per
    knot. A category enters by sets of its levels; those with fewer than 5 rows count as one level.
    A set is the best of very many, so in df it counts for what was searched: with L levels like
    (L - 1) / 2 terms in its knots, a further set of the category like one term less, and all sets
    together like L - 1 terms at most.
    An input with missing values has a term for being missing, by which others are multiplied; where
    the rows of the fit had none, a missing value takes the median (the most frequent level) of the
    rows.

    Several responses share their terms. `coef_` and `knots_` are in the units of the inputs.

    df charges for the search, as usual with c between 2 and 4; sigma, aic and bic in `glance` use
    it. Standard errors of coefficients do not exist for terms that were looked for. For intervals
    of predictions use `bottega.risk.jackknife_plus`.

    Do not use it for extrapolation, or where inputs are nearly collinear and the choice among them
    matters.

    References
    ----------
    .. [1] Friedman, J. H. (1991). Multivariate adaptive regression splines. *Annals of Statistics*,
       19, 1-67.
    .. [2] Friedman, J. H. (1993). Fast MARS. Technical report 110, Department of Statistics,
       Stanford University.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(200, 4))
    >>> y = 3 + 4 * np.maximum(0, X[:, 0] - 0.5) - 2 * X[:, 2] + 0.1 * rng.normal(size=200)
    >>> model = AdaptiveSplines().fit(X, y)
    >>> sorted(model.importance()["input"][:2])
    ['x0', 'x2']
    >>> bool(abs(model.predict([[1.0, 0.0, 0.0, 0.0]])[0] - 5) < 0.2)
    True
    """

    # Beside additive models, a comparison lets it find interactions.
    walks: ClassVar[Mapping[str, Any]] = {"degree": 2}
    params: ClassVar[Mapping[str, Parameter]] = {
        "n_terms": Auto(Integer(1), help="terms kept, the constant among them"),
        **{name: SHARED[name] for name in list(SHARED)[:-2]},
        "family": Choice(*_FAMILIES, help="distribution of the response"),
        "link": OrNone(Choice(*LINKS), help="link of the family"),
        "select": SHARED["select"],
        "cv": SHARED["cv"],
        **FITTING,
    }
    card: ClassVar[Card] = Card(task="regression", source="D135-D139", **CARD)

    def __init__(
        self,
        n_terms: int | str = "auto",
        *,
        degree: int = 1,
        max_terms: int | str = "auto",
        penalty: float | str = "auto",
        threshold: float = 0.001,
        minspan: int | str = "auto",
        endspan: int | str = "auto",
        fast_k: int = 20,
        fast_beta: float = 1.0,
        rounds: int = 1,
        linear_features: Any = None,
        categorical_features: Any = "auto",
        family: str = "gaussian",
        link: str | None = None,
        select: str = "gcv",
        cv: Any = 10,
        alpha: float = 1e-6,
        tol: float = 1e-8,
        max_iter: int = 50,
    ) -> None:
        self.n_terms = n_terms
        self.degree = degree
        self.max_terms = max_terms
        self.penalty = penalty
        self.threshold = threshold
        self.minspan = minspan
        self.endspan = endspan
        self.fast_k = fast_k
        self.fast_beta = fast_beta
        self.rounds = rounds
        self.linear_features = linear_features
        self.categorical_features = categorical_features
        self.family = family
        self.link = link
        self.select = select
        self.cv = cv
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter


@documented_like(
    AdaptiveSplines, without=("rss_", "gcv_", "n_outputs_", "df_", "deviance_", "converged_")
)
class AdaptiveSplinesClassifier(AdaptiveClassification):
    r"""Classification by hinges and their products: least squares on indicators, or likelihood.

    The score of each class is a sum of the same terms,
    :math:`f_k(x) = \beta_{0k} + \sum_m \beta_{mk} h_m(x)`, found as `AdaptiveSplines` finds those
    of several responses; the largest score decides. What the scores are, and what the terms are
    looked for by, is the choice of `method`.

    Parameters
    ----------
    method : {"logistic", "indicator", "multinomial"}, default="logistic"
        ``"indicator"``: least squares on a column of 0 and 1 for each class; scores, but no
        probabilities. ``"logistic"``: the same terms, with the coefficients of the multinomial
        likelihood. ``"multinomial"``: terms are looked for by the likelihood too: each step of
        growth lowers a quadratic approximation of the deviance about the fit so far, removal one
        about the fit of all terms, and the chosen terms are fitted by Newton's method.
    alpha : float, default=0.01
        Ridge of coefficients by likelihood, in orthogonal coordinates of the terms and as a share
        of what the rows tell about one where no input counts: classes that the terms separate would
        otherwise have probabilities of 0 and 1.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, which multiplies that of its rows; ``"balanced"`` makes the classes
        weigh alike.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The classes, sorted.
    gcv_ : float
        GCV of least squares on the indicators, summed over the classes (of two: that of one); with
        ``method="multinomial"`` that of the quadratic approximation.
    df_ : float
        Terms, plus the penalty for half of those beside the constant, and for the search of sets of
        levels.
    deviance_ : float
        Twice the negative log-likelihood; NaN for ``method="indicator"``.
    converged_ : bool
        Whether coefficients by likelihood reached `tol`; True for least squares.

    See Also
    --------
    AdaptiveSplines : the same for numbers.
    AdditiveClassifier : smooth functions of single inputs.

    Notes
    -----
    Growth, categories, missing values and df are as in `AdaptiveSplines`. Least squares on
    indicators can mask a class that lies between others, unless hinges meet there, which growth
    usually finds.

    Hinges of one input with knots close to each other nearly repeat one another: their coefficients
    may be large and cancel, which the ridge, that bounds the scores, does not prevent. Read
    `effects` and `anova` then, not single coefficients; a smaller `n_terms` or a larger `penalty`
    leaves fewer such terms.

    In the growth of ``"multinomial"`` the quadratic approximation has one curvature for all rows
    and classes, which bounds that of the likelihood: a step lowers the squares of observed minus
    fitted probabilities. GCV of the approximation about a fit of too many terms keeps more of them
    than probabilities can bear; ``select="bic"`` goes well with this method. It takes no further
    `rounds`.

    References
    ----------
    .. [1] Kooperberg, C., Bose, S. and Stone, C. J. (1997). Polychotomous regression. *Journal of
       the American Statistical Association*, 92, 117-127.
    .. [2] Hastie, T., Tibshirani, R. and Buja, A. (1994). Flexible discriminant analysis by optimal
       scoring. *Journal of the American Statistical Association*, 89, 1255-1270.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> y = np.where(np.abs(X[:, 0]) < 0.7, "inside", "outside")
    >>> model = AdaptiveSplinesClassifier().fit(X, y)
    >>> model.predict([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    array(['inside', 'outside'], dtype='<U7')
    >>> model.importance()["input"][0]
    'x0'
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "n_terms": Auto(Integer(1), help="terms kept, the constant among them"),
        "method": Choice(
            "logistic", "indicator", "multinomial", help="what terms and scores are fitted by"
        ),
        **SHARED,
        **FITTING,
        "class_weight": ClassWeight(help="weight of each class: a dict, or 'balanced'"),
    }
    card: ClassVar[Card] = Card(task="classification", source="D135-D139, D175, D176", **CARD)

    def __init__(
        self,
        n_terms: int | str = "auto",
        *,
        method: str = "logistic",
        degree: int = 1,
        max_terms: int | str = "auto",
        penalty: float | str = "auto",
        threshold: float = 0.001,
        minspan: int | str = "auto",
        endspan: int | str = "auto",
        fast_k: int = 20,
        fast_beta: float = 1.0,
        rounds: int = 1,
        linear_features: Any = None,
        categorical_features: Any = "auto",
        select: str = "gcv",
        cv: Any = 10,
        alpha: float = 0.01,
        tol: float = 1e-8,
        max_iter: int = 50,
        class_weight: Any = None,
    ) -> None:
        self.n_terms = n_terms
        self.method = method
        self.degree = degree
        self.max_terms = max_terms
        self.penalty = penalty
        self.threshold = threshold
        self.minspan = minspan
        self.endspan = endspan
        self.fast_k = fast_k
        self.fast_beta = fast_beta
        self.rounds = rounds
        self.linear_features = linear_features
        self.categorical_features = categorical_features
        self.select = select
        self.cv = cv
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
