"""How the errors of one comparison are written: in percent, or as numbers of a fitting size."""

from dataclasses import dataclass
from typing import Any

from bottega.core.losses import SQUARED_ERROR, ZERO_ONE
from bottega.plot.theme import number
from bottega.report.words import percent

__all__ = ["Units", "error_in_words", "is_squared", "units_of", "units_of_loss"]

_SIZES = ((1e15, 1.0, ""), (1e12, 1e12, "trillion"), (1e9, 1e9, "billion"), (1e6, 1e6, "million"))


@dataclass(frozen=True)
class Units:
    """How errors and their differences are written.

    Attributes
    ----------
    share : bool
        Whether they are shares of wrong predictions, written in percent.
    size : float
        What numbers are divided by.
    word : str
        What that size is called: "million"; empty for 1.

    Examples
    --------
    >>> Units(False, 1e6, "million").difference(30_714_272), Units(True).difference(0.0123)
    ('30.7 million', '1.2 percentage points')
    """

    share: bool
    size: float = 1.0
    word: str = ""

    def error(self, value: float) -> str:
        """Write an error."""
        return percent(value) if self.share else self._with_word(number(value / self.size))

    def spread(self, value: float) -> str:
        """Write a standard error."""
        return percent(value) if self.share else self._with_word(number(value / self.size, 3))

    def difference(self, value: float) -> str:
        """Write a difference of two errors."""
        if self.share:
            return f"{self.bare_difference(value)} percentage points"
        return self._with_word(self.bare_difference(value))

    def bare_difference(self, value: float) -> str:
        """Write a difference without its unit, as one of several."""
        if self.share:
            return f"{round(100 * value, 1) + 0.0:.1f}".replace("-", "−")  # + 0.0: no minus zero
        return number(float(value / self.size) + 0.0, 3)

    def _with_word(self, text: str) -> str:
        return f"{text} {self.word}".rstrip()


def units_of(comparison: Any) -> Units:
    """Return the units of what methods are ranked by."""
    measure = comparison.measure
    share = measure.loss == ZERO_ONE and measure.form == "mean" and not measure.shown
    if share or measure.shown:
        return Units(share)
    return _sized(comparison.results[comparison.best_method].error)


def units_of_loss(loss: Any, error: float) -> Units:
    """Return the units of a mean loss of rows of about this size."""
    return Units(True) if loss == ZERO_ONE else _sized(error)


def _sized(error: float) -> Units:
    for least, size, word in _SIZES:
        if abs(error) >= least:
            return Units(False, size, word)
    return Units(False)


def is_squared(measure: Any) -> bool:
    """Return True if errors are means of squares, whose root is in the units of the target."""
    return bool(measure.loss == SQUARED_ERROR and measure.form == "mean")


def error_in_words(error: float, measure: Any, units: Units) -> str:
    """Say an error as its measure says it: a share of rows in percent, a score, or a number."""
    if units.share:
        return f"{percent(error)} wrong"
    if measure.shown:
        return str(measure.in_words(error))
    return f"{'' if measure.form == 'root' else 'mean '}{measure.title} {units.error(error)}"
