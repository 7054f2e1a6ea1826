"""Dual coordinate descent for linear support vector machines, dense or CSR rows.

Symbols
-------
X, y     rows and signs -1, +1; places in CSR rows are unsigned: no sign is looked at
constant value of one more column, whose weight is the last of w; zero where there is none
upper    largest value of each dual variable (infinite for the squared hinge)
ridge    what is added to the diagonal of the dual (zero for the hinge)
a, w     dual variables, and w = sum of a y x; both changed in place
square   x.x of each row
G        derivative of the dual along one variable, projected on what its limits admit
"""

import numpy as np

from bottega._jit import kernel, summing_kernel


@summing_kernel
def dot(X, i, w, constant):
    """Return the inner product of a row and the constant with w."""
    total = constant * w[len(w) - 1]
    for j in range(X.shape[1]):
        total += X[i, j] * w[j]
    return total


@kernel
def dot_csr(indptr, indices, data, i, w, constant):
    """Return the inner product of a CSR row and the constant with w.

    In four sums by hand: a compiler that may choose gathers the entries of w, which takes longer.
    """
    a, b, c, d = constant * w[len(w) - 1], 0.0, 0.0, 0.0
    start, end = indptr[i], indptr[i + 1]
    whole = end - (end - start) % 4
    for k in range(start, whole, 4):
        a += data[k] * w[indices[k]]
        b += data[k + 1] * w[indices[k + 1]]
        c += data[k + 2] * w[indices[k + 2]]
        d += data[k + 3] * w[indices[k + 3]]
    for k in range(whole, end):
        a += data[k] * w[indices[k]]
    return (a + b) + (c + d)


@kernel
def draw(state, most):
    """Return a whole number below `most`, and move the state of the generator on."""
    state[0] = state[0] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return np.int64(((state[0] >> np.uint64(32)) * np.uint64(most)) >> np.uint64(32))


@kernel
def visit(G, a, upper, high, low):
    """Return the projected derivative, and whether the variable rests at a limit."""
    if a <= 0.0:
        if high < G:
            return 0.0, True
        return min(G, 0.0), False
    if a >= upper:
        if low > G:
            return 0.0, True
        return max(G, 0.0), False
    return G, False


@kernel
def dual_dense(X, y, constant, upper, ridge, square, a, w, tol, max_iter, state):
    """Go through the rows in random order until no derivative exceeds the tolerance."""
    n = X.shape[0]
    rows = np.arange(n)
    active = n
    high, low = np.inf, -np.inf
    for step in range(max_iter):
        top, bottom = -np.inf, np.inf
        for s in range(active):
            t = s + draw(state, active - s)
            rows[s], rows[t] = rows[t], rows[s]
        s = 0
        while s < active:
            i = rows[s]
            G = y[i] * dot(X, i, w, constant) - 1.0 + ridge[i] * a[i]
            projected, rests = visit(G, a[i], upper[i], high, low)
            if rests:
                active -= 1
                rows[s], rows[active] = rows[active], rows[s]
                continue
            s += 1
            top, bottom = max(top, projected), min(bottom, projected)
            if abs(projected) > 1e-12:
                before = a[i]
                a[i] = min(max(before - G / (square[i] + ridge[i]), 0.0), upper[i])
                change = (a[i] - before) * y[i]
                for j in range(X.shape[1]):
                    w[j] += change * X[i, j]
                w[len(w) - 1] += change * constant
        if top - bottom <= tol:
            if active == n:
                return step + 1, True
            active, high, low = n, np.inf, -np.inf  # look at the rows that rest once more
            continue
        high = top if top > 0.0 else np.inf
        low = bottom if bottom < 0.0 else -np.inf
    return max_iter, False


@kernel
def dual_csr(indptr, indices, data, y, constant, upper, ridge, square, a, w, tol, max_iter, state):
    """As `dual_dense`, for CSR rows."""
    n = len(indptr) - 1
    rows = np.arange(n)
    active = n
    high, low = np.inf, -np.inf
    for step in range(max_iter):
        top, bottom = -np.inf, np.inf
        for s in range(active):
            t = s + draw(state, active - s)
            rows[s], rows[t] = rows[t], rows[s]
        s = 0
        while s < active:
            i = rows[s]
            G = y[i] * dot_csr(indptr, indices, data, i, w, constant) - 1.0 + ridge[i] * a[i]
            projected, rests = visit(G, a[i], upper[i], high, low)
            if rests:
                active -= 1
                rows[s], rows[active] = rows[active], rows[s]
                continue
            s += 1
            top, bottom = max(top, projected), min(bottom, projected)
            if abs(projected) > 1e-12:
                before = a[i]
                a[i] = min(max(before - G / (square[i] + ridge[i]), 0.0), upper[i])
                change = (a[i] - before) * y[i]
                for k in range(indptr[i], indptr[i + 1]):
                    w[indices[k]] += change * data[k]
                w[len(w) - 1] += change * constant
        if top - bottom <= tol:
            if active == n:
                return step + 1, True
            active, high, low = n, np.inf, -np.inf
            continue
        high = top if top > 0.0 else np.inf
        low = bottom if bottom < 0.0 else -np.inf
    return max_iter, False
