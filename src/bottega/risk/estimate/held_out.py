"""Rows, losses and folds: what the evaluations on held-out rows share."""

from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone, is_classifier

from bottega.core import progress
from bottega.core.base import Estimator
from bottega.core.errors import InputError, ParameterError
from bottega.core.frames import take_rows
from bottega.core.losses import Loss, get_loss
from bottega.core.parallel import in_threads
from bottega.core.typing import Array, FloatArray, IntArray

__all__ = [
    "Fold",
    "RowLosses",
    "check_rows",
    "fit_rows",
    "fold_of_rows",
    "is_partition",
    "make_folds",
    "random_folds",
    "rows_of",
    "run_fits",
    "task_of",
]

Fold = tuple[IntArray, IntArray]
Item = TypeVar("Item")
Answer = TypeVar("Answer")


def task_of(model: Any) -> str:
    """Return "classification" or "regression"."""
    return "classification" if is_classifier(model) else "regression"


def check_rows(X: Any, y: Any) -> tuple[Any, Array]:
    """Return X as it is and y with one entry a row of X."""
    responses = np.asarray(y)
    if responses.ndim == 2 and responses.shape[1] == 1:
        responses = responses[:, 0]
    if responses.ndim != 1:
        raise InputError(
            f"One response at a time is evaluated; got y of shape {responses.shape}: take each "
            "column alone."
        )
    n = int(X.shape[0]) if hasattr(X, "shape") else len(X)
    if n != len(responses):
        raise InputError(f"X has {n} rows and y has {len(responses)}.")
    if n == 0:
        raise InputError("There are no rows to evaluate on; give at least one.")
    return X, responses


def rows_of(X: Any, rows: Array) -> Any:
    """Return the given rows of a frame, a sparse matrix, an array or a list."""
    return X.tocsr()[rows] if hasattr(X, "tocsr") else take_rows(X, rows)


class RowLosses:
    """The loss of each row: ``RowLosses(loss, task)(y, predicted)``.

    Parameters
    ----------
    loss : None, str, Loss or callable
        The task's own loss (misclassification, squared error); a name or an object of
        `bottega.core.losses`; or any function of truth and prediction, one value a row.
    task : {"classification", "regression"}
        What the task is.
    """

    def __init__(self, loss: Any, task: str) -> None:
        self._function: Callable[[Any, Any], Any]
        if loss is None:
            self.name, self.zero_one = get_loss(None, task).title, task == "classification"
            self._function = lambda y, predicted: get_loss(None, task).of_rows(y, predicted)
        elif isinstance(loss, str | Loss):
            known = get_loss(loss)
            self.name, self.zero_one = known.title, known.name == "zero_one"
            self._function = known
        elif callable(loss):
            self.name, self.zero_one = getattr(loss, "__name__", "loss").replace("_", " "), False
            self._function = loss
        else:
            raise ParameterError(
                f"loss={loss!r} is not allowed; give a name of bottega.core.losses, a Loss, or a "
                "function of truth and prediction."
            )

    def __call__(self, y: Array, predicted: Any) -> FloatArray:
        """Return the loss of each row, all of them finite."""
        losses = np.asarray(self._function(y, np.asarray(predicted)), dtype=np.float64)
        if losses.shape != (len(y),):
            raise InputError(
                f"The loss must be one number a row; for {len(y)} rows it has shape "
                f"{losses.shape}. Take one response at a time."
            )
        if not np.all(np.isfinite(losses)):
            bad = int(np.flatnonzero(~np.isfinite(losses))[0])
            raise InputError(
                f"The loss of row {bad} is {losses[bad]}: the response or its prediction is "
                "missing or infinite."
            )
        return losses


# ---- folds ---------------------------------------------------------------------------------------


def random_folds(n: int, k: int, strata: Any, rng: np.random.Generator | None) -> list[Fold]:
    """Return k folds whose sizes differ by one row at most.

    With a generator the rows are shuffled, and those of one stratum are spread evenly; without,
    each fold is a stretch of rows one after the other, the first folds being the larger.
    """
    if isinstance(k, bool) or not isinstance(k, Integral) or not 2 <= k <= n:
        raise ParameterError(
            f"{k!r} folds are not possible with {n} rows; give a whole number from 2 to {n}."
        )
    fold = np.empty(n, dtype=np.intp)
    if rng is None:
        fold[:] = np.repeat(np.arange(k), [len(part) for part in np.array_split(np.arange(n), k)])
    else:
        order = rng.permutation(n)
        if strata is not None:  # stratum after stratum, dealt like cards
            codes = np.unique(strata, return_inverse=True)[1]
            order = order[np.argsort(codes[order], kind="stable")]
        fold[order] = np.arange(n) % k
    return [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(k)]


def make_folds(
    cv: Any, X: Any, y: Array, *, classifier: bool, seed: int = 0, shuffle: bool = True
) -> list[Fold]:
    """Return pairs of training and test rows from a number, a splitter, or the pairs themselves.

    With a classifier each class is spread evenly over shuffled folds.
    """
    n = len(y)
    if isinstance(cv, Integral):
        rng = np.random.default_rng(seed) if shuffle else None
        return random_folds(n, cv, y if classifier else None, rng)  # type: ignore[arg-type]
    if isinstance(cv, str) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise ParameterError(
            f"{cv!r} gives no folds; give their number, pairs of training and test rows, or a "
            "splitter of scikit-learn."
        )
    pairs = cv.split(X, y) if hasattr(cv, "split") else cv
    folds = [_check_fold(pair, n, i) for i, pair in enumerate(pairs)]
    if len(folds) < 1:
        raise ParameterError("There are no folds; give at least one pair (train, test).")
    return folds


def _check_fold(pair: Any, n: int, place: int) -> Fold:
    try:
        train, test = (np.asarray(rows) for rows in pair)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"Fold {place} is not a pair (training rows, test rows).") from error
    found = []
    for name, rows in (("training", train), ("test", test)):
        if rows.dtype == bool and rows.shape == (n,):
            rows = np.flatnonzero(rows)
        if rows.ndim != 1 or not len(rows) or rows.dtype.kind not in "iu":
            raise ParameterError(
                f"The {name} rows of fold {place} must be whole numbers, at least one of them."
            )
        if rows.min() < 0 or rows.max() >= n:
            raise ParameterError(f"Fold {place} names {name} rows outside 0 to {n - 1}.")
        found.append(rows.astype(np.intp))
    shared = np.intersect1d(found[0], found[1])
    if len(shared):
        raise ParameterError(
            f"Fold {place} trains and tests on row {shared[0]}: a row the model has seen says "
            "nothing about rows it has not."
        )
    return found[0], found[1]


def fold_of_rows(folds: list[Fold], n: int) -> IntArray:
    """Return the fold in which each row is tested, -1 where it is not; twice is refused."""
    fold = np.full(n, -1, dtype=np.intp)
    for i, (_, test) in enumerate(folds):
        again = test[fold[test] >= 0]
        if len(again) or len(np.unique(test)) < len(test):
            row = again[0] if len(again) else test[0]
            raise ParameterError(
                f"Row {row} is tested more than once; give folds that test each row at most once."
            )
        fold[test] = i
    return fold


def is_partition(folds: list[Fold], n: int) -> bool:
    """Tell whether each row is tested in one fold and trained on in all others."""
    fold = fold_of_rows(folds, n)
    return bool(np.all(fold >= 0)) and all(len(train) + len(test) == n for train, test in folds)


# ---- fits ----------------------------------------------------------------------------------------


def run_fits(
    function: Callable[[Item], Answer], items: Iterable[Item], estimator: Any, stage: str
) -> list[Answer]:
    """Return ``function(item)`` for each item: side by side for methods of ours.

    Estimators of others may hold the interpreter or start processes of their own: they run one
    after the other, with whatever `n_jobs` they were given.
    """
    if isinstance(estimator, Estimator):
        return in_threads(function, items, stage=stage)
    todo = list(items)
    found = []
    for done, item in enumerate(todo):
        found.append(function(item))
        progress.report(stage, done + 1, len(todo))
    return found


def fit_rows(estimator: Any, X: Any, y: Array, rows: IntArray) -> Any:
    """Return a new copy of the estimator fitted to some of the rows."""
    return clone(estimator).fit(rows_of(X, rows), y[rows])
