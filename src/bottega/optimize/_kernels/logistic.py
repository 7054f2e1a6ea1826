r"""Newton steps of small logistic regressions of two classes, compiled.

Symbols
-------
Z        (m, n) columns, each of them contiguous
codes    class of each row, 0 or 1
v        weight of each row, divided by their sum where it stands in a sum
b, b0    (m,) coefficients in units of their own, (1,) intercept
inverse  what each column is multiplied by
P        (n,) product of the two probabilities
own      (n,) logarithm of the probability of each row's own class
level    (n,) sum over both classes of p log p
R        (n,) weighted observed minus fitted
H        (m, m) curvature of the coefficients, whose intercept follows
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
def _evaluate(Z, codes, v, b, b0, inverse, P, own, level, R, slope):
    """Set what is known at b and b0; return sums: negative log-likelihood, entropy, residuals."""
    nll, entropy, pull = 0.0, 0.0, 0.0
    for i in range(len(v)):
        R[i] = b0
    for j in range(len(b)):
        step = b[j] * inverse[j]
        if step != 0.0:
            column = Z[j]
            for i in range(len(v)):
                R[i] += step * column[i]
    for i in range(len(v)):
        z = R[i] if codes[i] == 1 else -R[i]
        odds = math.exp(-abs(z))
        small, total = odds / (1 + odds), math.log1p(odds)
        P[i] = small * (1 - small)
        own[i] = min(z, 0.0) - total
        level[i] = -total - abs(z) * small
        miss = v[i] * (small if z >= 0 else 1 - small)
        R[i] = miss if codes[i] == 1 else -miss
        nll -= v[i] * own[i]
        entropy -= v[i] * level[i]
        pull += R[i]
    for j in range(len(b)):
        slope[j] = _dot(R, Z[j])
    return nll, entropy, pull


@kernel
def _curvature(Z, v, P, inverse, H, cross, weight, ordinary, free):
    """Set the second derivatives of the coefficients, and of these and the intercept."""
    m, n = Z.shape
    h, weighted = np.empty(n), np.empty(n)
    ends = 0.0
    for i in range(n):
        h[i] = max(v[i] * P[i], _LEAST * min(v[i], ordinary)) / weight
        ends += h[i]
    for j in range(m):
        total = 0.0
        for i in range(n):
            weighted[i] = h[i] * Z[j, i] * inverse[j]
            total += weighted[i]
        cross[j] = total
        for k in range(j + 1):
            H[j, k] = _dot(weighted, Z[k]) * inverse[k]
            if free:
                H[j, k] -= cross[j] * cross[k] / ends
            H[k, j] = H[j, k]
    return ends


@kernel
def _minimise(H, q, b, l1, l2, enough):
    """Go down the quadratic with its penalty, one coordinate after the other, in place."""
    for _ in range(_SWEEPS):
        largest = 0.0
        for a in range(len(b)):
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
                for c in range(len(b)):
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
def descend(Z, codes, v, b, b0, inverse, l1, l2, numbers, max_iter, own, level, R, slope):
    """Take Newton steps until they are small, in place.

    `numbers` are the size of a small step, the likelihood without inputs, the sum of the weights,
    the weight of an ordinary row, and whether there is an intercept. Returns the steps, the size of
    the one that is left, whether the objective fell no more, and what `_evaluate` does.
    """
    small, null, weight, ordinary = numbers[0], numbers[1], numbers[2], numbers[3]
    free = numbers[4] > 0
    m, n = len(b), len(v)
    P, H, cross, g = np.empty(n), np.empty((m, m)), np.empty(m), np.empty(m)
    nll, entropy, pull = _evaluate(Z, codes, v, b, b0[0], inverse, P, own, level, R, slope)
    size = np.inf
    for done in range(max_iter):
        ends = _curvature(Z, v, P, inverse, H, cross, weight, ordinary, free)
        base = 0.5 * (pull / weight) ** 2 / ends if free else 0.0
        for j in range(m):
            g[j] = slope[j] / weight * inverse[j]
            if free:
                g[j] -= cross[j] * pull / weight / ends
        q, x, old, level_before = g.copy(), b.copy(), b.copy(), b0[0]
        _minimise(H, q, x, l1, l2, _FINE * small)
        square, gained, moved = 0.0, base, 0.0
        for j in range(m):
            square += 0.5 * (x[j] - old[j]) * (g[j] - q[j])
            gained += g[j] * (x[j] - old[j])
            moved += cross[j] * (x[j] - old[j])
        size = base + max(square, 0.0)
        before = _penalty(old, l1, l2)
        gained -= square + _penalty(x, l1, l2) - before
        before += nll / weight
        if size <= small:
            return done, size, False, nll, entropy, pull
        shift = (pull / weight - moved) / ends if free else 0.0
        length, now = 1.0, np.inf
        for _ in range(_HALVINGS):
            b0[0] = level_before + length * shift
            for j in range(m):
                b[j] = old[j] + length * (x[j] - old[j])
            nll, entropy, pull = _evaluate(Z, codes, v, b, b0[0], inverse, P, own, level, R, slope)
            now = nll / weight + _penalty(b, l1, l2)
            if now <= before - _LEVEL * length * max(gained, 0.0) + 1e-14 * null:
                break
            length /= 2
            now = np.inf
        if now == np.inf:
            b0[0] = level_before
            b[:] = old
            nll, entropy, pull = _evaluate(Z, codes, v, b, b0[0], inverse, P, own, level, R, slope)
        if before - now <= _LEVEL * small:
            return done + 1, size, True, nll, entropy, pull
    return max_iter, size, False, nll, entropy, pull
