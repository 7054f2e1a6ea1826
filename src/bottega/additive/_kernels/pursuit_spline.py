"""The penalty of a smoothing spline on cells, by cross-validation, unbiased risk, or its df.

The penalty is ``ratio`` times the total weight, on the scale of z over its spread between
quartiles; on the unit scale of the knots it is that over the cube of the range. Symbols are those
of `bottega.smooth._kernels.state_space`.
"""

import math

import numpy as np

from bottega._jit import kernel
from bottega.smooth._kernels.state_criteria import smooth_back
from bottega.smooth._kernels.state_space import filter_path

# Logarithms of the ratios between which one is chosen: a line, and several dozen df.
_LOW, _HIGH = math.log(1e-7), math.log(1e4)
_STEPS = 14  # of golden section, and twice of bisection


@kernel
def trial(log_ratio, y, w, h, cube, scratch):
    """Return the df and the weighted residual sum of squares of the knots at a penalty."""
    total = 0.0
    for g in range(len(w)):
        total += w[g]
    v, iF, m1, m2 = scratch[0], scratch[1], scratch[2], scratch[3]
    residual, left, leverage = scratch[4], scratch[5], scratch[6]
    q = cube / (math.exp(log_ratio) * total)
    filter_path(y, w, h, q, v, iF, m1, m2, np.empty(0), np.empty((0, 3)))
    smooth_back(w, h, v, iF, m1, m2, residual, left, leverage)
    df = rss = 0.0
    for g in range(len(w)):
        df += leverage[g]
        rss += w[g] * residual[g] * residual[g]
    return df, rss


@kernel
def _score(log_ratio, y, w, h, cube, scratch, pure, size, charge):
    """Return GCV, or, where `size` is zero, the unbiased risk for weights that are 1 / variance."""
    df, rss = trial(log_ratio, y, w, h, cube, scratch)
    if size == 0.0:
        return rss + pure + 2.0 * charge * df
    left = size - charge * df
    return (rss + pure) / (left * left) if left > 0.0 else np.inf


@kernel
def choose_ratio(y, w, h, cube, pure, size, charge, wanted, start):
    """Return the logarithm of the ratio with the least GCV, or with `wanted` df if positive.

    GCV counts `size` rows, or is the unbiased risk if that is zero, and charges each degree of
    freedom `charge` times; the search starts at `start`, or along the whole range if that is not a
    number.
    """
    scratch = np.empty((7, len(y)))
    if wanted > 0.0:
        low, high = _LOW - 12.0, _HIGH + 12.0
        for _ in range(3 * _STEPS):
            middle = 0.5 * (low + high)
            if trial(middle, y, w, h, cube, scratch)[0] > wanted:
                low = middle
            else:
                high = middle
        return 0.5 * (low + high)
    step = 2.0
    if start == start:
        best, step = start, 1.0
        least = _score(best, y, w, h, cube, scratch, pure, size, charge)
    else:
        best, least = _HIGH, _score(_HIGH, y, w, h, cube, scratch, pure, size, charge)
        at = _HIGH - step
        while at > _LOW:
            found = _score(at, y, w, h, cube, scratch, pure, size, charge)
            if found < least:
                best, least = at, found
            at -= step
    for way in (1.0, -1.0):  # walk down until the neighbours are higher
        while True:
            at = best + way * step
            if at > _HIGH or at < _LOW:
                break
            found = _score(at, y, w, h, cube, scratch, pure, size, charge)
            if not found < least:
                break
            best, least = at, found
    while step > 0.1:  # halve the bracket
        step *= 0.5
        for way in (1.0, -1.0):
            at = best + way * step
            if _LOW <= at <= _HIGH:
                found = _score(at, y, w, h, cube, scratch, pure, size, charge)
                if found < least:
                    best, least = at, found
                    break
    return best
