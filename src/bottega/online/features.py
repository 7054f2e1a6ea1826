"""Named and categorical inputs of a stream as rows of a fixed width, by hashing."""

from collections.abc import Iterable, Mapping
from typing import Any

from scipy import sparse
from sklearn.feature_extraction import FeatureHasher

from bottega.core.errors import InputError

__all__ = ["hashed_rows"]


def hashed_rows(rows: Iterable[Any], n_features: int = 2**18) -> sparse.csr_matrix:
    """Return rows of named values, or of tokens, as a CSR block for the online learners.

    Every name (for text values every ``name=value``) is hashed to one of `n_features` columns,
    with a sign that is hashed too, so that names that fall on one column cancel on average. No
    dictionary is kept: names never seen before need nothing, and memory does not grow.

    Parameters
    ----------
    rows : iterable of dict or of iterables of str
        One entry per row: ``{"price": 2.5, "shop": "north"}``, or ``["some", "words"]``.
    n_features : int
        Columns. More of them mean fewer names that share one; a power of two is best.

    Returns
    -------
    scipy.sparse.csr_matrix
        Of shape (rows, n_features), float64.

    Examples
    --------
    >>> hashed_rows([{"price": 2.5, "shop": "north"}, {"price": 1.0, "shop": "south"}]).shape
    (2, 262144)
    >>> hashed_rows([["red", "red", "blue"]], n_features=16).nnz
    2
    """
    rows = list(rows)
    if not rows:
        raise InputError("There are no rows to hash; give at least one.")
    named = [isinstance(row, Mapping) for row in rows]
    if any(named) and not all(named):
        raise InputError("Some rows are named values and some are tokens; give one kind per block.")
    if any(isinstance(row, str) for row in rows):
        raise InputError("A row is a string; split it into tokens first (a list of words).")
    hasher = FeatureHasher(n_features, input_type="dict" if all(named) else "string")
    return hasher.transform(rows)
