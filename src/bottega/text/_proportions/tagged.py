"""Reading tagged and unread texts: stem matrices, tags, weights."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets

from bottega.core.estimator import Estimator
from bottega.core.rows import Rows, are_counts, check_weight
from bottega.core.typing import BoolArray, FloatArray
from bottega.core.validate import refuse_missing_labels
from bottega.text._proportions.by_blocks import METHODS as _BLOCKS
from bottega.text._proportions.checks import check_known, check_tags, refuse_negative
from bottega.text._proportions.several import (
    check_labels,
    label_names,
    labels_as_table,
    refuse_lists_of_labels,
)

__all__ = ["TaggedTexts"]


class TaggedTexts(Estimator):
    """An estimator of tagged texts: codes of one label each, or a table of several labels."""

    method: str
    classes: Any
    known_stems_: BoolArray

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.method in _BLOCKS
        return tags

    def _input_options(self, new: bool = False) -> dict[str, Any]:
        return super()._input_options(new) | {"accept_sparse": "csr"}

    def _check_rows(self, X: Any, y: Any) -> tuple[Any, Any]:
        refuse_lists_of_labels(y)
        refuse_missing_labels(y)
        X, y = super()._check_rows(X, y)
        y = labels_as_table(y)
        check_classification_targets(y)
        return X, y

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        rows = super()._read(X, y, sample_weight)
        if rows.y.ndim == 2:
            self.classes_ = label_names(y, rows.y.shape[1], self.classes)
            check_labels(self.classes_, rows.y)
        else:
            rows = replace(rows, y=self._read_classes(rows.y))
            check_tags(self.classes_, rows.y, self.classes)
        # Whole numbers count copies; the scale of others means nothing, and to a classifier might.
        if rows.weight is not None and not are_counts(rows.weight):
            rows = replace(rows, weight=rows.weight / rows.weight.mean())
        if self.method in _BLOCKS:
            refuse_negative(rows.X, type(self).__name__, self.method)
        return rows

    def _check_unread(self, X: Any, sample_weight: Any) -> tuple[Any, FloatArray]:
        """Return the stem matrix of the unread texts, checked, and their weights."""
        S = self._check_new(X)
        if self.method in _BLOCKS:
            refuse_negative(S, type(self).__name__, self.method)
        check_known(S, self.known_stems_)
        weight = check_weight(sample_weight, S.shape[0])
        return S, np.ones(S.shape[0]) if weight is None else weight
