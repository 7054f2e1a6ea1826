"""A column copied and looked at in one pass.

Symbols: x the column (n), out where it goes (n).
"""

from bottega._jit import summing_kernel


@summing_kernel
def copied(x, out):
    """Copy x to out, and return its sum."""
    total = 0.0
    for i in range(x.shape[0]):
        out[i] = x[i]
        total += x[i]
    return total
