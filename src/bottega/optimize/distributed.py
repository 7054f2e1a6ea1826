"""Gradient descent shared among processes: by rows, by parameters, or without waiting."""

from typing import Any

import numpy as np

from bottega.core.errors import ConvergenceWarning, InputError, ParameterError, warn_caller
from bottega.core.seeds import seed_of
from bottega.core.typing import FloatArray
from bottega.optimize._distributed.crew import WorkerError
from bottega.optimize._distributed.losses import MeanLoss, task_of
from bottega.optimize._distributed.schemes import SCHEMES, DescentRun, SharingSettings, run_scheme
from bottega.optimize.distributed_minimum import DistributedMinimum
from bottega.optimize.minimum import Trace

__all__ = ["WorkerError", "distributed_descent"]


def distributed_descent(
    X: Any,
    y: Any,
    *,
    loss: Any = "logistic",
    alpha: float = 0.0,
    scheme: str = "gradients",
    n_workers: int = 2,
    x0: Any = None,
    learning_rate: float | None = None,
    max_iter: int = 100,
    tol: float | None = None,
    local_steps: int = 10,
    batch_size: int = 64,
    random_state: Any = None,
) -> DistributedMinimum:
    r"""Minimise a mean loss over rows with several processes on this machine.

    .. math:: f(\theta) = \frac1n \sum_{i=1}^n L(\theta; x_i, y_i)
              + \frac{\alpha}{2} \lVert \theta \rVert^2

    The processes see X and y in shared memory, which is filled once; per step only parameters and
    gradients pass between them.

    ==================  ========================================================================
    scheme              what the workers do
    ==================  ========================================================================
    ``"gradients"``     each sums the gradient over its rows; the sum of the sums is the gradient,
                        so the run is that of one process. Every step waits for the slowest.
    ``"parameters"``    each takes `local_steps` steps on its rows alone; the ends are averaged.
                        Fewer messages, and (but for one local step) a slightly other limit.
    ``"model"``         each holds the weights of some classes of the multinomial loss, and all
                        rows. For models that are larger than their data.
    ``"asynchronous"``  each sends gradients of mini-batches of its rows, which are applied as
                        they come: nobody waits, and gradients are of parameters a few updates old.
    ==================  ========================================================================

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows. Add a column of ones for an intercept.
    y : array-like of shape (n,)
        Two classes for the logistic loss, two or more for the multinomial, numbers otherwise.
    loss : {"logistic", "squared", "multinomial"} or callable, default="logistic"
        A function of your own takes ``(theta, X, y)`` and returns the sum of the loss over the rows
        and its gradient. It is sent to the processes: define it with ``def`` in a module.
    alpha : float, default=0.0
        Ridge penalty, on all parameters; larger values shrink them more.
    scheme : {"gradients", "parameters", "model", "asynchronous"}, default="gradients"
        How the work is shared.
    n_workers : int, default=2
        Processes. More than there are cores gain nothing.
    x0 : array-like, optional
        The start; zeros by default. A function of your own with other than d parameters needs it.
    learning_rate : float, optional
        Step size; by default 1 / L with the largest curvature L of the loss, for all rows. The
        asynchronous steps fall with the root of the passes.
    max_iter : int, default=100
        Steps; passes over the rows, in the asynchronous scheme.
    tol : float, optional
        Stop when the largest entry of the gradient is at most this: 1e-6 by default. The
        asynchronous scheme runs to `max_iter`, and warns only if `tol` is given and missed.
    local_steps : int, default=10
        Steps between two averages of parameters.
    batch_size : int, default=64
        Rows of a mini-batch of the asynchronous scheme.
    random_state : int, Generator or None, default=None
        Of the mini-batches. The order in which they come in is not determined by it.

    Returns
    -------
    DistributedMinimum
        The parameters (of the multinomial loss one row of d weights per class, one after the
        other), the trace, seconds per step and worker, and the speed-up beside Amdahl's bound.

    Raises
    ------
    WorkerError
        If a process fails or is killed, with its message. The others are ended then.

    Warns
    -----
    ConvergenceWarning
        If `max_iter` was too few, or the steps diverged.

    Notes
    -----
    Starting a process takes about a second, and a step some 0.1 ms for messages: worth it where a
    pass over the rows takes much longer than that. For data that fit one core's time, the solvers
    of the estimators are faster. In a script, call it below ``if __name__ == "__main__":``.

    References
    ----------
    .. [1] Zinkevich, M., Weimer, M., Li, L. and Smola, A. (2010). Parallelized stochastic gradient
       descent. Advances in Neural Information Processing Systems 23.
    .. [2] Niu, F., Recht, B., Re, C. and Wright, S. (2011). Hogwild: a lock-free approach to
       parallelizing stochastic gradient descent. Advances in Neural Information Processing
       Systems 24.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = X @ [1.0, -2.0]
    >>> found = distributed_descent(X, y, loss="squared")  # doctest: +SKIP
    >>> found.x.round(4).tolist()  # doctest: +SKIP
    [1.0, -2.0]
    """
    if scheme not in SCHEMES:
        raise ParameterError(f"scheme={scheme!r} is not known; give one of {', '.join(SCHEMES)}.")
    for name, number in (
        ("n_workers", n_workers), ("max_iter", max_iter), ("local_steps", local_steps),
        ("batch_size", batch_size),
    ):  # fmt: skip
        if not (isinstance(number, int | np.integer) and number >= 1):
            raise ParameterError(f"{name}={number!r} is not allowed; give a whole number above 0.")
    if tol is not None and not tol >= 0:
        raise ParameterError(f"tol={tol!r} is not allowed; give a number that is not negative.")
    task, start = task_of(X, y, loss, alpha, x0)
    _check_parts(task, scheme, int(n_workers))
    settings = SharingSettings(
        scheme=scheme,
        n_workers=int(n_workers),
        learning_rate=task.step(learning_rate),
        max_iter=int(max_iter),
        tol=(1e-6 if scheme != "asynchronous" else 0.0) if tol is None else float(tol),
        local_steps=int(local_steps),
        batch_size=min(int(batch_size), len(task.X)),
        seed=seed_of(random_state, "distributed_descent"),
    )
    run = run_scheme(task, start, settings)
    if run.verdict == "not finite":
        raise InputError("The loss or its gradient is not finite at x0; start elsewhere.")
    found = result_of(run, task, f"distributed descent ({scheme})", scheme, settings.n_workers)
    if run.verdict != "converged" and not (scheme == "asynchronous" and tol is None):
        warn_caller(found.message, ConvergenceWarning)
    return found


def _check_parts(task: MeanLoss, scheme: str, n_workers: int) -> None:
    if scheme == "model" and task.name != "multinomial":
        raise ParameterError(
            'scheme="model" splits classes: it takes loss="multinomial"; use another scheme here.'
        )
    if scheme == "model" and n_workers > task.classes:
        raise ParameterError(
            f"n_workers={n_workers} are more than the {task.classes} classes to split; use fewer."
        )
    if n_workers > len(task.X):
        raise ParameterError(f"n_workers={n_workers} are more than the {len(task.X)} rows.")


def result_of(
    run: DescentRun,
    task: MeanLoss,
    method: str,
    scheme: str,
    n_workers: int,
    simulated: bool = False,
) -> DistributedMinimum:
    """Return a run as a result that shows itself."""
    values = np.array(run.values)
    last = len(values) - 1
    if run.verdict == "diverged":
        last = int(np.nanargmin(np.where(np.isfinite(values), values, np.inf)))
    steps = len(run.steps)
    messages = {
        "converged": f"the residual is {run.residuals[-1]:.3g} after {steps} steps.",
        "max_iter": f"the residual is {run.residuals[-1]:.3g} after {steps} steps; raise max_iter, "
        "or tol.",
        "diverged": f"f rose to {values[-1]:.3g} after {steps} steps: the steps are too long; "
        "give a smaller learning_rate. x is the best point met.",
    }
    t = np.arange(len(values), dtype=np.float64)
    points: FloatArray = np.array(run.points)
    return DistributedMinimum(
        method=method,
        x=points[last].copy(),
        value=float(values[last]),
        verdict=run.verdict,
        message=f"{method}: {messages[run.verdict]}",
        n_iter=steps,
        trace=Trace(
            points=points,
            values=values,
            gradients=np.array(run.gradients),
            residuals=np.array(run.residuals),
            steps=np.array(run.steps),
            evaluations=t + 1,
            gradient_evaluations=t + 1,
        ),
        f=task.value,
        scheme=scheme,
        n_workers=n_workers,
        times=np.array(run.times),
        work=np.array(run.work).reshape(-1, n_workers),
        busy=run.busy,
        staleness=None if run.staleness is None else np.array(run.staleness, dtype=np.intp),
        simulated=simulated,
    )
