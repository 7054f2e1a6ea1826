"""Rows that are copies of others: to be held out together, or a method has seen the answer."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bottega.core.folds import scramble
from bottega.core.typing import Array, IntArray
from bottega.data.convert import Series
from bottega.data.findings import Finding

if TYPE_CHECKING:
    from bottega.data.table import Table

_MANY_VALUES = 20  # an input of no more distinct values gives equal rows by nature
_MANY_ROWS = 50_000  # rows in which pairs are counted; of more a sample
_FEWER_ROWS = 10_000  # that tell how often two columns agree together
_CONDITIONS = 8  # columns in which rows are to agree for that
_ENOUGH_PAIRS = 200
_CHANCE = 0.25  # share of the equal rows that chance may explain


def find_copies(table: "Table", distinct: dict[str, int]) -> IntArray | None:
    """Return for each row a number that its copies share, None where none are taken as copies.

    Rows are equal if all inputs and the target are, missing values being equal: at first all but
    the dates, since a row may be copied with the day of the copy. They are taken as copies where an
    input of numbers, dates or texts has more than 20 values and chance explains at most a quarter
    of the pairs of equal rows. How many it makes is told by the pairs that differ in one column
    alone, and by how often two rows agree in that column; the column that explains most counts. So
    a table of few categories has no copies, nor have numbers that are rounded until rows meet,
    while measurements give copies away.

    Parameters
    ----------
    table : Table
        With a target.
    distinct : dict of str to int
        At most how many distinct values each column has.
    """
    if table.target is None or table.n_rows < 2:
        return None
    undated = [name for name in table.features if table.kinds[name] != "date"]
    found = _equal_rows(table, undated, table.target, distinct)
    if found is None and len(undated) < len(table.features):
        found = _equal_rows(table, table.features, table.target, distinct)
    return found


def _equal_rows(
    table: "Table", features: Sequence[str], target: str, distinct: dict[str, int]
) -> IntArray | None:
    """Return for each row a number shared by rows equal in `features` and target, unless chance."""
    names = [*features, target]
    many = [name for name in features if table.kinds[name] in ("number", "date", "text")]
    if max((distinct[name] for name in many), default=0) <= _MANY_VALUES:
        return None
    if any(distinct[name] == table.n_rows for name in names):
        return None
    columns = {name: table.series(name) for name in names}
    # Numbers are hashed sooner than texts; rows that differ in one column need no look at another.
    names.sort(key=lambda name: (not columns[name].dtype.is_numeric(), -distinct[name]))
    rows = np.arange(table.n_rows)
    keys = np.zeros(table.n_rows, dtype=np.uint64)
    for place, name in enumerate(names):
        keys = keys + _hashes(columns[name], rows, place)
        again = _is_shared(keys)
        rows, keys = rows[again], keys[again]
        if not rows.size:
            return None
    copies = np.arange(table.n_rows)
    _, first, of_row = np.unique(keys, return_index=True, return_inverse=True)
    copies[rows] = rows[first][of_row]
    own = np.flatnonzero(copies == np.arange(table.n_rows))
    if _by_chance([columns[name] for name in names], own) > _CHANCE * _pairs(keys):
        return None
    return copies


def about_copies(table: "Table") -> Iterator[Finding]:
    """Report rows that are copies of others, and whether they are held out together."""
    if table.copies is None:
        return
    count = table.n_rows - np.unique(table.copies).size
    other = _dates_apart(table, table.copies)
    inputs = f"every input but {', '.join(map(repr, other))}" if other else "every input"
    seen = f"{count:,} of {table.n_rows:,} rows " + (
        f"is a copy of another: it is equal in {inputs} and in the target"
        if count == 1
        else f"are copies of others: they are equal in {inputs} and in the target"
    )
    values = table.time if table.groups is None else table.groups
    if values is None:
        yield Finding(
            "copies",
            None,
            f"{seen}. Equal rows are kept in one part and in one fold, as groups are, or methods "
            "would be judged on rows that they have learnt from; drop the copies if they are a "
            "slip.",
        )
        return
    role = "time" if table.groups is None else "group"
    pairs = table.copies * table.n_rows + np.unique(values, return_inverse=True)[1]
    if np.unique(pairs).size > np.unique(table.copies).size:
        yield Finding(
            "copies_apart",
            None,
            f"{seen}, and some have another {role} than the row they are equal to. Parts and folds "
            f"follow the {role}, so methods are judged on rows that they have learnt from, and the "
            "error comes out too low: drop the copies if they are a slip.",
        )


def _dates_apart(table: "Table", copies: IntArray) -> list[str]:
    """Return the dates in which copies differ."""
    rows, kinds = np.arange(table.n_rows), np.unique(copies).size
    own = scramble(copies.astype(np.uint64))
    return [
        name
        for name in table.features
        if table.kinds[name] == "date"
        and np.unique(own ^ _hashes(table.series(name), rows, 0)).size > kinds
    ]


def _hashes(series: Series, rows: IntArray, place: int) -> Array:
    """Return 64 bits for the value of some rows in one column; equal values have equal ones."""
    some = series if rows.size == len(series) else series[rows]
    if some.dtype.is_numeric():
        numbers = np.asarray(some.to_numpy(), dtype=np.float64) + 0.0  # minus zero is zero
        bits = np.where(np.isnan(numbers), np.nan, numbers).view(np.uint64)
    else:
        known: dict[object, int] = {}
        missing = some.is_null().to_numpy()
        values = zip(some.to_list(), missing.tolist(), strict=True)
        given = (known.setdefault(None if none else v, len(known)) for v, none in values)
        bits = np.fromiter(given, dtype=np.uint64, count=rows.size)
    return scramble(scramble(bits) ^ scramble(np.array([place], dtype=np.uint64)))


def _is_shared(keys: Array) -> Array:
    """Return which values occur more than once."""
    _, of_row, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return np.asarray(counts[of_row] > 1)


def _by_chance(columns: Sequence[Series], own: IntArray) -> float:
    """Return about how many pairs of equal rows chance would make.

    Rows that all differ (`own`) tell how often two rows agree in a column, or copies would speak
    for themselves.
    """
    some, different = _some(np.arange(len(columns[0])), _MANY_ROWS), _some(own, _FEWER_ROWS)
    hashes = [_hashes(series, some, place) for place, series in enumerate(columns)]
    apart = [_hashes(series, different, place) for place, series in enumerate(columns)]
    whole = np.asarray(np.sum(hashes, axis=0, dtype=np.uint64))
    most, equal = 0.0, _pairs(whole)
    for place in range(len(columns)):
        near = _pairs(whole - hashes[place]) - equal
        alike = _agreement(apart[place], apart[:place] + apart[place + 1 :]) if near else 0.0
        most = max(most, near * alike / (1 - alike) if alike < 1 else 0.0)
    return most * _all_pairs(len(columns[0])) / _all_pairs(some.size)


def _agreement(column: Array, others: list[Array]) -> float:
    """Return how often rows agree in a column, all of them or those that agree in others, too.

    Columns that say the same of a row, such as two lengths, agree together. One more column is
    conditioned on as long as there are pairs enough.
    """
    given, among = np.zeros(len(column), dtype=np.uint64), max(_all_pairs(len(column)), 1.0)
    most = _pairs(column) / among
    for other in sorted(others, key=_pairs, reverse=True)[:_CONDITIONS]:
        pairs = _pairs(given + other)
        if pairs >= _ENOUGH_PAIRS:
            given, among = given + other, pairs
            most = max(most, _pairs(given + column) / among)
    return most


def _some(rows: IntArray, most: int) -> IntArray:
    if rows.size <= most:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, most, replace=False))


def _all_pairs(count: int) -> float:
    return count * (count - 1) / 2


def _pairs(keys: Array) -> float:
    """Return how many pairs of values are equal."""
    counts = np.unique(keys, return_counts=True)[1].astype(np.float64)
    return float(np.sum(counts * (counts - 1)) / 2)
