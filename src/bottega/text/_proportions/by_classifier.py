"""Texts answered by classifiers, each of which was fitted without the fold that it answers."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from bottega.core.classes import decided, spread
from bottega.core.errors import ParameterError
from bottega.core.frames import take_rows
from bottega.core.rows import Rows
from bottega.core.sparse import dense_parts, is_sparse
from bottega.core.stored import stored
from bottega.core.typing import Array, FloatArray
from bottega.core.wrapping import fit_weighted
from bottega.text._proportions.equations import CountedAnswers, Equations, mean_of
from bottega.text._proportions.held_out import held_out
from bottega.text._proportions.maximum import (
    calibration_of,
    maximum_likelihood,
    recalibrated,
    reweighted,
)

__all__ = ["LIKELIHOOD", "METHODS", "ClassifierAnswers"]

LIKELIHOOD = ("adjusted_em", "em")
METHODS = (*LIKELIHOOD, "probabilistic_adjusted_count", "adjusted_count", "count")
_TOWARDS_EVEN = 0.1  # share by which the prior of the answers is drawn towards even shares


@stored
@dataclass(frozen=True, eq=False)
class ClassifierAnswers:
    """What the classifiers of the folds answer of tagged and unread texts.

    Attributes
    ----------
    method : str
        One of `METHODS`.
    models : list
        A classifier per fold, fitted to the others.
    classes : ndarray of shape (K,)
        The classes.
    tagged : ndarray of shape (n, K)
        Answers of the tagged texts, out of fold: probabilities, or ones for the label.
    calibration : ndarray of shape (K,) or None
        Of probabilities that are used as such.
    """

    method: str
    models: list[Any]
    classes: Array
    tagged: FloatArray
    calibration: FloatArray | None

    @classmethod
    def fitted(
        cls, method: str, estimator: Any, rows: Rows, cv: Any, classes: Array
    ) -> "ClassifierAnswers":
        """Fit a classifier per fold, and ask it about the texts of its fold."""
        models: list[Any] = []
        estimator = _usual() if estimator is None else estimator
        if is_sparse(rows.X) and not get_tags(estimator).input_tags.sparse:
            rows = replace(rows, X=rows.X.toarray())
        found = cls(method, models, classes, np.zeros((len(rows), len(classes))), None)
        folds, times = held_out(rows, cv)
        for train, test in folds:
            part = rows.take(train)
            models.append(fit_weighted(clone(estimator), part.X, classes[part.y], part.weight))
            found.tagged[test] += found._answer(models[-1], take_rows(rows.X, test))
        tagged = found.tagged / times[:, None]
        weight = rows.weights
        learned = calibration_of(tagged, rows.y, weight) if method in LIKELIHOOD else None
        return cls(method, models, classes, tagged, learned)

    def _answer(self, model: Any, X: Any) -> FloatArray:
        if is_sparse(X) and not get_tags(model).input_tags.sparse:
            return np.vstack([self._answer(model, part) for _, part in dense_parts(X)])
        if self.method in ("adjusted_count", "count"):
            return np.asarray(model.predict(X)[:, None] == self.classes, dtype=np.float64)
        if not hasattr(model, "predict_proba"):
            raise ParameterError(
                f"{type(model).__name__} gives no probabilities; use method='adjusted_count', or "
                "CalibratedClassifierCV around it."
            )
        return spread(model.predict_proba(X), model.classes_, self.classes)

    def of(self, S: Any) -> FloatArray:
        """Return the answers of unread texts by fold, (F, N, K)."""
        return np.array([self._answer(model, S) for model in self.models])

    def system(
        self, answers: Any, rows: Any, weight: FloatArray, codes: Any, tagged_weight: FloatArray
    ) -> CountedAnswers | Equations:
        """Return what the proportions of some rows of the unread texts follow from."""
        P, K = answers[:, rows], len(self.classes)
        if self.method == "count":
            return CountedAnswers(np.eye(K)[decided(P.mean(axis=0))], weight)
        if self.calibration is None:
            return Equations(self.tagged, P.mean(axis=0), codes, tagged_weight, weight, K)
        tagged, unread = (recalibrated(each, self.calibration) for each in (self.tagged, P))
        prior = mean_of(tagged, tagged_weight)
        likely = maximum_likelihood(unread.mean(axis=0), prior, weight)
        # No class is ruled out, or the equations would say nothing about it.
        other = (1 - _TOWARDS_EVEN) * likely + _TOWARDS_EVEN / K
        return Equations(
            reweighted(tagged, prior, other),
            reweighted(unread, prior, other).mean(axis=0),
            codes,
            tagged_weight,
            weight,
            K,
            given=likely if self.method == "em" else None,
        )


def _usual() -> Any:
    """Return the classifier where none is given."""
    from bottega.classify import LogisticRegression

    return LogisticRegression()
