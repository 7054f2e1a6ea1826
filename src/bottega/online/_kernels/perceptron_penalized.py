"""One pass of the perceptron with steps of any size and a penalty, over a block of dense rows.

Symbols are those of `perceptron`. Two classes have a vector each here, opposite to one another. It
is compiled only where weights, a penalty, a step size or a tolerance are asked for.

size        step of each row: the learning rate times the weight of the row
kept        factor on the weights at each row: 1 - (L2 part of the penalty) * (learning rate)
pull        how far each weight is moved towards zero at each row, by the L1 part of the penalty
l2, l1      the two parts of the penalty, for the objective
objective   sum of the losses (how much the best rival scores above the truth) and penalties
"""

import numpy as np

from bottega._jit import kernel
from bottega.online._kernels.rows import add, product


@kernel
def perceptron_penalized(X, y, W, intercept, t, past, losses, size, kept, pull, l2, l1):
    """Return the largest x.x, the total that shows overflow, and the objective."""
    longest = total = objective = 0.0
    n_classes, p = W.shape[0], X.shape[1]
    averaged = past.shape[1] > 0
    nothing = past[0, :0]
    before = W.copy() if averaged else W
    for i in range(X.shape[0]):
        own, square = product(X, i, W[y[i]], intercept)
        longest = max(longest, square)
        total += square
        rival, best = -1, -np.inf
        for k in range(n_classes):
            if k != y[i]:
                z, _ = product(X, i, W[k], intercept)
                if z > best:
                    rival, best = k, z
        mistake = own <= best
        losses[i] = 1.0 if mistake else 0.0
        if mistake:
            objective += best - own
        if averaged:
            for k in range(n_classes):
                for j in range(W.shape[1]):
                    before[k, j] = W[k, j]
        if l2 > 0.0 or l1 > 0.0:
            for k in range(n_classes):
                for j in range(p):
                    objective += 0.5 * l2 * W[k, j] * W[k, j] + l1 * abs(W[k, j])
                    W[k, j] *= kept
        if mistake:
            add(X, i, size[i], W[y[i]], intercept, t, nothing)
            add(X, i, -size[i], W[rival], intercept, t, nothing)
        if pull > 0.0:
            for k in range(n_classes):
                for j in range(p):
                    W[k, j] = max(W[k, j] - pull, 0.0) + min(W[k, j] + pull, 0.0)
        if averaged:
            for k in range(n_classes):
                for j in range(W.shape[1]):
                    past[k, j] += t * (W[k, j] - before[k, j])
        t += 1.0
    for k in range(n_classes):
        for j in range(W.shape[1]):
            total += W[k, j] * 0.0
    return longest, total, objective
