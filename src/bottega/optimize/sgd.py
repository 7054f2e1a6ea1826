"""Stochastic gradient descent: a sum over rows, minimised by steps that look at a few of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import ConvergenceWarning, ParameterError, warn_caller
from bottega.core.frames import make_frame
from bottega.core.seeds import seed_of
from bottega.core.typing import FloatArray, IntArray
from bottega.optimize._descent.line_search import check_between
from bottega.optimize._descent.loop import check_start, check_stopping
from bottega.optimize._descent.rows import RowLoss
from bottega.optimize.minimum import Minimum, Recorder
from bottega.optimize.objective import starting_point

__all__ = ["StochasticMinimum", "sgd"]

_SCHEDULES = ("constant", "invscaling", "exponential")


@dataclass(frozen=True, eq=False, repr=False)
class StochasticMinimum(Minimum):
    """The point that `sgd` found, with one entry of the trace per epoch.

    In the trace ``gradient_evaluations`` counts passes over all rows, so that it compares with
    methods that use every row in each step; values and gradients on all rows that only watch
    the run are not counted.

    Attributes
    ----------
    variances : ndarray of shape (t,)
        For each epoch the variance of the mini-batch gradients (the mean squared distance from
        their mean), which are estimates of the gradient of f. It falls as one over the size of
        the batches, and stays where the gradient itself goes to zero.
    batches : int
        Steps per epoch.
    averaged : bool
        True if x is the mean of the iterates of the second half of the epochs.
    """

    variances: FloatArray
    batches: int
    averaged: bool

    def to_frame(self, like: Any = None) -> Any:
        """Return the trace as a data frame, one row per epoch, with the column ``variance``."""
        return make_frame({**self._columns(), "variance": np.append(np.nan, self.variances)}, like)


def sgd(
    loss_of_rows: Any,
    x0: Any,
    n_rows: int,
    *,
    gradient: Any = None,
    reduction: str = "sum",
    batch_size: int = 32,
    learning_rate: float = 0.01,
    schedule: str | Callable[[int], float] = "constant",
    power_t: float = 0.5,
    decay: float = 0.9,
    average: bool = False,
    replace: bool = False,
    tol: float = 1e-3,
    max_iter: int = 100,
    random_state: Any = None,
    trace: bool = True,
) -> StochasticMinimum:
    r"""Minimise a sum over rows by steps along the gradient of a few rows, drawn anew each time.

    With :math:`f(x) = \sum_{i=1}^n L_i(x)` and a mini-batch S

    .. math:: x \leftarrow x - \tau_t \, \frac{n}{|S|} \sum_{j \in S} \nabla L_j(x) .

    The factor makes the step that of the whole gradient on average. Steps are cheap and noisy:
    far from the minimum an epoch of them gets further than one step with all rows, close to it the
    noise wins unless the rate falls or the iterates are averaged.

    Parameters
    ----------
    loss_of_rows : callable
        ``loss_of_rows(x, rows)`` returns the loss of the rows with these numbers (an array of
        integers from 0 on): their sum or their mean, see `reduction`.
    x0 : array-like of shape (d,)
        Where to start.
    n_rows : int
        How many rows there are.
    gradient : callable, True, "torch" or None
        ``gradient(x, rows)`` of the same; True if `loss_of_rows` returns value and gradient;
        "torch" if it is written for tensors of PyTorch (x and rows are tensors then); None takes
        differences, 2 d losses of the batch each.
    reduction : str, default="sum"
        What `loss_of_rows` returns: with ``"sum"`` f is the sum, and the gradient of a batch is
        multiplied by n / \|S\|; with ``"mean"`` f is the mean, and it is not. The rate for a mean
        is n times that for a sum. A penalty on x belongs to every batch in full with "mean", and
        with the share \|S\| / n with "sum".
    batch_size : int, default=32
        Rows per step; larger batches have less noise and give fewer steps per epoch.
    learning_rate : float, default=0.01
        The rate tau at the start. Too large a one diverges; a small one is slow.
    schedule : str or callable, default="constant"
        ``"constant"``; ``"invscaling"``: tau / t to the power `power_t`, t counting steps from 1;
        ``"exponential"``: tau times `decay` after each epoch; or ``schedule(t)``, a rate.
    power_t : float, default=0.5
        Of "invscaling"; above 1/2 and up to 1 the iterates of a convex f converge.
    decay : float, default=0.9
        Of "exponential", in (0, 1).
    average : bool, default=False
        Return the mean of the iterates of the second half of the epochs, whose noise averages out.
    replace : bool, default=False
        Draw each batch with replacement; otherwise the rows are shuffled in every epoch and cut
        into batches.
    tol : float, default=1e-3
        Stop when the largest entry of the whole gradient is at most this share of its first.
    max_iter : int, default=100
        The most epochs.
    random_state : int, numpy generator or None
        For the batches; an integer gives the same run every time.
    trace : bool, default=True
        Compute f and its gradient on all rows after every epoch. False saves those passes:
        the run then goes through all epochs, and is judged at the end.

    Returns
    -------
    StochasticMinimum
        The point, the verdict, and f, gradient and variance by epoch.

    Raises
    ------
    InputError
        If two halves of the rows do not add up to the whole as `reduction` says.

    Warns
    -----
    ConvergenceWarning
        If it did not converge: the verdict says why, and the message what to do.

    Notes
    -----
    An epoch costs one gradient of all rows. With few rows, or where high precision is wanted, use
    `lbfgs`.

    References
    ----------
    .. [1] Robbins, H. and Monro, S. (1951). A stochastic approximation method. Annals of
       Mathematical Statistics 22, 400-407.
    .. [2] Polyak, B. and Juditsky, A. (1992). Acceleration of stochastic approximation by
       averaging. SIAM Journal on Control and Optimization 30, 838-855.

    Examples
    --------
    >>> y = np.array([1.0, 2.0, 3.0, 6.0])
    >>> def loss(x, rows):
    ...     return np.sum((y[rows] - x[0]) ** 2)
    >>> found = sgd(loss, [0.0], 4, batch_size=2, learning_rate=0.02, schedule="invscaling",
    ...             random_state=0, max_iter=200, tol=1e-2)
    >>> found.verdict, round(float(found.x[0]), 1)
    ('converged', 3.0)
    """
    check_stopping(tol, max_iter)
    rate = _rate(schedule, learning_rate, power_t, decay)
    rows = RowLoss(loss_of_rows, gradient, _whole("n_rows", n_rows), reduction)
    size = min(_whole("batch_size", batch_size), rows.n)
    rng = np.random.default_rng(seed_of(random_state, "sgd"))
    x = starting_point(x0)
    recorder = Recorder(rows, trace)
    with np.errstate(all="ignore"):
        value, slope = rows.value(x), rows.gradient(x)
    check_start(value, slope)
    rows.check(x, value)
    rows.evaluations = rows.gradient_evaluations = 0  # what only watches is not counted
    recorder.add(x, value, slope, float(np.max(np.abs(slope))))
    limit = tol * recorder.residuals[0]
    variances: list[float] = []
    means: list[FloatArray] = []
    taken = epoch = 0
    verdict = "converged" if recorder.residuals[0] == 0 else None
    while verdict is None and epoch < max_iter:
        epoch += 1
        found: list[FloatArray] = []
        mean = np.zeros_like(x)
        for batch in _batches(rows.n, size, rng, replace):
            taken += 1
            with np.errstate(all="ignore"):
                g = rows.batch_gradient(x, batch)
                x = x - rate(taken, epoch) * g
            if not np.all(np.isfinite(x)):
                break
            found.append(g)
            mean += (x - mean) / len(found)
        variances.append(_variance(found))
        means.append(mean)
        if not np.all(np.isfinite(x)):
            verdict = "diverged" if np.any(np.isinf(x)) else "not finite"
        if trace or verdict or epoch == max_iter:
            astray = _watch(recorder, rows, x, rate(taken, epoch), epoch)
            verdict = verdict or astray
        if trace and verdict is None and recorder.residuals[-1] <= limit:
            verdict = "converged"
    if verdict is None and recorder.values[-1] > recorder.values[0]:
        verdict = "diverged"
    averaged = bool(average and means and verdict in (None, "converged"))
    if averaged:  # the last point of the trace stays the last iterate
        x = np.mean(means[len(means) // 2 :], axis=0)
        residual = float(np.max(np.abs(rows.gradient(x))))
    else:
        residual = recorder.residuals[-1]
    verdict = verdict or ("converged" if residual <= limit else "max_iter")
    message = _message(verdict, recorder, residual, limit, epoch, taken)
    if verdict != "converged":
        warn_caller(message, ConvergenceWarning)
    plain = recorder.result("SGD", x, verdict, message).__dict__
    if averaged:
        plain = {**plain, "value": rows.value(x)}
    return StochasticMinimum(
        **{**plain, "n_iter": epoch},
        variances=np.array(variances),
        batches=-(-rows.n // size),
        averaged=averaged,
    )


def _batches(n: int, size: int, rng: np.random.Generator, replace: bool) -> Iterator[IntArray]:
    order = rng.integers(n, size=n) if replace else rng.permutation(n)
    for start in range(0, n, size):
        yield order[start : start + size]


def _rate(
    schedule: Any, learning_rate: float, power_t: float, decay: float
) -> Callable[[int, int], float]:
    """Return the rate as a function of step and epoch, both from 1."""
    if callable(schedule):
        return lambda step, epoch: float(schedule(step))  # noqa: ARG005
    if schedule not in _SCHEDULES:
        raise ParameterError(
            f"schedule={schedule!r} is not known; give one of {', '.join(_SCHEDULES)}, or a "
            "function of the step."
        )
    check_between("learning_rate", learning_rate, 0.0, np.inf)
    check_between("power_t", power_t, 0.0, np.inf)
    check_between("decay", decay, 0.0, 1.0)
    if schedule == "invscaling":
        return lambda step, epoch: learning_rate / step**power_t  # noqa: ARG005
    if schedule == "exponential":
        return lambda step, epoch: learning_rate * decay ** (epoch - 1)  # noqa: ARG005
    return lambda step, epoch: learning_rate  # noqa: ARG005


def _whole(name: str, value: Any) -> int:
    if not (isinstance(value, int | np.integer) and value >= 1):
        raise ParameterError(f"{name}={value!r} is not allowed; give a whole number above 0.")
    return int(value)


def _variance(gradients: list[FloatArray]) -> float:
    if len(gradients) < 2:
        return np.nan
    with np.errstate(all="ignore"):
        return float(np.sum(np.var(np.array(gradients), axis=0, ddof=1)))


def _watch(recorder: Recorder, rows: RowLoss, x: FloatArray, step: float, epoch: int) -> str | None:
    """Write down where an epoch ended; return a verdict if the run has gone astray."""
    with np.errstate(all="ignore"):
        value = rows.value(x) if np.all(np.isfinite(x)) else np.nan
        fine = np.isfinite(value)
        slope = rows.gradient(x) if fine else np.full_like(x, np.nan)
    rows.evaluations, rows.gradient_evaluations = 0, epoch
    recorder.add(x, value, slope, float(np.max(np.abs(slope))), step)
    return recorder.astray(x, value, slope)


def _message(
    verdict: str, recorder: Recorder, residual: float, limit: float, epochs: int, steps: int
) -> str:
    state = f"the largest entry of the gradient is {residual:.3g} (limit {limit:.3g})"
    words = {
        "converged": f"{state} after {epochs} epochs.",
        "max_iter": f"{state} after {epochs} epochs: the noise of the batches keeps it there, or "
        "the steps are too short; let the rate fall (schedule), average the iterates (average), "
        "take larger batches, or raise max_iter.",
        "diverged": f"the steps went to infinity in epoch {epochs}, step {steps}; lower "
        "learning_rate. x is the best point met.",
        "unbounded": f"f is minus infinity after {epochs} epochs: it has no minimum; check its "
        "sign.",
        "not finite": f"f or its gradient is not finite after epoch {epochs}, step {steps}: keep "
        "to where the loss is defined, or lower learning_rate. x is the best point met.",
    }
    if verdict == "diverged" and np.isfinite(recorder.values[-1]):
        words["diverged"] = (
            f"f rose to {recorder.values[-1]:.3g} in {epochs} epochs, from "
            f"{recorder.values[0]:.3g}; lower learning_rate. x is the best point met."
        )
    return f"SGD: {words[verdict]}"
