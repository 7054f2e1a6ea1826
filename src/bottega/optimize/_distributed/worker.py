"""The loop of one worker process: take a command, compute on its own part, answer."""

import signal
import time
import traceback
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from bottega.core.threads import libraries_in
from bottega.core.typing import FloatArray
from bottega.optimize._distributed.losses import RowLoss
from bottega.optimize._distributed.memory import Place, SharedArrays

__all__ = ["WorkerPart", "work"]


@dataclass(frozen=True)
class WorkerPart:
    """What belongs to one worker: its rows, or its classes, and how it draws mini-batches."""

    index: int
    rows: tuple[int, int]
    classes: tuple[int, int]
    alpha: float
    seed: int
    threads: int


def work(connection: Any, places: dict[str, Place], part: WorkerPart, loss: RowLoss) -> None:
    """Answer commands until there are none: the parent says so, or has gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's affair
    arrays = SharedArrays(places=places)
    try:
        with libraries_in(part.threads):
            _WorkerLoop(arrays, part, loss).serve(connection)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # the parent has gone
    finally:
        arrays.close()


class _WorkerLoop:
    def __init__(self, arrays: SharedArrays, part: WorkerPart, loss: RowLoss) -> None:
        self.arrays, self.part, self.loss = arrays, part, loss
        low, high = part.rows
        self.X, self.y = arrays["X"][low:high], arrays["y"][low:high]
        self.rng = np.random.default_rng(part.seed)

    def serve(self, connection: Any) -> None:
        connection.send(("ready", None, 0.0))
        while True:
            message = connection.recv()
            if message is None:
                break
            name, *arguments = message
            start = time.perf_counter()
            try:
                with np.errstate(all="ignore"):  # what overflows is said by the verdict
                    answer = getattr(self, name)(*arguments)
            except BaseException as error:
                told = f"{type(error).__name__}: {error}"
                connection.send(("error", (told, traceback.format_exc()), 0.0))
                break
            connection.send(("done", answer, time.perf_counter() - start))
        del self.X, self.y

    @property
    def _theta(self) -> FloatArray:
        return self.arrays["sent"][self.part.index].copy()

    def _answer(self, vector: FloatArray) -> None:
        found = np.asarray(vector, dtype=np.float64)
        wanted = self.arrays["found"][self.part.index]
        if found.shape != wanted.shape:
            raise ValueError(
                f"the loss returned a gradient of shape {found.shape} for parameters of shape "
                f"{wanted.shape}"
            )
        wanted[...] = found

    # ---- commands --------------------------------------------------------------------------------

    def gradient(self) -> float:
        """Leave the summed gradient of the own rows, and return their summed loss."""
        value, gradient = self.loss(self._theta, self.X, self.y)
        self._answer(gradient)
        return float(value)

    def local(self, steps: int, learning_rate: float) -> float:
        """Take gradient steps on the own rows, leave the parameters, return the loss before."""
        theta = self._theta
        before = 0.0
        n, alpha = len(self.X), self.part.alpha
        for t in range(steps):
            value, gradient = self.loss(theta, self.X, self.y)
            before = float(value) if t == 0 else before
            theta = theta - learning_rate * (np.asarray(gradient) / n + alpha * theta)
        self._answer(theta)
        return before

    def batch(self, size: int) -> int:
        """Leave the mean gradient of a mini-batch of the own rows."""
        theta = self._theta
        chosen = self.rng.integers(len(self.X), size=size)
        _, gradient = self.loss(theta, self.X[chosen], self.y[chosen])
        self._answer(np.asarray(gradient) / size + self.part.alpha * theta)
        return size

    def scores(self) -> None:
        """Leave the scores of the own classes, and the logarithm of their summed exponentials."""
        low, high = self.part.classes
        X = self.arrays["X"]
        W = self.arrays["W"]
        own = X @ W[low:high].T
        self.arrays["scores"][:, low:high] = own
        self.arrays["levels"][self.part.index] = logsumexp(own, axis=1)

    def columns(self) -> float:
        """Leave the gradient of the own classes' weights; return their part of the loss."""
        low, high = self.part.classes
        X, y, level = self.arrays["X"], self.arrays["y"], self.arrays["level"]
        own = self.arrays["scores"][:, low:high]
        P = np.exp(own - level[:, None])
        mine = np.flatnonzero((y >= low) & (y < high))
        at = y[mine].astype(np.intp) - low
        value = float(np.sum(level[mine] - own[mine, at]))
        P[mine, at] -= 1
        self.arrays["slopes"][low:high] = P.T @ X
        return value
