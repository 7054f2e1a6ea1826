"""What results of this package share: a table of data, a table to read, a picture."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from bottega.core.frames import make_frame
from bottega.core.tables import Shown

__all__ = ["Measured"]


class Measured(Shown):
    """A result with its data as columns (`tidy`), as something to read, and as a chart (`plot`)."""

    like: Any = None  # the frame library to show it in

    @abstractmethod
    def _columns(self) -> Mapping[str, Any]:
        """Return the data by name of the column."""

    @abstractmethod
    def plot(self) -> Any:
        """Return the picture."""

    def tidy(self, like: Any = None) -> Any:
        """Return the data as a data frame.

        Parameters
        ----------
        like : data frame or str, optional
            A frame, or the name of a library, whose kind of frame is returned.

        Returns
        -------
        data frame
        """
        return make_frame(self._columns(), self.like if like is None else like)

    def to_frame(self, like: Any = None) -> Any:
        """Return the data as a data frame, as `tidy` does."""
        return self.tidy(like)
