"""The kernel perceptron within a block of rows.

Symbols
-------
K        kernels of the rows of the block with one another
F        scores of the rows of the block, one column per vector; changed with every update
y        signs -1, +1, or for several classes the number of the class
updated  for each update the row of the block; `plus` and `minus` the vectors it changed
"""

import numpy as np

from bottega._jit import kernel


@kernel
def learn_two(K, F, y, updated):
    """Update where y f <= 0; return the number of updates."""
    count = 0
    for i in range(len(y)):
        if y[i] * F[i, 0] <= 0.0:
            updated[count] = i
            count += 1
            for j in range(len(y)):
                F[j, 0] += y[i] * K[j, i]
    return count


@kernel
def learn_many(K, F, y, updated, rivals):
    """Update where a rival scores at least as much as the true class."""
    count = 0
    for i in range(len(y)):
        rival, best = -1, -np.inf
        for k in range(F.shape[1]):
            if k != y[i] and F[i, k] > best:
                rival, best = k, F[i, k]
        if F[i, y[i]] <= best:
            updated[count], rivals[count] = i, rival
            count += 1
            for j in range(len(y)):
                F[j, y[i]] += K[j, i]
                F[j, rival] -= K[j, i]
    return count
