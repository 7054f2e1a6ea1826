r"""Bias, variance and noise: what the expected squared error of a procedure is made of.

For a procedure that learns :math:`\hat f_S` from n rows S, a truth :math:`f(x) = E[Y \mid X = x]`
and a new response at x,

.. math:: E_S E[(Y - \hat f_S(x))^2 \mid x] = \underbrace{(E_S \hat f_S(x) - f(x))^2}_{bias^2}
    + \underbrace{V_S[\hat f_S(x)]}_{variance} + \underbrace{V[Y \mid x]}_{noise}.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from bottega.core.errors import InputError, ParameterError
from bottega.core.frames import default_names, make_frame
from bottega.core.judge import mean_and_se
from bottega.core.losses import SQUARED_ERROR, get_loss
from bottega.core.parallel import in_threads
from bottega.core.params import Integer
from bottega.core.typing import Array, FloatArray
from bottega.plot import decomposition_chart
from bottega.risk.theory.simulation import Generator, draw, draw_seeds, fit

__all__ = ["Decomposition", "bias_variance"]


@dataclass(frozen=True)
class Decomposition:
    """Squared bias, variance and noise of a procedure, one entry per value of its knob.

    Attributes
    ----------
    knob : str or None
        The parameter that was varied.
    values : ndarray of shape (v,)
        Its values, as given (one entry, None, when nothing was varied).
    bias2, variance : ndarray of shape (v,)
        Averages over the points. `bias2` is the squared distance of the mean prediction from the
        truth less what that mean owes to the finite number of training sets, so it is unbiased and
        may come out slightly below 0 where there is no bias.
    noise : float
        The Bayes risk: what no procedure can avoid.
    error : ndarray of shape (v,)
        Expected squared error on new responses: ``bias2 + variance + noise``. Without the noise it
        is exactly the mean squared distance of the simulated predictions from the truth.
    bias2_se, variance_se, error_se : ndarray of shape (v,)
        Standard errors over the training sets, given the points (jackknife).
    train_error : ndarray of shape (v,)
        Mean squared error on the rows learned from.
    test_error, test_error_se : ndarray of shape (v,)
        Mean squared error on rows drawn fresh in each repeat, which knows nothing of the
        decomposition; NaN when the points were given.
    points, truth : ndarray of shape (p, d) and (p,)
        Where predictions were looked at, and the truth there.
    mean, point_variance : ndarray of shape (v, p)
        Mean and variance of the predictions at each point.
    n, n_repeats : int
        Rows of each training set, and number of training sets.
    """

    knob: str | None
    values: Array
    bias2: FloatArray
    variance: FloatArray
    noise: float
    error: FloatArray
    bias2_se: FloatArray
    variance_se: FloatArray
    error_se: FloatArray
    train_error: FloatArray
    test_error: FloatArray
    test_error_se: FloatArray
    points: Array
    truth: FloatArray
    mean: FloatArray
    point_variance: FloatArray
    n: int
    n_repeats: int

    @property
    def best(self) -> int:
        """Position of the least expected error."""
        return int(np.argmin(self.error))

    @property
    def point_bias(self) -> FloatArray:
        """Mean prediction less the truth at each point, of shape (v, p)."""
        return self.mean - self.truth

    def to_frame(self, like: Any = None) -> Any:
        """Return the averages as a data frame, one row per value of the knob."""
        names = ("bias2", "variance", "error", "bias2_se", "variance_se", "error_se")
        columns: dict[str, Any] = {} if self.knob is None else {self.knob: self.values}
        columns |= {name: getattr(self, name) for name in names}
        columns["noise"] = np.full(len(self.values), self.noise)
        columns |= {name: getattr(self, name) for name in ("train_error", "test_error")}
        return make_frame(columns, like)

    def point_frame(self, i: int = 0, like: Any = None) -> Any:
        """Return bias and variance at each point, for the value of the knob at position `i`."""
        columns = dict(zip(default_names(self.points.shape[1]), self.points.T, strict=True))
        columns |= {
            "truth": self.truth,
            "mean": self.mean[i],
            "bias": self.point_bias[i],
            "variance": self.point_variance[i],
        }
        return make_frame(columns, like)

    def plot(self) -> Any:
        """Draw the terms against the knob; with one value and one input, against the input."""
        return decomposition_chart(self)


def bias_variance(
    procedure: Any,
    generator: Generator,
    *,
    n: int = 50,
    points: Any = None,
    n_test: int = 200,
    n_repeats: int = 100,
    knob: str | None = None,
    values: Sequence[Any] | None = None,
    random_state: Any = 0,
) -> Decomposition:
    """Split the expected squared error of a procedure into squared bias, variance and noise.

    Many training sets are drawn, the procedure learns from each, and its predictions at fixed
    points are compared with the truth: only possible where the truth is known.

    Parameters
    ----------
    procedure : estimator or callable
        An estimator, or a callable ``(X, y) -> predictor``. With `values`, a callable takes the
        value as its third argument.
    generator : callable
        From ``(n, random_state=...)`` to a `Sample` of squared loss, such as
        `bottega.data.make.sine`.
    n : int
        Rows of each training set.
    points : array-like of shape (p, d), optional
        Where predictions are looked at. By default `n_test` points are drawn like the rows.
    n_test : int
        Number of points, and of fresh rows in each repeat, when `points` is left out.
    n_repeats : int
        Number of training sets, at least 3.
    knob : str, optional
        Parameter to vary; by default the estimator's own knob.
    values : sequence, optional
        Values of the knob; all of them see the same training sets.
    random_state : int, RandomState, Generator or None
        Seed of everything.

    Returns
    -------
    Decomposition

    Notes
    -----
    Costs ``n_repeats`` fits for each value, side by side in threads. The terms sum to the error
    exactly; each carries the standard error of the simulation. The conclusion is about this
    generator and this n only.

    References
    ----------
    .. [1] Geman, S., Bienenstock, E. and Doursat, R. (1992). Neural networks and the bias/variance
       dilemma. Neural Computation 4, 1-58.

    Examples
    --------
    >>> from bottega.core import BaselineRegressor
    >>> from bottega.data import make
    >>> found = bias_variance(BaselineRegressor(), make.sine, n=20, n_repeats=50)
    >>> bool(found.bias2[0] > 10 * found.variance[0])  # a constant: stable, and wrong
    True
    """
    Integer(1).check("bias_variance", "n", n)
    # The jackknife leaves one out and needs two more.
    Integer(3).check("bias_variance", "n_repeats", n_repeats)
    settings = _settings(procedure, knob, values)
    point_seed, *seeds = draw_seeds(random_state, n_repeats + 1)
    if points is None:
        Integer(1).check("bias_variance", "n_test", n_test)
        source = draw(generator, n_test, point_seed)
        points, fresh = source.X, n_test
    else:
        source, fresh = draw(generator, n, point_seed), 0
        points = np.asarray(points, dtype=np.float64)
        points = points[:, np.newaxis] if points.ndim == 1 else points
        if points.ndim != 2 or points.shape[1] != np.shape(source.X)[1]:
            raise InputError(
                f"points has shape {points.shape}; give one row per point with "
                f"{np.shape(source.X)[1]} columns, as the generator's X has."
            )
    if get_loss(source.loss) is not SQUARED_ERROR:
        raise InputError(
            f"bias_variance is for squared loss; the generator is meant for {source.loss!r}. For "
            "classes use learning_curve, or risk_terms with a finite distribution."
        )
    truth = np.asarray(source.bayes(points), dtype=np.float64)
    one = partial(_repeat, procedure, generator, n, fresh, points, settings)
    runs = in_threads(one, seeds, stage="training sets")
    predicted = np.stack([each[0] for each in runs])  # (n_repeats, values, points)
    train = np.mean([each[1] for each in runs], axis=0)
    test, test_se = mean_and_se(np.stack([each[2] for each in runs]))
    away = predicted - truth
    bias2, variance, error, spread = _split(away)
    noise = float(source.bayes_risk)
    return Decomposition(
        knob=settings[0][0] if settings[0] else None,
        values=np.asarray(values if values is not None else [None]),
        bias2=bias2,
        variance=variance,
        noise=noise,
        error=error + noise,
        bias2_se=spread[0],
        variance_se=spread[1],
        error_se=spread[2],
        train_error=train,
        test_error=test,
        test_error_se=test_se,
        points=points,
        truth=truth,
        mean=predicted.mean(axis=0),
        point_variance=away.var(axis=0, ddof=1),
        n=n,
        n_repeats=n_repeats,
    )


def _settings(procedure: Any, knob: str | None, values: Any) -> list[tuple[Any, ...]]:
    """Return what to set for each value of the knob."""
    if values is None:
        if knob is not None:
            raise ParameterError(f"knob={knob!r} is given without values; say which to try.")
        return [()]
    if not len(values):
        raise ParameterError("values is empty; give at least one value of the knob.")
    knob = knob or getattr(procedure, "knob", None)
    if knob is None:
        if hasattr(procedure, "fit"):
            raise ParameterError(
                f"{type(procedure).__name__} does not name its knob; say which parameter the "
                "values are of with knob=..."
            )
        knob = "value"
    return [(knob, v.item() if isinstance(v, np.generic) else v) for v in values]


def _repeat(
    procedure: Any,
    generator: Generator,
    n: int,
    fresh: int,
    points: Array,
    settings: list[tuple[Any, ...]],
    seed: int,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Learn from one training set: predictions at the points, training and fresh errors."""
    sample = draw(generator, n + fresh, seed)
    X, y = sample.X[:n], sample.y[:n]
    rows = np.concatenate([points, sample.X])
    at_points, train, test = [], [], []
    for setting in settings:
        predicted = np.asarray(fit(procedure, X, y, setting)(rows), dtype=np.float64)
        if predicted.shape != (len(rows),) or not np.all(np.isfinite(predicted)):
            raise InputError(
                f"The predictor returned shape {predicted.shape} for {len(rows)} rows, or values "
                "that are not finite; it must return one finite number per row."
            )
        losses = SQUARED_ERROR(sample.y, predicted[len(points) :])
        at_points.append(predicted[: len(points)])
        train.append(losses[:n].mean())
        test.append(losses[n:].mean() if fresh else np.nan)
    return np.array(at_points), np.array(train), np.array(test)


def _split(
    away: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray, tuple[FloatArray, FloatArray, FloatArray]]:
    """Return bias^2, variance, their sum, and jackknife standard errors of the three.

    With D_r the deviations from the truth in repeat r and <,> the mean product over the points,
    the mean of <D_r, D_s> over pairs r != s is the unbiased estimate of bias^2, the mean of
    <D_r, D_r> that of bias^2 + variance. Leaving a repeat out of either sum is one subtraction.
    """
    R = len(away)
    own = np.mean(away**2, axis=2)  # <D_r, D_r>, of shape (n_repeats, values)
    with_all = np.mean(away * away.sum(axis=0), axis=2)  # <D_r, sum_s D_s>
    pairs = with_all - own  # the pairs that hold repeat r, counted once
    error = own.mean(axis=0)
    bias2 = pairs.sum(axis=0) / (R * (R - 1))
    error_without = (own.sum(axis=0) - own) / (R - 1)
    bias2_without = (pairs.sum(axis=0) - 2 * pairs) / ((R - 1) * (R - 2))

    def spread(without: FloatArray) -> FloatArray:
        return np.asarray(np.sqrt((R - 1) * without.var(axis=0)))

    return (
        bias2,
        error - bias2,
        error,
        (spread(bias2_without), spread(error_without - bias2_without), spread(error_without)),
    )
