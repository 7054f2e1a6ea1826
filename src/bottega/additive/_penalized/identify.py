"""Which coefficients of an additive model the rows and the penalties determine."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import lapack

from bottega.additive._terms.blocks import Block
from bottega.core.errors import InputError
from bottega.core.families import Family
from bottega.core.typing import BoolArray, FloatArray

__all__ = ["check_rows", "determined"]

_UNSEEN = 1e-11
_LAST = 0.9  # what the last column counts where the first counts 1
_MOST_TRIALS = 1e14  # a row


def determined(blocks: Sequence[Block], gram: FloatArray, *, shrink: bool) -> BoolArray:
    """Return which coefficients rows or penalties determine; of equal columns the first stays.

    Columns are taken one after the other, each time the one that those taken explain least. Columns
    of unit length all tie at the start, and orthogonal ones remain so: each counts a little less
    than the one before, or rounding would say which terms lose a column.
    """
    total = gram / max(float(np.max(np.diag(gram))), 1e-300)
    size = np.diag(total).copy()
    start = 0
    for block in blocks:
        here = slice(start, start + block.size)
        start += block.size
        both = () if block.shrink is None or not shrink else (block.shrink,)
        for part in (*block.penalties, *both):
            largest = float(np.max(np.diag(part), initial=0.0))
            if largest > 0:
                share = max(float(np.mean(size[here])), 1e-8)
                total[here, here] += part * (share / largest)
    diagonal = np.diag(total)
    kept = diagonal > 1e-14
    where = np.flatnonzero(kept)
    root = np.linspace(1.0, _LAST, len(where)) / np.sqrt(diagonal[where])
    scaled = total[np.ix_(where, where)] * root[:, None] * root
    _, pivots, rank, _ = lapack.dpstrf(scaled, tol=_UNSEEN, lower=1)
    kept[where[pivots[rank:] - 1]] = False
    return kept


def check_rows(family: Family, rows: Any, free: int) -> None:
    """Raise where the rows are too few for the coefficients without a penalty, or too heavy.

    Parameters
    ----------
    family : Family
        Distribution of the responses.
    rows : problem
        Its number of rows, counted and not, and the sum of weights.
    free : int
        Coefficients without a penalty.
    """
    if family.known_scale and rows.weight > _MOST_TRIALS * rows.rows:
        raise InputError(
            f"sample_weight is {rows.weight / rows.rows:.3g} on average, and counts trials for "
            f"family={family.name!r}: so many cannot be told from certainty. Rescale it to lie "
            "about 1."
        )
    if not family.known_scale and rows.n <= free:
        raise InputError(
            f"The model has {free} coefficients without a penalty and only {rows.n:g} rows; leave "
            "out terms, or give more rows."
        )
