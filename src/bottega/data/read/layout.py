"""How several text files are written, as all of them together tell: what reads each one alone."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bottega.data.read import text as text_files
from bottega.data.read.text import File

__all__ = ["TextLayout", "layout_of"]

# DuckDB reads these the same from one file as from several, if it is told which they are.
_JSON_TYPES = frozenset(("BIGINT", "DOUBLE", "VARCHAR", "BOOLEAN"))
_CSV_TYPES = _JSON_TYPES | {"HUGEINT", "DATE", "TIMESTAMP"}
_NUMBERED = re.compile(r"(.*)_\d+", re.DOTALL)


@dataclass(frozen=True)
class TextLayout:
    """The columns of several text files, and the signs that they are written with.

    Attributes
    ----------
    types : dict of str to str
        The type of each column, as DuckDB calls it, in the order of the columns.
    separator, decimal : str, optional
        The signs between fields and before decimals, in CSV files.
    """

    types: Mapping[str, str]
    separator: str | None = None
    decimal: str | None = None


def layout_of(
    files: Sequence[File],
    kind: str,
    types: Sequence[tuple[str, str]],
    signs: Sequence[str | None],
) -> TextLayout | None:
    """Return the layout of text files; None where one of them alone might be read in another way.

    That is so where not all CSV files have the same columns, where names differ in their case only
    (DuckDB changes one of them), and where a column has a type that cannot be given, such as lists.

    Parameters
    ----------
    files : sequence of File
        The files.
    kind : str
        Their format.
    types : sequence of (str, str)
        The columns of all files, and their types.
    signs : sequence of str
        The separator and the decimal sign of CSV files.
    """
    names = [name for name, _ in types]
    allowed = _JSON_TYPES if kind == "json" else _CSV_TYPES
    if not allowed.issuperset(each for _, each in types):
        return None
    if kind == "json":
        return None if _are_changed(names) else TextLayout(dict(types))
    for file in files:
        written, _ = text_files.header(file, kind)
        if sorted(each.lower() for each in written) != sorted(each.lower() for each in names):
            return None
    return TextLayout(dict(types), *signs)


def _are_changed(names: Sequence[str]) -> bool:
    """Return True if some names may be DuckDB's, and no keys: it makes A_1 of A beside a."""
    known = {name.lower() for name in names}
    return any(match and match[1] in known for match in (_NUMBERED.fullmatch(n) for n in known))
