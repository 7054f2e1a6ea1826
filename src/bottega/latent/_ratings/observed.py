"""Observed entries of a table of users and items, read from matrices and from triples."""

from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.errors import DataWarning, InputError, did_you_mean, warn_caller
from bottega.core.frames import is_frame
from bottega.core.missing import is_missing
from bottega.core.sparse import is_sparse
from bottega.core.typing import Array, BoolArray, FloatArray, IntArray

__all__ = [
    "Ratings",
    "as_labels",
    "as_values",
    "codes_of",
    "columns_of",
    "ratings_of_matrix",
    "ratings_of_triples",
    "some_labels",
]

_SMALLEST, _LARGEST = 1e-145, 1e145  # sizes whose squares are ordinary numbers


@dataclass(frozen=True)
class Ratings:
    """Entries that are known, one per pair of user and item, sorted by user and then by item.

    Attributes
    ----------
    users, items : ndarray
        Labels of all users and items, those without entries too.
    user, item : ndarray of int
        Positions among them, one per entry.
    value : ndarray of float
        The ratings, or how often a pair occurred.
    weight : ndarray of float
        How many ratings an entry is the mean of.
    """

    users: Array
    items: Array
    user: IntArray
    item: IntArray
    value: FloatArray
    weight: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of users and items."""
        return len(self.users), len(self.items)

    @property
    def size(self) -> int:
        """Number of entries."""
        return len(self.value)

    def __len__(self) -> int:
        return len(self.users)

    def entries(self, positions: Array) -> "Ratings":
        """Return some of the entries, of the same users and items."""
        taken = {name: getattr(self, name)[positions] for name in _PER_ENTRY}
        return replace(self, **taken)

    def counted(self) -> "Ratings":
        """Return the entries above zero; counts below are refused."""
        wrong = self.value < 0
        if np.any(wrong):
            e = int(np.argmax(wrong))
            raise InputError(
                f"implicit=True takes counts, and one is {self.value[e]:g} ({self._named(e)}); "
                "leave out what is negative, or use implicit=False for ratings."
            )
        return self.entries(np.flatnonzero(self.value > 0))

    def refuse_outside(self, least: float, greatest: float) -> None:
        """Refuse ratings outside a scale."""
        outside = (self.value < least) | (self.value > greatest)
        count = int(np.count_nonzero(outside))
        if count:
            e = int(np.argmax(outside))
            raise InputError(
                f"{count} of {self.size:,} ratings lie outside scale=({least:g}, {greatest:g}), "
                f"the first is {self.value[e]:g} ({self._named(e)}); correct them, or give the "
                "scale they are on."
            )

    def refuse_extremes(self) -> None:
        """Refuse ratings whose squares are no ordinary numbers, and to learn from none."""
        if not self.size:
            raise InputError("There is no rating in X to learn from; at least 1 is required.")
        size = float(np.max(np.abs(self.value)))
        if size > _LARGEST or 0 < size < _SMALLEST:
            raise InputError(
                f"The ratings are up to {size:.3g} in size, and the squares of these numbers "
                f"{'overflow' if size > 1 else 'vanish'}: bring them to another scale."
            )

    def joined(self, *, counts: bool) -> "Ratings":
        """Return one entry per pair: the sum of its counts, or the mean of its ratings."""
        pair, place = np.unique(self.user * len(self.items) + self.item, return_inverse=True)
        weight: FloatArray = np.bincount(place).astype(np.float64)
        value: FloatArray = np.asarray(np.bincount(place, weights=self.value), dtype=np.float64)
        if counts:
            weight = np.ones(len(pair))
        elif len(pair) < self.size:
            value = value / weight
            warn_caller(
                f"{np.count_nonzero(weight > 1):,} pairs of user and item have more than one "
                "rating; the mean of a pair's ratings is used, and weighs as many. Leave out the "
                "old ones if only the last should count.",
                DataWarning,
            )
        user, item = np.divmod(pair, len(self.items))
        return replace(self, user=user, item=item, value=value, weight=weight)

    def _named(self, e: int) -> str:
        user, item = self.users[self.user[e]].item(), self.items[self.item[e]].item()
        return f"user {user!r}, item {item!r}"


_PER_ENTRY = ("user", "item", "value", "weight")


def ratings_of_matrix(X: Any, users: Array, items: Array) -> Ratings:
    """Return the entries of a checked matrix: those not NaN, or those that are stored."""
    if is_sparse(X):
        table = X.tocsr()
        table.sort_indices()
        user = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
        item, value = table.indices.astype(np.intp), table.data.astype(np.float64)
        known = ~np.isnan(value)
        user, item, value = user[known], item[known], value[known]
    else:
        user, item = np.nonzero(~np.isnan(X))
        value = X[user, item]
    return Ratings(users, items, user, item, value, np.ones(len(value)))


def ratings_of_triples(
    user: Array, item: Array, value: FloatArray, items: Array | None = None
) -> Ratings:
    """Return the entries of a list of ratings, not joined yet; `items` are those known already."""
    users, x = np.unique(user, return_inverse=True)
    if items is None:
        items, i = np.unique(item, return_inverse=True)
    else:
        i = codes_of(item, items)
    return Ratings(users, items, x, i, value, np.ones(len(value)))


def codes_of(labels: Array, known: Array) -> IntArray:
    """Return the position of each label among the known ones, -1 for a label that is not there."""
    given = np.asarray(labels)
    if given.dtype.kind in "US" and known.dtype.kind not in "US":
        return np.full(len(given), -1, dtype=np.intp)
    if given.dtype.kind not in "US" and known.dtype.kind in "US":
        return np.full(len(given), -1, dtype=np.intp)
    order = np.argsort(known, kind="stable")
    place = np.minimum(np.searchsorted(known, given, sorter=order), len(known) - 1)
    found = order[place]
    return np.where(known[found] == given, found, -1).astype(np.intp)


def columns_of(X: Any, columns: Any, what: str = "X") -> list[Array]:
    """Return the named columns of a frame, or those at the given positions of a table."""
    if is_frame(X):
        frame = nw.from_native(X, eager_only=True)
        names = frame.columns
        if not isinstance(columns[0], str):
            columns = [names[place] if place < len(names) else place for place in columns]
        for name in columns:
            if name not in names:
                raise InputError(
                    f"{what} has no column {name!r}; its columns are "
                    f"{', '.join(map(repr, names))}.{did_you_mean(str(name), names)}"
                )
        return [frame[name].to_numpy() for name in columns]
    table = np.asarray(X, dtype=None if isinstance(X, np.ndarray) else object)
    if isinstance(columns[0], str):
        raise InputError(
            f"columns={tuple(columns)!r} names columns of a data frame, and {what} is not one; "
            "give a frame, or the positions of the columns."
        )
    if table.ndim != 2 or table.shape[1] <= max(columns):
        raise InputError(
            f"{what} has shape {table.shape}; with columns={tuple(columns)!r} it needs one row per "
            f"rating and at least {max(columns) + 1} columns."
        )
    return [table[:, place] for place in columns]


def as_labels(column: Any, name: str) -> Array:
    """Return labels as an array of numbers or of texts, none of them missing."""
    given = np.asarray(column)
    if given.dtype.kind == "O":
        texts = [isinstance(each, str) for each in given]
        if all(texts):
            return given.astype(np.str_)
        if any(map(is_missing, given)):
            raise InputError(f"The {name} of some ratings are missing; leave those rows out.")
        if any(texts):
            raise InputError(
                f"Some {name} are texts and some are not, such as {given[texts.index(True)]!r} and "
                f"{given[texts.index(False)]!r}; make all of them texts."
            )
        given = np.asarray(given.tolist())
    if given.dtype.kind not in "biufUM":
        raise InputError(f"The {name} must be numbers or texts; they are {given.dtype}.")
    if given.dtype.kind in "fM" and np.any(given != given):
        raise InputError(f"The {name} of some ratings are missing; leave those rows out.")
    if (
        given.dtype.kind == "f"
        and np.all(given == np.rint(given))
        and np.all(np.abs(given) < 2**53)
    ):
        return given.astype(np.int64)
    return given


def some_labels(given: Any, name: str) -> Array:
    """Return labels that were asked for, at least one."""
    if not np.size(given):
        raise InputError(f"There are no {name} in {name}=[]: give at least one, or None.")
    return as_labels(np.atleast_1d(given), name)


def as_values(column: Any) -> FloatArray:
    """Return ratings as finite numbers."""
    try:
        values = np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"The ratings must be numbers: {error}.") from error
    wrong: BoolArray = ~np.isfinite(values)
    if np.any(wrong):
        row = int(np.argmax(wrong))
        raise InputError(
            f"{np.count_nonzero(wrong)} ratings are missing or infinite (NaN or inf), the first in "
            f"row {row}, counted from 0; leave those rows out: what is not listed is unknown."
        )
    return values
