"""Where a factorisation without negative numbers starts."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.sparse import is_sparse
from bottega.core.typing import FloatArray
from bottega.latent._decomposition.leading import rough_singular_vectors
from bottega.latent._nonnegative.table import NonnegativeTable

__all__ = ["start_from"]


def start_from(
    table: NonnegativeTable, k: int, init: Any, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Return the two factors to start from, that of the columns with a row per column.

    Parameters
    ----------
    table : NonnegativeTable
        The table.
    k : int
        How many components.
    init : None, str or pair of arrays
        As in `NonnegativeFactorization`.
    seed : int
        Of what is random.
    """
    n, p = table.shape
    if init is not None and not isinstance(init, str):
        return _given(table, k, init)
    word = init or ("nndsvda" if k <= min(n, p) else "random")
    rng = np.random.default_rng(seed)
    mean = float(table.rows.matrix.sum()) / max(table.observed, 1)
    if word == "random":
        size = np.sqrt(mean / k)
        return size * np.abs(rng.normal(size=(n, k))), size * np.abs(rng.normal(size=(p, k)))
    if k > min(n, p):
        raise InputError(
            f"init={word!r} starts from at most min(n, p) = {min(n, p)} singular vectors, and "
            f"n_components={k}; use init='random'."
        )
    U, size, V = _decomposition(table, k, seed)
    W, Z = _positive_parts(U, size, V)
    if word in ("nndsvda", "nndsvdar"):
        for F in (W, Z):
            empty, mean = F == 0, F.mean()  # of the factor: so units of the table do not matter
            share = 1.0 if word == "nndsvda" else 0.01 * np.abs(rng.normal(size=int(empty.sum())))
            F[empty] = mean * share
    return W, Z


def _given(table: NonnegativeTable, k: int, init: Any) -> tuple[FloatArray, FloatArray]:
    try:
        W, H = (np.array(each, dtype=np.float64) for each in init)
    except (TypeError, ValueError) as error:
        raise InputError(
            "init is a word or a pair of arrays (W, H), the codes of the rows and the components."
        ) from error
    n, p = table.shape
    if W.shape != (n, k) or H.shape != (k, p):
        raise InputError(
            f"init has factors of shapes {W.shape} and {H.shape}; X and n_components={k} need "
            f"({n}, {k}) and ({k}, {p})."
        )
    for F in (W, H):
        if not np.all(np.isfinite(F)) or F.min() < 0:
            raise InputError("The factors in init must be finite and not negative.")
    part = np.sqrt(table.scale)
    return W / part, np.ascontiguousarray(H.T) / part


def _decomposition(table: NonnegativeTable, k: int, seed: int) -> tuple[Any, Any, Any]:
    """Return the leading singular vectors of the table, missing entries as means of columns."""
    X = table.rows.matrix
    n, p = table.shape
    if not table.rows.complete and not is_sparse(X):
        lost = np.zeros((n, p), dtype=bool)
        lost[np.repeat(np.arange(n), np.diff(table.rows.starts)), table.rows.gaps] = True
        means = X.sum(axis=0) / np.maximum((~lost).sum(axis=0), 1)
        X = np.where(lost, means, X)
    U, size, Vt = rough_singular_vectors(X, k, seed=seed)
    return U, size, Vt.T


def _positive_parts(U: Any, size: Any, V: Any) -> tuple[FloatArray, FloatArray]:
    """Return, of each singular pair, the larger of its positive and its negative parts."""
    W, Z = np.zeros(U.shape), np.zeros(V.shape)
    for j in range(len(size)):
        parts = []
        for sign in (1.0, -1.0):
            u, v = np.maximum(sign * U[:, j], 0.0), np.maximum(sign * V[:, j], 0.0)
            a, b = float(np.linalg.norm(u)), float(np.linalg.norm(v))
            parts.append((a * b, u, v, a, b))
        # A tie goes to the positive parts.
        weight, u, v, a, b = parts[0] if parts[0][0] >= parts[1][0] * (1 - 1e-12) else parts[1]
        if weight > 0:
            root = np.sqrt(size[j] * weight)
            W[:, j], Z[:, j] = root * u / a, root * v / b
    tiny = 1e-6  # entries that are rounding
    W[tiny * W.max(initial=0.0) > W], Z[tiny * Z.max(initial=0.0) > Z] = 0.0, 0.0
    return W, Z
