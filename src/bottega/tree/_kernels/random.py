"""Random numbers from a counter (SplitMix64): the same on every machine."""

import numpy as np

from bottega._jit import kernel

STEP = np.uint64(0x9E3779B97F4A7C15)  # what the state of the generator grows by at each draw


@kernel
def mix(state):
    """Return 64 random bits made from the state of the generator."""
    z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def below(state, k):
    """Return a random number in 0 .. k-1."""
    return np.int64(((mix(state) >> np.uint64(32)) * np.uint64(k)) >> np.uint64(32))


@kernel
def uniform(states):
    """Move the state states[0] on and return a uniform number in [0, 1)."""
    states[0] += STEP
    return np.float64(mix(states[0]) >> np.uint64(11)) * 2.0**-53
