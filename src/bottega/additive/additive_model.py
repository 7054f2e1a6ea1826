"""Additive models: sums of smooth curves, for responses of many kinds and for classes."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy import stats
from sklearn.base import ClassifierMixin, RegressorMixin

from bottega.additive._model.estimator import AdditiveEstimator, shares_of
from bottega.additive._model.response import check_family_response
from bottega.core.cards import Card
from bottega.core.classes import check_classes, decided
from bottega.core.documents import documented_like
from bottega.core.errors import InputError, ParameterError
from bottega.core.likelihood import BINOMIAL, FAMILIES, get_family
from bottega.core.links import LINKS
from bottega.core.lists import Listed
from bottega.core.params import (
    AnyOf,
    Anything,
    Auto,
    Boolean,
    Choice,
    Integer,
    OrNone,
    Parameter,
    Real,
)
from bottega.core.path import Rule
from bottega.core.results import check_level
from bottega.core.typing import Array, FloatArray
from bottega.core.validate import with_warning

__all__ = ["AdditiveClassifier", "AdditiveModel"]

_SHARED: dict[str, Parameter] = {
    "engine": Choice("penalized", "backfitting", help="all terms at once, or one after the other"),
    "method": Choice("reml", "gcv", "ubre", "loo", help="what chooses the smoothing parameters"),
    "alpha": Auto(Real(0, None, log=True), help="smoothing parameter of all terms"),
    "multiplier": Auto(
        Real(0, None, open_low=True, log=True), help="multiplies the smoothing parameters"
    ),
    "n_splines": Integer(4, None, help="functions of each smooth term"),
    "shrink": Boolean(help="let whole terms shrink to nothing"),
    "interactions": Integer(0, None, help="most interactions that a forward step may add"),
    "n_terms": OrNone(Integer(0, None), help="how many terms a forward choice takes in"),
    "categorical_features": Anything(help="columns of numbers that are categories"),
    "select": Rule(),
    "multipliers": AnyOf(
        Integer(2),
        Listed(Real(0, None, open_low=True, log=True)),
        help="multipliers on the path: how many, or which",
    ),
    "tol": Real(0, 1, open_low=True, log=True, help="relative change that ends backfitting"),
    "max_iter": Integer(1, None, help="most rounds of backfitting"),
}
_STRENGTHS = (
    "Readable: the effect of each input is a curve to look at, the same at all values of the rest.",
    "Escapes the curse of dimensionality: the error is that of curves, whatever their number.",
    "How smooth each curve is follows from the data, with bands and tests for each term.",
    "Takes categories and missing values as they are; columns of two values become lines.",
    "One pass over the rows, then the work does not grow with them; it fits chunks.",
)
_WEAKNESSES = (
    "No local peaks: interactions must be asked for, or a forward step let add them.",
    "Inputs that follow curves of one another (concurvity) share their effect as they please.",
    "A smooth term cannot jump; trees can.",
)
_ASSUMPTIONS = (
    "The effects add up on the scale of the link, and are smooth.",
    "Independent rows, with the variance that the family says.",
)


class AdditiveModel(RegressorMixin, AdditiveEstimator):
    r"""A sum of smooth effects of the inputs, known as a generalised additive model.

    .. math:: g(E[Y]) = \beta_0 + \sum_j f_j(x_j) + \sum_{jk} f_{jk}(x_j, x_k), \qquad
              \max_f\; \ell(f) - \frac{1}{2} \sum_j \alpha_j J(f_j)

    Each effect has mean zero over the rows. Curves are P-splines: B-splines on even knots, with the
    squared differences of neighbouring coefficients as J. How smooth each is (:math:`\alpha_j`) is
    chosen by restricted likelihood, all at once.

    Parameters
    ----------
    terms : str, list of terms or None, default=None
        The terms: a formula such as ``"smooth(x1) + smooth(x2, df=6) + tensor(x3, x4) + g"``, or a
        list of `smooth`, `local`, `tensor`, `factor`, `random`, `linear` and `offset`. None is a
        smooth term for each number (a line where it has two values), the levels of each category
        (random effects where there are more than 20). With hundreds of columns these curves have
        fewer functions, or are lines.
    family : {"gaussian", "binomial", "poisson", "negative_binomial", "gamma"}, default="gaussian"
        Distribution of the response. Binomial responses are 0 and 1, or shares with the trials as
        weights; for labels there is `AdditiveClassifier`.
    link : str or None, default=None
        Link g; that of the family by default: identity, logit, log, log and log.
    engine : {"penalized", "backfitting"}, default="penalized"
        All terms at once; or one after the other, each by a smoother of `bottega.smooth`
        (smoothing splines with `df` given, 4 by default, or loess for ``local()``).
    method : {"reml", "gcv", "ubre", "loo"}, default="reml"
        What chooses the smoothing parameters.
    alpha : float or "auto", default="auto"
        Smoothing parameter of all terms, instead of one chosen for each.
    multiplier : float or "auto", default=1.0
        Multiplies the smoothing parameters: the knob of the path. ``"auto"`` picks from the path by
        the rule `select`.
    n_splines : int, default=10
        Functions of each smooth term, unless it says otherwise: enough to follow the truth, the
        penalty does the rest; `check` tells where they are too few.
    shrink : bool, default=False
        Whether the straight part of each curve is penalised too, so that a term without use
        shrinks to nothing.
    interactions : int, default=0
        At most so many products of two smooth columns are added by a forward step, each if the
        score test of it is significant among all pairs.
    n_terms : int or None, default=None
        How many of the terms a forward choice takes in, each by its score test; None for all. See
        `terms_path` for the whole curve.
    categorical_features : "auto" or list of str or int, default="auto"
        Columns of numbers that are categories, besides the texts and categories of a frame.
    select : str, default="min"
        Rule that picks from the path: ``"min"`` or ``"one_se"`` of the leave-one-out error, or a
        criterion (``"aic"``, ``"aicc"``, ``"bic"``, ``"hq"``, ``"gcv"``).
    multipliers : int or array-like, default=13
        Values on the path: how many between 1000 and 1/1000, or which.
    tol : float, default=1e-8
        Relative change of the fit at which backfitting ends.
    max_iter : int, default=200
        Most rounds of backfitting.

    Attributes
    ----------
    terms_ : tuple of PlacedTerm
        The terms in use.
    fit_ : Fit
        Coefficients, covariances, smoothing parameters and degrees of freedom.
    blocks_ : tuple of Block
        Columns and penalties of the terms.
    family_ : Family
        The family in use, with its link (and theta of the negative binomial).
    df_ : float
        Effective degrees of freedom of the model, the intercept included.
    scale_ : float
        Dispersion: the residual variance of the gaussian, 1 where the family fixes it.
    deviance_ : float
        Of the fit.
    multiplier_ : float
        The multiplier in use.
    path_ : Path
        The whole curve, when `multiplier` is ``"auto"``.
    inputs_ : MixedInputs
        What reads the inputs.
    facts_ : tuple of ColumnFacts
        Range, centre and spread of each column.
    separated_ : bool
        Whether the terms separate classes (or 0 from 1), so that a weak prior bounds the fit.
    n_iter_ : int
        Steps of the fit.
    converged_ : bool
        Whether it came to its end.

    Notes
    -----
    The penalised engine works on binned inputs: after one pass over the rows (one for each step of
    the likelihood where the family is not gaussian) it costs p^3 a step, p being the number of
    coefficients, about `n_splines` times the number of terms. Inputs with at most 4096 distinct
    values are exact.

    A missing value of a number has an effect of its own, a missing category is a level. A level
    that the fit has not seen counts as missing; where the fit has seen none missing, its effect is
    zero. Beyond the data a curve goes on as a straight line.

    The path judges a row by what the working model says of it when it is left out (exact for the
    gaussian), the smoothing parameters held. Do not use it where effects jump, or where inputs work
    through interactions that nobody can name: trees and forests find those themselves.

    References
    ----------
    .. [1] Hastie, T. and Tibshirani, R. (1990). Generalized additive models. Chapman and Hall.
    .. [2] Wood, S. N. (2017). Generalized additive models: an introduction with R, 2nd edition.
       CRC Press.
    .. [3] Eilers, P. H. C. and Marx, B. D. (1996). Flexible smoothing with B-splines and penalties.
       Statistical Science 11, 89-121.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(300, 3))
    >>> y = np.sin(2 * np.pi * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=300)
    >>> model = AdditiveModel("smooth(x0) + linear(x1) + smooth(x2)").fit(X, y)
    >>> model.predict([[0.25, 0.5, 0.5], [0.75, 0.5, 0.5]]).round(1)
    array([ 1.5, -0.5])
    >>> effects = model.predict(X, terms=True)
    >>> list(effects.columns)
    ['(Intercept)', 'smooth(x0)', 'linear(x1)', 'smooth(x2)']
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "terms": Anything(help="formula or list of terms"),
        "family": AnyOf(Choice(*FAMILIES, "multinomial"), help="distribution of the response"),
        "link": OrNone(Choice(*LINKS), help="link between mean and predictor"),
        **_SHARED,
    }
    card: ClassVar[Card] = Card(
        method="additive_model",
        title="Additive model",
        task="regression",
        strengths=_STRENGTHS,
        weaknesses=_WEAKNESSES,
        assumptions=_ASSUMPTIONS,
        cost="n p, and (p n_splines)^3 a step",
        source="D127-D132",
        takes=frozenset({"number", "category", "missing"}),
    )

    def __init__(
        self,
        terms: Any = None,
        *,
        family: str = "gaussian",
        link: str | None = None,
        engine: str = "penalized",
        method: str = "reml",
        alpha: float | str = "auto",
        multiplier: float | str = 1.0,
        n_splines: int = 10,
        shrink: bool = False,
        interactions: int = 0,
        n_terms: int | None = None,
        categorical_features: Any = "auto",
        select: str = "min",
        multipliers: Any = 13,
        tol: float = 1e-8,
        max_iter: int = 200,
    ) -> None:
        self.terms = terms
        self.family = family
        self.link = link
        self.engine = engine
        self.method = method
        self.alpha = alpha
        self.multiplier = multiplier
        self.n_splines = n_splines
        self.shrink = shrink
        self.interactions = interactions
        self.n_terms = n_terms
        self.categorical_features = categorical_features
        self.select = select
        self.multipliers = multipliers
        self.tol = tol
        self.max_iter = max_iter

    def _check_params(self) -> None:
        super()._check_params()
        if self.family == "multinomial":
            raise ParameterError(
                "AdditiveModel: family='multinomial' is for classes; use AdditiveClassifier, which "
                "takes labels and gives their probabilities."
            )
        get_family(self.family, self.link)

    def _family_of(self) -> Any:
        return get_family(self.family, self.link)

    def _check_response(self, y: Array) -> None:
        check_family_response(y, self.family)

    def predict(self, X: Any, terms: bool = False, return_std: bool = False) -> Any:
        """Return the mean of the response at each row, or the effects that make it.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.
        terms : bool
            Whether to return the effect of each term instead: a data frame whose columns, the
            intercept first, add up to the predictor, ``link(predict(X))``.
        return_std : bool
            Whether to return the standard error of the mean too.

        Returns
        -------
        ndarray of shape (m,), a pair of them, or a data frame
        """
        matrix = self._check_new(X)
        if terms:
            return self._term_frame(matrix, ())
        eta = self._predictors(matrix)[:, 0]
        with np.errstate(over="ignore"):
            mean = with_warning(np.asarray(self.fit_.family.mean(eta)))
        if not return_std:
            return mean
        return mean, np.abs(self.fit_.family.mean_slope(eta)) * self._mean_error(matrix)

    def interval(
        self, X: Any, level: float = 0.95, kind: str = "confidence"
    ) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper limits of the mean, or of a new response, at each row.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.
        level : float
            Probability that each interval holds, on the average over the rows.
        kind : {"confidence", "prediction"}
            For the mean, or (gaussian family, identity link) for a new response.

        Returns
        -------
        lower, upper : ndarray of shape (m,)
            Limits of the predictor by its Bayesian covariance, as means.
        """
        check_level(level)
        if kind not in ("confidence", "prediction"):
            raise InputError(f"kind={kind!r} is not allowed; use 'confidence' or 'prediction'.")
        matrix = self._check_new(X)
        fit, eta = self.fit_, self._predictors(matrix)[:, 0]
        error = self._mean_error(matrix)
        if kind == "prediction":
            if fit.family.name != "gaussian" or fit.family.the_link.name != "identity":
                raise InputError(
                    "Intervals of a new response are for the gaussian family; for others use "
                    "conformal intervals."
                )
            error = np.sqrt(error**2 + fit.scale)
        q = stats.norm.ppf(0.5 + level / 2)
        if not fit.scale_known:
            q = stats.t.ppf(0.5 + level / 2, max(fit.df_residual, 1.0))
        ends = np.stack([fit.family.mean(eta - q * error), fit.family.mean(eta + q * error)])
        low, high = np.sort(ends, axis=0)
        return low, high


@documented_like(AdditiveModel)
class AdditiveClassifier(ClassifierMixin, AdditiveEstimator):
    r"""Classes whose log odds are sums of smooth effects of the inputs.

    With two classes the log odds of the second are
    :math:`\beta_0 + \sum_j f_j(x_j)`; with more, those of each against the first. See
    `AdditiveModel` for the terms and how they are fitted.

    Parameters
    ----------
    class_weight : dict, "balanced" or None, default=None
        Weight of each class; ``"balanced"`` makes the classes weigh alike.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The classes, sorted.

    Notes
    -----
    Penalised likelihood (binomial or multinomial) of all classes at once, see `AdditiveModel`.
    Where the classes can be separated, the likelihood has no maximum: the fit is bounded, and says
    so.

    References
    ----------
    .. [1] Hastie, T. and Tibshirani, R. (1990). Generalized additive models. Chapman and Hall.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> y = np.where(X[:, 0] ** 2 + 0.5 * rng.normal(size=400) > 1, "out", "in")
    >>> model = AdditiveClassifier().fit(X, y)
    >>> model.predict([[0.0, 0.0], [2.0, 0.0]])
    array(['in', 'out'], dtype='<U3')
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "terms": Anything(help="formula or list of terms"),
        **_SHARED,
        "class_weight": Anything(help="weight of each class: a dict, or 'balanced'"),
    }
    card: ClassVar[Card] = Card(
        method="additive_model",
        title="Additive model",
        task="classification",
        strengths=_STRENGTHS,
        weaknesses=(*_WEAKNESSES, "More than two classes cost the square of their number."),
        assumptions=_ASSUMPTIONS,
        cost="n p, and (K p n_splines)^3 a step",
        source="D171-D174",
        takes=frozenset({"number", "category", "missing"}),
    )

    def __init__(
        self,
        terms: Any = None,
        *,
        engine: str = "penalized",
        method: str = "reml",
        alpha: float | str = "auto",
        multiplier: float | str = 1.0,
        n_splines: int = 10,
        shrink: bool = False,
        interactions: int = 0,
        n_terms: int | None = None,
        categorical_features: Any = "auto",
        select: str = "min",
        multipliers: Any = 13,
        tol: float = 1e-8,
        max_iter: int = 200,
        class_weight: Any = None,
    ) -> None:
        self.terms = terms
        self.engine = engine
        self.method = method
        self.alpha = alpha
        self.multiplier = multiplier
        self.n_splines = n_splines
        self.shrink = shrink
        self.interactions = interactions
        self.n_terms = n_terms
        self.categorical_features = categorical_features
        self.select = select
        self.multipliers = multipliers
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight

    def _family_of(self) -> Any:
        check_classes(self.classes_)
        return BINOMIAL if len(self.classes_) == 2 else len(self.classes_)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the log odds of the second class, or with more classes the score of each.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.
        """
        eta = self._predictors(self._check_new(X))
        if len(self.classes_) == 2:
            return eta[:, 0]
        return np.column_stack([np.zeros(len(eta)), eta])

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes, one column each.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.
        """
        return shares_of(self._predictors(self._check_new(X)), self.fit_)

    def predict(self, X: Any, terms: bool = False) -> Any:
        """Return the most probable class of each row, or the effects that make its log odds.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.
        terms : bool
            Whether to return the effect of each term instead: a data frame whose columns, the
            intercept first, add up to the log odds; with more than two classes those of each class
            but the first, its name in brackets.

        Returns
        -------
        ndarray of shape (m,), or a data frame
        """
        matrix = self._check_new(X)
        if terms:
            names = [] if len(self.classes_) == 2 else [str(one) for one in self.classes_[1:]]
            return self._term_frame(matrix, names)
        found = decided(shares_of(self._predictors(matrix), self.fit_))
        return np.asarray(self.classes_[found])
