"""Splits of a category into more than two children (see `exact_inputs`)."""

import numpy as np

from bottega._jit import kernel
from bottega.tree._kernels.impurity import TIE, impurity

RUNS = 256  # of more levels, neighbours in rank are put together into so many runs first


@kernel
def gain_of_groups(L, width, whole, n_gone, w_gone, d_gone, data, rules, scratch, levels):
    """Return the gain of the groups of levels in `levels.child`, and the heaviest of them.

    The heaviest takes n_gone missing rows as well. `whole` is W psi of all these rows. The gain is
    0 where not allowed.
    """
    if width < 2:
        return 0.0, -1
    K = data.n_classes
    n, w, d = np.zeros(width, np.int64), np.zeros(width), np.zeros(width)
    counts = np.zeros((width, max(K, 1)))
    for q in range(L):
        c = levels.child[levels.code[q]]
        n[c] += levels.n[q]
        w[c] += levels.w[q]
        d[c] += levels.d[q]
        for k in range(K):
            counts[c, k] += levels.counts[q, k]
    heaviest = 0
    for c in range(width):
        if w[c] > w[heaviest]:
            heaviest = c
    if n_gone:
        n[heaviest] += n_gone
        w[heaviest] += w_gone
        d[heaviest] += d_gone
        for k in range(K):
            counts[heaviest, k] += scratch.gone[k]
    gain = whole if K else 0.0
    for c in range(width):
        if n[c] < rules.min_leaf or w[c] < rules.min_weight:
            return 0.0, -1
        if K == 0:
            gain += d[c] * d[c] / w[c]
        else:
            gain -= impurity(counts[c], w[c], rules.criterion, data.xlogx)
    return gain, heaviest


@kernel
def group_levels(L, most, total, data, rules, levels):
    """Write the best division of ranked levels into at most `most` groups; return how many.

    The groups are neighbours in rank, so the best ends of the last group follow from the best ends
    of the groups before it. Among equals there are as few groups as possible.
    """
    K, R = data.n_classes, min(L, RUNS)
    whole, reached = 0.0, 0.0
    for q in range(L):
        whole += levels.w[q]
    # Sums over the runs before each run.
    run = np.empty(L, np.int64)
    n, w, d = np.zeros(R + 1, np.int64), np.zeros(R + 1), np.zeros(R + 1)
    counts = np.zeros((R + 1, max(K, 1)))
    for i in range(L):
        q = levels.rank[i]
        run[i] = i if L == R else min(R - 1, int(R * (reached + 0.5 * levels.w[q]) / whole))
        reached += levels.w[q]
        r = run[i] + 1
        n[r] += levels.n[q]
        w[r] += levels.w[q]
        d[r] += levels.d[q]
        for k in range(K):
            counts[r, k] += levels.counts[q, k]
    for r in range(R):
        n[r + 1] += n[r]
        w[r + 1] += w[r]
        d[r + 1] += d[r]
        for k in range(K):
            counts[r + 1, k] += counts[r, k]
    # What a group of the runs i .. j-1 adds to the gain.
    value = np.full((R + 1, R + 1), -np.inf)
    part = np.empty(max(K, 1))
    for i in range(R):
        for j in range(i + 1, R + 1):
            if n[j] - n[i] >= max(1, rules.min_leaf) and w[j] - w[i] >= rules.min_weight:
                for k in range(K):
                    part[k] = max(0.0, counts[j, k] - counts[i, k])
                if K:
                    value[i, j] = -impurity(part, w[j] - w[i], rules.criterion, data.xlogx)
                else:
                    value[i, j] = (d[j] - d[i]) ** 2 / (w[j] - w[i])
    most = min(most, R)
    score = np.full((most + 1, R + 1), -np.inf)
    begin = np.zeros((most + 1, R + 1), np.int64)
    score[0, 0] = 0.0
    width, tie = 1, TIE * total
    for g in range(1, most + 1):
        for j in range(g, R + 1):
            for i in range(g - 1, j):
                reached = score[g - 1, i] + value[i, j]
                if reached > score[g, j] + tie:
                    score[g, j], begin[g, j] = reached, i
        if score[g, R] > score[width, R] + tie:
            width = g
    group = np.zeros(R, np.int64)
    end = R
    for g in range(width, 0, -1):
        for r in range(begin[g, end], end):
            group[r] = g - 1
        end = begin[g, end]
    for i in range(L):
        levels.child[levels.code[levels.rank[i]]] = group[run[i]]
    return width
