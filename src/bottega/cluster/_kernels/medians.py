"""Distances by the sum of absolute differences, for clusters around medians."""

from bottega._jit import kernel


@kernel
def nearest_by_sum(X, C, label, far):
    """Write the centre of least sum of absolute differences of each row, and that sum.

    Ties go to the first centre. Returns how many rows changed their centre.
    """
    n, p = X.shape
    changed = 0
    for i in range(n):
        best = 0
        least = -1.0
        for k in range(C.shape[0]):
            total = 0.0
            for j in range(p):
                total += abs(X[i, j] - C[k, j])
            if least < 0.0 or total < least:
                least = total
                best = k
        if best != label[i]:
            changed += 1
        label[i] = best
        far[i] = least
    return changed
