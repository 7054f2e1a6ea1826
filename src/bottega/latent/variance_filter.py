"""Leaving out columns that hardly vary."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.feature_selection import SelectorMixin

from bottega.core.cards import Card
from bottega.core.errors import InputError
from bottega.core.estimator import Estimator
from bottega.core.params import Parameter, Real
from bottega.core.rows import Rows
from bottega.core.sparse import is_sparse
from bottega.core.typing import BoolArray, FloatArray
from bottega.core.validate import check_columns
from bottega.latent._pca.centred import CentredRows, column_squares, constant_columns

__all__ = ["VarianceFilter"]


class VarianceFilter(SelectorMixin, Estimator):
    """Leave out the columns whose variance is at most a threshold.

    Parameters
    ----------
    threshold : float, default=0.0
        Columns with a variance (divisor n) up to it are left out; larger values leave out more.
        With 0 only constant columns go.

    Attributes
    ----------
    variances_ : ndarray of shape (p,)
        Variances of the columns, in their units squared; zero for columns that do not vary beyond
        the rounding of their mean.

    Notes
    -----
    A fit costs :math:`O(n p)`. Sparse tables stay sparse. Missing values (NaN) are left out of the
    variances; a column without values is left out.

    The filter looks at the axes, not at the data: turned by an angle, the same rows may vary in
    every column alike, and none can go, though one direction in them hardly varies. `PCA` finds
    that direction (see the example). Do not compare variances of columns in different units.

    Examples
    --------
    >>> import numpy as np
    >>> from bottega.latent import PCA
    >>> rng = np.random.default_rng(0)
    >>> flat = rng.normal(size=(200, 2)) * [3.0, 0.1]
    >>> VarianceFilter(0.1).fit(flat).get_support()
    array([ True, False])
    >>> turned = flat @ np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2)
    >>> VarianceFilter(0.1).fit(turned).get_support()
    array([ True,  True])
    >>> PCA().fit(turned).explained_variance_ > 0.1
    array([ True, False])
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "threshold": Real(0, None, help="columns with a variance up to it are left out"),
    }
    card: ClassVar[Card] = Card(
        method="variance_filter",
        title="Variance filter",
        task="decomposition",
        strengths=(
            "Keeps columns as they are, so that they can be read.",
            "Costs one pass over the rows.",
        ),
        weaknesses=(
            "Looks at one column at a time: the same data turned by an angle may keep all columns.",
            "Depends on the units of the columns.",
            "A column that varies little may be the one that predicts.",
        ),
        assumptions=("Columns are in comparable units.",),
        cost="n p",
        source="N115, N117, N118",
        takes=frozenset({"number", "missing"}),
        wide=True,
    )

    _least_rows: ClassVar[int] = 2

    def __init__(self, threshold: float = 0.0) -> None:
        self.threshold = threshold

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def _prepare(self, rows: Rows) -> FloatArray:
        w = np.ones(rows.X.shape[0]) if rows.weight is None else rows.weight
        entries = rows.X.data if is_sparse(rows.X) else rows.X
        with np.errstate(over="ignore", invalid="ignore"):
            if is_sparse(rows.X):
                mean, found = _sparse_moments(rows.X.tocsc(), w)
            elif np.any(np.isnan(entries)):
                mean, found = _gappy_moments(rows.X, w)
            else:
                centred = CentredRows.about_mean(rows.X, rows.weight)
                mean, found = centred.mean, column_squares(centred) / rows.total_weight
        if not np.all(np.isfinite(found)):
            raise InputError(
                "The squares of these numbers overflow: bring the columns to a smaller scale."
            )
        check_columns(found, mean=mean)  # a column whose squares vanish is not constant
        return np.where(constant_columns(mean, found), 0.0, found)

    def _settle(self, work: FloatArray, setting: Mapping[str, Any]) -> None:
        self.variances_ = work
        if not np.any(work > self.threshold):
            raise InputError(
                f"No column has a variance above threshold={self.threshold:g}; the largest is "
                f"{work.max():.4g}. Give a lower threshold."
            )

    def _get_support_mask(self) -> BoolArray:
        return np.asarray(self.variances_ > self.threshold)


def _gappy_moments(X: FloatArray, w: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of the values that are there in each column; 0 without any."""
    known = ~np.isnan(X)
    weight = w[:, None] * known
    total = np.maximum(weight.sum(axis=0), np.finfo(np.float64).tiny)
    mean = np.sum(weight * np.where(known, X, 0.0), axis=0) / total
    return mean, np.sum(weight * np.where(known, X - mean, 0.0) ** 2, axis=0) / total


def _sparse_moments(X: Any, w: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of the columns of a sparse table (CSC), gaps left out."""
    if not X.has_canonical_format:  # entries that are stored in parts
        X = X.copy()
        X.sum_duplicates()
    p = X.shape[1]
    column = np.repeat(np.arange(p), np.diff(X.indptr))
    known = ~np.isnan(X.data)
    weight = w[X.indices]
    lost = np.bincount(column, weights=weight * ~known, minlength=p)
    stored = np.bincount(column, weights=weight * known, minlength=p)
    total = np.maximum(w.sum() - lost, np.finfo(np.float64).tiny)
    values = np.where(known, X.data, 0.0)
    mean = np.bincount(column, weights=weight * values, minlength=p) / total
    gap = np.where(known, X.data - mean[column], 0.0)
    square = np.bincount(column, weights=weight * gap**2, minlength=p)
    # The other entries are zeros; rounding may leave less than none of them.
    return mean, (square + np.maximum(w.sum() - lost - stored, 0.0) * mean**2) / total
