"""Zeros around an image before it is convolved."""

from bottega.core.errors import ParameterError

__all__ = ["PADDINGS", "sides"]

PADDINGS = ("valid", "same", "full")


def sides(kernel: int, padding: str | int, dilation: int = 1) -> tuple[int, int]:
    """Return how many zeros stand before and after each line of an image.

    Examples
    --------
    >>> [sides(4, padding) for padding in PADDINGS]
    [(0, 0), (1, 2), (3, 3)]
    """
    reach = dilation * (kernel - 1)
    if padding == "valid":
        return 0, 0
    if padding == "same":
        return reach // 2, reach - reach // 2
    if padding == "full":
        return reach, reach
    if isinstance(padding, int) and not isinstance(padding, bool) and padding >= 0:
        return padding, padding
    raise ParameterError(
        f"padding={padding!r} is not allowed; use 'valid', 'same', 'full' or a number of zeros for "
        "each side."
    )
