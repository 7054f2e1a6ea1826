r"""Kernels of the l1 penalty: coordinate descent on a Gram matrix, finished by a linear solve.

Minimised, over m coefficients b, is the quadratic with a separable penalty

    b'Gb / 2 - c'b + sum_j l1_j |b_j| + sum_j l2_j b_j^2 / 2.

Symbols
-------
G      m by m Gram matrix, divided by the number of rows; the arrays may be larger than m
c      products of the columns with the response, divided by the number of rows
q      c - Gb: the negative gradient of the quadratic
l1     thresholds; 0 leaves a coefficient free, inf keeps it at zero
l2     ridge part of the penalty
S      support: the free columns and those with a coefficient that is not zero

Coordinate descent finds the support and its signs; with these fixed the minimum is the solution of
the linear system (G_SS + l2_S) b_S = c_S - l1_S sign(b_S), which is exact at once. If a sign of it
is wrong, the step is cut, the column leaves the support, and the descent goes on.
"""

import numpy as np

from bottega._jit import kernel
from bottega.optimize._kernels.coordinate_factor import solve_factored, update_factor

# Sweeps before a linear solve is tried, and where none is possible (dependent columns).
_SWEEPS = 8
_SWEEPS_SINGULAR = 200
# A column enters when it passes its threshold by more than rounding.
_ROUNDING = 1e-13


@kernel
def _sweep(G, m, q, b, l1, l2):
    """One cycle of soft thresholding; return whether the signs changed, and the largest step."""
    changed, largest = False, 0.0
    for j in range(m):
        old = b[j]
        if old == 0.0 and abs(q[j]) <= l1[j] * (1 + _ROUNDING):
            continue
        size = G[j, j]
        if size <= 0.0:
            continue
        pull = q[j] + size * old
        if pull > l1[j]:
            new = (pull - l1[j]) / (size + l2[j])
        elif pull < -l1[j]:
            new = (pull + l1[j]) / (size + l2[j])
        else:
            new = 0.0
        step = new - old
        if step != 0.0:
            b[j] = new
            row = G[j]
            for i in range(m):
                q[i] -= step * row[i]
            largest = max(largest, abs(step) * np.sqrt(size))
            if (new > 0) != (old > 0) or (new < 0) != (old < 0):
                changed = True
    return changed, largest


@kernel
def _objective(m, c, q, b, l1, l2):
    total = 0.0
    for j in range(m):
        if b[j] != 0.0:
            total += b[j] * (0.5 * l2[j] * b[j] - 0.5 * (c[j] + q[j])) + l1[j] * abs(b[j])
    return total


@kernel
def _gradient(G, m, c, b, q):
    """Set q to c - Gb."""
    q[:m] = c[:m]
    for j in range(m):
        step = b[j]
        if step != 0.0:
            row = G[j]
            for i in range(m):
                q[i] -= step * row[i]


@kernel
def _newton(S, c, b, l1, R):
    """Return the minimum over S (in the order of the factor) with the signs of b held fixed."""
    z = np.empty(len(S))
    for a in range(len(S)):
        z[a] = c[S[a]] - l1[S[a]] * np.sign(b[S[a]])
    solve_factored(R, len(S), z)
    return z


@kernel
def _refine(S, q, b, l1, l2, R):
    """Correct b on its support by what rounding left in the gradient; return how much that was."""
    z = np.empty(len(S))
    most = 0.0
    for a in range(len(S)):
        j = S[a]
        z[a] = q[j] - l1[j] * np.sign(b[j]) - l2[j] * b[j]
        most = max(most, abs(z[a]))
    solve_factored(R, len(S), z)
    for a in range(len(S)):
        j = S[a]
        if l1[j] == 0.0 or (b[j] + z[a]) * np.sign(b[j]) > 0.0:
            b[j] += z[a]
    return most


@kernel
def _support(m, G, b, l1):
    count = 0
    S = np.empty(m, np.intp)
    for j in range(m):
        if b[j] != 0.0 or (l1[j] == 0.0 and G[j, j] > 0.0):
            S[count] = j
            count += 1
    return S[:count]


@kernel
def _worst(m, q, b, l1):
    """Return by how much the conditions of a minimum fail outside the support, at most."""
    worst = 0.0
    for j in range(m):
        if b[j] == 0.0:
            worst = max(worst, abs(q[j]) - l1[j])
    return worst


@kernel
def _slide(G, m, c, q, b, l1, l2, R, order, s, j):
    """Drop a column from a dependent support, where column j depends on those of the factor.

    Along the combination of the columns that is zero the fit stays, and the penalty is linear:
    go downhill to the first coefficient that becomes zero. Returns whether there is one.
    """
    z = np.empty(s)
    for a in range(s):
        z[a] = G[j, order[a]]
    solve_factored(R, s, z)
    slope = -q[j] + l1[j] * np.sign(b[j]) + l2[j] * b[j]
    for a in range(s):
        i = order[a]
        slope -= z[a] * (-q[i] + l1[i] * np.sign(b[i]) + l2[i] * b[i])
    way = -1.0 if slope > 0.0 else 1.0
    reach, first = np.inf, -1
    if l1[j] > 0.0 and b[j] * way < 0.0:
        reach, first = abs(b[j]), j
    for a in range(s):
        i = order[a]
        step = -way * z[a]
        if l1[i] > 0.0 and b[i] * step < 0.0 and -b[i] / step < reach:
            reach, first = -b[i] / step, i
    if first < 0:
        return False
    b[j] += way * reach
    for a in range(s):
        b[order[a]] -= way * reach * z[a]
    b[first] = 0.0
    _gradient(G, m, c, b, q)
    return True


@kernel
def _finish(G, m, c, q, b, l1, l2, floor, R, order, count):
    """Solve on the support, dropping columns whose sign would change.

    Returns 1: at the minimum; 0: other columns must enter; -1: the columns are dependent.
    """
    S = _support(m, G, b, l1)
    target = np.empty(m)
    while True:
        bad = update_factor(G, S, l2, R, order, count)
        if bad >= 0:
            if not _slide(G, m, c, q, b, l1, l2, R, order, count[0], bad):
                return -1
            S = _support(m, G, b, l1)
            continue
        s = count[0]
        S = order[:s].copy()
        z = _newton(S, c, b, l1, R)
        wrong = 0
        for a in range(s):
            if l1[S[a]] > 0.0 and z[a] * np.sign(b[S[a]]) <= 0.0:
                wrong += 1
        if wrong == 0:
            for a in range(s):
                b[S[a]] = z[a]
            _gradient(G, m, c, b, q)
            if _refine(S, q, b, l1, l2, R) > 0.1 * floor:
                _gradient(G, m, c, b, q)
            return 1 if _worst(m, q, b, l1) <= floor else 0
        # First without the columns of wrong sign; if that does not descend, up to the first zero.
        before = _objective(m, c, q, b, l1, l2)
        old, old_q = b[:m].copy(), q[:m].copy()
        reach = 1.0
        for a in range(s):
            j = S[a]
            target[j] = z[a]
            if l1[j] > 0.0 and z[a] * np.sign(b[j]) <= 0.0:
                reach = min(reach, b[j] / (b[j] - z[a]))
                b[j] = 0.0
            else:
                b[j] = z[a]
        _gradient(G, m, c, b, q)
        if not _objective(m, c, q, b, l1, l2) < before:
            for a in range(s):
                j = S[a]
                crossing = l1[j] > 0.0 and target[j] * np.sign(old[j]) <= 0.0
                if crossing and old[j] / (old[j] - target[j]) <= reach:
                    b[j] = 0.0
                else:
                    b[j] = old[j] + reach * (target[j] - old[j])
            _gradient(G, m, c, b, q)
            if not _objective(m, c, q, b, l1, l2) <= before:  # rounding: nothing left to gain
                b[:m] = old
                q[:m] = old_q
                return 0
        kept = 0
        for a in range(s):
            if b[S[a]] != 0.0 or l1[S[a]] == 0.0:
                S[kept] = S[a]
                kept += 1
        S = S[:kept]


@kernel
def solve_on_gram(G, m, c, q, b, l1, l2, floor, small, max_sweeps, R, order, count):
    """Minimise from b, in place; return whether the minimum is exact, and the sweeps taken.

    `floor` is the failure of the optimality conditions that counts as rounding, `small` the step
    at which descent without a linear solve stops. ``R, order, count`` are the factor of an earlier
    call on the same G (`count` 0: none), see `update_factor`.
    """
    sweeps, stalled = 0, 0
    for j in range(m):
        if l2[j] > 0.0:  # the ridge part changes the matrix
            count[0] = 0
            break
    _gradient(G, m, c, b, q)
    last = _objective(m, c, q, b, l1, l2)
    limit = _SWEEPS
    while sweeps < max_sweeps:
        largest = np.inf
        for _ in range(min(limit, max_sweeps - sweeps)):
            changed, largest = _sweep(G, m, q, b, l1, l2)
            sweeps += 1
            if largest <= small or (not changed and limit == _SWEEPS):
                break
        state = _finish(G, m, c, q, b, l1, l2, floor, R, order, count)
        if state == 1:
            return True, sweeps
        limit = _SWEEPS
        if state == -1:
            limit = _SWEEPS_SINGULAR
            if largest <= small:
                return False, sweeps
        now = _objective(m, c, q, b, l1, l2)
        stalled = stalled + 1 if last - now <= 1e-15 * abs(now) else 0
        if stalled >= 3:
            return False, sweeps
        last = now
    return False, sweeps


@kernel
def dual_gap(q, b, rr, yr, l1, l2):
    """Return objective minus dual objective at the scaled residual.

    `rr` and `yr` are r'r and y'r over the number of rows, q the products with the residual. A free
    column is held to a box of twice its coefficient.
    """
    p = len(b)
    primal, bound, ridge = 0.5 * rr, np.inf, False
    for j in range(p):
        if b[j] != 0.0:
            primal += l1[j] * abs(b[j]) + 0.5 * l2[j] * b[j] * b[j]
        if l2[j] > 0.0:
            ridge = True
        elif l1[j] > 0.0 and abs(q[j]) > 0.0:
            bound = min(bound, l1[j] / abs(q[j]))
    best = 1.0 if ridge or rr <= 0.0 else yr / rr
    scale = min(bound, best)
    dual = scale * yr - 0.5 * scale * scale * rr
    for j in range(p):
        pull = scale * abs(q[j])
        if l2[j] > 0.0 and pull > l1[j]:
            dual -= (pull - l1[j]) ** 2 / (2 * l2[j])
        elif l1[j] == 0.0 and l2[j] == 0.0:
            dual -= 2 * abs(b[j]) * pull
    return max(primal - dual, 0.0)


@kernel
def least_squares_on(G, m, c, b, out):
    """Set `out` to least squares on the support of b; return whether its columns are independent.

    Dependent columns leave `out` as b is.
    """
    nothing = np.zeros(m)
    S = _support(m, G, b, np.ones(m))
    s = len(S)
    R, order, count = np.empty((s, s)), np.empty(s, np.intp), np.zeros(1, np.intp)
    out[:m] = b[:m]
    if update_factor(G, S, nothing, R, order, count) >= 0:
        return False
    z = _newton(order, c, b, nothing, R)
    for a in range(s):
        out[order[a]] = z[a]
    return True


@kernel
def gram_path(G, c, yy, unit1, unit2, alphas, floor, small, max_sweeps):
    """Solve for each alpha (descending) from the one before, all columns in the Gram matrix.

    Returns coefficients, duality gaps (of the size of yy / 2), sweeps and whether each is exact.
    """
    p, count = len(c), len(alphas)
    coef = np.zeros((count, p))
    gap = np.zeros(count)
    sweeps = np.zeros(count, np.intp)
    exact = np.zeros(count, np.bool_)
    b, q = np.zeros(p), c.copy()
    l1, l2 = np.empty(p), np.empty(p)
    R, order, size = np.empty((p, p)), np.empty(p, np.intp), np.zeros(1, np.intp)
    for k in range(count):
        for j in range(p):
            excluded = np.isinf(unit1[j])
            l1[j] = np.inf if excluded else alphas[k] * unit1[j]
            l2[j] = 0.0 if excluded else alphas[k] * unit2[j]
        exact[k], sweeps[k] = solve_on_gram(
            G, p, c, q, b, l1, l2, floor, small, max_sweeps, R, order, size
        )
        coef[k] = b
        fit, left = np.dot(b, c), np.dot(b, q)
        gap[k] = dual_gap(q, b, max(yy - fit - left, 0.0), yy - fit, l1, l2)
    return coef, gap, sweeps, exact


@kernel
def add_columns(A, S, beta, out):
    """Add A[:, S] @ beta to `out`; A is stored by columns."""
    for a in range(len(S)):
        column = A[:, S[a]]
        step = beta[a]
        for i in range(len(out)):
            out[i] += step * column[i]
