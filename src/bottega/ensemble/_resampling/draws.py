"""Drawing rows at random so that the draw depends on the data and the seed alone.

Rows are first put in an order of their own: they are sorted by their response, then by their
columns, and the ranks are shuffled once and for all. So a data set gives the same samples (and the
same folds) whatever order its rows come in and whatever units it is measured in, and a row of
weight k is drawn as its k copies would be.
"""

from collections.abc import Iterator
from hashlib import blake2b
from numbers import Integral
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.errors import ParameterError
from bottega.core.frames import is_frame
from bottega.core.seeds import seeds_of
from bottega.core.typing import Array, FloatArray, IntArray


def own_order(X: Any, y: Any) -> IntArray:
    """Return the rows in an order that depends on what is in them alone.

    Examples
    --------
    >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array(["a", "b", "a"])
    >>> ahead, behind = own_order(X, y), own_order(X[::-1], y[::-1])
    >>> bool(np.array_equal(X[ahead], X[::-1][behind]))
    True
    >>> bool(np.array_equal(own_order(1000 * X, y), ahead))
    True
    """
    rank = np.unique(_sorted_places(X, np.asarray(y)), return_inverse=True)[1]
    shuffled = np.random.default_rng(0).permutation(rank.max() + 1)
    return np.argsort(shuffled[rank], kind="stable")


def _sorted_places(X: Any, y: Array) -> IntArray:
    """Return where each row comes in the sorted rows; equal rows come at the same place."""
    n = len(y)
    place = np.zeros(n, dtype=np.intp)
    tied = np.arange(n)
    for column in (*_columns(y), *_columns(X)):
        if len(tied) < 2:
            break
        values = _sortable(column[tied])
        by = np.lexsort((values, place[tied]))
        tied, values = tied[by], values[by]
        before = place[tied]
        new_group = np.r_[True, before[1:] != before[:-1]]
        with np.errstate(invalid="ignore"):
            new_run = new_group | np.r_[True, values[1:] > values[:-1]]
        steps = np.arange(len(tied))
        first_of_group = np.maximum.accumulate(np.where(new_group, steps, 0))
        first_of_run = np.maximum.accumulate(np.where(new_run, steps, 0))
        place[tied] = before + first_of_run - first_of_group
        alone = new_run & np.r_[new_run[1:], True]
        tied = tied[~alone]
    return place


def _sortable(values: Array) -> Array:
    """Return numbers that sort as the values do; texts and mixtures by their spelling."""
    if values.dtype.kind in "biuf":
        # Missing values come last, as one: no comparison with them is true.
        return np.nan_to_num(values.astype(np.float64), nan=np.inf, posinf=np.finfo(float).max)
    words = [value if isinstance(value, str) else repr(value) for value in values.tolist()]
    return np.unique(words, return_inverse=True)[1]


def fingerprint(X: Any, *columns: Any) -> str:
    """Return letters that tell rows, in their own order, from other rows."""
    found = blake2b(digest_size=16)
    for column in (*_columns(X), *(each for part in columns for each in _columns(part))):
        plain = column.dtype.kind in "biuf"
        found.update(column.tobytes() if plain else repr(column.tolist()).encode())
    return found.hexdigest()


def sample_size(max_samples: Any, there: int, most: int | None) -> int:
    """Return how many rows `max_samples` stands for, where a share is one of those `there`.

    `most` is how many can be drawn, None with replacement: a number above it is refused.
    """
    if isinstance(max_samples, Integral):
        size = int(max_samples)
        if most is not None and size > most:
            raise ParameterError(
                f"max_samples={size} must be <= n_samples={most} to be able to sample "
                "without replacement."
            )
        return size
    size = max(1, round((1.0 if max_samples is None else float(max_samples)) * there))
    return size if most is None else min(size, most)


def draw_rows(
    n: int, size: int, seed: int, *, replace: bool = True, weight: FloatArray | None = None
) -> IntArray:
    """Return how often each of `n` rows is drawn in a sample of `size` rows.

    With `weight`, a row's chance is proportional to it.
    """
    rng = np.random.default_rng(seed)
    # One uniform number per draw, looked up on the scale of weights: k copies of a row take the
    # same stretch of it as the row with weight k.
    if replace and weight is None:
        rows = (rng.random(size) * n).astype(np.intp)
    elif replace and weight is not None:
        scale = np.cumsum(weight)
        rows = np.searchsorted(scale, rng.random(size) * scale[-1], side="right")
    elif weight is None:
        rows = rng.permutation(n)[:size]
    else:
        rows = rng.choice(n, size, replace=False, p=weight / weight.sum())
    return np.bincount(rows, minlength=n)


def seed_parts(model: Any, seed: int) -> Any:
    """Set every `random_state` of an estimator, those of its parts included, and return it."""
    names = sorted(
        name
        for name in model.get_params(deep=True)
        if name == "random_state" or name.endswith("__random_state")
    )
    return model.set_params(**dict(zip(names, seeds_of(seed, len(names)), strict=True)))


def _columns(data: Any) -> Iterator[Array]:
    """Yield the columns of a frame, a sparse matrix or an array, as arrays."""
    if is_frame(data):
        for series in nw.from_native(data, eager_only=True).iter_columns():
            yield series.to_numpy()
    elif hasattr(data, "tocsc"):
        by_column = data.tocsc()
        for j in range(by_column.shape[1]):
            yield by_column[:, [j]].toarray()[:, 0]
    else:
        array = np.asarray(data)
        yield from array.reshape(len(array), -1).T
