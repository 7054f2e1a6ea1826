"""Drawing rows at random so that the draw depends on the data and the seed alone.

Rows are first put in an order of their own, by a hash of what is in them. So a data set gives the
same samples (and the same folds) whatever order its rows come in, and a row of weight k is drawn
as its k copies would be.
"""

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.frames import is_frame
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.tree._kernels.random import STEP, mix


def own_order(X: Any, y: Any) -> IntArray:
    """Return the rows in the order of a hash of their inputs and their response.

    Examples
    --------
    >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array(["a", "b", "a"])
    >>> ahead, behind = own_order(X, y), own_order(X[::-1], y[::-1])
    >>> bool(np.array_equal(X[ahead], X[::-1][behind]))
    True
    """
    return np.argsort(row_keys(X, y), kind="stable")


def row_keys(X: Any, y: Any) -> Array:
    """Return 64 bits for each row, made from its inputs and its response."""
    key = np.zeros(len(y), dtype=np.uint64)
    for column in _columns(X):
        key = mix((key ^ _bits(column)) + STEP)
    return mix((key ^ _bits(np.asarray(y))) + STEP)


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


def seeds(random_state: Any, count: int) -> list[int]:
    """Return `count` seeds, one per model, from a seed or a generator."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31)
    return np.random.default_rng(random_state).integers(2**31, size=count).tolist()


def seed_parts(model: Any, seed: int) -> Any:
    """Set every `random_state` of an estimator, those of its parts included, and return it."""
    names = sorted(
        name
        for name in model.get_params(deep=True)
        if name == "random_state" or name.endswith("__random_state")
    )
    return model.set_params(**dict(zip(names, seeds(seed, len(names)), strict=True)))


def _columns(X: Any) -> Iterator[Array]:
    if is_frame(X):
        for series in nw.from_native(X, eager_only=True).iter_columns():
            yield series.to_numpy()
    else:
        yield from np.asarray(X).T


def _bits(column: Array) -> Array:
    """Return 64 bits that distinguish the values of a column."""
    if column.dtype.kind in "biuf":
        numbers = column.astype(np.float64) + 0.0  # minus zero is zero
        numbers[np.isnan(numbers)] = np.nan  # there are many ways to write it
        return numbers.view(np.uint64)
    words = [repr(value) if not isinstance(value, str) else value for value in column.tolist()]
    known = {
        word: int.from_bytes(blake2b(word.encode(), digest_size=8).digest()) for word in set(words)
    }
    return np.array([known[word] for word in words], dtype=np.uint64)
