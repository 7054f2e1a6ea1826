"""Losses summed over rows, with their gradients: what a worker computes of its part."""

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logsumexp

from bottega.core.errors import InputError, ParameterError, did_you_mean
from bottega.core.typing import FloatArray

__all__ = ["LOSSES", "MeanLoss", "task_of"]

RowLoss = Callable[[FloatArray, FloatArray, FloatArray], tuple[float, FloatArray]]


def logistic(theta: FloatArray, X: FloatArray, y: FloatArray) -> tuple[float, FloatArray]:
    """Return the sum of log(1 + exp(-y x.theta)) for labels -1 and 1, and its gradient."""
    margin = y * (X @ theta)
    return float(np.sum(np.logaddexp(0.0, -margin))), X.T @ (-y * expit(-margin))


def squared(theta: FloatArray, X: FloatArray, y: FloatArray) -> tuple[float, FloatArray]:
    """Return half the sum of squared residuals, and its gradient."""
    residual = X @ theta - y
    return float(residual @ residual) / 2, X.T @ residual


def multinomial(theta: FloatArray, X: FloatArray, y: FloatArray) -> tuple[float, FloatArray]:
    """Return minus the log-likelihood of classes 0, 1, ..., one row of weights each."""
    W = theta.reshape(-1, X.shape[1])
    scores = X @ W.T
    level = logsumexp(scores, axis=1)
    chosen = y.astype(np.intp)
    rows = np.arange(len(y))
    value = float(np.sum(level - scores[rows, chosen]))
    P = np.exp(scores - level[:, None])
    P[rows, chosen] -= 1
    return value, np.ravel(P.T @ X)


LOSSES: dict[str, RowLoss] = {"logistic": logistic, "squared": squared, "multinomial": multinomial}
# The largest second derivative of each by a score.
_BENDS = {"logistic": 0.25, "squared": 1.0, "multinomial": 0.5}


@dataclass(frozen=True)
class MeanLoss:
    """The function to minimise, mean loss plus alpha/2 times the squared length, and its data."""

    loss: RowLoss
    name: str
    X: FloatArray
    y: FloatArray
    alpha: float
    size: int  # number of parameters
    classes: int  # of the multinomial loss, else 1

    def value(self, theta: FloatArray) -> float:
        """Return the function at theta, from all rows, in this process."""
        return self.both(theta)[0]

    def both(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the function and its gradient, from all rows, in this process."""
        with np.errstate(all="ignore"):  # what overflows is said by the verdict
            value, gradient = self.loss(theta, self.X, self.y)
        return self.penalised(float(value), np.asarray(gradient, dtype=np.float64), theta)

    def penalised(
        self, value: float, gradient: FloatArray, theta: FloatArray, rows: int | None = None
    ) -> tuple[float, FloatArray]:
        """Return means of sums over rows, with the penalty."""
        n = len(self.X) if rows is None else rows
        with np.errstate(over="ignore", invalid="ignore"):
            return (
                value / n + self.alpha / 2 * float(theta @ theta),
                gradient / n + self.alpha * theta,
            )

    def step(self, learning_rate: Any) -> float:
        """Return the step size: the given one, or 1 / L with the L of a known loss."""
        if learning_rate is not None:
            if not 0 < learning_rate < np.inf:
                raise ParameterError(
                    f"learning_rate={learning_rate!r} is not allowed; give a number above 0."
                )
            return float(learning_rate)
        if self.name not in _BENDS:
            raise ParameterError(
                "learning_rate is needed for a loss of your own; give the step size."
            )
        size = float(np.max(np.abs(self.X)))
        if size == 0:
            return 1.0
        scaled = self.X / size
        gram = scaled.T @ scaled if scaled.shape[0] >= scaled.shape[1] else scaled @ scaled.T
        top = float(np.linalg.eigvalsh(gram)[-1])
        with np.errstate(over="ignore"):
            largest = _BENDS[self.name] * top / len(scaled) * size * size + self.alpha
        if not 0 < largest < np.inf:
            raise InputError("X is too large or too small for a step size; scale its columns.")
        return 1 / largest


def task_of(X: Any, y: Any, loss: Any, alpha: float, x0: Any) -> tuple[MeanLoss, FloatArray]:
    """Return the task and the start, all of it checked."""
    rows, target = _arrays(X, y)
    if not 0 <= alpha < np.inf:
        raise ParameterError(f"alpha={alpha!r} is not allowed; give a number from 0 on.")
    name, classes = "", 1
    if isinstance(loss, str):
        if loss not in LOSSES:
            raise ParameterError(
                f"loss={loss!r} is not known; give one of {', '.join(LOSSES)}, or a function."
                + did_you_mean(loss, LOSSES)
            )
        name, call = loss, LOSSES[loss]
        target, classes = _target(target, loss)
    elif callable(loss):
        call = loss
        try:
            pickle.dumps(loss)
        except Exception as error:
            raise ParameterError(
                f"loss={loss!r} cannot be sent to another process ({error}); define it with def at "
                "the top of a module."
            ) from error
    else:
        raise ParameterError(f"loss={loss!r} is not allowed; give a name or a function.")
    size = rows.shape[1] * classes
    if x0 is None:
        start = np.zeros(size)
    else:
        start = np.atleast_1d(np.array(x0, dtype=np.float64)).ravel()
        if not np.all(np.isfinite(start)):
            raise InputError("x0 has entries that are missing or infinite; give a finite start.")
        if name and len(start) != size:
            raise InputError(f"x0 has {len(start)} entries; this loss takes {size}.")
    task = MeanLoss(call, name, rows, np.asarray(target, dtype=np.float64), float(alpha),
                len(start), classes)  # fmt: skip
    return task, start


def _arrays(X: Any, y: Any) -> tuple[FloatArray, Any]:
    rows, target = np.asarray(X, dtype=np.float64), np.asarray(y)
    if rows.ndim != 2 or not rows.size or target.shape != (len(rows),):
        raise InputError(
            f"X has shape {rows.shape} and y {target.shape}; give one row of X per entry of y."
        )
    if not np.all(np.isfinite(rows)):
        raise InputError("X has entries that are missing or infinite; fill or leave them out.")
    if target.dtype.kind == "f" and not np.all(np.isfinite(target)):
        raise InputError("y has entries that are missing or infinite; leave those rows out.")
    return np.ascontiguousarray(rows), target


def _target(y: Any, loss: str) -> tuple[FloatArray, int]:
    if loss == "squared":
        return np.asarray(y, dtype=np.float64), 1
    labels, codes = np.unique(y, return_inverse=True)
    if loss == "logistic":
        if len(labels) != 2:
            raise InputError(
                f"y has {len(labels)} classes; the logistic loss takes 2, the multinomial more."
            )
        return np.where(codes == 1, 1.0, -1.0), 1
    if len(labels) < 2:
        raise InputError("y has 1 class; at least 2 are required.")
    return codes.astype(np.float64), len(labels)
