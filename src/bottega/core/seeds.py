"""Seeds from whatever `random_state` takes."""

from typing import Any

import numpy as np

from bottega.core.params import Seed

__all__ = ["seed_of", "seeds_of"]

_MOST = 2**31


def seed_of(random_state: Any, owner: str = "random_state") -> int:
    """Return the seed that a `random_state` stands for: a whole number stands for itself.

    None stands for another one at every call, and a generator of NumPy for its next draw. `owner`
    is what the error message calls the function that was given it.

    Examples
    --------
    >>> seed_of(3), seed_of(np.random.RandomState(0)) == seed_of(np.random.RandomState(0))
    (3, True)
    """
    Seed().check(owner, "random_state", random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(_MOST))
    if random_state is None or isinstance(random_state, np.random.Generator):
        return int(np.random.default_rng(random_state).integers(_MOST))
    return int(random_state)


def seeds_of(random_state: Any, count: int) -> list[int]:
    """Return `count` seeds, one per model, from whatever `random_state` takes."""
    given = isinstance(random_state, np.random.Generator)
    rng = np.random.default_rng(random_state if given else seed_of(random_state))
    return [int(seed) for seed in rng.integers(_MOST, size=count)]
