"""What a comparison found out about one method, and the leaderboard of all of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bottega.core.cards import Card
from bottega.core.path import Path
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.plot.theme import number
from bottega.risk import CostSensitiveClassifier, NestedComparison, NestedCV
from bottega.workbench.ranking import auc, lift

__all__ = ["MethodResult", "chosen_in_words", "leaderboard_columns"]

_ERRORS = (
    "error",
    "std_error",
    "lower",
    "upper",
    "difference",
    "difference_low",
    "difference_high",
)
_ROUNDING = 1e-12  # errors below this share of the largest come from rounding


@dataclass(frozen=True)
class MethodResult:
    """The record of one method in a comparison.

    Attributes
    ----------
    card : Card
        What the method is.
    nested : NestedCV
        Its errors over the outer folds, with their interval.
    """

    card: Card
    nested: NestedCV

    @property
    def error(self) -> float:
        """Mean loss of the procedure over the held-out rows, tuning included."""
        return self.nested.error

    @property
    def std_error(self) -> float:
        """Standard error of `error`; it allows for the training rows that the folds share."""
        return self.nested.std_error

    @property
    def lower(self) -> float:
        """Lower limit of the risk."""
        return self.nested.lower

    @property
    def upper(self) -> float:
        """Upper limit of the risk."""
        return self.nested.upper

    @property
    def losses(self) -> FloatArray:
        """Loss of each training row when its outer fold was held out (NaN: never was)."""
        return self.nested.losses[0]

    @property
    def fold(self) -> IntArray:
        """Outer fold in which a row was held out (-1: never, as the first rows of a series)."""
        return self.nested.fold[0]

    @property
    def predicted(self) -> Array:
        """Prediction of each row when its fold was held out."""
        return self.nested.predictions[0]

    @property
    def probability(self) -> FloatArray | None:
        """Class probabilities of the same predictions, in the order of `classes`."""
        found = self.nested.probabilities
        return None if found is None else found[0]

    @property
    def classes(self) -> Array | None:
        """The classes; None for regression."""
        return self.nested.rows.classes

    @property
    def model(self) -> Any:
        """The procedure fitted to all training rows, a Pipeline."""
        return self._final.model

    @property
    def _final(self) -> Any:
        return self.nested.final

    @property
    def _estimator(self) -> Any:
        last = self.model.steps[-1][1]
        return last.estimator_ if isinstance(last, CostSensitiveClassifier) else last

    @property
    def path(self) -> Path | None:
        """The complexity path on all training rows."""
        return getattr(self._estimator, "path_", None)

    @property
    def setting(self) -> Mapping[str, Any] | None:
        """What was picked from it."""
        return self._final.setting

    @property
    def tuned(self) -> Mapping[str, Any] | None:
        """What was picked, without the parameters that nothing else was tried for."""
        path = self.path
        if self.setting is None or path is None:
            return self.setting
        return {name: value for name, value in self.setting.items() if name in path.varying}

    @property
    def fold_settings(self) -> list[Mapping[str, Any] | None]:
        """What each outer fold picked."""
        return self.nested.settings

    @property
    def df(self) -> float | None:
        """Degrees of freedom of the final fit, where the method has them."""
        return getattr(self._estimator, "df_", None)

    @property
    def seconds(self) -> float:
        """Time of the final fit, tuning included."""
        return self._final.seconds

    @cached_property
    def ranking(self) -> dict[str, float]:
        """AUC and lift of the second of two classes; empty without two classes or scores."""
        classes, scores = self.classes, self.probability
        if classes is None or len(classes) != 2 or scores is None:
            return {}
        rows = self.fold >= 0
        weight = self.nested.rows.weight
        weight = None if weight is None else weight[rows]
        given = (self.nested.rows.y[rows] == classes[1], scores[rows, 1], weight)
        return {"auc": auc(*given), "lift": lift(*given)}


def chosen_in_words(setting: Mapping[str, Any] | None) -> str:
    """Write a setting.

    Examples
    --------
    >>> chosen_in_words({"alpha": 208.3456, "l1_ratio": 0.5}), chosen_in_words(None)
    ('alpha = 208.3, l1_ratio = 0.5', '-')
    """
    if not setting:
        return "-"
    return ", ".join(f"{name} = {number(value)}" for name, value in setting.items())


def leaderboard_columns(
    results: Mapping[str, MethodResult], nested: NestedComparison
) -> dict[str, list[Any]]:
    """Return the leaderboard's columns, the least error first; what is rounding alone is zero."""
    baseline = results["baseline"].error if "baseline" in results else np.nan
    nothing = _ROUNDING * max(abs(result.error) for result in results.values())
    ranked = any(result.ranking for result in results.values())
    best = min(results, key=lambda method: results[method].error)
    rows = []
    for method, result in sorted(results.items(), key=lambda item: item[1].error):
        apart = nested.difference(method, best)
        ranking = {name: result.ranking.get(name, np.nan) for name in ("auc", "lift")}
        rows.append(
            {
                "method": method,
                "title": result.card.title,
                "error": result.error,
                "std_error": result.std_error,
                "lower": result.lower,
                "upper": result.upper,
                "versus_baseline": 1 - result.error / baseline if baseline else np.nan,
                "difference": apart.difference,
                "difference_low": apart.lower,
                "difference_high": apart.upper,
                **(ranking if ranked else {}),
                "df": np.nan if result.df is None else result.df,
                "chosen": chosen_in_words(result.tuned),
                "seconds": result.seconds,
            }
        )
    columns: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in rows[0]}
    for name in _ERRORS:
        columns[name] = [0.0 if abs(value) < nothing else value for value in columns[name]]
    return columns
