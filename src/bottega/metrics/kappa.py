"""Agreement of two labellings beyond chance: Cohen's kappa."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from bottega.core.errors import InputError, ParameterError
from bottega.core.results import check_level
from bottega.core.tables import Section, Summary
from bottega.core.typing import FloatArray
from bottega.metrics._ranked.measured import Measured
from bottega.metrics.confusion import Confusion, confusion

__all__ = ["Kappa", "kappa"]

_WEIGHTS = (None, "linear", "quadratic")


@dataclass(frozen=True, eq=False, repr=False)
class Kappa(Measured):
    """Cohen's kappa with its standard error; made by `kappa`.

    Attributes
    ----------
    confusion : Confusion
        The table of both labellings.
    weights : {None, "linear", "quadratic"}
        How disagreements count: all alike, or by (the square of) their distance in the order of the
        classes.
    """

    confusion: Confusion
    weights: str | None = None
    like: Any = None

    @property
    def _shares(self) -> FloatArray:
        return self.confusion.table / self.confusion.n

    @property
    def _agreement(self) -> FloatArray:
        """Credit for each pair of classes, from 0 to 1."""
        place = np.arange(len(self.confusion.labels))
        apart = np.abs(place[:, None] - place[None, :]) / max(len(place) - 1, 1)
        if self.weights is None:
            return np.eye(len(place))
        return np.asarray(1 - (apart if self.weights == "linear" else apart**2))

    @property
    def _parts(self) -> tuple[float, float]:
        p, credit = self._shares, self._agreement
        chance = np.outer(p.sum(axis=1), p.sum(axis=0))
        return float((credit * p).sum()), float((credit * chance).sum())

    @property
    def agreement(self) -> float:
        """Observed (weighted) agreement."""
        return self._parts[0]

    @property
    def chance(self) -> float:
        """Agreement expected of independent labellings with these frequencies."""
        return self._parts[1]

    @property
    def value(self) -> float:
        """Kappa: agreement beyond chance as a share of what is possible; NaN where none is."""
        observed, chance = self._parts
        return (observed - chance) / (1 - chance) if chance < 1 else float("nan")

    @property
    def std_error(self) -> float:
        """Asymptotic standard error [1]_.

        References
        ----------
        .. [1] Fleiss, J. L., Cohen, J. and Everitt, B. S. (1969). Large sample standard errors of
           kappa and weighted kappa. Psychological Bulletin 72, 323-327.
        """
        p, credit = self._shares, self._agreement
        rows, columns = p.sum(axis=1), p.sum(axis=0)
        observed, chance = self._parts
        if chance >= 1:
            return float("nan")
        mean = (credit @ columns)[:, None] + (rows @ credit)[None, :]
        term = credit * (1 - chance) - mean * (1 - observed)
        spread = (p * term**2).sum() - (observed * chance - 2 * chance + observed) ** 2
        return float(np.sqrt(max(spread, 0.0) / self.confusion.n) / (1 - chance) ** 2)

    @property
    def largest(self) -> float:
        """Largest kappa that these frequencies of the classes allow; NaN with weights."""
        if self.weights is not None or self.chance >= 1:
            return float("nan")
        p = self._shares
        best = float(np.minimum(p.sum(axis=1), p.sum(axis=0)).sum())
        return (best - self.chance) / (1 - self.chance)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the normal confidence interval, cut at -1 and 1."""
        half = float(stats.norm.ppf((1 + check_level(level)) / 2)) * self.std_error
        return max(self.value - half, -1.0), min(self.value + half, 1.0)

    def _columns(self) -> Mapping[str, Any]:
        low, high = self.interval()
        name = "kappa" if self.weights is None else f"kappa ({self.weights} weights)"
        return {
            "measure": [name],
            "estimate": [self.value],
            "std_error": [self.std_error],
            "conf_low": [low],
            "conf_high": [high],
            "agreement": [self.agreement],
            "chance": [self.chance],
        }

    def summary(self) -> Summary:
        """Return kappa with its interval."""
        columns = {name: list(column) for name, column in self._columns().items()}
        return Summary("Agreement beyond chance", (Section("", columns),))

    def plot(self) -> Any:
        """Draw the table of both labellings."""
        return self.confusion.plot()


def kappa(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    weights: str | None = None,
    sample_weight: Any = None,
) -> Kappa:
    """Return Cohen's kappa, the agreement of two labellings beyond chance.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Two labels of each row.
    labels : array-like of shape (K,), optional
        The classes in their order, which counts with weights; those that occur, sorted, by default.
    weights : {None, "linear", "quadratic"}
        How disagreements count: all alike, or by (the square of) their distance in that order.
    sample_weight : array-like of shape (n,), optional
        Row weights; they count as copies of a row, in the standard error too.

    Returns
    -------
    Kappa
        With `value`, `std_error`, `interval`, `largest`, `tidy` and `plot`.

    Examples
    --------
    >>> found = kappa(["a"] * 5 + ["b"] * 5, ["a"] * 4 + ["b"] * 6)
    >>> round(found.value, 4), round(found.chance, 4)
    (0.8, 0.5)
    """
    if weights not in _WEIGHTS:
        raise ParameterError(
            f"weights={weights!r} is not allowed; use None, 'linear' or 'quadratic'."
        )
    found = confusion(y_true, y_pred, labels, sample_weight=sample_weight)
    if len(found.labels) < 2:
        raise InputError(f"Both labellings have only the class {found.labels[0]}; kappa needs two.")
    return Kappa(found, weights)
