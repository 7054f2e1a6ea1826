"""Judging trees row by row: a forest as its trees come in, and one tree with a shuffled column."""

import numpy as np

from bottega._jit import kernel
from bottega.ensemble._kernels.words import LANES, LOW, walk

TIE = 1e-12  # that of bottega.core.classes


@kernel
def tally(placed, words, values, y, w, classes, n_trees, outside, n_outside, inside):
    """Add the predictions of one tree, and return how the forest so far (n_trees) does.

    `outside` (n, V) sums the trees that did not draw the row, `n_outside` counts them, `inside`
    sums all trees. Returns, over the rows that some tree left out, the sums of w, w loss, w^2,
    w^2 loss and w^2 loss^2; the sum of w loss over all rows and trees; and the number of the rows
    left out. `classes` is the number of classes, 0 for numbers.
    """
    n, V = outside.shape
    sums = np.zeros(7)
    for i in range(n):
        left_out = placed[i] < 0
        leaf = np.int64(words[~placed[i] if left_out else placed[i]] & np.uint64(LOW))
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
            sums[6] += 1.0
    return sums


@kernel
def _loss(sums, i, count, y, classes):
    """Return the loss of row i, whose predictions by `count` trees are summed in sums[i]."""
    if classes == 0:
        return (y - sums[i, 0] / count) ** 2
    if classes <= 2:
        return 1.0 if (sums[i, 0] > 0.5 * count * (1.0 + TIE)) != (y > 0.5) else 0.0
    best = 0
    for k in range(1, classes):
        if sums[i, k] > sums[i, best] * (1.0 + TIE):
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
    base, donor = np.empty(LANES, np.uint64), np.empty(LANES, np.uint64)
    at = np.empty(LANES, np.uint64)
    for first in range(0, rows.shape[0], LANES):
        n_lanes = min(LANES, rows.shape[0] - first)
        for lane in range(n_lanes):
            base[lane], donor[lane] = rows[first + lane] * p, donors[first + lane] * p
        walk(flat, base, donor, column, n_lanes, words, root, set_of, sets, first_set, at)
        for lane in range(n_lanes):
            row = rows[first + lane]
            leaf = first_value + np.int64(words[at[lane]] & np.uint64(LOW))
            total += w[row] * _loss(values, leaf, 1, y[row], classes)
            weight += w[row]
    return total / weight if weight > 0.0 else np.nan
