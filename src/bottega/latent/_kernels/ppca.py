"""Posteriors of the latent variables of many rows, side by side.

Symbols: K latent variables; T = K (K + 1) / 2 entries of a symmetric matrix, its lower triangle by
rows; M = W_o'W_o + noise I of the observed columns o of a row; z the latent
variables, m their mean. The last axis of every array is rows, of which LANES go through each step
together.
"""

import math

import numpy as np

from bottega._jit import kernel

__all__ = ["posteriors"]

LANES = 64


@kernel
def _factor(by_mask, at, lanes, noise, L, log_det):
    """Put the Cholesky factors of M into L, with inverted diagonals, and log det (M / noise)."""
    K = L.shape[0]
    product = np.ones(lanes)
    total = np.empty(lanes)
    t = 0
    for a in range(K):
        for b in range(a + 1):
            for s in range(lanes):
                total[s] = by_mask[t, at + s]
            for c in range(b):
                for s in range(lanes):
                    total[s] -= L[a, c, s] * L[b, c, s]
            if a == b:
                for s in range(lanes):
                    pivot = total[s] + noise
                    product[s] *= pivot / noise
                    L[a, a, s] = 1.0 / math.sqrt(pivot)
            else:
                for s in range(lanes):
                    L[a, b, s] = total[s] * L[b, b, s]
            t += 1
        if a % 8 == 7 or a == K - 1:  # one logarithm for eight pivots: their product is finite
            for s in range(lanes):
                log_det[s] += math.log(product[s])
                product[s] = 1.0


@kernel
def _invert(L, R, lanes):
    """Put the inverses of the lower triangles L, whose diagonals are inverted, into R."""
    K = L.shape[0]
    for a in range(K):
        for b in range(a):
            for s in range(lanes):
                R[a, b, s] = 0.0
            for c in range(b, a):
                for s in range(lanes):
                    R[a, b, s] -= L[a, c, s] * R[c, b, s]
            for s in range(lanes):
                R[a, b, s] *= L[a, a, s]
        for s in range(lanes):
            R[a, a, s] = L[a, a, s]


@kernel
def _means(by_mask, by_value, at, lanes, R, half, m):
    """Put R W_o'(x_o - mu_o) into `half` and m into m."""
    K = R.shape[0]
    T = K * (K + 1) // 2
    for a in range(K):
        for s in range(lanes):
            half[a, s] = 0.0
            m[a, s] = 0.0
        for c in range(a + 1):
            for s in range(lanes):
                half[a, s] += R[a, c, s] * (by_value[c, at + s] - by_mask[T + c, at + s])
    for a in range(K):
        for c in range(a, K):
            for s in range(lanes):
                m[a, s] += R[c, a, s] * half[c, s]


@kernel
def posteriors(by_mask, by_value, facts, noise, moments, out):
    """Put the posterior of each row into `out` and its log-likelihood into `facts`.

    `by_mask` has per row W_o'W_o (packed), W_o'mu_o and mu_o'mu_o; `by_value` W_o'x_o and mu_o'x_o;
    `facts` x_o'x_o, the number of observed columns, and the row's weight, and gets the
    log-likelihood in its first line. `out` gets, with `moments`, the weighted E(zz') packed, the
    weighted m and the weight, the sums that EM needs; without, the covariance of z packed, m and 1.
    """
    K = by_value.shape[0] - 1
    T = K * (K + 1) // 2
    L = np.empty((K, K, LANES))
    R = np.empty((K, K, LANES))
    half = np.empty((K, LANES))
    m = np.empty((K, LANES))
    weight = np.ones(LANES)
    log_det = np.empty(LANES)
    fixed = math.log(2.0 * math.pi) + math.log(noise)
    n = out.shape[1]
    for at in range(0, n, LANES):
        lanes = min(LANES, n - at)
        log_det[:] = 0.0
        _factor(by_mask, at, lanes, noise, L, log_det)
        _invert(L, R, lanes)
        _means(by_mask, by_value, at, lanes, R, half, m)
        for s in range(lanes):
            size = facts[0, at + s] - 2.0 * by_value[K, at + s] + by_mask[T + K, at + s]
            for a in range(K):
                size -= half[a, s] * half[a, s]
            facts[0, at + s] = -0.5 * (facts[1, at + s] * fixed + log_det[s] + size / noise)
            if moments:
                weight[s] = facts[2, at + s]
            out[T + K, at + s] = weight[s]
        t = 0
        for a in range(K):
            for c in range(a + 1):
                for s in range(lanes):
                    out[t, at + s] = 0.0
                for d in range(a, K):
                    for s in range(lanes):
                        out[t, at + s] += R[d, a, s] * R[d, c, s]
                for s in range(lanes):
                    both = m[a, s] * m[c, s] if moments else 0.0
                    out[t, at + s] = weight[s] * (noise * out[t, at + s] + both)
                t += 1
            for s in range(lanes):
                out[T + a, at + s] = weight[s] * m[a, s]
