"""What the columns of a matrix were made of: warnings about them name the user's columns."""

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bottega.core.typing import BoolArray

__all__ = ["MatrixColumns", "beyond_encoding", "current_columns", "made_of"]


@dataclass(frozen=True)
class MatrixColumns:
    """The columns of a matrix that an encoder made.

    Attributes
    ----------
    names : sequence of str
        Name of each column.
    implied : collection of str
        Those that follow from the others and the intercept by their encoding: one level of each
        category.
    owner : str
        The method that sees the matrix.
    silent : bool
        Whether warnings about the data are left out, because another fit gives them.
    seen : bool
        Whether the method sees the names itself, so that x0 in a message is one of them.
    """

    names: Sequence[str] = ()
    implied: Collection[str] = ()
    owner: str = ""
    silent: bool = False
    seen: bool = False

    def in_words(self, message: str) -> str:
        """Return a message about columns x0, x1, ... with their names, said by its method.

        Examples
        --------
        >>> made = MatrixColumns(["area", "colour=red"], owner="Ridge")
        >>> made.in_words("The column 'x1' is constant.")
        "Ridge: The column 'colour=red' is constant."
        """
        found = message if self.seen else re.sub(r"'x(\d+)'", self._name, message)
        return found if not self.owner or self.owner in found else f"{self.owner}: {found}"

    def _name(self, place: re.Match[str]) -> str:
        j = int(place[1])
        return repr(str(self.names[j])) if j < len(self.names) else place[0]


_CURRENT: ContextVar[MatrixColumns | None] = ContextVar("matrix_columns", default=None)


def current_columns() -> MatrixColumns | None:
    """Return the columns of the matrix that is fitted now, in this thread; None if not known."""
    return _CURRENT.get()


@contextmanager
def made_of(columns: MatrixColumns | None) -> Iterator[None]:
    """Let warnings of the code inside name the columns that its matrix was made of."""
    token = _CURRENT.set(columns)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def beyond_encoding(collinear: "BoolArray") -> "BoolArray":
    """Return which collinear columns are not so by their encoding alone.

    Parameters
    ----------
    collinear : ndarray of bool
        Whether each column of the matrix follows from those before.
    """
    columns = current_columns()
    if columns is None or len(columns.names) != len(collinear):
        return collinear
    return collinear & [name not in columns.implied for name in columns.names]
