"""The best split on a column of numbers, by a scan over its sorted rows (see `exact_inputs`)."""

import numpy as np

from bottega._jit import kernel
from bottega.tree._kernels.exact_inputs import EXACT, RANDOM
from bottega.tree._kernels.impurity import DEVIANCE, ENTROPY, GINI, LIGHT, impurity, total_of, xlogx
from bottega.tree._kernels.missing_rows import (
    count_present,
    present_or_missing,
    start_counts,
    sum_missing,
)
from bottega.tree._kernels.order import lowest
from bottega.tree._kernels.random import uniform
from bottega.tree._kernels.weighed import weight_of


@kernel
def threshold_between(a, b, thresholds, candidates):
    """Return a threshold t with a <= t < b; NaN if no candidate lies there."""
    if thresholds == EXACT:
        t = 0.5 * a + 0.5 * b
        return t if a <= t < b else a
    k = lowest(candidates, 0, candidates.size, a)
    if k < candidates.size and candidates[k] < b:
        return candidates[k]
    return np.nan


@kernel
def _ordered(low, high, sign, lo, hi):
    """Return True if the values of two children keep to the order and the limits asked for.

    Columns without a direction may go beyond the limits: their leaves are cut back to them.
    """
    if sign == 0:
        return True
    if sign * (high - low) < 0.0:
        return False
    return lo <= min(low, high) and max(low, high) <= hi


@kernel
def scan_moments(
    X, j, rows_of, start, first, last, w_l, d, W, mu, wz, best, tie, least, thresholds, candidates,
    sign, lo, hi,
):  # fmt: skip
    """Return gain and threshold of the best boundary with first <= i <= last present rows left.

    Left of a boundary there are w_l and d besides (missing rows that go left); either side weighs
    at least `least`. Boundaries that do not beat `best` cost no look at X. Arrays come whole: a
    view costs more than a small node.
    """
    threshold = np.nan
    bar = (best + tie) / W
    for i in range(start, start + last):
        r = rows_of[j, i]
        w = weight_of(wz, r)
        w_l += w
        d += wz[r, -1] - w * mu
        if d * d > bar * w_l * (W - w_l) and i + 1 >= start + first:
            w_r = W - w_l
            a, b = X[r, j], X[rows_of[j, i + 1], j]
            if not a < b or min(w_l, w_r) < least:
                continue
            if not _ordered(mu + d / w_l, mu - d / w_r, sign, lo, hi):
                continue
            t = threshold_between(a, b, thresholds, candidates)
            if not np.isnan(t):
                threshold = t
                best = W * d * d / (w_l * w_r)
                bar = (best + tie) / W
    return best, threshold


@kernel
def _scan_counts(
    X, j, rows_of, start, first, last, left, right, W, total, w, code, best, tie, least, criterion,
    table, f_l, f_r, thresholds, candidates, sign, lo, hi,
):  # fmt: skip
    """Do the same with class counts; `left` and `right` hold the counts before the first row.

    Gini and the entropies follow a row from right to left in a few operations, whatever the number
    of classes: a sum over classes changes in one term. What they let pass is computed afresh.
    """
    threshold = np.nan
    w_l = total_of(left)
    gini, entropy = criterion == GINI, criterion in (ENTROPY, DEVIANCE)
    unit = 2.0 * np.log(2.0) if criterion == DEVIANCE else 1.0
    s_l, s_r = 0.0, 0.0  # sums over classes of c^2, or of c log c
    for k in range(left.size):
        f_l[k] = xlogx(left[k], table) if entropy else left[k] * left[k]
        f_r[k] = xlogx(right[k], table) if entropy else right[k] * right[k]
        s_l += f_l[k]
        s_r += f_r[k]
    bar = best + tie
    slack = 1e-10 * total  # more than the rounding of the sums
    for i in range(start, start + last):
        r = rows_of[j, i]
        k, v = code[r], w[r]
        left[k] += v
        right[k] -= v
        w_l += v
        w_r = W - w_l
        if gini:
            s_l += v * (2.0 * left[k] - v)
            s_r -= v * (2.0 * right[k] + v)
            # W psi of a child is W_c - s_c / W_c.
            if s_l * w_r + s_r * w_l <= (W - total + bar - slack) * w_l * w_r:
                continue
        elif entropy:
            f = xlogx(left[k], table)
            s_l += f - f_l[k]
            f_l[k] = f
            f = xlogx(right[k], table)
            s_r += f - f_r[k]
            f_r[k] = f
            loss = xlogx(w_l, table) - s_l + xlogx(w_r, table) - s_r
            if total - unit * loss <= bar - slack:
                continue
        if i + 1 < start + first:
            continue
        a, b = X[r, j], X[rows_of[j, i + 1], j]
        if not a < b or min(w_l, w_r) < least:
            continue
        gain = total - impurity(left, w_l, criterion, table)
        gain -= impurity(right, w_r, criterion, table)
        if gain > bar:
            if left.size == 2 and not _ordered(left[1] / w_l, right[1] / w_r, sign, lo, hi):
                continue
            t = threshold_between(a, b, thresholds, candidates)
            if not np.isnan(t):
                threshold, best = t, gain
                bar = best + tie
    return best, threshold


@kernel
def fill_candidates(lo, hi, rules, candidates, random):
    """Write the thresholds to be tried in a node: equally spaced inside its range, or random."""
    # Sums of exponential numbers, over the last sum, are uniform numbers in ascending order.
    m, reached = candidates.size, 0.0
    for k in range(m + 1):
        reached += -np.log(1.0 - uniform(random)) if rules.thresholds == RANDOM else 1.0
        if k < m:
            candidates[k] = reached
    for k in range(m):
        candidates[k] = lo + (hi - lo) * (candidates[k] / reached)


@kernel
def scan_number(
    j, rows_of, start, stop, sums, W, mu, total, best, tie, data, rules, scratch, limits
):
    """Return gain, threshold and side of the best split on a column of numbers.

    `sums`, W, mu and total (W psi) are of the whole node.
    """
    x = data.X[j]
    rows = rows_of[j, start:stop]
    n = stop - start
    m = count_present(x, rows, data.has_missing[j])
    threshold, side = np.nan, -1
    if m == 0 or (m == n and not x[rows[0]] < x[rows[n - 1]]):
        return best, threshold, side
    if rules.thresholds != EXACT:
        fill_candidates(x[rows[0]], x[rows[m - 1]], rules, scratch.candidates, scratch.random)
    moments = data.n_classes == 0 or (data.n_classes == 2 and rules.criterion == GINI)
    factor = 2.0 if data.n_classes else 1.0
    w_gone, d_gone = 0.0, 0.0
    if m < n or not moments:
        w_gone, d_gone = sum_missing(rows, m, mu, data, scratch.gone)
    tries = 1
    if m < n:
        if rules.surrogate:  # the missing rows have no say
            n, W, mu = m, W - w_gone, mu - d_gone / (W - w_gone)
        else:
            tries = 2
    least = max(LIGHT * W, rules.min_weight)
    for missing_left in range(tries):
        more = missing_left * (n - m)
        first = max(1, rules.min_leaf - more)
        last = min(m - 1, n - rules.min_leaf - more)
        if moments:
            w_l, d = missing_left * w_gone, missing_left * d_gone
            gain, t = scan_moments(
                data.X.T, j, rows_of, start, first, last, w_l, d, W, mu, data.wz, best / factor,
                tie / factor, least, rules.thresholds, scratch.candidates, *limits,
            )  # fmt: skip
            gain *= factor
        else:
            whole = start_counts(
                sums, total, scratch.gone, missing_left, data, rules, scratch.left, scratch.right
            )
            gain, t = _scan_counts(
                data.X.T, j, rows_of, start, first, last, scratch.left, scratch.right, W, whole,
                data.w, data.code, best, tie, least, rules.criterion, data.xlogx, scratch.f_l,
                scratch.f_r, rules.thresholds, scratch.candidates, *limits,
            )  # fmt: skip
        if not np.isnan(t):
            best, threshold, side = gain, t, (1 - missing_left if tries == 2 else -1)
    if tries == 2 and min(m, n - m) >= rules.min_leaf:
        gain = present_or_missing(sums, W, total, w_gone, d_gone, data, rules, scratch)
        if gain > best + tie:
            best, threshold, side = gain, np.inf, 1
    return best, threshold, side
