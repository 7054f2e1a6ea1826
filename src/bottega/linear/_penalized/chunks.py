"""Moments of the folds of rows that come in chunks."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from bottega.core.chunks import Moments
from bottega.core.errors import InputError
from bottega.core.folds import FoldDealer
from bottega.linear._penalized.gram import fold_moments

__all__ = ["moments_of_chunks"]


def moments_of_chunks(chunks: Iterable[Any], count: int) -> tuple[list[Moments], float]:
    """Return the moments of ``[X, y]`` of each fold, and the sum of the weights' logarithms."""
    dealer = FoldDealer(count)
    parts = [Moments() for _ in range(count)]
    log_weights, seen = 0.0, 0
    for X, y, w in chunks:
        y = y[:, 0]
        folds = dealer.deal(len(y))
        seen += len(y)
        for total, part in zip(parts, fold_moments(X, y, w, folds, len(parts)), strict=True):
            total.merge(part)
        log_weights += 0.0 if w is None else float(np.log(w).sum())
    if seen < 2:
        raise InputError(
            f"The chunks hold {seen} rows with a positive weight, and a fit needs at least 2: "
            "give more rows."
        )
    return parts, log_weights
