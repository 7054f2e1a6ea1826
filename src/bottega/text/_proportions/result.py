"""Proportions with their intervals: of all unread texts, of groups of them, and over time."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.frames import make_frame
from bottega.core.missing import any_missing
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray

__all__ = ["Proportions", "notes_of", "sets_of"]


@dataclass(frozen=True, repr=False, eq=False)
class Proportions(Shown):
    """The distribution of the classes in sets of unread texts, with intervals.

    Attributes
    ----------
    classes : tuple
        The classes.
    estimate : ndarray of shape (m, K)
        Proportions of each set of texts.
    replicates : ndarray of shape (m, B, K)
        The same in bootstrap samples of the tagged and the unread texts. They sum to one, and may
        be negative.
    n_texts : tuple of int
        Texts in each set.
    keys : tuple of dict
        What tells the sets apart: ``{}``, or values of ``"group"`` and ``"time"``.
    level : float
        Level of the intervals.
    bounded : bool
        Whether limits are kept within 0 and 1.
    notes : tuple of str
        What to know before using them.
    several : bool
        Whether a text may have several labels: then proportions need not sum to one.
    """

    classes: tuple[Any, ...]
    estimate: FloatArray
    replicates: FloatArray
    n_texts: tuple[int, ...]
    keys: tuple[dict[str, Any], ...]
    level: float
    bounded: bool = True
    notes: tuple[str, ...] = ()
    _like: str | None = field(default=None)
    several: bool = False

    @property
    def std_error(self) -> FloatArray:
        """Standard errors, (m, K): the spread of the replicates."""
        return np.asarray(self.replicates.std(axis=1, ddof=1))

    @property
    def interval(self) -> tuple[FloatArray, FloatArray]:
        """Lower and upper limits, (m, K) each.

        They are as far from the estimate as percentiles of the replicates are, on the other side:
        the error of the estimate is taken to be distributed as that of the replicates.
        """
        return self._limits(self.estimate, self.replicates, *((0.0, 1.0) if self.bounded else ()))

    def _limits(
        self,
        estimate: FloatArray,
        replicates: FloatArray,
        least: float = -np.inf,
        most: float = np.inf,
    ) -> tuple[FloatArray, FloatArray]:
        tail = (1 - self.level) / 2
        below, above = np.quantile(replicates, [tail, 1 - tail], axis=1)
        low = np.clip(2 * estimate - above, least, most)
        high = np.clip(2 * estimate - below, least, most)
        return np.minimum(low, estimate), np.maximum(high, estimate)

    def leave_out(self, *classes: Any) -> "Proportions":
        """Return the proportions among the texts of the other classes, such as those on topic.

        Parameters
        ----------
        *classes : object
            Classes to leave out.

        Returns
        -------
        Proportions
            Rescaled to sum to one, in every replicate too.
        """
        self._refuse_several("what is left of them has no proportions")
        out = {self._place(name) for name in classes}
        kept = [k for k in range(len(self.classes)) if k not in out]
        if len(kept) < 2:
            raise InputError(f"{len(kept)} of {len(self.classes)} classes would remain; keep two.")
        share = self.estimate[:, kept].sum(axis=1)
        rest = self.replicates[:, :, kept].sum(axis=2)
        if np.any(share <= 0) or np.any(rest <= 0):
            raise InputError(
                "In some set (or bootstrap sample of one) no text is of the remaining classes, so "
                "they have no proportions there."
            )
        return replace(
            self,
            classes=tuple(self.classes[k] for k in kept),
            estimate=self.estimate[:, kept] / share[:, None],
            replicates=self.replicates[:, :, kept] / rest[:, :, None],
            notes=(*self.notes, f"Among texts that are not {', '.join(map(str, classes))}."),
        )

    def difference(self, one: Any, other: Any) -> Any:
        """Return by how much the proportion of one class is above that of another.

        Parameters
        ----------
        one, other : object
            Two classes, such as those for and those against.

        Returns
        -------
        data frame
            One row per set of texts: ``difference``, ``std_error``, ``conf_low``, ``conf_high``.
        """
        self._refuse_several("how they go together is not estimated")
        a, b = self._place(one), self._place(other)
        gap = self.estimate[:, a] - self.estimate[:, b]
        spread = self.replicates[:, :, a] - self.replicates[:, :, b]
        low, high = self._limits(gap, spread, *((-1.0, 1.0) if self.bounded else ()))
        columns: dict[str, Any] = {n: [key[n] for key in self.keys] for n in self._kinds}
        columns |= {"difference": gap, "std_error": spread.std(axis=1, ddof=1)}
        return make_frame(columns | {"conf_low": low, "conf_high": high}, self._like)

    def _refuse_several(self, why: str) -> None:
        if self.several:
            raise InputError(f"A text may have several of these labels, and {why}.")

    def _place(self, name: Any) -> int:
        if name not in self.classes:
            raise InputError(f"{name!r} is not one of the classes {list(self.classes)!r}.")
        return self.classes.index(name)

    @property
    def _kinds(self) -> tuple[str, ...]:
        return tuple(self.keys[0]) if self.keys else ()

    def _columns(self) -> dict[str, Any]:
        K = len(self.classes)
        low, high = self.interval
        columns: dict[str, Any] = {
            name: [key[name] for key in self.keys for _ in range(K)] for name in self._kinds
        }
        return columns | {
            "class": [name for _ in self.keys for name in self.classes],
            "proportion": self.estimate.ravel(),
            "std_error": self.std_error.ravel(),
            "conf_low": low.ravel(),
            "conf_high": high.ravel(),
            "texts": np.repeat(self.n_texts, K),
        }

    def to_frame(self) -> Any:
        """Return one row per set of texts and class.

        Columns: ``group`` and ``time`` where they were given, ``class``, ``proportion``,
        ``std_error``, ``conf_low``, ``conf_high``, ``texts``.
        """
        return make_frame(self._columns(), self._like)

    def summary(self) -> Summary:
        """Return the proportions as a table."""
        columns = {
            name: [_in_words(cell) for cell in cells]
            if name in ("class", "group", "time")
            else list(cells)
            for name, cells in self._columns().items()
        }
        note = f"{100 * self.level:g}% intervals, by resampling tagged and unread texts."
        return Summary("Proportions", (Section("", columns),), (note, *self.notes))

    def plot(self) -> Any:
        """Draw bars with intervals, or lines with bands where there are times.

        Returns
        -------
        altair.Chart
            One panel per group, where there are groups.
        """
        from bottega.plot import proportions_chart, proportions_over_time_chart

        columns = self._columns()
        columns["class"] = [str(name) for name in columns["class"]]
        classes = [str(name) for name in self.classes]
        over_time = "time" in self._kinds
        draw = proportions_over_time_chart if over_time else proportions_chart
        return draw(columns, classes, level=self.level)


def notes_of(method: str, several: bool = False) -> tuple[str, ...]:
    """Return what to know about proportions by a method."""
    if several:
        return (*notes_of(method), "A text may have several labels: the sum need not be one.")
    if method == "count":
        return (
            "Counted labels of single texts: wrong where these proportions are not those of the "
            "tagged texts, and the intervals do not take that in.",
        )
    return ("Right if texts of a class are alike, tagged or unread: see carry_over_test.",)


def _in_words(value: Any) -> str:
    return str(value.item() if isinstance(value, np.generic) else value)


def sets_of(n: int, groups: Any, time: Any) -> Sequence[tuple[dict[str, Any], Any]]:
    """Return what tells sets of rows apart, and the rows of each: by group, then by time."""
    given = {"group": groups, "time": time}
    parts: list[tuple[dict[str, Any], Any]] = [({}, np.arange(n))]
    for name, values in given.items():
        if values is None:
            continue
        found = np.asarray(values)
        what = "groups" if name == "group" else name
        if found.shape != (n,):
            raise InputError(
                f"{what} has shape {found.shape}; it needs one value per text: ({n},)."
            )
        if any_missing(found):
            raise InputError(f"{what} has missing values; fill them in, or leave those texts out.")
        try:
            levels, codes = np.unique(found, return_inverse=True)
        except TypeError as error:
            raise InputError(
                f"{what} mixes values that have no order, such as texts and numbers; give one kind."
            ) from error
        parts = [
            ({**key, name: level}, rows[codes[rows] == code])
            for key, rows in parts
            for code, level in enumerate(levels)
        ]
    return [(key, rows) for key, rows in parts if len(rows)]
