"""AdaBoost: weak classifiers, each fitted with more weight on what the others got wrong."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from bottega.core.base import Tuned
from bottega.core.cards import Card
from bottega.core.chunks import LossSums
from bottega.core.errors import InputError, ParameterError
from bottega.core.frames import is_frame
from bottega.core.parallel import in_threads
from bottega.core.params import Anything, Auto, Choice, Integer, Parameter, Real, Seed
from bottega.core.path import Path, Rule
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.core.weights import check_weight
from bottega.ensemble._base import Model, tags_of_bases
from bottega.ensemble.boosting import Boost, boost, staged_labels
from bottega.ensemble.boosting_path import Rows, check_rounds, judged_parts
from bottega.ensemble.resampling import seed_parts, seeds
from bottega.ensemble.stump_effects import StumpEffects, stump_effects
from bottega.ensemble.weak import Stumps, WeakModels, WeakTrees, leaf_labels
from bottega.plot import error_against_trees_chart
from bottega.tree._grow.binned import grow_binned
from bottega.tree._grow.column_reader import ColumnReader
from bottega.tree._grow.exact import GrowOptions, grow
from bottega.tree._kernels.walk import apply

__all__ = ["AdaBoostClassifier"]

_MANY = 100_000  # rows beyond which "auto" cuts columns into bins


class AdaBoostClassifier(ClassifierMixin, Tuned):
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
    n_rounds : int or "auto"
        Number of weak classifiers; more fit closer. ``"auto"`` takes it from the path.
    base : classifier, optional
        Weak classifier; it must take `sample_weight`. Trees of depth `max_depth` by default.
    max_depth : int
        Depth of the trees: 1 (stumps) gives a model that adds up effects of single inputs, 2 lets
        two inputs interact. Not used with `base`.
    thresholds : {"auto", "exact", "binned"}
        Where a number may be split: between any two values, or between 255 bins of equally many
        rows. ``"auto"`` takes bins beyond 100,000 rows, where they lose next to nothing and a round
        costs a fraction. Not used with `base`.
    max_rounds : int
        Rounds of the path.
    learning_rate : float
        Factor on every :math:`\alpha_b`; below one, more rounds take smaller steps.
    categorical : "auto" or list
        Columns that are categories besides the texts of a frame. Not used with `base`.
    estimate : {"cv", "validation", "oob"}
        Honest error of the path: by folds, by one held-out part, or by the rows left out of
        bootstrap samples.
    cv : int
        Number of folds, or of bootstrap samples.
    validation : float
        Share of each class that is held out with ``estimate="validation"``.
    select : {"min", "one_se"}
        Rule that picks the rounds from the path.
    random_state : int, generator or None
        Seed of the held-out part, of the bootstrap samples and of the base; None is other every
        time. Without these nothing is random.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The classes, sorted.
    n_rounds_ : int
        Rounds in use, B; fewer than asked for if they stopped.
    alphas_, errors_ : ndarray of shape (B,)
        Weight of the vote and weighted training error of each weak classifier.
    stopped_ : {"rounds", "perfect", "chance"}
        Why the rounds ended: all were done; a classifier made no error, and outvotes the others;
        the next one was no better than guessing (error at least 1 - 1/K), and is left out.
    train_bound_ : ndarray of shape (B,) or None
        Two classes: the training error after b rounds is at most
        :math:`\prod_{c \le b} 2\sqrt{e_c (1 - e_c)}`.
    learners_ : Stumps, WeakTrees or WeakModels
        The weak classifiers.
    path_ : Path
        Training and honest error along the rounds; with ``n_rounds="auto"``.
    n_features_in_ : int
        Number of columns seen in `fit`.

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
    Degrees of freedom are counted as rounds. Weights are the first :math:`w_i`: a weight of k is k
    copies.

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
    >>> model = AdaBoostClassifier(n_rounds=3).fit(X, y)
    >>> model.errors_.round(4).tolist(), float(model.score(X, y))
    ([0.3, 0.2143, 0.1818], 1.0)
    """

    knob: ClassVar[str] = "n_rounds"
    params: ClassVar[Mapping[str, Parameter]] = {
        "n_rounds": Auto(Integer(1), help="number of weak classifiers; 'auto': from the path"),
        "base": Model(help="weak classifier that takes weights; None: trees"),
        "max_depth": Integer(1, help="depth of the trees; 1: stumps"),
        "thresholds": Choice("auto", "exact", "binned", help="where a number may be split"),
        "max_rounds": Integer(1, help="rounds of the path"),
        "learning_rate": Real(0, open_low=True, log=True, help="factor on the weight of a vote"),
        "categorical": Anything(help="columns that are categories; 'auto': texts of a frame"),
        "estimate": Choice("cv", "validation", "oob", help="how the path is judged"),
        "cv": Integer(2, help="number of folds, or of bootstrap samples"),
        "validation": Real(0, 1, open_low=True, open_high=True, help="share that is held out"),
        "select": Rule(),
        "random_state": Seed(help="seed of what is drawn; None: other draws in every fit"),
    }
    card: ClassVar[Card] = Card(
        method="adaboost",
        title="AdaBoost",
        task="classification",
        knob="n_rounds",
        strengths=(
            "Turns classifiers that barely beat guessing into one of the best.",
            "With stumps the model is a sum of effects of single inputs that can be drawn.",
            "Slow to overfit: margins keep growing after the training error is zero.",
            "Takes categories and missing values as they are.",
        ),
        weaknesses=(
            "Rows with wrong labels gain weight in every round.",
            "With stumps no interaction can be seen; that takes deeper trees.",
            "Its probabilities are too near 0 and 1.",
        ),
        cost="n p (log n + rounds)",
        source="D186, D192, D193",
        missing=True,
        categories=True,
        wide=True,
        probabilities=True,
        weights=True,
    )

    def __init__(
        self,
        n_rounds: int | str = "auto",
        *,
        base: Any = None,
        max_depth: int = 1,
        thresholds: str = "auto",
        max_rounds: int = 200,
        learning_rate: float = 1.0,
        categorical: Any = "auto",
        estimate: str = "cv",
        cv: int = 5,
        validation: float = 0.25,
        select: str = "min",
        random_state: Any = 0,
    ) -> None:
        self.n_rounds = n_rounds
        self.base = base
        self.max_depth = max_depth
        self.thresholds = thresholds
        self.max_rounds = max_rounds
        self.learning_rate = learning_rate
        self.categorical = categorical
        self.estimate = estimate
        self.cv = cv
        self.validation = validation
        self.select = select
        self.random_state = random_state

    # ---- fitting --------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the weak classifiers.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
            Inputs.
        y : array-like of shape (n,)
            Class labels.
        sample_weight : array-like of shape (n,), optional
            Row weights to start from.

        Returns
        -------
        AdaBoostClassifier
            The fitted estimator.
        """
        self._check_params()
        self._remember_frame(X)
        rows, codes, weight = self._validate(X, y, sample_weight)
        self.__dict__.pop("path_", None)  # of an earlier fit
        if self.n_rounds == "auto":
            done = self._boost(rows, codes, weight, self.max_rounds)
            self.path_ = self._curve(done, rows, codes, weight, None)
            rounds = int(self.path_.values[self.path_.best(self.select)])
        else:
            rounds = int(self.n_rounds)
            done = self._boost(rows, codes, weight, rounds)
        self._keep(done, rounds)
        return self

    def _keep(self, done: Boost, rounds: int) -> None:
        kept = min(rounds, len(done.alphas))
        self.n_rounds_ = kept
        self.alphas_, self.errors_ = done.alphas[:kept], done.errors[:kept]
        self.stopped_ = done.stopped if kept == len(done.alphas) else "rounds"
        self.learners_ = self._packed(done.learners[:kept])
        self.train_bound_ = None
        if len(self.classes_) <= 2:
            step, e = np.exp(self.alphas_ / 2), self.errors_
            # A classifier without error stands for an infinite alpha.
            self.train_bound_ = np.cumprod(np.where(e == 0, 0.0, (1 - e) / step + e * step))

    def _validate(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Rows, IntArray, FloatArray | None]:
        # Before the inputs: it forgets the names of the columns.
        y = validate_data(self, X="no_validation", y=y)
        data: Any
        if self.base is None:
            self.columns_in_ = ColumnReader(self.categorical)
            data = self.columns_in_.fit(self, X)
        else:
            if not has_fit_parameter(self.base, "sample_weight"):
                raise ParameterError(
                    f"{type(self).__name__}: base={type(self.base).__name__} takes no "
                    "sample_weight, which boosting needs; use a classifier that does."
                )
            if is_frame(X):
                validate_data(self, X, skip_check_array=True)
                data = X
            else:
                data = validate_data(self, X, dtype=None, ensure_all_finite=self._finite())
        check_consistent_length(data if self.base is not None else data.X, y)
        check_classification_targets(y)
        weight = check_weight(sample_weight, len(y))
        rows = Rows(data)
        if weight is not None and np.any(weight == 0):
            counted = np.flatnonzero(weight)
            rows, y, weight = rows[counted], y[counted], weight[counted]
        self.classes_, codes = np.unique(y, return_inverse=True)
        return rows, codes, weight

    def _boost(self, rows: Rows, codes: IntArray, weight: Any, rounds: int) -> Boost:
        n_classes = len(self.classes_)
        learn = self._tree_learner if self.base is None else self._model_learner
        return boost(
            learn(rows, codes, rounds), codes, weight, n_classes, rounds, self.learning_rate
        )

    def _tree_learner(self, rows: Rows, codes: IntArray, rounds: int) -> Callable[..., Any]:
        columns, n_classes = rows.data, len(self.classes_)
        options = GrowOptions(criterion="gini", max_depth=self.max_depth)
        many = self.thresholds == "auto" and len(codes) > _MANY
        grown = grow_binned if many or self.thresholds == "binned" else grow

        def learn(w: FloatArray) -> tuple[Any, IntArray]:
            tree = grown(columns, codes, w, options, n_classes=n_classes)
            return tree, leaf_labels(tree)[apply(columns.X, *tree.walk)]

        return learn

    def _model_learner(self, rows: Rows, codes: IntArray, rounds: int) -> Callable[..., Any]:
        y = self.classes_[codes]
        each_seed = iter(seeds(self._seed(), rounds))

        def learn(w: FloatArray) -> tuple[Any, IntArray]:
            model = seed_parts(clone(self.base), next(each_seed))
            model.fit(rows.data, y, sample_weight=w)
            return model, np.searchsorted(self.classes_, model.predict(rows.data))

        return learn

    def _packed(self, learners: list[Any]) -> Stumps | WeakTrees | WeakModels:
        if self.base is not None:
            return WeakModels(learners, self.classes_)
        return Stumps.of(learners) if self.max_depth == 1 else WeakTrees(learners)

    def _seed(self) -> int:
        """Return one seed for all draws of a fit."""
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return seeds(self.random_state, 1)[0]

    # ---- the path -------------------------------------------------------------------------------

    def _path(self, X: Rows, y: IntArray, sample_weight: Any, values: Any) -> Path:
        most = self.max_rounds if values is None else int(check_rounds(values)[-1])
        done = self._boost(X, y, sample_weight, most)
        return self._curve(done, X, y, sample_weight, values)

    def _curve(self, done: Boost, rows: Rows, codes: IntArray, weight: Any, values: Any) -> Path:
        """Return the errors along the rounds that were done on all rows."""
        reached = len(done.alphas)
        rounds = np.arange(1, reached + 1) if values is None else check_rounds(values)
        parts = judged_parts(codes, weight, self.estimate, self.cv, self.validation, self._seed())

        def judge(part: tuple[IntArray, IntArray, Any]) -> tuple[FloatArray, IntArray]:
            train, test, w = part
            predicted = self._path_predictions(rows[train], codes[train], w, rounds, rows[test])
            return (predicted != codes[test][:, None]).astype(np.float64), test

        honest = LossSums()
        for loss, test in in_threads(judge, parts, stage="folds"):
            honest.update(loss, None if weight is None else weight[test])
        error, error_se = honest.mean_and_se()
        fitted = self._staged(done, rows, rounds)
        return Path(
            self.knob,
            rounds,
            df=rounds.astype(np.float64),
            train_error=np.average(fitted != codes[:, None], axis=0, weights=weight),
            error=error,
            error_se=error_se,
            estimate=self.estimate,
            loss="misclassification",
        )

    def _path_predictions(
        self, X: Rows, y: IntArray, sample_weight: Any, values: Array, X_new: Rows
    ) -> IntArray:
        done = self._boost(X, y, sample_weight, int(np.max(values)))
        return self._staged(done, X_new, values)

    def _staged(self, done: Boost, rows: Rows, values: Array) -> IntArray:
        """Return the class codes after each number of rounds; past the last, those of the last."""
        wanted = np.minimum(values, len(done.alphas))
        found = np.empty((len(rows), len(values)), dtype=np.intp)
        learners = self._packed(done.learners)
        stages = staged_labels(learners, done.alphas, rows.inputs, len(rows), len(self.classes_))
        for b, labels in enumerate(stages, start=1):
            found[:, wanted == b] = labels[:, None]
        return found

    # ---- predicting -----------------------------------------------------------------------------

    def _read(self, X: Any) -> Any:
        check_is_fitted(self)
        if self.base is None:
            return self.columns_in_.read(self, X)
        if is_frame(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            return X
        return validate_data(self, X, reset=False, dtype=None, ensure_all_finite=self._finite())

    def _votes(self, X: Any) -> FloatArray:
        X = self._read(X)
        return self.learners_.votes(X, self.alphas_, len(self.classes_))

    def decision_function(self, X: Any) -> FloatArray:
        """Return the log-odds of the second class; with more than two the votes of each class.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Points.

        Returns
        -------
        ndarray of shape (m,) or (m, K)
            The sum of alpha over learners that vote for the second class, less that of the first.
        """
        votes = self._votes(X)
        return np.asarray(votes[:, 1] - votes[:, 0]) if votes.shape[1] == 2 else votes

    def predict(self, X: Any) -> Array:
        """Return the class with the largest weighted vote for each row of X."""
        votes = self._votes(X)
        return self.classes_[np.argmax(votes, axis=1)]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the class probabilities that the votes stand for (see Notes)."""
        return np.asarray(softmax(self._votes(X), axis=1))

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield the predictions after 1, 2, ... rounds."""
        for labels in self._stages(self._read(X)):
            yield self.classes_[labels]

    def staged_error(self, X: Any, y: Any) -> FloatArray:
        """Return the error rate on X, y after 1, 2, ... rounds."""
        y = np.asarray(y)
        return np.array([np.mean(labels != y) for labels in self.staged_predict(X)])

    def plot(self, X: Any, y: Any) -> Any:
        """Draw the error on given rows against the number of rounds.

        Parameters
        ----------
        X, y : array-like
            Rows that were not used to fit; the honest error along the training rows is
            ``path_.plot()``.

        Returns
        -------
        altair.LayerChart
        """
        error = self.staged_error(X, y)
        return error_against_trees_chart(
            np.arange(1, len(error) + 1), test=error, loss="misclassification", unit="rounds"
        )

    def _stages(self, X: Any) -> Iterator[IntArray]:
        n = int(X.shape[0])
        return staged_labels(self.learners_, self.alphas_, X, n, len(self.classes_))

    # ---- looking inside -------------------------------------------------------------------------

    def margins(self, X: Any, y: Any) -> FloatArray:
        """Return the share of votes for the true class less the largest of another: in [-1, 1].

        Positive where the prediction is right; large where the vote is clear. Their distribution
        is what keeps improving after the training error has reached zero.
        """
        votes = self._votes(X)
        if votes.shape[1] == 1:
            return np.ones(len(votes))
        rows, true = np.arange(len(votes)), self._codes(y)
        own = votes[rows, true]
        votes[rows, true] = -np.inf
        total = self.alphas_.sum()
        return np.asarray((own - votes.max(axis=1)) / total if total > 0 else np.zeros(len(own)))

    def margin_distribution(self, X: Any, y: Any) -> Any:
        """Return the distribution function of the margins: a frame of `margin` and `share`."""
        margin, counts = np.unique(self.margins(X, y), return_counts=True)
        return self._make_frame({"margin": margin, "share": np.cumsum(counts) / counts.sum()})

    def row_weights(self, X: Any, y: Any, sample_weight: Any = None) -> FloatArray:
        """Return the weights of the rows before each round and after the last, each summing to one.

        For the training rows, these are the weights of the algorithm: ``(n_rounds_ + 1, n)``.
        """
        X, codes = self._read(X), self._codes(y)
        weight = check_weight(sample_weight, len(codes))
        log_w = np.zeros(len(codes)) if weight is None else np.log(weight)
        found = [softmax(log_w)]
        for b, alpha in enumerate(self.alphas_):
            log_w = log_w + alpha * (self.learners_.labels(X, b) != codes)
            found.append(softmax(log_w))
        return np.stack(found)

    def to_additive(self) -> StumpEffects:
        """Return the model as a sum of step functions, one an input (stumps, two classes).

        Returns
        -------
        StumpEffects
            ``evaluate(X)`` gives the effects, whose sum with `intercept` is the decision function;
            ``to_frame()`` their steps.
        """
        check_is_fitted(self)
        if not isinstance(self.learners_, Stumps) or len(self.classes_) != 2:
            raise InputError(
                "Only stumps for two classes add up to effects of single inputs; fit with "
                "base=None, max_depth=1 and two classes."
            )
        return stump_effects(self.learners_, self.alphas_, self.columns_in_, self)

    def _codes(self, y: Any) -> IntArray:
        y = np.asarray(y)
        codes = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
        unknown = self.classes_[codes] != y
        if np.any(unknown):
            raise InputError(
                f"y has the label {y[unknown][0]!r}, which is not among the classes of the fit: "
                f"{', '.join(map(repr, self.classes_.tolist()))}."
            )
        return codes

    def _finite(self) -> bool:
        return not tags_of_bases([self.base]).allow_nan

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        theirs = None if self.base is None else tags_of_bases([self.base])
        tags.input_tags.allow_nan = True if theirs is None else theirs.allow_nan
        tags.input_tags.categorical = True if theirs is None else theirs.categorical
        tags.input_tags.string = True if theirs is None else theirs.string
        return tags
