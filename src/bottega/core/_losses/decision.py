"""Losses of predicted labels: the zero-one loss, a matrix of costs; and a user's own function."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from bottega.core._losses.base import Loss
from bottega.core.classes import decided
from bottega.core.errors import InputError, ParameterError
from bottega.core.stored import stored
from bottega.core.typing import Array, FloatArray, IntArray

_TRIALS = 200  # constants that are tried under a loss of which nothing is known


@stored
class ZeroOne(Loss):
    """1 for a wrong prediction, 0 for a right one."""

    name, title, code, convex, bounded = "zero_one", "misclassification", 0, False, True
    labels, task = "any", "classification"

    def _checked(self, y: Any, z: Any) -> tuple[Array, Array]:
        return np.asarray(y), np.asarray(z)

    def _value(self, y: Array, z: Array) -> Array:
        return np.asarray(y != z)

    def _best(self, values: Array, probabilities: FloatArray) -> Array:
        # The same value given twice counts with both its probabilities.
        distinct, where = np.unique(values, return_inverse=True)
        summed = probabilities @ np.eye(len(distinct))[where]
        # The last of equals, so +1 of two signs.
        return np.asarray(distinct[::-1][decided(summed[..., ::-1])])


@stored
@dataclass(frozen=True, repr=False)
class Cost(Loss):
    """What each kind of error costs: the loss of predicting one class where another is observed.

    Parameters
    ----------
    matrix : array-like of shape (K, K)
        ``matrix[i][j]`` is the cost of predicting class i where class j is observed: as in a
        confusion table, rows are predictions and columns observations.
    classes : array-like of shape (K,), optional
        The classes, in the order of the matrix. By default the codes 0, ..., K - 1 of the classes
        in sorted order.

    Examples
    --------
    >>> loss = Cost([[0, 10], [1, 0]], classes=["healthy", "ill"])  # missing an illness costs 10
    >>> loss(["ill", "healthy"], ["healthy", "ill"])
    array([10.,  1.])
    >>> str(loss.best(["healthy", "ill"], [0.8, 0.2]))
    'ill'
    """

    matrix: Any
    classes: Any = None
    named: bool = field(default=False, init=False, compare=False)

    name, title, convex, labels = "cost", "cost", False, "any"
    task = "classification"

    def __post_init__(self) -> None:
        matrix = np.asarray(self.matrix, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
            raise ParameterError(
                f"A cost matrix has one row and one column per class; got shape {matrix.shape}."
            )
        if not np.all(np.isfinite(matrix) & (matrix >= 0)):
            raise ParameterError("Costs must be finite and at least 0.")
        classes = np.arange(len(matrix)) if self.classes is None else np.asarray(self.classes)
        order = np.argsort(classes, kind="stable")
        if classes.shape != (len(matrix),) or len(np.unique(classes)) < len(classes):
            raise ParameterError(
                f"classes must be the {len(matrix)} distinct classes of it; got {classes!r}."
            )
        # Plain tuples, so that equal losses compare and hash as equal.
        put = object.__setattr__
        put(self, "named", self.classes is not None)
        put(self, "matrix", tuple(map(tuple, matrix[np.ix_(order, order)].tolist())))
        put(self, "classes", tuple(classes[order].tolist()))

    def __repr__(self) -> str:
        return f"Cost({[list(row) for row in self.matrix]}, classes={list(self.classes)})"

    @property
    def largest(self) -> float:
        """The largest cost."""
        return float(np.max(self.matrix))

    @classmethod
    def of(cls, given: Any) -> "Cost":
        """Return costs as they are, and a matrix as costs of the classes in sorted order."""
        return given if isinstance(given, Cost) else cls(given)

    def naming(self, classes: Any) -> Self:
        """Return the costs of these classes by name; a matrix for others is refused."""
        given = np.asarray(classes).tolist()
        if not self.named:
            self._check_size(given)
            return type(self)(self.matrix, classes=given)
        absent = [label for label in given if label not in self.classes]
        unknown = [label for label in self.classes if label not in given]
        if absent:
            raise InputError(
                f"The cost matrix has no row and column for the class {absent[0]!r}; it is for "
                f"{_listed(self.classes)}."
            )
        if unknown:
            raise InputError(
                f"The cost matrix is for a class {unknown[0]!r} that does not occur; the classes "
                f"are {_listed(given)}."
            )
        return self

    def _check_size(self, given: list[Any]) -> None:
        if len(given) != len(self.classes):
            raise InputError(
                f"The cost matrix is for {len(self.classes)} classes, and there are {len(given)}: "
                f"{_listed(given)}; give a row and a column for each, or name the classes."
            )

    def deciding(self) -> Loss:
        """Return the cost of the labels of least expected cost."""
        return DecidedCost(self)

    def decide(self, probabilities: Any) -> IntArray:
        """Return the position of the class of least expected cost, the first of equals.

        The last axis of `probabilities` has one entry per class of the matrix, in its order.
        """
        expected = np.asarray(probabilities, dtype=np.float64) @ np.array(self.matrix).T
        return decided(-expected)

    @property
    def threshold(self) -> float:
        """Probability of the second of two classes above which it is the label of least cost.

        NaN where a wrong label costs no more than a right one, so that the costs call for none.
        """
        (a, b), (c, d) = self.matrix
        return (c - a) / (c - a + b - d) if c - a + b - d > 0 else float("nan")

    def for_classes(self, classes: Any) -> Self:
        """Return the costs among these classes, whose codes `of_rows` then takes."""
        wanted = np.asarray(classes).tolist()
        if not self.named:
            self._check_size(wanted)
            return self  # the matrix was given for codes
        position = self._codes(wanted)
        return type(self)(np.array(self.matrix)[np.ix_(position, position)])

    def _checked(self, y: Any, z: Any) -> tuple[Array, Array]:
        return self._codes(y), self._codes(z)

    def _codes(self, y: Any) -> IntArray:
        """Return the positions of labels in the matrix."""
        y, classes = np.asarray(y), np.asarray(self.classes)
        if y.size and isinstance(y.ravel()[0], str) != isinstance(self.classes[0], str):
            raise InputError(
                f"The classes of the cost matrix are {_listed(self.classes)}, and the labels are "
                f"such as {y.ravel().tolist()[0]!r}: give words for words and numbers for numbers."
            )
        position = np.clip(np.searchsorted(classes, y), 0, len(classes) - 1)
        if not np.all(classes[position] == y):
            unknown = y[classes[position] != y].ravel().tolist()[0]
            raise InputError(
                f"{unknown!r} is not among the classes of the cost matrix: {list(self.classes)}."
            )
        return np.asarray(position)

    def _value(self, y: Array, z: Array) -> Array:
        return np.asarray(np.array(self.matrix)[z, y])

    def _best(self, values: Array, probabilities: FloatArray) -> Array:
        expected = probabilities @ np.array(self.matrix)[:, self._codes(values)].T
        return np.asarray(np.asarray(self.classes)[decided(-expected)])


def _listed(classes: Any) -> str:
    return ", ".join(map(repr, classes))


@stored
@dataclass(frozen=True, repr=False)
class DecidedCost(Loss):
    """The cost of the labels of least expected cost, where probabilities are predicted."""

    cost: Cost

    name, title, convex, labels = "cost", "cost", False, "any"
    method, task = "predict_proba", "classification"

    @property
    def largest(self) -> float:
        """The largest cost."""
        return self.cost.largest

    def for_classes(self, classes: Any) -> Self:
        """Return the costs among these classes, whose codes `of_rows` then takes."""
        return type(self)(self.cost.for_classes(classes))

    def naming(self, classes: Any) -> Self:
        """Return the costs of these classes by name; a matrix for others is refused."""
        return type(self)(self.cost.naming(classes))

    def of_rows(self, y: Any, predicted: Any) -> FloatArray:
        """Return the cost of each row; the last axis of `predicted` has one entry per class."""
        return self.cost.of_rows(y, self.cost.decide(predicted))

    def _value(self, y: Array, z: Array) -> Array:
        return self.of_rows(y, z)


@dataclass(frozen=True)
class OwnLoss(Loss):
    """A user's function of truth and prediction that returns one number per row."""

    function: Callable[[Array, Array], Any]
    classes: Any = None

    name, convex, labels, task = "own", False, "any", None

    @property
    def title(self) -> str:  # type: ignore[override]
        """The function's name, in words."""
        return str(getattr(self.function, "__name__", "loss")).replace("_", " ")

    def for_classes(self, classes: Any) -> Self:
        """Return the same loss, whose function is given labels where `of_rows` takes codes."""
        return type(self)(self.function, tuple(np.asarray(classes).tolist()))

    def of_rows(self, y: Any, predicted: Any) -> FloatArray:
        """Return the loss of each row; the function is called once per column of predictions."""
        y, predicted = np.asarray(y), np.asarray(predicted)
        if self.classes is not None:
            classes = np.asarray(self.classes)
            y, predicted = classes[y], classes[predicted]
        columns = predicted.reshape(len(y), -1)
        if y.ndim > 1:  # several responses: each is judged by itself
            y = np.broadcast_to(y, predicted.shape).reshape(len(y), -1)
        losses = [
            self._of_column(y if y.ndim == 1 else y[:, j], columns[:, j])
            for j in range(columns.shape[1])
        ]
        return np.stack(losses, axis=-1).reshape(predicted.shape)

    def _of_column(self, y: Array, predicted: Array) -> FloatArray:
        losses = np.asarray(self.function(y, predicted), dtype=np.float64)
        if losses.shape != y.shape:
            raise InputError(
                f"The loss must be one number per row; for {len(y)} rows it has shape "
                f"{losses.shape}."
            )
        if not np.all(np.isfinite(losses)):
            row = int(np.argmin(np.isfinite(losses)))
            raise InputError(
                f"The loss {self.title!r} is {losses[row]} for the response {y[row].item()!r} and "
                f"the prediction {predicted[row].item()!r} (row {row}); it must be a finite number."
            )
        return losses

    def _best(self, values: Array, probabilities: FloatArray) -> Array:
        """Return the best of the values and their mean: where it lies between is not known."""
        trials = np.unique(values)
        if len(trials) > _TRIALS:
            trials = np.quantile(trials, np.linspace(0, 1, _TRIALS), method="nearest")
        if values.dtype.kind in "fiu":
            trials = np.append(trials, probabilities @ values)
        losses = self.of_rows(values, np.tile(trials, (len(values), 1)))
        return np.asarray(trials[np.argmin(probabilities @ losses)])

    def _checked(self, y: Any, z: Any) -> tuple[Array, Array]:
        return np.asarray(y), np.asarray(z)

    def _value(self, y: Array, z: Array) -> Array:
        return np.asarray(self.function(y, z))
