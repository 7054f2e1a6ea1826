"""Which coefficients of an additive model the rows and the penalties determine."""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import lapack

from bottega.additive._terms.blocks import Block
from bottega.core.typing import BoolArray, FloatArray

__all__ = ["determined"]

_UNSEEN = 1e-11


def determined(blocks: Sequence[Block], gram: FloatArray, *, shrink: bool) -> BoolArray:
    """Return which coefficients rows or penalties determine; one of two equal columns goes."""
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
    root = 1 / np.sqrt(diagonal[where])
    scaled = total[np.ix_(where, where)] * root[:, None] * root
    _, pivots, rank, _ = lapack.dpstrf(scaled, tol=_UNSEEN, lower=1)
    kept[where[pivots[rank:] - 1]] = False
    return kept
