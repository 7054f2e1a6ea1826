"""The learning curve: expected risk against the number of training rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from bottega.core.errors import ParameterError
from bottega.core.frames import make_frame
from bottega.core.judge import mean_and_se
from bottega.core.losses import get_loss
from bottega.core.parallel import in_threads
from bottega.core.params import Integer
from bottega.core.typing import FloatArray, IntArray
from bottega.plot import learning_curve_chart
from bottega.risk.theory.simulation import Generator, draw, draw_seeds, excess_losses, fit

__all__ = ["LearningCurve", "learning_curve", "simulate"]


@dataclass(frozen=True)
class LearningCurve:
    """Expected risk of a procedure against the number of rows it learns from.

    Attributes
    ----------
    train_sizes : ndarray of int
        Numbers of training rows, ascending.
    risk, risk_se : ndarray
        Mean loss on fresh rows, averaged over training sets, and its standard error.
    train_error, train_error_se : ndarray
        Mean loss on the training rows.
    excess, excess_se : ndarray
        Risk above the Bayes risk, with the Bayes predictor judged on the same rows: sharper than
        the difference of `risk` and `bayes_risk`, and not exactly equal to it. NaN where the Bayes
        risk is not known.
    bayes_risk : float
        The least possible risk; NaN if not known.
    loss : str
        Name of the loss.
    n_repeats, n_test : int
        Training sets for each size, and fresh rows for each training set.
    """

    train_sizes: IntArray
    risk: FloatArray
    risk_se: FloatArray
    train_error: FloatArray
    train_error_se: FloatArray
    excess: FloatArray
    excess_se: FloatArray
    bayes_risk: float
    loss: str
    n_repeats: int
    n_test: int

    def to_frame(self, like: Any = None) -> Any:
        """Return the curve as a data frame, one row per size."""
        names = (
            "train_sizes",
            "risk",
            "risk_se",
            "train_error",
            "train_error_se",
            "excess",
            "excess_se",
        )
        columns = {name: getattr(self, name) for name in names}
        columns = {"m": columns.pop("train_sizes"), **columns}
        columns["bayes_risk"] = np.full(len(self.train_sizes), self.bayes_risk)
        return make_frame(columns, like)

    def plot(self) -> Any:
        """Draw risk and training error against the number of rows, with the Bayes risk."""
        return learning_curve_chart(self)


def learning_curve(
    procedure: Any,
    generator: Generator,
    train_sizes: Sequence[int],
    *,
    n_repeats: int = 20,
    n_test: int = 1000,
    random_state: Any = 0,
) -> LearningCurve:
    r"""Simulate the expected risk :math:`E[\ell_D(A(S_m))]` of a procedure against m.

    For each size, `n_repeats` training sets are drawn; each predictor learned is judged on `n_test`
    rows of its own that nobody has seen.

    Parameters
    ----------
    procedure : estimator or callable
        An estimator, or a callable ``(X, y) -> predictor``.
    generator : callable
        From ``(n, random_state=...)`` to a `Sample`; its loss is the loss.
    train_sizes : sequence of int
        Numbers of training rows.
    n_repeats : int
        Training sets for each size, at least 2.
    n_test : int
        Fresh rows for each training set.
    random_state : int, RandomState, Generator or None
        Seed of everything.

    Returns
    -------
    LearningCurve

    Notes
    -----
    Costs ``n_repeats`` fits for each size, side by side in threads. For the curve of one given data
    set, whose source is not known, use scikit-learn's `learning_curve`: there the training sets
    overlap, and no standard error is honest.

    Examples
    --------
    >>> from bottega.core import BaselineClassifier
    >>> from bottega.data import make
    >>> curve = learning_curve(BaselineClassifier(), make.two_gaussians, [10, 100])
    >>> curve.risk.round(1), round(curve.bayes_risk, 4)
    (array([0.5, 0.5]), 0.1587)
    """
    return simulate(
        lambda _: procedure,
        generator,
        train_sizes,
        n_repeats=n_repeats,
        n_test=n_test,
        random_state=random_state,
    )


def simulate(
    procedure_of: Callable[[int], Any],
    generator: Generator,
    train_sizes: Sequence[int],
    *,
    n_repeats: int,
    n_test: int,
    random_state: Any,
) -> LearningCurve:
    """Return the learning curve of a procedure that may change with the number of rows."""
    if not len(train_sizes):
        raise ParameterError("train_sizes is empty; give at least one number of training rows.")
    for size in train_sizes:
        Integer(1).check("learning_curve", "size", size)
    Integer(2).check("learning_curve", "n_repeats", n_repeats)
    Integer(1).check("learning_curve", "n_test", n_test)
    ms = np.unique(np.asarray(train_sizes))
    seeds = draw_seeds(random_state, len(ms), n_repeats)
    tasks = [
        (procedure_of(m), m, each)
        for m, row in zip(ms.tolist(), seeds, strict=True)
        for each in row
    ]
    runs = in_threads(partial(_judge, generator, n_test), tasks, stage="training sets")
    found = np.array([run[0] for run in runs]).reshape(len(ms), n_repeats, 3)
    mean, spread = mean_and_se(np.moveaxis(found, 1, 0))
    source = runs[0][1]
    return LearningCurve(
        train_sizes=ms,
        risk=mean[:, 0],
        risk_se=spread[:, 0],
        train_error=mean[:, 1],
        train_error_se=spread[:, 1],
        excess=mean[:, 2],
        excess_se=spread[:, 2],
        bayes_risk=float(source[0]),
        loss=source[1],
        n_repeats=n_repeats,
        n_test=n_test,
    )


def _judge(
    generator: Generator, n_test: int, task: tuple[Any, int, int]
) -> tuple[tuple[float, float, float], tuple[float, str]]:
    """Learn once: risk, training error, excess risk; and the Bayes risk with its loss."""
    procedure, m, seed = task
    # One draw for both parts: a generator whose seed fixes the truth too keeps the same truth.
    sample = draw(generator, m + n_test, seed)
    X, y = sample.X[m:], sample.y[m:]
    loss = get_loss(sample.loss)
    predict = fit(procedure, sample.X[:m], sample.y[:m])
    predicted = predict(X)
    risk = float(loss(y, predicted).mean())
    train = float(loss(sample.y[:m], predict(sample.X[:m])).mean())
    known = np.isfinite(sample.bayes_risk)
    excess = float(excess_losses(sample, X, y, predicted).mean()) if known else np.nan
    return (risk, train, excess), (sample.bayes_risk, loss.name)
