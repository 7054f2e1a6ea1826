"""AdaBoost: weak classifiers, each fitted with more weight on what the others got wrong."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import has_fit_parameter

from bottega.core.cards import Card
from bottega.core.chunks import CheckedChunks
from bottega.core.classes import decided
from bottega.core.errors import InputError, ParameterError
from bottega.core.folds import Folds
from bottega.core.losses import ZERO_ONE, Loss
from bottega.core.params import Anything, Auto, Choice, Integer, Parameter, Real, Seed
from bottega.core.path import Path, Rule, along
from bottega.core.rows import Rows
from bottega.core.seeds import seed_of, seeds_of
from bottega.core.tuned import Tuned
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.ensemble._boosting.inspection import BoostReading
from bottega.ensemble._boosting.learners import (
    Stumps,
    TreeStore,
    WeakModels,
    WeakTrees,
)
from bottega.ensemble._boosting.rounds import (
    ROUNDS,
    Boost,
    boost,
    judge_by_samples,
    staged_votes,
)
from bottega.ensemble._combination.models import Model
from bottega.ensemble._resampling.draws import seed_parts
from bottega.tree._grow.binned import grow_binned
from bottega.tree._grow.binned_columns import BinnedColumns, leaves_of
from bottega.tree._grow.chunk_columns import ColumnChunks, gather_columns
from bottega.tree._grow.column_reader import read_columns
from bottega.tree._grow.exact import GrowOptions, grow

__all__ = ["AdaBoostClassifier"]

_MANY = 100_000  # rows beyond which "auto" cuts columns into bins


@dataclass(eq=False)
class BoostWork:
    """The rows, and the rounds that were run on them."""

    rows: Rows
    done: Boost | None = None


class AdaBoostClassifier(ClassifierMixin, BoostReading, Tuned, ColumnChunks):
    r"""Classify by the weighted vote of weak classifiers, fitted one after another.

    From weights :math:`w_i = 1/n`, for rounds b = 1, 2, ...: fit :math:`C_b` with the weights,

    .. math:: e_b = \frac{\sum_i w_i [y_i \ne C_b(x_i)]}{\sum_i w_i}, \quad
              \alpha_b = \log\frac{1 - e_b}{e_b} + \log(K - 1), \quad
              w_i \leftarrow w_i\, e^{\alpha_b [y_i \ne C_b(x_i)]}

    and predict the class with the largest :math:`\sum_b \alpha_b [C_b(x) = k]`, of equals the
    first. With two classes this is AdaBoost, with more SAMME. After the update
    :math:`C_b` is no better than guessing, so the next learner must find something new.

    Parameters
    ----------
    estimator : classifier, optional
        Weak classifier; it must take `sample_weight`. Trees of depth `max_depth` by default.
    n_estimators : int or "auto"
        Number of weak classifiers; more fit closer. ``"auto"`` takes it from the path.
    max_depth : int
        Depth of the trees: 1 (stumps) gives a model that adds up effects of single inputs, 2 lets
        two inputs interact. Not used with `estimator`.
    thresholds : {"auto", "exact", "binned"}
        Where a number may be split: between any two values, or between 255 bins of equally many
        rows. ``"auto"`` takes bins beyond 100,000 rows, where they lose next to nothing and a round
        costs a fraction. Not used with `estimator`.
    max_estimators : int
        Rounds of the path.
    learning_rate : float
        Factor on every :math:`\alpha_b`; below one, more rounds take smaller steps.
    categorical_features : "auto" or list
        Columns that are categories besides the texts of a frame. Not used with `estimator`.
    estimate : {"cv", "validation", "oob"}
        Honest error of the path: by folds, by one held-out part, or by the rows left out of
        bootstrap samples.
    cv : int, float, "loo", splitter or list of (train, test)
        Number of folds, or the folds themselves; with ``estimate="oob"`` number of bootstrap
        samples.
    validation : float
        Share of each class that is held out with ``estimate="validation"``, in twentieths.
    select : {"min", "one_se"}
        Rule that picks the rounds from the path.
    random_state : int, RandomState, Generator or None
        Seed of the bootstrap samples and of the base; None is different every time. Without these
        nothing is random.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The classes, sorted.
    n_classes_ : int
        How many there are.
    n_estimators_ : int
        Rounds in use, B; fewer than asked for if they stopped.
    estimator_weights_, estimator_errors_ : ndarray of shape (B,)
        Weight of the vote and weighted training error of each weak classifier.
    stopped_ : {"rounds", "perfect", "chance"}
        Why the rounds ended: all were done; a classifier made no error, and outvotes the others;
        the next one was no better than guessing (error at least 1 - 1/K), and is left out.
    train_bound_ : ndarray of shape (B,) or None
        Two classes: the training error after b rounds is at most
        :math:`\prod_{c \le b} 2\sqrt{e_c (1 - e_c)}`.
    estimators_ : list
        The weak classifiers, as estimators.
    feature_importances_ : ndarray of shape (p,)
        Importance of each column to the weak classifiers, averaged with their weights.
    path_ : Path
        Training and honest error along the rounds; with ``n_estimators="auto"``.

    Notes
    -----
    With two classes coded -1 and 1, AdaBoost minimises the mean of :math:`\exp(-y F(x))` step by
    step over :math:`F = \frac12 \sum_b \alpha_b C_b`, and the minimiser over all functions is half
    the log-odds. So `decision_function` gives :math:`\sum_b \alpha_b C_b(x) = 2F`, on the scale of
    log-odds, and `predict_proba` is :math:`1 / (1 + e^{-2F})`; with K classes the softmax of the
    votes, which is the same for K = 2. After many rounds these probabilities are too near 0 and 1:
    trust the order, not the size. With a learning rate other than one the bound is
    the product of :math:`(1 - e) e^{-\alpha/2} + e\, e^{\alpha/2}`.

    Cost: the columns are sorted, or cut into bins, once; a round is one scan of them, n p. The path
    adds `cv` runs, side by side in threads. Missing values and categories are used as they are.
    Its complexity is the number of rounds; it has no degrees of freedom. Weights are the first
    :math:`w_i`: a weight of k is k copies.

    Not for data with wrong labels: their weight grows round by round.

    References
    ----------
    .. [1] Freund, Y. and Schapire, R. E. (1997). A decision-theoretic generalization of on-line
       learning and an application to boosting. J. Computer and System Sciences 55, 119-139.
    .. [2] Zhu, J., Zou, H., Rosset, S. and Hastie, T. (2009). Multi-class AdaBoost. Statistics and
       Its Interface 2, 349-360.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(10.0)[:, None]
    >>> y = np.array([1, 1, 1, -1, -1, -1, 1, 1, 1, -1])
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> model.estimator_errors_.round(4).tolist(), float(model.score(X, y))
    ([0.3, 0.2143, 0.1818], 1.0)
    """

    knob: ClassVar[str] = "n_estimators"
    in_chunks: ClassVar[str] = (
        'Rows in chunks are boosted on bins, as with ``thresholds="binned"``, and one byte per '
        "value is kept (beyond 1 GiB in a temporary file). With `n_estimators` given the answer "
        "is that of the same rows in memory; the folds that choose it share the bins of all "
        "rows."
    )
    simplifies: ClassVar[bool] = False
    params: ClassVar[Mapping[str, Parameter]] = {
        "estimator": Model(help="weak classifier that takes weights; None: trees"),
        "n_estimators": Auto(Integer(1), help="number of weak classifiers; 'auto': from the path"),
        "max_depth": Integer(1, help="depth of the trees; 1: stumps"),
        "thresholds": Choice("auto", "exact", "binned", help="where a number may be split"),
        "max_estimators": Integer(1, help="rounds of the path"),
        "learning_rate": Real(0, open_low=True, log=True, help="factor on the weight of a vote"),
        "categorical_features": Anything(
            help="columns that are categories; 'auto': texts of a frame"
        ),
        "estimate": Choice("cv", "validation", "oob", help="how the path is judged"),
        "cv": Folds(help="folds, or number of bootstrap samples"),
        "validation": Real(0, 1, open_low=True, open_high=True, help="share that is held out"),
        "select": Rule(),
        "random_state": Seed(help="seed of what is drawn; None: other draws in every fit"),
    }
    card: ClassVar[Card] = Card(
        method="adaboost",
        title="AdaBoost",
        task="classification",
        strengths=(
            "Accurate: each round repairs what the earlier ones got wrong, and classifiers that "
            "barely beat guessing become one of the best.",
            "More readable than bagging and forests: with stumps the model is a sum of effects of "
            "single inputs that can be drawn.",
            "Takes categories and missing values as they are.",
            "Tends to work with rare classes, whose rows gain weight.",
            "Slow to overfit: margins keep growing after the training error is zero.",
        ),
        weaknesses=(
            "Still hard to read as a whole, and it does not rank the inputs.",
            "Overfits where there is much noise: rows with wrong labels gain weight in every "
            "round.",
            "Overfits where the weak classifiers are very poor, or have little bias themselves.",
            "With stumps no interaction can be seen; that takes deeper trees.",
            "Its probabilities are too near 0 and 1.",
        ),
        assumptions=(
            "The weak classifiers stay better than guessing under every weighting of the rows.",
            "Few labels are wrong.",
        ),
        cost="n p (log n + rounds)",
        source="D186, D192, D193, D254i",
        takes=frozenset({"number", "category", "missing"}),
        wide=True,
    )

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int | str = "auto",
        max_depth: int = 1,
        thresholds: str = "auto",
        max_estimators: int = 200,
        learning_rate: float = 1.0,
        categorical_features: Any = "auto",
        estimate: str = "cv",
        cv: Any = 5,
        validation: float = 0.25,
        select: str = "min",
        random_state: Any = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.estimator = estimator
        self.max_depth = max_depth
        self.thresholds = thresholds
        self.max_estimators = max_estimators
        self.learning_rate = learning_rate
        self.categorical_features = categorical_features
        self.estimate = estimate
        self.cv = cv
        self.validation = validation
        self.select = select
        self.random_state = random_state

    def _check_params(self) -> None:
        super()._check_params()
        if self.estimator is not None and not has_fit_parameter(self.estimator, "sample_weight"):
            raise ParameterError(
                f"{type(self).__name__}: {type(self.estimator).__name__} doesn't support "
                "sample_weight, which boosting needs; use a classifier that does."
            )
        if self.estimate == "oob":
            Integer(2).check(type(self).__name__, "cv", self.cv)

    def _check_rows(self, X: Any, y: Any) -> tuple[Any, Any]:
        if self.estimator is not None:
            return super()._check_rows(X, y)
        columns, y = read_columns(self, X, y)
        self._ranges = columns.ranges()
        return columns, y

    def _check_chunks(self, chunks: Any, **how: Any) -> CheckedChunks:
        if self.estimator is not None:
            raise InputError(
                f"A fit in chunks boosts trees, not {type(self.estimator).__name__}: leave out "
                "estimator, or fit a sample in memory."
            )
        return super()._check_chunks(chunks, **how)

    def _gather(self, checked: CheckedChunks) -> Rows:
        columns, y, weight = gather_columns(self, checked)
        self._ranges, self._seed = columns.ranges(), seed_of(self.random_state)
        return Rows(columns.binned(), y, weight)

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Read the rows, and draw the seed that the folds of a path share."""
        rows = super()._read(X, y, sample_weight)
        self._seed = seed_of(self.random_state)
        return rows

    def _prepare(self, rows: Rows) -> BoostWork:
        return BoostWork(rows)

    def _boost(self, work: BoostWork, rounds: int) -> Boost:
        """Return what the first rounds give; rounds that were run are not run again."""
        done = work.done
        if done is None or (len(done) < rounds and done.stopped == ROUNDS):
            learner = self._tree_learner if self.estimator is None else self._model_learner
            learn, K = learner(work.rows, rounds), len(self.classes_)
            done = work.done = boost(learn, work.rows, K, rounds, self.learning_rate)
        return done.first(rounds)

    def _tree_learner(self, rows: Rows, rounds: int) -> Callable[..., Any]:
        columns, n_classes = rows.X, len(self.classes_)
        options = GrowOptions(criterion="gini", max_depth=self.max_depth)
        many = isinstance(columns, BinnedColumns) or (
            self.thresholds == "auto" and len(rows) > _MANY
        )
        grown = grow_binned if many or self.thresholds == "binned" else grow

        def learn(w: FloatArray) -> tuple[Any, IntArray]:
            tree = grown(columns, rows.y, w, options, n_classes=n_classes)
            return tree, decided(tree.value)[leaves_of(columns, tree)]

        return learn

    def _model_learner(self, rows: Rows, rounds: int) -> Callable[..., Any]:
        y = self._responses(rows)
        each_seed = iter(seeds_of(self._seed, rounds))

        def learn(w: FloatArray) -> tuple[Any, IntArray]:
            model = seed_parts(clone(self.estimator), next(each_seed))
            model.fit(rows.X, y, sample_weight=w)
            return model, np.searchsorted(self.classes_, model.predict(rows.X))

        return learn

    def _packed(self, done: Boost) -> Stumps | WeakTrees | WeakModels:
        if self.estimator is not None:
            return WeakModels(done.learners, self.classes_)
        return Stumps.of(done.learners) if self.max_depth == 1 else WeakTrees(done.learners)

    def _settle(self, work: BoostWork, setting: Mapping[str, Any]) -> None:
        done = self._boost(work, int(setting[self.knob]))
        self.n_estimators_, self.stopped_ = len(done), done.stopped
        self.estimator_weights_, self.estimator_errors_ = done.alphas, done.errors
        self._learners = self._packed(done)
        if isinstance(self._learners, Stumps):
            self._learners = replace(self._learners, trees=TreeStore.of(done.learners))
        self.train_bound_ = None
        if len(self.classes_) <= 2:
            e = self.estimator_errors_
            with np.errstate(over="ignore", invalid="ignore"):
                step = np.exp(self.estimator_weights_ / 2)
                # A classifier without error stands for an infinite alpha.
                bound = np.cumprod(np.where(e == 0, 0.0, (1 - e) / step + e * step))
            self.train_bound_ = np.where(np.isnan(bound), 0.0, bound)

    @property
    def _folds_by(self) -> Any:
        return self.validation if self.estimate == "validation" else self.cv

    def _path(self, work: BoostWork, values: Any, loss: Loss | None) -> Path:
        rows = work.rows
        if values is None:
            rounds = np.arange(1, len(self._boost(work, self.max_estimators)) + 1)
        else:
            rounds = np.unique(values)
        settings = along(self.knob, rounds)
        train_error = self._train_error(work, rows, settings, ZERO_ONE)
        error = error_se = estimate = None
        if self.estimate == "oob" and loss is not None:
            estimate = "oob"

            def predict(drawn: Rows, X_new: Any) -> Array:
                return self._predictions(BoostWork(drawn), settings, X_new, loss.method)

            error, error_se = judge_by_samples(rows, seeds_of(self._seed, self.cv), loss, predict)
        return Path(
            settings,
            complexity=rounds.astype(np.float64),
            train_error=train_error,
            error=error,
            error_se=error_se,
            estimate=estimate,
            loss=ZERO_ONE.title,
        )

    def _predictions(
        self, work: BoostWork, settings: Sequence[Mapping[str, Any]], X_new: Any, method: str
    ) -> Array:
        """Return what is predicted after each number of rounds; past the last, that of the last."""
        rounds = np.array([setting[self.knob] for setting in settings])
        done = self._boost(work, int(rounds.max()))
        wanted = np.minimum(rounds, len(done))
        K, labels, packed = len(self.classes_), method == "predict", self._packed(done)
        parts = X_new.blocks() if hasattr(X_new, "blocks") else [(slice(None), X_new)]
        n = len(X_new) if hasattr(X_new, "blocks") else int(X_new.shape[0])
        shape = n, len(rounds)
        found: Array = np.empty(shape, dtype=np.intp) if labels else np.empty((*shape, K))
        for part, X in parts:
            for b, votes in enumerate(staged_votes(packed, done.alphas, X, K), start=1):
                here = wanted == b
                if here.any():
                    stage = decided(votes) if labels else softmax(votes, axis=1)
                    found[part, here] = stage[:, None]
        return found
