"""Drawing rows at random so that the draw depends on the data and the seed alone.

Rows are first put in an order of their own (`bottega.core.row_order`). So a data set gives the same
samples (and the same folds) whatever order its rows come in and whatever units it is measured in,
and a row of weight k is drawn as its k copies would be.
"""

from hashlib import blake2b
from itertools import chain
from numbers import Integral
from typing import Any

import numpy as np

from bottega.core.errors import ParameterError
from bottega.core.row_order import columns_of_table
from bottega.core.seeds import seeds_of
from bottega.core.typing import FloatArray, IntArray


def fingerprint(X: Any, *columns: Any) -> str:
    """Return letters that tell rows, in their own order, from other rows."""
    found = blake2b(digest_size=16)
    for column in chain(*map(columns_of_table, (X, *columns))):
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
