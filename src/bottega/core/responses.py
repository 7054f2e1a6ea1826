"""Which responses a family takes."""

import numpy as np

from bottega.core.errors import InputError
from bottega.core.families import Family
from bottega.core.typing import FloatArray

__all__ = ["check_responses"]

_COUNTS = ("poisson", "negative_binomial")


def check_responses(y: FloatArray, family: Family, owner: str, *, all_rows: bool = True) -> None:
    """Refuse responses that a family cannot have.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Responses.
    family : Family
        Their distribution.
    owner : str
        Class that asks, named in the message.
    all_rows : bool
        Whether these are the responses of all rows, which must not be all at the end of what the
        family can have; those of one chunk may.

    Examples
    --------
    >>> from bottega.core.families import POISSON
    >>> check_responses(np.array([3.0, -1.0]), POISSON, "AdditiveModel")
    Traceback (most recent call last):
        ...
    bottega.core.errors.InputError: AdditiveModel: family='poisson' is for counts, and y is -1 in \
row 1 (counted from 0); counts are not negative.
    """
    name = family.name
    if name == "binomial":
        wrong, what = (y < 0) | (y > 1), "shares from 0 to 1, with the trials as weights"
        cure = "give 0 and 1, or shares; for labels take a classifier"
    elif name in _COUNTS:
        wrong, what, cure = y < 0, "counts", "counts are not negative"
    elif name == "gamma":
        wrong, what, cure = y <= 0, "positive numbers", "it must be above zero"
    else:
        return
    if np.any(wrong):
        row = int(np.argmax(wrong))
        raise InputError(
            f"{owner}: family={name!r} is for {what}, and y is {y[row]:g} in row {row} (counted "
            f"from 0); {cure}."
        )
    least, most = float(y.min()), float(y.max())
    if all_rows and least == most and (least == 0 or (name == "binomial" and least == 1)):
        raise InputError(
            f"{owner}: all responses are {least:g}, and family={name!r} has no finite predictor "
            "for that; check the target."
        )
