"""A data set that knows what its columns hold and what they are for."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bottega.core.errors import InputError, did_you_mean
from bottega.core.frames import make_frame
from bottega.core.lazy import cached_property
from bottega.data import convert, findings
from bottega.data._inspect.copies import about_copies, find_copies
from bottega.data._inspect.display import as_html, as_text
from bottega.data._inspect.examine import check_kinds, examine_all, extent
from bottega.data._inspect.leakage import search_leakers
from bottega.data._inspect.notes import about_feature, about_kinds, encoded_width, is_left_out
from bottega.data._inspect.order import about_order
from bottega.data._inspect.roles import assign_roles, with_roles
from bottega.data._inspect.target import read_target
from bottega.data.columns import Column, count
from bottega.data.findings import Finding
from bottega.data.role_columns import order_values

if TYPE_CHECKING:
    from bottega.data.splits import Split

__all__ = ["Table"]

_FEW_COPIES = 0.01  # share of the rows up to which copies change no choice


class Table:
    """A data frame with the kind and the role of each column.

    Nothing is imputed or encoded: missing values stay missing, and `X` is the user's own kind of
    frame. Rows whose target is missing are dropped, columns that cannot be used are left out, and
    numbers and dates written as text are converted: `warnings` says so. Cost: one pass over each
    column, and a sort of each column for the search for leakers.

    Parameters
    ----------
    frame : pandas, polars or pyarrow frame
        The data.
    target : str, optional
        The column to predict.
    kinds : dict of str to str, optional
        Kinds that override the inferred ones (see `Column`). ``"number"`` and ``"date"`` convert
        texts; ``"category"`` turns numbers into labels.
    weight, group, time : str or array-like, optional
        The column of row weights; of groups that must not be split; of the time order. Or their
        values, one per row, which become a column. ``time=True`` is the order of the rows.
    ignore : str or iterable of str
        Columns to leave out. Columns of kind id and constant, and those without a value or
        with too many levels, are left out anyway, unless `kinds` gives them another kind.
    task : {"regression", "classification"}, optional
        Overrides the rule: a category, a boolean or a number with exactly two values is a
        classification target, any other number a regression target.
    source : str, optional
        Where the data came from, for reports.
    decimal : {".", ","}, optional
        The decimal sign of numbers that are written as text; by default it is found column by
        column, and a finding says how a column was read.

    Attributes
    ----------
    frame : native frame
        All columns, converted where `kinds` asked for it.
    columns : tuple of Column
        Name, kind, role, missing and distinct values of each.
    n_rows, target, task, source
        As in the parameters; `n_rows` without the rows that have no target.
    row_numbers : ndarray of int
        Which row of the data given each row was, counted from 1.
    unlabelled : native frame or None
        The rows that have no target, with all columns; None where every row has one.
    X : native frame
        The feature columns.
    y : ndarray or None
        float64 for regression, labels for classification.
    classes : ndarray or None
        The sorted labels.
    weight, groups, time : ndarray or None
        The columns of those roles (`time` as numbers; dates as days since 1970-01-01).
    copies : ndarray of int or None
        A number that rows share which are copies of one another, equal in every input and in the
        target; None where there are none, or where rows may be equal by chance (see the finding
        ``"copies"``).
    decimal : dict of str to str
        The decimal sign of each feature whose numbers were written as text.
    day_first : dict of str to bool
        Of columns whose dates were written like 31/1/2026, whether the day comes first.
    asked : dict
        What the caller gave as kinds, weight, group, time and ignore.
    warnings : tuple of Finding
        What to know before trusting a model.

    Raises
    ------
    InputError
        When the data cannot be used as they are; the message names the column and the cure.

    Examples
    --------
    >>> import pandas as pd
    >>> houses = pd.DataFrame({"rooms": [3, 4, 2, 5], "price": [10.5, 14.0, 8.0, 21.0]})
    >>> table = Table(houses, target="price")
    >>> table.task, table.column("rooms").kind
    ('regression', 'number')
    """

    def __init__(
        self,
        frame: Any,
        *,
        target: str | None = None,
        kinds: Mapping[str, str] | None = None,
        weight: Any = None,
        group: Any = None,
        time: Any = None,
        ignore: str | Iterable[str] = (),
        task: str | None = None,
        source: str | None = None,
        decimal: str | None = None,
    ) -> None:
        if decimal not in (None, ".", ","):
            raise InputError(f"decimal is '.' or ',', not {decimal!r}.")
        data = convert.as_frame(frame)
        given = set(data.columns)
        data, weight, group, time = with_roles(data, weight, group, time)
        kinds = {str(name): kind for name, kind in (kinds or {}).items()}
        left_out = {ignore} if isinstance(ignore, str) else set(ignore)
        roles = assign_roles(data, target, weight, group, time, left_out)
        check_kinds(kinds, data.columns)
        if task not in (None, "regression", "classification"):
            raise InputError(f"task is 'regression' or 'classification', not {task!r}.")
        if len(data) == 0:
            raise InputError("The data have no rows, only column names.")
        self.target = target
        self.source = source
        self.warnings: tuple[Finding, ...] = ()
        self.asked: dict[str, Any] = {
            "kinds": kinds, "weight": weight, "group": group, "time": time, "ignore": left_out,
        }  # fmt: skip
        self._made = set(data.columns) - given  # columns of roles that came as values
        n_given = len(data)
        data, profiles = examine_all(data, roles, kinds, decimal)
        notes: list[Finding] = []
        columns: list[Column] = []
        for name, seen in profiles.items():
            if roles[name] == "feature":
                notes += about_feature(name, seen, chosen=name in kinds)
                if is_left_out(seen):
                    roles[name] = "ignore"
            columns.append(Column(name, seen.kind, roles[name], seen.missing, seen.distinct))
        self._roles = roles
        self._kinds = {name: seen.kind for name, seen in profiles.items()}
        self.decimal = {
            name: seen.decimal
            for name, seen in profiles.items()
            if roles[name] == "feature" and seen.decimal is not None
        }
        self.day_first = {n: p.day_first for n, p in profiles.items() if p.day_first is not None}
        self._data = data
        self._read_roles(task, notes)
        if self.n_rows == n_given:  # every row was kept, so the counts stand
            self.columns = tuple(columns)
        if not self.features:
            reasons = [f"{c.name!r} ({c.kind})" for c in self.columns if c.role == "ignore"]
            raise InputError(
                "No column is left to learn from"
                + (f": left out are {', '.join(reasons[:10])}" if reasons else "")
                + "; give kinds={...} to use one of them, or add columns."
            )
        used = {name: profiles[name] for name in self.features}
        notes += about_kinds(used, self.n_rows)
        notes += findings.about_width(encoded_width(used, self.n_rows), self.n_rows)
        self.copies = find_copies(self, {name: seen.distinct for name, seen in profiles.items()})
        notes += about_copies(self)
        notes += about_order(self)
        notes += search_leakers(self)
        self.warnings = tuple(notes)

    def _read_roles(self, task: str | None, notes: list[Finding]) -> None:
        """Read target, weights, groups and time, and drop the rows that have no target."""
        self.row_numbers, self.unlabelled = np.arange(len(self._data)) + 1, None
        if self.target is not None:
            series = self._data[self.target]
            absent = convert.missing(series)
            if absent.all():
                raise InputError(f"Target {self.target!r} has no value at all; choose another.")
            if absent.any():
                kept = np.flatnonzero(~absent)
                self.unlabelled = self._data[np.flatnonzero(absent), :].to_native()
                self._data, self.row_numbers = self._data[kept, :], kept + 1
                notes += findings.about_gaps(int(absent.sum()), absent.size, self.target)
        notes += findings.about_size(len(self._data))
        self.n_rows = len(self._data)
        self.y, self.task, self.classes = None, None, None
        if self.target is not None:
            series = self._data[self.target]
            self.y, self.task, self.classes, found = read_target(
                series, self._kinds[self.target], task
            )
            notes += found
        self.weight = self._read_weight()
        self.groups = self.labels_of("group")
        self.time = self.order_of("time")

    def _read_weight(self) -> np.ndarray | None:
        name = self._name_of("weight")
        if name is None:
            return None
        weight = convert.numbers(self._data[name])
        bad = np.flatnonzero(~(weight >= 0))
        if bad.size:
            raise InputError(
                f"Weights must be zero or more, and {bad.size:,} values of {name!r} are negative "
                f"or missing, first in row {bad[0] + 1}; correct them."
            )
        if not weight.any():
            raise InputError(f"All weights in {name!r} are zero; leave weight out or correct them.")
        return weight

    def _name_of(self, role: str) -> str | None:
        return next((name for name, its in self._roles.items() if its == role), None)

    def labels_of(self, role: str, name: str | None = None) -> np.ndarray | None:
        """Return a column, by role or by name, as an array of text labels without gaps."""
        series = self._series_of(role, name)
        if series is None:
            return None
        labels = convert.labels(series)
        self._refuse_gaps(series.name, role, [label is None for label in labels])
        return np.array(labels)

    def order_of(self, role: str, name: str | None = None) -> np.ndarray | None:
        """Return a column, by role or by name, as numbers without gaps to order the rows by."""
        series = self._series_of(role, name)
        if series is None:
            return None
        values = order_values(series)
        self._refuse_gaps(series.name, role, np.isnan(values))
        return values

    def _series_of(self, role: str, name: str | None) -> convert.Series | None:
        name = self._name_of(role) if name is None else self._known(name)
        return None if name is None else self._data[name]

    def _refuse_gaps(self, name: str, role: str, absent: Any) -> None:
        rows = np.flatnonzero(absent)
        if rows.size:
            raise InputError(
                f"Column {name!r} gives the {role} of each row, and {rows.size:,} values are "
                f"missing, first in row {rows[0] + 1}; fill them in."
            )

    def _known(self, name: str) -> str:
        if name not in self._roles:
            raise InputError(f"There is no column {name!r}.{did_you_mean(name, self._roles)}")
        return name

    @property
    def is_count(self) -> bool:
        """Whether the target is a number and all its values are whole, none below zero."""
        return self.task == "regression" and self.y is not None and findings.is_count(self.y)

    def series(self, name: str) -> convert.Series:
        """Return one column as it is kept."""
        return self._data[self._known(name)]

    @property
    def frame(self) -> Any:
        """All columns, as the user's own kind of frame."""
        return self._data.to_native()

    @cached_property
    def X(self) -> Any:  # noqa: N802 - the name every estimator knows
        """The feature columns, as the user's own kind of frame."""
        return self._data.select(list(self.features)).to_native()

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Name, kind, role, missing and distinct values of each column."""
        return tuple(
            Column(name, self._kinds[name], self._roles[name], *count(self._data[name]))
            for name in self._data.columns
        )

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the feature columns."""
        return tuple(name for name in self._data.columns if self._roles[name] == "feature")

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each feature column: what `Encoder` takes."""
        return {name: self._kinds[name] for name in self.features}

    @cached_property
    def units(self) -> np.ndarray | None:
        """What is independent where rows are not: groups, or rows with their copies.

        Copies count where they are more than one row in a hundred: fewer change no choice within
        the training rows, and would make it slower. Rows in order of time have no units.
        """
        if self.groups is not None or self.time is not None or self.copies is None:
            return self.groups
        n_copies = self.n_rows - np.unique(self.copies).size
        return self.copies if n_copies > _FEW_COPIES * self.n_rows else None

    def column(self, name: str) -> Column:
        """Return one column's description."""
        self._known(name)
        return next(column for column in self.columns if column.name == name)

    def aimed_at(
        self,
        target: str | None = None,
        task: str | None = None,
        *,
        weight: Any = None,
        group: Any = None,
        time: Any = None,
    ) -> "Table":
        """Return the same rows with another target, task, weight, group or time; the rest stays."""
        roles = {"weight": weight, "group": group, "time": time}
        roles = {role: given for role, given in roles.items() if given is not None}
        if target in (None, self.target):
            if task in (None, self.task) and not roles:
                return self
            target, task = self.target, task or self.task
        gone = self._made.intersection(self.asked[role] for role in roles)
        frame = self._data.drop(*gone).to_native() if gone else self.frame
        found = Table(
            frame, target=target, task=task, source=self.source, **{**self.asked, **roles}
        )
        found._made |= self._made - gone
        found.day_first |= self.day_first
        if target == self.target:
            found.unlabelled = self.unlabelled
        found.decimal |= {name: self.decimal[name] for name in self.decimal if name in found.kinds}
        return found

    def take(self, rows: Any) -> "Table":
        """Return the given rows (positions or a mask); kinds, roles and warnings stay."""
        rows = np.asarray(rows)
        if rows.dtype == bool:
            rows = np.flatnonzero(rows)
        part = object.__new__(Table)
        part.target, part.source, part.task = self.target, self.source, self.task
        part._roles, part._kinds, part.asked = self._roles, self._kinds, self.asked
        part._made, part.day_first = self._made, self.day_first
        part.warnings, part.classes, part.decimal = self.warnings, self.classes, self.decimal
        part._data = self._data[rows.astype(np.int64), :]
        part.n_rows, part.unlabelled = rows.size, None
        for name in ("y", "weight", "groups", "time", "copies", "row_numbers"):
            values = getattr(self, name)
            setattr(part, name, None if values is None else values[rows])
        return part

    def split(
        self,
        *,
        train_size: float = 0.5,
        validation_size: float = 0.25,
        test_size: float = 0.25,
        stratify: bool | str = "auto",
        group: str | bool | None = None,
        time: str | bool | None = None,
        random_state: Any = 0,
    ) -> "Split":
        """Cut the table into train, validation and a locked test part: see `Split`.

        Parameters
        ----------
        train_size, validation_size, test_size : float
            Fractions that sum to 1; 0 leaves a part out.
        stratify : bool or "auto"
            Keep the class shares; ``"auto"`` does it for classification.
        group, time : str or False, optional
            The column whose groups must stay together, or whose order the parts must follow, in
            place of the table's own; False disregards it.
        random_state : int, RandomState, Generator or None
            For the shuffling.
        """
        from bottega.data.splits import split  # splits are made of tables: a circle otherwise

        sizes = (train_size, validation_size, test_size)
        return split(self, sizes, stratify, group, time, random_state)

    def overview(self) -> Any:
        """Return one row per column: kind, role, missing and distinct values, range, mode.

        `low`, `high` and `most_common` are text, empty where they have no meaning.
        """
        ranges = [extent(self._data[c.name], c.kind) for c in self.columns]
        rows = {
            "column": [c.name for c in self.columns],
            "kind": [c.kind for c in self.columns],
            "role": [c.role for c in self.columns],
            "missing": [c.missing for c in self.columns],
            "missing_share": [c.missing / max(self.n_rows, 1) for c in self.columns],
            "distinct": [c.distinct for c in self.columns],
            "low": [low for low, _, _ in ranges],
            "high": [high for _, high, _ in ranges],
            "most_common": [common for _, _, common in ranges],
        }
        return make_frame(rows, like=self._data.to_native())

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)
