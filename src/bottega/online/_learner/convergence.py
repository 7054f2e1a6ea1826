"""The proof of the perceptron's convergence, followed update by update."""

from typing import Any

import numpy as np

from bottega.core.typing import Array, FloatArray
from bottega.online._stream.blocks import dense_rows
from bottega.risk.bounds import perceptron_convergence
from bottega.risk.theory.margin import hard_margin, separable


def convergence_trace(
    X: Any, signs: FloatArray, updated: list[Array], intercept: bool
) -> tuple[dict[str, Array], FloatArray | None, float]:
    r"""Return the certificates of the proof at each update, the separator and the bound.

    After M updates :math:`\lVert w \rVert^2 \le M \max_t \lVert x_t \rVert^2`, for an update adds
    at most that; and :math:`w^\top u \ge M` for any u with :math:`y_t u^\top x_t \ge 1`, for it
    adds at least 1. By Cauchy and Schwarz
    :math:`M \le \lVert u \rVert^2 \max_t \lVert x_t \rVert^2`. The rows `updated` caused
    an update, epoch by epoch; with an intercept the constant 1 is the last column.
    """
    rows = dense_rows(X, intercept)
    order = np.concatenate(updated)
    w = np.cumsum(signs[order, None] * rows[order], axis=0)
    longest = float(np.max(np.sum(rows**2, axis=1)))
    u = hard_margin(rows, signs) if separable(rows, signs) else None
    trace = {
        "epoch": np.repeat(np.arange(1, len(updated) + 1), [len(part) for part in updated]),
        "row": order,
        "norm2": np.sum(w**2, axis=1),
        "norm2_limit": longest * np.arange(1, len(order) + 1),
        "alignment": np.full(len(order), np.nan) if u is None else w @ u,
    }
    bound = np.inf if u is None else float(perceptron_convergence(float(u @ u), longest))
    return trace, u, bound
