"""The best subset of every size, exactly: branch and bound from all columns downwards."""

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray, IntArray
from bottega.linear._kernels.subset_best import search_best
from bottega.linear._kernels.subset_walks import walk_backward, walk_forward

# A subset is a word of 64 bits in the search; far fewer columns are feasible in bad cases.
MOST_COLUMNS = 60


def inverse_gram(M: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return (M'M)^-1 and the coefficients of all columns, from the QR factor of M."""
    Q, R = np.linalg.qr(M)
    inverse = np.linalg.solve(R, np.eye(len(R)))
    return inverse @ inverse.T, inverse @ (Q.T @ z)


def best_subsets(
    M: FloatArray, z: FloatArray, outside: float, n: int, most: int
) -> tuple[IntArray, int]:
    """Return the best subset of each size up to `most`, one row of 0/1 per size, and nodes met.

    The columns of M are independent; `outside` is the part of RSS that none can explain. The hybrid
    and the backward walk give the first bounds: the better those, the less is searched.
    """
    p = M.shape[1]
    if p > MOST_COLUMNS:
        raise InputError(
            f"method='best' searches among 2^p subsets, and {p} columns are more than the "
            f"{MOST_COLUMNS} it can take: use method='forward' or 'hybrid', or leave columns out."
        )
    chosen, rho, reached = walk_forward(M, z, outside, n, p, True)
    C, b = inverse_gram(M, z)
    full = outside + max(float(np.sum((z - M @ b) ** 2)), 0.0)
    order, rho_back = walk_backward(C, b, full)
    bits = np.left_shift(np.int64(1), np.arange(p, dtype=np.int64))
    least, masks = np.full(p + 1, np.inf), np.full(p + 1, bits.sum())
    least[: reached + 1], masks[: reached + 1] = rho, chosen @ bits
    left_in = bits.sum() - np.concatenate([[0], np.cumsum(bits[order])])[::-1]
    better = rho_back < least
    least[better], masks[better] = rho_back[better], left_in[better]
    nodes = 0
    if p > 1:
        # Rounding blurs what an inverse tells by its condition: the largest variance inflation.
        inflation = np.max(np.diag(C) * np.einsum("ij,ij->j", M, M))
        margin = 10 * np.finfo(np.float64).eps * float(inflation)
        nodes = search_best(C, b, full, least, masks, 1, min(most, p - 1), margin)
    subsets = (masks[: most + 1, None] & bits[None, :]) != 0
    return subsets.astype(np.intp), nodes
