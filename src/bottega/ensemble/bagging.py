"""Bagging: the vote or the mean of models fitted to samples drawn with replacement."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.parallel import at_most, in_threads
from bottega.core.params import (
    AnyOf,
    Anything,
    Boolean,
    Choice,
    Integer,
    Jobs,
    OrNone,
    Parameter,
    Real,
    Seed,
)
from bottega.core.typing import FloatArray
from bottega.ensemble._combination.average import MeanOfNumbers, VoteOfClasses
from bottega.ensemble._combination.models import Model
from bottega.ensemble._resampling.bagged import Bagged
from bottega.ensemble._resampling.left_out import OOB_SCORE
from bottega.tree import TreeClassifier, TreeRegressor

__all__ = ["BaggingClassifier", "BaggingRegressor"]

_CARD: dict[str, Any] = {
    "method": "bagging",
    "title": "Bagging",
    "strengths": (
        "Cuts the variance of unstable models (full trees) below that of a single one.",
        "Works with any base model, and inherits its features: trees take missing values and "
        "categories.",
        "The rows left out of each sample give an honest error without a validation set or "
        "cross-validation.",
        "More models never overfit: the error settles.",
        "Models are fitted side by side.",
    ),
    "weaknesses": (
        "The rules of a single tree are lost.",
        "Poor with rare classes, which many samples hardly contain.",
        "The models resemble one another where inputs are correlated, and the variance then falls "
        "little: a forest, which also draws columns, is mostly better.",
        "Does little for stable models, such as linear ones.",
        "Inputs are ranked by shuffling them only: there is no test of their significance.",
    ),
    "assumptions": (
        "The base is unstable and has little bias; for classes it is right more often than not.",
        "Rows are independent, so that the rows a model has not drawn judge it honestly.",
    ),
    "cost": "n_estimators fits of the base",
    "source": "D186, D189, D190, D254h",
    "twin_of": "random_forest",
    "takes": frozenset({"number", "category", "missing"}),
    "wide": True,
}
_PARAMS: dict[str, Parameter] = {
    "estimator": Model(help="model to fit to each sample; None: a full tree"),
    "n_estimators": Integer(1, help="how many samples are drawn and models fitted"),
    "max_samples": OrNone(
        AnyOf(Integer(1), Real(0, open_low=True)),
        help="size of a sample: rows, or a share of them",
    ),
    "max_features": AnyOf(
        Integer(1), Real(0, 1, open_low=True), help="columns drawn for each model, or their share"
    ),
    "bootstrap": Boolean(help="draw rows with replacement (the bootstrap)"),
    "bootstrap_features": Boolean(help="draw columns with replacement"),
    "oob_score": OOB_SCORE,
    "warm_start": Boolean(help="keep the models of the last fit and add to them"),
    "n_jobs": Jobs(),
    "random_state": Seed(help="seed of the draws; None: other draws in every fit"),
    "verbose": Anything(help="whether progress is written"),
}


def _base_decides(self: Any) -> bool:
    return hasattr(self._bases()[0], "decision_function")


class BaggingClassifier(ClassifierMixin, Bagged, VoteOfClasses):
    r"""Classify by the vote of models fitted to samples of the rows.

    .. math:: C_{bag}(x) = \arg\max_k \frac1B \sum_{b=1}^B [C(S^b, x) = k]

    over B samples :math:`S^b` drawn with replacement; with ``voting="soft"`` the class
    probabilities of the models are averaged instead of their votes. Equal shares go to the first
    class in sorted order.

    Parameters
    ----------
    estimator : classifier, optional
        Model to fit to each sample; a full tree (``TreeClassifier(ccp_alpha=0)``) by default.
    n_estimators : int
        Number of models; more only steady the answer.
    max_samples : int, float or None
        Size of a sample, or its share of the rows (of the sum of weights, where they are given);
        None is a share of 1.
    max_features : int or float
        Columns that each model is given, or their share, drawn anew for each.
    bootstrap : bool
        Draw rows with replacement. Without, `max_samples` must be below 1 for rows to be left out.
    bootstrap_features : bool
        Draw columns with replacement.
    oob_score : "auto", bool or callable
        Whether each model predicts the rows it has not drawn, which judge the ensemble. ``"auto"``
        does; True also warns where a row was drawn by all models; False saves the time; a function
        of responses and predictions gives `oob_score_` in place of the accuracy.
    warm_start : bool
        Keep the models of the last fit, and fit those that are lacking to `n_estimators`.
    n_jobs : int, optional
        Threads; all cores by default.
    random_state : int, RandomState, Generator or None
        Seed of the draws (and of the base); None draws other samples in every fit.
    verbose : int
        Whether the progress of the fit is written to standard output.
    voting : {"auto", "soft", "hard"}
        Average the probabilities (soft), or count the predicted classes as in the formula (hard).
        Equal where the base gives probabilities 0 and 1, as a full tree does on distinct rows.
        ``"auto"`` averages where the base has probabilities.

    Attributes
    ----------
    estimator_ : classifier
        The base that was fitted.
    estimators_ : list
        The fitted models.
    estimators_features_ : list of ndarray
        The columns that each model was given.
    estimators_samples_ : list of ndarray
        The rows that each model has drawn, repeated as often as they were.
    classes_ : ndarray of shape (K,)
        The classes, sorted.
    n_classes_ : int
        How many there are.
    oob_score_ : float
        Out-of-bag accuracy; NaN where no row was left out.
    oob_decision_function_ : ndarray of shape (n, K)
        Shares of the classes among the models that did not see the row; NaN where all did.
    oob_path_ : Path
        Training and out-of-bag error as models come in (rows left out so far alone).

    See Also
    --------
    BaggingRegressor : the same for numbers.

    Notes
    -----
    A row is left out of a sample with chance :math:`(1 - 1/n)^n \approx 0.368`, so about a third of
    the models judge each row honestly. Weights are chances of being drawn: as many rows are
    drawn as the weights sum to (at least the rows of positive weight), so rescale survey weights
    to mean one; where they sum to more than a million and to more than 20 per row, as many rows
    are drawn as there are. A base that takes `sample_weight` is fitted to the distinct rows with
    their counts, another to the repeated rows. The samples depend on the rows and the seed, not on
    the order of the rows. Cost: `n_estimators` fits of the base, side by side in threads. The
    out-of-bag predictions can be judged by any loss: ``loss.of_rows(codes,
    oob_decision_function_)``.

    Not for stable models, and not where a single readable tree is wanted: see bumping.

    References
    ----------
    .. [1] Breiman, L. (1996). Bagging predictors. Machine Learning 24, 123-140.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    >>> model = BaggingClassifier(n_estimators=50).fit(X, y)
    >>> model.predict([[1.0, 1.0], [1.0, -1.0]]).tolist(), model.oob_score_ > 0.9
    (['same', 'other'], True)
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        **_PARAMS,
        "voting": Choice("auto", "soft", "hard", help="what the models add up"),
    }
    card: ClassVar[Card] = Card(task="classification", **_CARD)
    _own = (TreeClassifier(ccp_alpha=0.0),)

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        max_samples: float | int | None = 1.0,
        max_features: float | int = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: Any = "auto",
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
        voting: str = "auto",
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.voting = voting

    @available_if(_base_decides)
    def decision_function(self, X: Any) -> FloatArray:
        """Return the mean of the models' decision functions."""
        X = self._check_new(X)
        with at_most(self.n_jobs):
            found = in_threads(
                lambda model: model.decision_function(self._seen_by(model, X)), self.estimators_
            )
        return np.asarray(np.mean(found, axis=0))


@documented_like(
    BaggingClassifier,
    without=("voting", "estimator_", "classes_", "n_classes_", "oob_decision_function_"),
)
class BaggingRegressor(RegressorMixin, Bagged, MeanOfNumbers):
    r"""Predict by the mean of models fitted to samples of the rows.

    .. math:: \hat f_{bag}(x) = \frac1B \sum_{b=1}^B \hat f(S^b, x)

    over B samples :math:`S^b` drawn with replacement.

    Parameters
    ----------
    estimator : regressor, optional
        Model to fit to each sample; a full tree (``TreeRegressor(ccp_alpha=0)``) by default.

    Attributes
    ----------
    estimator_ : regressor
        The base that was fitted.
    oob_score_ : float
        Out-of-bag R squared; NaN where no row was left out.
    oob_prediction_ : ndarray of shape (n,)
        Mean of the models that did not see the row; NaN where all did.

    See Also
    --------
    BaggingClassifier : the same for classes.

    Notes
    -----
    The squared error of the mean is the mean squared error of the models less their spread about
    it, so bagging gains where models differ. Draws, weights and cost are as in
    `BaggingClassifier`. Not for stable models: the mean of linear fits is nearly the linear fit.

    References
    ----------
    .. [1] Breiman, L. (1996). Bagging predictors. Machine Learning 24, 123-140.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(200, 1))
    >>> y = np.sin(6 * X[:, 0]) + 0.2 * rng.normal(size=200)
    >>> model = BaggingRegressor(n_estimators=50).fit(X, y)
    >>> bool(model.oob_score_ > 0.8), bool(abs(model.predict([[0.25]])[0] - np.sin(1.5)) < 0.2)
    (True, True)
    """

    params: ClassVar[Mapping[str, Parameter]] = _PARAMS
    card: ClassVar[Card] = Card(task="regression", **_CARD)
    _own = (TreeRegressor(ccp_alpha=0.0),)

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        max_samples: float | int | None = 1.0,
        max_features: float | int = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: Any = "auto",
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
