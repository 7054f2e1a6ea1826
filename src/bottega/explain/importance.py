"""What each input is worth: how much the loss of held-out rows grows when it is shuffled."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.frames import make_frame
from bottega.core.parallel import in_threads
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.explain._rows.columns import ASSOCIATED, go_together
from bottega.explain._rows.held_out import DELTA, HeldOut, names_of
from bottega.plot import importance_chart
from bottega.risk.estimate.judged_rows import independent_units
from bottega.risk.estimate.nested_interval import (
    ErrorInterval,
    effective_size,
    nadeau_bengio,
    naive,
)

__all__ = ["Importance"]

FEW_FOLDS = 2
REPEATS = 5  # other rows that lend each row their values
_MOST_PREDICTIONS = 500_000  # over all columns
_LEAST_ROWS, _MOST_ROWS = 200, 5_000
_BLOCK = 2_000_000  # cells of rows that are predicted at a time
_ROWS_OF_PAIRS = 5_000
_GROUPS_SHOWN = 3  # below a chart
_AND = " + "


@dataclass(frozen=True, eq=False, repr=False)
class Importance(Shown):
    """Permutation importance on held-out rows, with intervals.

    Attributes
    ----------
    columns : tuple of str
        The inputs (of `together`: several, joined by " + "), the most important first.
    increase : ndarray of shape (p,)
        Mean increase of the loss when the values of the column come from other rows.
    std_error, lower, upper : ndarray of shape (p,)
        Its standard error and 95 % interval, which allow for the training rows that the models of
        the folds share (Nadeau and Bengio's variance).
    loss : str
        Name of the loss.
    error : float
        Mean loss with all columns as they are, on the same rows.
    n : int
        Number of rows.
    together : Importance or None
        Of the groups of columns that are strongly associated, shuffled together.
    folds : int
        Number of folds that the intervals are from; of two they are too wide to say much.

    Notes
    -----
    A column whose values can be guessed from the others shows little importance by itself, and its
    shuffled rows may be like none that exist; where columns are strongly associated, `together`
    says what they are worth as one.

    Every row is judged by the model that was fitted without its fold, and borrows its values from 5
    other rows (fewer where there are thousands of columns), never from itself, so the increase is
    unbiased [1]_. It is about the procedure's models: an input that they do not use may still
    matter.

    References
    ----------
    .. [1] Fisher, A., Rudin, C. and Dominici, F. (2019). All models are wrong, but many are useful:
       learning a variable's importance by studying an entire class of prediction models
       simultaneously. Journal of Machine Learning Research 20 (177).
    """

    columns: tuple[str, ...]
    increase: FloatArray
    std_error: FloatArray
    lower: FloatArray
    upper: FloatArray
    loss: str
    error: float
    n: int
    together: "Importance | None" = None
    like: Any = None
    folds: int = 0

    @property
    def few_folds(self) -> bool:
        """Whether the intervals have one degree of freedom, so that they exclude little."""
        return self.folds == FEW_FOLDS

    def leading(self, count: int = 6) -> tuple[str, ...]:
        """Return the most important columns."""
        return self.columns[:count]

    def to_frame(self, like: Any = None) -> Any:
        """Return column, increase, std_error, conf_low, conf_high; the most important first."""
        columns = {
            "column": list(self.columns),
            "increase": self.increase,
            "std_error": self.std_error,
            "conf_low": self.lower,
            "conf_high": self.upper,
        }
        return make_frame(columns, self.like if like is None else like)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know."""
        found = [
            f"increase of the mean {self.loss} ({self.error:.4g} as they are) on {self.n:,} "
            "held-out rows when the column takes the values of other rows; 95% intervals, which "
            "allow for the training rows that folds share"
        ]
        if self.few_folds:
            found.append(
                f"{self.folds} folds are too few to tell what matters from what does not: an "
                "interval that includes zero says little"
            )
        if self.together is not None:
            listed = "; ".join(self.together.columns)
            found.append(
                f"these go together (association of at least {ASSOCIATED:g}), so that each can "
                f"stand in for the other: {listed}; `together` has what they are worth as one"
            )
        return tuple(found)

    def summary(self) -> Summary:
        """Return the importances as a table."""
        sections = [_section("", self)]
        if self.together is not None:
            sections.append(_section("Columns that go together, shuffled as one", self.together))
        return Summary("Importance of the inputs", tuple(sections), self.notes)

    def plot(self, *, most: int = 20) -> Any:
        """Draw the importances with their intervals."""
        note = ""
        if self.together is not None:
            groups = [_short(each) for each in self.together.columns]
            note = "These go together: " + "; ".join(groups[:_GROUPS_SHOWN])
            more = len(groups) - _GROUPS_SHOWN
            note += f"; and {more} more groups." if more > 0 else "."
        return importance_chart(
            self.columns,
            self.increase,
            np.column_stack([self.lower, self.upper]),
            most=most,
            what=f"increase of {self.loss}",
            note=note,
        )


def _short(group: str) -> str:
    """Return the first columns of a group, and how many more there are."""
    names = group.split(_AND)
    if len(names) <= 3:
        return group
    return _AND.join(names[:2]) + f" and {len(names) - 2} more"


def _section(heading: str, found: Importance) -> Section:
    return Section(
        heading,
        {
            "column": list(found.columns),
            "increase": found.increase.tolist(),
            "std. error": found.std_error.tolist(),
            "95% interval": [
                f"[{low:.4g}, {high:.4g}]"
                for low, high in zip(found.lower, found.upper, strict=True)
            ],
        },
    )


def importance_of(held: HeldOut, seed: int) -> Importance:
    """Return the permutation importance of the columns of held-out rows."""
    if np.count_nonzero(held.weight) < 2:
        raise InputError("Shuffling needs at least 2 held-out rows with positive weight; found 1.")
    rng = np.random.default_rng(seed)
    columns = [held.column(name) for name in held.columns]
    thinned = held.sample(_ROWS_OF_PAIRS, rng)
    groups = go_together([type(c)(c.name, c.kind, c.values[thinned], c.levels) for c in columns])
    single: list[tuple[str, ...]] = [(name,) for name in held.columns]
    most = _MOST_PREDICTIONS // max(len(single) + len(groups), 1)
    at = held.sample(int(np.clip(most // REPEATS, _LEAST_ROWS, _MOST_ROWS)), rng)
    repeats = int(np.clip(most // len(at), 1, REPEATS))
    donors = donors_of(held, at, rng, repeats)
    increase = increases_of(held, at, donors, [*single, *groups])
    p = len(single)
    of_groups = _judged(held, at, groups, increase[p:]) if groups else None
    return _judged(held, at, single, increase[:p], of_groups)


def donors_of(
    held: HeldOut, at: IntArray, rng: np.random.Generator, repeats: int = REPEATS
) -> IntArray:
    """Return for each repetition and row another row: a shift of a random order.

    Rows with weights are drawn in proportion to them.
    """
    counted = np.flatnonzero(held.weight > 0)
    n = len(counted)
    if held.rows.weight is not None:
        share = held.weight[counted] / held.weight[counted].sum()
        found = rng.choice(counted, (repeats, len(at)), p=share)
        while np.any(found == at):
            found = np.where(found == at, rng.choice(counted, found.shape, p=share), found)
        return found
    order = rng.permutation(counted)
    place = np.empty(len(held), dtype=np.intp)
    place[order] = np.arange(n)
    shifts = rng.choice(np.arange(1, n), min(repeats, n - 1), replace=False)
    return order[(place[at] + shifts[:, None]) % n]


def increases_of(
    held: HeldOut, at: IntArray, donors: IntArray, groups: Sequence[tuple[str, ...]]
) -> FloatArray:
    """Return how much the loss of each row grows: (groups of columns, rows).

    Several columns are shuffled in one call of a model, each in rows of its own: a call costs as
    much as many rows where there are many columns. The calls are tasks side by side, which an
    engine may be sent.
    """
    found, base = np.zeros((len(groups), len(at))), held.losses
    tasks: list[tuple[IntArray, int, ShuffledRows]] = []
    for k in range(len(held.models)):
        mine = np.flatnonzero(held.fold[at] == k)
        if not len(mine):
            continue
        rows = ShuffledRows.of(held, k, at[mine], donors[:, mine])
        step = max(1, _BLOCK // (donors[:, mine].size * len(names_of(held.X))))
        for first in range(0, len(groups), step):
            tasks.append((mine, first, replace(rows, groups=groups[first : first + step])))
    losses = in_threads(ShuffledRows.losses, [task[2] for task in tasks], stage="shuffling",
                        elsewhere=True)  # fmt: skip
    for (mine, first, rows), found_losses in zip(tasks, losses, strict=True):
        rise = (found_losses - base[at[mine]]).mean(axis=1)
        found[first : first + len(rows.groups), mine] = rise
    return found


@dataclass(frozen=True, eq=False)
class ShuffledRows:
    """Rows of one fold, and the rows that lend them the values of groups of columns."""

    held: HeldOut  # of these rows alone
    fold: int
    y: Array
    at: IntArray
    donors: IntArray
    groups: Sequence[tuple[str, ...]] = ()

    @classmethod
    def of(cls, held: HeldOut, fold: int, at: IntArray, donors: IntArray) -> "ShuffledRows":
        """Take what is needed of the held-out rows."""
        near = np.unique(np.concatenate([at, donors.ravel()]))
        place, others = np.searchsorted(near, at), np.searchsorted(near, donors)
        return cls(replace(held, X=held.take(near)), fold, held.rows.y[at], place, others)

    def losses(self) -> FloatArray:
        """Return the losses of the rows with each group of columns shuffled: (groups, times, n)."""
        repeats, n = self.donors.shape
        many, others = np.tile(self.at, repeats), self.donors.ravel()
        rows = np.tile(many, len(self.groups))
        swaps: dict[str, IntArray] = {}
        for number, names in enumerate(self.groups):
            part = slice(number * len(many), (number + 1) * len(many))
            for name in names:
                swaps.setdefault(name, rows.copy())[part] = others
        y = np.tile(self.y, repeats * len(self.groups))
        X = self.held.swap(self.held.take(rows), swaps)
        return self.held.losses_of(self.fold, X, y).reshape(len(self.groups), repeats, n)


def _judged(
    held: HeldOut,
    at: IntArray,
    groups: Sequence[tuple[str, ...]],
    increase: FloatArray,
    together: Importance | None = None,
) -> Importance:
    """Return means and intervals, the most important first."""
    found = [interval_over_folds(held, at, each) for each in increase]
    order = np.argsort([-each.estimate for each in found], kind="stable")
    estimate, std_error, lower, upper = (
        np.array([getattr(found[j], name) for j in order], dtype=np.float64)
        for name in ("estimate", "std_error", "lower", "upper")
    )
    return Importance(
        columns=tuple(_AND.join(groups[j]) for j in order),
        increase=estimate,
        std_error=std_error,
        lower=lower,
        upper=upper,
        loss=held.row_losses.title,
        error=float(np.average(held.losses[at], weights=held.weight[at])),
        n=len(at),
        together=together,
        like=held.library,
        folds=len(np.unique(held.fold[at])),
    )


def interval_over_folds(held: HeldOut, at: IntArray, values: FloatArray) -> ErrorInterval:
    """Return the mean of a number of each row, with an interval.

    The training rows of a fold are all rows outside it, as in a partition.
    """
    groups = held.rows.groups
    of_fold, weights, sizes = [], [], []
    for k in range(len(held.models)):
        mine, all_of_it = held.fold[at] == k, held.fold == k
        rows = at[mine]
        grouped = None if groups is None else groups[rows]
        units, weight = independent_units(values[mine], held.weight[rows], grouped)
        if not len(units):
            continue
        of_fold.append(units)
        weights.append(weight)
        others = np.flatnonzero(~all_of_it & (held.weight > 0))
        sizes.append(effective_size(held.rows.unit_weights(others)) if len(others) else 0.0)
    if len(of_fold) < 2:
        return naive([of_fold], DELTA, [weights])
    return nadeau_bengio([of_fold], [sizes], DELTA, [weights])
