"""One matrix of what the input columns become."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.data._encode.layout import IN_WORDS, Layout

__all__ = ["side_by_side"]


def side_by_side(
    layout: Layout,
    widths: Sequence[int],
    numeric: FloatArray,
    words: Iterable[Any],
    marks: Any = None,
) -> FloatArray:
    """Return the columns of all inputs in the order of these, then the marks of missing values.

    Parameters
    ----------
    layout : Layout
        The input columns.
    widths : sequence of int
        How many columns each of them becomes.
    numeric : ndarray of shape (n, q)
        The columns of numbers.
    words : iterable of ndarray
        For each input in words its numbers, (n, width), or which of its columns has the one in
        each row, (n,): -1 where none has.
    marks : ndarray of shape (n, m), optional
        What comes last.

    Examples
    --------
    >>> layout = Layout(["colour", "size"], ["category", "number"], in_parts=False)
    >>> side_by_side(layout, [2, 1], np.array([[7.0], [8.0]]), [np.array([1, -1])])
    array([[0., 1., 7.],
           [0., 0., 8.]])
    """
    starts = np.cumsum([0, *widths])
    places = [list(range(s, s + w)) for s, w in zip(starts, widths, strict=False)]
    out = np.zeros((len(numeric), starts[-1] + (0 if marks is None else marks.shape[1])))
    out[:, layout.numeric(places)] = numeric
    first = [s for s, kind in zip(starts, layout.kinds, strict=False) if kind in IN_WORDS]
    for start, found in zip(first, words, strict=True):
        if found.ndim == 2:
            out[:, start : start + found.shape[1]] = found
        else:
            seen = np.flatnonzero(found >= 0)
            out[seen, start + found[seen]] = 1.0
    if marks is not None:
        out[:, starts[-1] :] = marks
    return out
