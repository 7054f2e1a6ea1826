"""Numbers of rounds, or epochs, at which a path looks at a model that grows."""

import numpy as np

__all__ = ["round_numbers"]

_RATIO = 1.15  # of the numbers of rounds on the path


def round_numbers(most: int) -> list[int]:
    """Return the numbers of rounds on a path, denser where they are few.

    Examples
    --------
    >>> round_numbers(20)
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 14, 16, 19, 20]
    """
    steps = int(np.ceil(np.log(max(most, 2)) / np.log(_RATIO))) + 1
    found = np.unique(np.round(_RATIO ** np.arange(steps)).astype(np.int64))
    return [*found[found < most].tolist(), most]
