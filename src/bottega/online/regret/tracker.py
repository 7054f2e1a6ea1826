"""Regret on a live stream: against the best fixed predictor so far, with what theory promises."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bottega.core.errors import InputError, ParameterError
from bottega.core.frames import make_frame
from bottega.core.losses import Loss
from bottega.core.seeds import seed_of
from bottega.core.tables import Summary
from bottega.core.typing import Array, FloatArray
from bottega.online._regret.bounds import RegretBound, regret_bound, slope_of_loss
from bottega.online._regret.hindsight import Hindsight
from bottega.online._regret.report import draw, summarize
from bottega.online._regret.setting import setting_of
from bottega.online._stream.blocks import as_block, classifies, dense_rows, next_checkpoint, take
from bottega.online.regret.comparator import Comparator
from bottega.online.regret.mistake_bound import MistakeBound
from bottega.optimize.regions import Region

__all__ = ["RegretTracker"]

_MAX_WIDTH = 2000  # columns: a comparator is found with a matrix of their square
_OF_MISTAKES = ("mistake_bound", "hinge", "norm", "regret", "average_regret", "bound")
_OF_REGRET = (
    "best", "best_se", "gap", "regret", "average_regret", "bound", "bound_of_steps", "gradient",
)  # fmt: skip


class RegretTracker:
    r"""Follows the regret of an online learner while it learns.

    Each row's loss is charged before it is learned. After T rows the sequential risk is
    :math:`\frac1T \sum_t \ell_t(w_t)`, and the regret what it exceeds that of the best fixed
    predictor in hindsight by,

    .. math:: \frac1T \sum_{t=1}^T \ell_t(w_t) - \min_{u \in C} \frac1T \sum_{t=1}^T \ell_t(u)

    (summed, T times it). For a perceptron, whose mistakes have no comparator that could be
    computed, its mistake bound is followed instead.

    Parameters
    ----------
    learner : online learner
        An untrained one: a class of `bottega.online`, or anything with ``learn_block(X, y)`` that
        returns the loss of each row before it was learned.
    loss : str or Loss, optional
        The loss it is charged, where it does not say so itself.
    radius : float, optional
        Radius of the set of comparators; the learner's by default.
    comparator : {"auto", "ball", "box", "simplex", "l1_ball", "all"}, Region or None
        The set of comparators. ``"auto"`` takes the one that the learner's theory is about: its
        own set, all vectors for a strongly convex loss and for online ridge, the experts of
        exponential weights, else the ball of its radius. None follows the risk alone.
    max_rows : int
        Rows that may be kept. The squared error and experts need none, and are exact on streams of
        any length. Other losses keep all rows up to this number and then a uniform sample of it:
        the comparator is then chosen on the sample, and the regret is the mean difference of its
        losses and the learner's on those rows, an estimate with a standard error.
    random_state : int, RandomState, Generator or None
        Seed of that sample.

    Attributes
    ----------
    learner : object
        The learner, which `update` trains.
    rows : int
        Rows seen, T.
    total_loss : float
        Summed loss of the learner.

    Notes
    -----
    The curve is computed at checkpoints 1, 2, 3, ..., 10, 14, 18, 24, ... whose distances grow in
    proportion, eight to a power of ten; `update` cuts blocks there, so nothing depends on how the
    stream was cut. A checkpoint costs :math:`d^3` operations for the squared error, some 30 times
    :math:`\min(T, max\_rows)\, d^2` for others, and about five times that for the perceptron.

    An estimated comparator was chosen on the sample that judges it, so its loss is on average too
    low and the regret too high, for smooth losses by the order of d / (2 max_rows) per row: an
    error on the safe side, which the standard error does not contain. Raise `max_rows` where that
    is not small against the regret.

    Examples
    --------
    >>> import numpy as np
    >>> from bottega.online import OnlineGradientDescentRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(10_000, 3))
    >>> y = X @ [0.5, -0.5, 0.2] + 0.1 * rng.normal(size=10_000)
    >>> tracker = RegretTracker(OnlineGradientDescentRegressor(projection="ball"))
    >>> for part in range(0, 10_000, 1000):
    ...     losses = tracker.update(X[part : part + 1000], y[part : part + 1000])
    >>> bool(0 < tracker.average_regret < tracker.bound)
    True
    >>> tracker.comparator().u[:3].round(1)
    array([ 0.5, -0.5,  0.2])
    """

    def __init__(
        self,
        learner: Any,
        *,
        loss: str | Loss | None = None,
        radius: float | None = None,
        comparator: str | Region | None = "auto",
        max_rows: int = 10_000,
        random_state: Any = 0,
    ) -> None:
        if not callable(getattr(learner, "learn_block", None)):
            raise InputError(
                f"{type(learner).__name__} cannot be followed: it has no learn_block(X, y) that "
                "returns the loss of each row before it is learned."
            )
        if getattr(learner, "n_samples_seen_", 0):
            raise InputError(
                f"The learner has already seen {learner.n_samples_seen_:,} rows, and bounds on "
                "regret are about a whole stream; give an untrained one (sklearn.base.clone)."
            )
        if not (isinstance(max_rows, int) and max_rows >= 10):
            raise ParameterError(f"max_rows={max_rows!r} is not allowed; give an integer >= 10.")
        self.learner = learner
        self.max_rows = max_rows
        self.random_state = random_state
        self.rows = 0
        self.total_loss = 0.0
        self._setting = setting_of(learner, loss, comparator, radius)
        self._hindsight = Hindsight(
            learner, self._setting, max_rows, seed_of(random_state, type(self).__name__)
        )
        self._largest = 0.0  # gradient, where the learner does not know it
        self._records: list[dict[str, float]] = []
        self._present: dict[str, Any] = {}

    def update(self, X: Any, y: Any, classes: Any = None) -> FloatArray:
        """Let the learner learn from more rows, and keep record.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (m, p)
            Inputs; for exponential weights the predictions of the experts.
        y : array-like of shape (m,)
            Truths.
        classes : array-like, optional
            All labels that may come, with the first block; left out, those of the first block.

        Returns
        -------
        ndarray of shape (m,)
            What each row was charged before it was learned.

        Raises
        ------
        InputError
            When the learner refuses rows; those before them, up to a checkpoint, are learned.
        """
        X, y = as_block(X), np.asarray(y)
        self._check_shape(X, y)
        arguments = {}
        if not self.rows and classifies(self.learner):
            # The first part may end before all labels of the block have come.
            arguments = {"classes": np.unique(y) if classes is None else classes}
        charged = []
        done = 0
        while done < len(y):
            part = slice(done, min(len(y), done + next_checkpoint(self.rows) - self.rows))
            losses = np.asarray(
                self.learner.learn_block(take(X, part), y[part], **arguments), dtype=np.float64
            )
            arguments, done = {}, part.stop
            self._account(take(X, part), y[part], losses)
            charged.append(losses)
        return np.concatenate(charged) if charged else np.zeros(0)

    def _check_shape(self, X: Any, y: Array) -> None:
        if y.ndim != 1 or X.shape[0] != len(y):
            raise InputError(
                f"X has {X.shape[0]} rows and y the shape {y.shape}; give one truth per row."
            )
        seen = getattr(self.learner, "n_samples_seen_", self.rows)
        if seen != self.rows:
            raise InputError(
                f"The learner has seen {seen:,} rows and its tracker {self.rows:,}: it was trained "
                "elsewhere in between. Train it through update alone."
            )
        width = X.shape[1] + self._setting.constant
        if width > _MAX_WIDTH and self._setting.kind in ("linear", "perceptron"):
            raise InputError(
                f"X has {X.shape[1]:,} columns, and the best comparator needs a matrix of their "
                f"square ({_MAX_WIDTH:,} are the most); give comparator=None to follow the "
                "sequential risk alone."
            )

    def _account(self, X: Any, y: Array, losses: FloatArray) -> None:
        self.rows += len(y)
        self.total_loss += float(losses.sum())
        setting = self._setting
        self._hindsight.update(X, y, losses)
        if setting.kind == "linear" and not hasattr(self.learner, "max_gradient_"):
            assert setting.loss is not None
            norms = np.linalg.norm(dense_rows(X, setting.constant), axis=1)
            sizes = slope_of_loss(setting.loss, losses) * norms
            self._largest = max(self._largest, float(np.max(sizes, initial=0.0)))
        self._present = {}
        if self.rows == next_checkpoint(self.rows - 1):
            self._records.append(self._record(checkpoint=True))

    @property
    def risk(self) -> float:
        """Sequential risk: mean loss, charged before learning."""
        return self.total_loss / self.rows if self.rows else math.nan

    @property
    def regret(self) -> float:
        """Summed regret against the best comparator so far; nan where there is none."""
        return self._now()["regret"]

    @property
    def average_regret(self) -> float:
        """Regret per row."""
        return self._now()["average_regret"]

    @property
    def bound(self) -> float:
        """What the average regret is at most; nan where theory promises nothing."""
        return self._now()["bound"]

    @property
    def gradient(self) -> float:
        """Largest norm of a gradient so far, G."""
        return float(getattr(self.learner, "max_gradient_", self._largest))

    @property
    def mistakes(self) -> int:
        """Mistakes of a perceptron so far."""
        self._need_perceptron()
        return round(self.total_loss)

    def comparator(self) -> Comparator:
        """Return the best fixed predictor in hindsight, with its certified gap.

        Returns
        -------
        Comparator
        """
        self._need_rows()
        return self._once(
            "comparator", lambda: self._hindsight.comparator(self.rows, self.total_loss)
        )

    def mistake_bound(self, u: Any = None) -> MistakeBound:
        """Return the most mistakes a perceptron can have made, by a comparator u.

        Parameters
        ----------
        u : array-like of shape (d,), optional
            The comparator; with an intercept its weight is last. Left out, the best of all u, up
            to a certified gap of a thousandth: see `best_mistake_bound`.

        Returns
        -------
        MistakeBound
            Where the stream was longer than `max_rows`, from a sample, with a standard error.
        """
        self._need_rows()
        self._need_perceptron()
        if u is None:
            return self._once("mistakes", lambda: self._best_mistake_bound(1e-3))
        return self._hindsight.mistake_bound(u)

    def _best_mistake_bound(self, tol: float) -> MistakeBound:
        last = self._records[-1]["norm"] if self._records else 0.0
        return self._hindsight.best_mistake_bound(tol, start=last)

    def to_frame(self, like: Any = None) -> Any:
        """Return the curve as a data frame: one row per checkpoint, and one for the present.

        Parameters
        ----------
        like : frame or str, optional
            The frame library to use.

        Returns
        -------
        data frame
            Columns rows, risk, best, best_se, gap, regret, average_regret, bound, bound_of_steps,
            gradient; for a perceptron rows, risk, mistakes, mistake_bound, hinge, norm.
        """
        records = self._curve()
        return make_frame({name: [r[name] for r in records] for name in records[0]}, like)

    def plot(self) -> Any:
        """Draw regret (or mistakes) and bound against the number of rows."""
        return draw(self)

    def summary(self) -> Summary:
        """Return the present state as a table."""
        self._need_rows()
        return summarize(self)

    def __str__(self) -> str:
        if not self.rows:
            return f"RegretTracker of {type(self.learner).__name__}: no rows yet"
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary().to_html() if self.rows else str(self)

    def _curve(self) -> list[dict[str, float]]:
        self._need_rows()
        if self._records and self._records[-1]["rows"] == self.rows:
            return self._records
        return [*self._records, self._now()]

    def _now(self) -> dict[str, float]:
        self._need_rows()
        return self._once("record", lambda: self._record(checkpoint=False))

    def _once(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return something about the rows so far, computed when it is first asked for."""
        if name not in self._present:
            self._present[name] = compute()
        return self._present[name]

    def _record(self, *, checkpoint: bool) -> dict[str, float]:
        kind, T = self._setting.kind, self.rows
        record: dict[str, float] = {"rows": T, "risk": self.risk}
        values: tuple[float, ...] = ()  # what is not known is NaN
        if kind == "perceptron":
            record["mistakes"] = self.mistakes
            if len(self.learner.classes_) == 2:
                # Every u gives a bound, so on the way a hundredth above the least will do.
                found = self._best_mistake_bound(1e-2) if checkpoint else self.mistake_bound()
                values = (found.value, found.hinge, found.norm)
        elif kind != "alone":
            best, theory = self.comparator(), self._bound()
            regret = self.total_loss - best.loss
            values = (best.average, best.se / T, best.gap / T, regret, regret / T)
            values += (theory.bound, theory.of_steps, *([self.gradient] * (kind == "linear")))
        names = _OF_MISTAKES if kind == "perceptron" else _OF_REGRET
        return record | dict.fromkeys(names, math.nan) | dict(zip(names, values, strict=False))

    def _bound(self) -> RegretBound:
        return regret_bound(self.learner, self._setting, self.rows)

    def _need_rows(self) -> None:
        if not self.rows:
            raise InputError("No rows have been seen yet; call update(X, y) first.")

    def _need_perceptron(self) -> None:
        if self._setting.kind != "perceptron":
            raise InputError(
                f"Mistakes are counted for a Perceptron, not for {type(self.learner).__name__}; "
                "its regret is what is followed."
            )
