"""Additive models: sums of smooth curves, for responses of many kinds and for classes."""

from collections.abc import Mapping
from typing import Any, ClassVar

from bottega.additive._model.classification import AdditiveClassification
from bottega.additive._model.parameters import ASSUMPTIONS, SHARED, STRENGTHS, WEAKNESSES
from bottega.additive._model.regression import AdditiveRegression
from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.likelihood import FAMILIES
from bottega.core.links import LINKS
from bottega.core.params import Anything, Choice, ClassWeight, OrNone, Parameter

__all__ = ["AdditiveClassifier", "AdditiveModel"]


class AdditiveModel(AdditiveRegression):
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
    categorical_features : "auto" or sequence of str, int or bool, default="auto"
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
    columns_in_ : MixedInputs
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
    the likelihood where the family is not gaussian) it costs p^3 per step, p being the number of
    coefficients, about `n_splines` times the number of terms. Inputs with at most 4096 distinct
    values are exact.

    A missing value of a number has an effect of its own, a missing category is a level. A level
    that the fit has not seen counts as missing; where the fit has seen none missing, its effect is
    zero. Beyond the data a curve goes on as a straight line.

    For the choice of the smoothing parameters weights that are all whole numbers count rows: a row
    of weight two is as two rows. Others only say how far rows can be trusted against one another.
    The residual scale counts rows, whatever their weights.

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
        "family": Choice(*FAMILIES, "multinomial", help="distribution of the response"),
        "link": OrNone(Choice(*LINKS), help="link between mean and predictor"),
        **SHARED,
    }
    card: ClassVar[Card] = Card(
        method="additive_model",
        title="Additive model",
        task="regression",
        strengths=STRENGTHS,
        weaknesses=WEAKNESSES,
        assumptions=ASSUMPTIONS,
        cost="n p, and (p n_splines)^3 per step",
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


@documented_like(AdditiveModel)
class AdditiveClassifier(AdditiveClassification):
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
        **SHARED,
        "class_weight": ClassWeight(help="weight of each class: a dict, or 'balanced'"),
    }
    card: ClassVar[Card] = Card(
        method="additive_model",
        title="Additive model",
        task="classification",
        strengths=STRENGTHS,
        weaknesses=(*WEAKNESSES, "More than two classes cost the square of their number."),
        assumptions=ASSUMPTIONS,
        cost="n p, and (K p n_splines)^3 per step",
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
