"""Calibration and lift of the rows that were held out."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import stats

from bottega.core.row_bins import equal_bins
from bottega.core.typing import FloatArray
from bottega.explain._rows.held_out import DELTA, HeldOut
from bottega.metrics import Calibration, Lift
from bottega.metrics import lift as make_lift
from bottega.metrics.calibration import calibration_numbers
from bottega.risk.bounds.interval import beta_limits
from bottega.risk.estimate.judged_rows import independent_units
from bottega.risk.estimate.nested_interval import effective_size, mean_and_variance

_BINS = 10
_ROWS_OF_BIN = 10  # at least


def lift_of(held: HeldOut) -> Lift | None:
    """Return the gain curve; None for numbers, classifiers without probabilities or one class."""
    if not held.has_probabilities:
        return None
    rows = np.flatnonzero(held.weight > 0)
    y, score, weight = held.rows.y[rows], held.outcomes[rows], held.weight[rows]
    positive = y == held.label
    if positive.all() or not positive.any():
        return None
    found = make_lift(y, score, pos_label=held.label, sample_weight=weight, outcome=held.outcome)
    return replace(found, like=held.library)


def calibration_of(held: HeldOut) -> Calibration | None:
    """Return the calibration of held-out rows; None for classifiers without probabilities."""
    share = held.label is not None
    if share and not held.has_probabilities:
        return None
    at = np.flatnonzero(held.weight > 0)
    predicted = held.outcomes[at]
    y = held.rows.y[at]
    observed = (y == held.label).astype(np.float64) if share else np.asarray(y, dtype=np.float64)
    bins = equal_bins(predicted, int(np.clip(len(predicted) // _ROWS_OF_BIN, 1, _BINS)))
    found = []
    for mine in bins:
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
    numbers = calibration_numbers(predicted, observed > 0, held.weight[at]) if share else {}
    return Calibration(
        predicted=means,
        observed=shares,
        lower=lower,
        upper=upper,
        n=np.array([len(mine) for mine in bins]),
        outcome=held.outcome,
        share=share,
        like=held.library,
        **numbers,
    )


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
