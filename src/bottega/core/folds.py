"""Folds: the one place where rows are held out.

A number of folds is dealt like cards. The rows are put in an order that depends on what is in them
alone (`bottega.core.row_order`), so neither the order they come in nor the units they are measured
in change the folds, which are balanced to one row. With strata (classes) one stratum is dealt after
the other. With a seed the rows are shuffled by their number instead. Where only the number of the
rows is known, they are taken in blocks of K, and the K folds are dealt to each block in a shuffled
order that depends on nothing but the number of the block: no pattern of period K can hide in them.

Rows of one group stay together, and with times the folds follow one another: what is held out is
later than what is learnt from.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np

from bottega.core.deal import FoldDealer, deal_folds, deal_rows, dealing_order, scramble
from bottega.core.errors import InputError, ParameterError
from bottega.core.missing import any_missing
from bottega.core.params import Integer, Parameter
from bottega.core.params import Real as Number
from bottega.core.typing import BoolArray, FloatArray, IntArray

__all__ = [
    "Fold",
    "FoldDealer",
    "Folds",
    "deal_folds",
    "deal_rows",
    "fold_of_rows",
    "folds_that_count",
    "is_partition",
    "make_folds",
    "parts_by_group",
    "parts_by_time",
    "scramble",
]

Fold = tuple[IntArray, IntArray]

_SHARE = Number(0, 1, open_low=True, open_high=True)
_DEALT = 20  # a validation part is a number of twentieths


@dataclass(frozen=True)
class Folds(Parameter):
    """What `make_folds` takes; `share`: one part of the rows held out once does, too."""

    share: bool = field(default=True, kw_only=True)

    def accepts(self, value: Any) -> bool:
        """Return True if `value` can make folds."""
        if isinstance(value, str):
            return value == "loo"
        if isinstance(value, Real):
            return Integer(2).accepts(value) or (self.share and _SHARE.accepts(value))
        return hasattr(value, "split") or isinstance(value, Iterable)

    def describe(self) -> str:
        """Return the words for folds."""
        share = f"{_SHARE.describe()} (the share held out), " if self.share else ""
        return f"a number of folds at least 2, {share}'loo', a splitter, or pairs (train, test)"

    def schema(self) -> dict[str, Any]:
        """Return what has a JSON form: numbers and the word."""
        numbers = [Integer(2).schema()] + [_SHARE.schema()] * self.share
        return {"anyOf": [*numbers, {"type": "string", "enum": ["loo"]}]}

    def parse(self, text: str) -> Any:
        """Read a number or the word."""
        if text == "loo":
            return text
        return int(text) if text.strip().lstrip("+-").isdigit() else float(text)


def make_folds(
    cv: Any,
    n: int,
    *,
    strata: Any = None,
    groups: Any = None,
    time: Any = None,
    random_state: int | None = None,
    X: Any = None,
    y: Any = None,
    weight: Any = None,
) -> list[Fold]:
    """Return pairs of training and held-out rows.

    Parameters
    ----------
    cv : int, float, "loo", splitter, or list of (train, test)
        Number of folds; the share of rows to hold out once; every row once; a splitter of
        scikit-learn; or the folds themselves.
    n : int
        Number of rows.
    strata : array-like of shape (n,), optional
        Classes to spread evenly over the folds.
    groups : array-like of shape (n,), optional
        Rows of one group stay in one fold.
    time : array-like of shape (n,), optional
        The rows are cut into ``cv + 1`` stretches of time; each but the first is held out once,
        after training on all stretches before it.
    random_state : int, optional
        Shuffle the rows by their number; by default folds are dealt by what is in the rows.
    X, y, weight : array-like, optional
        What is in the rows, which a splitter may look at too. Without X and y the folds are dealt
        by row number, and so are those of more than a million rows (2^20).

    Returns
    -------
    list of (train, test)
        Row numbers, at least one row in each part.

    Examples
    --------
    >>> [test.tolist() for _, test in make_folds(2, 4, time=[1, 2, 3, 4])]
    [[1, 2], [3]]
    >>> [len(test) for _, test in make_folds(3, 7)]
    [2, 3, 2]
    """
    for name, given in (("groups", groups), ("time", time)):
        if given is not None and any_missing(given):
            raise InputError(f"{name} has missing values; fill them in, or leave those rows out.")
    if isinstance(cv, str) and cv == "loo":
        rows = np.arange(n)
        return [(np.delete(rows, i), rows[i : i + 1]) for i in rows]
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        content = (X, y, weight)
        return _numbered(int(cv), n, strata, groups, time, random_state, content)
    if isinstance(cv, Real) and not isinstance(cv, bool):
        content = (X, y, weight)
        return [_validation_part(float(cv), n, strata, groups, time, random_state, content)]
    if isinstance(cv, str) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise ParameterError(
            f"cv={cv!r} is not allowed; give a number of folds, the share of rows to hold out, "
            "pairs of training and test rows, or a splitter of scikit-learn."
        )
    if hasattr(cv, "split"):
        pairs = cv.split(np.zeros((n, 1)) if X is None else X, y, groups)
    else:
        pairs = cv
    folds = [_check_fold(pair, n, i) for i, pair in enumerate(pairs)]
    if not folds:
        raise ParameterError("There are no folds; give at least one pair (train, test).")
    return folds


def _numbered(
    k: int, n: int, strata: Any, groups: Any, time: Any, seed: int | None, content: Any
) -> list[Fold]:
    if not 2 <= k <= n:
        raise ParameterError(
            f"{k!r} folds are not possible with {n} rows; give a whole number from 2 to {n}."
        )
    if groups is not None and time is not None:
        raise InputError("Folds follow groups or time, not both; leave one of them out.")
    if time is not None:
        stretch = parts_by_time(time, np.full(k + 1, 1 / (k + 1)), f"{k} folds")
        return [(np.flatnonzero(stretch <= i), np.flatnonzero(stretch == i + 1)) for i in range(k)]
    if groups is not None:
        rng = np.random.default_rng(0 if seed is None else seed)
        fold = parts_by_group(groups, strata, np.full(k, 1 / k), rng, f"{k} folds")
    elif seed is None:
        fold = deal_rows(k, n, *content, strata=strata)
        if strata is not None and np.all(fold == fold[0]):  # a few rows, each of another class
            fold = deal_rows(k, n, *content)
    else:
        order = np.random.default_rng(seed).permutation(n)
        if strata is not None:  # stratum after stratum, dealt like cards
            order = order[np.argsort(_codes(strata, n)[order], kind="stable")]
        fold = np.empty(n, dtype=np.intp)
        fold[order] = np.arange(n) % k
    pairs = [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(k)]
    return [(train, test) for train, test in pairs if len(train) and len(test)]


def _validation_part(
    share: float, n: int, strata: Any, groups: Any, time: Any, seed: int | None, content: Any
) -> Fold:
    """Return training rows and about `share` of the rows held out, at least one of each."""
    if not 0 < share < 1:
        raise ParameterError(
            f"cv={share!r} is not allowed; give at least 2 folds, or a share between 0 and 1."
        )
    if n < 2:
        raise InputError(f"Holding out rows takes at least 2 of them; got n_samples = {n}.")
    held: BoolArray
    if groups is not None or time is not None:
        shares = np.array([1 - share, share])
        if time is not None:
            part = parts_by_time(time, shares, "a validation part")
        else:
            rng = np.random.default_rng(0 if seed is None else seed)
            part = parts_by_group(groups, strata, shares, rng, "a validation part")
        held = part == 1
    elif seed is None:
        order = dealing_order(n, content, strata)
        if order is None:
            dealt = deal_folds(n, _DEALT, strata)
            held = dealt < min(max(round(_DEALT * share), 1), _DEALT - 1)
            if held.all() or not held.any():
                held = deal_folds(n, 2) == 0
        else:  # evenly along the order, and at least one row on each side
            held = np.zeros(n, dtype=np.bool_)
            held[order] = np.diff(np.floor(share * np.arange(n + 1) + 0.5)) > 0
            if held.all() or not held.any():
                held[order[0]] = not held[order[0]]
    else:  # a share of each stratum, rounded up, and never all of it
        rng = np.random.default_rng(seed)
        codes, held = _codes(strata, n), np.zeros(n, dtype=bool)
        for k in np.unique(codes):
            rows = rng.permutation(np.flatnonzero(codes == k))
            held[rows[: min(int(np.ceil(share * len(rows))), len(rows) - 1)]] = True
        if not held.any():
            raise InputError("Every class has one row only, so none can be held out; add rows.")
    return np.flatnonzero(~held), np.flatnonzero(held)


def _codes(strata: Any, n: int) -> IntArray:
    if strata is None:
        return np.zeros(n, dtype=np.intp)
    return np.unique(np.asarray(strata), return_inverse=True)[1].astype(np.intp)


def folds_that_count(cv: Any, rows: Any, *, strata: Any = None) -> list[Fold]:
    """Return folds as positions among `rows`, which may have been given among rows of no weight.

    A number of folds, and a share, are of the rows that count (`bottega.core.rows.Rows`). Folds
    that are given, and splitters, speak of the rows as they were given.
    """
    if rows.given is None or isinstance(cv, Real | str):
        content = {"X": rows.X, "y": rows.y, "weight": rows.weight}
        return make_folds(cv, len(rows), strata=strata, **content)
    place = np.full(len(rows.given), -1)
    place[rows.kept] = np.arange(len(rows))
    pairs = make_folds(cv, len(rows.given), X=rows.given.X, y=rows.given.y)
    counted = [tuple(place[part][place[part] >= 0] for part in pair) for pair in pairs]
    return [(train, test) for train, test in counted if len(train) and len(test)]


def parts_by_group(
    groups: Any, strata: Any, shares: FloatArray, rng: np.random.Generator, what: str
) -> IntArray:
    """Return the part of each row: whole groups, large ones first, where they are lacked most.

    `strata` may be None; the `shares` of the parts sum to 1, `rng` orders groups of equal size, and
    `what` is made is said in the error message.
    """
    names, of_row = np.unique(np.asarray(groups), return_inverse=True)
    if len(names) < len(shares):
        raise InputError(
            f"{what[0].upper()}{what[1:]} by group needs at least {len(shares)} groups, "
            f"and there are {len(names)}."
        )
    codes = _codes(strata, len(of_row))
    content = np.zeros((len(names), int(codes.max()) + 1))
    np.add.at(content, (of_row, codes), 1)
    # The size counts beside the classes: parts behind in one class should not fall behind in all.
    content = np.column_stack([content, content.sum(axis=1)])
    lacking = np.outer(shares, content.sum(axis=0))
    shuffled = rng.permutation(len(names))
    order = shuffled[np.argsort(-content[shuffled, -1], kind="stable")]
    part = np.empty(len(names), dtype=np.intp)
    empty = np.ones(len(shares), dtype=bool)
    for place, i in enumerate(order):
        wanted = lacking @ content[i]
        if len(names) - place <= empty.sum():  # the last groups must fill the empty parts
            wanted = np.where(empty, wanted, -np.inf)
        best = int(np.argmax(wanted))
        part[i] = best
        empty[best] = False
        lacking[best] -= content[i]
    return np.asarray(part[of_row])


def parts_by_time(time: Any, shares: FloatArray, what: str) -> IntArray:
    """Return the stretch of time of each row; rows of the same time stay together."""
    order = np.asarray(time)
    moments, of_row, sizes = np.unique(order, return_inverse=True, return_counts=True)
    ends = np.cumsum(sizes)
    wanted = np.cumsum(shares)[:-1] * len(order)
    edges = [0, *(int(np.argmin(np.abs(ends - goal))) + 1 for goal in wanted), len(moments)]
    if any(left >= right for left, right in pairwise(edges)):
        raise InputError(
            f"{what[0].upper()}{what[1:]} in time order needs at least {len(shares)} distinct "
            f"times, evenly filled, and there are {len(moments)} in {len(order)} rows."
        )
    return np.asarray(np.repeat(np.arange(len(shares)), np.diff(edges))[of_row])


def _check_fold(pair: Any, n: int, place: int) -> Fold:
    try:
        train, test = (np.asarray(rows) for rows in pair)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"Fold {place} is not a pair (training rows, test rows).") from error
    found = []
    for name, rows in (("training", train), ("test", test)):
        if rows.dtype == bool and rows.shape == (n,):
            rows = np.flatnonzero(rows)
        if rows.ndim != 1 or not len(rows) or rows.dtype.kind not in "iu":
            raise ParameterError(
                f"The {name} rows of fold {place} must be whole numbers, at least one of them."
            )
        if rows.min() < 0 or rows.max() >= n:
            raise ParameterError(f"Fold {place} names {name} rows outside 0 to {n - 1}.")
        found.append(rows.astype(np.intp))
    trained = np.zeros(n, dtype=bool)
    trained[found[0]] = True
    shared = found[1][trained[found[1]]]
    if len(shared):
        raise ParameterError(
            f"Fold {place} trains and tests on row {shared[0]}: a row the model has seen says "
            "nothing about rows it has not."
        )
    return found[0], found[1]


def fold_of_rows(folds: list[Fold], n: int) -> IntArray:
    """Return the fold in which each row is tested, -1 where it is not; twice is refused."""
    fold = np.full(n, -1, dtype=np.intp)
    for i, (_, test) in enumerate(folds):
        again = test[fold[test] >= 0]
        fold[test] = i
        if len(again) or np.count_nonzero(fold == i) < len(test):
            row = again[0] if len(again) else test[0]
            raise ParameterError(
                f"Row {row} is tested more than once; give folds that test each row at most once."
            )
    return fold


def is_partition(folds: list[Fold], n: int) -> bool:
    """Return True if each row is tested in one fold and trained on in all others."""
    fold = fold_of_rows(folds, n)
    return bool(np.all(fold >= 0)) and all(len(train) + len(test) == n for train, test in folds)
