"""Kernels over blocks of points, in threads where that pays."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.parallel import available_cores, in_threads
from bottega.core.typing import BoolArray, FloatArray

_THREADS_FROM = 2_000_000  # pairs of a point and a row
_BLOCKS = 4  # per core


def in_blocks(points: int, pairs: float, block: Callable[[slice], Any]) -> list[Any]:
    """Run a kernel over blocks of points and join each of the arrays that it returns.

    `pairs` is the number of pairs of a point and a row that the kernel visits in all.
    """
    cores = available_cores() if pairs > _THREADS_FROM else 1
    edges = np.linspace(0, points, _BLOCKS * cores + 1 if cores > 1 else 2).astype(int)
    parts = [slice(a, b) for a, b in pairwise(edges)]
    found = [block(part) for part in parts] if cores == 1 else in_threads(block, parts)
    return [np.concatenate(each) for each in zip(*found, strict=True)]


def writable(*arrays: FloatArray) -> list[FloatArray]:
    """Return arrays that may be written to: kernels would be compiled anew for others.

    A model that was read from a memory map is made of such others.
    """
    return [array if array.flags.writeable else array.copy() for array in arrays]


def no_boxes(points: int) -> tuple[FloatArray, FloatArray, BoolArray, float]:
    """Return what tells the kernel of one input that no point has its sums yet."""
    return np.empty((0, 8)), np.empty((0, 8)), np.zeros(points, dtype=bool), 0.0


def check_found(found: FloatArray) -> None:
    """Refuse what is not a number: a window whose rows floating point cannot tell apart."""
    if not np.all(np.isfinite(found)):
        raise InputError(
            "Some windows have no rows, or rows so near to one another for their distance from the "
            "others that floating point cannot tell them apart; use a wider window, or rescale or "
            "round the inputs."
        )
