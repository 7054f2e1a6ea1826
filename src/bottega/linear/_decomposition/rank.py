"""Which columns of a table say something that the columns before them do not."""

from typing import Any

import numpy as np

from bottega.core.errors import DataWarning, warn_caller
from bottega.core.matrix_columns import beyond_encoding
from bottega.core.results import term_names
from bottega.core.row_factor import triangle_of
from bottega.core.typing import BoolArray, FloatArray

# A column is a combination of earlier ones when less than this share of its length is left after
# they are projected out. R's lm draws the line at the same place.
TOLERANCE = 1e-7


def independent_columns(R: FloatArray, tolerance: float = TOLERANCE) -> BoolArray:
    """Return which columns are not combinations of the kept columns before them.

    `R` is the table itself or any matrix with the same ``R'R`` (its QR factor, say).
    """
    if len(R) > R.shape[1]:
        R = triangle_of(R)
    rows, p = R.shape
    floor = tolerance * np.linalg.norm(R, axis=0)
    if rows == p and not np.any(np.tril(R, -1)):
        # In a triangle the diagonal is what is left of each column; one look often settles it.
        kept = np.abs(np.diag(R)) > floor
        if kept.all():
            return np.asarray(kept)
    kept = np.zeros(p, dtype=np.bool_)
    basis = np.zeros((rows, min(rows, p)))
    rank = 0
    for j in range(p):
        if rank == basis.shape[1]:
            break
        found = basis[:, :rank]
        left_over = R[:, j]
        for _ in range(2):  # the second pass takes off what rounding left in the first
            left_over = left_over - found @ (found.T @ left_over)
        length = np.linalg.norm(left_over)
        if length > floor[j]:
            basis[:, rank] = left_over / length
            kept[j] = True
            rank += 1
    return kept


def names_of(estimator: Any, which: BoolArray, most: int = 5) -> str:
    """Return the marked inputs in words, the first few by name."""
    names = term_names(estimator, intercept=False)
    marked = [repr(name) for name, is_one in zip(names, which, strict=True) if is_one]
    more = len(marked) - most
    return ", ".join(marked[:most]) + (f" and {more} more" if more > 0 else "")


def warn_collinear(estimator: Any, collinear: BoolArray, rank: int, n: int) -> None:
    """Warn of columns that get no coefficient because those before them can write them."""
    told = beyond_encoding(collinear)
    if told.any():
        warn_caller(
            f"Collinear inputs: {names_of(estimator, told)} can be written by the columns "
            f"before (rank {rank} of {len(collinear)} columns, {n} rows). They get a zero "
            "coefficient (see aliased_); leave them out, or share the effect among collinear "
            "columns by Ridge.",
            DataWarning,
        )
