"""Kernels of B-splines: the few that are not zero at a point, and their derivatives.

Symbols
-------
knots       t[0] <= ... <= t[size + degree]: knots with their repeats at both ends
span        s with t[s] <= x < t[s + 1]; functions s - degree, ..., s are not zero at x
"""

import numpy as np

from bottega._jit import kernel


@kernel
def local_basis(x, knots, degree, derivative):
    """Return the degree + 1 functions that are not zero at each x, and which is the first.

    Outside the boundary knots the outermost piece goes on as the polynomial it is. The functions of
    degree d are built up from those of degree d - 1 (de Boor and Cox); a derivative takes the last
    steps by differences instead.
    """
    size = len(knots) - degree - 1
    n, k = len(x), degree + 1
    values = np.zeros((n, k))
    first = np.empty(n, dtype=np.intp)
    row = np.empty(k)
    for i in range(n):
        s = np.searchsorted(knots[degree : size + 1], x[i], side="right") - 1 + degree
        s = min(max(s, degree), size - 1)
        while s > degree and knots[s] == knots[s + 1]:  # right end: the last piece with a length
            s -= 1
        first[i] = s - degree
        row[:] = 0.0
        row[0] = 1.0
        for d in range(1, degree + 1):
            differences = d > degree - derivative
            carried = 0.0
            for j in range(d):  # function s - d + 1 + j of degree d - 1
                left, right = knots[s - d + 1 + j], knots[s + 1 + j]
                share = row[j] / (right - left)
                if differences:
                    row[j] = carried - d * share
                    carried = d * share
                else:
                    row[j] = carried + (right - x[i]) * share
                    carried = (x[i] - left) * share
            row[d] = carried
        if derivative <= degree:
            values[i] = row
    return values, first
