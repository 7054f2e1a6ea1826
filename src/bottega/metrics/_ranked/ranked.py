"""Rows of two classes by falling score, equal scores together: what every curve is made of."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bottega.core.errors import InputError, did_you_mean
from bottega.core.lazy import cached_property
from bottega.core.rows import check_weight
from bottega.core.typing import Array, BoolArray, FloatArray, IntArray
from bottega.core.validate import refuse_masked
from bottega.metrics.balance import check_labels

__all__ = ["Ranked", "read_positive"]


@dataclass(frozen=True, eq=False)
class Ranked:
    """Which rows are positive, their scores, and their weights (None: all are one)."""

    positive: BoolArray
    score: FloatArray
    weight: FloatArray | None = None
    label: Any = True

    @classmethod
    def of(cls, y_true: Any, score: Any, pos_label: Any = None, sample_weight: Any = None) -> Self:
        """Return the rows that count, checked; both classes must be among them."""
        positive, score, label = read_positive(y_true, score, pos_label)
        weight = check_weight(sample_weight, len(positive))
        if weight is not None:
            kept = weight > 0
            positive, score, weight = positive[kept], score[kept], weight[kept]
        if positive.all() or not positive.any():
            which = "no row" if not positive.any() else "every row"
            raise InputError(
                f"Curves of scores compare rows of a class with others; {which} is of the class "
                f"{label}."
            )
        return cls(positive, score, weight, label)

    @property
    def weights(self) -> FloatArray:
        """The weight of each row."""
        return np.ones(len(self.score)) if self.weight is None else self.weight

    @cached_property
    def _levels(self) -> tuple[FloatArray, IntArray]:
        falling, of_row = np.unique(-self.score, return_inverse=True)
        return -falling, of_row

    @property
    def thresholds(self) -> FloatArray:
        """The distinct scores, falling."""
        return self._levels[0]

    @property
    def of_row(self) -> IntArray:
        """Position of each row's score among the thresholds."""
        return self._levels[1]

    def at_level(self, values: FloatArray, positive: bool) -> FloatArray:
        """Return the sum of values over the rows of one side that have each score."""
        counted = values * (self.positive == positive)
        return np.bincount(self.of_row, counted, len(self.thresholds)).astype(np.float64)

    @cached_property
    def hits(self) -> FloatArray:
        """Weight of the positive rows at each threshold."""
        return self.at_level(self.weights, True)

    @cached_property
    def others(self) -> FloatArray:
        """Weight of the other rows at each threshold."""
        return self.at_level(self.weights, False)

    @property
    def true_positive(self) -> FloatArray:
        """Weight of the positive rows taken: none first, then down to each threshold."""
        return np.append(0.0, np.cumsum(self.hits))

    @property
    def false_positive(self) -> FloatArray:
        """Weight of the other rows taken, likewise."""
        return np.append(0.0, np.cumsum(self.others))

    @cached_property
    def tpr(self) -> FloatArray:
        """Share of the positive rows taken: 0 first, then down to each threshold."""
        found = self.true_positive
        return found / found[-1]

    @cached_property
    def fpr(self) -> FloatArray:
        """Share of the other rows taken, likewise."""
        found = self.false_positive
        return found / found[-1]

    @property
    def cuts(self) -> FloatArray:
        """Scores from which rows are called positive: infinity (none), then falling."""
        return np.append(np.inf, self.thresholds)

    @property
    def base(self) -> float:
        """Share of the positive rows."""
        return float(self.hits.sum() / (self.hits.sum() + self.others.sum()))

    @property
    def counts(self) -> tuple[int, int]:
        """Number of positive and of other rows."""
        found = int(np.count_nonzero(self.positive))
        return found, len(self.positive) - found


def read_positive(y_true: Any, score: Any, pos_label: Any) -> tuple[BoolArray, FloatArray, Any]:
    """Return which rows are positive, their scores, and the label of the class.

    Scores may have one column per class, in sorted order: that of the positive class is taken.
    """
    labels = check_labels("y_true", y_true)
    refuse_masked(score=score)
    found: Array = np.asarray(score, dtype=np.float64)
    classes = np.unique(labels)
    if pos_label is None:
        pos_label = _second(classes)
    elif pos_label not in classes.tolist():
        known = [str(label) for label in classes.tolist()]
        raise InputError(
            f"pos_label={pos_label!r} does not occur in y_true, which has {', '.join(known)}."
            + did_you_mean(str(pos_label), known)
        )
    if found.ndim == 2 and found.shape[1] == max(len(classes), 2):
        place = int(np.searchsorted(classes, pos_label)) if len(classes) > 1 else 1
        found = found[:, place]
    if found.shape != labels.shape:
        raise InputError(
            f"score has shape {found.shape}; {len(labels)} rows of {len(classes)} classes need one "
            "score per row, or one per row and class."
        )
    if np.isnan(found).any():
        raise InputError(
            f"score has {int(np.isnan(found).sum())} missing values; leave those rows out."
        )
    return labels == pos_label, found, pos_label


def _second(classes: Array) -> Any:
    """Return the second of two classes; 1 or True where only one of such two occurs."""
    values = classes.tolist()
    if len(values) == 2:
        return values[1]
    if len(values) == 1 and values[0] in (0, 1):
        return values[0] if values[0] == 1 else type(values[0])(1)
    if len(values) == 1:
        raise InputError(
            f"y_true has only one class, {values[0]!r}, and scores are judged by how they tell "
            "two apart."
        )
    raise InputError(
        f"y_true has {len(values)} classes; say which of them is positive with pos_label=..."
    )
