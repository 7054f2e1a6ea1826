"""What nested cross-validation found out about one method."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from bottega.core.cards import Card
from bottega.core.path import Path
from bottega.core.smoother import mean_and_se
from bottega.core.typing import Array, FloatArray

__all__ = ["MethodResult", "leaderboard_columns", "paired_difference"]


@dataclass(frozen=True)
class MethodResult:
    """The record of one method in a comparison.

    Attributes
    ----------
    card : Card
        What the method is.
    model : Pipeline
        The procedure fitted to all training rows.
    loss : ndarray of shape (n,)
        Loss of each training row when its outer fold was held out.
    weight : ndarray of shape (n,) or None
        Row weights of the table.
    fold : ndarray of shape (n,)
        Outer fold in which a row was held out (-1: never, as the first rows of a time series).
    predicted : ndarray of shape (n,)
        Prediction of each row when its fold was held out.
    probability : ndarray of shape (n, K) or None
        Class probabilities of the same predictions.
    classes : ndarray of shape (K,) or None
        The classes, in the order of the columns of `probability`.
    path : Path or None
        The complexity path on all training rows.
    knob_value : value or None
        What was picked from it.
    fold_values : tuple
        What each outer fold picked.
    df : float or None
        Degrees of freedom of the final fit.
    seconds : float
        Time of the final fit, tuning included.
    """

    card: Card
    model: Any
    loss: FloatArray
    weight: FloatArray | None
    fold: Array
    predicted: Array
    probability: FloatArray | None
    classes: Array | None
    path: Path | None
    knob_value: Any
    fold_values: tuple[Any, ...]
    df: float | None
    seconds: float

    @property
    def _held_out(self) -> Array:
        return np.asarray(self.fold >= 0)

    @property
    def error(self) -> float:
        """Mean loss of the procedure over the held-out rows."""
        return self._mean_and_se()[0]

    @property
    def error_se(self) -> float:
        """Standard error of `error` over the rows (it takes the rows' losses as independent)."""
        return self._mean_and_se()[1]

    def _mean_and_se(self) -> tuple[float, float]:
        rows = self._held_out
        mean, se = mean_and_se(self.loss[rows], None if self.weight is None else self.weight[rows])
        return float(mean), float(se)

    def fold_errors(self) -> FloatArray:
        """Return the mean loss in each outer fold."""
        found = []
        for k in range(int(self.fold.max()) + 1):
            rows = self.fold == k
            weight = None if self.weight is None else self.weight[rows]
            found.append(np.average(self.loss[rows], weights=weight))
        return np.asarray(found)


def paired_difference(a: MethodResult, b: MethodResult, level: float = 0.95) -> tuple[float, ...]:
    """Return the mean difference in error a - b over the same folds, with its interval.

    The folds share training rows, so their differences are correlated; the variance is corrected
    for it by Nadeau and Bengio's factor 1/K + n_test/n_train.

    References
    ----------
    .. [1] Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine
       Learning 52, 239-281.
    """
    difference = a.fold_errors() - b.fold_errors()
    K = len(difference)
    mean = a.error - b.error
    if a is b:
        return 0.0, 0.0, 0.0
    ratio = 1 / (K - 1)  # n_test / n_train
    spread = np.sqrt((1 / K + ratio) * difference.var(ddof=1))
    half = float(stats.t.ppf(0.5 + level / 2, K - 1) * spread)
    return mean, mean - half, mean + half


def leaderboard_columns(results: Mapping[str, MethodResult], best: str) -> dict[str, list[Any]]:
    """Return the leaderboard's columns, the least error first."""
    baseline = results["baseline"].error if "baseline" in results else np.nan
    columns: dict[str, list[Any]] = {
        name: []
        for name in (
            *("method", "title", "error", "std_error", "versus_baseline"),
            *("difference", "difference_low", "difference_high"),
            *("df", "knob", "value", "seconds"),
        )
    }
    for method, result in sorted(results.items(), key=lambda item: item[1].error):
        difference, low, high = paired_difference(result, results[best])
        row = {
            "method": method,
            "title": result.card.title,
            "error": result.error,
            "std_error": result.error_se,
            "versus_baseline": 1 - result.error / baseline if baseline else np.nan,
            "difference": difference,
            "difference_low": low,
            "difference_high": high,
            "df": np.nan if result.df is None else result.df,
            "knob": result.card.knob,
            "value": np.nan if result.knob_value is None else result.knob_value,
            "seconds": result.seconds,
        }
        for name, value in row.items():
            columns[name].append(value)
    return columns
