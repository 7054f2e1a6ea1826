"""Agreement of any number of annotators beyond chance: Krippendorff's alpha."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError, ParameterError
from bottega.core.frames import make_frame
from bottega.core.missing import is_missing
from bottega.core.results import check_level
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray

__all__ = ["KrippendorffAlpha", "krippendorff_alpha"]

_MEASUREMENTS = ("nominal", "ordinal", "interval", "ratio")


@dataclass(frozen=True, eq=False, repr=False)
class KrippendorffAlpha(Shown):
    """Krippendorff's alpha; made by `krippendorff_alpha`.

    Attributes
    ----------
    values : ndarray of shape (K,)
        The distinct values, sorted.
    counts : ndarray of shape (units, K)
        How many annotators gave each value to each unit that has two values or more.
    measurement : {"nominal", "ordinal", "interval", "ratio"}
        How far apart two values are.
    """

    values: Any
    counts: FloatArray
    measurement: str
    like: Any = None

    @property
    def n_units(self) -> int:
        """Units that have two values or more; the others say nothing about agreement."""
        return len(self.counts)

    @property
    def coincidences(self) -> FloatArray:
        """How often two values were given to one unit, shape (K, K); the sum is that of values."""
        return _coincidences(self.counts)

    @property
    def observed(self) -> float:
        """Mean distance of two values of one unit."""
        table = self.coincidences
        return float(np.sum(table * self._apart(table)) / table.sum())

    @property
    def expected(self) -> float:
        """Mean distance of two values of any units: what chance would give."""
        return _disagreements(self.coincidences, self._apart)[1]

    @property
    def value(self) -> float:
        """Alpha: 1 for agreement, 0 for chance; NaN where all values are alike."""
        observed, expected = _disagreements(self.coincidences, self._apart)
        return 1 - observed / expected if expected > 0 else float("nan")

    def interval(
        self, level: float = 0.95, *, n_resamples: int = 1000, random_state: Any = 0
    ) -> tuple[float, float]:
        """Return the percentile interval of alphas of resampled units."""
        tail = (1 - check_level(level)) / 2
        rng = np.random.default_rng(random_state)
        found = []
        for _ in range(n_resamples):
            counts = self.counts[rng.integers(0, self.n_units, self.n_units)]
            observed, expected = _disagreements(_coincidences(counts), self._apart)
            if expected > 0:
                found.append(1 - observed / expected)
        if not found:
            return float("nan"), float("nan")
        low, high = np.quantile(found, [tail, 1 - tail])
        return float(low), float(high)

    def _apart(self, table: FloatArray) -> FloatArray:
        """Return the squared distance of each two values."""
        if self.measurement == "nominal":
            return 1.0 - np.eye(len(self.values))
        if self.measurement == "ordinal":  # values between the two, in their order, count
            n = table.sum(axis=0)
            middle = np.cumsum(n) - n / 2
            return np.asarray((middle[:, None] - middle[None, :]) ** 2)
        x = np.asarray(self.values, dtype=np.float64)
        gap = x[:, None] - x[None, :]
        if self.measurement == "interval":
            return np.asarray(gap**2)
        total = x[:, None] + x[None, :]
        return np.asarray((gap / np.where(total > 0, total, 1.0)) ** 2)

    def _columns(self) -> Mapping[str, Any]:
        low, high = self.interval()
        return {
            "measure": [f"alpha ({self.measurement})"],
            "estimate": [self.value],
            "conf_low": [low],
            "conf_high": [high],
            "units": [self.n_units],
        }

    def tidy(self, like: Any = None) -> Any:
        """Return alpha with its 95 % interval as a data frame."""
        return make_frame(self._columns(), self.like if like is None else like)

    def summary(self) -> Summary:
        """Return alpha with its interval."""
        columns = {name: list(column) for name, column in self._columns().items()}
        return Summary("Agreement of annotators beyond chance", (Section("", columns),))


def _coincidences(counts: FloatArray) -> FloatArray:
    share = counts / (counts.sum(axis=1, keepdims=True) - 1)
    return counts.T @ share - np.diag(share.sum(axis=0))


def _disagreements(table: FloatArray, distance: Any) -> tuple[float, float]:
    """Return the mean distance inside units, and that of any two values."""
    apart, n = distance(table), table.sum(axis=0)
    total = n.sum()
    return float(np.sum(table * apart) / total), float(n @ apart @ n / (total * (total - 1)))


def krippendorff_alpha(ratings: Any, *, measurement: str = "nominal") -> KrippendorffAlpha:
    r"""Return Krippendorff's alpha, the agreement of annotators beyond chance.

    Parameters
    ----------
    ratings : array-like or data frame of shape (units, annotators)
        The value that each annotator gave to each unit; None or NaN where there is none.
    measurement : {"nominal", "ordinal", "interval", "ratio"}
        How far apart two values are: all alike; by the values between them in their order; by
        their difference; by their difference as a share of their sum.

    Returns
    -------
    KrippendorffAlpha
        With `value`, `interval`, `coincidences` and `tidy`.

    Raises
    ------
    InputError
        Where no unit has two values, or the values are not of the measurement.

    Notes
    -----
    :math:`\alpha = 1 - D_o / D_e`: the mean distance of two values of one unit, over that of any
    two values. It takes any number of annotators and missing values; with two annotators, none
    missing and many units it is near Scott's pi.

    References
    ----------
    .. [1] Krippendorff, K. (2011). Computing Krippendorff's alpha-reliability. University of
       Pennsylvania, Annenberg School for Communication.

    Examples
    --------
    >>> tags = [["for", "for"], ["for", "against"], ["against", "against"], ["for", None]]
    >>> round(krippendorff_alpha(tags).value, 4)
    0.4444
    """
    if measurement not in _MEASUREMENTS:
        words = ", ".join(map(repr, _MEASUREMENTS))
        raise ParameterError(f"measurement={measurement!r} is not allowed; use {words}.")
    cells = np.array(ratings, dtype=object)
    if cells.ndim != 2:
        raise InputError(
            f"ratings has shape {cells.shape}; give one row per unit and one column per annotator."
        )
    known = np.array([[not is_missing(value) for value in row] for row in cells], dtype=bool)
    known &= (known.sum(axis=1) >= 2)[:, None] if known.size else known
    if not known.any():
        raise InputError("No unit has values of two annotators; agreement needs at least one.")
    given = cells[known].tolist()
    if measurement in ("interval", "ratio"):
        given = [_number(value, measurement) for value in given]
    try:
        values, code = np.unique(np.array(given, dtype=object), return_inverse=True)
    except TypeError as error:
        raise InputError("ratings mixes texts and numbers; give one kind.") from error
    counts = np.zeros((len(cells), len(values)))
    np.add.at(counts, (np.nonzero(known)[0], code), 1.0)
    return KrippendorffAlpha(values, counts[counts.sum(axis=1) > 0], measurement)


def _number(value: Any, measurement: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"ratings holds {value!r}, which is not a number; measurement={measurement!r} needs "
            "numbers."
        ) from error
    if measurement == "ratio" and number < 0:
        raise InputError(f"ratings holds {number:g}, and a ratio has no values below zero.")
    return number
