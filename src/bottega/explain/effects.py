"""How the prediction changes with one input: partial dependence, single rows, local effects."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError, did_you_mean
from bottega.core.frames import make_frame
from bottega.core.lazy import cached_property
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.explain._rows.columns import ColumnValues
from bottega.explain._rows.held_out import HeldOut
from bottega.plot import effect_chart, partial_effects_chart

__all__ = ["Effect", "Effects"]

_GRID = 25
_MOST_LEVELS = 12
_ROWS = 250  # of partial dependence, each predicted at every point of the grid
_LOCAL_ROWS = 2_000  # of local effects, each predicted twice
_SINGLE = 30  # rows drawn one by one
_TAILS = 0.01  # the grid leaves out the outermost hundredth of the values on each side


@dataclass(frozen=True, eq=False, repr=False)
class Effect(Shown):
    r"""The effect of one input on the prediction, by models that have not seen the rows.

    Attributes
    ----------
    column : str
        The input.
    kind : {"number", "date", "category"}
        What it holds; dates are days since 1970-01-01.
    values : ndarray of shape (g,)
        Values (those of rows, from the first to the 99th percentile) or levels (at most the 12 most
        frequent) at which the effect is given.
    average : ndarray of shape (g,)
        Partial dependence: the mean prediction if all rows had this value.
    by_fold : ndarray of shape (K, g)
        The same for the model and the rows of each fold: how much the models agree.
    single : ndarray of shape (r, g)
        Predictions of some single rows if they had this value (individual conditional
        expectation): lines that are not parallel show an interaction.
    local : ndarray of shape (g,) or None
        Accumulated local effects plus the mean prediction: the changes of the prediction between
        neighbouring values, of the rows that lie between them, added up. None for levels, which
        have no order, and where there are fewer than two values.
    outcome : str
        What is predicted.

    Notes
    -----
    Partial dependence asks for the prediction of rows that may not exist, where inputs are
    associated; local effects do not [1]_: with :math:`z_0 < \dots < z_g` the grid and :math:`n_k`
    rows in :math:`(z_{k-1}, z_k]`,
    :math:`f(z_k) = \sum_{j \le k} \frac{1}{n_j} \sum_{i \in j} [\hat f(z_j, x_i) -
    \hat f(z_{j-1}, x_i)]`, less its mean over the rows. Where both curves agree, either may be
    read.

    References
    ----------
    .. [1] Apley, D. W. and Zhu, J. (2020). Visualizing the effects of predictor variables in black
       box supervised learning models. Journal of the Royal Statistical Society B 82, 1059-1086.
    """

    column: str
    kind: str
    values: Array
    average: FloatArray
    by_fold: FloatArray
    single: FloatArray
    local: FloatArray | None
    outcome: str
    left_out: int = 0  # levels
    like: Any = None

    def to_frame(self, like: Any = None) -> Any:
        """Return column, value, average and local, a row per point."""
        columns = {
            "column": [self.column] * len(self.values),
            "value": self.values.tolist(),
            "average": self.average,
            "local": np.full(len(self.values), np.nan) if self.local is None else self.local,
        }
        return make_frame(columns, self.like if like is None else like)

    def summary(self) -> Summary:
        """Return the effect as a table."""
        columns: dict[str, Any] = {
            "value": self.values.tolist(),
            "partial dependence": self.average.tolist(),
        }
        if self.local is not None:
            columns["local effects"] = self.local.tolist()
        title = f"Effect of {self.column} on the {self.outcome}"
        notes = (f"{self.left_out} rarer levels are left out",) if self.left_out else ()
        return Summary(title, (Section("", columns),), notes)

    def plot(self) -> Any:
        """Draw the effect, with single rows behind it."""
        return effect_chart(self)


class Effects(Mapping[str, Effect]):
    """The effects of the leading inputs, by name, the most important first."""

    def __init__(self, effects: Mapping[str, Effect]) -> None:
        self._effects = dict(effects)

    def __getitem__(self, column: str) -> Effect:
        return self._effects[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self._effects)

    def __len__(self) -> int:
        return len(self._effects)

    def __repr__(self) -> str:
        return f"<Effects of {', '.join(self)}>"

    def to_frame(self, like: Any = None) -> Any:
        """Return column, value (as text), average and local of all effects."""
        parts = list(self.values())
        columns = {
            "column": [each.column for each in parts for _ in each.values],
            "value": [str(value) for each in parts for value in each.values.tolist()],
            "average": [float(v) for each in parts for v in each.average],
            "local": [
                float(v)
                for each in parts
                for v in (np.full(len(each.values), np.nan) if each.local is None else each.local)
            ],
        }
        return make_frame(columns, parts[0].like if like is None and parts else like)

    def plot(self, *, columns: int = 3) -> Any:
        """Draw one panel per input, all on the same height."""
        return partial_effects_chart(list(self.values()), columns=columns)


@dataclass(frozen=True, eq=False)
class EffectMaker:
    """Makes effects of held-out rows; the same rows serve every column."""

    held: HeldOut
    seed: int

    @cached_property
    def local_rows(self) -> IntArray:
        """The rows of local effects."""
        return self.held.sample(_LOCAL_ROWS, np.random.default_rng([self.seed, 1]))

    @cached_property
    def rows(self) -> IntArray:
        """The rows of partial dependence: some of those."""
        rng = np.random.default_rng([self.seed, 2])
        rows = self.local_rows
        return rows if len(rows) <= _ROWS else np.sort(rng.choice(rows, _ROWS, replace=False))

    def effect(self, name: str) -> Effect:
        """Return the effect of a column."""
        held = self.held
        if name not in held.columns:
            raise InputError(
                f"There is no column {name!r} among the inputs.{did_you_mean(name, held.columns)}"
            )
        column = held.column(name)
        donors, left_out = _grid(column, self.local_rows)
        if not len(donors):
            raise InputError(f"Column {name!r} has no value in the held-out rows.")
        rows, g = self.rows, len(donors)
        numeric = column.kind != "category"
        near, above = self._between(column, donors) if numeric and g > 1 else (rows[:0], rows[:0])
        # One call for all: of each row at every point, and at both ends of its own interval.
        both = held.predict(
            np.concatenate([np.repeat(rows, g), near, near]),
            {name: np.concatenate([np.tile(donors, len(rows)), donors[above], donors[above - 1]])},
        )
        predicted, ends = both[: len(rows) * g].reshape(len(rows), g), both[len(rows) * g :]
        weight = held.weight[rows]
        by_fold = [
            np.average(predicted[mine], axis=0, weights=weight[mine])
            for mine in (held.fold[rows] == k for k in range(len(held.models)))
            if mine.any()
        ]
        shown = np.linspace(0, len(rows) - 1, min(_SINGLE, len(rows))).round().astype(np.intp)
        values = column.values[donors]
        return Effect(
            column=name,
            kind=column.kind,
            values=values if numeric else np.array([column.levels[int(v)] for v in values]),
            average=np.average(predicted, axis=0, weights=weight),
            by_fold=np.array(by_fold),
            single=predicted[shown],
            local=self._local(near, above, ends, g) if numeric and g > 1 else None,
            outcome=held.outcome,
            left_out=left_out,
            like=held.library,
        )

    def _between(self, column: ColumnValues, donors: IntArray) -> tuple[IntArray, IntArray]:
        """Return the rows that have a value, and the point of the grid above each."""
        rows = self.local_rows[column.present[self.local_rows]]
        above = np.searchsorted(column.values[donors], column.values[rows])
        return rows, np.clip(above, 1, len(donors) - 1)

    def _local(self, rows: IntArray, above: IntArray, ends: FloatArray, g: int) -> FloatArray:
        """Return accumulated local effects, about the mean prediction."""
        weight = self.held.weight[rows]
        change = ends[: len(rows)] - ends[len(rows) :]
        total = np.bincount(above, weight, g)[1:]
        height = np.append(0.0, np.cumsum(np.bincount(above, weight * change, g)[1:] / total))
        mean = np.average((height[1:] + height[:-1]) / 2, weights=total)
        return height - mean + self._center

    @cached_property
    def _center(self) -> float:
        """Mean prediction of the rows of partial dependence: both curves can be compared."""
        return float(np.average(self.held.predict(self.rows), weights=self.held.weight[self.rows]))


def _grid(column: ColumnValues, rows: IntArray) -> tuple[IntArray, int]:
    """Return rows whose values make the grid, rising (levels: the frequent first), and the rest."""
    rows = rows[column.present[rows]]
    if column.kind == "category":
        level, first = np.unique(column.values[rows], return_index=True)
        kept = first[:_MOST_LEVELS]
        return rows[kept], len(level) - len(kept)
    if not len(rows):
        return rows, 0
    rows = rows[np.argsort(column.values[rows], kind="stable")]
    distinct = np.unique(column.values[rows], return_index=True)[1]
    if len(distinct) <= _GRID:
        return rows[distinct], 0
    last = len(rows) - 1
    spread = np.linspace(_TAILS * last, (1 - _TAILS) * last, _GRID).round().astype(np.intp)
    chosen = rows[spread]
    return chosen[np.unique(column.values[chosen], return_index=True)[1]], 0
