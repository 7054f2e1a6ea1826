"""The difference of the areas under two ROC curves on the same rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from bottega.core.tables import Section, Summary
from bottega.metrics._ranked.measured import Measured
from bottega.plot import intervals_chart

__all__ = ["AUCDifference"]


@dataclass(frozen=True, eq=False, repr=False)
class AUCDifference(Measured):
    """The difference of two areas on the same rows, by DeLong's method.

    Attributes
    ----------
    auc_a, auc_b : float
        The two areas.
    std_error : float
        Standard error of their difference.
    level : float
        Of the interval.
    """

    auc_a: float
    auc_b: float
    std_error: float
    level: float = 0.95

    @property
    def difference(self) -> float:
        """The first less the second."""
        return self.auc_a - self.auc_b

    @property
    def statistic(self) -> float:
        """The difference in standard errors; 0 where both are alike in every row."""
        if self.std_error > 0:
            return self.difference / self.std_error
        return 0.0 if self.difference == 0 else float(np.copysign(np.inf, self.difference))

    @property
    def p_value(self) -> float:
        """Two-sided, of the hypothesis that both areas are equal."""
        return float(2 * stats.norm.sf(abs(self.statistic)))

    @property
    def limits(self) -> tuple[float, float]:
        """Confidence limits of the difference."""
        half = float(stats.norm.ppf((1 + self.level) / 2)) * self.std_error
        return self.difference - half, self.difference + half

    def _columns(self) -> Mapping[str, Any]:
        low, high = self.limits
        return {
            "measure": ["AUC difference"],
            "estimate": [self.difference],
            "std_error": [self.std_error],
            "statistic": [self.statistic],
            "p_value": [self.p_value],
            "conf_low": [low],
            "conf_high": [high],
        }

    def summary(self) -> Summary:
        """Return the difference as a table."""
        columns = {name: list(column) for name, column in self._columns().items()}
        note = f"areas {self.auc_a:.4g} and {self.auc_b:.4g}, on the same rows"
        return Summary("Difference of two areas", (Section("", columns),), (note,))

    def plot(self) -> Any:
        """Draw the difference with its interval."""
        return intervals_chart(
            ["AUC difference"],
            [self.difference],
            [self.limits],
            x_title="difference",
            title="Difference of two areas under ROC curves",
            subtitle=f"p-value {self.p_value:.3g} of the hypothesis that both are equal.",
            reference=0.0,
        )
