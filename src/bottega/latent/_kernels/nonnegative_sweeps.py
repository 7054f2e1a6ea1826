"""Coordinate descent for least squares without negative numbers, many rows at a time.

Each row f of F minimises f G f' / 2 - p f' over f >= 0, where G is the Gram matrix of the other
factor and p the row's products with it. Coordinates are set to their minimum one after the other.
"""

import numpy as np

from bottega._jit import kernel, summing_kernel

_BLOCK = 64  # rows that are worked on together, in the fastest memory


@summing_kernel
def _gradient(f, q, G, s, g):
    """Set g to the derivative for coordinate s of each row of a block."""
    for i in range(_BLOCK):
        g[i] = -q[s, i]
    for r in range(f.shape[0]):
        c = G[s, r]
        for i in range(_BLOCK):
            g[i] += c * f[r, i]


@summing_kernel
def _violation(f, s, g):
    """Return the sum of the projected derivatives of a coordinate."""
    total = 0.0
    for i in range(_BLOCK):
        total += abs(g[i]) if f[s, i] > 0.0 else max(0.0, -g[i])
    return total


@kernel
def sweep_blocks(F, P, G, sweeps):
    """Change the rows of F by so many sweeps; return the violation that the first one found."""
    m, k = F.shape
    f = np.empty((k, _BLOCK))
    q = np.empty((k, _BLOCK))
    g = np.empty(_BLOCK)
    violation = 0.0
    for start in range(0, m, _BLOCK):
        size = min(_BLOCK, m - start)
        for s in range(k):
            for i in range(size):
                f[s, i] = F[start + i, s]
                q[s, i] = P[start + i, s]
            for i in range(size, _BLOCK):
                f[s, i] = 0.0
                q[s, i] = 0.0
        for sweep in range(sweeps):
            for s in range(k):
                if G[s, s] <= 0.0:
                    continue
                _gradient(f, q, G, s, g)
                if sweep == 0:
                    violation += _violation(f, s, g)
                step = 1.0 / G[s, s]
                for i in range(_BLOCK):
                    f[s, i] = max(0.0, f[s, i] - g[i] * step)
        for s in range(k):
            for i in range(size):
                F[start + i, s] = f[s, i]
    return violation
