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
_FARTHEST = 60.0  # logarithm beyond which no ratio is looked for


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
def _ratio_of_df(y, w, h, cube, wanted, start, scratch):
    """Return the logarithm of the ratio that gives these degrees of freedom, by bisection."""
    low, high, reach = -np.inf, np.inf, 1.0
    at = start if start == start else 0.5 * (_LOW + _HIGH)
    while high - low > 1e-7 and abs(at) < _FARTHEST:
        if trial(at, y, w, h, cube, scratch)[0] > wanted:
            low = at
        else:
            high = at
        if high == np.inf:
            at = low + reach
        elif low == -np.inf:
            at = high - reach
        else:
            at = 0.5 * (low + high)
        reach *= 2.0
    return at


@kernel
def choose_ratio(y, w, h, cube, pure, size, charge, wanted, start):
    """Return the logarithm of the ratio with the least GCV, or with `wanted` df if positive.

    GCV counts `size` rows, or is the unbiased risk if that is zero, and charges each degree of
    freedom `charge` times. The search walks down from `start`, or from the best point of a grid if
    that is not a number, and halves its steps at the bottom.
    """
    scratch = np.empty((7, len(y)))
    if wanted > 0.0:
        return _ratio_of_df(y, w, h, cube, wanted, start, scratch)
    on_grid = start != start  # not a number
    at, step, way = (_HIGH, 2.0, 1.0) if on_grid else (start, 1.0, 1.0)
    best, least = at, np.inf
    while step > 0.05:
        found = np.inf
        if _LOW <= at <= _HIGH:
            found = _score(at, y, w, h, cube, scratch, pure, size, charge)
        better = found < least
        if better:
            best, least = at, found
        if on_grid and at > _LOW:
            at -= step
        elif not on_grid and least == np.inf:  # too rough to be judged: look everywhere
            on_grid, at, step = True, _HIGH, 2.0
        elif on_grid:
            on_grid, at = False, best + step
            if least == np.inf:
                return _HIGH
        elif better:
            at = best + way * step
        elif way > 0.0:
            way = -1.0
            at = best - step
        else:
            way = 1.0
            step *= 0.5
            at = best + step
    return best
