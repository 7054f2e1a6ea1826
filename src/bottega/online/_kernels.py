"""One pass of a linear learner over a block of rows, dense or CSR.

Symbols
-------
X, y        rows and truths; y is -1 or +1 for classes (the perceptron of several classes takes the
            number of the class)
w           weights, one a column; with an intercept the constant 1 is the last column, so w is one
            longer than a row. Changed in place
z           prediction w.x before the row is learned
g           derivative of the loss in z: the gradient in w is ``g x + sigma w``
t           rows seen before the present one
past        for the mean of w over time: sum of t times the change of w made after t rows, so that
            the mean of w after each of T rows is ``w - past / T``. Empty where no mean is wanted
losses      what each row was charged, before it was learned. Empty where nobody asks
total       sum of x.x over the rows (for gradient descent of new weights times 0 too), returned to
            be looked at: it is not finite if any number in the block was not, or has overflowed
state       of gradient descent, see the constants below

A CSR row touches few weights, so what changes all of them (the penalty, the projection on the ball)
is kept in one factor: ``w = scale * v``.
"""

import numpy as np

from bottega._jit import kernel, summing_kernel

__all__ = [
    "all_finite",
    "descend_csr",
    "descend_dense",
    "perceptron_csr",
    "perceptron_dense",
    "perceptron_many_csr",
    "perceptron_many_dense",
    "project",
    "project_l1_ball",
    "project_simplex",
]

# The codes of bottega.core.losses.
ABSOLUTE_ERROR = 1
SQUARED_ERROR = 2
HINGE = 4
LOGISTIC = 5
HUBER = 6

# Step rules.
SQRT = 0
CONSTANT = 1
STRONGLY_CONVEX = 2
ADAGRAD = 3

# Projections.
NOWHERE = 0
BALL = 1
BOX = 2
SIMPLEX = 3
L1_BALL = 4

# What gradient descent remembers beside its weights.
ROWS = 0  # rows seen
LARGEST = 1  # largest norm of a gradient
RATE = 2  # last step size
SPENT = 3  # sum of step size times squared norm of the gradient
STATE_SIZE = 4

_SMALL_SCALE = 1e-100  # the factor is multiplied out before it loses digits


@kernel
def all_finite(values):
    """Tell whether no number is infinite or missing: x * 0 is 0 only for finite x."""
    a = b = c = d = 0.0
    n = len(values)
    for i in range(0, n - 3, 4):
        a += values[i] * 0.0
        b += values[i + 1] * 0.0
        c += values[i + 2] * 0.0
        d += values[i + 3] * 0.0
    for i in range(n - n % 4, n):
        a += values[i] * 0.0
    return a + b + c + d == 0.0


# ---- rows ----------------------------------------------------------------------------------------


@summing_kernel
def _product(X, i, w, intercept):
    """Return w.x and x.x of a dense row."""
    p = X.shape[1]
    z = 0.0
    square = 0.0
    for j in range(p):
        z += w[j] * X[i, j]
        square += X[i, j] * X[i, j]
    if intercept:
        z += w[p]
        square += 1.0
    return z, square


@kernel
def _product_csr(indptr, indices, data, i, w, intercept):
    """Return w.x and x.x of a CSR row."""
    z = 0.0
    square = 0.0
    for k in range(indptr[i], indptr[i + 1]):
        z += w[indices[k]] * data[k]
        square += data[k] * data[k]
    if intercept:
        z += w[len(w) - 1]
        square += 1.0
    return z, square


@kernel
def _add(X, i, factor, w, intercept, t, past):
    """Add a multiple of a dense row to the weights."""
    p = X.shape[1]
    for j in range(p):
        w[j] += factor * X[i, j]
    if intercept:
        w[p] += factor
    if len(past):
        for j in range(p):
            past[j] += t * factor * X[i, j]
        if intercept:
            past[p] += t * factor


@kernel
def _add_csr(indptr, indices, data, i, factor, w, intercept, t, past):
    """Add a multiple of a CSR row to the weights."""
    last = len(w) - 1
    for k in range(indptr[i], indptr[i + 1]):
        w[indices[k]] += factor * data[k]
    if intercept:
        w[last] += factor
    if len(past):
        for k in range(indptr[i], indptr[i + 1]):
            past[indices[k]] += t * factor * data[k]
        if intercept:
            past[last] += t * factor


# ---- perceptron ----------------------------------------------------------------------------------


@kernel
def perceptron_dense(X, y, w, intercept, t, past, losses):
    """If y w.x <= 0 then w <- w + y x. Return the largest x.x and the total."""
    longest = total = 0.0
    for i in range(X.shape[0]):
        z, square = _product(X, i, w, intercept)
        longest = max(longest, square)
        total += square
        mistake = y[i] * z <= 0.0
        losses[i] = 1.0 if mistake else 0.0
        if mistake:
            _add(X, i, y[i], w, intercept, t, past)
        t += 1.0
    return longest, total


@kernel
def perceptron_csr(indptr, indices, data, y, w, intercept, t, past, losses):
    """As `perceptron_dense`, for CSR rows."""
    longest = total = 0.0
    for i in range(len(indptr) - 1):
        z, square = _product_csr(indptr, indices, data, i, w, intercept)
        longest = max(longest, square)
        total += square
        mistake = y[i] * z <= 0.0
        losses[i] = 1.0 if mistake else 0.0
        if mistake:
            _add_csr(indptr, indices, data, i, y[i], w, intercept, t, past)
        t += 1.0
    return longest, total


@kernel
def perceptron_many_dense(X, y, W, intercept, t, past, losses):
    """Several classes: if a rival scores at least as much, move the two vectors apart by x."""
    longest = total = 0.0
    n_classes = W.shape[0]
    for i in range(X.shape[0]):
        own, square = _product(X, i, W[y[i]], intercept)
        longest = max(longest, square)
        total += square
        rival, best = -1, -np.inf
        for k in range(n_classes):
            if k != y[i]:
                z, _ = _product(X, i, W[k], intercept)
                if z > best:
                    rival, best = k, z
        mistake = own <= best
        losses[i] = 1.0 if mistake else 0.0
        if mistake:
            _add(X, i, 1.0, W[y[i]], intercept, t, past[y[i]])
            _add(X, i, -1.0, W[rival], intercept, t, past[rival])
        t += 1.0
    return longest, total


@kernel
def perceptron_many_csr(indptr, indices, data, y, W, intercept, t, past, losses):
    """As `perceptron_many_dense`, for CSR rows."""
    longest = total = 0.0
    n_classes = W.shape[0]
    for i in range(len(indptr) - 1):
        own, square = _product_csr(indptr, indices, data, i, W[y[i]], intercept)
        longest = max(longest, square)
        total += square
        rival, best = -1, -np.inf
        for k in range(n_classes):
            if k != y[i]:
                z, _ = _product_csr(indptr, indices, data, i, W[k], intercept)
                if z > best:
                    rival, best = k, z
        mistake = own <= best
        losses[i] = 1.0 if mistake else 0.0
        if mistake:
            _add_csr(indptr, indices, data, i, 1.0, W[y[i]], intercept, t, past[y[i]])
            _add_csr(indptr, indices, data, i, -1.0, W[rival], intercept, t, past[rival])
        t += 1.0
    return longest, total


# ---- projections ---------------------------------------------------------------------------------


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


# ---- gradient descent ----------------------------------------------------------------------------


@kernel
def _slope(loss, y, z, delta):
    """Return the derivative of the loss in the prediction z (0 at a kink)."""
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
def _value(loss, y, z, delta):
    """Return the loss of the prediction z."""
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
def _rate(step, eta, reach, bound, sigma, t, largest):
    """Return the step size of row number t (from 1), at most as large as any before.

    Without `eta` the theory's: sqrt(2) reach / G, with G the bound given, or else the largest
    gradient so far, this one included.
    """
    if step == STRONGLY_CONVEX:
        return 1.0 / (sigma * t)
    if eta == 0.0:
        G = bound if bound > 0.0 else largest
        if G == 0.0:
            return 0.0
        eta = np.sqrt(2.0) * reach / G
    return eta / np.sqrt(t) if step == SQRT else eta


@kernel
def descend_dense(
    X, y, w, intercept, loss, delta, step, eta, reach, bound, sigma, projection, radius,
    state, squares, past, losses,
):  # fmt: skip
    """Charge the loss of each row, then step down its gradient and project."""
    p = X.shape[1]
    d = len(w)
    t, largest, rate, spent = state[ROWS], state[LARGEST], state[RATE], state[SPENT]
    averaged = len(past) > 0
    before = w.copy() if averaged else w
    total = 0.0
    for i in range(X.shape[0]):
        z, square = _product(X, i, w, intercept)
        total += square
        g = _slope(loss, y[i], z, delta)
        norm2 = g * g * square
        own = 0.0
        if sigma > 0.0:
            for j in range(d):
                own += w[j] * w[j]
            norm2 = max(norm2 + 2.0 * sigma * g * z + sigma * sigma * own, 0.0)
        if len(losses):
            losses[i] = _value(loss, y[i], z, delta) + 0.5 * sigma * own
        largest = max(largest, np.sqrt(norm2))
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
            rate = _rate(step, eta, reach, bound, sigma, t, largest)
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
    indptr, indices, data, y, w, intercept, loss, delta, step, eta, reach, bound, sigma,
    projection, radius, state, squares, past, losses,
):  # fmt: skip
    """As `descend_dense`, at the cost of the entries that are not zero.

    For no projection, the ball or the box; the box, AdaGrad and the mean over time without
    penalty, and the mean without the ball. The rest changes every weight in every row.
    """
    d = len(w)
    last = d - 1
    t, largest, rate, spent = state[ROWS], state[LARGEST], state[RATE], state[SPENT]
    averaged = len(past) > 0
    scale = 1.0
    total = 0.0
    own = 0.0  # squared norm of the weights, where it is needed
    if sigma > 0.0 or projection == BALL:
        for j in range(d):
            own += w[j] * w[j]
    for i in range(len(indptr) - 1):
        z, square = _product_csr(indptr, indices, data, i, w, intercept)
        z *= scale
        total += square
        g = _slope(loss, y[i], z, delta)
        norm2 = g * g * square
        if sigma > 0.0:
            norm2 = max(norm2 + 2.0 * sigma * g * z + sigma * sigma * own, 0.0)
        if len(losses):
            losses[i] = _value(loss, y[i], z, delta) + 0.5 * sigma * own
        largest = max(largest, np.sqrt(norm2))
        t += 1.0
        if norm2 == 0.0:
            continue
        if step != ADAGRAD:
            rate = _rate(step, eta, reach, bound, sigma, t, largest)
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
