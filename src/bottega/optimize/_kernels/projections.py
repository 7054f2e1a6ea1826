"""The nearest point of a ball, a box, a simplex or an l1 ball, in place."""

import numpy as np

from bottega._jit import kernel

# The sets.
NOWHERE = 0
BALL = 1
BOX = 2
SIMPLEX = 3
L1_BALL = 4


@kernel
def project_simplex(w, radius):
    """Move w to the nearest point with entries at least 0 and sum `radius`."""
    descending = np.sort(w)[::-1]
    total = 0.0
    theta = 0.0
    for k in range(len(w)):
        total += descending[k]
        candidate = (total - radius) / (k + 1)
        if descending[k] <= candidate:
            break
        theta = candidate
    for j in range(len(w)):
        w[j] = max(w[j] - theta, 0.0)


@kernel
def project_l1_ball(w, radius):
    """Move w to the nearest point with absolute values that sum to at most `radius`."""
    size = np.abs(w)
    if size.sum() <= radius:
        return
    project_simplex(size, radius)
    for j in range(len(w)):
        w[j] = size[j] if w[j] >= 0.0 else -size[j]


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
