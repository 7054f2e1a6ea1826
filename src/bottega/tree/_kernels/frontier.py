"""The nodes that wait to be split: the one of largest gain first, or the newest first."""

from bottega._jit import kernel
from bottega.tree._kernels.impurity import TIE


@kernel
def _before(a, b, gain):
    """Return True if node a is to be split before b; gains equal but for rounding: the older."""
    if abs(gain[a] - gain[b]) <= TIE * gain[b]:
        return a < b
    return gain[a] > gain[b]


@kernel
def push(frontier, n_open, node, gain, best_first):
    """Put a node on the stack, or on the heap of the largest gain; return how many wait."""
    at = n_open
    frontier[at] = node
    if best_first:
        while at > 0 and _before(frontier[at], frontier[(at - 1) // 2], gain):
            up = (at - 1) // 2
            frontier[up], frontier[at] = frontier[at], frontier[up]
            at = up
    return n_open + 1


@kernel
def pop(frontier, n_open, gain, best_first):
    """Take the last node off the stack, or the top off the heap; return how many wait, and it."""
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
        if child + 1 < n_open and _before(frontier[child + 1], frontier[child], gain):
            child += 1
        if not _before(frontier[child], frontier[at], gain):
            return n_open, top
        frontier[at], frontier[child] = frontier[child], frontier[at]
        at = child
