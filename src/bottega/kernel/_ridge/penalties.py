"""Penalties of a path of kernel ridge regressions, and their errors."""

import numpy as np

from bottega.core.rows import Rows
from bottega.core.typing import FloatArray

__all__ = ["default_alphas", "evened"]


def evened(error: FloatArray) -> FloatArray:
    """Return errors of which those that differ by rounding alone are equal: the simplest wins.

    Of two rows each is predicted by the other one, whatever the penalty.
    """
    size = float(np.max(error, initial=0.0, where=np.isfinite(error)))
    return np.round(error / size, 13) * size if size > 0 else error


def default_alphas(lam: FloatArray, rows: Rows, count: int) -> FloatArray:
    """Return penalties from one that flattens every direction to one that flattens hardly any.

    The ends are rounded to a hundredth of a decade, so that the last digits of eigenvalues do not
    matter; they are those for weights of mean one.
    """
    unit = rows.total_weight / len(rows)
    top = lam[-1] / unit if len(lam) and lam[-1] > 0 else 1.0
    bottom = max(1e-2 * lam[lam > 1e-12 * lam[-1]].min(initial=np.inf) / unit, 1e-9 * top)
    first, last = np.log10([1e2 * top, min(bottom, top)]).round(2)
    return np.asarray(unit * np.logspace(first, last, count))
