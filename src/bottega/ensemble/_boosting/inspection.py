"""Asking a boosted vote: predictions, stages, margins, weights of rows, effects of inputs."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from bottega.core.classes import decided
from bottega.core.errors import InputError
from bottega.core.loaded import insist, is_array
from bottega.core.rows import check_weight
from bottega.core.seeds import seeds_of
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.ensemble._boosting.checked import check_learners
from bottega.ensemble._boosting.effects import StumpEffects, stump_effects
from bottega.ensemble._boosting.learners import Stumps, WeakModels
from bottega.ensemble._boosting.rounds import staged_votes
from bottega.ensemble._combination.estimator import Combination
from bottega.plot import error_against_trees_chart
from bottega.tree import TreeClassifier


class BoostReading(Combination):
    """What a fitted AdaBoost can be asked."""

    def _check_new(self, X: Any) -> Any:
        check_is_fitted(self)
        return self.columns_in_.read(self, X) if self.estimator is None else super()._check_new(X)

    def check_loaded(self) -> None:
        """Raise unless weak classifiers that were read from a file can be walked."""
        if not hasattr(self, "_learners"):
            return
        weights = self.estimator_weights_
        insist(is_array(weights, np.float64, (len(self._learners),)), "weights of votes")
        if self.estimator is None:
            p = len(self.columns_in_.values)
            check_learners(self._learners, p, len(self.classes_))

    def _votes(self, X: Any) -> FloatArray:
        X = self._check_new(X)
        return self._learners.votes(X, self.estimator_weights_, len(self.classes_))

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
        return self._decision(self._votes(X))

    def predict(self, X: Any) -> Array:
        """Return the class with the largest weighted vote for each row of X."""
        votes = self._votes(X)
        return self.classes_[decided(votes)]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the class probabilities that the votes stand for (see Notes)."""
        return softmax(self._votes(X), axis=1)

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield the predictions after 1, 2, ... rounds."""
        for votes in self._staged_votes(X):
            yield self.classes_[decided(votes)]

    def staged_predict_proba(self, X: Any) -> Iterator[FloatArray]:
        """Yield the class probabilities after 1, 2, ... rounds."""
        for votes in self._staged_votes(X):
            yield softmax(votes, axis=1)

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """Yield the decision function after 1, 2, ... rounds."""
        for votes in self._staged_votes(X):
            yield self._decision(votes)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Yield the accuracy on X, y after 1, 2, ... rounds."""
        for labels in self.staged_predict(X):
            yield accuracy_score(y, labels, sample_weight=sample_weight)

    def _staged_votes(self, X: Any) -> Iterator[FloatArray]:
        X = self._check_new(X)
        yield from staged_votes(self._learners, self.estimator_weights_, X, len(self.classes_))

    @staticmethod
    def _decision(votes: FloatArray) -> FloatArray:
        return votes[:, 1] - votes[:, 0] if votes.shape[1] == 2 else votes.copy()

    @property
    def estimators_(self) -> list[Any]:
        """The weak classifiers, as estimators."""
        check_is_fitted(self)
        if isinstance(self._learners, WeakModels):
            return self._learners.members
        made = seeds_of(self._seed, len(self._learners))
        return [
            TreeClassifier.of_nodes(
                self._learners.trees[b],
                self,
                self._ranges,
                ccp_alpha=0.0,
                max_depth=self.max_depth,
                categorical_features=self.categorical_features,
                random_state=seed,
            )
            for b, seed in enumerate(made)
        ]

    @property
    def feature_importances_(self) -> FloatArray:
        """Importance of each column to the weak classifiers, averaged with their weights."""
        check_is_fitted(self)
        weights = self.estimator_weights_
        if isinstance(self._learners, WeakModels):
            each = [model.feature_importances_ for model in self._learners.members]
        else:
            p = len(self._ranges[0])
            trees = self._learners.trees
            each = [trees[b].importance(p, normalize=True) for b in range(len(trees))]
        total = weights.sum()
        shares = weights / total if total > 0 else np.full(len(weights), 1 / len(weights))
        return np.asarray(shares @ np.array(each))

    def __len__(self) -> int:
        """Return the number of weak classifiers."""
        check_is_fitted(self)
        return len(self._learners)

    def __getitem__(self, index: int) -> Any:
        """Return a weak classifier."""
        return self.estimators_[index]

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the weak classifiers."""
        return iter(self.estimators_)

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
        total = self.estimator_weights_.sum()
        return (own - votes.max(axis=1)) / total if total > 0 else np.zeros(len(own))

    def margin_distribution(self, X: Any, y: Any) -> Any:
        """Return the distribution function of the margins: a frame of `margin` and `share`."""
        margin, counts = np.unique(self.margins(X, y), return_counts=True)
        return self._make_frame({"margin": margin, "share": np.cumsum(counts) / counts.sum()})

    def row_weights(self, X: Any, y: Any, sample_weight: Any = None) -> FloatArray:
        """Return the weights of the rows before each round and after the last, each summing to one.

        For the training rows, these are the weights of the algorithm: ``(n_estimators_ + 1, n)``.
        """
        X, codes = self._check_new(X), self._codes(y)
        weight = check_weight(sample_weight, len(codes))
        log_w = np.zeros(len(codes)) if weight is None else np.log(weight)
        found = [softmax(log_w)]
        for b, alpha in enumerate(self.estimator_weights_):
            log_w = log_w + alpha * (self._learners.labels(X, b) != codes)
            found.append(softmax(log_w))
        return np.stack(found)

    def to_additive(self) -> StumpEffects:
        """Return the model as a sum of step functions, one per input (stumps, two classes).

        Returns
        -------
        StumpEffects
            ``evaluate(X)`` gives the effects, whose sum with `intercept` is the decision function;
            ``to_frame()`` their steps.
        """
        check_is_fitted(self)
        if not isinstance(self._learners, Stumps) or len(self.classes_) != 2:
            raise InputError(
                "Only stumps for two classes add up to effects of single inputs; fit with "
                "estimator=None, max_depth=1 and two classes."
            )
        return stump_effects(self._learners, self.estimator_weights_, self.columns_in_, self)

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
