"""Classes learnt from a stream: the statistics of each block are merged with those so far."""

from abc import abstractmethod
from typing import Any, Self

from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from bottega.classify._generative.base import Generative
from bottega.core.classes import classes_of_stream, codes_in_stream
from bottega.core.rows import Rows, check_weight
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
        if first:
            self.classes_ = classes_of_stream(y, classes)
        codes = codes_in_stream(y, self.classes_, None if first else classes)
        weight = check_weight(sample_weight, len(codes))
        return Rows.of(X, codes, weight)

    def _check_next(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return another block of the stream, checked."""
        with naming_texts(X):
            X, y = validate_data(self, X, y, reset=False, **self._input_options())
        check_classification_targets(y)
        return X, y
