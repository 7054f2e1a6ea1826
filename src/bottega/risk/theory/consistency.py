"""Does the risk go down to the Bayes risk as rows are added? What a simulation can say about it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from bottega.core.documents import documented_like
from bottega.core.errors import InputError, ParameterError
from bottega.core.results import check_level
from bottega.plot import excess_chart
from bottega.risk.theory.learning_curve import LearningCurve, learning_curve, simulate
from bottega.risk.theory.simulation import Generator

__all__ = ["Consistency", "consistency"]

_FLAT = -0.25  # slope at which sixteen times as many rows halve the excess
_CLEAR = 3.0  # standard errors above 0 from which the logarithm of an excess is nearly normal

_CAVEAT = (
    "This is one distribution and these sizes: consistency is a limit, and for every distribution."
)


@dataclass(frozen=True)
class Consistency:
    """Excess over the Bayes risk as rows are added, and how fast it falls.

    Attributes
    ----------
    curve : LearningCurve
        The simulation.
    slope, slope_low, slope_high : float
        Slope of the least-squares line through log excess against log m, over the sizes in `used`,
        and its interval; NaN when fewer than two sizes have an excess clearly above 0.
    used : tuple of int
        Sizes the slope is taken over: of the larger half, those with an excess of at least three
        standard errors.
    level : float
        Confidence of the interval and of the verdict.
    verdict : {"reached", "falling", "not falling", "unclear"}
        ``"reached"``: at the largest size the excess cannot be told from 0. ``"falling"``: the
        interval of the slope lies below 0. ``"not falling"``: it holds 0, and no slope as steep as
        -1/4, at which sixteen times as many rows halve the excess. ``"unclear"``: none of these.
    """

    curve: LearningCurve
    slope: float
    slope_low: float
    slope_high: float
    used: tuple[int, ...]
    level: float
    verdict: str

    def to_frame(self, like: Any = None) -> Any:
        """Return the learning curve as a data frame."""
        return self.curve.to_frame(like)

    def plot(self) -> Any:
        """Draw the excess against the number of rows on logarithmic axes."""
        return excess_chart(self)

    def __str__(self) -> str:
        curve = self.curve
        at = (
            f"At m = {curve.train_sizes[-1]:,} the excess over the Bayes risk "
            f"{curve.bayes_risk:.4g} is {curve.excess[-1]:.3g} (standard error "
            f"{curve.excess_se[-1]:.2g})"
        )
        slope = (
            f"log excess against log m has slope {self.slope:.2f} "
            f"[{self.slope_low:.2f}, {self.slope_high:.2f}] "
            f"from m = {min(self.used, default=0):,} on"
        )
        words = {
            "reached": f"{at}: not to be told from 0.",
            "falling": f"{at}; {slope}: it is still falling.",
            "not falling": f"{at}; {slope}: no sign that it goes on falling.",
            "unclear": f"{at}; {slope}: too uncertain to say whether it falls."
            if self.used
            else f"{at}; too few sizes have a clear excess to say how it moves.",
        }
        return f"{words[self.verdict]} {_CAVEAT}"


@documented_like(learning_curve)
def consistency(
    procedure_of: Callable[[int], Any],
    generator: Generator,
    train_sizes: Sequence[int],
    *,
    n_repeats: int = 20,
    n_test: int = 2000,
    level: float = 0.95,
    random_state: Any = 0,
) -> Consistency:
    r"""Watch the excess risk :math:`E[\ell_D(A_m(S_m))] - \ell_D(f^*)` of a procedure as m grows.

    Parameters
    ----------
    procedure_of : callable
        From the number of rows m to the procedure for it: an estimator with its schedule, such as
        nearest neighbours with k the odd number nearest to the root of m. For a fixed procedure
        return the same each time.
    generator : callable
        From ``(n, random_state=...)`` to a `Sample` with a known Bayes risk.
    train_sizes : sequence of int
        At least two numbers of rows; spread them evenly on a logarithmic scale.
    level : float
        Confidence of the interval of the slope.

    Returns
    -------
    Consistency

    Notes
    -----
    The slope is a fixed combination of independent estimates (one per size), so its interval
    follows from their standard errors by the delta method and does not need the excess to be a
    power of m. A procedure that is not consistent can still show a falling excess at sizes that
    can be simulated; one that is can show none for long (no free lunch).

    Examples
    --------
    >>> from bottega.core import BaselineRegressor
    >>> from bottega.data import make
    >>> found = consistency(lambda m: BaselineRegressor(), make.sine, [50, 200, 800])
    >>> found.verdict  # a constant never learns a sine
    'not falling'
    """
    check_level(level)
    if not callable(procedure_of):
        raise InputError(
            "procedure_of must be a callable from the number of rows to a procedure; for a fixed "
            "one use  lambda m: procedure."
        )
    curve = simulate(
        procedure_of,
        generator,
        train_sizes,
        n_repeats=n_repeats,
        n_test=n_test,
        random_state=random_state,
    )
    if len(curve.train_sizes) < 2:
        raise ParameterError(
            f"train_sizes={train_sizes!r} is not allowed; give at least two different ones."
        )
    if not np.isfinite(curve.bayes_risk):
        raise InputError(
            "The Bayes risk of this generator is not known, so there is no excess to look at; use "
            "learning_curve, or give the generator its bayes_risk."
        )
    z = float(stats.norm.ppf((1 + level) / 2))
    half = len(curve.train_sizes) // 2
    clear = (curve.excess > 0) & (curve.excess >= _CLEAR * curve.excess_se)
    used = np.flatnonzero(clear & (np.arange(len(clear)) >= min(half, len(clear) - 2)))
    used = used if len(used) > 1 else used[:0]
    slope, spread = _slope(curve, used)
    if curve.excess[-1] <= z * curve.excess_se[-1]:
        verdict = "reached"
    elif slope + z * spread < 0:
        verdict = "falling"
    else:  # NaN, of too few sizes, is above nothing
        verdict = "not falling" if slope - z * spread > _FLAT else "unclear"
    return Consistency(
        curve,
        slope,
        slope - z * spread,
        slope + z * spread,
        tuple(curve.train_sizes[used].tolist()),
        level,
        verdict,
    )


def _slope(curve: LearningCurve, used: Any) -> tuple[float, float]:
    """Return the slope of log excess against log m over the used sizes, and its standard error."""
    if len(used) < 2:
        return np.nan, np.nan
    x = np.log(curve.train_sizes[used])
    weight = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    excess, relative = curve.excess[used], curve.excess_se[used] / curve.excess[used]
    slope = float(weight @ np.log(excess))
    return slope, float(np.sqrt(np.sum((weight * relative) ** 2)))
