"""Expectation-maximisation for any model with latent variables: two steps that raise one bound."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import ConvergenceWarning, InputError, ParameterError, warn_caller
from bottega.core.frames import make_frame
from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.optimize.extrapolation import ExtrapolatedSteps, Extrapolation

__all__ = ["Ascent", "ascend", "em"]

_ROUNDING = 1e-9  # of the bound: a fall by so little is not a fall


@stored
@dataclass(frozen=True, eq=False)
class Ascent:
    r"""What expectation-maximisation did, step by step.

    With q the distribution of the latent variables that the E step gives, the log-likelihood is

    .. math:: \log p(X \mid \theta) = \mathcal{L}(q, \theta)
              + \mathrm{KL}\bigl(q \,\Vert\, p(Z \mid X, \theta)\bigr),

    so the bound :math:`\mathcal L` touches it after an exact E step, and after the M step lies
    below it by the Kullback-Leibler distance that the next E step closes.

    Attributes
    ----------
    parameters : object
        What the last M step returned.
    after_e : ndarray of shape (t + 1,)
        The bound after each E step; with an exact E step the log-likelihood of the parameters
        before each iteration, and last that of `parameters`.
    after_m : ndarray of shape (t,)
        The bound after the M step of each iteration; empty where steps were extrapolated, since
        an iteration then does not end at the M step.
    log_likelihood : ndarray of shape (t + 1,)
        Log-likelihood before each iteration, and of `parameters`. It is `after_e` unless it was
        computed apart.
    kl : ndarray of shape (t,)
        Distance of q from the posterior after each M step: the log-likelihood less the bound.
    gap : ndarray of shape (t + 1,)
        The same after each E step: zero where that step is exact.
    entropy : ndarray of shape (t + 1,) or None
        Entropy of q after each E step, where it was given.
    n_iter : int
        Iterations taken.
    converged : bool
        Whether the last iteration raised the bound by no more than the tolerance.
    falls : tuple of int
        Iterations in which a step lowered the bound by more than rounding: a step is then wrong.
    """

    parameters: Any
    after_e: FloatArray
    after_m: FloatArray
    log_likelihood: FloatArray
    entropy: FloatArray | None
    n_iter: int
    converged: bool
    falls: tuple[int, ...]

    @property
    def monotone(self) -> bool:
        """True if no step lowered the bound."""
        return not self.falls

    @property
    def kl(self) -> FloatArray:
        """Distance of q from the posterior after each M step."""
        return self.log_likelihood[1 : len(self.after_m) + 1] - self.after_m

    @property
    def gap(self) -> FloatArray:
        """Distance of q from the posterior after each E step."""
        return self.log_likelihood - self.after_e

    def to_frame(self, like: Any = None) -> Any:
        """Return the trace as a data frame, one row per step.

        Columns: ``iteration``, ``step`` ("E" or "M"), ``bound``, ``log_likelihood``, ``kl`` and,
        where it was given, ``entropy``. Where steps were extrapolated, after E steps alone.
        """
        rows = range(0, 2 * self.n_iter + 1, 1 if len(self.after_m) else 2)
        # After the E step of iteration t the parameters are those before it.
        bound = [self.after_m[i // 2] if i % 2 else self.after_e[i // 2] for i in rows]
        level = [self.log_likelihood[(i + 1) // 2] for i in rows]
        columns: dict[str, Any] = {
            "iteration": np.array([i // 2 + 1 for i in rows]),
            "step": np.array(["M" if i % 2 else "E" for i in rows]),
            "bound": np.array(bound),
            "log_likelihood": np.array(level),
            "kl": np.array(level) - np.array(bound),
        }
        if self.entropy is not None:
            columns["entropy"] = np.array([self.entropy[i // 2] for i in rows])
        return make_frame(columns, like)

    def plot(self) -> Any:
        """Draw the bound, the log-likelihood and, where it was traced, the entropy of each step.

        Returns
        -------
        altair.LayerChart or altair.VConcatChart
            The chart.
        """
        from bottega.plot import ascent_chart

        return ascent_chart(self)


def em(
    start: Any,
    e_step: Callable[[Any], Any],
    m_step: Callable[[Any], Any],
    bound: Callable[[Any, Any], float],
    *,
    max_iter: int = 1000,
    tol: float = 1e-6,
    log_likelihood: Callable[[Any], float] | None = None,
    entropy: Callable[[Any], float] | None = None,
    extrapolation: Extrapolation | None = None,
) -> Ascent:
    r"""Maximise a likelihood over parameters by alternating between latent variables and them.

    An E step sets the distribution q of the latent variables to their posterior, an M step the
    parameters to the maximum of :math:`\mathrm E_q \log p(X, Z \mid \theta)`. Neither lowers

    .. math:: \mathcal{L}(q, \theta) = \mathrm E_q \log p(X, Z \mid \theta) + H[q]
              \le \log p(X \mid \theta).

    It serves where p(X) is hard to maximise and p(X, Z) easy, and finds a local maximum: try
    several starts.

    Parameters
    ----------
    start : object
        Parameters to start from: whatever the steps understand.
    e_step : callable
        ``e_step(parameters)`` returns q, or whatever of it the M step needs (sums are enough).
    m_step : callable
        ``m_step(q)`` returns new parameters.
    bound : callable
        ``bound(q, parameters)`` returns the bound, a number.
    max_iter : int, default=1000
        The most iterations.
    tol : float, default=1e-6
        Stop when an iteration raises the bound after the E step by no more than this, and no
        faster than the one before; larger values stop sooner and further from the maximum.
    log_likelihood : callable, optional
        ``log_likelihood(parameters)``, for an E step that is not exact, or to check one that is.
    entropy : callable, optional
        ``entropy(q)``, to trace it.
    extrapolation : Extrapolation, optional
        Makes fewer iterations, where the parameters can be a vector.

    Returns
    -------
    Ascent
        The parameters, and the bound after each step.

    Raises
    ------
    InputError
        If the bound is not a finite number.

    Warns
    -----
    ConvergenceWarning
        If `max_iter` was too few, or a step lowered the bound (one of the functions is then
        wrong).

    References
    ----------
    .. [1] Dempster, A., Laird, N. and Rubin, D. (1977). Maximum likelihood from incomplete data
       via the EM algorithm. Journal of the Royal Statistical Society B 39, 1-38.
    .. [2] Neal, R. and Hinton, G. (1998). A view of the EM algorithm that justifies incremental,
       sparse, and other variants. In Learning in Graphical Models, 355-368.

    Examples
    --------
    Tosses of a coin that lands on heads with probability `theta`, each reported wrongly with
    probability 0.1: of 100 reports 42 are heads.

    >>> def e_step(theta):  # how likely a report of heads, and one of tails, comes from heads
    ...     return (0.9 * theta / (0.8 * theta + 0.1), 0.1 * theta / (0.9 - 0.8 * theta))
    >>> def m_step(q):
    ...     return (42 * q[0] + 58 * q[1]) / 100
    >>> def bound(q, theta):
    ...     parts = ((42, q[0], 0.9, 0.1), (58, q[1], 0.1, 0.9))
    ...     return sum(n * (a * np.log(u * theta / a) + (1 - a) * np.log(v * (1 - theta) / (1 - a)))
    ...                for n, a, u, v in parts)
    >>> found = em(0.5, e_step, m_step, bound, tol=1e-12)
    >>> round(found.parameters, 6), found.converged, found.monotone
    (0.4, True, True)
    """
    if max_iter < 1 or not tol >= 0:
        raise ParameterError(
            f"em: max_iter={max_iter!r} must be at least 1 and tol={tol!r} not negative."
        )
    found = ascend(
        start,
        e_step,
        m_step,
        bound,
        max_iter=max_iter,
        tol=tol,
        log_likelihood=log_likelihood,
        entropy=entropy,
        extrapolation=extrapolation,
    )
    if found.falls:
        taken = max(found.n_iter, found.falls[-1])
        warn_caller(
            f"The bound fell in {len(found.falls)} of {taken} iterations, first in iteration "
            f"{found.falls[0]}: the M step does not maximise the bound, or the E step does not "
            "raise it; correct the step that is wrong.",
            ConvergenceWarning,
        )
    elif not found.converged:
        rise = found.after_e[-1] - found.after_e[-2]
        warn_caller(
            f"The bound still rose by {rise:.3g} in the last of {max_iter} iterations; raise "
            "max_iter, or tol.",
            ConvergenceWarning,
        )
    return found


def ascend(
    start: Any,
    e_step: Callable[[Any], Any],
    m_step: Callable[[Any], Any],
    bound: Callable[[Any, Any], float],
    *,
    max_iter: int,
    tol: float,
    log_likelihood: Callable[[Any], float] | None = None,
    entropy: Callable[[Any], float] | None = None,
    extrapolation: Extrapolation | None = None,
) -> Ascent:
    """Do as `em` does, without warnings: for a method that says in its own words what happened."""

    def judged(theta: Any) -> tuple[Any, float]:
        q = e_step(theta)
        return q, float(bound(q, theta))

    theta, (q, value) = start, judged(start)
    further = ExtrapolatedSteps(extrapolation) if extrapolation else None
    promising = extrapolation is not None and extrapolation.slope is not None
    after_e: list[float] = []
    after_m: list[float] = []
    level: list[float] = []
    spread: list[float] = []
    converged = stuck = False
    for iteration in range(max_iter + 1):  # the last E step judges the last parameters
        after_e.append(_finite(value, "E", iteration))
        if log_likelihood is not None:
            level.append(_finite(log_likelihood(theta), "E", iteration))
        if entropy is not None:
            spread.append(float(entropy(q)))
        last = iteration == max_iter
        converged = not promising and _settled(after_e, tol, last)
        if converged or (last and not promising):
            break
        plain = m_step(q)
        if further is None:
            after_m.append(_finite(bound(q, plain), "M", iteration))
            theta, (q, value) = plain, judged(plain)
            continue
        further.add(theta, plain)
        converged = promising and further.promise(q, theta) <= tol
        if converged or last:
            break
        found = further.best(plain, value, judged)
        if not found[2] >= value:  # not even the plain step rises: rounding, or a wrong step
            converged = stuck = True
            break
        theta, q, value = found
    trace, between = np.array(after_e), np.array(after_m)
    falls = _falls(trace, between) if further is None else ()
    if stuck and not found[2] >= value - _slack(value):
        falls = (len(trace),)
    return Ascent(
        parameters=theta,
        after_e=trace,
        after_m=between,
        log_likelihood=np.array(level) if level else trace,
        entropy=np.array(spread) if spread else None,
        n_iter=len(trace) - 1,
        converged=converged and not falls,
        falls=falls,
    )


def _settled(trace: list[float], tol: float, last: bool) -> bool:
    """Return True if the bound rises by no more than `tol`, and no faster than before.

    Near a saddle, where components start alike, it rises slowly at first and then faster.
    """
    if len(trace) < 2:
        return False
    rise = trace[-1] - trace[-2]
    if rise > tol:
        return False
    slowing = len(trace) > 2 and rise <= trace[-2] - trace[-3]
    return last or slowing or rise <= _ROUNDING * (1 + abs(trace[-1]))


def _finite(value: Any, step: str, iteration: int) -> float:
    found = float(value)
    if not np.isfinite(found):
        raise InputError(
            f"em: the bound after {step} step {iteration + 1} is {found}; start elsewhere, or keep "
            "the parameters where the likelihood is finite."
        )
    return found


def _slack(value: Any) -> Any:
    return _ROUNDING * (1 + np.abs(value))


def _falls(after_e: FloatArray, after_m: FloatArray) -> tuple[int, ...]:
    """Return the iterations, from one on, in which a step lowered the bound."""
    slack = _slack(after_e[:-1])
    fell = (after_m < after_e[:-1] - slack) | (after_e[1:] < after_m - slack)
    return tuple(int(i) + 1 for i in np.flatnonzero(fell))
