"""Curves of several classes, each against the rest, and their averages."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from bottega.core.errors import InputError, ParameterError
from bottega.core.frames import make_frame
from bottega.core.tables import Section, Summary
from bottega.core.typing import Array, FloatArray
from bottega.core.validate import refuse_masked
from bottega.metrics._ranked.measured import Measured
from bottega.metrics.balance import check_labels
from bottega.metrics.confusion import check_average
from bottega.metrics.lift import Lift, lift
from bottega.metrics.precision_recall_curve import PrecisionRecallCurve, precision_recall
from bottega.metrics.roc import ROC, roc
from bottega.plot import lines_chart, precision_recall_curve_chart, roc_curves_chart

__all__ = ["ClassCurves", "pairwise_auc", "per_class"]

Curve = ROC | PrecisionRecallCurve | Lift

_MAKE = {"roc": roc, "precision_recall": precision_recall, "lift": lift}
_AREAS = {"roc": ("AUC", "auc"), "precision_recall": ("average precision", "average_precision"),
          "lift": ("gini", "gini")}  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class ClassCurves(Measured):
    """One curve per class, each class against the rest; made by `per_class`.

    Attributes
    ----------
    measure : {"roc", "precision_recall", "lift"}
        Kind of the curves.
    labels : ndarray of shape (K,)
        The classes.
    curves : tuple
        Their curves; None for a class without rows, or without other rows.
    shares : ndarray of shape (K,)
        Share of each class.
    pooled : ROC, PrecisionRecallCurve or Lift
        The curve of all pairs of row and class, positive where the row is of the class.
    """

    measure: str
    labels: Array
    curves: tuple[Curve | None, ...]
    shares: FloatArray
    pooled: Curve
    like: Any = None

    def __getitem__(self, label: Any) -> Curve:
        place = np.flatnonzero(self.labels == label)
        found = self.curves[int(place[0])] if len(place) else None
        if found is None:
            raise InputError(f"There is no curve of the class {label!r}.")
        return found

    @property
    def values(self) -> FloatArray:
        """The area (AUC, average precision, Gini) of each class; NaN where there is no curve."""
        name = _AREAS[self.measure][1]
        return np.array([np.nan if c is None else getattr(c, name) for c in self.curves])

    def average(self, kind: str = "macro") -> float:
        """Return the average area over the classes that have a curve.

        Parameters
        ----------
        kind : {"macro", "weighted", "micro"}
            The plain mean; the mean weighted by the shares of the classes; or the area of all
            pairs of row and class taken together.
        """
        check_average(kind)
        if kind == "micro":
            return float(getattr(self.pooled, _AREAS[self.measure][1]))
        known = np.isfinite(self.values)
        weight = self.shares[known] if kind == "weighted" else None
        return float(np.average(self.values[known], weights=weight))

    def _columns(self) -> Mapping[str, Any]:
        limits = [
            (np.nan, np.nan) if c is None or isinstance(c, Lift) else c.interval()
            for c in self.curves
        ]
        return {
            "label": self.labels,
            "share": self.shares,
            "estimate": self.values,
            "conf_low": [low for low, _ in limits],
            "conf_high": [high for _, high in limits],
        }

    def points(self, like: Any = None) -> Any:
        """Return the points of all curves as a data frame, with the class of each."""
        parts = [(label, c) for label, c in zip(self.labels, self.curves, strict=True) if c]
        names = list(parts[0][1]._columns())
        columns: dict[str, Any] = {
            "label": np.concatenate([[label] * len(c._columns()[names[0]]) for label, c in parts])
        }
        for name in names:
            columns[name] = np.concatenate([c._columns()[name] for _, c in parts])
        return make_frame(columns, self.like if like is None else like)

    def summary(self) -> Summary:
        """Return the area of each class and the averages."""
        what = _AREAS[self.measure][0]
        columns = {name: list(column) for name, column in self._columns().items()}
        columns["label"] = [str(label) for label in self.labels.tolist()]
        kinds = ("macro", "weighted", "micro")
        averages: dict[str, list[Any]] = {
            "average": list(kinds),
            what: [self.average(kind) for kind in kinds],
        }
        return Summary(
            f"{what[0].upper()}{what[1:]} of each class against the rest",
            (Section("", columns), Section("", averages)),
        )

    def plot(self) -> Any:
        """Draw the curves."""
        what = _AREAS[self.measure][0]
        shown = {
            f"{label}: {what} {value:.3f}": curve
            for label, value, curve in zip(
                self.labels.tolist(), self.values, self.curves, strict=True
            )
            if curve is not None
        }
        words = f"Each class against the rest; mean {what} {self.average():.3f}."
        if self.measure == "roc":
            return roc_curves_chart({n: (c.fpr, c.tpr) for n, c in shown.items()}, {}, words)  # type: ignore[union-attr]
        if self.measure == "precision_recall":
            curves = {n: (c.recall, c.precision) for n, c in shown.items()}  # type: ignore[union-attr]
            return precision_recall_curve_chart(curves, {}, subtitle=words)
        at = np.linspace(0, 1, 101)
        return lines_chart(
            at,
            {n: np.interp(at, c.rows, c.found) for n, c in shown.items()},  # type: ignore[union-attr]
            x_title="share of rows, the highest scores first",
            y_title="share of the class found",
            title="How soon each class is found (gain)",
            subtitle=words,
            points=False,
        )


def per_class(
    y_true: Any,
    scores: Any,
    *,
    measure: str = "roc",
    classes: Any = None,
    sample_weight: Any = None,
) -> ClassCurves:
    """Return a curve per class, each class against the rest, with averages.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Observed labels.
    scores : array-like of shape (n, K)
        Scores or probabilities, one column per class.
    measure : {"roc", "precision_recall", "lift"}
        Kind of the curves.
    classes : array-like of shape (K,), optional
        The classes in the order of the columns; those that occur, sorted, by default.
    sample_weight : array-like of shape (n,), optional
        Row weights.

    Returns
    -------
    ClassCurves
        With `average` (macro, weighted, micro), `tidy` and `plot`; ``found[label]`` is a curve.

    See Also
    --------
    pairwise_auc : The average over pairs of classes, which does not depend on their frequencies.

    Examples
    --------
    >>> y = ["a", "b", "c", "a"]
    >>> scores = [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.2, 0.5, 0.3], [0.5, 0.3, 0.2]]
    >>> found = per_class(y, scores)
    >>> found.values.round(4).tolist(), round(found.average(), 4)
    ([1.0, 0.6667, 0.8333], 0.8333)
    """
    if measure not in _MAKE:
        raise ParameterError(
            f"measure={measure!r} is not allowed; use 'roc', 'precision_recall' or 'lift'."
        )
    labels, found, known = _read(y_true, scores, classes)
    hit = labels[:, np.newaxis] == known
    weight = np.ones(len(labels)) if sample_weight is None else np.asarray(sample_weight, float)
    make = _MAKE[measure]
    counted = weight > 0
    curves = []
    for k, label in enumerate(known.tolist()):
        positive = hit[:, k]
        both = positive[counted].any() and not positive[counted].all()
        curve: Any = None
        if both:
            curve = make(positive, found[:, k], sample_weight=sample_weight)
            curve = _named(curve, label)
        curves.append(curve)
    shares = (weight @ hit) / (weight @ hit).sum()
    repeated = None if sample_weight is None else np.repeat(weight, len(known))
    pooled: Any = make(hit.ravel(), found.ravel(), sample_weight=repeated)
    return ClassCurves(measure, known, tuple(curves), shares, pooled)


def pairwise_auc(y_true: Any, scores: Any, *, classes: Any = None) -> float:
    r"""Return Hand and Till's M: the mean area over all pairs of classes.

    For classes i and j the area is the mean of two, by the scores of i and by those of j, among
    the rows of these two classes alone.

    Parameters
    ----------
    y_true, scores, classes
        As in `per_class`; each class must occur.

    References
    ----------
    .. [1] Hand, D. J. and Till, R. J. (2001). A simple generalisation of the area under the ROC
       curve for multiple class classification problems. Machine Learning 45, 171-186.

    Examples
    --------
    >>> y = ["a", "b", "c", "a"]
    >>> scores = [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.2, 0.5, 0.3], [0.5, 0.3, 0.2]]
    >>> round(pairwise_auc(y, scores), 4)
    0.75
    """
    labels, found, known = _read(y_true, scores, classes)
    missing = [str(label) for label in known.tolist() if not np.any(labels == label)]
    if missing:
        raise InputError(f"There are no rows of {', '.join(missing)}; pairs need rows of both.")
    areas = []
    for i, j in combinations(range(len(known)), 2):
        rows = (labels == known[i]) | (labels == known[j])
        for k in (i, j):
            areas.append(roc(labels[rows] == known[k], found[rows, k]).auc)
    return float(np.mean(areas))


def _read(y_true: Any, scores: Any, classes: Any) -> tuple[Array, FloatArray, Array]:
    refuse_masked(scores=scores)
    labels, found = check_labels("y_true", y_true), np.asarray(scores, dtype=np.float64)
    known = np.unique(labels) if classes is None else np.asarray(classes)
    if found.shape != (len(labels), len(known)) or len(known) < 2:
        raise InputError(
            f"scores has shape {found.shape}; {len(labels)} rows of {len(known)} classes need "
            f"({len(labels)}, {len(known)}), and at least two classes. Name all classes with "
            "classes=... if some do not occur."
        )
    strange = sorted(set(map(str, labels[~np.isin(labels, known)].tolist())))
    if strange:
        raise InputError(f"These labels occur but are not among classes: {', '.join(strange)}.")
    return labels, found, known


def _named(curve: Any, label: Any) -> Any:
    """Return the curve of a class against the rest under the name of the class."""
    return replace(curve, ranked=replace(curve.ranked, label=label))
