"""Drawing the rows of a tree, packing its nodes into eight bytes each, and walking many rows.

A node is one word of 64 bits:

    bits 0-31   first child (its number in the tree), or the number of a leaf's value
    bits 32-51  column
    bits 52-59  last bin that goes left, plus bit 60
    bit 60      missing values go left: (code + 1) mod 256 puts them before all others
    bit 61      the test is on a category: the codes that go left are a set of 256 bits
    bit 62      leaf

Walks take rows in lanes of eight that step down together: a step is a chain of two loads, and
while one row waits for memory the others go on. Places are unsigned, so that none is checked for
being counted from the end.
"""

import numpy as np

from bottega._jit import kernel

__all__ = [
    "draw",
    "gather",
    "leaves_of",
    "pack",
    "permuted_loss",
    "place",
    "predict",
    "same_leaf",
    "tally",
]

_LANES = 8
_FEATURE, _CODE, _MISSING, _SET, _LEAF = 32, 52, 60, 61, 62
_LOW = 0xFFFFFFFF
_MISSING_CODE = 255


@kernel
def _next(state):
    """Return 64 random bits from the state of the generator (SplitMix64)."""
    z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def draw(n, positions, size, replace, seed):
    """Return how often each of n rows is drawn in `size` draws.

    `positions` lists the rows to draw from, a row of weight k there k times; empty: each once.
    """
    counts = np.zeros(n, np.int32)
    listed = positions.shape[0] > 0
    total = positions.shape[0] if listed else n
    state = np.uint64(seed)
    golden = np.uint64(0x9E3779B97F4A7C15)
    if replace:
        for _ in range(size):
            state += golden
            at = np.int64(((_next(state) >> np.uint64(32)) * np.uint64(total)) >> np.uint64(32))
            counts[positions[at] if listed else at] += 1
        return counts
    wanted = size
    for row in range(total):  # each row with the chance that fills the sample exactly
        state += golden
        left = np.uint64(total - row)
        if np.int64(((_next(state) >> np.uint64(32)) * left) >> np.uint64(32)) < wanted:
            counts[positions[row] if listed else row] += 1
            wanted -= 1
    return counts


@kernel
def gather(counts, y, weight, weighted, n_classes, two_class):
    """Return the drawn rows with their weights w, targets t and copies c, and the centre of t.

    The symbols are those of the growth of a binned tree; numbers are centred at their mean.
    """
    m = 0
    for i in range(counts.shape[0]):
        m += counts[i] > 0
    rows = np.empty(m, np.int32)
    w, t, c = np.empty(m), np.empty(m), np.empty(m if weighted else 1)
    at = 0
    W = S = 0.0
    for i in range(counts.shape[0]):
        if counts[i] > 0:
            rows[at] = i
            w[at] = counts[i] * weight[i] if weighted else np.float64(counts[i])
            t[at] = y[i]
            if weighted:
                c[at] = counts[i]
            W += w[at]
            S += w[at] * y[i]
            at += 1
    center = S / W if n_classes == 0 else 0.0
    if n_classes == 0 or two_class:
        for i in range(m):
            t[i] = w[i] * (t[i] - center)
    return rows, w, t, c, center


@kernel
def pack(
    start, stop, first_child, feature, bins, missing_left, weight, total, set_of, w, t, n_classes,
    two_class, center, low, high,
):  # fmt: skip
    """Return the nodes as words and the table of leaf values.

    A cut lies halfway between the values on both sides: of the empty bins between them, those
    whose values (`high`) are not above the middle go left.

    The first rows of the table of K > 2 classes are the pure leaves, which most leaves are.
    """
    n_nodes = start.shape[0]
    words = np.zeros(n_nodes, np.uint64)
    K = n_classes if n_classes and not two_class else 0
    n_rows = K
    for node in range(n_nodes):
        if first_child[node] < 0:
            n_rows += 1
    values = np.zeros((n_rows, max(K, 1)))
    for k in range(K):
        values[k, k] = 1.0
    n_values = K
    for node in range(n_nodes):
        if first_child[node] >= 0:
            left, right = np.int64(bins[node, 0]), np.int64(bins[node, 1])
            code = 254 if right == _MISSING_CODE else left
            if set_of[node] < 0 and right != _MISSING_CODE:
                j = feature[node]
                middle = 0.5 * (high[j, left] + low[j, right])
                while code + 1 < right and high[j, code + 1] <= middle:
                    code += 1
            word = np.uint64(first_child[node])
            word |= np.uint64(feature[node]) << np.uint64(_FEATURE)
            word |= np.uint64(code + missing_left[node]) << np.uint64(_CODE)
            word |= np.uint64(missing_left[node]) << np.uint64(_MISSING)
            word |= np.uint64(set_of[node] >= 0) << np.uint64(_SET)
            words[node] = word
            continue
        at = n_values
        if K:
            first_class = np.int64(t[start[node]])
            pure = True
            for i in range(start[node], stop[node]):
                pure = pure and np.int64(t[i]) == first_class
                values[n_values, np.int64(t[i])] += w[i] / weight[node]
            if pure:
                values[n_values, first_class] = 0.0
                at = first_class
            else:
                n_values += 1
        else:
            values[n_values, 0] = total[node] / weight[node] + center
            n_values += 1
        words[node] = np.uint64(at) | (np.uint64(1) << np.uint64(_LEAF))
    return words, values[:n_values].copy()


@kernel
def _walk(flat, base, donor, column, n_lanes, words, root, set_of, sets, first_set, at):
    """Walk rows down a tree; `at` gets the places of their leaves among the words.

    The codes of a row start at its place in `base`; those of `column` are taken from `donor`.
    """
    one, byte, low = np.uint64(1), np.uint64(255), np.uint64(_LOW)
    root = np.uint64(root)
    column = np.uint64(column)
    for lane in range(n_lanes):
        at[lane] = root
    with_sets = sets.shape[0] > 0
    moving = one
    while moving:
        moving = np.uint64(0)
        for lane in range(np.uint64(n_lanes)):
            word = words[at[lane]]
            j = (word >> np.uint64(_FEATURE)) & np.uint64(0xFFFFF)
            code = np.uint64(flat[(donor[lane] if j == column else base[lane]) + j])
            kept = (word >> np.uint64(_MISSING)) & one
            right = np.uint64(((code + kept) & byte) > ((word >> np.uint64(_CODE)) & byte))
            if with_sets and (word >> np.uint64(_SET)) & one:
                part = sets[first_set + set_of[at[lane]], code >> np.uint64(6)]
                right = one - ((part >> (code & np.uint64(63))) & one)
            inner = one - ((word >> np.uint64(_LEAF)) & one)
            at[lane] = root + (word & low) + right if inner else at[lane]
            moving |= inner


@kernel
def place(codes, counts, rows, start, stop, first_child, words, set_of, sets):
    """Return the leaf of each row: the number of its node, for rows that were not drawn ~number."""
    n, p = codes.shape
    flat = codes.reshape(-1)
    placed = np.empty(n, np.int32)
    for node in range(start.shape[0]):
        if first_child[node] < 0:
            for i in range(start[node], stop[node]):
                placed[rows[i]] = node
    outside = np.empty(_LANES, np.int64)
    base, at = np.empty(_LANES, np.uint64), np.empty(_LANES, np.uint64)
    filled = 0
    for i in range(n + 1):
        if i < n and counts[i] == 0:
            outside[filled] = i
            base[filled] = i * p
            filled += 1
        if filled == _LANES or (i == n and filled > 0):
            _walk(flat, base, base, p, filled, words, 0, set_of, sets, 0, at)
            for lane in range(filled):
                placed[outside[lane]] = ~np.int64(at[lane])
            filled = 0
    return placed


@kernel
def tally(placed, words, values, y, w, classes, n_trees, outside, n_outside, inside):
    """Add the predictions of one tree, and return how the forest so far (n_trees) does.

    `outside` (n, V) sums the trees that did not draw the row, `n_outside` counts them, `inside`
    sums all trees. Returns, over the rows that some tree left out, the sums of w, w loss, w^2,
    w^2 loss and w^2 loss^2; and the sum of w loss over all rows and trees. `classes` is the number
    of classes, 0 for numbers.
    """
    n, V = outside.shape
    sums = np.zeros(6)
    for i in range(n):
        left_out = placed[i] < 0
        leaf = np.int64(words[~placed[i] if left_out else placed[i]] & np.uint64(_LOW))
        for v in range(V):
            value = values[leaf, v]
            inside[i, v] += value
            if left_out:
                outside[i, v] += value
        n_outside[i] += left_out
        wi = w[i]
        sums[5] += wi * _loss(inside, i, n_trees, y[i], classes)
        if n_outside[i] > 0:
            loss = _loss(outside, i, n_outside[i], y[i], classes)
            sums[0] += wi
            sums[1] += wi * loss
            sums[2] += wi * wi
            sums[3] += wi * wi * loss
            sums[4] += wi * wi * loss * loss
    return sums


@kernel
def _loss(sums, i, count, y, classes):
    """Return the loss of row i, whose predictions by `count` trees are summed in sums[i]."""
    if classes == 0:
        return (y - sums[i, 0] / count) ** 2
    if classes <= 2:
        return 1.0 if (sums[i, 0] > 0.5 * count) != (y > 0.5) else 0.0
    best = 0
    for k in range(1, classes):
        if sums[i, k] > sums[i, best]:
            best = k
    return 1.0 if best != y else 0.0


@kernel
def permuted_loss(
    codes, rows, donors, column, words, root, set_of, sets, first_set, values, first_value,
    y, w, classes,
):  # fmt: skip
    """Return the mean loss of one tree on `rows`, each with the value of its donor in `column`."""
    total = weight = 0.0
    flat, p = codes.reshape(-1), codes.shape[1]
    base, donor = np.empty(_LANES, np.uint64), np.empty(_LANES, np.uint64)
    at = np.empty(_LANES, np.uint64)
    for first in range(0, rows.shape[0], _LANES):
        n_lanes = min(_LANES, rows.shape[0] - first)
        for lane in range(n_lanes):
            base[lane], donor[lane] = rows[first + lane] * p, donors[first + lane] * p
        _walk(flat, base, donor, column, n_lanes, words, root, set_of, sets, first_set, at)
        for lane in range(n_lanes):
            row = rows[first + lane]
            leaf = first_value + np.int64(words[at[lane]] & np.uint64(_LOW))
            total += w[row] * _loss(values, leaf, 1, y[row], classes)
            weight += w[row]
    return total / weight if weight > 0.0 else np.nan


@kernel
def same_leaf(leaves):
    """Return in what share of the trees each two rows fall into one leaf; leaves: (rows, trees)."""
    n, n_trees = leaves.shape
    found = np.zeros((n, n))
    for tree in range(n_trees):
        order = np.argsort(leaves[:, tree])
        start = 0
        for stop in range(1, n + 1):
            if stop == n or leaves[order[stop], tree] != leaves[order[start], tree]:
                for a in range(start, stop):
                    for b in range(start, stop):
                        found[order[a], order[b]] += 1.0
                start = stop
    return found / n_trees


@kernel
def predict(codes, words, tree_start, set_of, sets, set_start, values, value_start, out):
    """Add the leaf values of all trees to out (rows, V)."""
    n, V = out.shape
    flat, p = codes.reshape(-1), codes.shape[1]
    base, at = np.empty(_LANES, np.uint64), np.empty(_LANES, np.uint64)
    for tree in range(tree_start.shape[0] - 1):
        root, first_set, first_value = tree_start[tree], set_start[tree], value_start[tree]
        for first in range(0, n, _LANES):
            n_lanes = min(_LANES, n - first)
            for lane in range(n_lanes):
                base[lane] = (first + lane) * p
            _walk(flat, base, base, p, n_lanes, words, root, set_of, sets, first_set, at)
            for lane in range(n_lanes):
                leaf = first_value + np.int64(words[at[lane]] & np.uint64(_LOW))
                for v in range(V):
                    out[first + lane, v] += values[leaf, v]


@kernel
def leaves_of(codes, words, tree_start, set_of, sets, set_start):
    """Return the number of the leaf (node) of each row in each tree: (rows, trees)."""
    n, p = codes.shape
    flat = codes.reshape(-1)
    n_trees = tree_start.shape[0] - 1
    found = np.empty((n, n_trees), np.int32)
    base, at = np.empty(_LANES, np.uint64), np.empty(_LANES, np.uint64)
    for tree in range(n_trees):
        for first in range(0, n, _LANES):
            n_lanes = min(_LANES, n - first)
            for lane in range(n_lanes):
                base[lane] = (first + lane) * p
            _walk(
                flat, base, base, p, n_lanes, words, tree_start[tree], set_of, sets,
                set_start[tree], at,
            )  # fmt: skip
            for lane in range(n_lanes):
                found[first + lane, tree] = np.int64(at[lane]) - tree_start[tree]
    return found
