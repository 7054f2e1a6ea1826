"""What a generator returns, and the checks that all generators share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.seeds import seed_of

__all__ = ["Sample", "check_count", "generator"]


@dataclass(frozen=True)
class Sample:
    """Generated data and the truth about them.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The inputs.
    y : ndarray of shape (n,)
        Numbers for regression, labels 0 and 1 for classification.
    bayes : callable
        From inputs to the best possible predictions.
    bayes_risk : float
        The expected loss of `bayes`: no method has a smaller one.
    loss : {"squared_error", "zero_one"}
        The loss meant.
    name : str
        Which generator made it.
    """

    X: np.ndarray
    y: np.ndarray
    bayes: Callable[[np.ndarray], np.ndarray]
    bayes_risk: float
    loss: str
    name: str


def generator(n_samples: int, random_state: Any) -> np.random.Generator:
    """Return the random numbers of a sample."""
    check_count("n_samples", n_samples, 1)
    return np.random.default_rng(seed_of(random_state, "make"))


def check_count(name: str, value: int, least: int) -> None:
    """Raise unless a value is a whole number of at least `least`."""
    if not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} is a whole number of at least {least}, not {value!r}.")
