"""Stacking: a weighted sum of models, the weights learnt on rows the models had not seen."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.typing import Array, FloatArray
from bottega.ensemble._combination.average import MeanOfNumbers, VoteOfClasses
from bottega.ensemble._combination.models import (
    class_shares,
)
from bottega.ensemble._combination.stack import Stacked, final_has
from bottega.ensemble.forest import RandomForestClassifier, RandomForestRegressor
from bottega.tree import TreeClassifier, TreeRegressor

__all__ = ["StackingClassifier", "StackingRegressor"]

_CARD: dict[str, Any] = {
    "method": "stacking",
    "title": "Stacking",
    "strengths": (
        "Combines models of any kind, and gains where they differ.",
        "Weights come from rows the models had not seen, so a complex model is not favoured.",
        "Readable weights: none is negative, and a useless model gets zero.",
    ),
    "weaknesses": (
        "Costs a cross-validation of every base.",
        "Gains little where the bases err alike.",
    ),
    "assumptions": (
        "Rows are independent, so that rows left out of a fit judge it honestly.",
        "The best model is near a sum of the bases with weights that are the same everywhere.",
    ),
    "cost": "cv + 1 fits of every base",
    "source": "D188, E33",
    "twin_of": "random_forest",
    "takes": frozenset({"number", "category", "missing"}),
    "wide": True,
}


class StackingRegressor(RegressorMixin, Stacked, MeanOfNumbers):
    r"""Predict by a weighted sum of models.

    .. math:: \hat f(x) = \sum_m \hat w_m \hat f_m(x), \qquad
              \hat w = \arg\min_{w \ge 0} \sum_i \Bigl(y_i - \sum_m w_m \hat f_m^{-i}(x_i)\Bigr)^2

    where :math:`\hat f_m^{-i}` is model m fitted without row i (or without its fold).

    Parameters
    ----------
    estimators : list of regressors or of (name, regressor), optional
        Models to combine, pipelines included; a pruned tree and a random forest by default. They
        can be set by name: ``set_params(name="drop")`` leaves one out, and
        ``set_params(name__parameter=...)`` sets a parameter of one.
    final_estimator : estimator, optional
        Model of what the models give for rows they have not seen, in place of the weighted sum.
    cv : int, "loo", "prefit", splitter or list of (train, test)
        Number of folds, or leave-one-out: from the leverages of one fit for a base whose formula is
        exact (see `bottega.risk.leave_one_out`, which tries it), by one fit per row for any other;
        or a splitter of scikit-learn. ``"prefit"`` takes models that are fitted, to other rows.
    stack_method : {"auto", "predict_proba", "decision_function", "predict"}
        What a final estimator is given; ``"auto"`` is the first of these that a model has.
    n_jobs : int, optional
        Threads; all cores by default.
    passthrough : bool
        Give the final estimator the inputs too.
    verbose : int
        Whether the progress of the fit is written to standard output.
    sum_to_one : bool
        Make the weights sum to one too: the answer is then a weighted mean.

    Attributes
    ----------
    weights_ : ndarray of shape (M,)
        Weight of each base, never negative. This and the errors are not there with a final
        estimator.
    estimators_ : list
        The bases fitted to all rows; those that are ``"drop"`` are left out.
    named_estimators_ : Bunch
        The same by name.
    final_estimator_ : estimator
        The fitted final estimator.
    stack_method_ : list of str
        What a final estimator is given of each base.
    names_ : list of str
        Their names.
    base_errors_, base_errors_se_ : ndarray of shape (M,)
        Mean squared error of each base on the rows left out, and its standard error.
    error_, error_se_ : float
        The same for the stack, with the weights for a fold learnt on the other folds.
    held_out_ : ndarray of shape (n, M)
        The predictions the weights (or the final estimator) were learnt on.

    See Also
    --------
    StackingClassifier : the same for classes.

    Notes
    -----
    Least squares on the fitted values of the models would give all the weight to the one that
    follows the data closest; predictions of unseen rows compare models of different complexity
    fairly. Without negative weights bases that resemble one another do not cancel. Equal bases
    share their weight in a way that is not determined; the sum is. The sum has no intercept and
    its weights need not add up to one, so another zero of the response (degrees Celsius for kelvin)
    gives another sum; with ``sum_to_one=True`` it does not. Folds depend on the
    rows, not on their order. Cost: ``cv + 1`` fits of every base, side by side in threads. The
    weights themselves count as degrees of freedom, but few.
    Row weights reach the bases, other metadata do not: scikit-learn's routing stops here.

    Not for one model and its near copies: nothing is gained.

    References
    ----------
    .. [1] Wolpert, D. H. (1992). Stacked generalization. Neural Networks 5, 241-259.
    .. [2] Breiman, L. (1996). Stacked regressions. Machine Learning 24, 49-64.

    Examples
    --------
    >>> import numpy as np
    >>> from bottega.linear import LeastSquares
    >>> from bottega.neighbors import NearestNeighborsRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, size=(200, 1))
    >>> y = X[:, 0] + np.sin(3 * X[:, 0]) + 0.3 * rng.normal(size=200)
    >>> model = StackingRegressor([LeastSquares(), NearestNeighborsRegressor()]).fit(X, y)
    >>> model.names_, bool(model.weights_[1] > 0.9), bool(model.error_ < model.base_errors_[0])
    (['least_squares', 'neighbors'], True, True)
    """

    card: ClassVar[Card] = Card(task="regression", **_CARD)
    _own = (("tree", TreeRegressor()), ("forest", RandomForestRegressor()))

    def predict(self, X: Any, **predict_params: Any) -> Any:
        """Return the weighted sum of the models' predictions, or what the final estimator makes.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.
        **predict_params
            Given to the ``predict`` of the final estimator, where there is one.
        """
        check_is_fitted(self)
        if self.final_estimator is None:
            return super().predict(X, **predict_params)
        return self._final_predict(X, predict_params)

    def _target(self, codes: Array) -> FloatArray:
        return codes


@documented_like(StackingRegressor)
class StackingClassifier(ClassifierMixin, Stacked, VoteOfClasses):
    r"""Classify by a weighted sum of the class probabilities of models.

    .. math:: \hat w = \arg\min_{w \ge 0} \sum_i \sum_k
              \Bigl([y_i = k] - \sum_m w_m\, \hat p_m^{-i}(k \mid x_i)\Bigr)^2

    with one weight per model, and :math:`\hat p_m^{-i}` from model m fitted without row i (or
    without its fold). The sums are divided by their total over the classes to give probabilities.

    Parameters
    ----------
    estimators : list of classifiers or of (name, classifier), optional
        Models to combine, pipelines included; a pruned tree and a random forest by default. One
        without probabilities gives one to the class it predicts.
    cv : int, "loo", "prefit", splitter or list of (train, test)
        Number of folds (each with its share of every class), one fit per row, or a splitter of
        scikit-learn. ``"prefit"`` takes models that are fitted, to other rows.

    Attributes
    ----------
    base_errors_, base_errors_se_ : ndarray of shape (M,)
        Error rate of each base on the rows left out, and its standard error.
    held_out_ : ndarray of shape (n, M, K)
        The probabilities the weights were learnt on.
    classes_ : ndarray of shape (K,)
        The classes, sorted.

    See Also
    --------
    StackingRegressor : the same for numbers.

    Notes
    -----
    The weights minimise the squared error of the probabilities (Brier's score), not the error
    rate, which is too coarse to compare them by. As every base's probabilities sum to one, the
    division is the same for every row: only the ratios of the weights matter to `predict`. Equal
    sums go to the first class in sorted order. Cost: ``cv + 1`` fits of every base. The weights
    themselves count as degrees of freedom, but few. Not for classes so rare that a fold lacks
    them: a base then gives them zero. Row weights reach the bases, other metadata do not.

    References
    ----------
    .. [1] Wolpert, D. H. (1992). Stacked generalization. Neural Networks 5, 241-259.

    Examples
    --------
    >>> import numpy as np
    >>> from bottega.core import BaselineClassifier
    >>> from bottega.neighbors import NearestNeighborsClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2))
    >>> y = np.where(X[:, 0] + X[:, 1] ** 2 > 1, "out", "in")
    >>> model = StackingClassifier([NearestNeighborsClassifier(), BaselineClassifier()]).fit(X, y)
    >>> model.predict([[0.0, 0.0], [2.0, 2.0]]).tolist()
    ['in', 'out']
    """

    card: ClassVar[Card] = Card(task="classification", **_CARD)
    _own = (("tree", TreeClassifier()), ("forest", RandomForestClassifier()))

    def predict(self, X: Any, **predict_params: Any) -> Any:
        """Return the class with the largest sum, or what the final estimator predicts.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.
        **predict_params
            Given to the ``predict`` of the final estimator, where there is one.
        """
        check_is_fitted(self)
        if self.final_estimator is None:
            return super().predict(X, **predict_params)
        return self._final_predict(X, predict_params)

    @final_has("predict_proba")
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the weighted sum of the bases' probabilities, divided by its total.

        With a final estimator, its probabilities.
        """
        check_is_fitted(self)
        if self.final_estimator is not None:
            return self.final_estimator_.predict_proba(self.transform(X))
        total = self._average(X)
        return total / total.sum(axis=1, keepdims=True)

    @final_has("decision_function")
    def decision_function(self, X: Any) -> FloatArray:
        """Return the decision function of the final estimator."""
        stacked = self.transform(X)
        return self.final_estimator_.decision_function(stacked)

    def _outputs(self, model: Any, X: Any) -> FloatArray:
        return class_shares(model, X, self.classes_)

    def _target(self, codes: Array) -> FloatArray:
        return np.asarray(codes[:, None] == np.arange(len(self.classes_)), dtype=np.float64)
