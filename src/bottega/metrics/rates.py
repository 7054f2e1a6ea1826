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
===========  =====================  ==========================================

F1 is the harmonic mean of precision and recall. Written with counts it is 0, its limit, where both
are 0 or where nothing is predicted positive although something is.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Rates"]

NAMES = ("accuracy", "precision", "recall", "specificity", "fnr", "fpr", "f1")


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
        return share(2 * np.asarray(self.tp), 2 * np.asarray(self.tp) + self.fp + self.fn)

    def to_dict(self) -> dict[str, Any]:
        """Return all rates by name."""
        return {name: getattr(self, name) for name in NAMES}
