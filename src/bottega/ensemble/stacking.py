"""Stacking: a weighted sum of models, the weights learnt on rows the models had not seen."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, clone

from bottega.core.base import LinearSmoother
from bottega.core.cards import Card
from bottega.core.errors import InputError
from bottega.core.folds import fold_rows
from bottega.core.frames import take_rows
from bottega.core.parallel import in_threads
from bottega.core.params import AnyOf, Boolean, Choice, Integer, Parameter
from bottega.core.smoother import mean_and_se
from bottega.core.tables import Section, Summary
from bottega.core.typing import Array, FloatArray
from bottega.ensemble._base import Combination, class_shares, is_model
from bottega.ensemble.forest import RandomForestClassifier, RandomForestRegressor
from bottega.ensemble.resampling import own_order
from bottega.ensemble.stack_weights import stack_weights
from bottega.tree import TreeClassifier, TreeRegressor

__all__ = ["StackingClassifier", "StackingRegressor"]

_SHARED_CARD: dict[str, Any] = {
    "method": "stacking",
    "title": "Stacking",
    "knob": None,
    "strengths": (
        "Combines models of any kind, and gains where they differ.",
        "Weights come from rows the models had not seen, so a complex model is not favoured.",
        "Readable weights: none is negative, and a useless model gets zero.",
    ),
    "weaknesses": (
        "Costs a cross-validation of every base.",
        "Gains little where the bases err alike.",
    ),
    "cost": "cv + 1 fits of every base",
    "source": "D187, D188, E33",
    "twin_of": "random_forest",
    "missing": True,
    "categories": True,
    "wide": True,
}


@dataclass(frozen=True)
class _Models(Parameter):
    """A list of estimators or of pairs (name, estimator), or None."""

    def accepts(self, value: Any) -> bool:
        """Tell whether `value` is a list of models, with or without names."""
        if value is None:
            return True
        if not isinstance(value, list | tuple) or not value:
            return False
        return all(is_model(each) or _is_pair(each) for each in value)

    def describe(self) -> str:
        """Return the words for a list of estimators."""
        return "None or a list of estimators, each with a name (name, estimator) or without"

    def schema(self) -> dict[str, Any]:
        """Return a schema that admits nothing: an estimator has no JSON form."""
        return {"not": {}}

    def parse(self, text: str) -> Any:
        """Refuse: an estimator cannot be typed in."""
        raise ValueError("estimators can only be given from Python")


def _is_pair(value: Any) -> bool:
    pair = isinstance(value, tuple | list) and len(value) == 2
    return pair and isinstance(value[0], str) and is_model(value[1])


_PARAMS: dict[str, Parameter] = {
    "bases": _Models(help="models to combine; None: a pruned tree and a random forest"),
    "cv": AnyOf(
        Choice("loo"), Integer(2), help="folds for the unseen predictions, or 'loo' for one a row"
    ),
    "sum_to_one": Boolean(help="make the weights sum to one"),
}


class _Stacking(Combination):
    """What the classifier and the regressor share."""

    bases: Any
    cv: int | str
    sum_to_one: bool

    @abstractmethod
    def _own_bases(self) -> list[tuple[str, Any]]:
        """Return the bases in use when none are given."""

    @abstractmethod
    def _outputs(self, model: Any, X: Any) -> FloatArray:
        """Return what a fitted base adds to the sum, of shape (rows, q)."""

    @abstractmethod
    def _target(self, y: Array) -> FloatArray:
        """Return what the sum should be, of shape (rows, q)."""

    @abstractmethod
    def _loss(self, y: Array, total: FloatArray) -> FloatArray:
        """Return the loss of each row when the weighted sum decides."""

    def _named(self) -> list[tuple[str, Any]]:
        if self.bases is None:
            return self._own_bases()
        named: list[tuple[str, Any]] = []
        for each in self.bases:
            name, model = each if not is_model(each) else (_name_of(each), each)
            taken = [other for other, _ in named]
            count = 2
            wanted = name
            while name in taken:
                name, count = f"{wanted} {count}", count + 1
            named.append((name, model))
        return named

    def _bases(self) -> list[Any]:
        return [model for _, model in self._named()]

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the bases, learn the weights on rows each fit had not seen.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
            Inputs; what the bases take.
        y : array-like of shape (n,)
            Responses.

        Returns
        -------
        Self
            The fitted estimator.
        """
        self._check_params()
        X, y = self._check_training(X, y)
        if len(y) < 2:
            raise InputError(
                f"Weights are learnt on rows left out of a fit, which takes at least two; "
                f"got n_samples = {len(y)}."
            )
        order = own_order(X, y)
        X, y = take_rows(X, order), y[order]
        strata = y if hasattr(self, "classes_") else None
        if self.cv == "loo":
            folds = fold_rows(len(y), len(y))
        else:
            folds = fold_rows(len(y), min(int(self.cv), len(y)), strata)
        folds = [(train, test) for train, test in folds if len(test)]
        names, bases = zip(*self._named(), strict=True)
        self.names_ = list(names)
        self.estimators_ = in_threads(lambda base: clone(base).fit(X, y), bases, stage="bases")
        held_out = self._held_out(X, y, bases, folds)
        self._weigh(held_out, y, folds)
        self.held_out_ = np.empty_like(held_out)
        self.held_out_[order] = held_out
        if not hasattr(self, "classes_"):
            self.held_out_ = self.held_out_[:, :, 0]
        self._nobs = len(y)
        return self

    def _held_out(self, X: Any, y: Array, bases: tuple[Any, ...], folds: list[Any]) -> FloatArray:
        """Return the outputs for each row of fits without it, of shape (rows, bases, q)."""
        q = self._target(y[:1]).shape[1]
        found = np.empty((len(y), len(bases), q))
        tasks = []
        for m, fitted in enumerate(self.estimators_):
            if self.cv == "loo" and isinstance(fitted, LinearSmoother) and q == 1:
                found[:, m, 0] = y - fitted.loo_residuals_
            else:
                tasks += [(m, train, test) for train, test in folds]

        def fit_one(task: tuple[int, Array, Array]) -> FloatArray:
            m, train, test = task
            model = clone(bases[m]).fit(take_rows(X, train), y[train])
            return self._outputs(model, take_rows(X, test))

        for (m, _, test), outputs in zip(
            tasks, in_threads(fit_one, tasks, stage="folds"), strict=True
        ):
            found[test, m] = outputs
        return found

    def _weigh(self, held_out: FloatArray, y: Array, folds: list[Any]) -> None:
        """Learn the weights and what they are worth."""
        target = self._target(y)

        def weights(rows: Any) -> FloatArray:
            # All outputs of a row are rows of one least-squares problem.
            A = held_out[rows].transpose(0, 2, 1).reshape(-1, held_out.shape[1])
            return stack_weights(A, target[rows].ravel(), sum_to_one=self.sum_to_one)

        self.weights_ = weights(slice(None))
        # A row's own part in choosing the weights flatters them: choose them without its fold.
        some = folds if len(folds) <= 20 else fold_rows(len(y), 10)
        total = np.empty_like(target)
        for train, test in some:
            total[test] = np.einsum("imq,m->iq", held_out[test], weights(train))
        error, error_se = mean_and_se(self._loss(y, total))
        self.error_, self.error_se_ = float(error), float(error_se)
        each = [mean_and_se(self._loss(y, held_out[:, m])) for m in range(held_out.shape[1])]
        self.base_errors_ = np.array([float(error) for error, _ in each])
        self.base_errors_se_ = np.array([float(se) for _, se in each])

    def _sum(self, X: Any) -> FloatArray:
        X = self._check_new(X)
        used = [(w, m) for w, m in zip(self.weights_, self.estimators_, strict=True) if w > 0]
        parts = in_threads(lambda pair: pair[0] * self._outputs(pair[1], X), used)
        q = self._target(self._some_response()).shape[1]
        return np.asarray(sum(parts, np.zeros((X.shape[0], q))))

    def _some_response(self) -> Array:
        return self.classes_[:1] if hasattr(self, "classes_") else np.zeros(1)

    def tidy(self) -> Any:
        """Return one row a base: its weight and its error on the rows left out."""
        columns = {
            "term": self.names_,
            "estimate": self.weights_,
            "error": self.base_errors_,
            "error_se": self.base_errors_se_,
        }
        return self._make_frame(columns)

    def glance(self) -> Any:
        """Return one row about the stack: its error, the best base's, and what stacking gains."""
        best = int(np.argmin(self.base_errors_))
        columns = {
            "nobs": [self._nobs],
            "error": [self.error_],
            "error_se": [self.error_se_],
            "best_base": [self.names_[best]],
            "best_base_error": [self.base_errors_[best]],
            "improvement": [self.base_errors_[best] - self.error_],
        }
        return self._make_frame(columns)

    def summary(self) -> Summary:
        """Return the weights and errors as a table that shows itself as text and HTML."""
        table = {
            "base": [*self.names_, "stack"],
            "weight": [*self.weights_, float(self.weights_.sum())],
            "error": [*self.base_errors_, self.error_],
            "se": [*self.base_errors_se_, self.error_se_],
        }
        note = "Errors are on rows left out; the stack's with weights chosen without them too."
        return Summary(type(self).__name__, (Section("", table),), (note,))


def _name_of(model: Any) -> str:
    return getattr(getattr(model, "card", None), "method", type(model).__name__)


class StackingRegressor(RegressorMixin, _Stacking):
    r"""Predict by a weighted sum of models.

    .. math:: \hat f(x) = \sum_m \hat w_m \hat f_m(x), \qquad
              \hat w = \arg\min_{w \ge 0} \sum_i \Bigl(y_i - \sum_m w_m \hat f_m^{-i}(x_i)\Bigr)^2

    where :math:`\hat f_m^{-i}` is model m fitted without row i (or without its fold).

    Parameters
    ----------
    bases : list of regressors or of (name, regressor), optional
        Models to combine, pipelines included; a pruned tree and a random forest by default.
    cv : int or "loo"
        Number of folds, or leave-one-out: by the exact formula for a linear smoother (at the
        complexity picked from all rows), by one fit a row for any other base.
    sum_to_one : bool
        Make the weights sum to one too: the answer is then a weighted mean.

    Attributes
    ----------
    weights_ : ndarray of shape (M,)
        Weight of each base, never negative.
    estimators_ : list
        The bases fitted to all rows.
    names_ : list of str
        Their names.
    base_errors_, base_errors_se_ : ndarray of shape (M,)
        Mean squared error of each base on the rows left out, and its standard error.
    error_, error_se_ : float
        The same for the stack, with the weights for a fold learnt on the other folds.
    held_out_ : ndarray of shape (n, M)
        The predictions the weights were learnt on.
    n_features_in_ : int
        Number of columns seen in `fit`.

    See Also
    --------
    StackingClassifier : the same for classes.

    Notes
    -----
    Least squares on the fitted values of the models would give all the weight to the one that
    follows the data closest; predictions of unseen rows compare models of different complexity
    fairly. Without negative weights bases that resemble one another do not cancel. Equal bases
    share their weight in a way that is not determined; the sum is. Folds depend on the
    rows, not on their order. Cost: ``cv + 1`` fits of every base, side by side in threads. The
    weights themselves count as degrees of freedom, but few.

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

    params: ClassVar[Mapping[str, Parameter]] = _PARAMS
    card: ClassVar[Card] = Card(task="regression", **_SHARED_CARD)

    def __init__(
        self, bases: Iterable[Any] | None = None, *, cv: int | str = 5, sum_to_one: bool = False
    ) -> None:
        self.bases = bases
        self.cv = cv
        self.sum_to_one = sum_to_one

    def predict(self, X: Any) -> FloatArray:
        """Return the weighted sum of the bases for each row of X."""
        return self._sum(X)[:, 0]

    def _own_bases(self) -> list[tuple[str, Any]]:
        return [("tree", TreeRegressor()), ("forest", RandomForestRegressor())]

    def _outputs(self, model: Any, X: Any) -> FloatArray:
        return np.asarray(model.predict(X), dtype=np.float64).reshape(-1, 1)

    def _target(self, y: Array) -> FloatArray:
        return y[:, None]

    def _loss(self, y: Array, total: FloatArray) -> FloatArray:
        return np.asarray((y - total[:, 0]) ** 2)


class StackingClassifier(ClassifierMixin, _Stacking):
    r"""Classify by a weighted sum of the class probabilities of models.

    .. math:: \hat w = \arg\min_{w \ge 0} \sum_i \sum_k
              \Bigl([y_i = k] - \sum_m w_m\, \hat p_m^{-i}(k \mid x_i)\Bigr)^2

    with one weight a model, and :math:`\hat p_m^{-i}` from model m fitted without row i (or
    without its fold). The sums are divided by their total over the classes to give probabilities.

    Parameters
    ----------
    bases : list of classifiers or of (name, classifier), optional
        Models to combine, pipelines included; a pruned tree and a random forest by default. One
        without probabilities gives one to the class it predicts.
    cv : int or "loo"
        Number of folds (each with its share of every class), or one fit a row.
    sum_to_one : bool
        Make the weights sum to one too.

    Attributes
    ----------
    weights_ : ndarray of shape (M,)
        Weight of each base, never negative.
    estimators_ : list
        The bases fitted to all rows.
    names_ : list of str
        Their names.
    base_errors_, base_errors_se_ : ndarray of shape (M,)
        Error rate of each base on the rows left out, and its standard error.
    error_, error_se_ : float
        The same for the stack, with the weights for a fold learnt on the other folds.
    held_out_ : ndarray of shape (n, M, K)
        The probabilities the weights were learnt on.
    classes_ : ndarray of shape (K,)
        The classes, sorted.
    n_features_in_ : int
        Number of columns seen in `fit`.

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
    them: a base then gives them zero.

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

    params: ClassVar[Mapping[str, Parameter]] = _PARAMS
    card: ClassVar[Card] = Card(task="classification", probabilities=True, **_SHARED_CARD)

    def __init__(
        self, bases: Iterable[Any] | None = None, *, cv: int | str = 5, sum_to_one: bool = False
    ) -> None:
        self.bases = bases
        self.cv = cv
        self.sum_to_one = sum_to_one

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the weighted sum of the bases' probabilities, divided by its total."""
        total = self._sum(X)
        return np.asarray(total / total.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> Array:
        """Return the most probable class for each row of X."""
        proba = self.predict_proba(X)
        return self.classes_[np.argmax(proba, axis=1)]

    def _own_bases(self) -> list[tuple[str, Any]]:
        return [("tree", TreeClassifier()), ("forest", RandomForestClassifier())]

    def _outputs(self, model: Any, X: Any) -> FloatArray:
        return class_shares(model, X, self.classes_)

    def _target(self, y: Array) -> FloatArray:
        return np.asarray(self._codes(y)[:, None] == np.arange(len(self.classes_)), dtype=float)

    def _loss(self, y: Array, total: FloatArray) -> FloatArray:
        return np.asarray(self.classes_[np.argmax(total, axis=1)] != y, dtype=np.float64)
