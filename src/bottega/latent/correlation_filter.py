"""Leaving out columns that say what others say."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from bottega.core.cards import Card
from bottega.core.estimator import Estimator
from bottega.core.params import Parameter, Real
from bottega.core.results import term_names
from bottega.core.rows import Rows
from bottega.core.sparse import small_as_dense
from bottega.core.typing import BoolArray, FloatArray
from bottega.latent._pca.centred import constant_columns, moments_of, scale_of

__all__ = ["CorrelationFilter"]

_TIE = 1e-9  # correlations that differ by less are equal


class CorrelationFilter(SelectorMixin, Estimator):
    """Of columns that are highly correlated keep one.

    The pair with the largest absolute correlation above `threshold` loses the column that is more
    correlated, in the mean over all columns still there, with the others; among equals the later
    column goes. This is repeated until no pair is left.

    Parameters
    ----------
    threshold : float, default=0.9
        Absolute correlation that pairs may have at most; larger values keep more columns.

    Attributes
    ----------
    correlation_ : ndarray of shape (p, p)
        Correlations of the columns; zero for a column that does not vary, which is kept.
    dropped_ : ndarray of shape (d,)
        Columns that were left out, in that order.
    kept_for_ : ndarray of shape (d,)
        The column of the pair that stayed when each of them went. It may go in a later step.

    Notes
    -----
    A fit costs :math:`O(n p^2)`. Only pairs are looked at: a column that is the sum of three others
    stays. `bottega.latent.PCA` uses correlations among all columns.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 100))
    >>> X = np.column_stack([a, b, a + 0.1 * rng.normal(size=100)])
    >>> CorrelationFilter().fit(X).get_support()
    array([ True,  True, False])
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "threshold": Real(0, 1, help="absolute correlation that pairs may have at most"),
    }
    card: ClassVar[Card] = Card(
        method="correlation_filter",
        title="Correlation filter",
        task="decomposition",
        strengths=(
            "Keeps columns as they are, so that they can be read.",
            "Does not depend on the units of the columns.",
        ),
        weaknesses=(
            "Looks at pairs of columns: dependence among three or more is not seen.",
            "Captures linear dependence only.",
            "Which column of a pair goes does not consider any response.",
        ),
        assumptions=("Columns that are highly correlated carry the same information.",),
        cost="n p^2",
        source="N116, N117, N123",
        wide=True,
    )
    _least_rows: ClassVar[int] = 2

    def __init__(self, threshold: float = 0.9) -> None:
        self.threshold = threshold

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _prepare(self, rows: Rows) -> FloatArray:
        moments = moments_of(small_as_dense(rows.X), rows.weight)
        variance = np.maximum(np.diag(moments.scatter), 0.0) / moments.weight
        scale_of(moments.mean, variance, False)  # refuses squares that overflow or vanish
        constant = constant_columns(moments.mean, variance)
        inverse = np.where(constant, 0.0, 1 / np.sqrt(np.where(constant, 1.0, variance)))
        found = moments.scatter / moments.weight * np.outer(inverse, inverse)
        found = np.clip(found, -1.0, 1.0)
        found[np.diag_indices(len(found))] = 1.0
        return found

    def _settle(self, work: FloatArray, setting: Mapping[str, Any]) -> None:
        self.correlation_ = work
        size = np.abs(work)
        size[np.diag_indices(len(size))] = 0.0
        total = size.sum(axis=1)
        kept = np.ones(len(size), dtype=np.bool_)
        dropped, stayed = [], []
        while True:
            i, j = _largest_pair(size)
            if size[i, j] <= self.threshold + _TIE:
                break
            gone, other = (i, j) if total[i] > total[j] + _TIE * len(size) else (j, i)
            dropped.append(gone)
            stayed.append(other)
            kept[gone] = False
            total -= size[gone]
            size[gone] = size[:, gone] = 0.0
        self.dropped_ = np.array(dropped, dtype=np.intp)
        self.kept_for_ = np.array(stayed, dtype=np.intp)
        self._kept = kept

    def _get_support_mask(self) -> BoolArray:
        return self._kept

    def pairs(self) -> Any:
        """Return the columns that were left out, with those of their pairs that stayed.

        Returns
        -------
        data frame
            One row per column left out: ``dropped, kept, correlation``.
        """
        check_is_fitted(self)
        names = term_names(self, intercept=False)
        return self._make_frame(
            {
                "dropped": [names[j] for j in self.dropped_],
                "kept": [names[j] for j in self.kept_for_],
                "correlation": self.correlation_[self.dropped_, self.kept_for_],
            }
        )


def _largest_pair(size: FloatArray) -> tuple[int, int]:
    """Return the pair with the largest entry; the first of those that are equal."""
    if len(size) < 2:
        return 0, 0
    largest = size.max()
    first = int(np.flatnonzero(size.ravel() >= largest - _TIE)[0])
    i, j = divmod(first, len(size))
    return i, j
