"""Exact growth: every split of every column scanned over sorted rows, the best leaf split first.

A node is a segment [start, stop) of the row numbers `order[j]` in every column j, sorted by the
column with missing rows last; splitting a node partitions its segments and keeps them sorted.

n, p, K      rows, columns, classes (0: regression)
wz           weight w of a row, and w z: z is the centred response, or 1 for the second of two
             classes (Gini is twice the variance of z, so both share one scan)
w, code      weight and class of a row
W, mu, d     weight and mean of a node; sum of w (z - mu) left of a boundary. A boundary gains
             W d^2 / (W_l W_r): the form without cancellation
W psi        weight times impurity, the unit of all gains here
side         child of the missing rows; -1: there are none in the node
"""

from typing import Any, NamedTuple

import numpy as np

from bottega._jit import kernel

__all__ = ["DEVIANCE", "ENTROPY", "ERROR", "GINI", "SQRT", "SQUARED", "Data", "Rules", "grow_exact"]

ERROR, GINI, ENTROPY, SQRT, DEVIANCE, SQUARED = range(6)
EXACT, UNIFORM, RANDOM = range(3)
TIE = 1e-12  # gains nearer than this, relative to the node's W psi, are equal
LIGHT = 1e-13  # a child with less of the node's weight is lost in rounding, and not made
ASTRAY = 2  # where the split sends a row that has no value in its column
SUBSETS = 10  # levels up to which all subsets are tried with three classes or more


class Data(NamedTuple):
    """What is known of the rows."""

    X: Any
    order: Any
    has_missing: Any
    categorical: Any
    n_levels: Any
    monotone: Any
    wz: Any
    w: Any
    code: Any
    n_classes: int
    xlogx: Any  # c log2 c of whole numbers c, when all weights are one; else empty


class Rules(NamedTuple):
    """How to grow."""

    criterion: int
    thresholds: int
    n_thresholds: int
    surrogate: bool
    n_surrogates: int
    multiway: bool
    max_depth: int
    max_leaves: int
    min_split: int
    min_leaf: int
    min_gain: float  # in units of W psi
    min_impurity: float
    max_features: int
    seed: int


class Scratch(NamedTuple):
    """Memory that every scan uses anew."""

    left: Any  # (K,) counts
    right: Any
    gone: Any  # (K,) counts of the missing rows
    f_l: Any  # (K,) terms of sums over classes
    f_r: Any
    candidates: Any
    columns: Any
    random: Any
    level: Any  # codes present in the node, and what they hold
    level_n: Any
    level_w: Any
    level_d: Any
    level_score: Any
    level_rank: Any
    level_counts: Any
    level_child: Any  # (all codes,) the child of each level; -1: not in the node


@kernel
def _random(state):
    """Return the next uniform number in [0, 1) (splitmix64)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) * 2.0**-53


@kernel
def _xlogx(c, table):
    if c <= 0.0:
        return 0.0
    if table.size:
        return table[int(c)]
    return c * np.log2(c)


@kernel
def _impurity(counts, total, criterion, table):
    """Return W psi of class counts."""
    out = 0.0
    if criterion == ERROR:
        most = 0.0
        for c in counts:
            most = max(most, c)
        return total - most
    if criterion == GINI:
        for c in counts:
            out += c * (total - c)
        return out / total if total > 0.0 else 0.0
    if criterion == SQRT:
        for c in counts:
            if TIE * total < c < (1.0 - TIE) * total:  # the root would blow up what rounding left
                out += np.sqrt(c * (total - c))
        return 0.5 * out
    for c in counts:
        out += _xlogx(c, table)
    out = _xlogx(total, table) - out
    return 2.0 * np.log(2.0) * out if criterion == DEVIANCE else 0.5 * out


@kernel
def _sum(a):
    out = 0.0
    for v in a:
        out += v
    return out


@kernel
def _lowest(values, start, stop, x):
    """Return the place of the first of the sorted values[start:stop] that is not below x."""
    while start < stop:
        middle = (start + stop) // 2
        if values[middle] < x:
            start = middle + 1
        else:
            stop = middle
    return start


@kernel
def _threshold(a, b, thresholds, candidates):
    """Return a threshold t with a <= t < b; NaN if no candidate lies there."""
    if thresholds == EXACT:
        t = 0.5 * a + 0.5 * b
        return t if a <= t < b else a
    k = _lowest(candidates, 0, candidates.size, a)
    if k < candidates.size and candidates[k] < b:
        return candidates[k]
    return np.nan


@kernel
def _ordered(low, high, sign, lo, hi):
    """Tell whether the values of two children keep to the order and the limits asked for.

    Columns without a direction may go beyond the limits: their leaves are cut back to them.
    """
    if sign == 0:
        return True
    if sign * (high - low) < 0.0:
        return False
    return lo <= min(low, high) and max(low, high) <= hi


@kernel
def _scan_moments(
    X, j, rows_of, start, first, last, w_l, d, W, mu, wz, best, tie, thresholds, candidates, sign,
    lo, hi,
):  # fmt: skip
    """Return gain and threshold of the best boundary with first <= i <= last present rows left.

    Left of a boundary there are w_l and d besides (missing rows that go left). Boundaries that do
    not beat `best` cost no look at X. Arrays come whole: a view costs more than a small node.
    """
    threshold = np.nan
    bar = (best + tie) / W
    for i in range(start, start + last):
        r = rows_of[j, i]
        w = wz[r, 0]
        w_l += w
        d += wz[r, 1] - w * mu
        if d * d > bar * w_l * (W - w_l) and i + 1 >= start + first:
            w_r = W - w_l
            a, b = X[r, j], X[rows_of[j, i + 1], j]
            if not a < b or min(w_l, w_r) < LIGHT * W:
                continue
            if not _ordered(mu + d / w_l, mu - d / w_r, sign, lo, hi):
                continue
            t = _threshold(a, b, thresholds, candidates)
            if not np.isnan(t):
                threshold = t
                best = W * d * d / (w_l * w_r)
                bar = (best + tie) / W
    return best, threshold


@kernel
def _scan_counts(
    X, j, rows_of, start, first, last, left, right, W, total, w, code, best, tie, criterion, table,
    f_l, f_r, thresholds, candidates, sign, lo, hi,
):  # fmt: skip
    """Do the same with class counts; `left` and `right` hold the counts before the first row.

    Gini and the entropies follow a row from right to left in a few operations, whatever the number
    of classes: a sum over classes changes in one term. What they let pass is computed afresh.
    """
    threshold = np.nan
    w_l = _sum(left)
    gini, entropy = criterion == GINI, criterion in (ENTROPY, DEVIANCE)
    unit = 2.0 * np.log(2.0) if criterion == DEVIANCE else 0.5
    s_l, s_r = 0.0, 0.0  # sums over classes of c^2, or of c log c
    for k in range(left.size):
        f_l[k] = _xlogx(left[k], table) if entropy else left[k] * left[k]
        f_r[k] = _xlogx(right[k], table) if entropy else right[k] * right[k]
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
            f = _xlogx(left[k], table)
            s_l += f - f_l[k]
            f_l[k] = f
            f = _xlogx(right[k], table)
            s_r += f - f_r[k]
            f_r[k] = f
            loss = _xlogx(w_l, table) - s_l + _xlogx(w_r, table) - s_r
            if total - unit * loss <= bar - slack:
                continue
        if i + 1 < start + first:
            continue
        a, b = X[r, j], X[rows_of[j, i + 1], j]
        if not a < b or min(w_l, w_r) < LIGHT * W:
            continue
        gain = total - _impurity(left, w_l, criterion, table)
        gain -= _impurity(right, w_r, criterion, table)
        if gain > bar:
            if left.size == 2 and not _ordered(left[1] / w_l, right[1] / w_r, sign, lo, hi):
                continue
            t = _threshold(a, b, thresholds, candidates)
            if not np.isnan(t):
                threshold, best = t, gain
                bar = best + tie
    return best, threshold


@kernel
def _fill_candidates(lo, hi, rules, candidates, random):
    """Write the thresholds to be tried in a node: equally spaced inside its range, or random."""
    # Sums of exponential numbers, over the last sum, are uniform numbers in ascending order.
    m, reached = candidates.size, 0.0
    for k in range(m + 1):
        reached += -np.log(1.0 - _random(random)) if rules.thresholds == RANDOM else 1.0
        if k < m:
            candidates[k] = reached
    for k in range(m):
        candidates[k] = lo + (hi - lo) * (candidates[k] / reached)


@kernel
def _count_present(x, rows, has_missing):
    m = rows.size
    if has_missing:
        while m > 0 and np.isnan(x[rows[m - 1]]):
            m -= 1
    return m


@kernel
def _sum_missing(rows, m, mu, data, gone):
    """Return weight and d of the rows behind the m present ones; write their class counts."""
    w, d = 0.0, 0.0
    for k in range(gone.size):
        gone[k] = 0.0
    for i in range(m, rows.size):
        r = rows[i]
        w += data.wz[r, 0]
        d += data.wz[r, 1] - data.wz[r, 0] * mu
        if data.n_classes:
            gone[data.code[r]] += data.w[r]
    return w, d


@kernel
def _start_counts(sums, total, gone, missing_left, data, rules, left, right):
    """Write the class counts left and right of the first row; return W psi of all of them."""
    for k in range(data.n_classes):
        left[k] = gone[k] if missing_left else 0.0
        right[k] = sums[k] - gone[k] if rules.surrogate or missing_left else sums[k]
    if rules.surrogate and data.n_classes:
        return _impurity(right, _sum(right), rules.criterion, data.xlogx)
    return total


@kernel
def _present_or_missing(sums, W, total, w_gone, d_gone, data, rules, scratch):
    """Return the gain of the present rows against the missing ones; 0 where not allowed."""
    w = W - w_gone
    if min(w, w_gone) < LIGHT * W:
        return 0.0
    if data.n_classes == 0:
        gain = W * d_gone * d_gone / (w * w_gone)
    else:
        for k in range(data.n_classes):
            scratch.left[k] = sums[k] - scratch.gone[k]
        gain = total - _impurity(scratch.left, w, rules.criterion, data.xlogx)
        gain -= _impurity(scratch.gone, w_gone, rules.criterion, data.xlogx)
    return gain


@kernel
def _scan_number(
    j, rows_of, start, stop, sums, W, mu, total, best, tie, data, rules, scratch, limits
):
    """Return gain, threshold and side of the best split on a column of numbers.

    `sums`, W, mu and total (W psi) are of the whole node.
    """
    x = data.X[:, j]
    rows = rows_of[j, start:stop]
    n = stop - start
    m = _count_present(x, rows, data.has_missing[j])
    threshold, side = np.nan, -1
    if m == 0 or (m == n and not x[rows[0]] < x[rows[n - 1]]):
        return best, threshold, side
    if rules.thresholds != EXACT:
        _fill_candidates(x[rows[0]], x[rows[m - 1]], rules, scratch.candidates, scratch.random)
    moments = data.n_classes == 0 or (data.n_classes == 2 and rules.criterion == GINI)
    factor = 2.0 if data.n_classes else 1.0
    w_gone, d_gone = 0.0, 0.0
    if m < n or not moments:
        w_gone, d_gone = _sum_missing(rows, m, mu, data, scratch.gone)
    tries = 1
    if m < n:
        if rules.surrogate:  # the missing rows have no say
            n, W, mu = m, W - w_gone, mu - d_gone / (W - w_gone)
        else:
            tries = 2
    for missing_left in range(tries):
        more = missing_left * (n - m)
        first = max(1, rules.min_leaf - more)
        last = min(m - 1, n - rules.min_leaf - more)
        if moments:
            w_l, d = missing_left * w_gone, missing_left * d_gone
            gain, t = _scan_moments(
                data.X, j, rows_of, start, first, last, w_l, d, W, mu, data.wz, best / factor,
                tie / factor, rules.thresholds, scratch.candidates, *limits,
            )  # fmt: skip
            gain *= factor
        else:
            whole = _start_counts(
                sums, total, scratch.gone, missing_left, data, rules, scratch.left, scratch.right
            )
            gain, t = _scan_counts(
                data.X, j, rows_of, start, first, last, scratch.left, scratch.right, W, whole,
                data.w, data.code, best, tie, rules.criterion, data.xlogx, scratch.f_l,
                scratch.f_r, rules.thresholds, scratch.candidates, *limits,
            )  # fmt: skip
        if not np.isnan(t):
            best, threshold, side = gain, t, (1 - missing_left if tries == 2 else -1)
    if tries == 2 and min(m, n - m) >= rules.min_leaf:
        gain = _present_or_missing(sums, W, total, w_gone, d_gone, data, rules, scratch)
        if gain > best + tie:
            best, threshold, side = gain, np.inf, 1
    return best, threshold, side


@kernel
def _gather_levels(x, rows, m, mu, data, scratch):
    """Write the levels of the m present rows, and what each holds; return how many there are."""
    n_levels = 0
    for i in range(m):
        r = rows[i]
        if i == 0 or x[r] != x[rows[i - 1]]:
            scratch.level[n_levels] = int(x[r])
            scratch.level_n[n_levels] = 0
            scratch.level_w[n_levels] = 0.0
            scratch.level_d[n_levels] = 0.0
            for k in range(data.n_classes):
                scratch.level_counts[n_levels, k] = 0.0
            n_levels += 1
        q = n_levels - 1
        scratch.level_n[q] += 1
        scratch.level_w[q] += data.wz[r, 0]
        scratch.level_d[q] += data.wz[r, 1] - data.wz[r, 0] * mu
        if data.n_classes:
            scratch.level_counts[q, data.code[r]] += data.w[r]
    return n_levels


@kernel
def _principal_scores(counts, weight, score, L):
    """Write the first principal component of the levels' class shares (power iteration)."""
    K = counts.shape[1]
    center, axis, moved = np.zeros(K), np.zeros(K), np.zeros(K)
    spread = np.zeros((K, K))
    total = 0.0
    for q in range(L):
        total += weight[q]
        for k in range(K):
            center[k] += counts[q, k]
    for q in range(L):
        for k in range(K):
            for i in range(K):
                a = counts[q, k] / weight[q] - center[k] / total
                b = counts[q, i] / weight[q] - center[i] / total
                spread[k, i] += weight[q] * a * b
    widest = 0
    for k in range(K):
        if spread[k, k] > spread[widest, widest]:
            widest = k
    axis[widest] = 1.0
    for _ in range(200):
        length = 0.0
        for k in range(K):
            moved[k] = 0.0
            for i in range(K):
                moved[k] += spread[k, i] * axis[i]
            length += moved[k] * moved[k]
        if length <= 0.0:
            break
        change = 0.0
        for k in range(K):
            a = moved[k] / np.sqrt(length)
            change = max(change, abs(a - axis[k]))
            axis[k] = a
        if change < 1e-12:
            break
    for q in range(L):
        score[q] = 0.0
        for k in range(K):
            score[q] += axis[k] * counts[q, k] / weight[q]


@kernel
def _sift(score, rank, i, size):
    """Let rank[i] sink to its place in a heap of the largest score (of even ones, the last)."""
    moving = rank[i]
    while 2 * i + 1 < size:
        c = 2 * i + 1
        if c + 1 < size and _after(score, rank[c + 1], rank[c]):
            c += 1
        if not _after(score, rank[c], moving):
            break
        rank[i] = rank[c]
        i = c
    rank[i] = moving


@kernel
def _after(score, a, b):
    return score[a] > score[b] or (score[a] == score[b] and a > b)


@kernel
def _sort_levels(score, rank, L):
    """Write the numbers of the levels from the least score up (heap sort)."""
    for q in range(L):
        rank[q] = q
    for i in range(L // 2 - 1, -1, -1):
        _sift(score, rank, i, L)
    for last in range(L - 1, 0, -1):
        rank[0], rank[last] = rank[last], rank[0]
        _sift(score, rank, 0, last)


@kernel
def _move(counts, sign, left, right):
    """Move class counts from the right to the left (sign 1) or back (-1)."""
    for k in range(counts.size):
        left[k] += sign * counts[k]
        right[k] -= sign * counts[k]


@kernel
def _scan_ordered_levels(
    L, n, sums, W, total, missing_left, n_gone, w_gone, d_gone, data, rules, scratch
):
    """Return the gain and the end of the best cut of the levels in the order of their scores.

    Exact for numbers and for two classes: some best split of the levels is one of these cuts.
    """
    if data.n_classes > 2:
        _principal_scores(scratch.level_counts, scratch.level_w, scratch.level_score, L)
    else:
        for q in range(L):
            scratch.level_score[q] = scratch.level_d[q] / scratch.level_w[q]
    _sort_levels(scratch.level_score, scratch.level_rank, L)
    best, cut, tie = 0.0, -1, TIE * total
    n_l = missing_left * n_gone
    w_l, d = missing_left * w_gone, missing_left * d_gone
    whole = _start_counts(
        sums, total, scratch.gone, missing_left, data, rules, scratch.left, scratch.right
    )
    for i in range(L - 1):
        q = scratch.level_rank[i]
        n_l += scratch.level_n[q]
        w_l += scratch.level_w[q]
        d += scratch.level_d[q]
        w_r = W - w_l
        if data.n_classes:
            _move(scratch.level_counts[q], 1, scratch.left, scratch.right)
        if min(n_l, n - n_l) < rules.min_leaf or min(w_l, w_r) < LIGHT * W:
            continue
        if data.n_classes == 0:
            gain = W * d * d / (w_l * w_r)
        else:
            gain = whole - _impurity(scratch.left, w_l, rules.criterion, data.xlogx)
            gain -= _impurity(scratch.right, w_r, rules.criterion, data.xlogx)
        if gain > best + tie:
            best, cut = gain, i + 1
    return best, cut


@kernel
def _scan_subsets(L, n, sums, W, total, missing_left, n_gone, data, rules, scratch):
    """Return gain and members (bits) of the best set of levels; the first level is always in it.

    The sets come in the order of a Gray code: each differs from the one before by one level.
    """
    best, members, tie = 0.0, -1, TIE * total
    whole = _start_counts(
        sums, total, scratch.gone, missing_left, data, rules, scratch.left, scratch.right
    )
    n_l, inside = missing_left * n_gone, 0
    for step in range(2 ** (L - 1)):
        q = 0
        if step:
            while not (step >> q) & 1:
                q += 1
            q += 1
        sign = -1 if (inside >> q) & 1 else 1
        inside ^= 1 << q
        n_l += sign * scratch.level_n[q]
        _move(scratch.level_counts[q], sign, scratch.left, scratch.right)
        w_l, w_r = _sum(scratch.left), _sum(scratch.right)
        if inside == 2**L - 1 or min(n_l, n - n_l) < rules.min_leaf or min(w_l, w_r) < LIGHT * W:
            continue
        gain = whole - _impurity(scratch.left, w_l, rules.criterion, data.xlogx)
        gain -= _impurity(scratch.right, w_r, rules.criterion, data.xlogx)
        if gain > best + tie:
            best, members = gain, inside
    return best, members


@kernel
def _split_levels(L, n_gone, w_gone, d_gone, sums, total, data, rules, scratch):
    """Return the gain of one child a level; the missing rows go to the heaviest."""
    if L < 2:
        return 0.0, -1
    heaviest = 0
    for q in range(L):
        if scratch.level_w[q] > scratch.level_w[heaviest]:
            heaviest = q
    gain = total
    if rules.surrogate:
        n_gone, w_gone = 0, 0.0
        gain = _start_counts(sums, total, scratch.gone, 0, data, rules, scratch.left, scratch.right)
    if data.n_classes == 0:
        gain = 0.0
    for q in range(L):
        more = 1 if q == heaviest else 0
        if scratch.level_n[q] + more * n_gone < rules.min_leaf:
            return 0.0, -1
        w = scratch.level_w[q] + more * w_gone
        if data.n_classes == 0:
            d = scratch.level_d[q]
            if more and not rules.surrogate:
                d += d_gone
            gain += d * d / w
        else:
            for k in range(data.n_classes):
                scratch.left[k] = scratch.level_counts[q, k]
                if more and not rules.surrogate:
                    scratch.left[k] += scratch.gone[k]
            gain -= _impurity(scratch.left, w, rules.criterion, data.xlogx)
    return gain, heaviest


@kernel
def _scan_category(j, rows, sums, W, mu, total, data, rules, scratch):
    """Return gain, number of children, number of levels and side of the best split of levels.

    Writes the child of each level present to `scratch.level_child`.
    """
    x = data.X[:, j]
    n = rows.size
    m = _count_present(x, rows, data.has_missing[j])
    best, width, side = 0.0, 0, -1
    if m == 0:
        return best, width, 0, side
    w_gone, d_gone = _sum_missing(rows, m, mu, data, scratch.gone)
    n_gone = n - m
    if rules.surrogate and n_gone:  # the missing rows have no say
        n, W, mu = m, W - w_gone, mu - d_gone / (W - w_gone)
    L = _gather_levels(x, rows, m, mu, data, scratch)
    child = scratch.level_child
    if rules.multiway:
        best, side = _split_levels(L, n_gone, w_gone, d_gone, sums, total, data, rules, scratch)
        for q in range(L):
            child[scratch.level[q]] = q
        return best, L, L, (side if n_gone else -1)
    tie = TIE * total
    tries = 2 if n_gone and not rules.surrogate else 1
    for missing_left in range(tries):
        if data.n_classes > 2 and L <= SUBSETS:
            gain, members = _scan_subsets(
                L, n, sums, W, total, missing_left, n_gone, data, rules, scratch
            )
            if gain > best + tie:
                best, width, side = gain, 2, (1 - missing_left if tries == 2 else -1)
                for q in range(L):
                    child[scratch.level[q]] = 1 - ((members >> q) & 1)
        else:
            gain, cut = _scan_ordered_levels(
                L, n, sums, W, total, missing_left, n_gone, w_gone, d_gone, data, rules, scratch
            )
            if gain > best + tie:
                best, width, side = gain, 2, (1 - missing_left if tries == 2 else -1)
                for i in range(L):
                    child[scratch.level[scratch.level_rank[i]]] = 0 if i < cut else 1
    if tries == 2 and min(m, n_gone) >= rules.min_leaf:
        gain = _present_or_missing(sums, W, total, w_gone, d_gone, data, rules, scratch)
        if gain > best + tie:
            best, width, side = gain, 2, 1
            for q in range(L):
                child[scratch.level[q]] = 0
    return best, width, L, side


@kernel
def _best_split(rows_of, start, stop, sums, W, mu, total, data, rules, scratch, limits):
    """Return gain, column, threshold and side of the best split of a node; column -1: none."""
    X, wz, p = data.X, data.wz, data.X.shape[1]
    has_missing, categorical, monotone = data.has_missing, data.categorical, data.monotone
    candidates, columns = scratch.candidates, scratch.columns
    tie = TIE * total
    best, column, threshold, side = max(0.0, rules.min_gain - tie), -1, np.nan, -1
    moments = data.n_classes == 0 or (data.n_classes == 2 and rules.criterion == GINI)
    factor = 2.0 if data.n_classes else 1.0
    plain = moments and rules.thresholds == EXACT
    n, min_leaf, some = stop - start, rules.min_leaf, rules.max_features < p
    if some:
        for j in range(p):
            columns[j] = j
    for visited in range(p):
        j = visited
        if some:
            other = visited + int((p - visited) * _random(scratch.random))
            j = columns[other]
            columns[other] = columns[visited]
            columns[visited] = j
            if visited >= rules.max_features and column >= 0:
                break
        if categorical[j]:
            t = np.nan
            gain, _, _, s = _scan_category(
                j, rows_of[j, start:stop], sums, W, mu, total, data, rules, scratch
            )
        elif plain and not has_missing[j]:  # straight to the scan: most nodes are small
            s = -1
            gain, t = _scan_moments(
                X, j, rows_of, start, max(1, min_leaf), min(n - 1, n - min_leaf), 0.0, 0.0, W, mu,
                wz, best / factor, tie / factor, EXACT, candidates, monotone[j], limits[0],
                limits[1],
            )  # fmt: skip
            gain *= factor
        else:
            gain, t, s = _scan_number(
                j, rows_of, start, stop, sums, W, mu, total, best, tie, data, rules, scratch,
                (monotone[j], limits[0], limits[1]),
            )  # fmt: skip
        if gain > best + tie:
            best, column, threshold, side = gain, j, t, s
    return best, column, threshold, side


@kernel
def _imitate_number(k, rows, child_of, data):
    """Return the most weight a test on column k sends where the split does, and that test."""
    x = data.X[:, k]
    m = _count_present(x, rows, data.has_missing[k])
    whole_0, whole_1, n = 0.0, 0.0, 0  # weight the split sends to child 0 and 1
    for i in range(m):
        r = rows[i]
        n += child_of[r] != ASTRAY
        whole_0 += data.wz[r, 0] * (child_of[r] == 0)
        whole_1 += data.wz[r, 0] * (child_of[r] == 1)
    agree, threshold, reverse = 0.0, np.nan, False
    w_0, w_1, n_l = 0.0, 0.0, 0  # the same up to row i, and the rows that the split placed
    for i in range(m - 1):
        r = rows[i]
        n_l += child_of[r] != ASTRAY
        w_0 += data.wz[r, 0] * (child_of[r] == 0)
        w_1 += data.wz[r, 0] * (child_of[r] == 1)
        if min(n_l, n - n_l) >= 2 and x[r] < x[rows[i + 1]]:
            same, other = w_0 + whole_1 - w_1, w_1 + whole_0 - w_0
            if max(same, other) > agree * (1.0 + TIE):
                agree, reverse = max(same, other), other > same
                threshold = _threshold(x[r], x[rows[i + 1]], EXACT, data.wz[:, 0])
    return agree, threshold, reverse


@kernel
def _imitate_levels(k, rows, child_of, default, data, scratch):
    """Return the weight that levels of column k, each sent with its majority, send as the split.

    Writes the levels and their children (`default` for an even level) to the scratch, and returns
    how many there are.
    """
    x = data.X[:, k]
    m = _count_present(x, rows, data.has_missing[k])
    agree, L, wrong = 0.0, 0, 0
    i = 0
    while i < m:
        a = x[rows[i]]
        w_0, w_1, c_0, c_1 = 0.0, 0.0, 0, 0
        while i < m and x[rows[i]] == a:
            r = rows[i]
            c_0 += child_of[r] == 0
            c_1 += child_of[r] == 1
            w_0 += data.wz[r, 0] * (child_of[r] == 0)
            w_1 += data.wz[r, 0] * (child_of[r] == 1)
            i += 1
        if w_0 + w_1 > 0.0:
            scratch.level[L] = int(a)
            c = 0 if w_0 > w_1 else 1
            scratch.level_child[int(a)] = default if w_0 == w_1 else c
            agree += max(w_0, w_1)
            L += 1
            wrong += c_1 if w_0 >= w_1 else c_0
    # As rpart has it: levels that imitate the split in all rows but one, or in all, are no
    # surrogate. (Its reason is not documented; its own data sets show it.)
    return (agree if wrong >= 2 else 0.0), L


@kernel
def _find_surrogates(j, rows_of, start, stop, child_of, default, data, scratch, found):
    """Write the best surrogates of a split on column j, best first; return how many."""
    columns, thresholds, reverses, agreements = found
    p = data.X.shape[1]
    w_0, w_1 = 0.0, 0.0
    for r in rows_of[j, start:stop]:
        w_0 += data.wz[r, 0] * (child_of[r] == 0)
        w_1 += data.wz[r, 0] * (child_of[r] == 1)
    majority = max(w_0, w_1)
    count = 0
    for k in range(p):
        if k == j:
            continue
        rows = rows_of[k, start:stop]
        if data.categorical[k]:
            agree, _ = _imitate_levels(k, rows, child_of, default, data, scratch)
            threshold, reverse = np.nan, False
        else:
            agree, threshold, reverse = _imitate_number(k, rows, child_of, data)
        if agree <= majority * (1.0 + TIE):
            continue
        agree /= w_0 + w_1
        i = count
        while i > 0 and agreements[i - 1] < agree - TIE:
            i -= 1
        if i == columns.size:
            continue
        count = min(count + 1, columns.size)
        for q in range(count - 1, i, -1):
            columns[q], thresholds[q] = columns[q - 1], thresholds[q - 1]
            reverses[q], agreements[q] = reverses[q - 1], agreements[q - 1]
        columns[i], thresholds[i], reverses[i], agreements[i] = k, threshold, reverse, agree
    return count


@kernel
def _place(rows, child_of, X, tests, s, stop, default):
    """Send each row that went astray where the first of the tests s, ... that can sends it."""
    feature, threshold, reverse, level_start, level_stop, levels, level_child = tests
    for r in rows:
        if child_of[r] != ASTRAY:
            continue
        child_of[r] = default
        for q in range(s, stop):
            x = X[r, feature[q]]
            if np.isnan(x):
                continue
            if level_start[q] == level_stop[q]:
                child_of[r] = (x > threshold[q]) ^ reverse[q]
                break
            at = _lowest(levels, level_start[q], level_stop[q], x)
            if at < level_stop[q] and levels[at] == x:
                child_of[r] = level_child[at]
                break


@kernel
def _describe(rows, child_of, first, n_children, nodes, data, rules):
    """Write size, sums, W psi and purity of the children first, first + 1, ... of a node."""
    n, sums, weight, mean, loss, pure = nodes
    K = data.n_classes
    for t in range(first, first + n_children):
        n[t], weight[t], mean[t], loss[t] = 0, 0.0, 0.0, 0.0
        pure[t] = True
        for k in range(sums.shape[1]):
            sums[t, k] = 0.0
    for r in rows:
        t = first + child_of[r]
        n[t] += 1
        weight[t] += data.wz[r, 0]
        mean[t] += data.wz[r, 1]
        if K:
            sums[t, data.code[r]] += data.w[r]
    for t in range(first, first + n_children):
        mean[t] /= weight[t]
    if K:
        for t in range(first, first + n_children):
            classes = 0
            for k in range(K):
                classes += sums[t, k] > 0.0
            pure[t] = classes < 2
            loss[t] = _impurity(sums[t], weight[t], rules.criterion, data.xlogx)
        return
    for t in range(first, first + n_children):
        sums[t, 0] = np.nan
    for r in rows:
        t = first + child_of[r]
        w = data.wz[r, 0]
        z = data.wz[r, 1] / w
        if np.isnan(sums[t, 0]):
            sums[t, 0] = z
        elif z != sums[t, 0]:
            pure[t] = False
        loss[t] += w * (z - mean[t]) ** 2


@kernel
def _partition(source, target, start, stop, at, child_of, n_children, keep, buffer):
    """Write the rows of the children to keep one after the other to target[:, at:], stably."""
    p = source.shape[0]
    for j in range(p):
        if n_children == 2 and keep[0] and keep[1]:
            a, b = at, 0
            for i in range(start, stop):
                r = source[j, i]
                right = child_of[r]
                target[j, a] = r  # never ahead of the row that is read
                buffer[b] = r
                a += 1 - right
                b += right
            for i in range(b):
                target[j, a + i] = buffer[i]
        elif n_children == 2:
            kept = 0 if keep[0] else 1
            a = at
            for i in range(start, stop):
                r = source[j, i]
                target[j, a] = r
                a += child_of[r] == kept
        else:
            place = np.zeros(n_children + 1, dtype=np.int64)
            for i in range(start, stop):
                c = child_of[source[j, i]]
                place[c + 1] += keep[c]
            for c in range(n_children):
                place[c + 1] += place[c]
            m = place[n_children]
            for i in range(start, stop):
                r = source[j, i]
                c = child_of[r]
                if keep[c]:
                    buffer[place[c]] = r
                    place[c] += 1
            for i in range(m):
                target[j, at + i] = buffer[i]


@kernel
def _push(heap, size, key, t):
    """Add node t to the heap of the largest key."""
    i = size
    while i > 0 and key[heap[(i - 1) // 2]] < key[t]:
        heap[i] = heap[(i - 1) // 2]
        i = (i - 1) // 2
    heap[i] = t


@kernel
def _pop(heap, size, key):
    """Take the node of the largest key; the heap then holds size - 1."""
    top, t = heap[0], heap[size - 1]
    size -= 1
    i = 0
    while 2 * i + 1 < size:
        c = 2 * i + 1
        if c + 1 < size and key[heap[c + 1]] > key[heap[c]]:
            c += 1
        if key[heap[c]] <= key[t]:
            break
        heap[i] = heap[c]
        i = c
    heap[i] = t
    return top


@kernel
def _longer(a):
    """Return the array with room for as much again."""
    out = np.empty(2 * a.size, dtype=a.dtype)
    for i in range(a.size):
        out[i] = a[i]
    return out


@kernel
def grow_exact(data, rules, work, child_of, n_nodes_most):
    """Grow a tree; return the arrays of nodes, of tests and of levels.

    work : (p, n) int32 to partition in (may be empty if only the root can be split)
    child_of : (n,) integers
    """
    order = data.order
    p, n_rows = order.shape
    K = data.n_classes
    most = n_nodes_most
    # Nodes.
    parent = np.full(most, -1, dtype=np.int32)
    depth = np.zeros(most, dtype=np.int32)
    first_child = np.full(most, -1, dtype=np.int32)
    n_children = np.zeros(most, dtype=np.int32)
    default_child = np.zeros(most, dtype=np.int32)
    test_start = np.zeros(most, dtype=np.int32)
    test_stop = np.zeros(most, dtype=np.int32)
    gain = np.zeros(most)
    nodes = (
        np.empty(most, dtype=np.int64),
        np.empty((most, max(K, 1))),
        np.empty(most),
        np.empty(most),
        np.empty(most),
        np.empty(most, dtype=np.bool_),
    )
    n, sums, weight, mean, loss, pure = nodes
    # Where a leaf stands, its best split, and the limits of its value.
    start = np.zeros(most, dtype=np.int64)
    stop = np.zeros(most, dtype=np.int64)
    split_column = np.full(most, -1, dtype=np.int32)
    split_threshold = np.empty(most)
    split_side = np.empty(most, dtype=np.int32)
    split_gain = np.zeros(most)
    lo = np.full(most, -np.inf)
    hi = np.full(most, np.inf)
    # Tests and levels.
    room = 64
    feature = np.empty(room, dtype=np.int32)
    threshold = np.empty(room)
    reverse = np.empty(room, dtype=np.bool_)
    agreement = np.empty(room)
    level_start = np.empty(room, dtype=np.int32)
    level_stop = np.empty(room, dtype=np.int32)
    levels = np.empty(room, dtype=np.int32)
    level_child = np.empty(room, dtype=np.int32)
    n_tests, n_listed = 0, 0

    widest = max(1, data.n_levels.max()) if p else 1
    at_once = min(widest, n_rows)
    scratch = Scratch(
        np.empty(max(K, 1)),
        np.empty(max(K, 1)),
        np.empty(max(K, 1)),
        np.empty(max(K, 1)),
        np.empty(max(K, 1)),
        np.empty(rules.n_thresholds),
        np.empty(p, dtype=np.int32),
        np.array([rules.seed], dtype=np.uint64),
        np.empty(at_once, dtype=np.int32),
        np.empty(at_once, dtype=np.int64),
        np.empty(at_once),
        np.empty(at_once),
        np.empty(at_once),
        np.empty(at_once, dtype=np.int32),
        np.empty((at_once, max(K, 1))),
        np.empty(widest, dtype=np.int32),
    )
    buffer = np.empty(n_rows if work.size else 0, dtype=np.int32)
    keep = np.empty(max(2, at_once), dtype=np.bool_)
    found = (
        np.empty(rules.n_surrogates, dtype=np.int32),
        np.empty(rules.n_surrogates),
        np.empty(rules.n_surrogates, dtype=np.bool_),
        np.empty(rules.n_surrogates),
    )
    heap = np.empty(most, dtype=np.int32)
    waiting = 0

    child_of[:] = 0
    stop[0] = n_rows
    _describe(order[0], child_of, 0, 1, nodes, data, rules)
    n_nodes, n_leaves = 1, 1
    rows_of = order
    fresh_from, fresh_to = 0, 1  # nodes whose best split is still to be found
    # With no limit on leaves the order of splits does not matter: the newest node is in the cache.
    key = split_gain if rules.max_leaves < n_rows else np.arange(most).astype(np.float64)
    while True:
        for t in range(fresh_from, fresh_to):
            if not _splittable(t, n, depth, pure, weight, loss, rules):
                continue
            split_gain[t], split_column[t], split_threshold[t], split_side[t] = _best_split(
                rows_of, start[t], stop[t], sums[t], weight[t], mean[t], loss[t], data, rules,
                scratch, (lo[t], hi[t]),
            )  # fmt: skip
            if split_column[t] >= 0:
                _push(heap, waiting, key, t)
                waiting += 1
        fresh_from = fresh_to
        if waiting == 0 or n_leaves >= rules.max_leaves:
            break
        t = _pop(heap, waiting, key)
        waiting -= 1
        j = np.int64(split_column[t])
        rows = rows_of[j, start[t] : stop[t]]
        width, n_present = 2, 0
        if data.categorical[j]:  # once more, to know the children of its levels
            _, width, n_present, split_side[t] = _scan_category(
                j, rows, sums[t], weight[t], mean[t], loss[t], data, rules, scratch
            )
        if n_leaves + width - 1 > rules.max_leaves:
            continue

        # The test.
        if n_tests + 1 + rules.n_surrogates > feature.size:
            feature, threshold, reverse = _longer(feature), _longer(threshold), _longer(reverse)
            agreement = _longer(agreement)
            level_start, level_stop = _longer(level_start), _longer(level_stop)
        test_start[t] = n_tests
        feature[n_tests] = j
        threshold[n_tests] = split_threshold[t]
        reverse[n_tests] = False
        agreement[n_tests] = 1.0
        level_start[n_tests] = n_listed
        while n_listed + n_present > levels.size:
            levels, level_child = _longer(levels), _longer(level_child)
        for q in range(n_present):
            levels[n_listed] = scratch.level[q]
            level_child[n_listed] = scratch.level_child[scratch.level[q]]
            n_listed += 1
        x = data.X[:, j]
        for r in rows:
            if np.isnan(x[r]):
                child_of[r] = ASTRAY if rules.surrogate and width == 2 else split_side[t]
            elif n_present:
                child_of[r] = scratch.level_child[int(x[r])]
            else:
                child_of[r] = 1 if x[r] > split_threshold[t] else 0
        level_stop[n_tests] = n_listed
        n_tests += 1
        if rules.surrogate and width == 2:
            w_0, w_1 = 0.0, 0.0
            for r in rows:
                w_0 += data.wz[r, 0] * (child_of[r] == 0)
                w_1 += data.wz[r, 0] * (child_of[r] == 1)
            split_side[t] = 0 if w_0 >= w_1 else 1
            count = 0
            if rules.n_surrogates:
                count = _find_surrogates(
                    j, rows_of, start[t], stop[t], child_of, split_side[t], data, scratch, found
                )
            for q in range(count):
                k = np.int64(found[0][q])
                feature[n_tests] = k
                threshold[n_tests], reverse[n_tests] = found[1][q], found[2][q]
                agreement[n_tests] = found[3][q]
                level_start[n_tests] = n_listed
                if data.categorical[k]:
                    _, L = _imitate_levels(
                        k, rows_of[k, start[t] : stop[t]], child_of, split_side[t], data, scratch
                    )
                    while n_listed + L > levels.size:
                        levels, level_child = _longer(levels), _longer(level_child)
                    for i in range(L):
                        levels[n_listed] = scratch.level[i]
                        level_child[n_listed] = scratch.level_child[scratch.level[i]]
                        n_listed += 1
                level_stop[n_tests] = n_listed
                n_tests += 1
            tests = (feature, threshold, reverse, level_start, level_stop, levels, level_child)
            _place(rows, child_of, data.X, tests, n_tests - count, n_tests, split_side[t])
        test_stop[t] = n_tests

        # The children.
        first = n_nodes
        first_child[t], n_children[t], gain[t] = first, width, split_gain[t]
        n_nodes += width
        n_leaves += width - 1
        _describe(rows, child_of, first, width, nodes, data, rules)
        heaviest, any_kept = 0, False
        for c in range(width):
            parent[first + c], depth[first + c] = t, depth[t] + 1
            lo[first + c], hi[first + c] = lo[t], hi[t]
            if weight[first + c] > weight[first + heaviest]:
                heaviest = c
        default_child[t] = heaviest if split_side[t] < 0 else split_side[t]
        if data.monotone[j] != 0 and split_threshold[t] < np.inf:
            middle = min(max(0.5 * (mean[first] + mean[first + 1]), lo[t]), hi[t])
            low, high = (first, first + 1) if data.monotone[j] > 0 else (first + 1, first)
            hi[low], lo[high] = middle, middle
        for c in range(width):
            keep[c] = n_leaves < rules.max_leaves and _splittable(
                first + c, n, depth, pure, weight, loss, rules
            )
            any_kept = any_kept or keep[c]
        if any_kept:
            at = start[t]
            for c in range(width):
                if keep[c]:
                    start[first + c] = at
                    at += n[first + c]
                    stop[first + c] = at
            _partition(rows_of, work, start[t], stop[t], start[t], child_of, width, keep, buffer)
            rows_of = work
            fresh_from, fresh_to = first, n_nodes
        else:
            fresh_from, fresh_to = n_nodes, n_nodes

    s = slice(0, n_nodes)
    v = slice(0, n_tests)
    u = slice(0, n_listed)
    return (
        (parent[s], depth[s], first_child[s], n_children[s], default_child[s], test_start[s],
         test_stop[s], n[s], weight[s], mean[s], loss[s], gain[s], lo[s], hi[s]),
        sums[s],
        (feature[v], threshold[v], reverse[v], agreement[v], level_start[v], level_stop[v]),
        (levels[u], level_child[u]),
    )  # fmt: skip


@kernel
def _splittable(t, n, depth, pure, weight, loss, rules):
    """Tell whether the rules let a node be split at all."""
    return (
        not pure[t]
        and n[t] >= rules.min_split
        and n[t] >= 2 * rules.min_leaf
        and depth[t] < rules.max_depth
        and loss[t] > rules.min_impurity * weight[t]
    )
