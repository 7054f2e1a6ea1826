r"""Newton steps of small logistic regressions, without the price of many calls on short arrays.

Symbols
-------
Z        (m, n) columns, each of them contiguous
codes    class of each row
v        weight of each row
B, b0    (T, m) coefficients in units of their own, (T,) intercepts; T = 1 for two classes
inverse  what each column is multiplied by
P        (T, n) probabilities; for two classes the product of both
own      (n,) logarithm of the probability of each row's own class
level    (n,) sum over classes of p log p
R        (T, n) weighted observed minus fitted
H        (T m, T m) curvature of the coefficients, whose intercepts follow
q        slope of the quadratic approximation, downhill
"""

import math

import numpy as np

from bottega._jit import kernel, summing_kernel

_LEAST = 1e-9  # product of two probabilities, at least, of a row of ordinary weight
_HALVINGS = 30
_LEVEL = 1e-4  # share of its gain that a step must reach
_SWEEPS = 200
_FINE = 1e-4  # step of a coordinate, against a small Newton step, that is none


@summing_kernel
def _dot(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@kernel
def _evaluate(Z, codes, v, B, b0, inverse, P, own, level, R, slope, pull, weight):
    """Set what is known at B and b0; return mean negative log-likelihood and entropy."""
    T, m = B.shape
    n = len(v)
    nll, entropy = 0.0, 0.0
    for t in range(T):
        row = R[t]
        for i in range(n):
            row[i] = b0[t]
        for j in range(m):
            b = B[t, j] * inverse[j]
            if b != 0.0:
                column = Z[j]
                for i in range(n):
                    row[i] += b * column[i]
    for i in range(n):
        code, w = codes[i], v[i]
        if T == 1:
            z = R[0, i] if code == 1 else -R[0, i]
            odds = math.exp(-abs(z))
            small, total = odds / (1 + odds), math.log1p(odds)
            P[0, i] = small * (1 - small)
            own[i] = min(z, 0.0) - total
            level[i] = -total - abs(z) * small
            miss = w * (small if z >= 0 else 1 - small)
            R[0, i] = miss if code == 1 else -miss
        else:
            top, total, sum_p = R[0, i], 0.0, 0.0
            for t in range(1, T):
                top = max(top, R[t, i])
            for t in range(T):
                P[t, i] = math.exp(R[t, i] - top)
                total += P[t, i]
            own[i] = R[code, i] - top - math.log(total)
            for t in range(T):
                P[t, i] /= total
                sum_p += P[t, i] * (R[t, i] - top)
                R[t, i] = -w * P[t, i]
            R[code, i] += w
            level[i] = sum_p - math.log(total)
        nll -= w * own[i]
        entropy -= w * level[i]
    for t in range(T):
        for j in range(m):
            slope[t, j] = _dot(R[t], Z[j]) / weight
        pull[t] = R[t].sum() / weight
    return nll / weight, entropy / weight


@kernel
def _invert(ends, solved):
    """Set the inverse on contrasts: the same number added to all scores does nothing."""
    T = len(ends)
    if T == 1:
        solved[0, 0] = 1 / ends[0, 0]
        return
    size = 0.0
    for t in range(T):
        size += ends[t, t] / T
    A = ends + size / T
    for t in range(T):
        for u in range(T):
            solved[t, u] = 1.0 if t == u else 0.0
    for k in range(T):  # positive definite: no pivots
        pivot = A[k, k]
        for u in range(T):
            A[k, u] /= pivot
            solved[k, u] /= pivot
        for t in range(T):
            factor = A[t, k]
            if t != k and factor != 0.0:
                for u in range(T):
                    A[t, u] -= factor * A[k, u]
                    solved[t, u] -= factor * solved[k, u]
    solved -= 1 / (T * size)


@kernel
def _curvature(Z, v, P, inverse, H, cross, ends, weight, ordinary):
    """Set the second derivatives: of coefficients, of these and intercepts, of intercepts."""
    T, (m, n) = len(P), Z.shape
    h, weighted = np.empty(n), np.empty(n)
    H[:] = 0.0
    cross[:] = 0.0
    ends[:] = 0.0
    for t in range(max(T - 1, 1)):
        for u in range(t + 1, max(T, 2)):
            for i in range(n):
                product = P[0, i] if T == 1 else P[t, i] * P[u, i]
                h[i] = max(v[i] * product, _LEAST * min(v[i], ordinary)) / weight
            total = h.sum()
            ends[t, t] += total
            if T > 1:
                ends[u, u] += total
                ends[t, u] -= total
                ends[u, t] -= total
            for j in range(m):
                for i in range(n):
                    weighted[i] = h[i] * Z[j, i] * inverse[j]
                total = weighted.sum()
                cross[t * m + j, t] += total
                if T > 1:
                    cross[u * m + j, u] += total
                    cross[t * m + j, u] -= total
                    cross[u * m + j, t] -= total
                for k in range(j + 1):
                    s = _dot(weighted, Z[k]) * inverse[k]
                    H[t * m + j, t * m + k] += s
                    if T > 1:
                        H[u * m + j, u * m + k] += s
                        H[u * m + j, t * m + k] -= s
                        if k < j:
                            H[u * m + k, t * m + j] -= s
    for a in range(T * m):
        for b in range(a):
            H[b, a] = H[a, b]


@kernel
def _minimise(H, q, b, l1, l2, enough):
    """Go down the quadratic with its penalty, one coordinate after the other, in place."""
    size = len(b)
    for _ in range(_SWEEPS):
        largest = 0.0
        for a in range(size):
            curved = H[a, a]
            if curved <= 0.0:
                continue
            reach = q[a] + curved * b[a]
            new = 0.0
            if reach > l1:
                new = (reach - l1) / (curved + l2)
            elif reach < -l1:
                new = (reach + l1) / (curved + l2)
            step = new - b[a]
            if step != 0.0:
                b[a] = new
                row = H[a]
                for c in range(size):
                    q[c] -= step * row[c]
                largest = max(largest, step * step * curved)
        if largest <= enough:
            return


@kernel
def _penalty(b, l1, l2):
    total = 0.0
    for a in range(len(b)):
        total += l1 * abs(b[a]) + 0.5 * l2 * b[a] * b[a]
    return total


@kernel
def descend(Z, codes, v, B, b0, inverse, l1, l2, numbers, max_iter, own, level, R, slope, pull):
    """Take Newton steps until they are small, in place.

    `numbers` are the size of a small step, the likelihood without inputs, the sum of the weights,
    the weight of an ordinary row, and whether there are intercepts. Returns the steps, the size of
    the one that is left, whether the objective fell no more, and what `_evaluate` does.
    """
    small, null, weight, ordinary = numbers[0], numbers[1], numbers[2], numbers[3]
    free = numbers[4] > 0
    T, m = B.shape
    M, n = T * m, len(v)
    P, next_P, next_R = np.empty((T, n)), np.empty((T, n)), np.empty((T, n))
    next_own, next_level = np.empty(n), np.empty(n)
    next_slope, next_pull = np.empty((T, m)), np.empty(T)
    H, cross, ends, solved = np.empty((M, M)), np.empty((M, T)), np.empty((T, T)), np.empty((T, T))
    g, q, b, shift, toward = np.empty(M), np.empty(M), np.empty(M), np.empty(T), np.empty(T)
    nll, entropy = _evaluate(Z, codes, v, B, b0, inverse, P, own, level, R, slope, pull, weight)
    size = np.inf
    for done in range(max_iter):
        _curvature(Z, v, P, inverse, H, cross, ends, weight, ordinary)
        base = 0.0
        if free:
            _invert(ends, solved)
            for t in range(T):
                toward[t] = _dot(solved[t], pull)
            base = 0.5 * _dot(pull, toward)
        for t in range(T):
            for j in range(m):
                a = t * m + j
                b[a] = B[t, j]
                g[a] = slope[t, j] * inverse[j]
                if free:
                    g[a] -= _dot(cross[a], toward)
        if free:
            for a in range(M):
                for t in range(T):
                    lift = _dot(cross[a], solved[t])
                    for c in range(M):
                        H[a, c] -= lift * cross[c, t]
        q[:] = g
        before = nll + _penalty(b, l1, l2)
        x = b.copy()
        _minimise(H, q, x, l1, l2, _FINE * small)
        square, gained = 0.0, base
        for a in range(M):
            square += 0.5 * (x[a] - b[a]) * (g[a] - q[a])
            gained += g[a] * (x[a] - b[a])
        size = base + max(square, 0.0)
        gained -= square + _penalty(x, l1, l2) - _penalty(b, l1, l2)
        if size <= small:
            return done, size, False, nll, entropy
        for t in range(T):
            toward[t] = pull[t]
            for a in range(M):
                toward[t] -= cross[a, t] * (x[a] - b[a])
        for t in range(T):
            shift[t] = _dot(solved[t], toward) if free else 0.0
        length, fell = 1.0, False
        old = b0.copy()
        for _ in range(_HALVINGS):
            for t in range(T):
                b0[t] = old[t] + length * shift[t]
                for j in range(m):
                    B[t, j] = b[t * m + j] + length * (x[t * m + j] - b[t * m + j])
            next_nll, next_entropy = _evaluate(
                Z, codes, v, B, b0, inverse,
                next_P, next_own, next_level, next_R, next_slope, next_pull, weight,
            )  # fmt: skip
            now = next_nll + _penalty(B.ravel(), l1, l2)
            if now <= before - _LEVEL * length * max(gained, 0.0) + 1e-14 * null:
                fell = True
                break
            length /= 2
        if not fell:
            b0[:] = old
            for t in range(T):
                for j in range(m):
                    B[t, j] = b[t * m + j]
            return done + 1, size, True, nll, entropy
        P, next_P = next_P, P
        nll, entropy = next_nll, next_entropy
        own[:] = next_own
        level[:] = next_level
        R[:] = next_R
        slope[:] = next_slope
        pull[:] = next_pull
        if before - now <= _LEVEL * small:
            return done + 1, size, True, nll, entropy
    return max_iter, size, False, nll, entropy
