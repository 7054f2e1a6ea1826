r"""Coordinates of blocks in which their penalties are diagonal.

A heavily penalised block has entries of very different size, and the directions that are free of
penalty would drown in rounding. In the eigenvectors of its penalty they stand apart.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.linalg import block_diag

from bottega.additive._terms.blocks import Block
from bottega.core.typing import FloatArray

__all__ = ["Rotation"]

_NULL = 1e-10


class Rotation:
    """Orthogonal coordinates for the coefficients of each block.

    Parameters
    ----------
    blocks : sequence of Block
        In the coordinates they were given in.

    Attributes
    ----------
    blocks : list of Block
        The same in the new ones.
    """

    def __init__(self, blocks: Sequence[Block]) -> None:
        found = [_rotated(block) for block in blocks]
        self.blocks = [block for block, _ in found]
        self.identity = all(Q is None for _, Q in found)
        sizes = [block.size for block in blocks]
        self._Q = [np.eye(s) if Q is None else Q for s, (_, Q) in zip(sizes, found, strict=True)]

    def matrix(self, repeats: int = 1) -> FloatArray:
        """Return the columns of the new coordinates in the given ones, for each predictor."""
        return np.asarray(block_diag(*(self._Q * repeats)), dtype=np.float64)


def _rotated(block: Block) -> tuple[Block, FloatArray | None]:
    penalties = block.penalties if block.shrink is None else (*block.penalties, block.shrink)
    if not penalties or all(np.array_equal(S, np.diag(np.diag(S))) for S in penalties):
        return block, None
    total = sum(S / max(float(np.trace(S)), 1e-300) for S in block.penalties)
    values, Q = np.linalg.eigh(np.asarray(total))
    null = values < _NULL * values[-1]
    if np.count_nonzero(null) > 1:
        Q[:, null] = _settled(Q[:, null])

    def turned(S: FloatArray) -> FloatArray:
        found = Q.T @ S @ Q
        return (found + found.T) / 2

    def clean(S: FloatArray) -> FloatArray:
        found = turned(S)
        found[null] = 0.0
        found[:, null] = 0.0
        return np.diag(np.diag(found)) if len(block.penalties) == 1 else found

    shrink = block.shrink
    if shrink is not None:
        shrink = turned(shrink)
        shrink[~null] = 0.0
        shrink[:, ~null] = 0.0
    transform = Q if block.transform is None else block.transform @ Q
    signs = None if block.signs is None else block.signs @ Q
    new = replace(
        block,
        transform=transform,
        penalties=tuple(clean(S) for S in block.penalties),
        shrink=shrink,
        signs=signs,
    )
    return new, Q


def _settled(N: FloatArray) -> FloatArray:
    """Return the basis of a space, given by some orthonormal N, that does not depend on N.

    Equal eigenvalues leave open which; and one of its columns may have to go, where other terms say
    the same. The places of the coordinates, as seen within the space, have eigenvectors that do
    not: their eigenvalues differ.
    """
    places = np.arange(1.0, len(N) + 1)
    return np.asarray(N @ np.linalg.eigh(N.T @ (places[:, None] * N))[1])
