"""What curves of ranked rows share: the rows, the positive class and its share."""

from dataclasses import dataclass, field
from typing import Any

from bottega.metrics._ranked.measured import Measured
from bottega.metrics._ranked.ranked import Ranked

__all__ = ["RankedCurve"]


@dataclass(frozen=True, eq=False, repr=False)
class RankedCurve(Measured):
    """A curve along the threshold of a score.

    Attributes
    ----------
    ranked : Ranked
        The rows in the order of their scores.
    like : object
        Frame library that tables are shown in.
    """

    ranked: Ranked
    like: Any = field(default=None, kw_only=True)

    @property
    def label(self) -> Any:
        """The positive class."""
        return self.ranked.label

    @property
    def base(self) -> float:
        """Share of the positive rows."""
        return self.ranked.base
