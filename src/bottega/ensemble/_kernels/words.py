"""Trees with nodes of eight bytes: packing them, and walking many rows down.

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

LANES = 8
LOW = 0xFFFFFFFF
FEATURE, CODE, MISSING, SET, LEAF = 32, 52, 60, 61, 62
_MISSING_CODE = 255


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
            word |= np.uint64(feature[node]) << np.uint64(FEATURE)
            word |= np.uint64(code + missing_left[node]) << np.uint64(CODE)
            word |= np.uint64(missing_left[node]) << np.uint64(MISSING)
            word |= np.uint64(set_of[node] >= 0) << np.uint64(SET)
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
        words[node] = np.uint64(at) | (np.uint64(1) << np.uint64(LEAF))
    return words, values[:n_values].copy()


@kernel
def walk(flat, base, donor, column, n_lanes, words, root, set_of, sets, first_set, at):
    """Walk rows down a tree; `at` gets the places of their leaves among the words.

    The codes of a row start at its place in `base`; those of `column` are taken from `donor`.
    """
    one, byte, low = np.uint64(1), np.uint64(255), np.uint64(LOW)
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
            j = (word >> np.uint64(FEATURE)) & np.uint64(0xFFFFF)
            code = np.uint64(flat[(donor[lane] if j == column else base[lane]) + j])
            kept = (word >> np.uint64(MISSING)) & one
            right = np.uint64(((code + kept) & byte) > ((word >> np.uint64(CODE)) & byte))
            if with_sets and (word >> np.uint64(SET)) & one:
                part = sets[first_set + set_of[at[lane]], code >> np.uint64(6)]
                right = one - ((part >> (code & np.uint64(63))) & one)
            inner = one - ((word >> np.uint64(LEAF)) & one)
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
    outside = np.empty(LANES, np.int64)
    base, at = np.empty(LANES, np.uint64), np.empty(LANES, np.uint64)
    filled = 0
    for i in range(n + 1):
        if i < n and counts[i] == 0:
            outside[filled] = i
            base[filled] = i * p
            filled += 1
        if filled == LANES or (i == n and filled > 0):
            walk(flat, base, base, p, filled, words, 0, set_of, sets, 0, at)
            for lane in range(filled):
                placed[outside[lane]] = ~np.int64(at[lane])
            filled = 0
    return placed


@kernel
def predict(codes, words, tree_start, set_of, sets, set_start, values, value_start, out):
    """Add the leaf values of all trees to out (rows, V)."""
    n, V = out.shape
    flat, p = codes.reshape(-1), codes.shape[1]
    base, at = np.empty(LANES, np.uint64), np.empty(LANES, np.uint64)
    for tree in range(tree_start.shape[0] - 1):
        root, first_set, first_value = tree_start[tree], set_start[tree], value_start[tree]
        for first in range(0, n, LANES):
            n_lanes = min(LANES, n - first)
            for lane in range(n_lanes):
                base[lane] = (first + lane) * p
            walk(flat, base, base, p, n_lanes, words, root, set_of, sets, first_set, at)
            for lane in range(n_lanes):
                leaf = first_value + np.int64(words[at[lane]] & np.uint64(LOW))
                for v in range(V):
                    out[first + lane, v] += values[leaf, v]


@kernel
def leaves_of(codes, words, tree_start, set_of, sets, set_start):
    """Return the number of the leaf (node) of each row in each tree: (rows, trees)."""
    n, p = codes.shape
    flat = codes.reshape(-1)
    n_trees = tree_start.shape[0] - 1
    found = np.empty((n, n_trees), np.int32)
    base, at = np.empty(LANES, np.uint64), np.empty(LANES, np.uint64)
    for tree in range(n_trees):
        for first in range(0, n, LANES):
            n_lanes = min(LANES, n - first)
            for lane in range(n_lanes):
                base[lane] = (first + lane) * p
            walk(
                flat, base, base, p, n_lanes, words, tree_start[tree], set_of, sets,
                set_start[tree], at,
            )  # fmt: skip
            for lane in range(n_lanes):
                found[first + lane, tree] = np.int64(at[lane]) - tree_start[tree]
    return found
