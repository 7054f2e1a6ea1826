r"""Prediction intervals that hold for any model: split conformal, jackknife+ and CV+.

Symbols
-------
n          calibration rows: rows that the model in question was not fitted to
mu_k       model k: the only one (split), or the one fitted without fold k (CV+)
R_i        score of row i, by the model that was not fitted to it: how far it missed
w_i, w     weight of row i, and of the row to come; all of them 1 unless rows have weights or groups
q          least value v with sum of w_i over R_i <= v at least level * (sum of w_i + w)

Without weights q is the ceil(level (n + 1))-th smallest score. If a row to come is exchangeable
with the calibration rows, its score ranks among theirs at random, so it is at most q with
probability at least `level`, whatever the model and whatever the distribution.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import stats

from bottega.core.errors import DataWarning, InputError, warn_caller
from bottega.core.results import check_level
from bottega.core.stored import stored
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import BoolArray, FloatArray, IntArray
from bottega.risk.estimate.judged_rows import class_probabilities

__all__ = ["PredictionIntervals", "PredictionSets"]

_LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
_EPS = float(np.finfo(np.float64).eps)
_HALVINGS = 64  # of a bracket: enough for every float64

_EXCHANGEABLE = (
    "The rows to come are exchangeable with the {rows} that calibrate: no drift in time, no other "
    "population."
)
_MARGINAL = (
    "The probability is that of all rows to come together: some kinds of rows may be covered less "
    "often and others more."
)
_CHOSEN = (
    " It was not itself chosen by its errors on these rows; where it is the best of several, the "
    "coverage may be a little lower."
)
_OF_KIND = {
    "split": "The model was fitted and chosen without the rows that calibrate.",
    "jackknife+": "Each row was judged by the model fitted without it, by a procedure that treats "
    "its rows alike." + _CHOSEN,
    "CV+": "Each row was judged by the model fitted without its fold, by a procedure that treats "
    "its rows alike." + _CHOSEN,
}


@dataclass(frozen=True, eq=False, repr=False)
class Calibrated(Shown):
    """Fitted models and, for each, the scores of rows that it was not fitted to."""

    kind: str
    models: list[Any]
    scores: list[FloatArray]
    weights: list[FloatArray]
    new_weight: float
    n: int
    n_groups: int
    weighted: bool

    _title: ClassVar[str]

    def guarantee(self, level: float = 0.9) -> float:
        r"""Return the probability with which a row to come is covered, at least.

        Parameters
        ----------
        level : float
            Level that is asked for.

        Returns
        -------
        float
            `level` itself for split conformal, :math:`2\,level - 1` for jackknife+; for CV+ with K
            folds of n rows less :math:`\min(2 (1 - 1/K) / (n/K + 1), (1 - K/n) / (K + 1))` more.
            These hold for the worst of models; the usual coverage of all three is close to `level`.
        """
        check_level(level)
        if self.kind == "split":
            return level
        found = 2 * level - 1
        if self.kind == "CV+":
            k, n = len(self.models), self.n_groups or self.n
            found -= min(2 * (1 - 1 / k) / (n / k + 1), (1 - k / n) / (k + 1))
        return max(found, 0.0)

    def in_words(self, level: float = 0.9) -> str:
        """Return one sentence on how the claim was calibrated and what it promises.

        With few rows the coverage of these very intervals may lie far from the level, which is kept
        on average over calibrations: for split conformal it has a beta distribution.
        """
        size = f"{self.n_groups:,} groups" if self.n_groups else f"{self.n:,} rows"
        words = (
            f"{self.kind}, calibrated by {size}: a new row is covered with probability at least "
            f"{100 * self.guarantee(level):.3g}%"
        )
        rank = int(np.ceil(level * (self.n + 1) * (1 - 1e-12)))
        if self.kind == "split" and not self.n_groups and not self.weighted and rank <= self.n:
            low, high = (
                float(stats.beta.ppf(at, rank, self.n + 1 - rank)) for at in (0.025, 0.975)
            )
            words += (
                " on average over such calibrations; that of this one lies between "
                f"{100 * low:.3g}% and {100 * high:.3g}% (19 times out of 20)"
            )
        return words

    @property
    def largest_level(self) -> float:
        """The largest level that this many rows can give: n / (n + 1)."""
        total = sum(float(each.sum()) for each in self.weights)
        return total / (total + self.new_weight)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What must be true for the guarantee to hold, one sentence each."""
        rows = "groups of rows" if self.n_groups else "rows"
        found = [_EXCHANGEABLE.format(rows=rows), _OF_KIND[self.kind], _MARGINAL]
        if self.weighted:
            found.append(
                "The rows to come are drawn in proportion to the weights, and none has a larger "
                "weight than the largest of these."
            )
        return tuple(found)

    def summary(self) -> Summary:
        """Return the guarantee at some levels as a table."""
        levels = [level for level in _LEVELS if level <= self.largest_level] or [0.5]
        columns = {
            "level": [f"{100 * level:g}%" for level in levels],
            "guaranteed": [f"{100 * self.guarantee(level):.3g}%" for level in levels],
        } | self._shown([self._quantile(level) for level in levels])
        size = f"{self.n:,} rows" + (f" in {self.n_groups:,} groups" if self.n_groups else "")
        title = f"{self._title}: {self.kind}, calibrated by {size}"
        return Summary(title, (Section("", columns),), self.assumptions)

    @abstractmethod
    def _shown(self, q: list[float]) -> dict[str, Any]:
        """Return the column of a summary that says what the quantiles of the scores mean."""

    def _needed(self, level: float) -> float:
        """Return the weight that the rows up to the limit must have."""
        check_level(level)
        total = sum(float(each.sum()) for each in self.weights)
        # 0.55 * 100 is a little more than 55 in floating point: rounding must not count as a row.
        needed = level * (total + self.new_weight) * (1 - 1e-12)
        if needed > total:
            warn_caller(
                f"{self.n:,} calibration rows give a level of at most {self.largest_level:.4g}; "
                f"at level {level:g} nothing can be excluded. Ask for a lower level, or give more "
                "rows.",
                DataWarning,
            )
        return needed

    def _quantile(self, level: float) -> float:
        """Return q, the scores of all models taken together."""
        scores, weights = np.concatenate(self.scores), np.concatenate(self.weights)
        order = np.argsort(scores, kind="stable")
        enough = np.cumsum(weights[order]) >= self._needed(level)
        return float(scores[order][np.argmax(enough)]) if enough.any() else np.inf


@stored
@dataclass(frozen=True, eq=False, repr=False)
class PredictionIntervals(Calibrated):
    """Intervals for responses to come around the predictions of any regression.

    Made by `split_conformal`, `cross_conformal` and `jackknife_plus`.

    Attributes
    ----------
    kind : {"split", "CV+", "jackknife+"}
        Which method.
    models : list
        The only model, or those of the folds.
    scores : list of ndarray
        For each model, the absolute errors on its calibration rows, ascending.
    weights : list of ndarray
        What these rows count.
    new_weight : float
        What a row to come counts.
    n, n_groups : int
        Number of calibration rows, and of the groups they are in (0: none).
    weighted : bool
        Whether the rows have weights.
    scale : fitted estimator or None
        Predicts the typical size of an error at a row; scores and intervals are in its units.
    """

    scale: Any = None

    _title: ClassVar[str] = "Prediction intervals"

    def interval(self, X: Any, level: float = 0.9) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper limits for the response of each row of X.

        Parameters
        ----------
        X : array-like or data frame
            Rows as the models take them.
        level : float
            Probability with which a response should lie inside; see `guarantee`.

        Returns
        -------
        lower, upper : ndarray of shape (m,)
            Infinite where there are too few calibration rows for the level.
        """
        q = self._quantile(level)
        centers = np.stack([numbers(model.predict(X)) for model in self.models])
        if not np.isfinite(q):
            return np.full(centers.shape[1], -np.inf), np.full(centers.shape[1], np.inf)
        if len(self.models) == 1:
            half = q if self.scale is None else q * sizes(self.scale, X)
            return centers[0] - half, centers[0] + half
        needed = self._needed(level)
        order = np.argsort(centers[0], kind="stable")  # neighbours are looked up twice as fast
        centers = centers[:, order]
        upper = self._limit(centers, q, needed)
        lower = 0.0 - self._limit(-centers, q, needed)
        # Models that disagree by more than their errors may leave no value at all: all between.
        place = np.argsort(order, kind="stable")
        return np.minimum(lower, upper)[place], np.maximum(lower, upper)[place]

    def _limit(self, centers: FloatArray, q: float, needed: float) -> FloatArray:
        """Return the least v for which the rows with mu_k(x) + R_i <= v have the weight needed.

        It lies between q + min mu_k(x) and q + max mu_k(x); the bracket is halved until one value
        is left in it (or it is as narrow as rounding), and that is the answer.
        """
        rounding = 8 * _EPS * (np.abs(centers).max(axis=0) + q)
        low, high = centers.min(axis=0) + q - rounding, centers.max(axis=0) + q + rounding
        sums = [np.append(0.0, np.cumsum(each)) for each in self.weights]
        below = self._places(centers, low).sum(axis=0)
        up_to = self._places(centers, high).sum(axis=0)
        for _ in range(_HALVINGS):
            at = np.flatnonzero((up_to - below > 1) & (high - low > rounding))
            if not len(at):
                break
            middle = low[at] + (high[at] - low[at]) / 2
            place = self._places(centers[:, at], middle)
            enough = sum(s[i] for s, i in zip(sums, place, strict=True)) >= needed
            low[at], high[at] = np.where(enough, (low[at], middle), (middle, high[at]))
            count = place.sum(axis=0)
            below[at], up_to[at] = np.where(enough, (below[at], count), (count, up_to[at]))
        found = [
            center + np.append(scores, np.inf)[place]
            for center, scores, place in zip(
                centers, self.scores, self._places(centers, low), strict=True
            )
        ]
        return np.min(found, axis=0)

    def _places(self, centers: FloatArray, limit: FloatArray) -> IntArray:
        """Return how many rows of each model have mu_k(x) + R_i <= limit, at each x."""
        pairs = zip(self.scores, centers, strict=True)
        return np.stack([np.searchsorted(r, limit - center, side="right") for r, center in pairs])

    def _shown(self, q: list[float]) -> dict[str, Any]:
        return {"half width" if self.scale is None else "half width / scale": q}


@stored
@dataclass(frozen=True, eq=False, repr=False)
class PredictionSets(Calibrated):
    """Sets of classes that hold the class of a row to come, by any classifier's probabilities.

    A class is in the set unless its probability is lower than that of the observed class was at
    nearly all calibration rows: the sets are as small as the level allows on average. Made by
    `split_conformal`, `cross_conformal` and `jackknife_plus`; the attributes are those of
    `PredictionIntervals`, with `classes`.

    Attributes
    ----------
    classes : ndarray
        The labels, sorted.
    """

    classes: Any = None

    _title: ClassVar[str] = "Prediction sets"

    def contains(self, X: Any, level: float = 0.9) -> BoolArray:
        """Return which classes are in the set of each row: (rows, classes)."""
        needed = self._needed(level)
        below: Any = 0.0
        for model, scores, weights in zip(self.models, self.scores, self.weights, strict=True):
            own = 1 - class_probabilities(model, X, self.classes, "prediction set")
            sums = np.append(0.0, np.cumsum(weights))
            below = below + sums[np.searchsorted(scores, own - 8 * _EPS, side="left")]
        return np.asarray(below < needed)

    def sets(self, X: Any, level: float = 0.9) -> list[list[Any]]:
        """Return the labels in the set of each row.

        Parameters
        ----------
        X : array-like or data frame
            Rows as the models take them.
        level : float
            Probability with which the class of a row should be in its set; see `guarantee`.

        Returns
        -------
        list of list
            All labels where there are too few calibration rows for the level. An empty list says
            that the row is like none of the classes.
        """
        return [self.classes[inside].tolist() for inside in self.contains(X, level)]

    def _shown(self, q: list[float]) -> dict[str, Any]:
        return {"least probability of a class in the set": [max(1 - each, 0.0) for each in q]}


def numbers(values: Any) -> FloatArray:
    """Return responses or predictions as one number per row."""
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 1:
        raise InputError(
            f"Intervals are for one response at a time; got shape {found.shape}: take each alone."
        )
    return found


def sizes(scale: Any, X: Any) -> FloatArray:
    """Return the typical size of an error at each row, as `scale` predicts it."""
    found = numbers(scale.predict(X))
    bad = found[~(np.isfinite(found) & (found > 0))]
    if len(bad):
        raise InputError(
            f"scale predicts an error of size {bad[0]:g}; it must be positive at every row."
        )
    return found
