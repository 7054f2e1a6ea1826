"""Whether predictions mean what they say: predicted against observed, in bins of equal size."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from bottega.core.frames import make_frame
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray, IntArray
from bottega.explain._rows.held_out import DELTA, HeldOut
from bottega.plot import calibration_chart
from bottega.risk.bounds.interval import beta_limits
from bottega.risk.estimate.judged_rows import independent_units
from bottega.risk.estimate.nested_interval import effective_size, mean_and_variance

__all__ = ["Calibration"]

_BINS = 10
_ROWS_OF_BIN = 10  # at least


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Shown):
    """Predicted against observed means on held-out rows.

    Attributes
    ----------
    predicted : ndarray of shape (b,)
        Mean prediction (or probability of the class) of the rows of each bin, rising. Bins have
        about the same number of rows; rows with the same prediction are in one bin.
    observed : ndarray of shape (b,)
        Mean response (or share of the class) of the same rows.
    lower, upper : ndarray of shape (b,)
        95 % interval of the mean of such rows: Clopper and Pearson's for shares (with Kish's
        effective number where rows have weights or groups), Student's t for numbers. The rows are
        taken as independent.
    n : ndarray of int of shape (b,)
        Number of rows.
    outcome : str
        What is predicted.
    share : bool
        Whether it is a probability.
    """

    predicted: FloatArray
    observed: FloatArray
    lower: FloatArray
    upper: FloatArray
    n: IntArray
    outcome: str
    share: bool
    like: Any = None

    @property
    def missed(self) -> int:
        """How many of the bins have an interval without the mean prediction.

        One in twenty may be chance.
        """
        return int(np.sum((self.predicted < self.lower) | (self.predicted > self.upper)))

    def to_frame(self, like: Any = None) -> Any:
        """Return predicted, observed, lower, upper and n, a row per bin."""
        return make_frame(self._columns(), self.like if like is None else like)

    def _columns(self) -> dict[str, Any]:
        names = ("predicted", "observed", "lower", "upper", "n")
        return {name: getattr(self, name) for name in names}

    def summary(self) -> Summary:
        """Return the bins as a table."""
        columns = {name: column.tolist() for name, column in self._columns().items()}
        note = (
            f"{self.missed} of {len(self.n)} intervals miss the mean prediction of their rows; "
            "about 1 in 20 would by chance"
        )
        return Summary(f"Calibration of the {self.outcome}", (Section("", columns),), (note,))

    def plot(self) -> Any:
        """Draw observed against predicted means, with intervals and the diagonal."""
        return calibration_chart(
            self.predicted,
            self.observed,
            np.column_stack([self.lower, self.upper]),
            n=self.n,
            what=self.outcome,
            share=self.share,
        )


def calibration_of(held: HeldOut) -> Calibration | None:
    """Return the calibration of held-out rows; None for classifiers without probabilities."""
    share = held.label is not None
    if share and not held.has_probabilities:
        return None
    at = np.flatnonzero(held.weight > 0)
    predicted = held.outcomes[at]
    y = held.rows.y[at]
    observed = (y == held.label).astype(np.float64) if share else np.asarray(y, dtype=np.float64)
    found = []
    for mine in _bins(predicted):
        rows = at[mine]
        weight = held.weight[rows]
        groups = None if held.rows.groups is None else held.rows.groups[rows]
        low, high = _limits(observed[mine], predicted[mine], weight, groups, share)
        found.append(
            (
                np.average(predicted[mine], weights=weight),
                np.average(observed[mine], weights=weight),
                low,
                high,
            )
        )
    means, shares, lower, upper = np.array(found, dtype=np.float64).T
    return Calibration(
        predicted=means,
        observed=shares,
        lower=lower,
        upper=upper,
        n=np.array([len(mine) for mine in _bins(predicted)]),
        outcome=held.outcome,
        share=share,
        like=held.library,
    )


def _bins(predicted: FloatArray) -> list[IntArray]:
    """Return the rows of each bin: of about equal size, equal predictions together."""
    count = int(np.clip(len(predicted) // _ROWS_OF_BIN, 1, _BINS))
    order = np.argsort(predicted, kind="stable")
    cuts = np.round(np.linspace(0, len(order), count + 1)[1:-1]).astype(np.intp)
    # A cut inside a run of equal predictions moves to the nearer end of the run.
    rising = predicted[order]
    first = np.searchsorted(rising, rising[cuts], side="left")
    last = np.searchsorted(rising, rising[cuts], side="right")
    cuts = np.unique(np.where(cuts - first <= last - cuts, first, last))
    return [part for part in np.split(order, cuts) if len(part)]


def _limits(
    observed: FloatArray, predicted: FloatArray, weight: FloatArray, groups: Any, share: bool
) -> tuple[float, float]:
    """Return limits of the mean response of such rows.

    Those of numbers are limits of the mean residual, about the mean prediction.
    """
    center = 0.0 if share else float(np.average(predicted, weights=weight))
    values = observed if share else observed - predicted
    units, weight = independent_units(values, weight, groups)
    mean, variance = mean_and_variance(units, weight)
    n = effective_size(weight)
    if share:
        count = np.clip(mean * n, 0.0, n)
        low, high = beta_limits(np.asarray(count), np.asarray(n), np.asarray(DELTA), 2)
        return float(low), float(high)
    if len(units) < 2:
        return -np.inf, np.inf
    half = float(stats.t.ppf(1 - DELTA / 2, n - 1) * np.sqrt(variance))
    return center + mean - half, center + mean + half
