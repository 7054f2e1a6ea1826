"""Precision and recall along the knob of a method."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from bottega.core.errors import InputError, ParameterError
from bottega.core.folds import make_folds
from bottega.core.frames import is_frame, make_frame, take_rows
from bottega.core.parallel import in_threads
from bottega.core.typing import Array, FloatArray
from bottega.metrics.balance import check_labels
from bottega.metrics.confusion import Confusion, confusion
from bottega.plot import precision_recall_chart

__all__ = ["PrecisionRecallPath", "precision_recall_path"]


@dataclass(frozen=True, eq=False)
class PrecisionRecallPath:
    """Precision and recall of a class, one point per value of the knob.

    Attributes
    ----------
    knob : str
        The parameter that was varied.
    values : ndarray
        Its values, as given.
    pos_label : object
        The class that is called positive.
    confusions : tuple of Confusion
        The confusion table at each value.
    """

    knob: str
    values: Array
    pos_label: Any
    confusions: tuple[Confusion, ...]

    def _rate(self, name: str) -> FloatArray:
        return np.array([getattr(each.of(self.pos_label), name) for each in self.confusions])

    @property
    def precision(self) -> FloatArray:
        """Precision at each value; NaN where nothing is predicted positive."""
        return self._rate("precision")

    @property
    def recall(self) -> FloatArray:
        """Recall at each value."""
        return self._rate("recall")

    @property
    def f1(self) -> FloatArray:
        """F1 at each value."""
        return self._rate("f1")

    @property
    def area(self) -> float:
        """Area of the pairs (precision, recall) that some value reaches in both; 1 is perfect.

        The points need not lie on a falling curve, so the area is that of the union of the
        rectangles between the origin and each of them. A point without precision counts as none.
        """
        return _union_area(self.precision, self.recall)

    def to_frame(self, like: Any = None) -> Any:
        """Return the points as a data frame, one row per value of the knob."""
        columns = {self.knob: self.values}
        columns |= {name: self._rate(name) for name in ("precision", "recall", "f1", "accuracy")}
        return make_frame(columns, like)

    def tidy(self, like: Any = None) -> Any:
        """Return the points as a data frame, as `to_frame` does."""
        return self.to_frame(like)

    def plot(self) -> Any:
        """Draw the curve; for several methods `bottega.plot.precision_recall_chart`."""
        return precision_recall_chart({"": self})


def _union_area(width: FloatArray, height: FloatArray) -> float:
    """Return the area of the union of rectangles from the origin."""
    usable = np.isfinite(width) & np.isfinite(height)
    order = np.argsort(-width[usable], kind="stable")
    width, height = width[usable][order], height[usable][order]
    tallest = np.maximum.accumulate(height) if len(height) else height
    # From one width down to the next, the tallest rectangle so far reaches.
    return float(np.sum((width - np.append(width[1:], 0.0)) * tallest))


def precision_recall_path(
    estimator: Any,
    X: Any,
    y: Any,
    values: Sequence[Any],
    *,
    knob: str | None = None,
    pos_label: Any = None,
    cv: Any = 5,
) -> PrecisionRecallPath:
    """Trace precision and recall by varying the knob of a classifier.

    Every row is predicted by a model that has not seen it (cross-validation), so the points are
    honest one by one. The best of them is not: it was picked among many.

    Parameters
    ----------
    estimator : classifier
        Cloned before each fit.
    X : array-like or data frame of shape (n, p)
        Inputs.
    y : array-like of shape (n,)
        Labels.
    values : sequence
        Values of the knob.
    knob : str, optional
        Parameter to vary; by default the estimator's own knob.
    pos_label : object, optional
        The class to find; by default the rarest (the last of equals).
    cv : int or splitter
        Folds; a number means stratified ones.

    Returns
    -------
    PrecisionRecallPath

    See Also
    --------
    sklearn.metrics.precision_recall_curve : The curve of one model, traced by a threshold.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from bottega.data import make
    >>> sample = make.two_gaussians(200, prior=0.2)
    >>> found = precision_recall_path(
    ...     KNeighborsClassifier(), sample.X, sample.y, [1, 5, 25], knob="n_neighbors")
    >>> found.pos_label, found.precision.shape, 0 < found.area < 1
    (1, (3,), True)
    """
    labels = check_labels("y", y)
    knob = knob or getattr(estimator, "knob", None)
    if knob is None:
        raise ParameterError(
            f"{type(estimator).__name__} does not name its knob; say which parameter the values "
            "are of with knob=..."
        )
    if not len(values):
        raise ParameterError("values is empty; give at least one value of the knob.")
    classes, counts = np.unique(labels, return_counts=True)
    if len(classes) < 2:
        raise InputError(f"y has only the class {classes[0]}; precision needs another to confuse.")
    if pos_label is None:
        pos_label = classes[len(classes) - 1 - int(np.argmin(counts[::-1]))].item()
    elif pos_label not in classes:
        raise InputError(f"pos_label={pos_label!r} does not occur in y.")
    folds = make_folds(cv, len(labels), strata=labels, X=X, y=labels)
    rows = X if is_frame(X) else np.asarray(X)

    def predict(value: Any) -> Confusion:
        predicted, true = [], []
        for train, test in folds:
            value = value.item() if isinstance(value, np.generic) else value
            model = clone(estimator).set_params(**{knob: value})
            model.fit(take_rows(rows, train), labels[train])
            predicted.append(model.predict(take_rows(rows, test)))
            true.append(labels[test])
        return confusion(np.concatenate(true), np.concatenate(predicted), classes)

    found = in_threads(predict, values, stage="values")
    return PrecisionRecallPath(knob, np.asarray(values), pos_label, tuple(found))
