"""Tables with missing values (NaN): sums of their columns, and the tables that BLAS takes."""

import numpy as np

from bottega._jit import kernel

__all__ = ["column_sums", "fill"]


@kernel
def column_sums(X, weight, shift):
    """Return the weighted sum of each column less `shift`, and the weight of its observed entries.

    A weight for each row, or none at all for ones.
    """
    n, p = X.shape
    found = np.zeros((2, p))
    for i in range(n):
        w = weight[i] if len(weight) else 1.0
        for j in range(p):
            x = X[i, j] - shift[j]
            found[0, j] += w * x if x == x else 0.0
            found[1, j] += w if x == x else 0.0
    return found


@kernel
def fill(X, center, keys, filled, mask, facts, code):
    """Put X less the centre into `filled`, zero where missing, and what is observed into `mask`.

    `facts` gets the squared size of each row and the number of its observed entries, `code` the
    sum of the `keys` of its missing columns, which names the pattern.
    """
    n, p = X.shape
    for i in range(n):
        size = 0.0
        count = 0.0
        for j in range(p):
            x = X[i, j] - center[j]
            seen = 1.0 if x == x else 0.0
            x = x if x == x else 0.0
            filled[i, j] = x
            mask[i, j] = seen
            size += x * x
            count += seen
        total = np.uint64(0)
        for j in range(p):
            total += keys[j] if mask[i, j] == 0.0 else np.uint64(0)
        facts[0, i] = size
        facts[1, i] = count
        code[i] = total
