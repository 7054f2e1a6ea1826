"""Components of a stream: moments are merged, and the components follow from them."""

from typing import Any, Self

from sklearn.utils.validation import validate_data

from bottega.core.chunked import Chunked
from bottega.core.chunks import Moments
from bottega.core.errors import InputError
from bottega.core.estimator import AS_IT_IS
from bottega.core.rows import Rows, check_weight
from bottega.core.validate import naming_texts, refuse_doubled_names, refuse_masked

__all__ = ["ComponentStream"]


class ComponentStream(Chunked):
    """An estimator of moments that can take in more rows."""

    _moments: Moments

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows: the fit to all rows so far, in memory that does not grow.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Rows; one is enough.
        y : ignored
            There is no response.
        sample_weight : array-like of shape (m,), optional
            Row weights; rows of weight zero count for nothing.

        Returns
        -------
        Self
            The estimator. It has components from two rows on.
        """
        first = not hasattr(self, "_moments")
        if first and hasattr(self, "components_"):
            raise InputError(
                f"This {type(self).__name__} was fitted to all rows at once, and kept nothing to "
                "add rows to; start the stream by partial_fit on a new estimator."
            )
        self._check_params()
        if first:
            self._forget()
        try:
            rows = self._more_rows(X, sample_weight, first)
            found = Moments().update(rows.X, None, rows.weight)
            merged = found if first else _merged(self._moments, found)
            if merged.count >= 2:
                work = self._prepare_merged(merged, None)
                self._finish(work, None, self._choose(work, None, AS_IT_IS))
        except BaseException:
            if first:
                self._forget()
            raise
        self._moments = merged
        return self

    def _more_rows(self, X: Any, sample_weight: Any, first: bool) -> Rows:
        refuse_masked(X=X, sample_weight=sample_weight)
        refuse_doubled_names(X)
        if first:
            self._remember_frame(X)
        options = {**self._input_options(), "ensure_min_samples": 1, "accept_sparse": False}
        with naming_texts(X):
            X = validate_data(self, X, reset=first, **options)
        return Rows.of(X, None, check_weight(sample_weight, len(X)))


def _merged(first: Moments, second: Moments) -> Moments:
    """Return both together, in a new object: an error on the way leaves the first as it was."""
    return Moments().merge(first).merge(second)
