"""Subsets of columns along their size: what the searches share before and after they search."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from bottega.core.errors import InputError, did_you_mean
from bottega.core.typing import FloatArray, IntArray
from bottega.linear._decomposition.rank import independent_columns
from bottega.linear._kernels.subset_best import search_best
from bottega.linear._kernels.subset_walks import COLLINEAR, walk_backward, walk_forward

METHODS = ("best", "forward", "backward", "hybrid")

# From all columns downwards everything is read off an inverse, whose digits are lost by the square
# of this share; upwards only the columns that are in have to be independent.
_COLLINEAR_DOWNWARDS = 1e-6
# A subset is a word of 64 bits in the search; far fewer columns are feasible in bad cases.
MOST_COLUMNS = 60


@dataclass(frozen=True)
class SubsetCurve:
    """The subset found for each of m sizes."""

    sizes: IntArray  # number of columns, one more at each place
    subsets: list[IntArray]  # their columns, in ascending order
    rss: FloatArray
    coef: FloatArray  # (m, p): least squares on the columns given, zero outside the subset
    full_rss: float  # of all columns together
    rank: int  # how many of them are independent
    left_out: IntArray  # columns the search could not use: in the span of earlier ones

    def place(self, size: int) -> int:
        """Return where a size stands; a size that was not reached is that of the nearest end."""
        return int(np.clip(size - self.sizes[0], 0, len(self.sizes) - 1))


def forced_columns(force: Any, names: Any, p: int) -> IntArray:
    """Return the positions of the columns that `force` lists by position or by name."""
    if isinstance(force, str) or not isinstance(force, Sequence | np.ndarray):
        raise InputError(f"force={force!r} is not a list of columns: give a list.")
    known = list(names)
    found = []
    for column in force:
        if isinstance(column, str):
            if column not in known:
                raise InputError(
                    f"force names a column {column!r} that X does not have."
                    f"{did_you_mean(column, known)}"
                )
            found.append(known.index(column))
        elif isinstance(column, int | np.integer) and 0 <= column < p:
            found.append(int(column))
        else:
            raise InputError(
                f"force holds {column!r}; give names of columns or positions from 0 to {p - 1}."
            )
    if len(set(found)) < len(found):
        raise InputError(f"force={force!r} names a column twice; name each once.")
    return np.array(found, dtype=np.intp)


def search_subsets(
    A: FloatArray, y: FloatArray, *, method: str, forced: IntArray, most: int, n: int
) -> SubsetCurve:
    """Return the subsets a method finds, from the forced columns alone up to `most` columns.

    Columns and response are centred where there is an intercept; zero columns are never chosen.
    The forced columns are independent; n is for the criterion of the hybrid walk.
    """
    p, f = A.shape[1], len(forced)
    downwards = method in ("best", "backward")
    order = np.concatenate([forced, np.setdiff1d(np.arange(p), forced)]).astype(np.intp)
    order = order[np.linalg.norm(A[:, order], axis=0) > 0]
    R = np.asarray(np.linalg.qr(np.column_stack([A[:, order], y]), mode="r"))
    k = min(len(R), len(order))
    # From here on the k rows of the QR factor stand for the data.
    inputs, response, outside = R[:k, :-1], R[:k, -1], float(np.sum(R[k:, -1] ** 2))
    independent = independent_columns(inputs, _COLLINEAR_DOWNWARDS if downwards else COLLINEAR)
    rank, left_out = int(independent.sum()), np.sort(order[~independent])
    _, full_rss = _least_squares(inputs, response, outside, [np.flatnonzero(independent)])
    if downwards:
        order, inputs = order[independent], inputs[:, independent]
    # Below the rows of the forced columns stands what these cannot explain.
    M, z = np.ascontiguousarray(inputs[f:, f:]), response[f:].copy()
    most = max(min(most, rank) - f, 0)
    if method == "best":
        chosen, _ = best_subsets(M, z, outside, n, most)
    elif method == "backward":
        C, b = inverse_gram(M, z)
        leaving, _ = walk_backward(C, b, outside)
        chosen = np.zeros((most + 1, M.shape[1]), dtype=np.intp)
        for size in range(1, most + 1):
            chosen[size, leaving[::-1][:size]] = 1
    else:
        chosen, _, _ = walk_forward(M, z, outside, n, most, method == "hybrid")
    places = [
        np.concatenate([np.arange(f), f + np.flatnonzero(row)]).astype(np.intp) for row in chosen
    ]
    coef, rss = _least_squares(inputs, response, outside, places)
    full = np.zeros((len(places), p))
    full[:, order] = coef
    return SubsetCurve(
        sizes=np.array([len(each) for each in places]),
        subsets=[np.sort(order[each]) for each in places],
        rss=rss,
        coef=full,
        full_rss=float(full_rss[0]),
        rank=rank,
        left_out=left_out,
    )


def _least_squares(
    M: FloatArray, z: FloatArray, outside: float, subsets: list[IntArray]
) -> tuple[FloatArray, FloatArray]:
    """Return coefficients and RSS of each subset; nested neighbours share one QR factor."""
    coef, rss = np.zeros((len(subsets), M.shape[1])), np.zeros(len(subsets))
    start = 0
    while start < len(subsets):
        chain = list(subsets[start])
        stop = start + 1
        while stop < len(subsets) and np.all(np.isin(chain, subsets[stop])):
            chain += list(np.setdiff1d(subsets[stop], chain))
            stop += 1
        Q, R = np.linalg.qr(M[:, chain])
        along = Q.T @ z
        beyond = outside + float(np.sum((z - Q @ along) ** 2))
        for i in range(start, stop):
            m = len(subsets[i])
            coef[i, chain[:m]] = solve_triangular(R[:m, :m], along[:m])
            rss[i] = beyond + np.sum(along[m:] ** 2)
        start = stop
    return coef, rss


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
