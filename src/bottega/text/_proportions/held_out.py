"""Folds in which every tagged text is held out, and every class is learnt from."""

from typing import Any

import numpy as np

from bottega.core.errors import ParameterError
from bottega.core.folds import Fold, folds_that_count
from bottega.core.rows import Rows
from bottega.core.typing import FloatArray

__all__ = ["held_out"]


def held_out(rows: Rows, cv: Any) -> tuple[list[Fold], FloatArray]:
    """Return the folds, and how often each row is held out: at least once."""
    cv = min(cv, len(rows)) if isinstance(cv, int) else cv
    folds = folds_that_count(cv, rows, strata=rows.y)
    held = np.concatenate([test for _, test in folds])
    times = np.bincount(held, minlength=len(rows)).astype(np.float64)
    if not np.all(times):
        raise ParameterError(
            f"cv={cv!r} holds out {np.count_nonzero(times)} of {len(rows)} tagged texts; give "
            "folds that hold out each of them."
        )
    K = int(rows.y.max()) + 1
    for train, _ in folds:
        if len(np.unique(rows.y[train])) < K:
            raise ParameterError(
                f"cv={cv!r}: in a fold no text of one of the {K} classes is left to learn from; "
                "give other folds, or tag more texts."
            )
    return folds, times
