"""Which responses a family takes."""

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray

__all__ = ["check_family_response"]


def check_family_response(y: FloatArray, family: str) -> None:
    """Refuse responses that the family cannot have.

    Examples
    --------
    >>> check_family_response(np.array([3.0, -1.0]), "poisson")
    Traceback (most recent call last):
        ...
    bottega.core.errors.InputError: family='poisson' is for counts, and y is -1 in row 1 (counted \
from 0); counts are not negative.
    """
    if family == "binomial":
        wrong, what = (y < 0) | (y > 1), "proportions from 0 to 1, with the trials as weights"
        cure = "give 0 and 1, or shares; for labels use AdditiveClassifier"
    elif family in ("poisson", "negative_binomial"):
        wrong, what, cure = y < 0, "counts", "counts are not negative"
    elif family == "gamma":
        wrong, what, cure = y <= 0, "positive numbers", "it must be above zero"
    else:
        return
    if np.any(wrong):
        row = int(np.argmax(wrong))
        raise InputError(
            f"family={family!r} is for {what}, and y is {y[row]:g} in row {row} (counted from 0); "
            f"{cure}."
        )
    if family in ("poisson", "negative_binomial") and not np.any(y > 0):
        raise InputError(f"All counts are 0: family={family!r} has no finite mean to fit.")
