"""Kernels of loess: the windows of the nearest rows.

Symbols
-------
x, X     rows of the inputs on the scale of the distances (x ascending)
w        weight of each row; rows of weight zero do not help a fit
mass     what each row counts for in the nearest fraction (1, or its weight)
target   mass that a window must reach
h        radius of the window of each point: rows nearer than h count
"""

import numpy as np

from bottega._jit import kernel

# Nearer to the border than this share of the radius, a row may count as inside or not by rounding.
_BORDER = 1e-12
# A window that is widened leaves its outermost row this far inside, so that it has some weight.
_CLEAR = 1.001


@kernel
def radii_line(x, w, sums, target, stretch, at, least):
    """Return the distance within which each point of `at` (ascending) finds mass `target`.

    `sums` are the cumulated masses, from 0; the distance is multiplied by `stretch`. A window that
    would hold fewer than `least` distinct rows of positive weight is widened until it holds them;
    which ones were is returned too.
    """
    n, m = x.size, at.size
    h = np.empty(m)
    widened = np.zeros(m, dtype=np.bool_)
    lo, hi = 0, 1
    while hi < n and sums[hi] < target:
        hi += 1
    for i in range(m):
        radius = max(at[i] - x[lo], x[hi - 1] - at[i])
        # The window slides right while that brings its farther end nearer.
        while True:
            further = hi
            while further < n and sums[further] - sums[lo + 1] < target:
                further += 1
            if sums[further] - sums[lo + 1] < target:
                break
            moved = max(at[i] - x[lo + 1], x[further - 1] - at[i])
            if moved > radius:
                break
            lo, hi, radius = lo + 1, further, moved
        h[i], widened[i] = _widen_line(x, w, at[i], stretch * radius, least)
    return h, widened


@kernel
def _widen_line(x, w, point, radius, least):
    """Return a radius with at least `least` distinct rows strictly inside, and if it grew."""
    n = x.size
    inside = (1.0 - _BORDER) * radius
    first = np.searchsorted(x, point - inside, side="right")
    distinct, last = 0, np.nan
    for j in range(first, n):
        if x[j] - point >= inside or distinct >= least:
            break
        if w[j] > 0 and x[j] != last:
            distinct += 1
            last = x[j]
    if distinct >= least:
        return radius, False
    # Walk outwards: the row after the last one needed stands on the border, of weight zero.
    left, right = np.searchsorted(x, point) - 1, np.searchsorted(x, point)
    distinct, reach = 0, 0.0
    seen_left, seen_right = np.nan, np.nan
    while left >= 0 or right < n:
        gap_left = point - x[left] if left >= 0 else np.inf
        gap_right = x[right] - point if right < n else np.inf
        gap = min(gap_left, gap_right)
        if distinct >= least and gap > _CLEAR * reach:
            return max(gap, radius), True
        if gap_left <= gap_right:
            if w[left] > 0 and x[left] != seen_left:
                distinct += 1
                seen_left = x[left]
                reach = gap
            left -= 1
        else:
            if w[right] > 0 and x[right] != seen_right:
                distinct += 1
                seen_right = x[right]
                reach = gap
            right += 1
    # No row is left for the border: twice the distance keeps all of them inside.
    return max(2.0 * reach, radius) if reach > 0 else 1.0, True


@kernel
def radii_space(X, w, mass, target, stretch, at, least):
    """Return what `radii_line` does, for rows with several columns (`at` in any order)."""
    n, p = X.shape
    m = at.shape[0]
    h = np.empty(m)
    widened = np.zeros(m, dtype=np.bool_)
    squared = np.empty(n)
    keys, load = np.empty(n), np.empty(n)
    for i in range(m):
        for j in range(n):
            total = 0.0
            for c in range(p):
                gap = X[j, c] - at[i, c]
                total += gap * gap
            squared[j] = total
            keys[j] = total
            load[j] = mass[j]
        radius = stretch * np.sqrt(_weighted_select(keys, load, target))
        inside = 0
        for j in range(n):
            if w[j] > 0 and squared[j] < (1.0 - _BORDER) * radius * radius:
                inside += 1
        if inside < least:
            radius = _widen_space(squared, w, radius, least)
            widened[i] = True
        h[i] = radius
    return h, widened


@kernel
def _weighted_select(keys, load, target):
    """Return the least key such that keys up to it carry at least `target` (reorders both)."""
    lo, hi = 0, keys.size - 1
    before = 0.0
    while lo < hi:
        middle = (lo + hi) // 2
        a, b, c = keys[lo], keys[middle], keys[hi]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = lo, hi
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                load[i], load[j] = load[j], load[i]
                i += 1
                j -= 1
        # Now keys[lo..j] <= pivot <= keys[i..hi], with at most one key (the pivot) between.
        lower = before
        for t in range(lo, j + 1):
            lower += load[t]
        if lower >= target:
            hi = j
            continue
        between = lower
        for t in range(j + 1, i):
            between += load[t]
        if between >= target or i > hi:
            return pivot
        before = between
        lo = i
    return keys[lo]


@kernel
def _widen_space(squared, w, radius, least):
    order = np.sort(squared[w > 0])
    if order.size == 0:
        return max(radius, 1.0)
    enough = order[min(least, order.size) - 1]
    for value in order:
        if value > _CLEAR * _CLEAR * enough:
            return max(np.sqrt(value), radius)
    return max(2.0 * np.sqrt(enough), radius) if enough > 0 else 1.0
