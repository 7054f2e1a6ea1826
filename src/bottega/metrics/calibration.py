"""Whether predictions mean what they say: predicted against observed, in bins of rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special, stats

from bottega.core.errors import ParameterError
from bottega.core.params import Integer
from bottega.core.proportion import exact_limits
from bottega.core.results import check_level
from bottega.core.row_bins import equal_bins, even_bins
from bottega.core.tables import Section, Summary
from bottega.core.typing import BoolArray, FloatArray, IntArray
from bottega.metrics._probability.read import read_probabilities
from bottega.metrics._ranked.measured import Measured
from bottega.optimize.soft_logistic import soft_logistic
from bottega.plot import calibration_chart

__all__ = ["Calibration", "calibration"]

_LEAST = 1e-12  # the least probability whose log odds are taken


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Measured):
    """Predicted against observed means of bins of rows.

    Attributes
    ----------
    predicted : ndarray of shape (b,)
        Mean prediction (or probability of the class) of the rows of each bin, rising. Rows with the
        same prediction are in one bin.
    observed : ndarray of shape (b,)
        Mean response (or share of the class) of the same rows.
    lower, upper : ndarray of shape (b,)
        Limits of the mean of such rows: Clopper and Pearson's for shares (with Kish's effective
        number where rows have weights or groups), Student's t for numbers. The rows are taken as
        independent.
    n : ndarray of int of shape (b,)
        Number of rows.
    outcome : str
        What is predicted.
    share : bool
        Whether it is a probability.
    intercept, slope : float
        Of the logistic regression of the outcome on the log odds of the probability: 0 and 1 if it
        is calibrated, a slope below 1 if it is too extreme. NaN for numbers.
    statistic : float
        Spiegelhalter's: about standard normal if the probabilities are right. NaN for numbers.
    """

    predicted: FloatArray
    observed: FloatArray
    lower: FloatArray
    upper: FloatArray
    n: IntArray
    outcome: str = "probability"
    share: bool = True
    like: Any = None
    intercept: float = float("nan")
    slope: float = float("nan")
    statistic: float = float("nan")

    @property
    def missed(self) -> int:
        """How many of the bins have an interval without the mean prediction.

        One in twenty may be chance.
        """
        return int(np.sum((self.predicted < self.lower) | (self.predicted > self.upper)))

    @property
    def expected_error(self) -> float:
        """Mean distance of predicted and observed means, weighted by rows (ECE)."""
        return float(np.average(np.abs(self.predicted - self.observed), weights=self.n))

    @property
    def largest_error(self) -> float:
        """Largest distance of predicted and observed means of a bin (MCE)."""
        return float(np.max(np.abs(self.predicted - self.observed)))

    @property
    def p_value(self) -> float:
        """Two-sided, of the hypothesis that the probabilities are right (Spiegelhalter's test)."""
        return float(2 * stats.norm.sf(abs(self.statistic)))

    def _columns(self) -> Mapping[str, Any]:
        return {
            "predicted": self.predicted,
            "observed": self.observed,
            "conf_low": self.lower,
            "conf_high": self.upper,
            "n": self.n,
        }

    def summary(self) -> Summary:
        """Return the bins as a table."""
        columns = {name: column.tolist() for name, column in self._columns().items()}
        notes = [
            f"{self.missed} of {len(self.n)} intervals miss the mean prediction of their rows; "
            "about 1 in 20 would by chance"
        ]
        if np.isfinite(self.slope):
            notes.append(
                f"expected error {self.expected_error:.3g}; on the log odds intercept "
                f"{self.intercept:.3g} and slope {self.slope:.3g} (0 and 1 if calibrated); "
                f"Spiegelhalter's test has p-value {self.p_value:.3g}"
            )
        title = f"Calibration of the {self.outcome}"
        return Summary(title, (Section("", columns),), tuple(notes))

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


def calibration(
    y_true: Any,
    probability: Any,
    *,
    pos_label: Any = None,
    classes: Any = None,
    sample_weight: Any = None,
    bins: int = 10,
    strategy: str = "quantile",
    level: float = 0.95,
) -> Calibration:
    """Return the reliability curve of predicted probabilities, with intervals.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Observed labels.
    probability : array-like of shape (n,) or (n, K)
        Probabilities of the classes; of two classes that of the second alone will do.
    pos_label : object, optional
        The class to look at; by default the second of two, and with more classes the predicted
        one: the largest probability against whether it was right (its confidence).
    classes : array-like of shape (K,), optional
        The classes in the order of the columns; those that occur, sorted, by default.
    sample_weight : array-like of shape (n,), optional
        Row weights.
    bins : int
        Number of bins.
    strategy : {"quantile", "uniform"}
        Bins of about equal numbers of rows, or of equal width.
    level : float
        Of the intervals.

    Returns
    -------
    Calibration
        With `expected_error` (ECE), `largest_error`, `slope`, `intercept`, Spiegelhalter's
        `p_value`, `tidy` and `plot`.

    References
    ----------
    .. [1] Spiegelhalter, D. J. (1986). Probabilistic prediction in patient management and clinical
       trials. Statistics in Medicine 5, 421-433.
    .. [2] Cox, D. R. (1958). Two further applications of a model for binary regression. Biometrika
       45, 562-565.

    Examples
    --------
    >>> found = calibration([0, 0, 1, 0, 1, 1], [0.1, 0.1, 0.1, 0.8, 0.8, 0.8], bins=2)
    >>> found.predicted.round(3).tolist(), found.observed.round(3).tolist()
    ([0.1, 0.8], [0.333, 0.667])
    >>> round(found.expected_error, 4)
    0.1833
    """
    if strategy not in ("quantile", "uniform"):
        raise ParameterError(f"strategy={strategy!r} is not allowed; use 'quantile' or 'uniform'.")
    Integer(1).check("calibration", "bins", bins)
    tail = (1 - check_level(level)) / 2
    codes, shares, weight, known = read_probabilities(y_true, probability, classes, sample_weight)
    if pos_label is not None:
        place = np.flatnonzero(known == pos_label)
        if not len(place):
            raise ParameterError(f"pos_label={pos_label!r} is not among the classes.")
        p, hit, what = shares[:, place[0]], codes == place[0], f"probability of {pos_label}"
    elif len(known) == 2:
        p, hit, what = shares[:, 1], codes == 1, f"probability of {known[1]}"
    else:
        top = np.argmax(shares, axis=1)
        p, hit = shares[np.arange(len(shares)), top], codes == top
        what = "probability of the predicted class"
    found = []
    for rows in (equal_bins if strategy == "quantile" else even_bins)(p, bins):
        mine = weight[rows]
        size = float(mine.sum() ** 2 / (mine**2).sum())
        observed = float(np.average(hit[rows], weights=mine))
        limits = exact_limits(np.clip(observed * size, 0.0, size), size, tail)
        found.append((np.average(p[rows], weights=mine), observed, *limits, len(rows)))
    predicted, observed_, lower, upper, n = np.array(found, dtype=np.float64).T
    numbers: dict[str, Any] = calibration_numbers(p, hit, weight)
    return Calibration(
        predicted, observed_, lower, upper, n.astype(np.intp), what,
        **numbers,
    )  # fmt: skip


def calibration_numbers(p: FloatArray, hit: BoolArray, weight: FloatArray) -> dict[str, float]:
    """Return intercept, slope and Spiegelhalter's statistic of probabilities."""
    found = dict.fromkeys(("intercept", "slope", "statistic"), float("nan"))
    spread = float(weight**2 @ ((1 - 2 * p) ** 2 * p * (1 - p)))
    if spread > 0:
        found["statistic"] = float(weight @ ((hit - p) * (1 - 2 * p)) / np.sqrt(spread))
    odds = special.logit(np.clip(p, _LEAST, 1 - _LEAST))
    if hit.any() and not hit.all() and np.ptp(odds) > 0:
        Z = np.column_stack([np.ones(len(p)), odds])
        found["intercept"], found["slope"] = soft_logistic(Z, hit.astype(float), weight).tolist()
    return found
