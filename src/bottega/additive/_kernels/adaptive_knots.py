"""The search of knots for adaptive splines, by sums over the bins of each input.

A parent times one input gives the column g x, and for each knot t the hinge g (x - t)+ or, on the
side where it is shorter, g (t - x)+; with the parent and g x both span the same. What a knot is
worth follows from the products of its hinge with the orthonormal columns Q of the terms so far and
with the residuals. All knots get them from one pass over the rows, as running sums; and because
products with columns of Q never change, a pass takes up only the columns that are new since the
last one.

Symbols
-------
rows, g     rows where the parent is not zero, and its values there times the roots of the weights
x, code     inputs on a common scale, (p, n), and the bins their values fall into; the bin after
            the last is for missing values, which are written as zero
Q, R        orthonormal columns of the terms so far, and residuals, one after the other in memory
edge        largest value of each bin, (p, bins + 1): the knots; zero for missing values
exact       whether all values of a bin are equal
state       for each input and knot: length left outside the span, product with g x, product with
            the column of missing values, first length (negative: no knot)
own         of each input: first length of g x, what is left of it, the same for the column of
            missing values, and the product of both
split       first knot whose hinge rises to the right
"""

import numpy as np

from bottega._jit import kernel

BLOCK = 8  # columns of Q whose tables of sums stay in the cache
NEW = 1e-7  # share of a column, squared, that must lie outside the span of the others
TIED = 1e-9  # gains that differ by less, relatively, are ties: the first one counts


@kernel
def search_knots(
    rows, g, Q, first, last, R, x, code, edge, n_bins, exact, variables, state, own, split, rss,
    price, found,
):  # fmt: skip
    """Take the columns first to last - 1 of Q off the hinges, and find the best knot of each input.

    Writes into `found`, for each input, by how much the squared residuals would fall, the knot (-1:
    a line, -2: nothing new), and by how much they would fall with the line alone. Beyond a line
    that is new, a knot must be worth more than the share `price` of what it leaves of `rss`.
    """
    n_old, n_left = last - first, R.shape[0]
    width = n_old + n_left
    padded = (width + 3) // 4 * 4
    most, count = edge.shape[1], variables.size
    V = np.empty((rows.size, min(BLOCK, padded)))
    table = np.empty(most * 2 * BLOCK)
    line, gone = np.empty((count, padded)), np.empty((count, padded))
    run, total = np.empty(BLOCK), np.empty(BLOCK)
    product = np.empty((count, n_left, most))
    for at in range(0, padded, BLOCK):
        block = min(BLOCK, padded - at)
        for k in range(block):
            if at + k >= width:
                for i in range(rows.size):
                    V[i, k] = 0.0
                continue
            column = Q[first + at + k] if at + k < n_old else R[at + k - n_old]
            for i in range(rows.size):
                V[i, k] = g[i] * column[rows[i]]
        for s in range(count):
            j = variables[s]
            _sums(rows, V, block, x[j], code[j], edge[j], n_bins[j], exact[j], table)
            _products_of_line(at, block, edge[j], n_bins[j], table, line[s], gone[s])
            for k in range(at, min(at + block, n_old)):
                own[j, 1] -= line[s, k] * line[s, k]
                own[j, 3] -= gone[s, k] * gone[s, k]
                own[j, 4] -= line[s, k] * gone[s, k]
            _products_of_hinges(
                at, block, n_old, width, edge[j], n_bins[j], split[j], table, line[s], gone[s],
                run, total, state[j], product[s],
            )  # fmt: skip
    for s in range(count):
        j = variables[s]
        _best_knot(
            n_bins[j], n_old, n_left, line[s], gone[s], state[j], own[j], product[s], rss, price,
            found[j],
        )  # fmt: skip


@kernel
def _sums(rows, V, block, x, code, edge, bins, exact, table):
    """Add up V, and V times the distance from the edge, over the rows of each bin."""
    wide = np.uint64(2 * block)
    for k in range(wide * np.uint64(bins + 1)):
        table[k] = 0.0
    for i in range(rows.size):
        row = rows[i]
        b = np.uint64(code[row])
        base = b * wide
        off = x[row] - edge[b]
        for k in range(0, block, 4):
            v0, v1, v2, v3 = V[i, k], V[i, k + 1], V[i, k + 2], V[i, k + 3]
            table[base] += v0
            table[base + np.uint64(1)] += v1
            table[base + np.uint64(2)] += v2
            table[base + np.uint64(3)] += v3
            if not exact:
                table[base + np.uint64(4)] += v0 * off
                table[base + np.uint64(5)] += v1 * off
                table[base + np.uint64(6)] += v2 * off
                table[base + np.uint64(7)] += v3 * off
            base += np.uint64(8)


@kernel
def _products_of_line(at, block, edge, bins, table, line, gone):
    """Write the products of V with x and with the column of missing values."""
    for k in range(block):
        place = 8 * (k // 4) + k % 4
        total = 0.0
        for b in range(bins):
            spot = b * 2 * block + place
            total += table[spot] * edge[b] + table[spot + 4]
        line[at + k] = total
        gone[at + k] = table[bins * 2 * block + place]


@kernel
def _products_of_hinges(
    at, block, n_old, width, edge, bins, split, table, line, gone, run, total, state, product
):  # fmt: skip
    """Run through the knots from both ends; take old columns off, write products with the rest."""
    for k in range(block):
        run[k] = total[k] = 0.0
    for b in range(bins - 2, split - 1, -1):
        step = edge[b + 1] - edge[b]
        for k in range(block):
            spot = (b + 1) * 2 * block + 8 * (k // 4) + k % 4
            total[k] += table[spot]
            run[k] += step * total[k] + table[spot + 4]
        if state[3, b] > 0.0:
            _take_off(at, block, n_old, width, b, run, line, gone, state, product)
    for k in range(block):
        run[k] = total[k] = 0.0
    for b in range(min(split, bins)):
        step = edge[b] - edge[b - 1] if b > 0 else 0.0
        for k in range(block):
            spot = b * 2 * block + 8 * (k // 4) + k % 4
            run[k] += step * total[k] - table[spot + 4]
            total[k] += table[spot]
        if state[3, b] > 0.0:
            _take_off(at, block, n_old, width, b, run, line, gone, state, product)


@kernel
def _take_off(at, block, n_old, width, b, run, line, gone, state, product):
    for k in range(block):
        c = run[k]
        if at + k < n_old:
            state[0, b] -= c * c
            state[1, b] -= c * line[at + k]
            state[2, b] -= c * gone[at + k]
        elif at + k < width:
            product[at + k - n_old, b] = c


@kernel
def _best_knot(bins, n_old, n_left, line, gone, state, own, product, rss, price, found):
    """Find the knot whose hinge, beside the line and the missing values, leaves least."""
    gap, cross = own[3], own[4]
    with_gap = gap > NEW * own[2]
    if not with_gap:
        gap, cross = 1.0, 0.0
    left = own[1] - cross * cross / gap
    with_line = left > NEW * own[0]
    if not with_line:
        left = 1.0
    gain = 0.0
    for k in range(n_left):
        r = gone[n_old + k] if with_gap else 0.0
        s = line[n_old + k] - cross * r / gap if with_line else 0.0
        gain += r * r / gap + s * s / left
        gone[n_old + k] = r / gap
        line[n_old + k] = s / left
    found[2] = gain
    found[1] = -1.0 if with_gap or with_line else -2.0
    best, at = 0.0, -1
    for b in range(bins):
        if state[3, b] <= 0.0:
            continue
        length = state[0, b]
        f = state[2, b] if with_gap else 0.0
        e = state[1, b] - f * cross / gap if with_line else 0.0
        length -= f * f / gap + e * e / left
        if length <= NEW * state[3, b]:
            continue
        more = 0.0
        for k in range(n_left):
            r = product[k, b] - f * gone[n_old + k] - e * line[n_old + k]
            more += r * r
        more /= length
        if more > best * (1.0 + TIED):
            best, at = more, b
    found[0] = gain
    if at >= 0 and not (with_line and best <= max(TIED * gain, price * (rss - gain - best))):
        found[0] = gain + best
        found[1] = at
