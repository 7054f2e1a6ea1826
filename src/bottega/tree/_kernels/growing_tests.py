"""The tests of a tree, and the levels that they send to each child, as arrays that grow."""

import numpy as np

from bottega._jit import kernel


@kernel
def _longer(a):
    out = np.empty(2 * a.size, dtype=a.dtype)
    for i in range(a.size):
        out[i] = a[i]
    return out


@kernel
def with_room(tests, size):
    """Return the arrays of tests with room for `size` of them."""
    feature, threshold, reverse, agreement, level_start, level_stop = tests
    while feature.size < size:
        feature, threshold, reverse = _longer(feature), _longer(threshold), _longer(reverse)
        agreement = _longer(agreement)
        level_start, level_stop = _longer(level_start), _longer(level_stop)
    return feature, threshold, reverse, agreement, level_start, level_stop


@kernel
def list_levels(lists, n_listed, L, levels):
    """Return the lists of levels and their children with the L levels of one more test."""
    codes, children = lists
    while codes.size < n_listed + L:
        codes, children = _longer(codes), _longer(children)
    for q in range(L):
        codes[n_listed + q] = levels.code[q]
        children[n_listed + q] = levels.child[levels.code[q]]
    return codes, children
