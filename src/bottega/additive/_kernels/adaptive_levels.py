"""The search of subsets of levels for adaptive splines (symbols as in `adaptive_knots`)."""

import numpy as np

from bottega._jit import kernel
from bottega.additive._kernels.adaptive_knots import NEW, TIED


@kernel
def search_levels(rows, g, Q, first, last, R, code, n_levels, square, C, chosen):
    """Find the levels whose indicator, times the parent, leaves least of the squared residuals.

    The levels are sorted by their mean residual, of each response in turn, and cut in two at the
    best place. Marks the levels of the smaller part in `chosen`, and returns by how much the
    squared residuals would fall, 0 if no subset is new, and by how much with the missing values
    alone. `square` and `C` keep the squares of the parent and its products with the columns of Q,
    summed over the rows of each level; the columns first to last - 1 are added to them.
    """
    n_left = R.shape[0]
    P = np.zeros((n_levels + 1, n_left))
    if first == 0:
        for i in range(rows.size):
            square[np.int64(code[rows[i]])] += g[i] * g[i]
    for k in range(first, last):
        for i in range(rows.size):
            C[np.int64(code[rows[i]]), k] += g[i] * Q[k, rows[i]]
    for k in range(n_left):
        for i in range(rows.size):
            P[np.int64(code[rows[i]]), k] += g[i] * R[k, rows[i]]
    present = 0
    names = np.empty(n_levels, dtype=np.int64)
    for level in range(n_levels):
        chosen[level] = False
        if square[level] > 0.0:
            names[present] = level
            present += 1
    gap = square[n_levels]
    for k in range(last):
        gap -= C[n_levels, k] * C[n_levels, k]
    with_gap = gap > NEW * square[n_levels]
    gain = 0.0
    if with_gap:
        for k in range(n_left):
            gain += P[n_levels, k] * P[n_levels, k] / gap
    best, cut, by = 0.0, -1, -1
    order = np.empty(present, dtype=np.int64)
    inside, product = np.empty(last), np.empty(n_left)
    for response in range(n_left):
        _sort_levels(present, names, P[:, response], square, order)
        for k in range(last):
            inside[k] = 0.0
        for k in range(n_left):
            product[k] = 0.0
        total = 0.0
        for s in range(present - 1):
            level = order[s]
            total += square[level]
            length, with_missing = total, 0.0
            for k in range(last):
                inside[k] += C[level, k]
                length -= inside[k] * inside[k]
                with_missing -= inside[k] * C[n_levels, k]
            if with_gap:
                length -= with_missing * with_missing / gap
            more = 0.0
            for k in range(n_left):
                product[k] += P[level, k]
                r = product[k]
                if with_gap:
                    r -= with_missing * P[n_levels, k] / gap
                more += r * r
            if length > NEW * total and more > best * length * (1.0 + TIED):
                best, cut, by = more / length, s + 1, response
    if cut > 0:
        _sort_levels(present, names, P[:, by], square, order)
        # The smaller part; of equal ones that without the first level.
        smaller = 2 * cut <= present
        if 2 * cut == present:
            for s in range(cut):
                smaller = smaller and order[s] != names[0]
        for s in range(present):
            chosen[order[s]] = (s < cut) == smaller
    return gain + best, gain


@kernel
def _sort_levels(present, names, sums, square, order):
    """Sort the levels by their mean residual; ties stay in the order of the levels."""
    for s in range(present):
        level = names[s]
        mean = sums[level] / square[level]
        place = s
        while place > 0 and sums[order[place - 1]] / square[order[place - 1]] > mean:
            order[place] = order[place - 1]
            place -= 1
        order[place] = level
