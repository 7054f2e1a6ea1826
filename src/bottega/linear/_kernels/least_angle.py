r"""The compiled walk of least angle regression and of the exact lasso path.

Symbols
-------
M, z     k by p inputs and their response: a QR factor of the data does as well as the data
W        what the sums of squares are divided by (the sum of the row weights)
active   columns that tie for the largest absolute correlation :math:`\alpha = |x_j^\top r| / W`
s        signs of those correlations
Q, R     orthonormal columns and triangle with :math:`M_A = Q R`, so that R is the Cholesky factor
         of the Gram matrix of the active columns, updated when one enters or leaves
u, d     coefficients of the active columns are u - alpha d between two knots:
         :math:`u = R^{-1} Q^\top z` is least squares and :math:`d = W (R^\top R)^{-1} s`
c        correlations of all columns with the residual at the knot, over W
e, f     correlations of the other columns are e + alpha f between two knots
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bottega._jit import kernel
from bottega.optimize._kernels.coordinate_factor import remove_column, solve_transposed, solve_upper

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.intp]

# A column whose part outside the span of the active ones is shorter than this share of its length
# adds nothing but rounding.
COLLINEAR = 1e-8
# Below this share of the first alpha, correlations are rounding.
ZERO = 1e-12

# Correlations are computed afresh after so many steps, before rounding can add up.
FRESH = 16

ENDED, FULL = 0, 1


@kernel
def _append(M: Floats, v: int, Q: Floats, R: Floats, m: int) -> bool:
    """Add column v to Q R as its m-th; False, and nothing added, where it lies in the span."""
    rest = M[:, v].copy()
    total = np.dot(rest, rest)
    R[: m + 1, m] = 0.0
    for _ in range(2):  # the second time removes what rounding left
        if m > 0:
            along = np.dot(Q[:m], rest)
            rest -= np.dot(along, Q[:m])
            R[:m, m] += along
    left = np.dot(rest, rest)
    if left <= COLLINEAR * COLLINEAR * total:
        return False
    R[m, m] = np.sqrt(left)
    Q[m] = rest / R[m, m]
    return True


@kernel
def walk_path(
    M: Floats, z: Floats, W: float, lasso: bool, most_active: int, most_steps: int
) -> tuple[Floats, Floats, Ints, Ints, Ints, int]:
    """Walk from no coefficients to least squares.

    Returns, for each knot, alpha, the coefficients, the number of active columns that carry a
    coefficient there, and what happens at it: the column that enters (or -1) and the one that
    leaves (or -1); and whether the walk ended (ENDED) or was cut at `most_steps` (FULL).
    """
    k, p = M.shape
    alphas, coef = np.zeros(most_steps + 1), np.zeros((most_steps + 1, p))
    count = np.zeros(most_steps + 1, dtype=np.intp)
    entered = np.full(most_steps + 1, -1, dtype=np.intp)
    left = np.full(most_steps + 1, -1, dtype=np.intp)
    room = max(most_active, 1)
    Q, R = np.zeros((room, k)), np.zeros((room, room))
    active, sign = np.zeros(room, dtype=np.intp), np.zeros(room)
    inside, shut = np.zeros(p, dtype=np.intp), np.zeros(p, dtype=np.intp)
    Mt = np.ascontiguousarray(M.T)

    c, f = np.dot(Mt, z) / W, np.zeros(p)
    alpha, step, m = 0.0, 0, 0
    entering, its_sign = -1, 0.0
    for j in range(p):
        if abs(c[j]) > alpha:
            alpha, entering, its_sign = abs(c[j]), j, np.sign(c[j])
    first = alpha
    alphas[0] = alpha
    dropped, dropped_sign = -1, 0.0
    while alpha > 0.0:
        if entering >= 0:
            if _append(M, entering, Q, R, m):
                active[m], sign[m] = entering, its_sign
                inside[entering] = 1
                entered[step] = entering
                m += 1
                dropped = -1
            else:
                # It lies in the span of the active columns and ties with them for good: there is
                # no knot here, the segment before it goes on.
                shut[entering] = 1
                step -= 1
                c += (alphas[step] - alpha) * f
                alpha = alphas[step]
        qz = np.dot(Q[:m], z)
        u, half = qz.copy(), sign[:m] * W
        solve_upper(R, m, u)
        solve_transposed(R, m, half)
        d = half.copy()
        solve_upper(R, m, d)
        f = np.dot(Mt, np.dot(half, Q[:m])) / W
        e = c - alpha * f  # correlations at a knot are the same before and after it
        if step % FRESH == 0:
            e = np.dot(Mt, z - np.dot(qz, Q[:m])) / W
        join, entering = 0.0, -1
        if m < most_active:
            for j in range(p):
                if inside[j] or shut[j]:
                    continue
                for s in (1.0, -1.0):
                    if j == dropped and s == dropped_sign:
                        continue  # it has just left through this side
                    slack = 1.0 - s * f[j]
                    # As alpha falls, s c_j - alpha must rise to reach zero.
                    if slack > ZERO and s * e[j] > ZERO * first * slack:
                        at = min(s * e[j] / slack, alpha)
                        if at > join:
                            join, entering, its_sign = at, j, s
        drop, place = 0.0, -1
        if lasso:
            for a in range(m):
                if sign[a] * d[a] < 0.0 and u[a] / d[a] > drop:
                    drop, place = min(u[a] / d[a], alpha), a
        leaves = place >= 0 and drop >= join and drop > ZERO * first
        if step == most_steps:
            return alphas, coef, count, entered, left, FULL
        step += 1
        alpha = drop if leaves else join
        c = e + alpha * f
        alphas[step] = alpha
        for a in range(m):
            coef[step, active[a]] = u[a] - alpha * d[a]
        count[step] = m
        if leaves:
            entering = -1
            dropped, dropped_sign = active[place], sign[place]
            coef[step, dropped] = 0.0
            count[step] = m - 1
            left[step] = dropped
            inside[dropped] = 0
            remove_column(R, active, m, place, Q)
            for a in range(place, m - 1):
                sign[a] = sign[a + 1]
            m -= 1
            shut[:] = 0  # the span is smaller now
    n = step + 1
    return alphas[:n], coef[:n], count[:n], entered[:n], left[:n], ENDED
