"""Train, validation and a locked test part; folds for cross-validation."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from bottega.core.errors import InputError, TestSetAlreadyUsed
from bottega.core.folds import Fold, make_folds, parts_by_group, parts_by_time
from bottega.core.lazy import cached_property
from bottega.core.seeds import seed_of
from bottega.data.ledger import Entry
from bottega.data.read.files import is_bundled
from bottega.data.table import Table

__all__ = ["LockedPart", "Split", "folds"]

_TRIED = 10_000
_EPSILON = 1e-9  # 100 * 0.29 is a hair under 29


class LockedPart:
    """The test part of a split: it can be opened once.

    Whoever looks at a test score, changes something and looks again has tuned on the test part;
    its score then flatters. A second look therefore has to be asked for, in another process too:
    the same rows are recognised by the ledger of this user (see `bottega.data.ledger`).

    Attributes
    ----------
    n_rows : int
        How many rows are locked up.
    looks : int
        How often the part was opened, by this process or another.
    first_opened : datetime or None
        When that happened first.
    note : str
        Why the ledger could not be written; empty where it could.
    overlap : float
        About what share of the rows was in other parts that were opened before (of another seed
        or share of the same table), as far as the ledger knew when this one was opened.

    Examples
    --------
    >>> from bottega.data import read
    >>> test = read("iris").split().test
    >>> test.open().n_rows, test.looks
    (37, 1)
    >>> test.open()
    Traceback (most recent call last):
        ...
    bottega.core.errors.TestSetAlreadyUsed: The test part was opened already, first at ...
    """

    def __init__(self, table: Table, seed: int | None = None) -> None:
        self._table, self._seed = table, seed
        self.n_rows = table.n_rows
        self.note = ""
        self.overlap = 0.0
        self._asked = Entry(None)  # what the last look was written down in
        self._opened: list[datetime] = []

    @cached_property
    def _entry(self) -> Entry:
        bundled = is_bundled(self._table.source or "")
        return Entry(None) if bundled else Entry.of(self._table.frame)

    @property
    def looks(self) -> int:
        """How often the part was opened, by this process or another."""
        return max(len(self._opened), self._entry.looks()[0])

    @property
    def overlap_in_words(self) -> str:
        """What is to be said about rows that other opened parts have in common with this one."""
        if self.overlap == 0:
            return ""
        return (
            f"about {100 * self.overlap:.0f}% of the locked rows were in another test part that "
            "was opened before (of another seed or share, say): what was learnt there may have "
            "slipped into later choices, so the claim is weaker than it reads"
        )

    @property
    def told(self) -> str:
        """One sentence for a certificate on what is known about earlier looks at these rows."""
        if self._asked.file is None:
            return "Whether these rows were looked at before is not written down anywhere."
        words = self.overlap_in_words or "the ledger of this user knows of no other look at them"
        if self.looks > 1:
            words = f"these rows have been opened {self.looks} times"
        return (
            f"{words[0].upper()}{words[1:]}; looks by others, on other machines, or at the same "
            "rows in another form cannot be seen."
        )

    @property
    def first_opened(self) -> datetime | None:
        """When the part was opened first."""
        known = [*self._opened[:1], self._entry.looks()[1]]
        return min((moment for moment in known if moment is not None), default=None)

    def open(self, *, again: bool = False, ledger: bool = True) -> Table:
        """Return the test rows; a second time only with ``again=True``.

        With ``ledger=False`` other processes are neither asked nor told. Data sets that come with
        bottega are not written down: everybody has looked at them.
        """
        with self.opened(again=again, ledger=ledger) as table:
            return table

    @contextmanager
    def opened(self, *, again: bool = False, ledger: bool = True) -> Iterator[Table]:
        """As `open`, for a block: the look counts when the block is done, not when it fails."""
        entry = self._entry if ledger else Entry(None)
        try:
            if not again and (self._opened or entry.looks()[0]):
                raise FileExistsError
            self._asked, self.overlap = entry, entry.overlap(self._table.frame)
            yield self._table
            self.note = entry.enter(self._seed, first=not again, frame=self._table.frame)
        except FileExistsError:
            raise TestSetAlreadyUsed(
                f"The test part was opened already, first at {self.first_opened:%Y-%m-%d %H:%M}: "
                "a score looked at twice has been chosen, so it is too optimistic; get new test "
                "rows, or give again=True and say in the report how often it was looked at. "
                "(BOTTEGA_LEDGER=off forgets what other processes did.)"
            ) from None
        self._opened.append(datetime.now())

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        looks = self.looks
        seen = f"opened {looks} time{'' if looks == 1 else 's'}" if looks else "not opened yet"
        return f"LockedPart({self.n_rows:,} rows, {seen})"


@dataclass(frozen=True)
class Split:
    """A table cut into parts, by `Table.split`.

    The fractions sum to 1; a fraction of 0 leaves a part out (``validation_size=0`` with
    ``train_size=0.75`` is the 75/25 form). For classification each part keeps the class shares
    within one row, and each class is in the training part. Rows of one group stay in one part, and
    so do rows that are copies of one another (`Table.copies`) where there are neither groups nor
    times. With a time column the parts follow one another in time, the test part last, and rows of
    the same time stay together.

    Attributes
    ----------
    train : Table
        To fit on.
    validation : Table or None
        To choose with.
    test : LockedPart or None
        To judge with, once.

    Examples
    --------
    >>> from bottega.data import read
    >>> parts = read("diabetes").split(train_size=0.75, validation_size=0, test_size=0.25)
    >>> parts.train.n_rows, parts.validation, parts.test.n_rows
    (332, None, 110)
    """

    train: Table
    validation: Table | None
    test: LockedPart | None


def split(
    table: Table,
    fractions: tuple[float, float, float],
    stratify: bool | str,
    group: str | bool | None,
    time: str | bool | None,
    random_state: Any,
) -> Split:
    """Cut a table into train, validation and test: see `Table.split`."""
    _check_fractions(fractions)
    used = [i for i, fraction in enumerate(fractions) if fraction > 0]
    shares = np.array([fractions[i] for i in used])
    seed = seed_of(random_state, "split")
    part = _assign(table, shares, stratify, group, time, np.random.default_rng(seed))
    rows: list[np.ndarray | None] = [None, None, None]
    for place, i in enumerate(used):
        rows[i] = np.flatnonzero(part == place)
    train, validation, test = (None if r is None else table.take(r) for r in rows)
    assert train is not None
    return Split(train, validation, None if test is None else LockedPart(test, seed))


def folds(
    table: Table,
    k: int,
    *,
    random_state: Any = 0,
    stratify: bool | str = "auto",
    group: str | bool | None = None,
    time: str | bool | None = None,
) -> list[Fold]:
    """Return the rows to train and to test on, for each fold of a cross-validation.

    Classes are spread evenly over the folds; rows of one group, or else copies of one row, stay in
    one fold; with a time column the rows are cut into ``k + 1`` stretches of time, and fold i is
    tested on stretch i + 1 after training on all stretches before it.

    Parameters
    ----------
    table : Table
        The data; its roles say which kind of folds they need.
    k : int
        How many folds, at least 2.
    random_state : int, RandomState, Generator or None
        For the shuffling.
    stratify, group, time
        As in `Table.split`.

    Examples
    --------
    >>> from bottega.data import read
    >>> [(train.size, test.size) for train, test in folds(read("iris"), 4)]
    [(112, 38), (112, 38), (113, 37), (113, 37)]
    """
    if not isinstance(k, int | np.integer) or k < 2:
        raise InputError(f"The number of folds must be a whole number of at least 2, not {k!r}.")
    if table.n_rows < k:
        raise InputError(
            f"{k} folds need at least {k} rows and the table has {table.n_rows}; use fewer folds."
        )
    groups, order = _structure(table, group, time)
    strata = _class_codes(table, stratify)
    seed = seed_of(random_state, "folds")
    return make_folds(k, table.n_rows, strata=strata, groups=groups, time=order, random_state=seed)


def _check_fractions(fractions: tuple[float, float, float]) -> None:
    total = sum(fractions)
    if min(fractions) < 0 or fractions[0] <= 0 or not math.isclose(total, 1, abs_tol=1e-9):
        given = ", ".join(
            f"{n}={f:g}"
            for n, f in zip(("train_size", "validation_size", "test_size"), fractions, strict=True)
        )
        raise InputError(
            "train_size, validation_size and test_size are fractions that sum to 1, the first "
            f"above 0; {given} sum to {total:g}."
        )


def _assign(
    table: Table,
    shares: np.ndarray,
    stratify: bool | str,
    group: str | bool | None,
    time: str | bool | None,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return the part of each row."""
    what = "/".join(f"{100 * share:g}" for share in shares) + " split"
    groups, order = _structure(table, group, time)
    if order is not None:
        return parts_by_time(order, shares, f"the {what}")
    codes = _class_codes(table, stratify)
    if groups is None:
        part = _by_class(codes, shares, rng)
        if np.unique(part).size < shares.size:
            least = _least_rows(shares)
            if codes.any() and table.n_rows >= least:
                raise InputError(
                    f"The {what} that keeps class shares needs at least {least:,} rows of one "
                    f"class, and no class has more than {np.bincount(codes).max()}; add rows, or "
                    f"give stratify=False, which needs {least:,} rows in all."
                )
            raise InputError(
                f"The {what} needs at least {least:,} rows and the table has {table.n_rows}; add "
                "rows or leave a part out."
            )
        return part
    part = parts_by_group(groups, codes, shares, rng, f"the {what}")
    absent = np.setdiff1d(codes, codes[part == 0])
    if table.copies is not None and groups is table.copies:
        # A class of few rows goes to the training part, which must know it.
        part[np.isin(groups, [groups[codes == code][0] for code in absent])] = 0
        return part
    if absent.size and table.classes is not None:
        raise InputError(
            f"Class {table.classes[absent[0]].item()!r} is in too few groups to be in the training "
            "part; try another random_state, or give group=False."
        )
    return part


def _structure(
    table: Table, group: str | bool | None, time: str | bool | None
) -> tuple[np.ndarray | None, np.ndarray | None]:
    groups = _column(table.groups, group, "group", lambda name: table.labels_of("group", name))
    order = _column(table.time, time, "time", lambda name: table.order_of("time", name))
    if groups is not None and order is not None:
        raise InputError(
            "The table has both a group and a time column; give group=False or time=False to say "
            "which of them the parts should respect."
        )
    if groups is None and order is None and group is not False:
        groups = table.copies
    return groups, order


def _column(
    own: np.ndarray | None,
    wish: str | bool | None,
    role: str,
    fetch: Callable[[str], np.ndarray | None],
) -> np.ndarray | None:
    if wish is False:
        return None
    if isinstance(wish, str):
        return fetch(wish)
    if wish is True and own is None:
        raise InputError(f"The table has no {role} column; name one with {role}='...'.")
    return own


def _class_codes(table: Table, stratify: bool | str) -> np.ndarray:
    """Return the class of each row as a number, all 0 where classes do not matter."""
    if stratify not in (True, False, "auto"):
        raise InputError(f"stratify is True, False or 'auto', not {stratify!r}.")
    if stratify is True and table.task != "classification":
        raise InputError("Only a classification table has classes to stratify by.")
    if not stratify or table.classes is None or table.y is None:
        return np.zeros(table.n_rows, dtype=np.int64)
    return np.searchsorted(table.classes, table.y)


def _by_class(codes: np.ndarray, shares: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Give each class to the parts in proportion, never more than one row off.

    The rows that do not come out even go to the parts that are furthest behind over all classes so
    far, so that the parts as a whole come out even too.
    """
    part = np.empty(codes.size, dtype=np.int64)
    behind = np.zeros(shares.size)
    shuffled = rng.permutation(codes.size)
    in_order = shuffled[np.argsort(codes[shuffled], kind="stable")]
    for rows in np.split(in_order, np.cumsum(np.bincount(codes))[:-1]):
        if not rows.size:
            continue
        given = _allot(rows.size, shares, behind)
        behind += rows.size * shares - given
        part[rows] = np.repeat(np.arange(shares.size), given)
    return part


def _least_rows(shares: np.ndarray) -> int:
    """Return about how many rows it takes for each part to get one.

    A part of share s among k gets a row at 1 / s rows at the latest, and not below 1 / (k s).
    """
    latest = math.ceil(1 / max(shares.min(), 1e-18))
    start = max(shares.size, math.floor(latest / shares.size))
    sizes = range(start, min(latest, start + _TRIED))
    nothing = np.zeros(shares.size)
    return next((n for n in sizes if _allot(n, shares, nothing).all()), latest)


def _allot(size: int, shares: np.ndarray, behind: np.ndarray) -> np.ndarray:
    """Return how many of `size` rows each part gets; `behind` is what each part lacks so far."""
    fair = size * shares
    given = np.floor(fair + _EPSILON).astype(np.int64)
    uneven = np.flatnonzero(fair - given > _EPSILON)
    most_behind = uneven[np.argsort(-(behind + fair - given)[uneven], kind="stable")].tolist()
    if given[0] == 0:  # each class must be known to the training part
        most_behind.remove(0)
        most_behind.insert(0, 0)
    given[most_behind[: size - given.sum()]] += 1
    return given
