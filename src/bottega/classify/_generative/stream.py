"""Classes learnt from a stream: the statistics of each block are merged with those so far."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from bottega.classify._generative.base import Generative
from bottega.core.errors import InputError
from bottega.core.rows import Rows, check_weight
from bottega.core.typing import Array, IntArray
from bottega.core.validate import naming_texts, refuse_doubled_names, refuse_masked

__all__ = ["StreamedClasses"]


class StreamedClasses(Generative):
    """A generative classifier whose statistics of the rows so far can take in more rows.

    A fit keeps them in `_statistics_so_far`.
    """

    @abstractmethod
    def _take_in(self, rows: Rows, first: bool) -> None:
        """Merge the statistics of more rows, and set what is learnt from all of them."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows: the fit to all rows so far, in memory that does not grow.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.
        y : array-like of shape (m,)
            Class labels.
        classes : array-like, optional
            All labels that may come, with the first block. Left out, the labels of the first block
            are all there may be.
        sample_weight : array-like of shape (m,), optional
            Row weights; rows of weight zero count for nothing.

        Returns
        -------
        Self
            The estimator.
        """
        first = not hasattr(self, "_statistics_so_far")
        if first:
            self._forget()
            self._check_params()
        try:
            rows = self._block(X, y, classes, sample_weight, first)
            self._take_in(rows, first)
        except BaseException:
            if first:
                self._forget()
            raise
        return self

    def _block(self, X: Any, y: Any, classes: Any, sample_weight: Any, first: bool) -> Rows:
        refuse_masked(X=X, y=y, sample_weight=sample_weight)
        refuse_doubled_names(X)
        if first:
            self._remember_frame(X)
            X, y = self._check_rows(X, y)
        else:
            X, y = self._check_next(X, y)
        codes = self._known_codes(y, classes, first)
        weight = check_weight(sample_weight, len(codes))
        return Rows.of(X, codes, weight)

    def _check_next(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return another block of the stream, checked."""
        with naming_texts(X):
            X, y = validate_data(self, X, y, reset=False, **self._input_options())
        check_classification_targets(y)
        return X, y

    def _known_codes(self, y: Array, classes: Any, first: bool) -> IntArray:
        """Return the codes of labels; the first block says which labels there are."""
        if first:
            labels = y if classes is None else np.asarray(classes)
            check_classification_targets(labels)
            self.classes_ = np.unique(labels)
            if len(self.classes_) < 2:
                raise InputError(
                    "A classifier needs at least two classes and there is one class, "
                    f"{self.classes_.tolist()[0]!r}. In a stream, name them all with the first "
                    "block: partial_fit(X, y, classes=...)."
                )
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise InputError(
                f"classes={list(classes)!r} are not those of the first block, "
                f"{self.classes_.tolist()!r}; start a new model for another set of labels."
            )
        try:
            codes = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
            known = np.asarray(self.classes_[codes] == y)
        except TypeError:  # labels that cannot be put in one order
            codes, known = np.zeros(len(y), dtype=np.intp), np.zeros(len(y), dtype=bool)
        if not known.all():
            raise InputError(
                f"The label {y[~known].tolist()[0]!r} is not among the classes "
                f"{self.classes_.tolist()!r}. "
                "Name all labels that may come with the first block, partial_fit(X, y, "
                "classes=...), or start a new model."
            )
        return codes
