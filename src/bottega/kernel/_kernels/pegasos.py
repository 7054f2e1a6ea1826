"""Pegasos: stochastic subgradient steps for a linear support vector machine, dense or CSR rows.

With steps of length 1 / (penalty t) the weights at time t are v / (penalty (t - 1)), where v is the
sum of c y x over the rows drawn so far whose margin was below one; nothing is ever rescaled.

Symbols
-------
X, y     rows and signs -1, +1
constant value of one more column, whose weight is the last of v; zero where there is none
share    weight of each row, of mean one
v, past  the sum, and the sum of each term times H(t) at its time: their mean over time follows
H        1/(T0 + 1) + ... + 1/t, the steps of the second half
"""

from bottega._jit import kernel
from bottega.kernel._kernels.dual_coordinate import dot, dot_csr, draw


@kernel
def pegasos_dense(X, y, constant, share, penalty, steps, v, past, state):
    """Take the steps; return H at their end."""
    n, harmonic = X.shape[0], 0.0
    for t in range(1, steps + 1):
        i = draw(state, n)
        margin = y[i] * dot(X, i, v, constant) / (penalty * (t - 1)) if t > 1 else 0.0
        if margin < 1.0:
            change = share[i] * y[i]
            for j in range(X.shape[1]):
                v[j] += change * X[i, j]
                past[j] += harmonic * change * X[i, j]
            v[len(v) - 1] += change * constant
            past[len(v) - 1] += harmonic * change * constant
        if 2 * t > steps:
            harmonic += 1.0 / t
    return harmonic


@kernel
def pegasos_csr(indptr, indices, data, y, constant, share, penalty, steps, v, past, state):
    """As `pegasos_dense`, for CSR rows."""
    n, harmonic = len(indptr) - 1, 0.0
    for t in range(1, steps + 1):
        i = draw(state, n)
        margin = 0.0
        if t > 1:
            margin = y[i] * dot_csr(indptr, indices, data, i, v, constant) / (penalty * (t - 1))
        if margin < 1.0:
            change = share[i] * y[i]
            for k in range(indptr[i], indptr[i + 1]):
                v[indices[k]] += change * data[k]
                past[indices[k]] += harmonic * change * data[k]
            v[len(v) - 1] += change * constant
            past[len(v) - 1] += harmonic * change * constant
        if 2 * t > steps:
            harmonic += 1.0 / t
    return harmonic
