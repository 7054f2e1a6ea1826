"""What decisions by a score cost: along the threshold, and along costs and class frequencies."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.lazy import cached_property
from bottega.core.losses import Cost
from bottega.core.tables import Section, Summary
from bottega.core.typing import FloatArray
from bottega.metrics._ranked.bands import GRID, CurveBand, resampled_band
from bottega.metrics._ranked.curve import RankedCurve
from bottega.metrics._ranked.ranked import Ranked
from bottega.metrics.roc import ROC
from bottega.plot import cost_curve_chart, threshold_cost_chart

__all__ = ["CostCurve", "ThresholdCosts", "cost_curve", "threshold_costs"]


@dataclass(frozen=True, eq=False, repr=False)
class CostCurve(RankedCurve):
    r"""The least expected cost of a score for every ratio of costs; made by `cost_curve`.

    With :math:`c_m` the cost of a miss, :math:`c_f` of a false alarm and p the share of the class,
    the place across is :math:`q = p c_m / (p c_m + (1 - p) c_f)` and the height

    .. math:: \min_t \; q\,(1 - \text{tpr}(t)) + (1 - q)\,\text{fpr}(t),

    the expected cost as a share of the largest possible.

    Attributes
    ----------
    ranked : Ranked
        The rows in the order of their scores.
    like : object
        Frame library that tables are shown in.
    """

    @property
    def at(self) -> FloatArray:
        """Places across, from 0 (only false alarms cost) to 1 (only misses do)."""
        return GRID

    @cached_property
    def cost(self) -> FloatArray:
        """Least expected cost there."""
        return _least_cost(self.ranked.hits, self.ranked.others, self.at)

    @property
    def trivial(self) -> FloatArray:
        """Cost of the better of always and never predicting the class."""
        return np.minimum(self.at, 1 - self.at)

    @cached_property
    def threshold(self) -> FloatArray:
        """Score from which rows are called positive at least cost; infinity: none are."""
        curve = ROC(self.ranked)
        corners = curve.hull()
        value = _line_costs(curve.tpr[corners], curve.fpr[corners], self.at)
        return curve.thresholds[corners[np.argmin(value, axis=1)]]

    @property
    def area(self) -> float:
        """Mean cost over all places: of no known costs, with all ratios alike."""
        return float(np.trapezoid(self.cost, self.at))

    def band(
        self,
        level: float = 0.95,
        *,
        kind: str = "pointwise",
        n_resamples: int = 1000,
        random_state: Any = 0,
    ) -> CurveBand:
        """Return limits of the least cost by resampling, as `ROC.band` does."""
        return resampled_band(
            self.ranked, _least_cost, GRID, level=level, kind=kind, n_resamples=n_resamples,
            random_state=random_state, names=("probability cost", "expected cost"),
        )  # fmt: skip

    def _columns(self) -> Mapping[str, Any]:
        return {
            "probability_cost": self.at,
            "cost": self.cost,
            "trivial": self.trivial,
            "threshold": self.threshold,
        }

    def summary(self) -> Summary:
        """Return the least cost at some places."""
        shown = [10, 25, 50, 75, 90]
        columns = {name: np.asarray(c)[shown].tolist() for name, c in self._columns().items()}
        note = f"mean cost over all places {self.area:.4g}; without a model at most 0.25"
        return Summary(f"Cost curve of the class {self.label}", (Section("", columns),), (note,))

    def plot(self, *, band: str | None = "pointwise", level: float = 0.95) -> Any:
        """Draw the curve under that of deciding without a model, with a band."""
        limits = None if band is None else self.band(level, kind=band)
        return cost_curve_chart(self.at, self.cost, self.trivial, band=limits, label=self.label)


def cost_curve(
    y_true: Any, score: Any, *, pos_label: Any = None, sample_weight: Any = None
) -> CostCurve:
    """Return the least expected cost of decisions by a score, for every ratio of costs.

    Parameters
    ----------
    y_true, score, pos_label, sample_weight
        As in `roc`.

    Returns
    -------
    CostCurve
        With `cost`, `threshold`, `area`, `band`, `tidy` and `plot`.

    References
    ----------
    .. [1] Drummond, C. and Holte, R. C. (2006). Cost curves: an improved method for visualizing
       classifier performance. Machine Learning 65, 95-130.

    Examples
    --------
    >>> found = cost_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> float(found.cost[50]), float(found.trivial[50])
    (0.25, 0.5)
    """
    return CostCurve(Ranked.of(y_true, score, pos_label, sample_weight))


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdCosts(RankedCurve):
    """What each threshold costs per row; made by `threshold_costs`.

    Attributes
    ----------
    ranked : Ranked
        The rows in the order of their scores.
    matrix : ndarray of shape (2, 2)
        What is paid: ``matrix[i][j]`` for predicting class i where class j is observed, the
        positive class second.
    like : object
        Frame library that tables are shown in.
    """

    matrix: FloatArray

    @property
    def thresholds(self) -> FloatArray:
        """Scores from which rows are called positive: infinity (none), then falling."""
        return self.ranked.cuts

    @cached_property
    def cost(self) -> FloatArray:
        """Mean cost per row at each threshold."""
        tp, fp = self.ranked.true_positive, self.ranked.false_positive
        paid = (
            self.matrix[1, 1] * tp
            + self.matrix[1, 0] * fp
            + self.matrix[0, 1] * (tp[-1] - tp)
            + self.matrix[0, 0] * (fp[-1] - fp)
        )
        return np.asarray(paid / (tp[-1] + fp[-1]))

    def best(self) -> dict[str, float]:
        """Return the threshold of least cost, and the cost; of equals the highest."""
        least = self.cost.min()
        place = int(np.argmax(self.cost <= least + 1e-12 * np.abs(self.cost).max()))
        return {"threshold": float(self.thresholds[place]), "cost": float(self.cost[place])}

    @property
    def calibrated_threshold(self) -> float:
        """Threshold that the costs call for if the scores are right probabilities."""
        return Cost(self.matrix).threshold

    def _columns(self) -> Mapping[str, Any]:
        return {
            "threshold": self.thresholds,
            "cost": self.cost,
            "tpr": self.ranked.tpr,
            "fpr": self.ranked.fpr,
        }

    def summary(self) -> Summary:
        """Return the costs of the best threshold, of none and of all rows."""
        best = self.best()
        columns: dict[str, list[Any]] = {
            "decision": ["best threshold", "none positive", "all positive"],
            "threshold": [best["threshold"], np.inf, float(self.thresholds[-1])],
            "cost per row": [best["cost"], float(self.cost[0]), float(self.cost[-1])],
        }
        note = f"right probabilities call for the threshold {self.calibrated_threshold:.4g}"
        return Summary("Costs along the threshold", (Section("", columns),), (note,))

    def plot(self) -> Any:
        """Draw the cost against the threshold, the best one marked."""
        best = self.best()
        at, cost = self.ranked.thresholds, self.cost[1:]
        return threshold_cost_chart(at, cost, best=best["threshold"], none=float(self.cost[0]))


def threshold_costs(
    y_true: Any,
    score: Any,
    cost: Any,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> ThresholdCosts:
    """Return what each threshold on a score costs.

    Parameters
    ----------
    y_true, score, pos_label, sample_weight
        As in `roc`, with two classes.
    cost : Cost or array-like of shape (2, 2)
        What is paid: ``cost[i][j]`` for predicting class i where class j is observed; a matrix is
        for the classes in sorted order.

    Returns
    -------
    ThresholdCosts
        With `cost`, `best`, `tidy` and `plot`.

    See Also
    --------
    bottega.risk.ThresholdClassifier : A classifier that decides by a threshold.
    bottega.risk.CostSensitiveClassifier : One that decides by costs and probabilities.

    Examples
    --------
    >>> found = threshold_costs([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], [[0, 5], [1, 0]])
    >>> found.best()
    {'threshold': 0.35, 'cost': 0.25}
    """
    ranked = Ranked.of(y_true, score, pos_label, sample_weight)
    classes = np.unique(np.asarray(y_true))
    if len(classes) != 2:
        raise InputError(f"Costs along a threshold are of two classes; y_true has {len(classes)}.")
    matrix = np.array(Cost.of(cost).for_classes(classes).matrix, dtype=np.float64)
    if classes[0] == ranked.label:
        matrix = matrix[::-1, ::-1]
    return ThresholdCosts(ranked, matrix)


def _line_costs(tpr: FloatArray, fpr: FloatArray, at: FloatArray) -> FloatArray:
    return at[:, np.newaxis] * (1 - tpr) + (1 - at)[:, np.newaxis] * fpr


def _least_cost(hits: FloatArray, others: FloatArray, at: FloatArray) -> FloatArray:
    """Return the least cost over all thresholds at each place."""
    tp, fp = np.append(0.0, np.cumsum(hits)), np.append(0.0, np.cumsum(others))
    return _line_costs(tp / tp[-1], fp / fp[-1], at).min(axis=1)
