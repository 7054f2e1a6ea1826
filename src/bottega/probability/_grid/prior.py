"""A prior of any form as a log density, after proof that it is one."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bottega.core.errors import InputError, ParameterError
from bottega.core.typing import FloatArray
from bottega.probability._grid.quadrature import halving_edges, rule_on

__all__ = ["Prior", "called"]

_PANELS = 256
_OUTWARD = 300  # doublings towards an infinite end
# A power of the distance below 0.003 cannot be told from a prior that does not integrate.
_SLOWEST = 0.998


class Prior:
    """A prior: its log density (normalised), and where it is not zero.

    Parameters
    ----------
    given : distribution of `scipy.stats`, or callable
        A frozen distribution, or a function from values to heights, in any unit.
    support : (float, float) or None
        Where a function is defined; of a distribution it is known.
    """

    def __init__(self, given: Any, support: Any) -> None:
        self.distribution: Any = given if hasattr(given, "logpdf") else None
        self.log_mass = 0.0
        if self.distribution is not None:
            self.low, self.high = (float(end) for end in given.support())
            if math.isnan(self.low) or math.isnan(self.high):
                raise ParameterError(
                    "grid_posterior: the parameters of the prior are not allowed, so it does not "
                    "integrate to one; give others."
                )
            if support is not None:
                raise ParameterError(
                    "grid_posterior: a distribution knows its support; leave support out, or give "
                    "the prior as a function."
                )
            self.function: Callable[[Any], Any] | None = None
            return
        if not callable(given):
            raise ParameterError(
                f"grid_posterior: the prior must be a frozen distribution of scipy.stats with a "
                f"density, or a function; got {given!r}."
            )
        self.function = given
        self.low, self.high = _ends(support)
        self.log_mass = self._checked_mass()

    def log_density(self, theta: FloatArray) -> FloatArray:
        """Return the log density at values inside the support."""
        if self.function is None:
            with np.errstate(divide="ignore"):
                return np.asarray(self.distribution.logpdf(theta), dtype=np.float64)
        height = called(self.function, theta, "prior")
        if (height < 0).any():
            at = theta[np.argmax(height < 0)]
            raise InputError(
                f"grid_posterior: the prior is negative at {at:.6g} ({height.min():.4g}); a "
                "density is not."
            )
        with np.errstate(divide="ignore"):
            return np.log(height) - self.log_mass

    def first_window(self) -> tuple[float, float]:
        """Return a finite interval with most of the prior."""
        low, high = self.low, self.high
        if math.isfinite(low) and math.isfinite(high):
            return low, high
        if self.distribution is not None:
            # A quantile far out is of no use with heavy tails: the window grows where needed.
            inner = self.distribution.ppf([0.001, 0.999])
            low = low if math.isfinite(low) else float(inner[0])
            return low, high if math.isfinite(high) else float(inner[1])
        if math.isfinite(low):
            return low, low + 10.0
        return (high - 10.0, high) if math.isfinite(high) else (-10.0, 10.0)

    def _checked_mass(self) -> float:
        """Return the log of the integral of a function, or say why it is no prior."""
        low, high = self.first_window()
        at_low, at_high = math.isfinite(self.low), math.isfinite(self.high)
        inside = self._masses(halving_edges(low, high, _PANELS, to_low=at_low, to_high=at_high))
        # The outermost panels end at the border; the series replaces what the rule says of them.
        if at_low:
            inside[0] = self._rest(inside[1], inside[2], self.low)
        if at_high:
            inside[-1] = self._rest(inside[-2], inside[-3], self.high)
        total = float(inside.sum())
        growing = (high - low) * 2.0 ** np.arange(_OUTWARD + 1)
        for is_known, outer in ((at_high, low + growing), (at_low, high - growing)):
            if not is_known:
                shells = np.abs(self._masses(outer))
                total += float(shells.sum()) + self._rest(shells[-1], shells[-2], math.inf)
        if not (total > 0 and math.isfinite(total)):
            raise InputError(
                f"grid_posterior: the prior integrates to {total:g} where it was evaluated, and "
                "must integrate to a positive, finite number; check its function and support."
            )
        return math.log(total)

    def _masses(self, edges: Any) -> FloatArray:
        """Return the integral of the prior between successive edges."""
        x, weights = rule_on(edges)
        assert self.function is not None
        height = np.exp(self.log_density(x))
        return (height * weights).reshape(len(edges) - 1, -1).sum(axis=1)

    def _rest(self, last: float, before: float, end: float) -> float:
        """Return what lies beyond the last of panels that halve (or double) towards an end.

        The masses of a power of the distance are a geometric series there.
        """
        if last == 0:
            return 0.0
        ratio = last / before if before > 0 else math.inf
        if ratio > _SLOWEST:
            raise InputError(
                "grid_posterior: the prior does not integrate: towards "
                f"{'infinity' if math.isinf(end) else format(end, 'g')} its mass does not fall off "
                "(or too slowly to tell). Give one that integrates to one, such as a distribution "
                "of scipy.stats."
            )
        return float(last * ratio / (1 - ratio))


def called(function: Callable[[Any], Any], theta: FloatArray, what: str) -> FloatArray:
    """Return what a function says of many values; refuse NaN, and shapes that do not fit."""
    found = np.asarray(function(theta), dtype=np.float64)
    if found.ndim == 0:  # the same everywhere
        found = np.full(theta.shape, float(found))
    if found.shape != theta.shape:
        raise InputError(
            f"grid_posterior: the {what} of {len(theta)} values must be as many numbers; got shape "
            f"{found.shape}. It is called with an array."
        )
    bad = np.isnan(found) | (found == np.inf)
    if bad.any():
        raise InputError(
            f"grid_posterior: the {what} at {theta[np.argmax(bad)]:.6g} is "
            f"{found[np.argmax(bad)]}; it must be a number."
        )
    return found


def _ends(support: Any) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in support)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"grid_posterior: a prior that is a function needs its support, such as (0, 1) or "
            f"(0, np.inf); got {support!r}."
        ) from error
    if not low < high:
        raise ParameterError(
            f"grid_posterior: support={support!r} must be (low, high), low < high."
        )
    return low, high
