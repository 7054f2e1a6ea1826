r"""Gabriel's cross-validation: blocks of rows and columns held out together.

A row that is held out alone is no judge of components, since its own values are what it is
projected by: the error falls to the last component. So some columns of the held-out rows are hidden
too, and predicted from the others. With X cut into

.. math:: \begin{pmatrix} A & B \\ C & D \end{pmatrix},

A held out, the rank-k prediction of A is :math:`B D_k^+ C`: the hidden columns are regressed, on
the other rows, on the first k components of the other columns.
"""

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray, IntArray
from bottega.latent._decomposition.leading import leading_eigenvectors
from bottega.latent._pca.centred import CentredRows

__all__ = ["block_losses", "column_blocks"]

_LOST = 1e-11  # of the largest eigenvalue: directions below it are rounding


def column_blocks(p: int, count: int) -> list[IntArray]:
    """Return blocks of columns, shuffled once and for all, each hidden once.

    Examples
    --------
    >>> [block.tolist() for block in column_blocks(5, 2)]
    [[1, 2, 3], [0, 4]]
    """
    if p < 2:
        raise InputError(
            "Choosing n_components by blocks of rows and columns needs at least 2 columns; found "
            f"{p}. Give n_components, or select='share'."
        )
    order = np.random.default_rng(0).permutation(p)
    return [np.sort(order[start::count]) for start in range(count)]


def block_losses(
    X: FloatArray,
    w: FloatArray | None,
    train: IntArray,
    test: IntArray,
    blocks: list[IntArray],
    most: int,
    standardize: bool,
) -> FloatArray:
    """Return the squared error of the hidden cells of each test row for 0, ..., `most` components.

    Centre and scale are those of the training rows. Where fewer directions are left than a number
    of components asks for, the losses are NaN.

    Returns
    -------
    ndarray of shape (len(test), most + 1)
        Summed over the columns, each of which is hidden once.
    """
    weight = None if w is None else w[train]
    frame = CentredRows.about_mean(X[train], weight, standardize)
    A = frame.dense()
    T = (X[test] - frame.mean) / frame.scale
    n, p = A.shape
    wide = n < p - max(len(block) for block in blocks)
    products = A @ A.T if wide else A.T @ A
    cross = T @ A.T if wide else T
    losses = np.zeros((len(test), most + 1))
    for hidden in blocks:
        seen = np.setdiff1d(np.arange(p), hidden)
        if not wide:
            lam, V = leading_eigenvectors(products[np.ix_(seen, seen)])
            rank = int(np.count_nonzero(lam > _LOST * max(lam[0], 0.0)))
            scores = T[:, seen] @ V[:, :rank]
            slopes = (V[:, :rank].T @ products[np.ix_(seen, hidden)]) / lam[:rank, None]
        else:
            lam, U = leading_eigenvectors(products - A[:, hidden] @ A[:, hidden].T)
            rank = int(np.count_nonzero(lam > _LOST * max(lam[0], 0.0)))
            U = U[:, :rank]
            scores = (cross - T[:, hidden] @ A[:, hidden].T) @ U
            slopes = (U.T @ A[:, hidden]) / lam[:rank, None]
        left = T[:, hidden].copy()
        losses[:, 0] += np.einsum("ij,ij->i", left, left)
        for k in range(1, most + 1):
            if k > rank:
                losses[:, k:] = np.nan
                break
            left -= np.outer(scores[:, k - 1], slopes[k - 1])
            losses[:, k] += np.einsum("ij,ij->i", left, left)
    return losses
