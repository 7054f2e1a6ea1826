"""What every loss has: value, derivatives, best prediction, and the losses of many rows."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import Array, FloatArray

_SUM_TOLERANCE = 1e-9  # rounding of probabilities that a user computed
ROUNDING = 1e-12  # by which a running sum of probabilities may fall short
HALF = 0.5 - ROUNDING


@dataclass(frozen=True, repr=False)
class Loss:
    """A loss of one prediction against one truth; `bottega.core.losses` has its instances.

    Called as ``loss(y, z)``, truth first, with arrays that broadcast by numpy's rules.

    Attributes
    ----------
    name : str
        The name by which `get_loss` finds it.
    title : str
        The words for it in paths, charts and reports.
    code : int
        The number by which compiled kernels know it; -1 if they do not.
    convex : bool
        Whether it is convex in the prediction.
    bounded : bool
        Whether it lies in [0, 1] whatever is predicted.
    labels : {"any", "real", "sign", "unit"}
        Which truths it takes: anything, numbers, -1 and +1, or 0 and 1.
    method : {"predict", "predict_proba"}
        What an estimator must return for it to be judged by this loss.
    task : {"regression", "classification", "margin"} or None
        What predictions it can judge; None: any. Hinge and logistic loss take real numbers for
        labels -1 and +1: learners follow them, and no task is judged by them.

    Examples
    --------
    >>> from bottega.core.losses import ABSOLUTE_ERROR, HINGE, SQUARED_ERROR
    >>> HINGE([1, -1], [0.5, 0.5])
    array([0.5, 1.5])
    >>> HINGE.gradient([1, -1], [0.5, 0.5])
    array([-1.,  1.])
    >>> float(SQUARED_ERROR.best([0, 1, 5], [0.5, 0.25, 0.25]))
    1.5
    >>> float(ABSOLUTE_ERROR.risk([0, 1, 5], [0.5, 0.25, 0.25], z=0))
    1.5
    """

    name: ClassVar[str]
    title: ClassVar[str]
    code: ClassVar[int] = -1
    convex: ClassVar[bool] = True
    bounded: ClassVar[bool] = False
    labels: ClassVar[str] = "real"
    method: ClassVar[str] = "predict"
    task: ClassVar[str | None] = "regression"

    def __repr__(self) -> str:
        return self.name.upper()

    @property
    def largest(self) -> float | None:
        """The largest loss of a row, where there is one; the least is then zero."""
        return 1.0 if self.bounded else None

    def __call__(self, y: Any, z: Any) -> FloatArray:
        """Return the loss of predicting z where the truth is y."""
        return np.asarray(self._value(*self._checked(y, z)), dtype=np.float64)

    def gradient(self, y: Any, z: Any) -> FloatArray:
        """Return the derivative in z; at a kink a subgradient (0 for absolute and hinge)."""
        return np.asarray(self._gradient(*self._checked(y, z)), dtype=np.float64)

    def curvature(self, y: Any, z: Any) -> FloatArray:
        """Return the second derivative in z; at a kink that of the piece nearer the truth."""
        y, z = np.broadcast_arrays(*self._checked(y, z))
        return np.asarray(self._curvature(y, z), dtype=np.float64)

    def of_rows(self, y: Any, predicted: Any) -> FloatArray:
        """Return the loss of each row, for one or many predictions per row.

        Parameters
        ----------
        y : array-like of shape (n,)
            Numbers; for a classifier the codes 0, ..., K - 1 of the classes.
        predicted : array-like of shape (n, ...) or, for probabilities, (n, ..., K)
            Predictions, for example one column per model; for a loss whose `method` is
            ``"predict_proba"`` the last axis has one probability per class.

        Returns
        -------
        ndarray of shape (n, ...)
            The losses.
        """
        truth, predicted = np.asarray(y), np.asarray(predicted)
        return self(truth.reshape(truth.shape + (1,) * (predicted.ndim - truth.ndim)), predicted)

    def for_classes(self, classes: Any) -> Self:
        """Return the loss for codes of these classes, in this order, in `of_rows`."""
        del classes  # only a loss that names classes depends on them
        return self

    def naming(self, classes: Any) -> Self:
        """Return the loss with these classes named; raise unless it is known for just them."""
        del classes
        return self

    def deciding(self) -> "Loss":
        """Return the loss of the best decisions that probabilities of the classes lead to.

        It judges ``predict_proba``. A loss for which the most probable class need not be the best
        decision has one of its own; others return themselves.
        """
        return self

    def best(self, values: Any, probabilities: Any) -> Array:
        """Return the prediction of least expected loss for a truth with finitely many values.

        Parameters
        ----------
        values : array-like of shape (k,)
            What the truth may be.
        probabilities : array-like of shape (..., k)
            How probable each is; the last axis sums to 1.

        Returns
        -------
        ndarray of shape (...)
            Ties of the zero-one and hinge losses go to the largest label, so +1 at one half, and
            those of costs to the first; of all medians the absolute error takes the least. Where
            the truth is certain log loss and logistic loss have no least value, only a limit, and
            that limit (0 or 1, minus or plus infinity) is returned.
        """
        values, probabilities = self._distribution(values, probabilities)
        return np.asarray(self._best(values, probabilities))

    def risk(self, values: Any, probabilities: Any, z: Any) -> FloatArray:
        """Return the expected loss of z for a truth with finitely many values, as in `best`."""
        values, probabilities = self._distribution(values, probabilities)
        losses = self(values, np.asarray(z)[..., np.newaxis])
        # An infinite loss of what cannot happen costs nothing.
        possible = np.where(probabilities > 0, losses, 0.0)
        return np.asarray(np.sum(probabilities * possible, axis=-1))

    def _checked(self, y: Any, z: Any) -> tuple[Array, Array]:
        """Return truth and prediction as arrays that this loss can take."""
        return self._truth(y), np.asarray(z, dtype=np.float64)

    def _truth(self, y: Any) -> Array:
        """Return the truth as an array, or raise that the loss does not take such labels."""
        if self.labels == "any":
            return np.asarray(y)
        truth: Array = np.asarray(y, dtype=np.float64)
        if self.labels == "sign" and not np.all((truth == -1) | (truth == 1)):
            raise InputError(f"The {self.title} takes labels -1 and +1; code the classes so.")
        if self.labels == "unit" and not np.all((truth == 0) | (truth == 1)):
            raise InputError(f"The {self.title} takes labels 0 and 1; code the classes so.")
        return truth

    def _distribution(self, values: Any, probabilities: Any) -> tuple[Array, FloatArray]:
        values = np.asarray(self._truth(values))
        probabilities = np.asarray(probabilities, dtype=np.float64)
        if values.ndim != 1 or not values.size or probabilities.shape[-1:] != values.shape:
            raise InputError(
                f"values has shape {values.shape} and probabilities {probabilities.shape}; give "
                "one probability for each value, along the last axis."
            )
        total = probabilities.sum(axis=-1)
        if not np.all(probabilities >= 0) or not np.all(np.abs(total - 1) <= _SUM_TOLERANCE):
            raise InputError("probabilities must be at least 0 and sum to 1 along the last axis.")
        order = np.argsort(values, kind="stable")
        return values[order], probabilities[..., order]

    @abstractmethod
    def _value(self, y: Array, z: Array) -> Array:
        """Return the loss; truth and prediction are checked."""

    def _gradient(self, y: Array, z: Array) -> Array:
        """Return the derivative in z; truth and prediction are checked."""
        raise InputError(
            f"The {self.name} loss has no gradient to follow; learn with hinge or logistic instead."
        )

    def _curvature(self, y: Array, z: Array) -> Array:
        """Return the second derivative in z, of the shape of both; 0 for piecewise linear ones."""
        self._gradient(y, z)  # a loss without the first derivative has no second
        return np.zeros(np.shape(z))

    def _best(self, values: Array, probabilities: FloatArray) -> Array:
        """Return the best prediction; the values are sorted."""
        raise InputError(f"The best prediction under the {self.name} loss is not known.")


def share_of_upper(values: Array, probabilities: FloatArray) -> FloatArray:
    """Return the probability of the label 1 (the last label if it is among them)."""
    return np.asarray(np.sum(probabilities * (values == 1), axis=-1))
