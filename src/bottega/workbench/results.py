"""What a comparison found out about one method."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.cards import Card
from bottega.core.errors import BottegaError
from bottega.core.lazy import cached_property
from bottega.core.losses import ABSOLUTE_ERROR, LOG_LOSS, POISSON, SQUARED_ERROR, ZERO_ONE, Cost
from bottega.core.path import Path
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.data.findings import is_count
from bottega.plot.theme import number
from bottega.risk import CostSensitiveClassifier, NestedCV, ThresholdClassifier
from bottega.risk.estimate.nested_interval import corrected_variance, widest
from bottega.workbench.measures import Measure, get_measure, spread_of
from bottega.workbench.ranking import auc, lift

__all__ = [
    "Gap",
    "Judged",
    "MethodResult",
    "chosen_in_words",
    "comparable",
    "fold_gap",
    "gap_between",
]


@dataclass(frozen=True)
class Judged:
    """An error with its standard error and limits."""

    error: float
    std_error: float
    lower: float
    upper: float


@dataclass(frozen=True)
class Gap:
    """The error of one method minus that of another, with its limits."""

    difference: float
    lower: float
    upper: float


@dataclass(frozen=True)
class MethodResult:
    """The record of one method in a comparison.

    Attributes
    ----------
    card : Card
        What the method is.
    nested : NestedCV
        Its row losses over the outer folds, with the interval of their mean.
    measure : Measure, optional
        What it is ranked by; the mean of the row losses by default.
    learned_from : int or None
        Rows that the model of all training rows learned from, where that is known.
    """

    card: Card
    nested: NestedCV
    measure: Measure | None = None
    learned_from: int | None = None

    @property
    def title(self) -> str:
        """Name in words; the baseline's says what it predicts under the measure."""
        if self.card.method != "baseline" or self.measure is None:
            return self.card.title
        loss = self.measure.loss
        if isinstance(loss, Cost):
            return "Class of least expected cost"
        if self.card.task == "classification" or loss in (SQUARED_ERROR, POISSON):
            return self.card.title
        return "Median of the responses" if loss == ABSOLUTE_ERROR else "Best constant"

    @cached_property
    def judged(self) -> Judged:
        """The error by the measure, with its limits."""
        found, measure = self.nested, self.measure
        if measure is None or measure.form == "mean":
            return Judged(found.error, found.std_error, found.lower, found.upper)
        if measure.form == "folds":
            return self._by_fold
        error, lower, upper = (
            measure.of_loss(each, found.rows) for each in (found.error, found.lower, found.upper)
        )
        slope = 1 / (2 * error) if measure.form == "root" else 1 / spread_of(found.rows)
        return Judged(error, slope * found.std_error if error > 0 else 0.0, lower, upper)

    @cached_property
    def fold_scores(self) -> FloatArray:
        """One minus the score of each outer fold, for a measure that is no mean over rows."""
        assert self.measure is not None
        assert self.measure.score is not None
        found = []
        for k in self.nested.folds:
            rows = np.flatnonzero(self.fold == k)
            y, predicted = self.nested.rows.y[rows], self.predicted[rows]
            shares = None if self.probability is None else self.probability[rows]
            if self.classes is not None:
                y, predicted = (np.searchsorted(self.classes, each) for each in (y, predicted))
            weight = self.nested.rows.weight_of(rows)
            found.append(1 - self.measure.score(y, predicted, shares, weight))
        return np.array(found)

    @property
    def _by_fold(self) -> Judged:
        scores, shares = self.fold_scores, self.nested.shares[0]
        error = float(shares @ scores)
        sizes = self.nested.n_test[0], self.nested.n_train[0]
        if np.ptp(scores) == 0:  # no spread to go by
            return Judged(error, np.nan, np.nan, np.nan)
        variance = corrected_variance(scores, shares, *(each.astype(float) for each in sizes))
        std_error, half = widest(variance, len(scores) - 1, np.nan, self.nested.delta)
        return Judged(error, std_error, max(error - half, 0.0), error + half)

    @property
    def error(self) -> float:
        """What methods are ranked by, over the held-out rows, tuning included."""
        return self.judged.error

    @property
    def std_error(self) -> float:
        """Standard error of `error`; it allows for the training rows that the folds share.

        NaN where there is no spread to take it from, as when no prediction is wrong: `lower` and
        `upper` are exact then.
        """
        return self.judged.std_error

    @property
    def lower(self) -> float:
        """Lower limit of the risk."""
        return self.judged.lower

    @property
    def upper(self) -> float:
        """Upper limit of the risk."""
        return self.judged.upper

    @property
    def losses(self) -> FloatArray:
        """Loss of each training row when its outer fold was held out (NaN: never was)."""
        return self.nested.losses[0]

    @property
    def fold(self) -> IntArray:
        """Outer fold in which a row was held out (-1: never, as the first rows of a series)."""
        return self.nested.fold[0]

    @property
    def folds_done(self) -> int:
        """Number of outer folds that it was judged on."""
        return len(self.nested.folds)

    @property
    def partial(self) -> bool:
        """Whether it was stopped before it was fitted to all training rows."""
        return self._final is None

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
        """The procedure fitted to all training rows, a Pipeline; None where it was stopped."""
        return None if self._final is None else self._final.model

    @property
    def _final(self) -> Any:
        return self.nested.final

    @property
    def _estimator(self) -> Any:
        steps = getattr(self.model, "steps", None)
        last = steps[-1][1] if steps else self.model
        deciding = isinstance(last, CostSensitiveClassifier | ThresholdClassifier)
        return last.estimator_ if deciding else last

    @property
    def path(self) -> Path | None:
        """The complexity path on all training rows."""
        return getattr(self._estimator, "path_", None)

    @property
    def setting(self) -> Mapping[str, Any] | None:
        """What was picked from it."""
        return None if self._final is None else self._final.setting

    @property
    def threshold(self) -> float | None:
        """Probability of the second class above which it is predicted, where it was chosen."""
        steps = getattr(self.model, "steps", None)
        return getattr(steps[-1][1], "threshold", None) if steps else None

    @property
    def tuned(self) -> Mapping[str, Any] | None:
        """What was picked, without the parameters that nothing else was tried for."""
        path = self.path
        if self.setting is None or path is None:
            return self.setting
        return {name: value for name, value in self.setting.items() if name in path.varying}

    @property
    def both_picks(self) -> dict[str, Mapping[str, Any]]:
        """What the rules "min" and "one_se" pick, where they differ and simpler has a meaning."""
        path = self.path
        if path is None or not getattr(self._estimator, "simplifies", True):
            return {}
        try:
            places = {rule: path.best(rule) for rule in ("min", "one_se")}
        except BottegaError:  # the path was not judged by rows held out
            return {}
        if places["min"] == places["one_se"]:
            return {}
        return {
            rule: {name: path.settings[place][name] for name in path.varying}
            for rule, place in places.items()
        }

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
        """Time of one fit, the final one, tuning included; of a fold where there was none."""
        return float(np.mean(self.nested.seconds)) if self._final is None else self._final.seconds

    @cached_property
    def ranking(self) -> dict[str, float]:
        """AUC and lift of the second of two classes; empty without two classes or scores."""
        classes, scores = self.classes, self.probability
        if classes is None or len(classes) != 2 or scores is None:
            return {}
        if self.card.method == "baseline":  # one score in each fold: it orders nothing
            return {"auc": 0.5, "lift": 1.0}
        rows = self.fold >= 0
        weight = self.nested.rows.weight
        weight = None if weight is None else weight[rows]
        given = (self.nested.rows.y[rows] == classes[1], scores[rows, 1], weight)
        return {"auc": auc(*given), "lift": lift(*given)}

    @cached_property
    def beside(self) -> dict[str, float]:
        """Other measures of the same predictions, over all held-out rows."""
        held = np.flatnonzero(self.fold >= 0)
        rows = self.nested.rows
        y, weight, predicted = rows.y[held], rows.weight_of(held), self.predicted[held]
        if self.classes is None:
            squares = float(np.average((y - predicted) ** 2, weights=weight))
            found = {
                "rmse": squares**0.5,
                "mae": float(np.average(np.abs(y - predicted), weights=weight)),
                "r2": 1 - squares / spread_of(rows),
            }
            if y.min() == 0 and is_count(y):
                found["poisson"] = float(np.average(POISSON.of_rows(y, predicted), weights=weight))
            return found
        codes = np.searchsorted(self.classes, y)
        found = {"error_rate": float(np.average(ZERO_ONE.of_rows(y, predicted), weights=weight))}
        if self.probability is not None:
            shares = self.probability[held]
            found["log_loss"] = float(np.average(LOG_LOSS.of_rows(codes, shares), weights=weight))
            brier = get_measure("brier", rows).loss
            found["brier"] = float(np.average(brier.of_rows(codes, shares), weights=weight))
        return found


def gap_between(a: MethodResult, b: MethodResult, names: tuple[str, str], nested: Any) -> Gap:
    """Return the error of `a` minus that of `b` by their measure, over the folds of both."""
    measure = a.measure
    if measure is not None and measure.form == "folds":
        return fold_gap(a, b)
    apart = nested.difference(*names)
    factor = 1.0
    if measure is not None and measure.form == "share":
        factor = 1 / spread_of(a.nested.rows)
    elif measure is not None and measure.form == "root":
        total = np.sqrt(apart.error_a) + np.sqrt(apart.error_b)
        factor = float(1 / total) if total > 0 else 0.0
    return Gap(factor * apart.difference, factor * apart.lower, factor * apart.upper)


def comparable(result: MethodResult, other: MethodResult) -> float:
    """Return the error of a method over the folds that another was judged on.

    Of a method that was judged on fewer of them it is the error of the other, plus the mean
    difference over the folds of both: folds are not equally hard.
    """
    if np.array_equal(result.fold >= 0, other.fold >= 0):
        return result.error
    both = [k for k in result.nested.folds if k in other.nested.folds]
    if not both:
        return result.error
    if result.measure is not None and result.measure.form == "folds":
        return other.error + fold_gap(result, other).difference
    found = []
    for each in (result, other):
        places = [each.nested.folds.index(k) for k in both]
        shares, errors = each.nested.shares[:, places], each.nested.fold_errors[:, places]
        found.append(float(np.mean(np.sum(shares * errors, axis=1) / shares.sum(axis=1))))
    if result.measure is not None:
        found = [result.measure.of_loss(each, result.nested.rows) for each in found]
    return other.error + found[0] - found[1]


def fold_gap(a: MethodResult, b: MethodResult) -> Gap:
    """Return the difference of scores that are no mean over rows, over the folds of both."""
    both = [k for k in a.nested.folds if k in b.nested.folds]
    of_a = [a.nested.folds.index(k) for k in both]
    gaps = a.fold_scores[of_a] - b.fold_scores[[b.nested.folds.index(k) for k in both]]
    shares = a.nested.shares[0, of_a] / a.nested.shares[0, of_a].sum()
    mean = float(shares @ gaps)
    if a is b:
        return Gap(0.0, 0.0, 0.0)
    if np.ptp(gaps) == 0:  # no spread to go by
        return Gap(mean, np.nan, np.nan)
    sizes = (each[0, of_a].astype(float) for each in (a.nested.n_test, a.nested.n_train))
    variance = corrected_variance(gaps, shares, *sizes)
    half = widest(variance, len(both) - 1, np.nan, a.nested.delta)[1]
    return Gap(mean, mean - half, mean + half)


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
