"""The rates of a confusion table with one class called positive.

Each rate is a share of some rows. Where there are no such rows it is undefined and NaN, never 0:

===========  =====================  ==========================================
Rate         Share                  Undefined when
===========  =====================  ==========================================
accuracy     (TP + TN) / all        there are no rows
precision    TP / (TP + FP)         nothing is predicted positive
recall       TP / (TP + FN)         nothing is positive
specificity  TN / (TN + FP)         nothing is negative
fnr          FN / (TP + FN)         nothing is positive
fpr          FP / (FP + TN)         nothing is negative
f1           2 TP / (2 TP + FP +    nothing is positive nor predicted so
             FN)
npv          TN / (TN + FN)         nothing is predicted negative
fdr          FP / (TP + FP)         nothing is predicted positive
omission     FN / (TN + FN)         nothing is predicted negative
prevalence   (TP + FN) / all        there are no rows
balanced     (recall +              nothing is positive, or nothing is negative
             specificity) / 2
mcc          the correlation of     one side of the table is empty
             truth and prediction
===========  =====================  ==========================================

F1 is the harmonic mean of precision and recall. Written with counts it is 0, its limit, where both
are 0 or where nothing is predicted positive although something is.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import ParameterError

__all__ = ["Rates"]

NAMES = (
    *("accuracy", "precision", "recall", "specificity", "fnr", "fpr", "f1"),
    *("npv", "fdr", "omission", "prevalence", "balanced", "mcc"),
)


def share(part: Any, whole: Any) -> Any:
    """Return part / whole, NaN where there is no whole."""
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    return np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=whole > 0)[()]


@dataclass(frozen=True)
class Rates:
    """Counts of right and wrong predictions of a class, and the rates made of them.

    Parameters
    ----------
    tp, fp, fn, tn : int or ndarray of int
        True positives, false positives, false negatives, true negatives.

    Examples
    --------
    >>> found = Rates(tp=6, fp=2, fn=3, tn=9)
    >>> float(found.precision), round(float(found.recall), 4), found.accuracy
    (0.75, 0.6667, np.float64(0.75))
    """

    tp: Any
    fp: Any
    fn: Any
    tn: Any

    @property
    def accuracy(self) -> Any:
        """Share of all rows that are predicted right."""
        return share(self.tp + self.tn, self.tp + self.fp + self.fn + self.tn)

    @property
    def precision(self) -> Any:
        """Share of the rows predicted positive that are positive."""
        return share(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> Any:
        """Share of the positive rows that are predicted positive."""
        return share(self.tp, self.tp + self.fn)

    @property
    def specificity(self) -> Any:
        """Share of the negative rows that are predicted negative."""
        return share(self.tn, self.tn + self.fp)

    @property
    def fnr(self) -> Any:
        """Share of the positive rows that are missed: 1 - recall."""
        return share(self.fn, self.tp + self.fn)

    @property
    def fpr(self) -> Any:
        """Share of the negative rows that are predicted positive: 1 - specificity."""
        return share(self.fp, self.tn + self.fp)

    @property
    def f1(self) -> Any:
        """Harmonic mean of precision and recall."""
        return self.fbeta(1.0)

    def fbeta(self, beta: float) -> Any:
        """Return the mean of precision and recall in which recall counts beta times as much.

        ``(1 + beta^2) TP / ((1 + beta^2) TP + beta^2 FN + FP)``, a weighted harmonic mean.
        """
        if not 0 < beta < np.inf:
            raise ParameterError(f"beta={beta!r} is not allowed; it must be positive and finite.")
        square = beta**2
        hits = (1 + square) * np.asarray(self.tp)
        return share(hits, hits + square * np.asarray(self.fn) + self.fp)

    @property
    def npv(self) -> Any:
        """Share of the rows predicted negative that are negative."""
        return share(self.tn, self.tn + self.fn)

    @property
    def fdr(self) -> Any:
        """Share of the rows predicted positive that are negative: 1 - precision."""
        return share(self.fp, self.tp + self.fp)

    @property
    def omission(self) -> Any:
        """Share of the rows predicted negative that are positive: 1 - npv."""
        return share(self.fn, self.tn + self.fn)

    @property
    def prevalence(self) -> Any:
        """Share of the rows that are positive."""
        return share(self.tp + self.fn, self.tp + self.fp + self.fn + self.tn)

    @property
    def balanced(self) -> Any:
        """Mean of recall and specificity: the accuracy if both classes were equally frequent."""
        return (self.recall + self.specificity) / 2

    @property
    def informedness(self) -> Any:
        """Recall + specificity - 1 (Youden's index): 0 for chance."""
        return self.recall + self.specificity - 1

    @property
    def mcc(self) -> Any:
        """Matthews' correlation of what is observed and what is predicted."""
        tp, fp, fn, tn = (np.asarray(n, dtype=np.float64) for n in self.counts)
        scale = np.sqrt((tp + fp) * (tp + fn)) * np.sqrt((tn + fp) * (tn + fn))
        top = tp * tn - fp * fn
        return np.divide(top, scale, out=np.full(np.shape(scale), np.nan), where=scale > 0)[()]

    @property
    def likelihood_ratios(self) -> tuple[Any, Any]:
        """What a positive and a negative prediction multiply the odds of the class by."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return (
                np.divide(self.recall, self.fpr)[()],
                np.divide(self.fnr, self.specificity)[()],
            )

    @property
    def counts(self) -> tuple[Any, Any, Any, Any]:
        """True positives, false positives, false negatives, true negatives."""
        return self.tp, self.fp, self.fn, self.tn

    def trials(self, name: str) -> tuple[Any, Any] | None:
        """Return the rows that a rate counts and those it is a share of; None for other rates."""
        tp, fp, fn, tn = self.counts
        every = tp + fp + fn + tn
        return {
            "accuracy": (tp + tn, every),
            "precision": (tp, tp + fp),
            "recall": (tp, tp + fn),
            "specificity": (tn, tn + fp),
            "fnr": (fn, tp + fn),
            "fpr": (fp, tn + fp),
            "npv": (tn, tn + fn),
            "fdr": (fp, tp + fp),
            "omission": (fn, tn + fn),
            "prevalence": (tp + fn, every),
        }.get(name)

    def to_dict(self) -> dict[str, Any]:
        """Return all rates by name."""
        return {name: getattr(self, name) for name in NAMES}
