"""Bumping: the one model, of those fitted to samples of the rows, that fits the data best."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.losses import get_loss
from bottega.core.parallel import in_threads
from bottega.core.params import Integer, Parameter, Seed
from bottega.core.seeds import seeds_of
from bottega.core.typing import Array, FloatArray
from bottega.ensemble._combination.estimator import Combination
from bottega.ensemble._combination.models import Model, class_shares
from bottega.ensemble._resampling.samples import OrderedRows
from bottega.tree import TreeClassifier, TreeRegressor

__all__ = ["BumpingClassifier", "BumpingRegressor"]

_CARD: dict[str, Any] = {
    "method": "bumping",
    "title": "Bumping",
    "strengths": (
        "Leaves a bad start behind: finds the splits that a greedy search cannot see (XOR).",
        "One model remains, as readable as any of its kind.",
        "Never fits the training rows worse than the base alone.",
    ),
    "weaknesses": (
        "Only compares models of one size fairly: the complexity of the base must be fixed.",
        "Does not cut the variance as averaging does.",
    ),
    "assumptions": (
        "The base is fitted by a greedy or local search, which a sample can lead elsewhere.",
        "The base has too few parameters to fit the training rows perfectly.",
    ),
    "cost": "n_estimators + 1 fits of the base",
    "source": "D191",
    "takes": frozenset({"number", "category", "missing"}),
    "wide": True,
}


def _picked_has(name: str) -> Any:
    """Offer a method where the picked model (before the fit: the base) has it."""

    def check(self: Any) -> bool:
        picked = getattr(self, "estimator_", None)
        return hasattr(self._bases()[0] if picked is None else picked, name)

    return available_if(check)


class _Bumping(Combination):
    """What the classifier and the regressor share."""

    params: ClassVar[Mapping[str, Parameter]] = {
        "estimator": Model(help="model to fit to each sample; None: a tree of eight leaves"),
        "n_estimators": Integer(1, help="how many samples are drawn besides the rows themselves"),
        "random_state": Seed(help="seed of the draws; None: other draws in every fit"),
    }

    def __init__(
        self, estimator: Any = None, *, n_estimators: int = 20, random_state: Any = 0
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.random_state = random_state

    def _settle(self, work: OrderedRows, setting: Mapping[str, Any]) -> None:
        base = self._bases()[0]
        loss = get_loss(None, self.card.task)

        def fit_one(candidate: tuple[int, int]) -> tuple[Any, float]:
            number, seed = candidate
            original = number == 0
            model = work.fit(base, work.weight if original else work.draw(seed, work.copies), seed)
            losses = loss.of_rows(work.y, model.predict(work.X))
            return model, float(np.average(losses, weights=work.weight))

        candidates = list(enumerate(seeds_of(self.random_state, self.n_estimators + 1)))
        fitted = in_threads(fit_one, candidates, stage="models", elsewhere=True)
        self.errors_ = np.array([error for _, error in fitted])
        # Errors equal but for rounding are equal, and the first of them is kept.
        least = self.errors_.min()
        self.picked_ = int(np.argmax(self.errors_ <= least + 1e-12 * (1 + least)))
        self.estimator_ = fitted[self.picked_][0]

    def predict(self, X: Any) -> Array:
        """Return the picked model's prediction for each row of X."""
        X = self._check_new(X)
        return np.asarray(self.estimator_.predict(X))

    @_picked_has("rules")
    def rules(self) -> Any:
        """Return the rules of the picked tree."""
        return self.estimator_.rules()


class BumpingClassifier(ClassifierMixin, _Bumping):
    """Keep the classifier, of those fitted to samples of the rows, that errs least on the rows.

    The candidates are the base fitted to the rows as they are (candidate 0) and to `n_estimators`
    samples drawn with replacement. The one with the least (weighted) error rate on the training
    rows is kept; of equals the first, so the original fit stays unless a sample does better.

    Parameters
    ----------
    estimator : classifier, optional
        Model to fit; by default a tree of at most eight leaves,
        ``TreeClassifier(ccp_alpha=0, max_leaf_nodes=8)``. Its complexity must be fixed: among
        models of any size the largest wins.
    n_estimators : int
        Number of samples.
    random_state : int, RandomState, Generator or None
        Seed of the draws (and of the base); None draws other samples in every fit.

    Attributes
    ----------
    estimator_ : classifier
        The picked model.
    errors_ : ndarray of shape (n_estimators + 1,)
        Error rate of each candidate on the training rows, the original fit first.
    picked_ : int
        Which candidate was picked; 0 is the original fit.
    classes_ : ndarray of shape (K,)
        The classes, sorted.

    See Also
    --------
    BaggingClassifier : keeps all the models.

    Notes
    -----
    A stochastic search over models: a sample unbalances what a greedy algorithm sees as a tie. The
    picked model is as readable as the base; a tree's `rules` are at hand. `errors_` are training
    errors, which flatter; validate the picked model like any other. Weights count in the errors and
    are chances of being drawn; a weight of k is k copies (up to a million copies or 20 of each row,
    above which as many rows are drawn as there are). Cost: ``n_estimators + 1`` fits,
    side by side in threads. Not for a base that fits the training rows perfectly: the original
    then always wins.

    References
    ----------
    .. [1] Tibshirani, R. and Knight, K. (1999). Model search by bootstrap "bumping". Journal of
       Computational and Graphical Statistics 8, 671-686.

    Examples
    --------
    >>> import numpy as np
    >>> from bottega.tree import TreeClassifier
    >>> ticks = np.linspace(-1, 1, 10)
    >>> X = np.array([(a, b) for a in ticks for b in ticks])
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> four = TreeClassifier(ccp_alpha=0, max_depth=2, min_impurity_decrease=1e-9)
    >>> model = BumpingClassifier(four, n_estimators=60).fit(X, y)
    >>> float(model.errors_[0]), bool(model.errors_[model.picked_] <= 0.1)
    (0.5, True)
    """

    card: ClassVar[Card] = Card(task="classification", **_CARD)
    _own = (TreeClassifier(ccp_alpha=0.0, max_leaf_nodes=8),)

    @_picked_has("predict_proba")
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the picked model's class probabilities, one column per class."""
        X = self._check_new(X)
        return class_shares(self.estimator_, X, self.classes_)


@documented_like(BumpingClassifier, without=("classes_",))
class BumpingRegressor(RegressorMixin, _Bumping):
    """Keep the regressor, of those fitted to samples of the rows, that fits the rows best.

    As `BumpingClassifier`, by the (weighted) mean squared error on the training rows.

    Parameters
    ----------
    estimator : regressor, optional
        Model to fit; by default a tree of at most eight leaves,
        ``TreeRegressor(ccp_alpha=0, max_leaf_nodes=8)``. Its complexity must be fixed: among
        models of any size the largest wins.

    Attributes
    ----------
    estimator_ : regressor
        The picked model.
    errors_ : ndarray of shape (n_estimators + 1,)
        Mean squared error of each candidate on the training rows, the original fit first.

    See Also
    --------
    BaggingRegressor : averages the models.

    Notes
    -----
    A model that minimises squared error over its class, like least squares, can never be beaten by
    its own fit to a sample: bumping is for greedy and iterative fits (trees, networks), and for
    bases that optimise something else (least absolute deviations, say).

    References
    ----------
    .. [1] Tibshirani, R. and Knight, K. (1999). Model search by bootstrap "bumping". Journal of
       Computational and Graphical Statistics 8, 671-686.

    Examples
    --------
    >>> import numpy as np
    >>> from bottega.tree import TreeRegressor
    >>> ticks = np.linspace(-1, 1, 10)
    >>> X = np.array([(a, b) for a in ticks for b in ticks])
    >>> y = np.sign(X[:, 0] * X[:, 1])
    >>> four = TreeRegressor(ccp_alpha=0, max_depth=2, min_impurity_decrease=1e-9)
    >>> model = BumpingRegressor(four, n_estimators=60).fit(X, y)
    >>> bool(model.errors_[model.picked_] < 0.5 * model.errors_[0])
    True
    """

    card: ClassVar[Card] = Card(task="regression", **_CARD)
    _own = (TreeRegressor(ccp_alpha=0.0, max_leaf_nodes=8),)
