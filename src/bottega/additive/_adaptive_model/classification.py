"""Adaptive splines for classes: least squares on indicators, or likelihood."""

from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from bottega.additive._adaptive_model.estimator import AdaptiveBase
from bottega.additive._adaptive_model.work import (
    AdaptiveWork,
    ClassesWork,
    SquaresWork,
    TermLikelihood,
    indicators,
)
from bottega.core.classes import check_classes, decided, has_probabilities
from bottega.core.likelihood import information_criteria
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray


class AdaptiveClassification(ClassifierMixin, AdaptiveBase):
    """The hooks of classification; the public class has its parameters and its card."""

    method: str
    class_weight: Any

    def _prepare(self, rows: Rows) -> AdaptiveWork:
        present, codes = np.unique(rows.y, return_inverse=True)
        K, how = len(present), self._work_settings()
        coded = Rows(rows.X, codes, rows.weight)
        if self.method == "indicator":
            return SquaresWork(coded, **how, classes=present, Y=indicators(codes, K))
        how |= {"classes": present, **self._fitting()}
        return ClassesWork(coded, **how, K=K, by_likelihood=self.method == "multinomial")

    def _choose(self, work: Any, rows: Any, walk: Any) -> dict[str, Any]:
        check_classes(self.classes_)
        return super()._choose(work, rows, walk)

    def _answers(self, work: Any, scores: FloatArray, method: str) -> Array:
        scores = self._of_all(scores, len(work.classes))
        if method == "predict":
            return np.asarray(work.classes[self._winners(scores)])
        found = np.zeros((*scores.shape[:2], len(self.classes_)))
        found[..., work.classes] = softmax(scores, axis=-1)
        return found

    def _of_all(self, scores: FloatArray, K: int) -> FloatArray:
        """Return the scores of all classes: of two, indicators have that of the second."""
        if self.method == "indicator" and K == 2:
            return np.concatenate([1 - scores, scores], axis=-1)
        return scores

    def _winners(self, scores: FloatArray) -> Any:
        """Return the class of the largest score; of scores equal but for rounding, the first."""
        if self.method == "indicator":
            return decided(scores)
        with np.errstate(over="ignore", invalid="ignore"):
            behind = scores - scores.max(axis=-1, keepdims=True)
        return decided(np.maximum(np.nan_to_num(behind), -1.0) + 1)

    def _look_back(self, work: Any, n_terms: int) -> None:
        rows, n = work.rows, len(work.rows)
        B = work.columns.B[:, work.subset(n_terms)]
        guess = work.classes[self._winners(self._of_all(B @ self._coef, len(work.classes)))]
        wrong = float(np.average(guess != work.classes[rows.y], weights=rows.weight))
        self.deviance_ = np.nan
        numbers: dict[str, Any] = {"nobs": n, "df": self.df_, "gcv": self.gcv_}
        numbers["train_error"] = wrong
        if isinstance(work, TermLikelihood):
            self.deviance_ = work.deviance(n_terms)
            criteria = information_criteria(self.deviance_, self.df_, n)
            null = work.deviance(1)
            numbers |= {"deviance": self.deviance_, "loglik": -self.deviance_ / 2}
            numbers |= {name: float(criteria[name]) for name in ("aic", "bic")}
            numbers["r_squared"] = float(1 - self.deviance_ / null) if null > 0 else np.nan
        else:
            left = work.responses - B @ self._coef
            rss, w = rows.weights @ left**2, rows.weights
            total = w @ (work.responses - w @ work.responses / w.sum()) ** 2
            numbers |= {"deviance": float(rss.sum()), "r_squared": 1 - rss.sum() / total.sum()}
        self._look_at(work.fit(n_terms)[1] if isinstance(work, TermLikelihood) else None)
        self._fit_numbers = numbers
        by_likelihood = self.method != "indicator"
        self._link_name = "logit" if by_likelihood and len(self.classes_) == 2 else "identity"

    @property
    def _shown_coef(self) -> FloatArray:
        """Coefficients of what is shown: of two classes the log odds of the second."""
        if self._coef.shape[1] == 2:
            return np.asarray(self._coef[:, 1:] - self._coef[:, :1])
        return self._coef

    def _outputs(self) -> list[str]:
        names = [str(label) for label in self.classes_.tolist()]
        return names[1:] if len(names) == 2 else names

    def decision_function(self, X: Any) -> FloatArray:
        """Return the score of each class, or of two classes that of the second over the first.

        Of likelihoods these are log odds; of indicators fitted values, of two classes that of the
        second less one half.
        """
        scores = self._of_all(self._scores(self._check_new(X)), len(self.classes_))
        if len(self.classes_) > 2:
            return scores
        size = 0.5 if self.method == "indicator" else 1.0
        return np.asarray(size * (scores[:, 1] - scores[:, 0]))

    def predict(self, X: Any) -> Array:
        """Return the class with the largest score; of equal ones the first."""
        scores = self._of_all(self._scores(self._check_new(X)), len(self.classes_))
        return np.asarray(self.classes_[self._winners(scores)])

    @available_if(has_probabilities)
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes, one column each."""
        return np.asarray(softmax(self._scores(self._check_new(X)), axis=1))
