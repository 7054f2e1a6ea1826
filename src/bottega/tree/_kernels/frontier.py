"""The nodes that wait to be split: the one of largest gain first, or the newest first."""

from bottega._jit import kernel

__all__ = ["pop", "push"]


@kernel
def push(frontier, n_open, node, gain, best_first):
    """Put a node on the stack, or on the heap of the largest gain; return how many wait."""
    at = n_open
    frontier[at] = node
    if best_first:
        while at > 0 and gain[frontier[(at - 1) // 2]] < gain[frontier[at]]:
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
        if child + 1 < n_open and gain[frontier[child + 1]] > gain[frontier[child]]:
            child += 1
        if gain[frontier[child]] <= gain[frontier[at]]:
            return n_open, top
        frontier[at], frontier[child] = frontier[child], frontier[at]
        at = child
