"""Lift and gains: how soon the rows of a class are found when rows are taken by falling score."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.frames import make_frame
from bottega.core.lazy import cached_property
from bottega.core.params import Integer
from bottega.core.results import check_level
from bottega.core.tables import Section, Summary
from bottega.core.typing import FloatArray
from bottega.metrics._ranked.bands import (
    GRID,
    KINDS,
    CurveBand,
    check_kind,
    free_limits,
    refuse_weights,
    resampled_band,
)
from bottega.metrics._ranked.curve import RankedCurve
from bottega.metrics._ranked.ranked import Ranked
from bottega.plot import lift_chart, lift_curve_chart

__all__ = ["Lift", "lift"]

_SHOWN = (0.01, 0.05, 0.1, 0.2, 0.3, 0.5)


@dataclass(frozen=True, eq=False, repr=False)
class Lift(RankedCurve):
    """The gain and lift curves of a class; made by `lift`.

    Attributes
    ----------
    ranked : Ranked
        The rows in the order of their scores.
    outcome : str
        What the rows are ordered by.
    like : object
        Frame library that tables are shown in.
    """

    outcome: str = "score"

    @cached_property
    def rows(self) -> FloatArray:
        """Share of all rows taken, the highest scores first, from 0 to 1; one per threshold."""
        taken = self.ranked.true_positive + self.ranked.false_positive
        return taken / taken[-1]

    @property
    def found(self) -> FloatArray:
        """Share of the rows of the class that are among them: the gain."""
        return self.ranked.tpr

    @property
    def lift(self) -> FloatArray:
        """How many times more frequent the class is among the rows taken than among all."""
        return np.divide(
            self.found, self.rows, out=np.full(len(self.rows), np.nan), where=self.rows > 0
        )

    @property
    def ks(self) -> float:
        """Largest distance between the shares found of the class and of the others."""
        return float(np.max(np.abs(self.found - self.ranked.fpr)))

    @property
    def gini(self) -> float:
        """Area between gain and diagonal as a share of that of perfect scores: 2 AUC - 1."""
        return float((2 * np.trapezoid(self.found, self.rows) - 1) / (1 - self.base))

    def at(self, share: float) -> float:
        """Return the lift when this share of the rows is taken; ties count in proportion."""
        if not 0 < share <= 1:
            raise InputError(f"share={share!r} is not allowed; it must lie in (0, 1].")
        return float(np.interp(share, self.rows, self.found) / share)

    def gain(self, share: float) -> float:
        """Return the share of the class that is found in this share of the rows."""
        return self.at(share) * share

    def parts(self, count: int = 10, like: Any = None) -> Any:
        """Return a table of equal parts of the rows, the highest scores first (deciles).

        Parameters
        ----------
        count : int
            Number of parts; a score that two of them share counts in proportion.
        like : data frame or str, optional
            A frame, or the name of a library, whose kind of frame is returned.

        Returns
        -------
        data frame
            ``part``, ``rows`` and ``found`` (of the class) in each, its ``rate`` and ``lift``, and
            what all parts so far have: ``gain`` and ``cumulative_lift``.
        """
        Integer(1).check("parts", "count", count)
        edges = np.arange(count + 1) / count
        gain = np.interp(edges, self.rows, self.found)
        total = float(self.ranked.hits.sum() + self.ranked.others.sum())
        size, hits = total / count, np.diff(gain) * self.ranked.hits.sum()
        columns = {
            "part": np.arange(1, count + 1),
            "rows": np.full(count, size),
            "found": hits,
            "rate": hits / size,
            "lift": hits / size / self.base,
            "gain": gain[1:],
            "cumulative_lift": gain[1:] / edges[1:],
        }
        return make_frame(columns, self.like if like is None else like)

    def band(
        self,
        level: float = 0.95,
        *,
        kind: str = "pointwise",
        curve: str = "gain",
        n_resamples: int = 1000,
        random_state: Any = 0,
    ) -> CurveBand:
        """Return limits of the gain or the lift along the share of rows taken.

        Parameters
        ----------
        level : float
            Of confidence.
        kind : {"pointwise", "simultaneous", "distribution_free"}
            Whether the level holds at each share of rows, or for the whole curve. The first two
            are approximate, by resampling (Bayesian bootstrap). The last holds for every
            distribution, and is wide.
        curve : {"gain", "lift"}
            What is limited.
        n_resamples : int
            Replicates of the first two.
        random_state : int, RandomState, Generator or None
            Seed of these.

        Returns
        -------
        CurveBand
        """
        check_kind(kind, KINDS)
        if curve not in ("gain", "lift"):
            raise InputError(f"curve={curve!r} is not allowed; use 'gain' or 'lift'.")
        if kind == "distribution_free":
            found = self._free_band(level)
        else:
            found = resampled_band(
                self.ranked, _gain_at, GRID, level=level, kind=kind, n_resamples=n_resamples,
                random_state=random_state, names=("share of rows", "gain"),
            )  # fmt: skip
        return found if curve == "gain" else _per_row(found)

    def _free_band(self, level: float) -> CurveBand:
        refuse_weights(self.ranked)
        each = 1 - (1 - check_level(level)) / 2  # the rows of the class are among all rows
        hits, others = self.ranked.counts
        lower, upper = free_limits(self.rows, self.found, GRID, (hits + others, hits), (each, each))
        height = _gain_at(self.ranked.hits, self.ranked.others, GRID)
        names = ("share of rows", "gain")
        return CurveBand(GRID, height, lower, upper, level, "distribution_free", names)

    def _columns(self) -> Mapping[str, Any]:
        return {
            "rows": self.rows,
            "found": self.found,
            "lift": self.lift,
            "threshold": self.ranked.cuts,
        }

    def summary(self) -> Summary:
        """Return the lift at some shares as a table."""
        columns: dict[str, Any] = {
            "rows taken": [f"{100 * share:g}%" for share in _SHOWN],
            "of the class found": [f"{100 * self.gain(share):.3g}%" for share in _SHOWN],
            "lift": [self.at(share) for share in _SHOWN],
        }
        note = f"{100 * self.base:.3g}% of all rows are of the class {self.label}"
        return Summary(f"Rows taken by falling {self.outcome}", (Section("", columns),), (note,))

    def plot(
        self, *, curve: str = "gain", band: str | None = "pointwise", level: float = 0.95
    ) -> Any:
        """Draw the gain (or lift) curve with a band, beside those of chance and perfect scores.

        Parameters
        ----------
        curve : {"gain", "lift"}
            What to draw.
        band : {"pointwise", "simultaneous", "distribution_free"} or None
            Kind of band.
        level : float
            Of the band.
        """
        if curve == "lift":
            rows, height = self.rows[1:], self.lift[1:]
            limits = None if band is None else self.band(level, kind=band, curve="lift")
            return lift_curve_chart(rows, height, base=self.base, label=self.label, band=limits)
        limits = None if band is None else self.band(level, kind=band)
        return lift_chart(self.rows, self.found, base=self.base, label=self.label, band=limits)


def lift(
    y_true: Any,
    score: Any,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    outcome: str = "score",
) -> Lift:
    """Return gain and lift: how soon the rows of a class are found by falling score.

    Parameters
    ----------
    y_true, score, pos_label, sample_weight
        As in `roc`.
    outcome : str
        What the rows are ordered by, in words.

    Returns
    -------
    Lift
        With `at`, `gain`, `parts` (the table of deciles), `band`, `ks`, `tidy` and `plot`.

    Examples
    --------
    >>> found = lift([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9])
    >>> found.at(0.25), found.gain(0.5)
    (2.0, 0.5)
    """
    return Lift(Ranked.of(y_true, score, pos_label, sample_weight), outcome)


def _gain_at(hits: FloatArray, others: FloatArray, at: FloatArray) -> FloatArray:
    """Return the share of the class that is found in shares of the rows."""
    found = np.append(0.0, np.cumsum(hits))
    taken = np.append(0.0, np.cumsum(hits + others))
    return np.interp(at, taken / taken[-1], found / found[-1])


def _per_row(band: CurveBand) -> CurveBand:
    """Return the band of the lift, from that of the gain; without the place 0."""
    at = band.at[1:]
    height, lower, upper = (part[1:] / at for part in (band.estimate, band.lower, band.upper))
    return CurveBand(at, height, lower, upper, band.level, band.kind, ("share of rows", "lift"))
