"""Arrays with and without an axis of responses."""

from typing import Any

from bottega.core.typing import FloatArray

__all__ = ["squeeze"]


def squeeze(found: FloatArray, y_ndim: int) -> Any:
    """Take off the axis of responses when the response was one-dimensional."""
    if y_ndim == 2:
        return found
    return float(found[0]) if found.ndim == 1 else found[0]
