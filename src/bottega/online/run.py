"""Drive an online learner over a stream, wherever its rows come from."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError, ParameterError
from bottega.core.frames import make_frame
from bottega.core.progress import report
from bottega.core.typing import FloatArray, IntArray
from bottega.online._stream.blocks import classifies, next_checkpoint, take
from bottega.online._stream.sources import StreamError, blocks_of, labels_of, length_of
from bottega.online.regret.tracker import RegretTracker
from bottega.plot.online import running_loss_chart

__all__ = ["Run", "run"]


@dataclass(frozen=True)
class Run:
    """What a learner did on a stream.

    Attributes
    ----------
    model : object
        The learner, trained.
    rows : int
        Rows learned.
    total_loss : float
        Summed loss, charged before each row was learned.
    seconds : float
        Time it took, reading included.
    curve_rows : ndarray of shape (m,)
        Numbers of rows at which the running mean was kept: 1, 2, 3, ..., 10, 14, 18, 24, ...
    curve_risk : ndarray of shape (m,)
        Mean loss of the rows up to there.
    tracker : RegretTracker or None
        The tracker, if one was given.
    """

    model: Any
    rows: int
    total_loss: float
    seconds: float
    curve_rows: IntArray
    curve_risk: FloatArray
    tracker: RegretTracker | None = None

    @property
    def risk(self) -> float:
        """Sequential risk: mean loss, charged before learning."""
        return self.total_loss / self.rows if self.rows else float("nan")

    @property
    def rate(self) -> float:
        """Rows per second."""
        return self.rows / self.seconds if self.seconds > 0 else float("inf")

    def to_frame(self, like: Any = None) -> Any:
        """Return the running mean loss as a data frame with columns rows and risk."""
        return make_frame({"rows": self.curve_rows, "risk": self.curve_risk}, like)

    def plot(self) -> Any:
        """Draw the running mean loss; for regret and its bound, plot the tracker."""
        return running_loss_chart(
            self.curve_rows,
            self.curve_risk,
            title=f"Sequential risk of {type(self.model).__name__}",
            subtitle=f"{self.rows:,} rows, {self.rate:,.0f} per second.",
        )

    def __str__(self) -> str:
        return (
            f"{type(self.model).__name__}: {self.rows:,} rows, sequential risk {self.risk:.6g}, "
            f"{self.rate:,.0f} rows per second"
        )


def run(
    model: Any,
    stream: Any,
    *,
    classes: Any = None,
    tracker: RegretTracker | None = None,
    block: int = 1000,
    target: str | None = None,
) -> Run:
    """Let an online learner go once through a stream; each row is charged, then learned.

    Parameters
    ----------
    model : online learner
        A class of `bottega.online`, or anything with ``learn_block(X, y)`` that returns the loss of
        each row before it was learned and leaves the learner as it was when it refuses a block. It
        goes on from where it is.
    stream : object
        Rows in their order: ``(X, y)`` with arrays, a CSR matrix or a frame; a frame, a `Table`, a
        path (Parquet, CSV, JSON lines, DuckDB) or an executed query (a DuckDB relation or
        connection, any database cursor) with `target`; or anything that can be iterated once and
        gives ``(X, y)`` blocks, ``(row, truth)`` pairs (a row is an array or a dict of named
        numbers) or frames.
    classes : array-like, optional
        All labels that may come. Left out, they are read from the truths where those are at hand;
        else the labels of the first block are all there may be.
    tracker : RegretTracker, optional
        Follows the regret; made for this model.
    block : int
        Rows learned at a time. The answer does not depend on it; small blocks cost more time, and
        rows that come one by one are learned when a block is full.
    target : str, optional
        The column to predict.

    Returns
    -------
    Run
        Rows, sequential risk, its curve and the rate.

    Raises
    ------
    StreamError
        At the first row that cannot be learned (missing values, an unknown label, another number of
        columns, an error of the stream itself): the message says which, the attribute ``run`` what
        was learned before, and the model keeps it.

    Examples
    --------
    >>> import numpy as np
    >>> from bottega.online import OnlineGradientDescentClassifier
    >>> rng = np.random.default_rng(0)
    >>> def stream():
    ...     for _ in range(2000):
    ...         x = rng.normal(size=2)
    ...         yield x, bool(x[0] > x[1])
    >>> model = OnlineGradientDescentClassifier(projection="ball", radius=5.0)
    >>> done = run(model, stream(), classes=[False, True])
    >>> done.rows, bool(done.risk < 0.4)
    (2000, True)
    """
    if not callable(getattr(model, "learn_block", None)):
        raise InputError(
            f"{type(model).__name__} cannot run over a stream: it has no learn_block(X, y) that "
            "returns the loss of each row before it is learned."
        )
    if not (isinstance(block, int) and block > 0):
        raise ParameterError(f"block={block!r} is not allowed; give an integer above 0.")
    if tracker is not None and tracker.learner is not model:
        raise InputError("The tracker follows another learner; make it with RegretTracker(model).")
    if classes is None and classifies(model) and not hasattr(model, "classes_"):
        classes = labels_of(stream, target)
    driver = _Driver(model, tracker, classes, length_of(stream))
    try:
        for X, y in blocks_of(stream, target, block):
            driver.learn(X, y)
    except StreamError:
        raise
    except Exception as error:
        if not driver.rows:
            raise
        raise driver.broken(error) from error
    if not driver.rows:
        raise InputError("The stream gave no rows.")
    return driver.run()


class _Driver:
    """Learns blocks and keeps the running mean."""

    def __init__(
        self, model: Any, tracker: RegretTracker | None, classes: Any, length: int | None
    ) -> None:
        self.model, self.tracker, self.length = model, tracker, length
        self.classes = None if classes is None else np.unique(np.asarray(classes))
        self.rows = 0
        self.total = 0.0
        self._curve: list[tuple[int, float]] = []
        self._begun = time.perf_counter()

    def learn(self, X: Any, y: Any) -> None:
        """Learn a block; where a row is refused, all rows before it."""
        new = not (self.rows or hasattr(self.model, "classes_"))
        if new and self.classes is None and classifies(self.model):
            self.classes = np.unique(y)
        self._learn(X, y)
        report("rows", self.rows, max(self.rows, self.length or 0), f"risk {self.risk:.4g}")

    @property
    def risk(self) -> float:
        """Mean loss so far."""
        return self.total / self.rows if self.rows else float("nan")

    def _learn(self, X: Any, y: Any) -> None:
        before = self.tracker.rows if self.tracker else 0
        risk_before = self.tracker.total_loss if self.tracker else 0.0
        try:
            losses = self._call(X, y)
        except (ValueError, TypeError) as error:
            done = self.tracker.rows - before if self.tracker else 0
            if self.tracker and done:  # it goes from checkpoint to checkpoint
                self._charge_total(done, self.tracker.total_loss - risk_before)
            left = len(y) - done
            if left == 1:
                raise self.broken(error) from error
            # Halves find the first row that is refused, and everything before it is learned.
            middle = done + left // 2
            self._learn(take(X, slice(done, middle)), y[done:middle])
            self._learn(take(X, slice(middle, len(y))), y[middle:])
            return
        self._charge(losses)

    def _call(self, X: Any, y: Any) -> FloatArray:
        new = not (self.rows or hasattr(self.model, "classes_"))
        known = {"classes": self.classes} if new and classifies(self.model) else {}
        learn = self.model.learn_block if self.tracker is None else self.tracker.update
        return np.asarray(learn(X, y, **known))

    def _charge(self, losses: FloatArray) -> None:
        sums = self.total + np.cumsum(losses)
        start, stop = self.rows, self.rows + len(losses)
        point = next_checkpoint(start)
        while point <= stop:
            self._curve.append((point, float(sums[point - start - 1]) / point))
            point = next_checkpoint(point)
        if len(losses):
            self.total, self.rows = float(sums[-1]), stop

    def _charge_total(self, rows: int, loss: float) -> None:
        """Count rows of which only the sum is known: up to a checkpoint, where the mean is kept."""
        self.total, self.rows = self.total + loss, self.rows + rows
        if self.rows == next_checkpoint(self.rows - 1):
            self._curve.append((self.rows, self.risk))

    def broken(self, error: Exception) -> StreamError:
        """Return the error of the row after those learned."""
        row = self.rows + 1
        reason = str(error).strip().splitlines() or [type(error).__name__]
        return StreamError(
            f"Row {row:,} of the stream cannot be learned: {reason[0]} The {self.rows:,} rows "
            "before it are learned.",
            row,
            self.run() if self.rows else None,
        )

    def run(self) -> Run:
        """Return what was done so far."""
        curve = list(self._curve)
        if not curve or curve[-1][0] != self.rows:
            curve.append((self.rows, self.risk))
        rows, risk = zip(*curve, strict=True)
        return Run(
            self.model,
            self.rows,
            self.total,
            time.perf_counter() - self._begun,
            np.array(rows),
            np.array(risk),
            self.tracker,
        )
