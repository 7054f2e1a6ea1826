"""The criteria of a smoothing spline at one penalty, from the filter of `state_space`.

Symbols are those of `state_space`.
"""

import numpy as np

from bottega._jit import kernel


@kernel
def smooth_back(w, h, v, iF, m1, m2, residual, left, leverage):
    """Smooth from right to left: y - f, 1 - leverage and leverage of each knot."""
    n = len(w)
    r1 = r2 = N11 = N12 = N22 = 0.0
    for t in range(n - 1, -1, -1):
        if t < n - 1:  # pull back to this knot
            step = h[t]
            r2 += step * r1
            N22 += step * (2 * N12 + step * N11)
            N12 += step * N11
        k1, k2 = m1[t], m2[t]
        if t > 1:
            spread = k1 * k1 * N11 + 2 * k1 * k2 * N12 + k2 * k2 * N22
            left[t] = (iF[t] + spread) / w[t]
            leverage[t] = k1 - spread / w[t]
            residual[t] = (v[t] * iF[t] - k1 * r1 - k2 * r2) / w[t]
            c = iF[t] / w[t]
            r1 = c * r1 - k2 * r2 + v[t] * iF[t]
            N11 = c * c * N11 - 2 * c * k2 * N12 + k2 * k2 * N22 + iF[t]
            N12 = c * N12 - k2 * N22
        elif t == 1:
            d1 = 1 / h[0]
            residual[1] = -(r1 + r2 * d1) / w[1]
            left[1] = (N11 + d1 * (2 * N12 + d1 * N22)) / w[1]
            leverage[1] = 1 - left[1]
            residual[0] = r2 * d1 / w[0]
            left[0] = N22 * d1 * d1 / w[0]
            leverage[0] = 1 - left[0]


@kernel
def scan_knots(moments, residual, left):
    """Return what `scan_rows` does, for rows of weight one, from the moments of each knot."""
    rss = mean_loss = square = 0.0
    for g in range(len(residual)):
        count, d = moments[0, g], residual[g]
        share = 1 / count
        remain = (1 - share) + share * left[g]
        # A row that is fitted whatever its response cannot be left out.
        factor = 1 / remain if remain > 0 else np.inf
        factor *= factor
        second = moments[1, g] + count * d * d
        fourth = moments[3, g] + d * (4 * moments[2, g] + d * (6 * moments[1, g] + count * d * d))
        rss += second
        mean_loss += factor * second
        square += factor * factor * fourth
    return rss, mean_loss, mean_loss, square


@kernel
def scan_rows(y, w, start, mean, total, residual, left):
    """Return rss, and sums of w loss, w^2 loss and w^2 loss^2 of the leave-one-out errors.

    Rows are sorted by knot, those of knot g from start[g] to start[g + 1]; `mean` and `total` are
    the knots' mean responses and weights, `residual` and `left` their y - f and 1 - leverage.
    """
    rss = mean_loss = cross = square = 0.0
    for g in range(len(mean)):
        for i in range(start[g], start[g + 1]):
            gap = residual[g] + (y[i] - mean[g])
            rss += w[i] * gap * gap
            share = w[i] / total[g]
            remain = (1 - share) + share * left[g]
            # A row that is fitted whatever its response cannot be left out.
            out = gap / remain if remain > 0 else np.inf
            loss = out * out
            mean_loss += w[i] * loss
            cross += w[i] * w[i] * loss
            square += w[i] * w[i] * loss * loss
    return rss, mean_loss, cross, square
