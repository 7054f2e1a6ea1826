"""One pass of the perceptron over a block of rows, dense or CSR.

Symbols
-------
X, y        rows and truths: y is -1 or +1, or for several classes the number of the class
w           weights, see `rows`; one vector, or W with one per class. Changed in place
t, past     rows seen before the present one, and what the mean of w over time needs
losses      1 for each row that was a mistake before it was learned, else 0
total       sum of x.x over the rows, returned to be looked at: it is not finite if any number in
            the block was not, or has overflowed
"""

import numpy as np

from bottega._jit import kernel
from bottega.online._kernels.rows import add, add_csr, product, product_csr


@kernel
def perceptron_dense(X, y, w, intercept, t, past, losses):
    """If y w.x <= 0 then w <- w + y x. Return the largest x.x and the total."""
    longest = total = 0.0
    for i in range(X.shape[0]):
        z, square = product(X, i, w, intercept)
        longest = max(longest, square)
        total += square
        mistake = y[i] * z <= 0.0
        losses[i] = 1.0 if mistake else 0.0
        if mistake:
            add(X, i, y[i], w, intercept, t, past)
        t += 1.0
    return longest, total


@kernel
def perceptron_csr(indptr, indices, data, y, w, intercept, t, past, losses):
    """As `perceptron_dense`, for CSR rows."""
    longest = total = 0.0
    for i in range(len(indptr) - 1):
        z, square = product_csr(indptr, indices, data, i, w, intercept)
        longest = max(longest, square)
        total += square
        mistake = y[i] * z <= 0.0
        losses[i] = 1.0 if mistake else 0.0
        if mistake:
            add_csr(indptr, indices, data, i, y[i], w, intercept, t, past)
        t += 1.0
    return longest, total


@kernel
def perceptron_many_dense(X, y, W, intercept, t, past, losses):
    """Several classes: if a rival scores at least as much, move the two vectors apart by x."""
    longest = total = 0.0
    n_classes = W.shape[0]
    for i in range(X.shape[0]):
        own, square = product(X, i, W[y[i]], intercept)
        longest = max(longest, square)
        total += square
        rival, best = -1, -np.inf
        for k in range(n_classes):
            if k != y[i]:
                z, _ = product(X, i, W[k], intercept)
                if z > best:
                    rival, best = k, z
        mistake = own <= best
        losses[i] = 1.0 if mistake else 0.0
        if mistake:
            add(X, i, 1.0, W[y[i]], intercept, t, past[y[i]])
            add(X, i, -1.0, W[rival], intercept, t, past[rival])
        t += 1.0
    return longest, total


@kernel
def perceptron_many_csr(indptr, indices, data, y, W, intercept, t, past, losses):
    """As `perceptron_many_dense`, for CSR rows."""
    longest = total = 0.0
    n_classes = W.shape[0]
    for i in range(len(indptr) - 1):
        own, square = product_csr(indptr, indices, data, i, W[y[i]], intercept)
        longest = max(longest, square)
        total += square
        rival, best = -1, -np.inf
        for k in range(n_classes):
            if k != y[i]:
                z, _ = product_csr(indptr, indices, data, i, W[k], intercept)
                if z > best:
                    rival, best = k, z
        mistake = own <= best
        losses[i] = 1.0 if mistake else 0.0
        if mistake:
            add_csr(indptr, indices, data, i, 1.0, W[y[i]], intercept, t, past[y[i]])
            add_csr(indptr, indices, data, i, -1.0, W[rival], intercept, t, past[rival])
        t += 1.0
    return longest, total
