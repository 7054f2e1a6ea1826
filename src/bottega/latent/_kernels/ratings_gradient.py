"""Half a sweep of alternating least squares: one ridge regression per row, by a few steps.

The quadratic form of a row is that of `ratings_exact`. Conjugate gradients start at the factors
that the row has, and no step raises the form, so neither does the sweep; a few steps do nearly as
much for the objective as the exact solution, without its matrix of products.

Symbols
-------
block       features of the entries of the row, one beside the other
z, r, p     solution, residual b - Az, direction
"""

import numpy as np

from bottega._jit import kernel, summing_kernel


@kernel
def step_rows(start, column, weight, right, features, gram, penalty, span, steps, found, gain):
    """Improve the rows of ``span`` in ``found``; fill in z'(b + r) as ``gain``."""
    size = features.shape[1]
    dense = False
    for j in range(size):
        dense = dense or gram[j, j] != 0.0
    longest = 0
    for x in range(span[0], span[1]):
        longest = max(longest, start[x + 1] - start[x])
    block = np.empty((longest, size))
    r, p, image, b = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    for x in range(span[0], span[1]):
        first, count = start[x], start[x + 1] - start[x]
        z = found[x]
        gather(first, count, column, right, features, block, b)
        multiply(block, count, weight[first:], gram, penalty, dense, z, image)
        size_of = 0.0
        for j in range(size):
            r[j] = b[j] - image[j]
            p[j] = r[j]
            size_of += r[j] * r[j]
        least = 1e-20 * size_of
        for _ in range(steps):
            if not size_of > least:
                break
            multiply(block, count, weight[first:], gram, penalty, dense, p, image)
            curvature = inner(p, image)
            if not curvature > 0.0:
                break
            length = size_of / curvature
            before, size_of = size_of, 0.0
            for j in range(size):
                z[j] += length * p[j]
                r[j] -= length * image[j]
                size_of += r[j] * r[j]
            for j in range(size):
                p[j] = r[j] + size_of / before * p[j]
        gain[x] = inner(z, b) + inner(z, r)


@summing_kernel
def gather(first, count, column, right, features, block, b):
    """Copy the features of the entries, and sum them up as the right side b."""
    size = len(b)
    for j in range(size):
        b[j] = 0.0
    for e in range(count):
        f, share = features[column[first + e]], right[first + e]
        for j in range(size):
            block[e, j] = f[j]
            b[j] += share * f[j]


@summing_kernel
def multiply(block, count, weight, gram, penalty, dense, z, image):
    """Fill in the product of the matrix of the quadratic form with z."""
    size = len(z)
    for j in range(size):
        image[j] = penalty[j] * z[j]
    if dense:
        for j in range(size):
            for k in range(size):
                image[k] += gram[j, k] * z[j]
    fours = count - count % 4
    for e in range(0, fours, 4):  # four at a time: z and the image are then read once for all
        f0, f1, f2, f3 = block[e], block[e + 1], block[e + 2], block[e + 3]
        t0 = t1 = t2 = t3 = 0.0
        for j in range(size):
            t0 += f0[j] * z[j]
            t1 += f1[j] * z[j]
            t2 += f2[j] * z[j]
            t3 += f3[j] * z[j]
        t0, t1, t2, t3 = t0 * weight[e], t1 * weight[e + 1], t2 * weight[e + 2], t3 * weight[e + 3]
        for j in range(size):
            image[j] += t0 * f0[j] + t1 * f1[j] + t2 * f2[j] + t3 * f3[j]
    for e in range(fours, count):
        total = 0.0
        for j in range(size):
            total += block[e, j] * z[j]
        total *= weight[e]
        for j in range(size):
            image[j] += total * block[e, j]


@summing_kernel
def inner(x, y):
    """Return x'y."""
    total = 0.0
    for j in range(len(x)):
        total += x[j] * y[j]
    return total
