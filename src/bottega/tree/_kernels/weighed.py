"""Rows and what they weigh: without weights only the responses are kept, and read."""

from bottega._jit import kernel


@kernel
def weight_of(wz, r):
    """Return the weight of a row, the first of its two numbers; one where there is no such."""
    return 1.0 if wz.shape[1] == 1 else wz[r, 0]
