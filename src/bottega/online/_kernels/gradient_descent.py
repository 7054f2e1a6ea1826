"""One pass of online gradient descent over a block of rows, dense or CSR.

Symbols
-------
X, y        rows and truths; y is -1 or +1 for classes
weight      of each row, a factor on its loss; empty where all are one
w           weights, see `rows`. Changed in place
z           prediction w.x before the row is learned
g           derivative of the loss in z: the gradient in w is ``g x + sigma w``
t, past     rows seen, and what the mean of w over time needs
losses      what each row was charged before it was learned. Empty where nobody asks
total       sum of x.x over the rows and of new weights times 0, returned to be looked at: it is not
            finite if any number in the block was not, or has overflowed
state       what is remembered beside the weights, see the constants below

A CSR row touches few weights, so what changes all of them (the penalty, the projection on the ball)
is kept in one factor: ``w = scale * v``.
"""

import numpy as np

from bottega._jit import kernel
from bottega.online._kernels.rows import product, product_ahead, product_csr
from bottega.optimize._kernels.projections import BALL, BOX, NOWHERE, project

# The codes of bottega.core.losses. GIVEN: a loss that kernels do not know, whose slope is computed
# outside and given in the place of y, row by row; what is charged is then the penalty alone.
GIVEN = -1
ABSOLUTE_ERROR = 1
SQUARED_ERROR = 2
HINGE = 4
LOGISTIC = 5
HUBER = 6

# Step rules.
INVSCALING = 0
CONSTANT = 1
STRONGLY_CONVEX = 2
ADAGRAD = 3

# What is remembered beside the weights.
ROWS = 0  # rows seen
LARGEST = 1  # largest norm of a gradient
RATE = 2  # last step size
SPENT = 3  # sum of step size times squared norm of the gradient
STATE_SIZE = 4

_SMALL_SCALE = 1e-100  # the factor is multiplied out before it loses digits


@kernel
def slope_of(loss, y, z, delta):
    """Return the derivative of the loss in the prediction z (0 at a kink)."""
    if loss == GIVEN:
        return y
    if loss == LOGISTIC:
        return -y / (1.0 + np.exp(y * z))
    if loss == HINGE:
        return -y if y * z < 1.0 else 0.0
    r = z - y
    if loss == SQUARED_ERROR:
        return 2.0 * r
    if loss == ABSOLUTE_ERROR:
        return np.sign(r)
    return min(max(r, -delta), delta)


@kernel
def value_of(loss, y, z, delta):
    """Return the loss of the prediction z."""
    if loss == GIVEN:
        return 0.0
    if loss == LOGISTIC:
        return max(-y * z, 0.0) + np.log1p(np.exp(-abs(z)))
    if loss == HINGE:
        return max(0.0, 1.0 - y * z)
    r = abs(y - z)
    if loss == SQUARED_ERROR:
        return r * r
    if loss == ABSOLUTE_ERROR:
        return r
    near = min(r, delta)
    return near * (r - 0.5 * near)


@kernel
def factor_of(eta, reach, bound, largest):
    """Return the factor of the steps: `eta`, or where it is 0 the theory's, sqrt(2) reach / G.

    G is the bound given, or else the largest gradient so far.
    """
    G = bound if bound > 0.0 else largest
    if eta != 0.0 or G == 0.0:
        return eta
    return np.sqrt(2.0) * reach / G


@kernel
def rate_of(step, eta, factor, power, sigma, t):
    """Return the step size of row number t (from 1), at most as large as any before.

    Strongly convex steps count t from `eta` rows before.
    """
    if step == STRONGLY_CONVEX:
        return 1.0 / (sigma * (t + eta))
    if step == CONSTANT:
        return factor
    return factor / np.sqrt(t) if power == 0.5 else factor / t**power


@kernel
def descend_dense(
    X, y, weight, w, intercept, loss, delta, step, eta, reach, bound, power, sigma, projection,
    radius, state, squares, past, losses,
):  # fmt: skip
    """Charge the loss of each row, then step down its gradient and project."""
    p = X.shape[1]
    d = len(w)
    t, largest, rate, spent = state[ROWS], state[LARGEST], state[RATE], state[SPENT]
    factor = factor_of(eta, reach, bound, largest)
    averaged = len(past) > 0
    before = w.copy() if averaged else w
    total = 0.0
    n = X.shape[0]
    # Where a row changes the weights by a multiple of itself alone, the product of the next row
    # need not wait for it: w'.x' = w.x' - change x.x'.
    ahead = step != ADAGRAD and sigma == 0.0 and projection == NOWHERE
    after = after_square = both = change = 0.0
    for i in range(n):
        if ahead and i > 0:
            z, square = after - change * both, after_square
        else:
            z, square = product(X, i, w, intercept)
        if ahead and i + 1 < n:
            after, after_square, both = product_ahead(X, i, w, intercept)
        change = 0.0
        total += square
        c = weight[i] if len(weight) else 1.0
        g = c * slope_of(loss, y[i], z, delta)
        norm2 = g * g * square
        own = 0.0
        if sigma > 0.0:
            for j in range(d):
                own += w[j] * w[j]
            norm2 = max(norm2 + 2.0 * sigma * g * z + sigma * sigma * own, 0.0)
        if len(losses):
            losses[i] = c * value_of(loss, y[i], z, delta) + 0.5 * sigma * own
        if norm2 > largest * largest:
            largest = np.sqrt(norm2)
            factor = factor_of(eta, reach, bound, largest)
        t += 1.0
        if averaged:
            for j in range(d):
                before[j] = w[j]
        if step == ADAGRAD:
            for j in range(d):
                slope = g * (X[i, j] if j < p else 1.0) + sigma * w[j]
                if slope != 0.0:
                    squares[j] += slope * slope
                    w[j] -= eta * slope / np.sqrt(squares[j])
        elif norm2 > 0.0:
            rate = rate_of(step, eta, factor, power, sigma, t)
            spent += rate * norm2
            kept = 1.0 - rate * sigma
            change = rate * g
            if sigma > 0.0:
                for j in range(d):
                    w[j] *= kept
            for j in range(p):
                w[j] -= change * X[i, j]
            if intercept:
                w[p] -= change
        if projection != NOWHERE:
            project(w, projection, radius)
        if averaged:
            for j in range(d):
                past[j] += (t - 1.0) * (w[j] - before[j])
    for j in range(d):
        total += w[j] * 0.0
    state[ROWS], state[LARGEST], state[RATE], state[SPENT] = t, largest, rate, spent
    return total


@kernel
def descend_csr(
    indptr, indices, data, y, weight, w, intercept, loss, delta, step, eta, reach, bound, power,
    sigma, projection, radius, state, squares, past, losses,
):  # fmt: skip
    """As `descend_dense`, at the cost of the entries that are not zero.

    For no projection, the ball or the box; the box, AdaGrad and the mean over time without
    penalty, and the mean without the ball. The rest changes every weight in every row.
    """
    d = len(w)
    last = d - 1
    t, largest, rate, spent = state[ROWS], state[LARGEST], state[RATE], state[SPENT]
    factor = factor_of(eta, reach, bound, largest)
    averaged = len(past) > 0
    scale = 1.0
    total = 0.0
    own = 0.0  # squared norm of the weights, where it is needed
    if sigma > 0.0 or projection == BALL:
        for j in range(d):
            own += w[j] * w[j]
    for i in range(len(indptr) - 1):
        z, square = product_csr(indptr, indices, data, i, w, intercept)
        z *= scale
        total += square
        c = weight[i] if len(weight) else 1.0
        g = c * slope_of(loss, y[i], z, delta)
        norm2 = g * g * square
        if sigma > 0.0:
            norm2 = max(norm2 + 2.0 * sigma * g * z + sigma * sigma * own, 0.0)
        if len(losses):
            losses[i] = c * value_of(loss, y[i], z, delta) + 0.5 * sigma * own
        if norm2 > largest * largest:
            largest = np.sqrt(norm2)
            factor = factor_of(eta, reach, bound, largest)
        t += 1.0
        if norm2 == 0.0:
            continue
        if step != ADAGRAD:
            rate = rate_of(step, eta, factor, power, sigma, t)
            spent += rate * norm2
            kept = 1.0 - rate * sigma
            scale *= kept
            own *= kept * kept
            if abs(scale) < _SMALL_SCALE:
                for j in range(d):
                    w[j] *= scale
                scale = 1.0
        entries = indptr[i + 1] - indptr[i]
        for k in range(entries + 1 if intercept else entries):
            j = last if k == entries else indices[indptr[i] + k]
            x = 1.0 if k == entries else data[indptr[i] + k]
            old = scale * w[j]
            slope = g * x
            if step == ADAGRAD:
                if slope == 0.0:
                    continue
                squares[j] += slope * slope
                new = old - eta * slope / np.sqrt(squares[j])
            else:
                new = old - rate * slope
            if projection == BOX:
                new = min(max(new, -radius), radius)
            own += new * new - old * old
            w[j] = new / scale
            total += new * 0.0
            if averaged:
                past[j] += (t - 1.0) * (new - old)
        if projection == BALL and own > radius * radius:
            scale *= radius / np.sqrt(own)
            own = radius * radius
    if scale != 1.0:
        for j in range(d):
            w[j] *= scale
    state[ROWS], state[LARGEST], state[RATE], state[SPENT] = t, largest, rate, spent
    return total
