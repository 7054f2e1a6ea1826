"""Kernels of pruning: the weakest-link sequence, losses of held-out rows at every node of a tree.

Symbols
-------
R(t)    risk of node t as a leaf
R(T_t)  risk of the branch below t: the sum of R over its leaves
L(T_t)  number of leaves of the branch
g(t)    (R(t) - R(T_t)) / (L(T_t) - 1), the penalty per leaf from which t is better off as a leaf

A child's number is above its parent's, so a loop over the nodes backwards sees children first.
Collapsing the weakest link never lowers g of a node above it (a mediant lies between its parts).
So the heap may keep an outdated g: it is too small at worst, and is renewed when it comes up.
"""

import numpy as np

from bottega._jit import kernel


@kernel
def _sift_down(key, node, size, i):
    """Let the entry at place i of a heap sink to where it belongs."""
    while True:
        child = 2 * i + 1
        if child >= size:
            return
        if child + 1 < size and key[child + 1] < key[child]:
            child += 1
        if key[i] <= key[child]:
            return
        key[i], key[child] = key[child], key[i]
        node[i], node[child] = node[child], node[i]
        i = child


@kernel
def weakest_links(parent, first_child, n_children, risk, tie, floor):
    """Collapse the weakest link until the root is left.

    Links within `tie` of the alpha of a collapse go with it; those that cost nothing go at `floor`.
    Returns for each node the alpha from which it is a leaf (or gone), and the alpha, leaves and
    risk of each member of the sequence, the full tree (alpha 0) first.
    """
    n_nodes = len(parent)
    branch = risk.copy()
    leaves = np.ones(n_nodes, dtype=np.int64)
    for t in range(n_nodes - 1, -1, -1):
        if n_children[t] > 0:
            branch[t] = 0.0
            leaves[t] = 0
            for c in range(first_child[t], first_child[t] + n_children[t]):
                branch[t] += branch[c]
                leaves[t] += leaves[c]

    key = np.empty(n_nodes)
    node = np.empty(n_nodes, dtype=np.int64)
    size = 0
    for t in range(n_nodes):
        if n_children[t] > 0:
            key[size] = (risk[t] - branch[t]) / (leaves[t] - 1)
            node[size] = t
            size += 1
    for i in range(size // 2 - 1, -1, -1):
        _sift_down(key, node, size, i)

    collapse_alpha = np.zeros(n_nodes)
    gone = n_children == 0
    stack = np.empty(n_nodes, dtype=np.int64)
    alphas = np.zeros(size + 1)
    counts = np.empty(size + 1, dtype=np.int64)
    risks = np.empty(size + 1)
    counts[0], risks[0] = leaves[0], branch[0]
    member = 0
    while size > 0:
        t = node[0]
        if not gone[t]:
            g = (risk[t] - branch[t]) / (leaves[t] - 1)
            if g > key[0]:  # the branch has shrunk since: put the node where it belongs now
                key[0] = g
                _sift_down(key, node, size, 0)
                continue
            if member == 0 or g > alphas[member] + tie:
                member += 1
                alphas[member] = floor if g <= tie else g
            more, fewer = risk[t] - branch[t], leaves[t] - 1
            a = t
            while a >= 0:
                branch[a] += more
                leaves[a] -= fewer
                a = parent[a]
            counts[member], risks[member] = leaves[0], branch[0]
            top = 1
            stack[0] = t
            while top > 0:  # the node and all that is left below it
                top -= 1
                s = stack[top]
                gone[s] = True
                collapse_alpha[s] = alphas[member]
                for c in range(first_child[s], first_child[s] + n_children[s]):
                    if not gone[c]:
                        stack[top] = c
                        top += 1
        size -= 1
        key[0], node[0] = key[size], node[size]
        _sift_down(key, node, size, 0)
    return collapse_alpha, alphas[: member + 1], counts[: member + 1], risks[: member + 1]


@kernel
def kept_numbers(parent, is_leaf_now):
    """Return the new number of each node (-1: gone) when nodes marked as leaves lose their branch.

    Nodes keep their order, so children stay side by side and behind their parent.
    """
    number = np.full(len(parent), -1, dtype=np.int64)
    count = 0
    for t in range(len(parent)):
        above = parent[t]
        if above < 0 or (number[above] >= 0 and not is_leaf_now[above]):
            number[t] = count
            count += 1
    return number, count


@kernel
def add_up(parent, sums):
    """Add the rows of `sums`, given for leaves, up to the root (in place)."""
    for t in range(len(parent) - 1, 0, -1):
        for k in range(sums.shape[1]):
            sums[parent[t], k] += sums[t, k]


@kernel
def node_losses(leaf, parent, table, y, weight, classes):
    """Return, per node, the sums of w l, w^2 l and w^2 l^2 of the rows that pass it.

    The loss l of a row at node t is ``table[t, y]`` with classes, else ``(y - table[t, 0])^2``.
    """
    sums = np.zeros((len(parent), 3))
    for i in range(len(leaf)):
        w = weight[i]
        t = leaf[i]
        while t >= 0:
            loss = table[t, int(y[i])] if classes else (y[i] - table[t, 0]) ** 2
            sums[t, 0] += w * loss
            sums[t, 1] += w * w * loss
            sums[t, 2] += w * w * loss * loss
            t = parent[t]
    return sums


@kernel
def spread(sums, parent, start, m):
    """Return the sums of the pruned tree at each of m betas (ascending).

    `start` is the first beta at which a node is a leaf, or gone. A row that passes node t stops
    there for the betas from t's own start up to, but without, that of its parent: the node's sums
    count for one stretch of betas, added as a difference.
    """
    n_sums = sums.shape[1]
    steps = np.zeros((m + 1, n_sums))
    for t in range(len(parent)):
        stop = m if parent[t] < 0 else start[parent[t]]
        if start[t] < stop:
            for c in range(n_sums):
                steps[start[t], c] += sums[t, c]
                steps[stop, c] -= sums[t, c]
    for k in range(1, m):
        for c in range(n_sums):
            steps[k, c] += steps[k - 1, c]
    return steps[:m]


@kernel
def stops(parent, collapsed):
    """Return for each node the first on its way from the root that is collapsed, else itself."""
    stop = np.arange(len(parent))
    for t in range(1, len(parent)):
        above = stop[parent[t]]
        if above != parent[t] or collapsed[above]:
            stop[t] = above
    return stop


@kernel
def collapse_worse(first_child, n_children, loss):
    """Return which nodes become leaves when a branch goes unless it lowers the loss."""
    best = loss.copy()
    cut = np.zeros(len(loss), dtype=np.bool_)
    for t in range(len(loss) - 1, -1, -1):
        if n_children[t] > 0:
            below = 0.0
            for c in range(first_child[t], first_child[t] + n_children[t]):
                below += best[c]
            if loss[t] <= below:
                cut[t] = True
            else:
                best[t] = below
    return cut
