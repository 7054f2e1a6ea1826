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
from bottega.core.proportion import exact_limits
from bottega.core.results import check_level
from bottega.core.tables import Section, Summary
from bottega.metrics._ranked.measured import Measured
from bottega.plot import dots_chart, intervals_chart

__all__ = ["Rates"]

NAMES = (
    *("accuracy", "precision", "recall", "specificity", "fnr", "fpr", "f1"),
    *("npv", "fdr", "omission", "prevalence", "balanced", "mcc"),
)


def share(part: Any, whole: Any) -> Any:
    """Return part / whole, NaN where there is no whole."""
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    return np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=whole > 0)[()]


@dataclass(frozen=True, eq=False, repr=False)
class Rates(Measured):
    """Counts of right and wrong predictions of a class, and the rates made of them.

    Parameters
    ----------
    tp, fp, fn, tn : int or ndarray of int
        True positives, false positives, false negatives, true negatives.
    label : object or ndarray of shape (K,)
        The class that is positive; where the counts are arrays, one per entry.

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
    label: Any = "positive"

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

    def columns(self, level: float = 0.95) -> dict[str, Any]:
        """Return every rate of every class with its interval, by name of the column.

        ``label, measure, estimate, conf_low, conf_high``. The intervals are exact (Clopper and
        Pearson's); counts that are no whole numbers, and rates that are no share of rows (F1,
        MCC), have none.
        """
        tail = (1 - check_level(level)) / 2
        labels, each = np.atleast_1d(self.label), Rates(*map(np.atleast_1d, self.counts))
        whole = all(count.dtype.kind in "iu" for count in each.counts)
        found = np.full((3, len(NAMES), len(each.tp)), np.nan)
        for k, name in enumerate(NAMES):
            found[0, k], trials = getattr(each, name), each.trials(name)
            if trials is not None and whole:
                ends = exact_limits(*trials, tail)
                found[1:, k] = np.where(trials[1] > 0, ends, np.nan)
        K = found.shape[2]
        if len(labels) < K:
            labels = np.arange(K)
        names = {"label": np.repeat(labels, len(NAMES)).tolist(), "measure": list(NAMES) * K}
        values = zip(("estimate", "conf_low", "conf_high"), found, strict=True)
        return names | {name: each.T.ravel() for name, each in values}

    def _columns(self) -> dict[str, Any]:
        return self.columns()

    def summary(self) -> Summary:
        """Return the rates with their intervals; of several classes side by side."""
        found = self.columns()
        labels = list(dict.fromkeys(found["label"]))
        if len(labels) == 1:
            del found["label"]
            shown = {name: list(column) for name, column in found.items()}
            return Summary(f"Rates of the class {labels[0]}", (Section("", shown),))
        columns: dict[str, Any] = {"measure": list(NAMES)}
        table = found["estimate"].reshape(len(labels), -1)
        columns |= {str(label): row.tolist() for label, row in zip(labels, table, strict=True)}
        return Summary("Rates of each class", (Section("", columns),))

    def plot(self) -> Any:
        """Draw the rates: of one class with their intervals, of several side by side."""
        found = self.columns()
        labels = list(dict.fromkeys(found["label"]))
        if len(labels) > 1:
            table = found["estimate"].reshape(len(labels), -1)
            series = {str(label): row for label, row in zip(labels, table, strict=True)}
            return dots_chart(NAMES, series, x_title="rate", title="Rates of each class")
        return intervals_chart(
            NAMES,
            found["estimate"],
            np.column_stack([found["conf_low"], found["conf_high"]]),
            x_title="rate",
            title=f"Rates of the class {labels[0]}",
            subtitle="With exact 95 % intervals where a rate is a share of rows.",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all rates by name."""
        return {name: getattr(self, name) for name in NAMES}
