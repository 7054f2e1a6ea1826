"""Flips of single bits of two factors whose product is the OR of ANDs.

`value` is 1 where the table has a one, -1 where it has a zero, 0 where it is missing; `covers`
counts for each entry the components that cover it. A flip is made if it lowers the number of
entries that differ, so that number never rises.
"""

import numpy as np

from bottega._jit import kernel


@kernel
def _gain(value, covers, i, component, on):
    """Return how many entries of row i agree more once a component is flipped there."""
    total = 0
    for j in range(value.shape[1]):
        if component[j] == 1:
            if on == 0 and covers[i, j] == 0:
                total += value[i, j]
            elif on == 1 and covers[i, j] == 1:
                total -= value[i, j]
    return total


@kernel
def flip_codes(value, covers, codes, components):
    """Flip bits of the codes while that helps; return how many entries more agree."""
    n, p = value.shape
    total = 0
    for i in range(n):
        while True:
            best = 0
            at = -1
            for s in range(components.shape[0]):
                gain = _gain(value, covers, i, components[s], codes[i, s])
                if gain > best:
                    best = gain
                    at = s
            if at < 0:
                break
            total += best
            change = 1 - 2 * codes[i, at]
            codes[i, at] += change
            for j in range(p):
                covers[i, j] += change * components[at, j]
    return total


@kernel
def flip_components(value, covers, codes, components):
    """Flip bits of the components while that helps; return how many entries more agree."""
    n, p = value.shape
    k = components.shape[0]
    total = 0
    gains = np.empty(p, dtype=np.int64)
    for s in range(k):
        for j in range(p):
            gains[j] = 0
        for i in range(n):
            if codes[i, s] == 1:
                for j in range(p):
                    if components[s, j] == 0 and covers[i, j] == 0:
                        gains[j] += value[i, j]
                    elif components[s, j] == 1 and covers[i, j] == 1:
                        gains[j] -= value[i, j]
        for j in range(p):
            if gains[j] > 0:
                total += gains[j]
                change = 1 - 2 * components[s, j]
                components[s, j] += change
                for i in range(n):
                    covers[i, j] += change * codes[i, s]
    return total
