"""A row of a block, dense or CSR: its product with the weights, and adding it to them.

With an intercept the constant 1 is the last input, so the weights w are one longer than a row.
`past` is for the mean of w over time: the sum of t times the change of w made after t rows, so that
the mean of w after each of T rows is ``w - past / T``. It is empty where no mean is wanted.
"""

from bottega._jit import kernel, summing_kernel


@kernel
def all_finite(values):
    """Return True if no number is infinite or missing: x * 0 is 0 only for finite x."""
    a = b = c = d = 0.0
    n = len(values)
    for i in range(0, n - 3, 4):
        a += values[i] * 0.0
        b += values[i + 1] * 0.0
        c += values[i + 2] * 0.0
        d += values[i + 3] * 0.0
    for i in range(n - n % 4, n):
        a += values[i] * 0.0
    return a + b + c + d == 0.0


@summing_kernel
def product(X, i, w, intercept):
    """Return w.x and x.x of a dense row."""
    p = X.shape[1]
    z = 0.0
    square = 0.0
    for j in range(p):
        z += w[j] * X[i, j]
        square += X[i, j] * X[i, j]
    if intercept:
        z += w[p]
        square += 1.0
    return z, square


@summing_kernel
def product_ahead(X, i, w, intercept):
    """Return w.x and x.x of the row after a dense row, and the product of both rows."""
    p = X.shape[1]
    z = 0.0
    square = 0.0
    both = 0.0
    for j in range(p):
        z += w[j] * X[i + 1, j]
        square += X[i + 1, j] * X[i + 1, j]
        both += X[i, j] * X[i + 1, j]
    if intercept:
        z += w[p]
        square += 1.0
        both += 1.0
    return z, square, both


@kernel
def product_csr(indptr, indices, data, i, w, intercept):
    """Return w.x and x.x of a CSR row."""
    z = 0.0
    square = 0.0
    for k in range(indptr[i], indptr[i + 1]):
        z += w[indices[k]] * data[k]
        square += data[k] * data[k]
    if intercept:
        z += w[len(w) - 1]
        square += 1.0
    return z, square


@kernel
def add(X, i, factor, w, intercept, t, past):
    """Add a multiple of a dense row to the weights."""
    p = X.shape[1]
    for j in range(p):
        w[j] += factor * X[i, j]
    if intercept:
        w[p] += factor
    if len(past):
        for j in range(p):
            past[j] += t * factor * X[i, j]
        if intercept:
            past[p] += t * factor


@kernel
def add_csr(indptr, indices, data, i, factor, w, intercept, t, past):
    """Add a multiple of a CSR row to the weights."""
    last = len(w) - 1
    for k in range(indptr[i], indptr[i + 1]):
        w[indices[k]] += factor * data[k]
    if intercept:
        w[last] += factor
    if len(past):
        for k in range(indptr[i], indptr[i + 1]):
            past[indices[k]] += t * factor * data[k]
        if intercept:
            past[last] += t * factor
