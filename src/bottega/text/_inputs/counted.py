"""Texts whose counts are kept beside them, for a fit that transforms them in the same pass."""

from dataclasses import dataclass, field
from typing import Any

from bottega.core.typing import IntArray
from bottega.data.texts.counts import TermCounts

__all__ = ["CountedTexts"]


@dataclass
class CountedTexts:
    """Texts, and what a fit has found in them.

    Attributes
    ----------
    texts : iterable of str
        The texts; they can be iterated over more than once.
    keep : bool
        Whether the counts of every text are kept.
    given : object
        What the user gave, which may be a frame: its column has a name.
    counts : TermCounts
        Set by the fit.
    chosen : ndarray of int
        The terms that are columns; set by the fit.
    """

    texts: Any
    keep: bool
    given: Any = None
    counts: TermCounts = field(init=False)
    chosen: IntArray = field(init=False)
