"""How far a path can be trusted: losses of held-out rows, their mean and its standard error."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from bottega.core.added_sums import AddedSums
from bottega.core.errors import InputError
from bottega.core.folds import Fold
from bottega.core.losses import Loss
from bottega.core.parallel import in_threads
from bottega.core.path import Path
from bottega.core.rows import Rows, split_rows
from bottega.core.sparse import is_sparse
from bottega.core.typing import Array, FloatArray

__all__ = [
    "LossSums",
    "errors_of_folds",
    "for_folds",
    "judge_by_folds",
    "judge_held_out",
    "judged_path",
    "mean_and_se",
    "row_losses",
    "small_sample",
]

# Numbers in a table from which on the folds are worth threads of their own.
_LARGE = 10**6


def mean_and_se(loss: FloatArray, weight: FloatArray | None = None) -> tuple[Any, Any]:
    r"""Return the (weighted) mean of the losses over the rows, and its standard error.

    The standard error is the root of :math:`\frac{n}{n-1} \sum_i p_i^2 (\ell_i - \bar\ell)^2`
    with :math:`p_i` the share of a row in the weights: with equal weights, the standard deviation
    over the root of n. One row has none (NaN).
    """
    n = loss.shape[0]
    share = np.full(n, 1 / n) if weight is None else weight / weight.sum()
    share = share.reshape((n,) + (1,) * (loss.ndim - 1))
    mean = (share * loss).sum(axis=0)
    unit = _unit_of(loss)
    gap = (loss - mean) / unit
    return mean, unit * np.sqrt((share**2 * gap**2).sum(axis=0) * small_sample(n))


def _unit_of(loss: FloatArray) -> float:
    """Return the size of the losses, in which their squares neither vanish nor overflow."""
    size = np.max(np.abs(loss), initial=0.0, where=np.isfinite(loss))
    return float(size) if size > 0 else 1.0


def small_sample(n: int) -> float:
    """Return n / (n - 1), what a variance about an estimated mean is short of; NaN for one row."""
    return n / (n - 1) if n > 1 else np.nan


# Of losses that are infinite.
_QUIET = np.errstate(invalid="ignore")


class LossSums:
    """Weighted mean of columns of losses and its standard error, block by block.

    Blocks are reduced about their own mean and merged by the pairwise formula. The result is that
    of `mean_and_se` on all rows at once. A loss that is infinite (a row that no other resembles,
    left out) makes the mean infinite, and there is no standard error.
    """

    def __init__(self) -> None:
        self.count = 0
        self.weight = 0.0
        self.mean: Any = 0.0
        # The standard error weighs squared deviations by squared weights, about their own centre.
        self.weight2 = 0.0
        self.center: Any = 0.0
        self.scatter: Any = 0.0  # in squares of the unit
        self.unit = 1.0

    @_QUIET
    def update(self, loss: FloatArray, w: Any = None) -> Self:
        """Take in the losses of a block of rows, one column per model."""
        other = type(self)()
        other.count, other.unit = len(loss), _unit_of(loss)
        if w is None:
            other.weight = other.weight2 = float(len(loss))
            other.mean = other.center = loss.mean(axis=0)
            gap = (loss - other.center) / other.unit
            other.scatter = np.einsum("ij,ij->j", gap, gap)
        else:
            other.weight, other.weight2 = float(w.sum()), float(w @ w)
            other.mean = w @ loss / other.weight
            other.center = w**2 @ loss / other.weight2
            other.scatter = w**2 @ ((loss - other.center) / other.unit) ** 2
        return self.merge(other)

    @_QUIET
    def merge(self, other: Self) -> Self:
        """Take in the losses of other rows."""
        if not other.count:
            return self
        if not self.count:
            vars(self).update(vars(other))
            return self
        total, total2 = self.weight + other.weight, self.weight2 + other.weight2
        unit = max(self.unit, other.unit)
        mine, theirs = (each.scatter * (each.unit / unit) ** 2 for each in (self, other))
        gap = other.center - self.center
        # The product of both would leave the range of numbers before weights do.
        between = (gap / unit) ** 2 * (self.weight2 * (other.weight2 / total2))
        self.scatter, self.unit = mine + theirs + between, unit
        self.center = self.center + gap * (other.weight2 / total2)
        self.mean = self.mean + (other.mean - self.mean) * (other.weight / total)
        self.weight, self.weight2, self.count = total, total2, self.count + other.count
        return self

    @_QUIET
    def mean_and_se(self) -> tuple[FloatArray, FloatArray]:
        """Return the mean and its standard error, one entry per model."""
        about_mean = self.scatter + self.weight2 * ((self.center - self.mean) / self.unit) ** 2
        spread = np.sqrt(about_mean * small_sample(self.count))
        return self.mean, self.unit * spread / self.weight


def row_losses(loss: Loss, y: Any, predicted: Array) -> FloatArray:
    """Return the losses of predictions (rows, settings, ...): several responses count alike."""
    if np.ndim(y) < 2:  # one response, or none
        return loss.of_rows(y, predicted)
    each = [loss.of_rows(column, predicted[:, :, q]) for q, column in enumerate(y.T)]
    return np.asarray(np.mean(each, axis=0))


def judge_by_folds(
    curve: Path,
    rows: Rows,
    folds: Sequence[Fold],
    loss: Loss,
    predict: Callable[[Rows, Any], Array],
    *,
    estimate: str = "cv",
) -> Path:
    """Return a path with its error estimated on the rows that folds hold out.

    `folds` are pairs of row numbers of `rows`, which the path was fitted to; every held-out row is
    judged by `loss`. ``predict(train_rows, X_test)`` gives the predictions of all settings fitted
    to the training rows, (rows, settings, ...); `estimate` is what the folds are.
    """

    def judge(fold: Fold) -> FloatArray:
        train, test = fold
        held = rows.take(test)
        return row_losses(loss, held.y, predict(rows.take(train), held.X))

    if not folds:
        raise InputError("No fold has rows that count on both sides; give other folds.")
    return judged_path(
        curve, rows, folds, in_threads(judge, folds, stage="folds", elsewhere=True), loss, estimate
    )


def judged_path(
    curve: Path,
    rows: Rows,
    folds: Sequence[Fold],
    parts: Sequence[FloatArray],
    loss: Loss,
    estimate: str,
) -> Path:
    """Return a path with the error that the losses of each fold's held-out rows say."""
    found = errors_of_folds(folds, parts, rows.weight)
    return replace(curve, **found, estimate=estimate, loss=loss.title)


def errors_of_folds(
    folds: Sequence[Fold], parts: Sequence[FloatArray], weight: FloatArray | None = None
) -> dict[str, Any]:
    """Return error, error_se and fold_error of the losses of what each fold holds out.

    `weight` is that of all rows (or entries), whose positions the folds are.
    """
    weights = [None if weight is None else weight[test] for _, test in folds]
    fold_error = [
        np.average(losses, axis=0, weights=w) for losses, w in zip(parts, weights, strict=True)
    ]
    tested = np.concatenate([test for _, test in folds])
    if len(np.unique(tested)) == len(tested):
        sums = LossSums()
        for losses, w in zip(parts, weights, strict=True):
            sums.update(losses, w)
        error, error_se = sums.mean_and_se()
    else:  # a row that is held out several times is one row: its losses are averaged first
        distinct, place, times = np.unique(tested, return_inverse=True, return_counts=True)
        total = np.zeros((len(distinct), parts[0].shape[1]))
        np.add.at(total, place, np.concatenate(parts))
        w = None if weight is None else weight[distinct]
        error, error_se = mean_and_se(total / times[:, None], w)
    return {"error": error, "error_se": error_se, "fold_error": np.stack(fold_error)}


def judge_held_out(
    reduce: Callable[[Callable[..., Any]], Any],
    predictors: Sequence[Callable[[Any], Array] | None],
    loss: Loss,
    at_once: int = 8192,
) -> dict[str, FloatArray]:
    """Return error, error_se and fold_error of predictions of the rows that their fold held out.

    Parameters
    ----------
    reduce : callable
        Gives what a function makes of inputs, responses, weights (or None) and the fold of each
        row, merged over all rows, wherever they are.
    predictors : sequence of callable
        Gives (rows, settings, ...) for rows of its fold; None for a fold without rows.
    loss : Loss
        Of a row.
    at_once : int
        Rows that are predicted together.
    """

    def of_block(X: Any, y: Any, w: Any, fold: Any) -> AddedSums:
        table = X.tocsr() if is_sparse(X) else X

        def judge(k: int) -> LossSums:
            sums, predict = LossSums(), predictors[k]
            if predict is None:
                return sums
            rows = np.flatnonzero(fold == k)
            for part in split_rows(len(rows), at_once):
                at = rows[part]
                losses = row_losses(loss, y[at], predict(table[at]))
                sums.update(losses, None if w is None else w[at])
            return sums

        return AddedSums(tuple(for_folds(judge, len(predictors), X.shape[0] * X.shape[1])))

    each: tuple[LossSums, ...] = reduce(of_block).values
    total = LossSums()
    for sums in each:
        total.merge(sums)
    error, error_se = total.mean_and_se()
    fold_error = np.stack([sums.mean for sums in each if sums.count])
    return {"error": error, "error_se": error_se, "fold_error": fold_error}


def for_folds(task: Callable[[int], Any], count: int, numbers: int) -> list[Any]:
    """Return what a task gives for each fold, side by side where the table has many numbers."""
    if numbers < _LARGE:
        return [task(k) for k in range(count)]
    return in_threads(task, range(count), stage="folds")
