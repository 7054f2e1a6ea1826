"""A distribution on finitely many points and labels: every risk is a sum, no simulation needed."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.lazy import cached_property
from bottega.core.losses import ZERO_ONE, get_loss
from bottega.core.params import Integer
from bottega.core.seeds import seed_of
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.data.make import Sample
from bottega.risk.theory.hypotheses import are_labellings, as_table, predictions_on

__all__ = ["FiniteDistribution"]

_SUM_TOLERANCE = 1e-9  # rounding of probabilities that a user computed


@dataclass(frozen=True, eq=False)
class FiniteDistribution:
    """A known distribution D of (X, Y) with finitely many values.

    It is a generator too: ``D(n, random_state=0)`` draws a `Sample`.

    Parameters
    ----------
    joint : array-like of shape (k, c)
        Probability of each point with each label; they sum to 1.
    labels : array-like of shape (c,), optional
        The labels; -1 and +1 by default.
    points : array-like of shape (k, d), optional
        The points; numbered 0, 1, ... by default, as explicit labellings take them.
    loss : str or Loss
        The loss by which predictions are judged.

    Examples
    --------
    Three points with P(Y = +1) of 0.9, 0.5 and 0.2; the tie goes to +1:

    >>> eta = np.array([0.9, 0.5, 0.2])
    >>> D = FiniteDistribution(np.column_stack([1 - eta, eta]) / 3)
    >>> D.bayes, round(D.bayes_risk, 4)
    (array([ 1,  1, -1]), 0.2667)
    >>> round(float(D.risk([1, 1, 1])), 4)
    0.4667
    >>> D(4, random_state=1).X.shape
    (4, 1)
    """

    joint: Any
    labels: Any = (-1, 1)
    points: Any = None
    loss: Any = ZERO_ONE

    def __post_init__(self) -> None:
        joint = np.asarray(self.joint, dtype=np.float64)
        labels = np.asarray(self.labels)
        if joint.ndim != 2 or labels.shape != joint.shape[1:]:
            raise InputError(
                f"joint has shape {joint.shape} and labels {labels.shape}; give one row per point "
                "and one column per label."
            )
        if not np.all(joint >= 0) or abs(joint.sum() - 1) > _SUM_TOLERANCE:
            raise InputError(
                f"joint must hold probabilities that sum to 1; the least is {joint.min():.4g} and "
                f"the sum {joint.sum():.6g}."
            )
        points = np.arange(len(joint)) if self.points is None else np.asarray(self.points)
        points = points[:, np.newaxis] if points.ndim == 1 else points
        if points.ndim != 2 or len(points) != len(joint):
            raise InputError(
                f"points has shape {points.shape}; give one row for each of the {len(joint)} "
                "rows of joint."
            )
        if len({tuple(point) for point in points.tolist()}) < len(points):
            raise InputError("points holds a point twice; add up the probabilities of its rows.")
        if len(set(labels.tolist())) < len(labels):
            raise InputError("labels holds a label twice; add up the probabilities of its columns.")
        put = object.__setattr__
        put(self, "joint", joint)
        put(self, "labels", labels)
        put(self, "points", points)
        put(self, "loss", get_loss(self.loss))

    def __len__(self) -> int:
        return len(self.joint)

    @cached_property
    def marginal(self) -> FloatArray:
        """Probability of each point."""
        return np.asarray(self.joint.sum(axis=1))

    @cached_property
    def conditional(self) -> FloatArray:
        """Probability of each label given each point; equal ones where the point cannot occur."""
        mass = self.marginal[:, np.newaxis]
        equal = np.full_like(self.joint, 1 / len(self.labels))
        return np.divide(self.joint, mass, out=equal, where=mass > 0)

    @cached_property
    def bayes(self) -> Array:
        """Best prediction at each point."""
        return self.loss.best(self.labels, self.conditional)

    @cached_property
    def bayes_risk(self) -> float:
        """The risk of `bayes`: no predictor has a smaller one."""
        return float(self.risk(self.bayes))

    def risk(self, predictions: Any) -> FloatArray:
        """Return the exact risk of predictions at the points.

        Parameters
        ----------
        predictions : array-like of shape (..., k)
            What is predicted at each point, in the order of `points`.

        Returns
        -------
        ndarray of shape (...)
        """
        predictions = np.asarray(predictions)
        if predictions.shape[-1:] != (len(self),):
            raise InputError(
                f"predictions has shape {predictions.shape}; its last axis must hold one "
                f"prediction for each of the {len(self)} points."
            )
        at_point = self.loss.risk(self.labels, self.conditional, predictions)
        # What cannot happen costs nothing, were its loss infinite.
        return np.asarray(np.where(self.marginal > 0, at_point * self.marginal, 0.0).sum(axis=-1))

    def risks(self, hypotheses: Any) -> FloatArray:
        """Return the exact risk of each hypothesis of a finite class, as `erm` takes it.

        Labellings are of the points in their order, whatever the points are.
        """
        if are_labellings(hypotheses):
            return self.risk(as_table(hypotheses))
        return self.risk(predictions_on(hypotheses, self.points))

    def places(self, X: Any) -> IntArray:
        """Return the number of the point that each row of X is."""
        X = np.asarray(X)
        X = X[:, np.newaxis] if X.ndim == 1 else X
        number = {tuple(point): i for i, point in enumerate(self.points.tolist())}
        try:
            return np.array([number[tuple(row)] for row in X.tolist()], dtype=np.intp)
        except KeyError as error:
            raise InputError(f"{error.args[0]} is not among the points.") from error

    def __call__(self, n: int, *, random_state: Any = 0) -> Sample:
        """Draw `n` independent rows."""
        Integer(1).check("FiniteDistribution", "n", n)
        rng = np.random.default_rng(seed_of(random_state))
        cells = rng.choice(self.joint.size, size=n, p=self.joint.ravel() / self.joint.sum())
        at, label = np.unravel_index(cells, self.joint.shape)
        rows = self.points[at], self.labels[label]
        return Sample(*rows, partial(_best_at, self), self.bayes_risk, self.loss.name, "finite")


def _best_at(distribution: FiniteDistribution, X: Array) -> Array:
    return np.asarray(distribution.bayes[distribution.places(X)])
