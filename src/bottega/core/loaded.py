"""Whether the parts of a model that was read from a file fit together: a file may hold anything.

Kernels follow the arrays of a model without looking whether they fit. A fit makes sure of that; a
file that was edited does not. A part with a method ``check_loaded`` is asked when it is loaded.
"""

from typing import Any

import numpy as np

from bottega.core.errors import ModelFileError

__all__ = ["insist", "insist_on_length", "is_array"]


def insist(holds: Any, what: str) -> None:
    """Raise unless all of `holds` is true; `what` is said to be wrong.

    Examples
    --------
    >>> insist(2 > 3, "more classes than rows")
    Traceback (most recent call last):
        ...
    bottega.core.errors.ModelFileError: The model in the file is damaged: more classes than rows. \
Use the file as it was saved, or save the model anew.
    """
    if not np.all(holds):
        raise ModelFileError(
            f"The model in the file is damaged: {what}. Use the file as it was saved, or save the "
            "model anew."
        )


def is_array(found: Any, dtype: Any, shape: tuple[int | None, ...]) -> bool:
    """Return True for an array of this type and shape; None stands for any length."""
    return (
        isinstance(found, np.ndarray)
        and found.dtype == dtype
        and found.ndim == len(shape)
        and all(want in (None, got) for want, got in zip(shape, found.shape, strict=True))
    )


def insist_on_length(part: Any, length: int, *names: str) -> None:
    """Raise unless the named attributes of a part are arrays of one length."""
    for name in names:
        found = getattr(part, name)
        fits = isinstance(found, np.ndarray) and found.shape[:1] == (length,)
        insist(fits, f"{name} of {type(part).__name__} does not have {length} entries")
