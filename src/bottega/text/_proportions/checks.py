"""What is refused, or warned of, in tags and stem matrices."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bottega.core.errors import DataWarning, InputError, warn_caller
from bottega.core.typing import Array, BoolArray, IntArray
from bottega.text._proportions.cells import presence

__all__ = ["check_counted", "check_known", "check_tags", "refuse_negative", "warn_of_few"]

_FEW = 10  # texts of a set whose resamples are too much alike
_MOSTLY = 0.5  # of the unread texts without a known stem: beyond it there is a warning


def check_tags(classes: Array, codes: IntArray, wanted: Any) -> None:
    """Refuse tags of one class, of a single text, or not of the classes that are wanted.

    Examples
    --------
    >>> check_tags(np.array(["for"]), np.array([0, 0]), None)
    Traceback (most recent call last):
        ...
    bottega.core.errors.InputError: Proportions need at least two classes, and the tags have only \
one class, 'for'; tag texts of the others too.
    """
    found = classes.tolist()
    if wanted is not None:
        named = np.asarray(wanted).tolist()
        lacking = [each for each in named if each not in found]
        if lacking:
            raise InputError(
                f"No tagged text has the label {lacking[0]!r}, so nothing is known about how such "
                "texts are written; tag some, or leave it out of classes."
            )
        other = [each for each in found if each not in named]
        if other:
            raise InputError(
                f"The label {other[0]!r} of some tagged texts is not among classes={named!r}; add "
                "it, or leave those texts out."
            )
    if len(found) < 2:
        raise InputError(
            "Proportions need at least two classes, and the tags have only one class, "
            f"{found[0]!r}; tag texts of the others too."
        )
    counts = np.bincount(codes)
    if counts.min() < 2:
        raise InputError(
            f"Only one tagged text has the label {found[int(np.argmin(counts))]!r}, and at least "
            "two are needed: each is answered by a model of the others. Tag more, or leave it out."
        )


def refuse_negative(S: Any, owner: str, method: str) -> None:
    """Refuse a stem matrix with numbers below 0."""
    if S.min() < 0:
        raise InputError(
            f"Negative values in data passed to {owner}(method={method!r}), for which a stem is in "
            "a text if its number is above 0; give zeros and ones, counts or tf-idf, or use a "
            "method with a classifier."
        )


def check_counted(key: dict[str, Any], rows: IntArray) -> IntArray:
    """Return the rows of a set of texts that count, or refuse a set of which none does."""
    if not len(rows):
        raise InputError(f"All texts of {key} have weight 0; leave them out.")
    return rows


def warn_of_few(sizes: Sequence[int]) -> None:
    """Warn of sets of so few unread texts that resampling them tells little."""
    few = [size for size in sizes if size < _FEW]
    if few:
        one = len(few) == 1
        warn_caller(
            f"{len(few):,} of {len(sizes):,} sets of unread texts {'has' if one else 'have'} fewer "
            f"than {_FEW} texts (the smallest {min(few)}); resamples of so few are too much alike, "
            f"and {'its' if one else 'their'} intervals are too narrow. Take larger "
            "groups or periods.",
            DataWarning,
        )


def check_known(S: Any, known: BoolArray) -> None:
    """Refuse unread texts of which none has a stem that a tagged text has; warn of many."""
    told = np.asarray(presence(S) @ known.astype(np.float64)).ravel() > 0
    if not np.any(told):
        raise InputError(
            f"None of the {S.shape[0]:,} unread texts has a stem that a tagged text has, so they "
            "say nothing about the classes; make both matrices with one vocabulary."
        )
    if np.mean(told) < _MOSTLY:
        warn_caller(
            f"{np.mean(~told):.0%} of the unread texts have no stem that a tagged text has; they "
            "count all the same. Tag texts that are more like them.",
            DataWarning,
        )
