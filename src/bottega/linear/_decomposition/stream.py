"""Linear learners that reduce their rows to a triangle: all at once, in chunks, or as they come."""

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from bottega.core.chunked import Chunked
from bottega.core.chunks import CheckedChunks
from bottega.core.errors import InputError
from bottega.core.linear_smoother import Intervals
from bottega.core.rows import Rows, check_weight
from bottega.linear._decomposition.coefficients import LinearPrediction
from bottega.linear._decomposition.triangle import Triangle


class TriangleLearner(LinearPrediction, Intervals, Chunked):
    """What a learner shares whose `_settle` takes the triangle of all rows."""

    fit_intercept: bool
    n_features_in_: int
    _triangle: Triangle

    def _new_triangle(self) -> Triangle:
        return Triangle(
            self.n_features_in_,
            intercept=self.fit_intercept,
            forgetting=float(getattr(self, "forgetting", 1.0)),
        )

    def _prepare(self, rows: Rows) -> Triangle:
        return self._new_triangle().update(rows.X, rows.y, rows.weight)

    def _statistics(self, X: Any, y: Any, w: Any, start: int) -> Any:
        return self._new_triangle().update(X, y[:, 0], w)

    def _prepare_merged(self, statistics: Any, chunks: CheckedChunks) -> Any:
        return statistics

    def _next_rows(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Return the rows of a further block, of learners that have seen some."""
        self._check_params()
        same = self._new_triangle()
        if (same.intercept, same.forgetting) != (
            self._triangle.intercept,
            self._triangle.forgetting,
        ):
            raise InputError(
                "forgetting or fit_intercept has changed since the first rows; call fit to start "
                "afresh."
            )
        if not self._is_plain(X, y):
            self._remember_frame(X)
            X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, reset=False)
            y = np.asarray(y, dtype=np.float64)
        return Rows.of(X, y, check_weight(sample_weight, len(y)))

    def _is_plain(self, X: Any, y: Any) -> bool:
        """Return True if rows need no check: the full one takes twenty times as long as a row."""
        return (
            type(X) is np.ndarray
            and type(y) is np.ndarray
            and X.dtype == y.dtype == np.float64
            and X.shape == (len(y), self.n_features_in_)
            and y.ndim == 1
            and len(y) > 0
            and not hasattr(self, "feature_names_in_")
            and bool(np.isfinite(X).all() and np.isfinite(y).all())
        )
