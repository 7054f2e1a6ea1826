"""The search of a node by tables of sums, one entry per bin (see `grow_binned`)."""

import numpy as np

from bottega._jit import kernel
from bottega.tree._kernels.binned_split import split_levels, split_numbers

BLOCK = 8  # columns whose tables of sums fit into the first-level cache together


@kernel
def search_sums(
    flat, p, n_bins, categorical, rows, w, t, c, weighted, a, b, W, S, n_all,
    min_leaf, columns, first, last, table, counts,
    group_code, group, score, by_score, found, left_set, seen_set,
):  # fmt: skip
    """Try the columns first .. last-1 of `columns`; return how many are constant in the node."""
    constant = 0
    for at in range(first, last, BLOCK):
        block = min(BLOCK, last - at)
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
                split_levels(
                    j, n_groups, group_code, group, weighted, W, S, n_all, min_leaf,
                    score, by_score, found, left_set, seen_set,
                )  # fmt: skip
            else:
                split_numbers(
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
