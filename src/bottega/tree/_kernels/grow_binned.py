"""Growth of one tree on binned columns, at a cost of order (rows of the node) a node and column.

Symbols
-------
codes      bins as bytes, the codes of a row side by side; 255 is missing (`_kernels.bins`)
rows       the training rows; those of a node stand together in rows[start:stop], in the order
           they came, and the weights w and targets t move with them
t          w * y for sums (regression, or two classes with Gini's index), the class otherwise
c          how many rows a row stands for (what min_leaf and min_split count), if `weighted`;
           otherwise w says it
W, S       sums of w and t over a node; WL, SL over its left part, WM, SM over missing rows
n_all      sum of c over a node; n_left over its left part, n_gone over missing rows
group      the rows of a node that share a bin of the column under test
reduction  by how much a split lowers the summed impurity of the node

A split on a number is written as the groups on both sides of the cut, one on a category as the set
of the codes that go left. Unseen levels go with the missing rows, and both with the heavier part
where the node has no missing rows.
"""

import numpy as np

from bottega._jit import kernel

__all__ = ["DEVIANCE", "ENTROPY", "ERROR", "GINI", "SQRT", "SUMS", "describe", "grow"]

SUMS, GINI, ENTROPY, DEVIANCE, SQRT, ERROR = 0, 1, 2, 3, 4, 5

_BLOCK = 8  # columns whose tables of sums fit into the first-level cache together
_FEW = 48  # a node of fewer rows is sorted, not counted: 256 bins would cost more than the rows
_TIE = 1e-10  # gains nearer than this (relative) are equal: the column tried first wins


@kernel
def grow(
    codes,
    n_bins,
    categorical,
    rows,
    w,
    t,
    c,
    weighted,
    criterion,
    n_classes,
    two_class,
    max_features,
    shuffle,
    max_depth,
    max_leaves,
    min_split,
    min_leaf,
    min_gain,
    min_impurity,
    seed,
):
    """Grow a tree; `rows`, `w`, `t` and `c` are put in the order of its leaves.

    Returns the nodes: start, stop, first_child (-1 for a leaf), depth, feature, the bins to the
    left and right of the cut, whether missing goes left, the reduction, W, S, n_all, the sets of
    left and of seen codes of the tests on categories, with the number of each (-1 for others).
    """
    m, p = rows.shape[0], codes.shape[1]
    most = 2 * min(m, max_leaves) - 1
    start, stop = np.zeros(most, np.int32), np.zeros(most, np.int32)
    first_child, depth = np.full(most, -1, np.int32), np.zeros(most, np.int32)
    feature, set_of = np.full(most, -1, np.int32), np.full(most, -1, np.int32)
    bins = np.zeros((most, 2), np.uint8)
    missing_left = np.zeros(most, np.bool_)
    reduction = np.zeros(most)
    weight, total, count = np.zeros(most), np.zeros(most), np.zeros(most)
    n_sets = 0
    sets = np.zeros((16, 2, 4), np.uint64)

    # Room for the search, made once a tree.
    flat = codes.reshape(-1)
    columns, swapped = np.arange(p), np.arange(p)
    table = np.zeros(_BLOCK * 512)
    counts = np.zeros(_BLOCK * 256 if weighted else 1)
    group_code = np.zeros(257, np.int64)
    group = np.zeros((3, 257))
    score = np.zeros(257)
    by_score = np.zeros(257, np.int64)
    key = np.zeros(128, np.int16)
    left_set, seen_set = np.zeros(4, np.uint64), np.zeros(4, np.uint64)
    found = np.zeros(6)
    class_sums = np.zeros((4, max(n_classes, 1)))
    goes_left = np.zeros(256, np.uint8)
    spare_rows = np.empty(m, np.int32)
    spare_w, spare_t = np.empty(m), np.empty(m)
    spare_c = np.empty(m if weighted else 1)
    frontier = np.empty(most, np.int32)
    n_open = 0
    best_first = max_leaves < m

    stop[0] = m
    n_nodes, n_done, n_leaves = 1, 0, 1
    root_weight, least = 0.0, 0.0
    while True:
        # Look for the best split of the nodes that are new.
        while n_done < n_nodes:
            node = n_done
            n_done += 1
            a, b = start[node], stop[node]
            W, S, n_all = _node_sums(w, t, c, weighted, a, b)
            weight[node], total[node], count[node] = W, S, n_all
            if node == 0:
                root_weight = W
                if criterion == SUMS:
                    least = 1e-14 * _deviance(w, t, W, S, a, b) / max(W, 1e-300)
                else:
                    least = 1e-12
            if n_all < min_split or n_all < 2 * min_leaf or depth[node] >= max_depth or b - a < 2:
                continue
            impurity = -1.0
            if criterion == SUMS:
                if two_class:
                    if S <= 0.0 or S >= W:
                        continue
                    impurity = 2.0 * S / W * (1.0 - S / W)
                elif min_impurity > 0.0:
                    impurity = _deviance(w, t, W, S, a, b) / W
            else:
                impurity = _class_impurity(criterion, w, t, a, b, W, class_sums)
                if impurity <= 1e-14:
                    continue
            if min_impurity > 0.0 and impurity <= min_impurity:
                continue

            found[0] = least * W * (W if criterion == SUMS else 1.0)
            found[1] = -1.0
            most = np.inf  # no split can do more: once it is reached the other columns are spared
            if two_class and criterion == SUMS:
                most = S * (W - S)
            elif criterion == SUMS and b - a == 2:
                most = W * _deviance(w, t, W, S, a, b)
            # Each node has draws of its own: they do not depend on what other nodes have drawn.
            state = _mix(np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(node))
            tried, usable = 0, 0
            while usable < max_features and tried < p:
                batch = min(max_features - usable, p - tried)
                if shuffle:
                    for q in range(tried, tried + batch):
                        state += np.uint64(0x9E3779B97F4A7C15)
                        other = q + _below(state, p - q)
                        swapped[q] = other
                        columns[q], columns[other] = columns[other], columns[q]
                if criterion == SUMS and b - a < _FEW:
                    constant = _search_few(
                        flat, p, categorical, rows, w, t, c, weighted, a, b, W, S, n_all, most,
                        min_leaf, columns, tried, tried + batch, key,
                        group_code, group, score, by_score, found, left_set, seen_set,
                    )  # fmt: skip
                elif criterion == SUMS:
                    constant = _search_sums(
                        flat, p, n_bins, categorical, rows, w, t, c, weighted, a, b, W, S, n_all,
                        min_leaf, columns, tried, tried + batch, table, counts,
                        group_code, group, score, by_score, found, left_set, seen_set,
                    )  # fmt: skip
                else:
                    constant = _search_classes(
                        flat, p, categorical, rows, w, t, c, weighted, a, b, W, n_all, impurity * W,
                        criterion, min_leaf, columns, tried, tried + batch, spare_rows,
                        score, by_score, group_code, class_sums, found, left_set, seen_set,
                    )  # fmt: skip
                tried += batch
                usable += batch - constant
                if found[0] * (1.0 + _TIE) >= most:
                    break
            if shuffle:
                for q in range(tried - 1, -1, -1):
                    columns[q], columns[swapped[q]] = columns[swapped[q]], columns[q]
            if found[1] < 0.0:
                continue
            reduction[node] = found[0] / W if criterion == SUMS else found[0]
            scale = 2.0 if two_class else 1.0
            if scale * reduction[node] < (1.0 - _TIE) * min_gain * root_weight:
                continue
            feature[node] = int(found[1])
            bins[node, 0], bins[node, 1] = int(found[2]), int(found[3])
            missing_left[node] = found[4] > 0.0
            if categorical[feature[node]]:
                if n_sets == sets.shape[0]:
                    sets = _twice_as_long(sets)
                for word in range(4):
                    sets[n_sets, 0, word] = left_set[word]
                    sets[n_sets, 1, word] = seen_set[word]
                set_of[node] = n_sets
                n_sets += 1
            n_open = _push(frontier, n_open, node, reduction, best_first)

        if n_open == 0 or n_leaves >= max_leaves:
            break
        n_open, node = _pop(frontier, n_open, reduction, best_first)
        by_set = set_of[node] >= 0
        if by_set:
            for code in range(256):
                word = sets[set_of[node], 0, code >> 6]
                goes_left[code] = (word >> np.uint64(code & 63)) & np.uint64(1)
        middle = _partition(
            flat, p, feature[node], by_set, goes_left, bins[node, 0], missing_left[node],
            rows, w, t, c, weighted, start[node], stop[node],
            spare_rows, spare_w, spare_t, spare_c,
        )  # fmt: skip
        first_child[node] = n_nodes
        # The right child first, so that the stack gives back the left one, whose rows are near.
        start[n_nodes], stop[n_nodes] = start[node], middle
        start[n_nodes + 1], stop[n_nodes + 1] = middle, stop[node]
        depth[n_nodes] = depth[n_nodes + 1] = depth[node] + 1
        n_nodes += 2
        n_leaves += 1

    return (
        start[:n_nodes].copy(),
        stop[:n_nodes].copy(),
        first_child[:n_nodes].copy(),
        depth[:n_nodes].copy(),
        feature[:n_nodes].copy(),
        bins[:n_nodes].copy(),
        missing_left[:n_nodes].copy(),
        reduction[:n_nodes].copy(),
        weight[:n_nodes].copy(),
        total[:n_nodes].copy(),
        count[:n_nodes].copy(),
        set_of[:n_nodes].copy(),
        sets[:n_sets].copy(),
    )


@kernel
def _twice_as_long(sets):
    longer = np.zeros((2 * sets.shape[0], 2, 4), np.uint64)
    for i in range(sets.shape[0]):
        for side in range(2):
            for word in range(4):
                longer[i, side, word] = sets[i, side, word]
    return longer


@kernel
def describe(start, stop, first_child, reduction, w, t, criterion, n_classes, two_class):
    """Return W times the impurity of each node, and its sums: of t, or of w by class."""
    n_nodes = start.shape[0]
    loss = np.zeros(n_nodes)
    sums = np.zeros((n_nodes, max(n_classes, 1)))
    # Children come after their parents, so backwards they are done when the parent needs them.
    for node in range(n_nodes - 1, -1, -1):
        if first_child[node] >= 0:
            for child in range(first_child[node], first_child[node] + 2):
                loss[node] += loss[child]
                for k in range(sums.shape[1]):
                    sums[node, k] += sums[child, k]
            loss[node] += (2.0 if two_class else 1.0) * reduction[node]
            continue
        W = 0.0
        for i in range(start[node], stop[node]):
            W += w[i]
            if n_classes == 0:
                sums[node, 0] += t[i]
            elif two_class:
                sums[node, 1 if t[i] > 0.0 else 0] += w[i]
            else:
                sums[node, np.int64(t[i])] += w[i]
        if n_classes == 0:
            loss[node] = _deviance(w, t, W, sums[node, 0], start[node], stop[node])
        else:
            loss[node] = _impurity(GINI if two_class else criterion, sums, node, W)
    return loss, sums


@kernel
def _mix(state):
    """Return 64 random bits made from the state of the generator (SplitMix64)."""
    z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def _below(state, k):
    """Return a random number in 0 .. k-1."""
    return np.int64(((_mix(state) >> np.uint64(32)) * np.uint64(k)) >> np.uint64(32))


@kernel
def _push(frontier, n_open, node, reduction, best_first):
    """Put a node on the stack, or on the heap with the largest reduction on top."""
    at = n_open
    frontier[at] = node
    if best_first:
        while at > 0 and reduction[frontier[(at - 1) // 2]] < reduction[frontier[at]]:
            up = (at - 1) // 2
            frontier[up], frontier[at] = frontier[at], frontier[up]
            at = up
    return n_open + 1


@kernel
def _pop(frontier, n_open, reduction, best_first):
    """Take the last node off the stack, or the top off the heap."""
    n_open -= 1
    if not best_first:
        return n_open, frontier[n_open]
    top = frontier[0]
    frontier[0] = frontier[n_open]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= n_open:
            return n_open, top
        if child + 1 < n_open and reduction[frontier[child + 1]] > reduction[frontier[child]]:
            child += 1
        if reduction[frontier[child]] <= reduction[frontier[at]]:
            return n_open, top
        frontier[at], frontier[child] = frontier[child], frontier[at]
        at = child


@kernel
def _node_sums(w, t, c, weighted, a, b):
    W = S = n_all = 0.0
    for i in range(a, b):
        W += w[i]
        S += t[i]
    if not weighted:
        return W, S, W
    for i in range(a, b):
        n_all += c[i]
    return W, S, n_all


@kernel
def _deviance(w, t, W, S, a, b):
    """Return the weighted sum of squares about the mean of a node."""
    mean = S / W
    found = 0.0
    for i in range(a, b):
        if w[i] > 0.0:
            residual = t[i] / w[i] - mean
            found += w[i] * residual * residual
    return found


@kernel
def _partition(
    flat, p, j, by_set, goes_left, last_left, missing_left, rows, w, t, c, weighted, a, b,
    spare_rows, spare_w, spare_t, spare_c,
):  # fmt: skip
    """Bring the left rows of a node before the right ones; return where the right ones start."""
    left, right = np.int64(a), np.int64(0)
    # One more, modulo 256, puts missing (255) before all other codes.
    shift = np.int64(missing_left)
    limit = np.int64(last_left) + shift
    # Each row is written to both sides and only the place that counts moves on: no branch.
    for i in range(a, b):
        row, wi, ti = rows[i], w[i], t[i]
        code = np.int64(flat[np.int64(row) * p + j])
        go = np.int64(goes_left[code]) if by_set else np.int64(((code + shift) & 255) <= limit)
        spare_rows[right], spare_w[right], spare_t[right] = row, wi, ti
        if weighted:
            ci = c[i]
            spare_c[right] = ci
            c[left] = ci
        rows[left], w[left], t[left] = row, wi, ti
        left += go
        right += 1 - go
    for i in range(right):
        rows[left + i], w[left + i], t[left + i] = spare_rows[i], spare_w[i], spare_t[i]
    if weighted:
        for i in range(right):
            c[left + i] = spare_c[i]
    return left


@kernel
def _sort_by_score(score, n, order):
    """Write into `order` the numbers 0 .. n-1 sorted by their score (Shell's method)."""
    for i in range(n):
        order[i] = i
    gap = 1
    while 3 * gap + 1 < n:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            k = order[i]
            at = i
            while at >= gap and (
                score[order[at - gap]] > score[k]
                or (score[order[at - gap]] == score[k] and order[at - gap] > k)
            ):
                order[at] = order[at - gap]
                at -= gap
            order[at] = k
        gap //= 3


@kernel
def _search_few(
    flat, p, categorical, rows, w, t, c, weighted, a, b, W, S, n_all, most,
    min_leaf, columns, first, last, key,
    group_code, group, score, by_score, found, left_set, seen_set,
):  # fmt: skip
    """Try columns in a node of few rows by sorting them; return how many are constant.

    Most nodes of a full tree come here, so the common case (numbers, none missing) is written out
    in place: at this size a call with so many arrays costs as much as the work it is for.
    """
    m = b - a
    constant = 0
    half = np.uint64(64)
    padded = np.uint64(16 * ((m + 15) // 16))  # whole vector registers
    for at in range(first, last):
        j = columns[at]
        lowest, highest = np.int64(255), np.int64(0)
        for i in range(m):
            code = np.int64(flat[np.int64(rows[a + i]) * p + j])
            key[np.uint64(i)] = np.int16((code << 7) | i)
            lowest, highest = min(lowest, code), max(highest, code)
        if lowest == highest:
            constant += 1
            continue
        for i in range(np.uint64(m), padded):
            key[i] = np.int16(32767)
        for i in range(padded):
            key[half + i] = 0
        # The place of a row is the number of smaller keys. Comparing all with all, many at once,
        # is faster than sorting, which guesses and guesses wrong.
        for k in range(np.uint64(m)):
            smaller = key[k]
            for i in range(padded):
                key[half + i] += np.int16(smaller < key[i])
        for i in range(m):
            by_score[key[64 + i]] = i
        if categorical[j] or highest == 255:
            n_groups = _gather_sorted(w, t, c, weighted, a, m, key, by_score, group_code, group)
            if categorical[j]:
                _split_levels(
                    j, n_groups, group_code, group, weighted, W, S, n_all, min_leaf,
                    score, by_score, found, left_set, seen_set,
                )  # fmt: skip
            else:
                _split_numbers(
                    j, n_groups, group_code, group, weighted, W, S, n_all, min_leaf, found
                )
            continue
        best = found[0] * (1.0 + _TIE)
        cut, left_weight = -1, 0.0
        WL = SL = n_left = 0.0
        this = by_score[0]
        for k in range(m - 1):
            WL += w[a + this]
            SL += t[a + this]
            n_left += c[a + this] if weighted else w[a + this]
            following = by_score[k + 1]
            apart = key[this] >> 7 != key[following] >> 7
            this = following
            if apart and n_left >= min_leaf and n_all - n_left >= min_leaf:
                d = SL * W - S * WL
                gain = d * d / (WL * (W - WL))
                if gain > best:
                    best = gain * (1.0 + _TIE)
                    found[0] = gain
                    cut, left_weight = k, WL
        if cut >= 0:
            found[1] = j
            found[2] = key[by_score[cut]] >> 7
            found[3] = key[by_score[cut + 1]] >> 7
            found[4] = 1.0 if 2.0 * left_weight >= W else 0.0
            if best >= most:
                break
    return constant


@kernel
def _gather_sorted(w, t, c, weighted, a, m, key, by_rank, group_code, group):
    """Gather the bins of sorted rows; return how many there are."""
    n_groups = 0
    for k in range(m):
        i = a + by_rank[k]
        code = np.int64(key[by_rank[k]]) >> 7
        if n_groups == 0 or group_code[n_groups - 1] != code:
            group_code[n_groups] = code
            group[:, n_groups] = 0.0
            n_groups += 1
        group[0, n_groups - 1] += w[i]
        group[1, n_groups - 1] += t[i]
        if weighted:
            group[2, n_groups - 1] += c[i]
    return n_groups


@kernel
def _search_sums(
    flat, p, n_bins, categorical, rows, w, t, c, weighted, a, b, W, S, n_all,
    min_leaf, columns, first, last, table, counts,
    group_code, group, score, by_score, found, left_set, seen_set,
):  # fmt: skip
    """Try the columns first .. last-1 of `columns`; return how many are constant in the node."""
    constant = 0
    for at in range(first, last, _BLOCK):
        block = min(_BLOCK, last - at)
        _fill(flat, p, rows, w, t, a, b, columns, at, block, table)
        if weighted:
            for i in range(a, b):
                row, ci = np.int64(rows[i]) * p, c[i]
                for q in range(block):
                    counts[256 * q + np.int64(flat[row + columns[at + q]])] += ci
        for q in range(block):
            j = columns[at + q]
            n_groups = _groups_of_table(
                table, 512 * q, counts, 256 * q, weighted, n_bins[j], group_code, group
            )
            if n_groups < 2:
                constant += 1
            elif categorical[j]:
                _split_levels(
                    j, n_groups, group_code, group, weighted, W, S, n_all, min_leaf,
                    score, by_score, found, left_set, seen_set,
                )  # fmt: skip
            else:
                _split_numbers(
                    j, n_groups, group_code, group, weighted, W, S, n_all, min_leaf, found
                )
    return constant


@kernel
def _fill(flat, p, rows, w, t, a, b, columns, at, block, table):
    """Add w and t of the rows to the tables of two columns at a time."""
    # Unsigned numbers all through: no place is counted from the end, and none is checked for it.
    width, one, two = np.uint64(p), np.uint64(1), np.uint64(2)
    for q in range(0, block - 1, 2):
        j0, j1 = np.uint64(columns[at + q]), np.uint64(columns[at + q + 1])
        base0, base1 = np.uint64(512 * q), np.uint64(512 * q + 512)
        for i in range(np.uint64(a), np.uint64(b)):
            row, wi, ti = np.uint64(rows[i]) * width, w[i], t[i]
            k0 = base0 + two * np.uint64(flat[row + j0])
            k1 = base1 + two * np.uint64(flat[row + j1])
            table[k0] += wi
            table[k0 + one] += ti
            table[k1] += wi
            table[k1 + one] += ti
    if block % 2 == 1:
        j0, base0 = np.uint64(columns[at + block - 1]), np.uint64(512 * (block - 1))
        for i in range(np.uint64(a), np.uint64(b)):
            k0 = base0 + two * np.uint64(flat[np.uint64(rows[i]) * width + j0])
            table[k0] += w[i]
            table[k0 + one] += t[i]


@kernel
def _groups_of_table(table, base, counts, base_counts, weighted, n_bins, group_code, group):
    """Gather the filled bins of one column, clear them, and return their number."""
    n_groups = np.uint64(0)
    one, two = np.uint64(1), np.uint64(2)
    for step in range(np.uint64(n_bins) + one):
        code = step if step < np.uint64(n_bins) else np.uint64(255)
        k = np.uint64(base) + two * code
        group_code[n_groups] = code
        group[0, n_groups] = table[k]
        group[1, n_groups] = table[k + one]
        if weighted:
            group[2, n_groups] = counts[np.uint64(base_counts) + code]
            counts[np.uint64(base_counts) + code] = 0.0
        n_groups += np.uint64(table[k] > 0.0)
        table[k] = 0.0
        table[k + one] = 0.0
    return np.int64(n_groups)


@kernel
def _split_numbers(j, n_groups, group_code, group, weighted, W, S, n_all, min_leaf, found):
    """Compare the best cut of a numeric column with the best so far."""
    counted = 2 if weighted else 0
    observed = n_groups
    WM = SM = n_gone = 0.0
    if group_code[n_groups - 1] == 255:
        observed -= 1
        WM, SM, n_gone = group[0, observed], group[1, observed], group[counted, observed]
    best = found[0] * (1.0 + _TIE)
    cut, left_missing, left_weight = -1, False, 0.0
    # Missing rows on the right (then all others may be on the left), and on the left.
    for side in range(2 if observed < n_groups else 1):
        WL, SL, n_left = (WM, SM, n_gone) if side == 1 else (0.0, 0.0, 0.0)
        last = observed if side == 0 and observed < n_groups else observed - 1
        for g in range(last):
            WL += group[0, g]
            SL += group[1, g]
            n_left += group[counted, g]
            if n_left < min_leaf or n_all - n_left < min_leaf:
                continue
            d = SL * W - S * WL
            gain = d * d / (WL * (W - WL))
            if gain > best:
                best = gain * (1.0 + _TIE)
                found[0] = gain
                cut, left_missing, left_weight = g, side == 1, WL
    if cut >= 0:
        found[1] = j
        below, above = group_code[cut], group_code[cut + 1] if cut + 1 < observed else 255
        found[2], found[3] = below, above
        if observed == n_groups:
            left_missing = 2.0 * left_weight >= W
        found[4] = 1.0 if left_missing else 0.0


@kernel
def _split_levels(
    j, n_groups, group_code, group, weighted, W, S, n_all, min_leaf,
    score, by_score, found, left_set, seen_set,
):  # fmt: skip
    """Do the same for a category: its levels (missing is one) in the order of their mean."""
    counted = 2 if weighted else 0
    for g in range(n_groups):
        score[g] = group[1, g] / group[0, g]
    _sort_by_score(score, n_groups, by_score)
    best = found[0] * (1.0 + _TIE)
    cut, left_weight = -1, 0.0
    WL = SL = n_left = 0.0
    for k in range(n_groups - 1):
        g = by_score[k]
        WL += group[0, g]
        SL += group[1, g]
        n_left += group[counted, g]
        if n_left < min_leaf or n_all - n_left < min_leaf:
            continue
        d = SL * W - S * WL
        gain = d * d / (WL * (W - WL))
        if gain > best:
            best = gain * (1.0 + _TIE)
            found[0] = gain
            cut, left_weight = k, WL
    if cut >= 0:
        found[1] = j
        _write_sets(
            n_groups, group_code, by_score, cut, 2.0 * left_weight >= W, found, left_set, seen_set
        )


@kernel
def _write_sets(n_groups, group_code, by_score, cut, heavier_left, found, left_set, seen_set):
    """Write which codes go left, and which the node has seen.

    The others go with the missing rows, if the node has any, or else with the heavier part.
    """
    seen_set[:] = np.uint64(0)
    left_set[:] = np.uint64(0)
    for k in range(n_groups):
        code = group_code[by_score[k]]
        bit = np.uint64(1) << np.uint64(code & 63)
        seen_set[code >> 6] |= bit
        if k <= cut:
            left_set[code >> 6] |= bit
    top = np.uint64(1) << np.uint64(63)  # of the last word: code 255, missing
    others_left = heavier_left
    if seen_set[3] & top:
        others_left = (left_set[3] & top) != np.uint64(0)
    if others_left:
        for word in range(4):
            left_set[word] |= ~seen_set[word]
    found[2], found[3] = 0.0, 1.0  # there is no cut
    found[4] = 1.0 if others_left else 0.0


@kernel
def _class_impurity(criterion, w, t, a, b, W, class_sums):
    """Return the mean impurity of a node; its class sums are left in class_sums[0]."""
    class_sums[0, :] = 0.0
    for i in range(a, b):
        class_sums[0, np.int64(t[i])] += w[i]
    return _impurity(criterion, class_sums, 0, W) / W


@kernel
def _impurity(criterion, class_sums, part, W):
    """Return W times the impurity of the classes in class_sums[part]."""
    found = 0.0
    largest = 0.0
    for k in range(class_sums.shape[1]):
        v = class_sums[part, k]
        if v > 1e-13 * W:  # less is what rounding leaves of a class that is gone
            if criterion == GINI:
                found += v * (W - v) / W
            elif criterion == ENTROPY:
                found -= 0.5 * v * np.log2(v / W)
            elif criterion == DEVIANCE:
                found -= 2.0 * v * np.log(v / W)
            elif criterion == SQRT:
                found += 0.5 * np.sqrt(v * (W - v)) if W - v > 1e-13 * W else 0.0
            largest = max(largest, v)
    return W - largest if criterion == ERROR else found


@kernel
def _search_classes(
    flat, p, categorical, rows, w, t, c, weighted, a, b, W, n_all, node_impurity,
    criterion, min_leaf, columns, first, last, order,
    score, by_score, group_code, class_sums, found, left_set, seen_set,
):  # fmt: skip
    """Try columns by the class sums on both sides of each cut; return how many are constant."""
    constant = 0
    rank = np.empty(256, np.int64)
    position = np.empty(257, np.int64)
    for at in range(first, last):
        j = columns[at]
        position[:] = 0
        for i in range(a, b):
            position[np.int64(flat[np.int64(rows[i]) * p + j]) + 1] += 1
        n_groups = 0
        for code in range(256):
            if position[code + 1] > 0:
                group_code[n_groups] = code
                n_groups += 1
        if n_groups < 2:
            constant += 1
            continue
        if categorical[j]:
            _score_levels(flat, p, j, rows, w, t, a, b, W, n_groups, group_code, class_sums, score)
            _sort_by_score(score, n_groups, by_score)
            observed = n_groups
        else:
            for g in range(n_groups):
                by_score[g] = g
            observed = n_groups - int(group_code[n_groups - 1] == 255)
        # Order the rows by the rank of their group.
        place = 0
        for g in range(n_groups):
            rank[group_code[by_score[g]]] = g
            score[g] = place  # where the group starts
            place += position[group_code[by_score[g]] + 1]
        score[n_groups] = place
        for g in range(n_groups):
            position[g] = np.int64(score[g])
        for i in range(a, b):
            g = rank[flat[np.int64(rows[i]) * p + j]]
            order[position[g]] = i
            position[g] += 1

        cut, left_missing, left_weight = -1, False, 0.0
        for side in range(2 if observed < n_groups else 1):
            WL = n_left = 0.0
            squares_left, squares_right = 0.0, 0.0
            for k in range(class_sums.shape[1]):
                class_sums[1, k] = 0.0
                class_sums[2, k] = class_sums[0, k]
                squares_right += class_sums[0, k] ** 2
            last_group = observed if side == 0 and observed < n_groups else observed - 1
            for step in range(-1 if side == 1 else 0, last_group):
                g = step if step >= 0 else observed  # missing rows go left before all others
                for slot in range(np.int64(score[g]), np.int64(score[g + 1])):
                    i = order[slot]
                    label, wi = np.int64(t[i]), w[i]
                    squares_left += wi * (2.0 * class_sums[1, label] + wi)
                    squares_right -= wi * (2.0 * class_sums[2, label] - wi)
                    class_sums[1, label] += wi
                    class_sums[2, label] -= wi
                    WL += wi
                    n_left += c[i] if weighted else wi
                if step < 0 or n_left < min_leaf or n_all - n_left < min_leaf:
                    continue
                WR = W - WL
                if criterion == GINI:
                    gain = node_impurity - (WL - squares_left / WL) - (WR - squares_right / WR)
                else:
                    gain = (
                        node_impurity
                        - _impurity(criterion, class_sums, 1, WL)
                        - _impurity(criterion, class_sums, 2, WR)
                    )
                if gain > found[0] + 1e-12 * W:
                    found[0] = gain
                    cut, left_missing, left_weight = step, side == 1, WL
        if cut >= 0:
            found[1] = j
            heavier_left = 2.0 * left_weight >= W
            if categorical[j]:
                _write_sets(
                    n_groups, group_code, by_score, cut, heavier_left, found, left_set, seen_set
                )
            else:
                found[2] = group_code[cut]
                found[3] = group_code[cut + 1] if cut + 1 < observed else 255
                if observed == n_groups:
                    left_missing = heavier_left
                found[4] = 1.0 if left_missing else 0.0
    return constant


@kernel
def _score_levels(flat, p, j, rows, w, t, a, b, W, n_groups, group_code, class_sums, score):
    """Score the levels of a category by the first principal component of their class shares."""
    K = class_sums.shape[1]
    shares = np.zeros((256, K))
    for i in range(a, b):
        shares[flat[np.int64(rows[i]) * p + j], np.int64(t[i])] += w[i]
    level_weight = np.zeros(256)
    for g in range(n_groups):
        code = group_code[g]
        for k in range(K):
            level_weight[code] += shares[code, k]
        for k in range(K):
            shares[code, k] = shares[code, k] / level_weight[code] - class_sums[0, k] / W
    # Power iteration from the direction of the commonest class; ten steps order levels well.
    axis = np.zeros(K)
    axis[np.argmax(class_sums[0])] = 1.0
    for _ in range(10):
        new = np.zeros(K)
        for g in range(n_groups):
            code = group_code[g]
            along = 0.0
            for k in range(K):
                along += shares[code, k] * axis[k]
            for k in range(K):
                new[k] += level_weight[code] * along * shares[code, k]
        length = np.sqrt(np.sum(new * new))
        if length == 0.0:
            break
        axis = new / length
    for g in range(n_groups):
        along = 0.0
        for k in range(K):
            along += shares[group_code[g], k] * axis[k]
        score[g] = along
