"""The rows of a node: what its children hold, and their segments of the sorted columns."""

import numpy as np

from bottega._jit import kernel
from bottega.tree._kernels.impurity import impurity
from bottega.tree._kernels.weighed import weight_of


@kernel
def describe(rows, child_of, first, n_children, nodes, data, rules):
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
        weight[t] += weight_of(data.wz, r)
        mean[t] += data.wz[r, -1]
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
            loss[t] = impurity(sums[t], weight[t], rules.criterion, data.xlogx)
        return
    for t in range(first, first + n_children):
        sums[t, 0] = np.nan
    for r in rows:
        t = first + child_of[r]
        w = weight_of(data.wz, r)
        z = data.wz[r, -1] / w
        if np.isnan(sums[t, 0]):
            sums[t, 0] = z
        elif z != sums[t, 0]:
            pure[t] = False
        loss[t] += w * (z - mean[t]) ** 2


@kernel
def partition(source, target, start, stop, at, child_of, n_children, keep, buffer):
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
def gather(far, near, rows_of, start, stop, place):
    """Copy the rows of a node together, and number them anew in its segments.

    What is far apart in memory is waited for: below this node every look at a row finds it near.
    """
    p = far.X.shape[0]
    for i in range(start, stop):
        r, to = rows_of[0, i], i - start
        place[r] = to
        for k in range(far.wz.shape[1]):
            near.wz[to, k] = far.wz[r, k]
        if far.n_classes:
            near.w[to], near.code[to] = far.w[r], far.code[r]
        for j in range(p):
            near.X[j, to] = far.X[j, r]
    for j in range(p):
        for i in range(start, stop):
            rows_of[j, i] = place[rows_of[j, i]]
