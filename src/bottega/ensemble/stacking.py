"""Stacking: a weighted sum of models, the weights learnt on rows the models had not seen."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, clone, is_classifier
from sklearn.utils.validation import check_is_fitted

from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.errors import InputError
from bottega.core.estimator import Unweighted
from bottega.core.folds import Fold, make_folds
from bottega.core.frames import take_rows
from bottega.core.judge import mean_and_se
from bottega.core.leave_one_out import loo_by_leverages
from bottega.core.losses import get_loss
from bottega.core.parallel import in_threads
from bottega.core.params import AnyOf, Boolean, Choice, Integer, Parameter
from bottega.core.results import glance_row, tidy_columns
from bottega.core.tables import Section, Summary
from bottega.core.typing import Array, FloatArray
from bottega.ensemble._combination.average import Average, MeanOfNumbers, VoteOfClasses
from bottega.ensemble._combination.models import Models, class_shares
from bottega.ensemble._resampling.samples import OrderedRows
from bottega.ensemble.forest import RandomForestClassifier, RandomForestRegressor
from bottega.optimize.nonnegative import nonnegative_least_squares
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


class _Stacked(Average, Unweighted):
    """What the classifier and the regressor share; `_target` is what the sum should be."""

    params: ClassVar[Mapping[str, Parameter]] = {
        "estimators": Models(help="models to combine; None: a pruned tree and a random forest"),
        "cv": AnyOf(
            Choice("loo"),
            Integer(2),
            help="folds for the unseen predictions, or 'loo' for one per row",
        ),
        "sum_to_one": Boolean(help="make the weights sum to one"),
    }
    _least_rows = 2  # weights are learnt on rows left out of a fit

    def __init__(
        self,
        estimators: Iterable[Any] | None = None,
        *,
        cv: int | str = 5,
        sum_to_one: bool = False,
    ) -> None:
        self.estimators = estimators
        self.cv = cv
        self.sum_to_one = sum_to_one

    def _settle(self, work: OrderedRows, setting: Mapping[str, Any]) -> None:
        n = len(work.y)
        cv = self.cv if isinstance(self.cv, str) else min(self.cv, n)
        folds = make_folds(cv, n, strata=work.codes if is_classifier(self) else None)
        names, bases = zip(*self._named(), strict=True)
        self.names_ = list(names)
        self.estimators_ = in_threads(lambda base: work.fit(base, None), bases, stage="bases")
        held_out = self._held_out_by(work, bases, folds)
        self._weigh(held_out, work, folds)
        self.held_out_ = np.empty_like(held_out)
        self.held_out_[work.order] = held_out
        self._nobs = n

    def _held_out_by(
        self, work: OrderedRows, bases: tuple[Any, ...], folds: list[Fold]
    ) -> FloatArray:
        """Return the outputs for each row of fits without it: (rows, bases, ...)."""
        found = np.empty((len(work.y), len(bases), *self._target(work.codes).shape[1:]))
        tasks: list[tuple[int, Fold]] = []
        for m, base in enumerate(bases):
            shortcut = None
            if self.cv == "loo" and not is_classifier(self):
                shortcut, _ = loo_by_leverages(base, work.X, work.y)
            if shortcut is None:
                tasks += [(m, fold) for fold in folds]
            else:
                found[:, m] = shortcut

        def fit_one(task: tuple[int, Fold]) -> FloatArray:
            m, (train, test) = task
            model = clone(bases[m]).fit(take_rows(work.X, train), work.y[train])
            return self._outputs(model, take_rows(work.X, test))

        fitted = in_threads(fit_one, tasks, stage="folds")
        for (m, (_, test)), outputs in zip(tasks, fitted, strict=True):
            found[test, m] = outputs
        return found

    def _weigh(self, held_out: FloatArray, work: OrderedRows, folds: list[Fold]) -> None:
        """Learn the weights and what they are worth."""
        if not np.all(np.isfinite(held_out)):
            raise InputError("A base predicts values that are not finite; look at its fit first.")
        target = self._target(work.codes)
        loss = get_loss(None, self.card.task)

        def weights(rows: Any) -> FloatArray:
            # All outputs of a row are rows of one least-squares problem.
            A = np.moveaxis(held_out[rows], 1, -1).reshape(-1, held_out.shape[1])
            return nonnegative_least_squares(A, target[rows].ravel(), sum_to_one=self.sum_to_one)

        def judged(total: FloatArray) -> tuple[float, float]:
            error, error_se = mean_and_se(loss.of_rows(work.codes, self._decided(total)))
            return float(error), float(error_se)

        self.weights_ = weights(slice(None))
        # A row's own part in choosing the weights flatters them: choose them without its fold.
        folds = folds if len(folds) <= 20 else make_folds(10, len(work.codes))
        total = np.empty_like(target)
        for train, test in folds:
            total[test] = np.einsum("im...,m->i...", held_out[test], weights(train))
        self.error_, self.error_se_ = judged(total)
        each = [judged(held_out[:, m]) for m in range(held_out.shape[1])]
        self.base_errors_, self.base_errors_se_ = np.array(each).T

    def tidy(self) -> Any:
        """Return one row per base: its weight and its error on the rows left out."""
        check_is_fitted(self)
        errors = {"error": self.base_errors_, "error_se": self.base_errors_se_}
        return self._make_frame(tidy_columns(self.names_, self.weights_) | errors)

    def glance(self) -> Any:
        """Return one row about the stack: its error, the best base's, and what stacking gains."""
        check_is_fitted(self)
        best = int(np.argmin(self.base_errors_))
        row = glance_row(
            {"nobs": self._nobs},
            error=self.error_,
            error_se=self.error_se_,
            best_base=self.names_[best],
            best_base_error=float(self.base_errors_[best]),
            improvement=float(self.base_errors_[best] - self.error_),
        )
        return self._make_frame({name: [value] for name, value in row.items()})

    def summary(self) -> Summary:
        """Return the weights and errors as a table that shows itself as text and HTML."""
        check_is_fitted(self)
        table = {
            "base": [*self.names_, "stack"],
            "weight": [*self.weights_, float(self.weights_.sum())],
            "error": [*self.base_errors_, self.error_],
            "se": [*self.base_errors_se_, self.error_se_],
        }
        note = "Errors are on rows left out; the stack's with weights chosen without them too."
        return Summary(type(self).__name__, (Section("", table),), (note,))


class StackingRegressor(RegressorMixin, _Stacked, MeanOfNumbers):
    r"""Predict by a weighted sum of models.

    .. math:: \hat f(x) = \sum_m \hat w_m \hat f_m(x), \qquad
              \hat w = \arg\min_{w \ge 0} \sum_i \Bigl(y_i - \sum_m w_m \hat f_m^{-i}(x_i)\Bigr)^2

    where :math:`\hat f_m^{-i}` is model m fitted without row i (or without its fold).

    Parameters
    ----------
    estimators : list of regressors or of (name, regressor), optional
        Models to combine, pipelines included; a pruned tree and a random forest by default.
    cv : int or "loo"
        Number of folds, or leave-one-out: from the leverages of one fit for a base whose formula is
        exact (see `bottega.risk.leave_one_out`, which tries it), by one fit per row for any other.
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

    card: ClassVar[Card] = Card(task="regression", **_CARD)
    _own = (("tree", TreeRegressor()), ("forest", RandomForestRegressor()))

    def _target(self, codes: Array) -> FloatArray:
        return codes


@documented_like(StackingRegressor)
class StackingClassifier(ClassifierMixin, _Stacked, VoteOfClasses):
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
    cv : int or "loo"
        Number of folds (each with its share of every class), or one fit per row.

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

    card: ClassVar[Card] = Card(task="classification", **_CARD)
    _own = (("tree", TreeClassifier()), ("forest", RandomForestClassifier()))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the weighted sum of the bases' probabilities, divided by its total."""
        total = self._average(X)
        return total / total.sum(axis=1, keepdims=True)

    def _outputs(self, model: Any, X: Any) -> FloatArray:
        return class_shares(model, X, self.classes_)

    def _target(self, codes: Array) -> FloatArray:
        return np.asarray(codes[:, None] == np.arange(len(self.classes_)), dtype=np.float64)
