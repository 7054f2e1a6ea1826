"""Voting: the plain vote or mean of models of different kinds."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.errors import InputError, ParameterError
from bottega.core.parallel import at_most, in_threads
from bottega.core.params import Anything, Boolean, Choice, Jobs, Parameter
from bottega.core.typing import Array, FloatArray
from bottega.ensemble._combination.average import Average, MeanOfNumbers, VoteOfClasses
from bottega.ensemble._combination.models import Models, NamedParts, named_models
from bottega.ensemble._resampling.samples import OrderedRows
from bottega.ensemble.forest import RandomForestClassifier, RandomForestRegressor
from bottega.tree import TreeClassifier, TreeRegressor

__all__ = ["VotingClassifier", "VotingRegressor"]

_CARD: dict[str, Any] = {
    "method": "voting",
    "title": "Voting",
    "strengths": (
        "Useful where the models differ substantially: their errors cancel in part.",
        "Learns nothing beyond its models, so it adds no overfitting and costs no "
        "cross-validation.",
        "Combines models of any kind.",
    ),
    "weaknesses": (
        "A bad model counts as much as a good one, unless weights are given.",
        "Gains nothing where the models err alike.",
        "The readability of a single model is lost.",
    ),
    "assumptions": (
        "The models are about equally good, and their errors are not much correlated.",
        "For classes, each is right more often than not.",
    ),
    "cost": "one fit of every base",
    "source": "D187",
    "twin_of": "random_forest",
    "takes": frozenset({"number", "category", "missing"}),
    "wide": True,
}
_BASES = Models(help="models to average; None: a small tree and a random forest")
_WEIGHTS = Anything(help="how much each model counts; None: all alike")
_VERBOSE = Anything(help="whether progress is written")


class _Voting(NamedParts, TransformerMixin, Average):
    """What the classifier and the regressor share."""

    def _check_params(self) -> None:
        super()._check_params()
        count = len(self._named_or_dropped())
        if self.weights is None:
            return
        try:
            given = np.asarray(self.weights, dtype=np.float64)
        except (TypeError, ValueError):
            given = np.zeros(0)
        if given.shape != (count,) or not np.all(given >= 0) or not 0 < given.sum() < np.inf:
            raise ParameterError(
                f"{type(self).__name__}: weights={self.weights!r} is not allowed; give None or "
                f"{count} numbers, one per base, that are not negative and not all zero. Number of "
                "`estimators` and weights must be equal."
            )

    def _named_or_dropped(self) -> list[tuple[str, Any]]:
        return named_models(self._own if self.estimators is None else self.estimators)

    def _settle(self, work: OrderedRows, setting: Mapping[str, Any]) -> None:
        names, bases = zip(*self._named(), strict=True)
        self.names_ = list(names)
        every = self._named_or_dropped()
        given = np.ones(len(every)) if self.weights is None else np.asarray(self.weights, float)
        used = given[[name in names for name, _ in every]]
        self.weights_ = used / used.sum() if used.sum() > 0 else used
        pairs = list(zip(names, bases, strict=True))
        self.estimators_ = in_threads(
            lambda pair: self._fit_part(pair[0], pair[1], work), pairs, stage="bases"
        )

    def _each(self, X: Any) -> list[Any]:
        """Return what each model gives, whatever its weight."""
        X = self._check_new(X)
        with at_most(self.n_jobs):
            return list(self._all_outputs(self.estimators_, X))

    def _names_out(self, per_model: int) -> Array:
        own = type(self).__name__.lower()
        numbers = [""] if per_model == 1 else [str(k) for k in range(per_model)]
        return np.array([f"{own}_{name}{k}" for name in self.names_ for k in numbers], dtype=object)


class VotingClassifier(ClassifierMixin, _Voting, VoteOfClasses):
    r"""Classify by the mean of the class probabilities of models, or by their vote.

    .. math:: \hat p(k \mid x) = \sum_{m=1}^M w_m\, \hat p_m(k \mid x)

    with :math:`w_m = 1/M` unless weights are given; with ``voting="hard"`` each model gives a
    one to the class it predicts. The class with the largest share is predicted, of equal shares
    the first in sorted order.

    Parameters
    ----------
    estimators : list of classifiers or of (name, classifier), optional
        Models to combine, pipelines included; a tree of eight leaves and a random forest by
        default. They can be set by name: ``set_params(name="drop")`` leaves one out, and
        ``set_params(name__parameter=...)`` sets a parameter of one.
    voting : {"soft", "hard"}
        Average the probabilities, or count the predicted classes.
    weights : array-like of shape (M,), optional
        How much each model counts; they are divided by their sum. All alike by default.
    n_jobs : int, optional
        Threads; all cores by default.
    flatten_transform : bool
        Whether `transform` puts the probabilities of the models side by side.
    verbose : bool
        Whether the progress of the fit is written to standard output.

    Attributes
    ----------
    estimators_ : list
        The fitted models; those that are ``"drop"`` are left out.
    named_estimators_ : Bunch
        The fitted models by name.
    names_ : list of str
        Their names.
    weights_ : ndarray of shape (M,)
        Weight of each model; they sum to one.
    classes_ : ndarray of shape (K,)
        The classes, sorted.

    See Also
    --------
    StackingClassifier : learns the weights.
    BaggingClassifier : one model fitted to many samples.

    Notes
    -----
    Row weights go to the bases; one that takes none is given a row as often as its (whole) weight.
    Nothing else is routed to them: scikit-learn's metadata routing stops here.
    The bases see the rows in an order of their own, so theirs does not matter.
    Cost: one fit of every base, side by side in threads. It has as many degrees of freedom as its
    models have together at most. Not for models of which one is clearly better: the others only
    spoil it.

    References
    ----------
    .. [1] Kittler, J., Hatef, M., Duin, R. P. W. and Matas, J. (1998). On combining classifiers.
       IEEE Transactions on Pattern Analysis and Machine Intelligence 20, 226-239.

    Examples
    --------
    >>> import numpy as np
    >>> from bottega.core import BaselineClassifier
    >>> from bottega.tree import TreeClassifier
    >>> X, y = np.arange(6.0)[:, None], ["a", "a", "a", "a", "b", "b"]
    >>> bases = [("tree", TreeClassifier(ccp_alpha=0)), ("shares", BaselineClassifier())]
    >>> model = VotingClassifier(bases, weights=[3, 1]).fit(X, y)
    >>> model.predict_proba([[5.0]]).round(3).tolist(), model.predict([[5.0]]).tolist()
    ([[0.167, 0.833]], ['b'])
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "estimators": _BASES,
        "voting": Choice("soft", "hard", help="what the models add up"),
        "weights": _WEIGHTS,
        "n_jobs": Jobs(),
        "flatten_transform": Boolean(help="whether transform returns one row per row"),
        "verbose": _VERBOSE,
    }
    card: ClassVar[Card] = Card(task="classification", **_CARD)
    _own = (
        ("tree", TreeClassifier(ccp_alpha=0.0, max_leaf_nodes=8)),
        ("forest", RandomForestClassifier(max_features="sqrt")),
    )

    def __init__(
        self,
        estimators: Iterable[Any] | None = None,
        *,
        voting: str = "soft",
        weights: Any = None,
        n_jobs: int | None = None,
        flatten_transform: bool = True,
        verbose: bool = False,
    ) -> None:
        self.estimators = estimators
        self.voting = voting
        self.weights = weights
        self.n_jobs = n_jobs
        self.flatten_transform = flatten_transform
        self.verbose = verbose

    def transform(self, X: Any) -> Array:
        """Return what the models give.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.

        Returns
        -------
        ndarray
            With ``voting="soft"`` the probabilities of the models, side by side (m, M K), or with
            ``flatten_transform=False`` one after another (M, m, K); with ``voting="hard"`` the
            codes of the predicted classes (m, M).
        """
        each = self._each(X)
        if self.voting == "hard":
            return np.stack([np.argmax(votes, axis=1) for votes in each], axis=1)
        return np.hstack(each) if self.flatten_transform else np.array(each)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns of `transform`."""
        check_is_fitted(self)
        if self.voting == "hard":
            return self._names_out(1)
        if not self.flatten_transform:
            raise InputError(
                "get_feature_names_out is not supported when `voting='soft'` and "
                "`flatten_transform=False`."
            )
        return self._names_out(len(self.classes_))


@documented_like(VotingClassifier, without=("voting", "flatten_transform", "classes_"))
class VotingRegressor(RegressorMixin, _Voting, MeanOfNumbers):
    r"""Predict by the mean of the predictions of models.

    .. math:: \hat f(x) = \sum_{m=1}^M w_m\, \hat f_m(x)

    with :math:`w_m = 1/M` unless weights are given.

    Parameters
    ----------
    estimators : list of regressors or of (name, regressor), optional
        Models to combine, pipelines included; a tree of eight leaves and a random forest by
        default.

    See Also
    --------
    StackingRegressor : learns the weights.
    BaggingRegressor : one model fitted to many samples.

    Notes
    -----
    The squared error of the mean is the mean squared error of the models less their spread about
    it: it is never worse than the models are on average, and better the more they differ. Row
    weights, cost and degrees of freedom are as in `VotingClassifier`.

    References
    ----------
    .. [1] Krogh, A. and Vedelsby, J. (1995). Neural network ensembles, cross validation, and
       active learning. Advances in Neural Information Processing Systems 7, 231-238.

    Examples
    --------
    >>> import numpy as np
    >>> from bottega.core import BaselineRegressor
    >>> from bottega.linear import LeastSquares
    >>> X, y = np.arange(4.0)[:, None], np.array([0.0, 2.0, 4.0, 6.0])
    >>> model = VotingRegressor([LeastSquares(), BaselineRegressor()]).fit(X, y)
    >>> model.predict([[3.0]]).round(6).tolist()  # the mean of 6 and 3
    [4.5]
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "estimators": _BASES,
        "weights": _WEIGHTS,
        "n_jobs": Jobs(),
        "verbose": _VERBOSE,
    }
    card: ClassVar[Card] = Card(task="regression", **_CARD)
    _own = (
        ("tree", TreeRegressor(ccp_alpha=0.0, max_leaf_nodes=8)),
        ("forest", RandomForestRegressor(max_features=1 / 3)),
    )

    def __init__(
        self,
        estimators: Iterable[Any] | None = None,
        *,
        weights: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.n_jobs = n_jobs
        self.verbose = verbose

    def transform(self, X: Any) -> FloatArray:
        """Return the predictions of the models, one column per model."""
        return np.stack(self._each(X), axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns of `transform`."""
        check_is_fitted(self)
        return self._names_out(1)
