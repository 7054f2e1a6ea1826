"""The ROC curve: what share of a class is found for what share of false alarms."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special, stats

from bottega.core.errors import InputError, ParameterError
from bottega.core.lazy import cached_property
from bottega.core.results import check_level
from bottega.core.tables import Section, Summary
from bottega.core.typing import FloatArray, IntArray
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
from bottega.metrics._ranked.delong import mean_and_variance
from bottega.metrics._ranked.ranked import Ranked
from bottega.metrics.auc_difference import AUCDifference
from bottega.plot import roc_curves_chart

__all__ = ["ROC", "roc"]


@dataclass(frozen=True, eq=False, repr=False)
class ROC(RankedCurve):
    """The ROC curve of a score; made by `roc`.

    Attributes
    ----------
    ranked : Ranked
        The rows in the order of their scores.
    like : object
        Frame library that tables are shown in.
    """

    @property
    def tpr(self) -> FloatArray:
        """Share of the class found (sensitivity) down to each threshold; 0 first."""
        return self.ranked.tpr

    @property
    def fpr(self) -> FloatArray:
        """Share of false alarms (1 - specificity) down to each threshold; 0 first."""
        return self.ranked.fpr

    @property
    def thresholds(self) -> FloatArray:
        """Scores that are the least to be called positive: infinity (none), then falling."""
        return self.ranked.cuts

    @cached_property
    def auc(self) -> float:
        """Area under the curve: the probability that a row of the class has the higher score.

        Equal scores count half.
        """
        return self._delong[0]

    @property
    def std_error(self) -> float:
        """Standard error of the area by DeLong's method; NaN with a single row of a class."""
        return float(np.sqrt(self._delong[1]))

    @cached_property
    def _delong(self) -> tuple[float, float]:
        return mean_and_variance(self.ranked)

    @property
    def gini(self) -> float:
        """Twice the area less one: 0 for chance."""
        return 2 * self.auc - 1

    def interval(self, level: float = 0.95, *, scale: str = "plain") -> tuple[float, float]:
        """Return the confidence interval of the area by DeLong's method.

        Parameters
        ----------
        level : float
            Of confidence.
        scale : {"plain", "logit"}
            The normal approximation for the area itself (cut at 0 and 1), or for its log odds,
            which is better near 1.

        Returns
        -------
        lower, upper : float
        """
        if scale not in ("plain", "logit"):
            raise ParameterError(f"scale={scale!r} is not allowed; use 'plain' or 'logit'.")
        half = float(stats.norm.ppf((1 + check_level(level)) / 2)) * self.std_error
        if scale == "plain":
            return max(self.auc - half, 0.0), min(self.auc + half, 1.0)
        if not 0 < self.auc < 1:
            return self.auc, self.auc
        half /= self.auc * (1 - self.auc)
        ends = special.expit(special.logit(self.auc) + np.array([-half, half]))
        return float(ends[0]), float(ends[1])

    def partial_auc(
        self, fpr: tuple[float, float] = (0.0, 0.1), *, standardize: bool = False
    ) -> float:
        """Return the area under a stretch of the curve.

        Parameters
        ----------
        fpr : (float, float)
            The stretch: shares of false alarms from, to.
        standardize : bool
            Rescale it so that 1 is perfect and 0.5 is chance [1]_.

        References
        ----------
        .. [1] McClish, D. K. (1989). Analyzing a portion of the ROC curve. Medical Decision Making
           9, 190-195.
        """
        low, high = fpr
        if not 0 <= low < high <= 1:
            raise ParameterError(f"fpr={fpr!r} is not allowed; give 0 <= from < to <= 1.")
        inside = (self.fpr > low) & (self.fpr < high)
        ends = self._tpr_at(low, last=True), self._tpr_at(high, last=False)
        x = np.concatenate([[low], self.fpr[inside], [high]])
        y = np.concatenate([ends[:1], self.tpr[inside], ends[1:]])
        area = float(np.trapezoid(y, x))
        if not standardize:
            return area
        chance = (high**2 - low**2) / 2
        return 0.5 * (1 + (area - chance) / (high - low - chance))

    def _tpr_at(self, fpr: float, *, last: bool) -> float:
        """Return the curve at a share of false alarms: the top of a vertical step, or its foot."""
        if last:
            place = int(np.searchsorted(self.fpr, fpr, side="right")) - 1
            if place + 1 == len(self.fpr) or self.fpr[place] == fpr:
                return float(self.tpr[place])
        else:
            place = int(np.searchsorted(self.fpr, fpr, side="left"))
            if self.fpr[place] == fpr:
                return float(self.tpr[place])
        return float(np.interp(fpr, self.fpr, self.tpr))

    def best(self, weight: float = 1.0) -> dict[str, float]:
        """Return the threshold of largest ``tpr - weight * fpr`` (Youden's index by default).

        Parameters
        ----------
        weight : float
            What a false alarm counts relative to a missed row, both as shares of their class: with
            costs and prevalence p it is ``(cost of a false alarm / cost of a miss) (1 - p) / p``.

        Returns
        -------
        dict
            ``threshold`` (rows of this score and above are called positive), ``tpr``, ``fpr`` and
            ``index``, the value; of equals the highest threshold.
        """
        if not weight >= 0:
            raise ParameterError(f"weight={weight!r} is not allowed; it must not be negative.")
        value = self.tpr - weight * self.fpr
        place = int(np.argmax(value >= value.max() - 1e-12))
        return {
            "threshold": float(self.thresholds[place]),
            "tpr": float(self.tpr[place]),
            "fpr": float(self.fpr[place]),
            "index": float(value[place]),
        }

    def hull(self) -> IntArray:
        """Return the positions of the points on the upper convex hull.

        Only thresholds there are best for some costs.
        """
        kept: list[int] = []
        x, y = self.fpr, self.tpr
        for i in range(len(x)):
            while len(kept) >= 2:
                a, b = kept[-2], kept[-1]
                if (x[b] - x[a]) * (y[i] - y[a]) >= (y[b] - y[a]) * (x[i] - x[a]):
                    kept.pop()
                else:
                    break
            kept.append(i)
        return np.array(kept)

    def compare(self, other: "ROC", level: float = 0.95) -> AUCDifference:
        """Return the difference to the area of another score of the same rows (DeLong's test)."""
        a, b = self.ranked, other.ranked
        if not np.array_equal(a.positive, b.positive) or not np.array_equal(a.weights, b.weights):
            raise InputError(
                "Areas are compared on the same rows, in the same order, with the same positive "
                "class and weights; these two curves differ in that."
            )
        _, variance = mean_and_variance(a, b)
        return AUCDifference(self.auc, other.auc, float(np.sqrt(variance)), check_level(level))

    def band(
        self,
        level: float = 0.95,
        *,
        kind: str = "pointwise",
        n_resamples: int = 1000,
        random_state: Any = 0,
    ) -> CurveBand:
        """Return limits of the curve.

        Parameters
        ----------
        level : float
            Of confidence.
        kind : {"pointwise", "simultaneous", "distribution_free"}
            Whether the level holds at each share of false alarms, or for the whole curve. The
            first two are approximate, by resampling (Bayesian bootstrap). The last is
            exact for every distribution [1]_, and wide.
        n_resamples : int
            Replicates of the first two.
        random_state : int, RandomState, Generator or None
            Seed of these.

        Returns
        -------
        CurveBand

        References
        ----------
        .. [1] Campbell, G. (1994). Advances in statistical methodology for the evaluation of
           diagnostic and laboratory tests. Statistics in Medicine 13, 499-508.
        """
        check_kind(kind, KINDS)
        names = ("false positive rate", "true positive rate")
        if kind != "distribution_free":
            return resampled_band(
                self.ranked, _height, GRID, level=level, kind=kind,
                n_resamples=n_resamples, random_state=random_state, names=names,
            )  # fmt: skip
        refuse_weights(self.ranked)
        each = float(np.sqrt(check_level(level)))  # the two samples are independent
        found, others = self.ranked.counts
        lower, upper = free_limits(self.fpr, self.tpr, GRID, (others, found), (each, each))
        height = _height(self.ranked.hits, self.ranked.others, GRID)
        return CurveBand(GRID, height, lower, upper, level, kind, names)

    def _columns(self) -> Mapping[str, Any]:
        return {"threshold": self.thresholds, "fpr": self.fpr, "tpr": self.tpr}

    def summary(self) -> Summary:
        """Return the area with its interval, and what is found for some shares of false alarms."""
        low, high = self.interval()
        shares = [0.01, 0.05, 0.1, 0.2, 0.5]
        at = _height(self.ranked.hits, self.ranked.others, np.array(shares))
        found, others = self.ranked.counts
        return Summary(
            f"ROC curve of the class {self.label}",
            (
                Section(
                    "",
                    {"measure": ["AUC"], "estimate": [self.auc], "std_error": [self.std_error],
                     "conf_low": [low], "conf_high": [high]},
                ),
                Section("", {"false positive rate": shares, "true positive rate": at.tolist()}),
            ),
            (
                f"{found:,} rows of the class and {others:,} others; 95 % interval by DeLong's "
                "method",
            ),
        )  # fmt: skip

    def plot(self, *, band: str | None = "pointwise", level: float = 0.95) -> Any:
        """Draw the curve with a band; ``band=None`` for none."""
        limits = None if band is None else self.band(level, kind=band)
        low, high = self.interval(level)
        words = f"AUC {self.auc:.3f} ({100 * level:g} % interval {low:.3f} to {high:.3f})"
        curve = (self.fpr, self.tpr)
        return roc_curves_chart({str(self.label): curve}, {str(self.label): limits}, words)


def roc(y_true: Any, score: Any, *, pos_label: Any = None, sample_weight: Any = None) -> ROC:
    """Return the ROC curve of a score for one class against the others.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Observed labels.
    score : array-like of shape (n,) or (n, K)
        Scores or probabilities, high for the positive class; with one column per class, in sorted
        order, that of the positive class is taken.
    pos_label : object, optional
        The positive class; by default the second of two in sorted order.
    sample_weight : array-like of shape (n,), optional
        Row weights.

    Returns
    -------
    ROC
        With `auc`, `interval` (DeLong), `band`, `compare`, `best`, `tidy` and `plot`.

    See Also
    --------
    per_class : One curve per class of several, and their averages.

    Notes
    -----
    The standard error of the area is DeLong's [1]_, computed from the ranks in O(n log n) [2]_.
    With weights each row's term counts by its squared weight.

    References
    ----------
    .. [1] DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas under
       two or more correlated receiver operating characteristic curves. Biometrics 44, 837-845.
    .. [2] Sun, X. and Xu, W. (2014). Fast implementation of DeLong's algorithm for comparing the
       areas under correlated receiver operating characteristic curves. IEEE Signal Processing
       Letters 21, 1389-1393.

    Examples
    --------
    >>> found = roc(["a", "a", "b", "b"], [0.1, 0.4, 0.35, 0.8])
    >>> found.auc, found.fpr.tolist(), found.tpr.tolist()
    (0.75, [0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0])
    """
    return ROC(Ranked.of(y_true, score, pos_label, sample_weight))


def _height(hits: FloatArray, others: FloatArray, at: FloatArray) -> FloatArray:
    """Return the share of the class found at shares of false alarms, straight between points."""
    x, y = np.append(0.0, np.cumsum(others)), np.append(0.0, np.cumsum(hits))
    return _interp_highest(at, x / x[-1], y / y[-1])


def _interp_highest(at: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return a rising curve at some places; where it has a vertical step, the top of it."""
    found = np.interp(at, x, y)
    last = np.searchsorted(x, at, side="right") - 1
    return np.where(x[last] == at, y[last], found)
