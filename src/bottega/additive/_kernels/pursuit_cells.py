"""Rows gathered in cells along a projection, and curves on the cells read back at the rows.

Symbols
-------
z           projection of each row; low and span are its least value and its range
u           (z - low) / span, the unit scale on which knots and curves are
cell        cell of each row; cell g has its knot at the weighted mean of u
t, v        target and weight of each row
value, slope, bend   a cubic spline and its first two derivatives (per unit of u) at the knots
"""

import numpy as np

from bottega._jit import kernel

_TIE = 1e-7  # knots nearer than this share of the range are one


@kernel
def place_rows(z, w, most, cell):
    """Fill in the cell of each row; return low, span and the number of cells.

    Cells are even in the share of the weight to the left plus u: none is wider than ``2 / most`` of
    the range, nor holds more than about that share of the weight. The share is read from a
    histogram, so nothing is sorted.
    """
    n = len(z)
    low = high = z[0]
    for i in range(n):
        low = min(low, z[i])
        high = max(high, z[i])
    span = high - low
    if not span > 0.0:
        for i in range(n):
            cell[i] = 0
        return low, 1.0, 1
    bins = 4 * most
    scale = bins / span
    place = np.zeros(bins + 1)
    total = 0.0
    for i in range(n):
        b = min(int((z[i] - low) * scale), bins - 1)
        place[b + 1] += w[i]
        total += w[i]
    half = 0.5 * most * (1.0 - 1e-12)
    share = 0.0
    for b in range(bins + 1):
        share += place[b] / total
        place[b] = half * (share + b / bins)
    mass, middle = np.zeros(most), np.zeros(most)
    for i in range(n):
        at = (z[i] - low) * scale
        b = min(int(at), bins - 1)
        c = min(int(place[b] + (at - b) * (place[b + 1] - place[b])), most - 1)
        cell[i] = c
        mass[c] += w[i]
        middle[c] += w[i] * at
    number = np.zeros(most, dtype=np.int32)
    m, last = 0, 0.0
    for c in range(most):
        if mass[c] > 0.0:
            at = middle[c] / mass[c]
            if m == 0 or at - last > _TIE * bins:
                m += 1
                last = at
            number[c] = m - 1
    for i in range(n):
        cell[i] = number[cell[i]]
    return low, span, m


@kernel
def cell_means(cell, z, t, v, low, span, m):
    """Return knots, mean targets and weights of the cells, the sum of squares within, and a spread.

    The spread is that of z between its quartiles, over that of a normal distribution of variance
    one; 1 where half of the weight is at one place.
    """
    found = np.zeros((3, m))
    square = 0.0
    scale = 1.0 / span
    for i in range(len(z)):
        c = cell[i]
        weighted = v[i] * t[i]
        found[0, c] += v[i] * (z[i] - low) * scale
        found[1, c] += weighted
        found[2, c] += v[i]
        square += weighted * t[i]
    last, total = -1.0, 0.0
    for c in range(m):
        total += found[2, c]
    low_quarter = high_quarter = -1.0
    before = 0.0
    for c in range(m):
        mass = found[2, c]
        mean = found[1, c] / mass
        square -= found[1, c] * mean
        last = max(found[0, c] / mass, last + 1e-10)
        found[0, c] = last
        found[1, c] = mean
        before += mass
        if low_quarter < 0.0 and before >= 0.25 * total:
            low_quarter = last
        if high_quarter < 0.0 and before >= 0.75 * total:
            high_quarter = last
    spread = (high_quarter - low_quarter) * span / 1.349
    return found, max(square, 0.0), spread if spread > 0.0 else 1.0


@kernel
def at_rows(z, cell, low, span, curve, f, slope):
    """Fill in the curve and its slope (per unit of z) at the rows.

    `curve` has the rows knots, value, slope and bend; beyond its end knots it is linear.
    """
    m = curve.shape[1]
    scale = 1.0 / span
    for i in range(len(z)):
        u = (z[i] - low) * scale
        g = cell[i]
        if u < curve[0, g]:
            g -= 1
        if g < 0 or g == m - 1:
            g = max(g, 0)
            f[i] = curve[1, g] + (u - curve[0, g]) * curve[2, g]
            slope[i] = curve[2, g] * scale
        else:
            d = u - curve[0, g]
            jerk = (curve[3, g + 1] - curve[3, g]) / (curve[0, g + 1] - curve[0, g])
            f[i] = curve[1, g] + d * (curve[2, g] + d * (0.5 * curve[3, g] + d * jerk / 6.0))
            slope[i] = (curve[2, g] + d * (curve[3, g] + 0.5 * d * jerk)) * scale


@kernel
def step_sums(t, v, f, slope, pull, push):
    """Fill in what a Gauss-Newton step needs of each row: v f'(t - f) and v f'^2."""
    for i in range(len(t)):
        scaled = v[i] * slope[i]
        pull[i] = scaled * (t[i] - f[i])
        push[i] = scaled * slope[i]


@kernel
def turn(H, gradient, a, damping):
    """Return the step of a direction, and what it should gain, at right angles to it.

    H is the matrix of second derivatives, and `damping` the share of its mean that is added to its
    diagonal. Where it is not positive the gain is zero.
    """
    d = len(a)
    along, L, g = np.zeros(d), np.empty((d, d)), np.empty(d)
    own = dot = trace = 0.0
    for i in range(d):
        for j in range(d):
            along[i] += H[i, j] * a[j]
        dot += gradient[i] * a[i]
    for i in range(d):
        own += a[i] * along[i]
        g[i] = gradient[i] - dot * a[i]
    for i in range(d):
        trace += H[i, i] - 2.0 * a[i] * along[i] + own * a[i] * a[i]
    mean = trace / (d - 1)
    if not mean > 0.0:
        return g, 0.0
    for i in range(d):  # Cholesky's factor of what is left of H, and the mean along a
        for j in range(i + 1):
            entry = H[i, j] - a[i] * along[j] - along[i] * a[j] + (own + mean) * a[i] * a[j]
            if i == j:
                entry += damping * mean
            for k in range(j):
                entry -= L[i, k] * L[j, k]
            if i > j:
                L[i, j] = entry / L[j, j]
            elif entry > 0.0:
                L[i, i] = np.sqrt(entry)
            else:
                return g, 0.0
    step = g.copy()
    for i in range(d):
        for k in range(i):
            step[i] -= L[i, k] * step[k]
        step[i] /= L[i, i]
    for i in range(d - 1, -1, -1):
        for k in range(i + 1, d):
            step[i] -= L[k, i] * step[k]
        step[i] /= L[i, i]
    gain = 0.0
    for i in range(d):
        gain += g[i] * step[i]
    return step, gain
