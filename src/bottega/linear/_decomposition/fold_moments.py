"""Moments of the folds of rows, in one pass, and the losses of the rows that the folds hold out.

From the moments of the folds follow those of all rows, and those of every training part: fits that
need nothing else are cross-validated without going through the rows for each fold.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from bottega.core.judge import for_folds, judge_held_out
from bottega.core.losses import Loss
from bottega.core.moments import Moments
from bottega.core.rows import split_rows
from bottega.core.sparse import is_sparse
from bottega.core.typing import FloatArray
from bottega.data.scatter import narrow_moments

# Numbers in a block of rows: it and its centred copy stay in the cache.
_BLOCK = 2**16
# Rows that a provisional centre is taken from, and the squared distance of the mean from it,
# against the variance, that costs two digits.
_SAMPLE = 256
_FAR = 100.0
# Variance against the squared mean of a sparse column below which products about zero lost digits.
_LEVEL = 1e-6
# Variance of a column against the square of what was taken off it that may be rounding alone.
_NOTHING = 1e-20


class FoldMoments:
    """Moments of ``[X, y]`` of each of `count` folds of some rows; without `fold`, of all rows."""

    def __init__(self, X: Any, y: FloatArray, w: Any, count: int = 1, fold: Any = None) -> None:
        self.p = X.shape[1]
        self.log_weights = 0.0 if w is None else float(np.sum(np.log(w)))
        self.parts = _moments_by_fold(X, y.reshape(len(y), -1), w, count, fold)

    def merge(self, other: Self) -> Self:
        """Take in the moments of other rows."""
        self.log_weights += other.log_weights
        for part, more in zip(self.parts, other.parts, strict=True):
            part.merge(more)
        return self

    def total(self) -> Moments:
        """Return the moments of all rows."""
        found = Moments()
        for part in self.parts:
            found.merge(part)
        found.p, found.log_weights = self.p, self.log_weights
        return found

    def training(self) -> Iterator[Moments | None]:
        """Yield, for each fold, the moments of all others, merged so that nothing cancels.

        A fold without rows gives None.
        """
        behind = [Moments()]
        for part in reversed(self.parts[1:]):
            behind.append(Moments().merge(behind[-1]).merge(part))
        ahead = Moments()
        for part in self.parts:
            rest = Moments().merge(ahead).merge(behind.pop())
            yield rest if part.count else None
            ahead = ahead.merge(part)


def judge_linear(
    reduce: Callable[[Callable[..., Any]], Any],
    fits: Sequence[tuple[FloatArray, FloatArray] | None],
    loss: Loss,
) -> dict[str, FloatArray]:
    """Return error, error_se and fold_error of linear fits on the rows that their fold held out.

    `reduce` is that of `judge_held_out`. For each fold `fits` has the coefficients ``(m, p)`` or
    ``(m, q, p)`` and the intercepts of m models; None for a fold without rows. Several responses
    count alike.
    """
    sizes = [fit[1].size for fit in fits if fit is not None]
    predictors = [None if fit is None else partial(_linear, *fit) for fit in fits]
    at_once = max(256, 2 * _BLOCK // max(sizes, default=1))
    return judge_held_out(reduce, predictors, loss, at_once)


def _linear(coef: FloatArray, intercept: FloatArray, X: Any) -> FloatArray:
    """Return the predictions of linear fits for rows: (rows, models) or (rows, models, q)."""
    predicted = X @ coef.reshape(-1, X.shape[1]).T
    predicted += intercept.ravel()
    return np.asarray(predicted.reshape(X.shape[0], *intercept.shape))


def _moments_by_fold(X: Any, y: FloatArray, w: Any, count: int, fold: Any) -> list[Moments]:
    folds = np.zeros(len(y), np.intp) if fold is None else fold
    if is_sparse(X):
        X = csr_array(X)
        which = [np.flatnonzero(folds == k) for k in range(count)]
        return [_moments_about_zero(X[on], y[on], None if w is None else w[on]) for on in which]
    if count == 1 and w is None:
        narrow = narrow_moments(X, y)
        if narrow is not None:
            return [narrow]
    first = X[:_SAMPLE]
    # A provisional centre near the mean: sums of squares about it do not cancel.
    shift = np.where(np.ptp(first, axis=0) == 0, first[0], first.mean(axis=0))
    shift = np.append(shift, y[:_SAMPLE].mean(axis=0))
    if count == 1 and w is None and np.all(shift[: X.shape[1]] ** 2 <= first.var(axis=0)):
        moments = _moments_about_zero(X, y, None)  # no block is copied
        if not _is_far(moments, np.append(np.zeros(X.shape[1]), moments.mean[X.shape[1] :])):
            return [moments]

    floor = _NOTHING * shift[: X.shape[1]] ** 2

    def moments_of(k: int) -> Moments:
        rows = np.flatnonzero(folds == k) if count > 1 else None
        found = _dense_moments(X, y, w, rows, shift)
        if found.count and _is_far(found, shift):
            found = _dense_moments(X, y, w, rows, found.mean)  # the first rows misled
        if found.count:
            _settle_constants(found, X, rows, floor)
        return found

    return for_folds(moments_of, count, X.size)


def _settle_constants(moments: Moments, X: FloatArray, rows: Any, floor: FloatArray) -> None:
    """Give columns that do not vary on some rows (None: all) exactly their value and no spread.

    What rounding makes of them would pass for a spread where the value is zero. `floor` is the
    variance up to which they are looked at.
    """
    level = moments.scatter.diagonal()[: X.shape[1]] <= floor * moments.weight
    for j in level.nonzero()[0]:
        column = X[:, j] if rows is None else X[rows, j]
        if np.all(column == column[0]):
            moments.mean[j] = column[0]
            moments.scatter[j], moments.scatter[:, j] = 0.0, 0.0


def _is_far(moments: Moments, shift: FloatArray) -> bool:
    """Return True if sums of squares about `shift` lost digits that those about the mean keep."""
    variance = np.diag(moments.scatter) / max(moments.weight, 1e-300)
    return bool(np.any((moments.mean - shift) ** 2 > _FAR * variance))


def _dense_moments(X: FloatArray, y: FloatArray, w: Any, rows: Any, shift: FloatArray) -> Moments:
    """Return the moments of ``[X, y]`` on some rows (None: all) in one pass, block by block."""
    p, width = X.shape[1], len(shift)
    n = len(y) if rows is None else len(rows)
    if not n:
        return Moments()
    size = max(256, _BLOCK // width)
    # Blocks are copied the way the rows are stored: along columns, or along rows.
    order: Any = "F" if X.flags.f_contiguous else "C"
    buffer = np.empty((min(size, n), width), order=order)
    sums, scatter, weight = np.zeros(width), np.zeros((width, width)), 0.0
    for part in split_rows(n, size):
        at = part if rows is None else rows[part]
        block = buffer[: part.stop - part.start]
        np.subtract(X[at], shift[:p], out=block[:, :p])
        np.subtract(y[at], shift[p:], out=block[:, p:])
        if w is None:
            sums += np.ones(len(block)) @ block
            weight += len(block)
        else:
            root = np.sqrt(w[at])
            block *= root[:, None]
            sums += root @ block
            weight += float(w[at].sum())
        scatter += block.T @ block
    return _moments(n, weight, shift + sums / weight, scatter, sums / weight)


def _moments_about_zero(X: Any, y: FloatArray, w: Any) -> Moments:
    """Return the moments of ``[X, y]``, X sparse or (without weights) with columns about zero."""
    if not len(y):
        return Moments()
    v = np.ones(len(y)) if w is None else w
    weighted = X if w is None else X.multiply(v[:, None]).tocsr()
    p, weight = X.shape[1], float(v.sum())
    mean = np.append(v @ X, v @ y) / weight
    centred = y - mean[p:]
    products, square = np.empty((len(mean), len(mean))), weighted.T @ X
    products[:p, :p] = square.toarray() if is_sparse(square) else square
    products[:p, p:] = weighted.T @ centred - np.outer(mean[:p], v @ centred)
    products[p:, :p] = products[:p, p:].T
    products[p:, p:] = (centred * v[:, None]).T @ centred
    offset = np.append(mean[:p], np.zeros(len(mean) - p))
    found = _moments(len(y), weight, mean, products, offset)
    if is_sparse(X):
        _mend_level_columns(found, X, centred, v)
    return found


def _mend_level_columns(moments: Moments, X: Any, centred: FloatArray, v: FloatArray) -> None:
    """Compute the scatter of columns that vary little about a large mean anew, about that mean.

    Such columns are few in sparse data: a constant, a year.
    """
    mean = moments.mean[: X.shape[1]]
    variance = np.diag(moments.scatter)[: len(mean)] / moments.weight
    level = np.flatnonzero((mean != 0) & (variance <= _LEVEL * mean**2))
    by_columns = X.tocsc() if len(level) else X
    for part in split_rows(len(level), max(1, _BLOCK // len(v))):
        at = level[part]
        spread = by_columns[:, at].toarray() - mean[at]
        spread -= v @ spread / moments.weight
        weighted = spread * v[:, None]
        rows = np.hstack([(X.T @ weighted).T, weighted.T @ centred])
        rows[:, at] = weighted.T @ spread
        moments.scatter[at] = rows
        moments.scatter[:, at] = rows.T


def _moments(
    count: int, weight: float, mean: FloatArray, products: FloatArray, offset: FloatArray
) -> Moments:
    """Return moments from the products about a centre from which the mean is `offset` away."""
    found = Moments()
    found.count, found.weight, found.mean = count, weight, mean
    found.scatter = products - weight * np.outer(offset, offset)
    np.fill_diagonal(found.scatter, np.maximum(np.diag(found.scatter), 0.0))
    return found
