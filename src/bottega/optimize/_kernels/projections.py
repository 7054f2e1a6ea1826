"""The nearest point of a ball, a box, a simplex or an l1 ball, in place.

The simplex lowers all entries that stay positive by one amount theta. It is found without a sort
(Michelot 1986, Condat 2016): theta is at least the largest entry less the radius, and at least what
it is for a sample of the entries, so all entries below that are out at once; of the others the mean
less its share of the radius is a lower bound of theta, entries below it are dropped, and the bound
rises until none is. Entries are measured from the largest, so that an offset common to all costs no
digits.
"""

import numpy as np

from bottega._jit import kernel

# The sets.
NOWHERE = 0
BALL = 1
BOX = 2
SIMPLEX = 3
L1_BALL = 4

MANY = 4096  # entries of which a sample is worth its time


@kernel
def lowering(near, count, radius):
    """Return theta - top from the entries less the largest that may stay; they are reordered."""
    total = 0.0
    for j in range(count):
        total += near[j]
    while True:
        theta = (total - radius) / count
        total = 0.0
        kept = 0
        for j in range(count):  # without a branch, whose guesses would be wrong half of the time
            gap = near[j]
            stays = gap > theta
            near[kept] = gap
            kept += stays
            total += gap * stays
        if kept == count or kept == 0:
            return theta
        count = kept


@kernel
def first_bound(w, top, radius, unsigned):
    """Return a lower bound of theta - top: that of one entry, or of every 64th of many.

    With more entries theta is larger, so what it is for some of them bounds it for all.
    """
    if len(w) < MANY:
        return -radius
    near = np.empty(len(w) // 64 + 1)
    count = 0
    for j in range(0, len(w), 64):
        gap = (abs(w[j]) if unsigned else w[j]) - top
        near[count] = gap
        count += gap > -radius
    if count == 0:
        return -radius
    theta = lowering(near, count, radius)
    return theta if theta < 0.0 else -radius


@kernel
def project_simplex(w, radius):
    """Move w to the nearest point with entries at least 0 and sum `radius`."""
    top = w[0]
    for j in range(1, len(w)):
        top = max(top, w[j])
    bound = first_bound(w, top, radius, False)
    near = np.empty(len(w))
    count = 0
    for j in range(len(w)):
        gap = w[j] - top
        near[count] = gap
        count += gap > bound
    theta = lowering(near, count, radius) if count else 0.0
    for j in range(len(w)):
        w[j] = max((w[j] - top) - theta, 0.0)


@kernel
def project_l1_ball(w, radius):
    """Move w to the nearest point with absolute values that sum to at most `radius`."""
    total = 0.0
    top = 0.0
    for j in range(len(w)):
        size = abs(w[j])
        total += size
        top = max(top, size)
    if total <= radius:
        return
    bound = first_bound(w, top, radius, True)
    near = np.empty(len(w))
    count = 0
    for j in range(len(w)):
        gap = abs(w[j]) - top
        near[count] = gap
        count += gap > bound
    theta = lowering(near, count, radius)
    for j in range(len(w)):
        size = max((abs(w[j]) - top) - theta, 0.0)
        w[j] = size if w[j] >= 0.0 else -size


@kernel
def project(w, projection, radius):
    """Move w to the nearest point of the ball, the box, the simplex or the l1 ball."""
    if projection == BALL:
        square = 0.0
        for j in range(len(w)):
            square += w[j] * w[j]
        if square > radius * radius:
            factor = radius / np.sqrt(square)
            for j in range(len(w)):
                w[j] *= factor
    elif projection == BOX:
        for j in range(len(w)):
            w[j] = min(max(w[j], -radius), radius)
    elif projection == SIMPLEX:
        project_simplex(w, radius)
    elif projection == L1_BALL:
        project_l1_ball(w, radius)
