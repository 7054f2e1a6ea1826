"""Convolutions by hand: filters that are not learnt, and pooling, on plain arrays."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.kinds import Choice, Integer
from bottega.core.typing import FloatArray
from bottega.neural._images.padding import sides
from bottega.neural.conv_size import conv_size

__all__ = ["FILTERS", "convolve", "pool"]

_COLUMNS = [[1.0, -1.0, 0.0]] * 3

#: Filters of 3 by 3: the mean of the neighbourhood, and differences of adjacent columns and rows.
FILTERS: Mapping[str, FloatArray] = MappingProxyType(
    {
        "blur": np.full((3, 3), 1 / 9),
        "vertical_edges": np.array(_COLUMNS),
        "horizontal_edges": np.array(_COLUMNS).T.copy(),
    }
)

_POOLS = {
    "max": lambda w: w.max(axis=(-2, -1)),
    "mean": lambda w: w.mean(axis=(-2, -1)),
    "norm": lambda w: np.sqrt(np.sum(w * w, axis=(-2, -1))),
}


def convolve(
    image: Any,
    kernel: Any,
    *,
    padding: str | int = "valid",
    stride: int = 1,
    flip: bool = False,
) -> FloatArray:
    r"""Slide a filter over an image: :math:`S_{ij} = \sum_{mn} I_{i+m, j+n} K_{mn}`.

    Parameters
    ----------
    image : array-like of shape (h, w) or (w,)
        An image, or a series of numbers.
    kernel : array-like of shape (k, l) or (k,), or a name in `FILTERS`
        The filter.
    padding : {"valid", "same", "full"} or int
        Zeros around the image; see `conv_size`.
    stride : int
        Step of the filter.
    flip : bool
        Turn the filter round first: the convolution of mathematics, which does not mind which of
        the two is called the filter. Convolutional networks do not turn it.

    Returns
    -------
    ndarray
        The feature map.

    Examples
    --------
    >>> image = [[1, 1, 1, 0, 0], [0, 1, 1, 1, 0], [0, 0, 1, 1, 1], [0, 0, 1, 1, 0],
    ...          [0, 1, 1, 0, 0]]
    >>> convolve(image, [[1, 0, 1], [0, 1, 0], [1, 0, 1]])
    array([[4., 3., 4.],
           [2., 4., 3.],
           [2., 3., 4.]])
    """
    I = np.asarray(image, dtype=np.float64)  # noqa: E741
    K = np.asarray(FILTERS.get(kernel, kernel) if isinstance(kernel, str) else kernel)
    if isinstance(kernel, str) and kernel not in FILTERS:
        raise InputError(f"kernel={kernel!r} is no filter; there are {', '.join(FILTERS)}.")
    if I.ndim != K.ndim or I.ndim not in (1, 2) or not K.size:
        raise InputError(
            f"image has shape {I.shape} and kernel {K.shape}; give both one axis, or both two."
        )
    for size, k in zip(I.shape, K.shape, strict=True):
        conv_size(size, k, padding=padding, stride=stride)  # refuses what does not fit
    I = np.pad(I, [sides(k, padding) for k in K.shape])  # noqa: E741
    if flip:
        K = np.flip(K)
    windows = np.lib.stride_tricks.sliding_window_view(I, K.shape)
    windows = windows[(slice(None, None, stride),) * I.ndim]
    return np.asarray(np.tensordot(windows, K, axes=K.ndim), dtype=np.float64)


def pool(image: Any, size: int = 2, kind: str = "max", *, stride: int | None = None) -> FloatArray:
    """Return one number for each window of an image.

    Parameters
    ----------
    image : array-like of shape (h, w)
        An image or a feature map.
    size : int
        Height and width of the windows.
    kind : {"max", "mean", "norm"}
        The largest number, the mean, or the root of the sum of squares.
    stride : int, optional
        Step of the windows; `size` by default, so that they do not overlap.

    Returns
    -------
    ndarray
        The pooled map. A small shift of the image changes little in it.

    Examples
    --------
    >>> pool([[1, 2, 0, 0], [3, 4, 0, 0]], kind="norm").round(3)
    array([[5.477, 0.   ]])
    """
    I = np.asarray(image, dtype=np.float64)  # noqa: E741
    Integer(1).check("pool", "size", size)
    Choice(*_POOLS).check("pool", "kind", kind)
    if I.ndim != 2:
        raise InputError(f"image has shape {I.shape}; pooling takes an image of two axes.")
    step = size if stride is None else stride
    for length in I.shape:
        conv_size(length, size, stride=step)
    windows = np.lib.stride_tricks.sliding_window_view(I, (size, size))[::step, ::step]
    return np.asarray(_POOLS[kind](windows))
