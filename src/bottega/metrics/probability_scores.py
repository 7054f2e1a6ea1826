"""Scores of predicted probabilities: log loss and Brier score, and what they are made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import stats

from bottega.core.errors import InputError, ParameterError
from bottega.core.lazy import cached_property
from bottega.core.losses import BRIER_SCORE, LOG_LOSS, Loss
from bottega.core.params import Integer
from bottega.core.results import check_level
from bottega.core.row_bins import equal_bins
from bottega.core.tables import Section, Summary
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.metrics._probability.read import read_probabilities
from bottega.metrics._ranked.measured import Measured
from bottega.optimize.score_maps import Isotonic
from bottega.plot import intervals_chart, parts_chart

__all__ = ["ProbabilityScore", "ScoreParts", "brier", "log_loss"]


@dataclass(frozen=True, eq=False, repr=False)
class ScoreParts(Measured):
    r"""What a score of probabilities is made of: the less the better.

    .. math:: \text{score} = \text{miscalibration} - \text{discrimination} + \text{uncertainty}
        \; (+ \text{ within bins})

    Attributes
    ----------
    title : str
        The score.
    score : float
        The whole.
    miscalibration : float
        What the best correction would save: 0 if probabilities mean what they say.
    discrimination : float
        What corrected probabilities gain over the shares of the classes alone.
    uncertainty : float
        The score of the shares of the classes.
    within : float
        What differences inside the bins add; 0 without bins.
    """

    title: str
    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float
    within: float = 0.0
    like: Any = None

    def _columns(self) -> Mapping[str, Any]:
        names = ("miscalibration", "discrimination", "uncertainty", "within", "score")
        return {"part": list(names), "value": [float(getattr(self, name)) for name in names]}

    def summary(self) -> Summary:
        """Return the parts as a table."""
        columns = {name: list(column) for name, column in self._columns().items()}
        note = "score = miscalibration - discrimination + uncertainty + within"
        return Summary(f"Parts of the {self.title}", (Section("", columns),), (note,))

    def plot(self) -> Any:
        """Draw the steps from the uncertainty to the score."""
        steps = {
            "shares of the classes": self.uncertainty,
            "discrimination": -self.discrimination,
            "miscalibration": self.miscalibration,
        }
        if self.within:
            steps["within bins"] = self.within
        return parts_chart(steps, total=self.title)


@dataclass(frozen=True, eq=False, repr=False)
class ProbabilityScore(Measured):
    """The mean loss of predicted probabilities; made by `brier` and `log_loss`.

    Attributes
    ----------
    loss : Loss
        Of each row.
    codes : ndarray of int of shape (n,)
        Observed classes, as positions in `classes`.
    probability : ndarray of shape (n, K)
        Predicted.
    weight : ndarray of shape (n,)
        Of the rows.
    classes : ndarray of shape (K,)
        The classes.
    """

    loss: Loss
    codes: IntArray
    probability: FloatArray
    weight: FloatArray
    classes: Array
    like: Any = field(default=None)

    @property
    def title(self) -> str:
        """Name of the score."""
        return self.loss.title

    @cached_property
    def losses(self) -> FloatArray:
        """Loss of each row."""
        return self.loss.of_rows(self.codes, self.probability)

    @property
    def value(self) -> float:
        """The score: the mean over rows."""
        return float(np.average(self.losses, weights=self.weight))

    @property
    def std_error(self) -> float:
        """Standard error of the score, rows taken as independent; NaN for one row."""
        share = self.weight / self.weight.sum()
        square = float(share @ share)
        spread = float(share**2 @ (self.losses - self.value) ** 2)
        return float(np.sqrt(spread / (1 - square))) if square < 1 else float("nan")

    @property
    def shares(self) -> FloatArray:
        """Share of each class among the rows."""
        found = np.bincount(self.codes, self.weight, len(self.classes))
        return found / found.sum()

    @property
    def reference(self) -> float:
        """The score of always predicting these shares."""
        same = np.broadcast_to(self.shares, self.probability.shape)
        return float(np.average(self.loss.of_rows(self.codes, same), weights=self.weight))

    @property
    def skill(self) -> float:
        """Share of the reference score that is saved: 1 is perfect, 0 no better than the shares."""
        return 1 - self.value / self.reference if self.reference > 0 else float("nan")

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the normal confidence interval of the score."""
        half = float(stats.norm.ppf((1 + check_level(level)) / 2)) * self.std_error
        return max(self.value - half, 0.0), self.value + half

    def decomposition(self, kind: str = "isotonic", *, bins: int = 10) -> ScoreParts:
        """Return how much of the score is miscalibration, discrimination and uncertainty.

        Parameters
        ----------
        kind : {"isotonic", "bins"}
            What the predictions of a class are corrected to: the nearest rising function of the
            outcomes, without bins and exactly [1]_; or the observed shares of bins [2]_, whose
            inner differences are then a part of their own [3]_ (of the Brier score only).
        bins : int
            Bins of about equal numbers of rows.

        Returns
        -------
        ScoreParts

        Notes
        -----
        Classes are taken one by one against the rest, and their parts added up. The log loss of
        more than two classes is no such sum, and is refused.

        References
        ----------
        .. [1] Dimitriadis, T., Gneiting, T. and Jordan, A. I. (2021). Stable reliability diagrams
           for probabilistic classifiers. Proceedings of the National Academy of Sciences 118.
        .. [2] Murphy, A. H. (1973). A new vector partition of the probability score. Journal of
           Applied Meteorology 12, 595-600.
        .. [3] Stephenson, D. B., Coelho, C. A. S. and Jolliffe, I. T. (2008). Two extra components
           in the Brier score decomposition. Weather and Forecasting 23, 752-757.
        """
        if kind not in ("isotonic", "bins"):
            raise ParameterError(f"kind={kind!r} is not allowed; use 'isotonic' or 'bins'.")
        two = len(self.classes) == 2
        if self.loss is LOG_LOSS and (kind == "bins" or not two):
            what = "bins" if kind == "bins" else f"{len(self.classes)} classes"
            raise InputError(
                f"The log loss has no parts by {what}; use the Brier score, or two classes and "
                "kind='isotonic'."
            )
        if two:
            each = [self._of_class(1, kind, bins)]
            parts = np.array(each[0])
        else:
            each = [self._of_class(k, kind, bins) for k in range(len(self.classes))]
            parts = np.sum(each, axis=0) / 2  # the Brier score is half the sum over classes
        off, gained, plain, within = parts.tolist()
        return ScoreParts(self.title, self.value, off, gained, plain, within, self.like)

    def _of_class(self, k: int, kind: str, bins: int) -> tuple[float, float, float, float]:
        """Return the parts of the score of one class against the rest."""
        p, o = self.probability[:, k], (self.codes == k).astype(np.float64)
        base = np.full(len(p), np.average(o, weights=self.weight))
        if kind == "isotonic":
            corrected = Isotonic().fit(p, o > 0, self.weight)(p)
            score, best, plain = (self._binary(o, q) for q in (p, corrected, base))
            return score - best, plain - best, plain, 0.0
        Integer(1).check("decomposition", "bins", bins)
        mean_p, mean_o = np.empty(len(p)), np.empty(len(p))
        for rows in equal_bins(p, bins):
            for mean, values in ((mean_p, p), (mean_o, o)):
                mean[rows] = np.average(values[rows], weights=self.weight[rows])
        off, gained, plain, inside = (
            (mean_p - mean_o) ** 2,
            (mean_o - base) ** 2,
            (o - base) ** 2,
            (p - mean_p) ** 2 - 2 * (o - mean_o) * (p - mean_p),
        )
        found = [float(np.average(part, weights=self.weight)) for part in (off, gained, plain)]
        return found[0], found[1], found[2], float(np.average(inside, weights=self.weight))

    def _binary(self, o: FloatArray, p: FloatArray) -> float:
        losses = self.loss.of_rows(o.astype(np.intp), np.column_stack([1 - p, p]))
        return float(np.average(losses, weights=self.weight))

    def _columns(self) -> Mapping[str, Any]:
        low, high = self.interval()
        return {
            "measure": [self.title],
            "estimate": [self.value],
            "std_error": [self.std_error],
            "conf_low": [low],
            "conf_high": [high],
            "reference": [self.reference],
            "skill": [self.skill],
        }

    def of_classes(self) -> tuple[FloatArray, FloatArray]:
        """Return the mean loss of the rows of each observed class, and its standard error."""
        mean, error = np.full((2, len(self.classes)), np.nan)
        for k in np.unique(self.codes):
            rows = self.codes == k
            part = ProbabilityScore(
                self.loss, self.codes[rows], self.probability[rows], self.weight[rows], self.classes
            )
            mean[k], error[k] = part.value, part.std_error
        return mean, error

    def summary(self) -> Summary:
        """Return the score, and the mean loss of the rows of each class."""
        mean, error = self.of_classes()
        return Summary(
            self.title.capitalize() if self.title.islower() else self.title,
            (
                Section("", {name: list(column) for name, column in self._columns().items()}),
                Section(
                    "Rows of each class",
                    {
                        "class": [str(label) for label in self.classes.tolist()],
                        "share": self.shares.tolist(),
                        "mean loss": mean.tolist(),
                        "std_error": error.tolist(),
                    },
                ),
            ),
            ("reference: the score of always predicting the shares of the classes",),
        )

    def plot(self) -> Any:
        """Draw the mean loss of the rows of each class and of all, beside the reference."""
        mean, error = self.of_classes()
        seen = np.isfinite(mean)
        names = [f"rows of {label}" for label in self.classes[seen].tolist()]
        z = float(stats.norm.ppf(0.975))
        half = z * np.append(error[seen], self.std_error)
        values = np.append(mean[seen], self.value)
        return intervals_chart(
            [*names, "all rows"],
            values,
            np.column_stack([np.maximum(values - half, 0.0), values + half]),
            x_title=f"mean {self.title}",
            title=f"{self.title[0].upper()}{self.title[1:]} of the rows of each class",
            subtitle=f"Dashed: always predicting the class shares; skill {self.skill:.3g}.",
            reference=self.reference,
        )


def brier(
    y_true: Any, probability: Any, *, classes: Any = None, sample_weight: Any = None
) -> ProbabilityScore:
    """Return the Brier score, the mean squared error of probabilities.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Observed labels.
    probability : array-like of shape (n,) or (n, K)
        Probabilities of the classes; of two classes that of the second alone will do.
    classes : array-like of shape (K,), optional
        The classes in the order of the columns; those that occur, sorted, by default.
    sample_weight : array-like of shape (n,), optional
        Row weights.

    Returns
    -------
    ProbabilityScore
        With `value`, `std_error`, `interval`, `skill`, `decomposition`, `tidy` and `plot`.

    Notes
    -----
    It is half the sum of the squared differences to 1 for the observed class and 0 for the others,
    between 0 and 1. For two classes it is scikit-learn's `brier_score_loss`; for more classes that
    is twice as large by default.

    Examples
    --------
    >>> found = brier([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3])
    >>> round(found.value, 4), round(found.skill, 4)
    (0.0375, 0.85)
    >>> parts = found.decomposition()
    >>> round(parts.miscalibration - parts.discrimination + parts.uncertainty, 4)
    0.0375
    """
    return ProbabilityScore(
        BRIER_SCORE, *read_probabilities(y_true, probability, classes, sample_weight)
    )


def log_loss(
    y_true: Any, probability: Any, *, classes: Any = None, sample_weight: Any = None
) -> ProbabilityScore:
    """Return the log loss, the mean of minus the log probability of what was observed.

    Parameters
    ----------
    y_true, probability, classes, sample_weight
        As in `brier`.

    Returns
    -------
    ProbabilityScore
        With `value`, `std_error`, `interval`, `skill`, `decomposition` (of two classes), `tidy`
        and `plot`.

    Notes
    -----
    A probability below 1e-15 counts as 1e-15, so that the mean is finite.

    Examples
    --------
    >>> round(log_loss(["a", "b", "b"], [[0.8, 0.2], [0.4, 0.6], [0.1, 0.9]]).value, 4)
    0.2798
    """
    return ProbabilityScore(
        LOG_LOSS, *read_probabilities(y_true, probability, classes, sample_weight)
    )
