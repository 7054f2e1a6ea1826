"""From values to bins: one byte per value, the codes of a row side by side.

``cuts[j]`` are the cut points of column j in ascending order, filled up with infinity to a length
of 255; the bin of x is the number of cut points below x, so ``x <= cuts[j, b]`` means
``code <= b``. A category looks its bin up in ``level_bin[level_start[j]:level_start[j + 1]]``.
"""

import numpy as np

from bottega._jit import kernel

MISSING = 255


@kernel
def encode_column(x, cuts, categorical, level_bin, codes, j):
    """Write the bins of the values x of column j into codes[:, j]."""
    for i in range(x.shape[0]):
        value = x[i]
        if np.isnan(value):
            codes[i, j] = MISSING
        elif categorical:
            level = int(value)
            codes[i, j] = level_bin[level] if 0 <= level < level_bin.shape[0] else MISSING
        else:
            # Eight halvings of 255 cut points, without a branch to mispredict.
            below = 0
            step = 128
            while step > 0:
                below += step * int(cuts[below + step - 1] < value)
                step >>= 1
            codes[i, j] = below
