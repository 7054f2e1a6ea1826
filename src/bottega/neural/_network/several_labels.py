"""Rows that may bear several labels at once: a column of 0 and 1 per label."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.multiclass import type_of_target

from bottega.core.errors import InputError
from bottega.core.folds import Fold
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray
from bottega.neural._network.labels import LabelNetwork

if TYPE_CHECKING:
    from bottega.neural._training.criteria import NetworkCriterion

__all__ = ["SeveralLabels"]


class SeveralLabels(LabelNetwork):
    """A network that gives every row one class, or, fitted to indicators, any of the labels."""

    _several: bool = False  # whether y had a column per label

    def _read_classes(self, y: Any) -> Any:
        self._several = y.ndim == 2
        if not self._several:
            return super()._read_classes(y)
        if type_of_target(y) != "multilabel-indicator" or np.any((y != 0) & (y != 1)):
            raise InputError(
                f"y has {y.shape[1]} columns, which are read as labels that a row has or has not, "
                f"and holds {_other_than_marks(y)!r}; give one column of classes, or columns of 0 "
                "and 1."
            )
        self.classes_ = np.arange(y.shape[1])
        return y.astype(np.int64)

    @property
    def _label_shape(self) -> tuple[int, ...]:
        """Shape of what y has for a row."""
        return (len(self.classes_),) if self._several else ()

    def _held_out(self, rows: Rows, cv: Any) -> tuple[list[Fold], str]:
        if self._several:  # sets of labels are no strata: most are rare
            rows = replace(rows, y=np.zeros(len(rows), dtype=np.int64))
        return super()._held_out(rows, cv)

    def _targets(self, rows: Rows, responses: Any, criterion: "NetworkCriterion") -> Array:
        if self._several:
            return np.asarray(rows.y, dtype=np.float64)
        return super()._targets(rows, responses, criterion)

    def _predicted(self, outputs: FloatArray, method: str) -> Array:
        if self._several and method == "predict":
            return np.asarray(outputs > 0.5, dtype=np.int64)
        return super()._predicted(outputs, method)

    def predict(self, X: Any) -> Array:
        """Return the most probable class for each row of X.

        Fitted to indicators, it returns a column per label: 1 where its probability is above 1/2.
        """
        if self._several:
            return self._predicted(self.predict_proba(X), "predict")
        return super().predict(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = tags.classifier_tags.multi_label = True
        return tags


def _other_than_marks(y: Array) -> Any:
    """Return a value that is neither 0 nor 1; any value where there is none."""
    values = y.ravel().tolist()
    return next((each for each in values if each not in (0, 1)), values[0])
