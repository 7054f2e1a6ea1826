"""The knots of a new parent of adaptive splines (symbols as in `adaptive_knots`)."""

import numpy as np

from bottega._jit import kernel


@kernel
def start_knots(
    rows, g, mass, x, code, edge, n_bins, variables, spacing, margin, state, own, split
):
    """Write lengths and products of the hinges, before any column of Q is taken off."""
    most = edge.shape[1]
    square, first, second, count = np.empty(most), np.empty(most), np.empty(most), np.empty(most)
    below, below_first = np.empty(most), np.empty(most)
    for j in variables:
        bins = n_bins[j]
        for b in range(bins + 1):
            square[b] = first[b] = second[b] = count[b] = 0.0
        for i in range(rows.size):
            row = rows[i]
            at = np.int64(code[j, row])
            gg = g[i] * g[i]
            off = x[j, row] - edge[j, at]
            square[at] += gg
            first[at] += gg * off
            second[at] += gg * off * off
            count[at] += mass[row]
        length, n_present = 0.0, 0.0
        at0, at1, at2 = 0.0, 0.0, 0.0  # sums of g^2 times powers of (edge - x) over rows below
        for b in range(bins):
            e = edge[j, b]
            step = e - edge[j, b - 1] if b > 0 else 0.0
            at2 += step * (2.0 * at1 + step * at0) + second[b]
            at1 += step * at0 - first[b]
            at0 += square[b]
            below[b], below_first[b] = at2, at1
            length += second[b] + e * (2.0 * first[b] + e * square[b])
            n_present += count[b]
        own[j, 0] = own[j, 1] = length
        own[j, 2] = own[j, 3] = square[bins]
        own[j, 4] = 0.0
        at0, at1, at2 = 0.0, 0.0, 0.0
        split[j] = 0
        for b in range(bins - 1, -1, -1):
            e = edge[j, b]
            if b < bins - 1:  # the rows of the bin above come in
                step = edge[j, b + 1] - e
                at0 += square[b + 1]
                at1 += first[b + 1]
                at2 += second[b + 1] + step * (2.0 * at1 + step * at0)
                at1 += step * at0
            if at2 <= below[b]:
                state[j, 0, b] = at2
                state[j, 1, b] = at2 + e * at1
            else:
                split[j] = max(split[j], b + 1)
                state[j, 0, b] = below[b]
                state[j, 1, b] = e * below_first[b] - below[b]
            state[j, 2, b] = 0.0
            state[j, 3, b] = -1.0
        _mark_knots(bins, count, n_present, spacing, margin, state[j])


@kernel
def _mark_knots(bins, count, n_present, spacing, margin, state):
    """Mark the bins that hold one of the evenly spaced ranks: they count rows above them."""
    between = np.floor((n_present - 2.0 * margin - 1.0) / spacing)
    if between < 0.0:
        return
    start = np.ceil(0.5 * (n_present - between * spacing - 1.0))
    above = n_present
    for b in range(bins):
        top = above  # rows of this bin and beyond
        above -= count[b]
        rank = start + spacing * min(max(np.ceil((above - start) / spacing), 0.0), between)
        if above <= rank < top:
            state[3, b] = state[0, b]
