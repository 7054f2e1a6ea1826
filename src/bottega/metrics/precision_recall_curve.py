"""Precision and recall of a score along its threshold."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special, stats

from bottega.core.errors import ParameterError
from bottega.core.lazy import cached_property
from bottega.core.results import check_level
from bottega.core.tables import Section, Summary
from bottega.core.typing import FloatArray
from bottega.metrics._ranked.bands import CurveBand, resampled_band
from bottega.metrics._ranked.curve import RankedCurve
from bottega.metrics._ranked.ranked import Ranked
from bottega.plot import precision_recall_curve_chart

__all__ = ["PrecisionRecallCurve", "precision_recall"]

_GRID = np.linspace(0.01, 1.0, 100)  # of recall; at 0 nothing is predicted positive


@dataclass(frozen=True, eq=False, repr=False)
class PrecisionRecallCurve(RankedCurve):
    """Precision and recall along the threshold of a score; made by `precision_recall`.

    Attributes
    ----------
    ranked : Ranked
        The rows in the order of their scores.
    like : object
        Frame library that tables are shown in.
    """

    @property
    def thresholds(self) -> FloatArray:
        """The distinct scores, falling: rows of a score of at least this are called positive."""
        return self.ranked.thresholds

    @cached_property
    def precision(self) -> FloatArray:
        """Share of the rows called positive that are positive, at each threshold."""
        found = self.ranked.true_positive[1:]
        return found / (found + self.ranked.false_positive[1:])

    @cached_property
    def recall(self) -> FloatArray:
        """Share of the positive rows that are called positive, at each threshold."""
        return self.ranked.tpr[1:]

    @cached_property
    def average_precision(self) -> float:
        """Mean of the precisions, each weighted by the recall that its threshold adds."""
        return float(np.diff(self.recall, prepend=0.0) @ self.precision)

    @cached_property
    def area(self) -> float:
        """Area under the curve, with points joined as mixtures of two thresholds reach them [1]_.

        Between two points true and false positives, not precision and recall, grow in proportion.

        References
        ----------
        .. [1] Davis, J. and Goadrich, M. (2006). The relationship between precision-recall and ROC
           curves. Proceedings of the 23rd International Conference on Machine Learning, 233-240.
        """
        tp, fp = self.ranked.true_positive, self.ranked.false_positive
        step, more = np.diff(tp), np.diff(fp)
        grows = step > 0
        a, b, slope = tp[:-1][grows], tp[1:][grows], more[grows] / step[grows]
        rest = fp[:-1][grows] - slope * a  # precision is x / ((1 + slope) x + rest)
        # The first stretch starts at no row at all, where the rest is 0.
        start = np.where(a + fp[:-1][grows] > 0, a + fp[:-1][grows], 1.0)
        log = np.where(rest == 0, 0.0, np.log((b + fp[1:][grows]) / start))
        part = (b - a) / (1 + slope) - rest / (1 + slope) ** 2 * log
        return float(part.sum() / tp[-1])

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the confidence interval of the average precision, normal for its log odds [1]_.

        Parameters
        ----------
        level : float
            Of confidence.

        Returns
        -------
        lower, upper : float

        References
        ----------
        .. [1] Boyd, K., Eng, K. H. and Page, C. D. (2013). Area under the precision-recall curve:
           point estimates and confidence intervals. ECML PKDD 2013, 451-466.
        """
        value = self.average_precision
        if not 0 < value < 1:
            return value, value
        weight = self.ranked.weights[self.ranked.positive]
        n = float(weight.sum() ** 2 / (weight**2).sum())
        half = stats.norm.ppf((1 + check_level(level)) / 2) / np.sqrt(n * value * (1 - value))
        ends = special.expit(special.logit(value) + np.array([-half, half]))
        return float(ends[0]), float(ends[1])

    def fbeta(self, beta: float = 1.0) -> FloatArray:
        """Return F-beta at each threshold: recall counts beta times as much as precision."""
        if not beta > 0:
            raise ParameterError(f"beta={beta!r} is not allowed; it must be positive.")
        found = self.ranked.true_positive[1:]
        total = beta**2 * found[-1] + found + self.ranked.false_positive[1:]
        return np.asarray((1 + beta**2) * found / total)

    def best(self, beta: float = 1.0) -> dict[str, float]:
        """Return the threshold of largest F-beta, with precision and recall; of equals the highest.

        Examples
        --------
        >>> precision_recall([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9]).best()
        {'threshold': 0.4, 'precision': 0.6666666666666666, 'recall': 1.0, 'fbeta': 0.8}
        """
        value = self.fbeta(beta)
        place = int(np.argmax(value >= value.max() - 1e-12))
        return {
            "threshold": float(self.thresholds[place]),
            "precision": float(self.precision[place]),
            "recall": float(self.recall[place]),
            "fbeta": float(value[place]),
        }

    def band(
        self,
        level: float = 0.95,
        *,
        kind: str = "pointwise",
        n_resamples: int = 1000,
        random_state: Any = 0,
    ) -> CurveBand:
        """Return limits of the precision along the recall, by resampling (Bayesian bootstrap).

        Parameters
        ----------
        level : float
            Of confidence.
        kind : {"pointwise", "simultaneous"}
            Whether the level holds at each recall, or for the whole curve.
        n_resamples : int
            Replicates.
        random_state : int, RandomState, Generator or None
            Seed of these.

        Returns
        -------
        CurveBand
        """
        return resampled_band(
            self.ranked, _precision_at, _GRID, level=level, kind=kind,
            n_resamples=n_resamples, random_state=random_state, names=("recall", "precision"),
        )  # fmt: skip

    def _columns(self) -> Mapping[str, Any]:
        return {
            "threshold": self.thresholds,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.fbeta(),
        }

    def summary(self) -> Summary:
        """Return the average precision with its interval, and the precision at some recalls."""
        low, high = self.interval()
        recalls = np.array([0.1, 0.25, 0.5, 0.75, 0.9])
        at = _precision_at(self.ranked.hits, self.ranked.others, recalls)
        measure: dict[str, list[Any]] = {
            "measure": ["average precision"],
            "estimate": [self.average_precision],
            "conf_low": [low],
            "conf_high": [high],
        }
        return Summary(
            f"Precision and recall of the class {self.label}",
            (
                Section("", measure),
                Section("", {"recall": recalls.tolist(), "precision": at.tolist()}),
            ),
            (f"chance has a precision of {self.base:.4g}, the share of the class",),
        )

    def plot(self, *, band: str | None = "pointwise", level: float = 0.95) -> Any:
        """Draw the curve with a band; ``band=None`` for none."""
        limits = None if band is None else self.band(level, kind=band)
        low, high = self.interval(level)
        words = (
            f"Average precision {self.average_precision:.3f} ({100 * level:g} % interval "
            f"{low:.3f} to {high:.3f}); chance {self.base:.3f}."
        )
        name = str(self.label)
        curves = {name: (self.recall, self.precision)}
        return precision_recall_curve_chart(curves, {name: limits}, base=self.base, subtitle=words)


def precision_recall(
    y_true: Any, score: Any, *, pos_label: Any = None, sample_weight: Any = None
) -> PrecisionRecallCurve:
    """Return precision and recall along the threshold of a score.

    Parameters
    ----------
    y_true, score, pos_label, sample_weight
        As in `roc`.

    Returns
    -------
    PrecisionRecallCurve
        With `average_precision`, `interval`, `area`, `fbeta`, `best`, `band`, `tidy` and `plot`.

    See Also
    --------
    precision_recall_path : The curve that the knob of a method traces.

    Examples
    --------
    >>> found = precision_recall([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> round(found.average_precision, 4), found.recall.tolist()
    (0.8333, [0.5, 0.5, 1.0, 1.0])
    """
    return PrecisionRecallCurve(Ranked.of(y_true, score, pos_label, sample_weight))


def _precision_at(hits: FloatArray, others: FloatArray, at: FloatArray) -> FloatArray:
    """Return the precision when so large a share of the class is found, at the least false alarms.

    Between two thresholds true and false positives grow in proportion.
    """
    tp, fp = np.append(0.0, np.cumsum(hits)), np.append(0.0, np.cumsum(others))
    wanted = at * tp[-1]
    place = np.clip(np.searchsorted(tp, wanted * (1 - 1e-12), side="left"), 1, len(tp) - 1)
    step = tp[place] - tp[place - 1]
    share = np.divide(wanted - tp[place - 1], step, out=np.ones_like(wanted), where=step > 0)
    false = fp[place - 1] + np.clip(share, 0.0, 1.0) * (fp[place] - fp[place - 1])
    return wanted / (wanted + false)
