"""Running lines whose span is chosen at every point, on weighted cells.

Symbols
-------
x, y, w     knot, mean target and weight of each cell; x rises
span        share of the weight in a window; the window of a cell keeps it at the ends too
gap         y less the line fitted without the cell
"""

import numpy as np

from bottega._jit import kernel

_SPANS = (0.05, 0.2, 0.5)
_LOST = 1e-7  # sums of squares of x, over the weight, that are computed anew


@kernel
def _line(x, y, w, first, last, at):
    """Return mass, means and sums about them of the cells of a window; x is counted from `at`."""
    mass = mx = my = 0.0
    for k in range(first, last):
        mass += w[k]
        mx += w[k] * (x[k] - at)
        my += w[k] * y[k]
    mx /= mass
    my /= mass
    sxx = sxy = 0.0
    for k in range(first, last):
        d = x[k] - at - mx
        sxx += w[k] * d * d
        sxy += w[k] * d * (y[k] - my)
    return mass, mx, my, sxx, sxy


@kernel
def running_lines(x, y, w, span, fitted, gap, leverage):
    """Fill in the running lines of one span, their gaps with the cell left out, and leverages.

    Sums follow the window as it moves; where the window is so narrow that they would be lost in
    rounding, they are taken anew.
    """
    m = len(x)
    total = 0.0
    for g in range(m):
        total += w[g]
    width = min(span, 1.0) * total
    before = below = above = 0.0  # weight left of g, of the window, and of its end
    first = last = 0
    s0 = s1 = s2 = t0 = t1 = 0.0
    for g in range(m):
        start = min(max(before + 0.5 * w[g] - 0.5 * width, 0.0), total - width)
        # A line needs a neighbour on each side, where there is one.
        while last < m and (last < g + 2 or above + 0.5 * w[last] <= start + width):
            above += w[last]
            s0 += w[last]
            s1 += w[last] * x[last]
            s2 += w[last] * x[last] * x[last]
            t0 += w[last] * y[last]
            t1 += w[last] * x[last] * y[last]
            last += 1
        while first < g - 1 and below + 0.5 * w[first] < start:
            below += w[first]
            s0 -= w[first]
            s1 -= w[first] * x[first]
            s2 -= w[first] * x[first] * x[first]
            t0 -= w[first] * y[first]
            t1 -= w[first] * x[first] * y[first]
            first += 1
        middle = s1 / s0
        mass, mx, my = s0, middle - x[g], t0 / s0
        sxx, sxy = s2 - s1 * middle, t1 - t0 * middle
        if not sxx > _LOST * total:
            mass, mx, my, sxx, sxy = _line(x, y, w, first, last, x[g])
        slope = sxy / sxx if sxx > 0.0 else 0.0
        fitted[g] = my - slope * mx
        pull = w[g] * (1.0 / mass + (mx * mx / sxx if sxx > 0.0 else 0.0))
        leverage[g] = min(pull, 1.0)
        gap[g] = (y[g] - fitted[g]) / max(1.0 - pull, 1e-3)
        before += w[g]


@kernel
def supersmooth(x, y, w, span, bass):
    """Return the smooth of the cells and its degrees of freedom; a span of 0 is chosen by cell."""
    m = len(x)
    unused, own = np.empty(m), np.empty(m)
    if span > 0.0:
        found = np.empty(m)
        running_lines(x, y, w, span, found, unused, own)
        return found, own.sum()
    fits, gaps, pulls = np.empty((3, m)), np.empty((3, m)), np.empty((3, m))
    smoothed = np.empty((3, m))
    for s in range(3):
        running_lines(x, y, w, _SPANS[s], fits[s], gaps[s], pulls[s])
        for g in range(m):
            gaps[s, g] = abs(gaps[s, g])
        running_lines(x, gaps[s], w, _SPANS[1], smoothed[s], unused, own)
    spans = np.empty(m)
    for g in range(m):
        best = 0
        for s in range(1, 3):
            if smoothed[s, g] < smoothed[best, g]:
                best = s
        chosen = _SPANS[best]
        if bass > 0.0 and best < 2 and smoothed[best, g] > 0.0:
            share = max(1e-7, smoothed[best, g] / smoothed[2, g])
            chosen += (_SPANS[2] - chosen) * share ** (10.0 - bass)
        spans[g] = chosen
    even = np.empty(m)
    running_lines(x, spans, w, _SPANS[1], even, unused, own)
    df = 0.0
    mixed, found = np.empty(m), np.empty(m)
    for g in range(m):
        at = min(max(even[g], _SPANS[0]), _SPANS[2])
        s = 0 if at < _SPANS[1] else 1
        share = (at - _SPANS[s]) / (_SPANS[s + 1] - _SPANS[s])
        mixed[g] = (1.0 - share) * fits[s, g] + share * fits[s + 1, g]
        df += (1.0 - share) * pulls[s, g] + share * pulls[s + 1, g]
    running_lines(x, mixed, w, _SPANS[0], found, unused, own)
    return found, df
