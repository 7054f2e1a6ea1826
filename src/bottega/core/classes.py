"""Classes: which one scores decide for, their shares, and their codes in a stream."""

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from bottega.core.errors import InputError
from bottega.core.typing import Array, FloatArray, IntArray

__all__ = [
    "TIE",
    "NoProbabilities",
    "check_classes",
    "classes_of_stream",
    "codes_in_stream",
    "decided",
    "has_probabilities",
    "refuse_single",
    "spread",
]

TIE = 1e-12  # scores nearer than this, relative to the largest in size, are equal


def decided(scores: FloatArray, default: int = -1) -> IntArray:
    """Return the position of the largest score along the last axis.

    Of scores that are equal but for rounding the first wins, or `default` if it is among them.

    Examples
    --------
    >>> decided(np.array([[0.1 + 0.2, 0.3, 0.4], [0.3, 0.1 + 0.2, 0.0]]))
    array([2, 0])
    >>> decided(np.array([[0.5, 0.5]]), default=1)
    array([1])
    """
    columns = [scores[..., k] for k in range(scores.shape[-1])]  # faster than along the axis
    top = reduce(np.maximum, columns)
    least = top - TIE * np.maximum(top, -reduce(np.minimum, columns))
    found = np.zeros(scores.shape[:-1], dtype=np.intp)
    for k in (*range(len(columns) - 1, 0, -1), 0, default):
        if k >= 0:
            np.copyto(found, k, where=columns[k] >= least)
    return found


def spread(shares: Any, own: Array, classes: Array) -> FloatArray:
    """Return shares of a model's own classes as shares of `classes`; those not its own have 0.

    Examples
    --------
    >>> spread([[0.4, 0.6]], np.array(["a", "c"]), np.array(["a", "b", "c"]))
    array([[0.4, 0. , 0.6]])
    """
    found = np.asarray(shares, dtype=np.float64)
    if np.array_equal(own, classes):
        return found
    wide = np.zeros((len(found), len(classes)))
    wide[:, np.searchsorted(classes, own)] = found
    return wide


def check_classes(classes: Array) -> None:
    """Refuse rows of a single class.

    Examples
    --------
    >>> check_classes(np.array(["a"]))
    Traceback (most recent call last):
        ...
    bottega.core.errors.InputError: A classifier needs at least two classes, and y has only one \
class, 'a'; check the target.
    """
    if len(classes) < 2:
        raise InputError(
            "A classifier needs at least two classes, and y has only one class, "
            f"{classes.tolist()[0]!r}; check the target."
        )


def classes_of_stream(y: Array, classes: Any) -> Array:
    """Return the classes of a stream: those named with its first block, else those in it."""
    labels = y if classes is None else np.asarray(classes)
    check_classification_targets(labels)
    found = np.unique(labels)
    refuse_single(found)
    return found


def refuse_single(classes: Array) -> None:
    """Refuse a learner of streams with one class alone."""
    if len(classes) < 2:
        raise InputError(
            f"A classifier needs at least two classes and there is one class, "
            f"{classes.tolist()[0]!r}. In a stream, name them all with the first block: "
            "partial_fit(X, y, classes=...)."
        )


def codes_in_stream(y: Array, known: Array, classes: Any = None) -> IntArray:
    """Return the codes 0, 1, ... of labels among the `known` classes of a stream.

    `classes` may be named again with a later block, and must be the same then.
    """
    if classes is not None and not np.array_equal(np.unique(classes), known):
        raise InputError(
            f"classes={list(classes)!r} are not those of the first block, {known.tolist()!r}; "
            "start a new model for another set of labels."
        )
    try:
        if len(known) == 2:  # faster than to search
            upper = np.asarray(y == known[1])
            codes, right = upper.astype(np.intp), upper | np.asarray(y == known[0])
        else:
            codes = np.minimum(np.searchsorted(known, y), len(known) - 1)
            right = np.asarray(known[codes] == y)
    except TypeError:  # labels that cannot be put in one order
        codes, right = np.zeros(len(y), dtype=np.intp), np.zeros(len(y), dtype=bool)
    if not right.all():
        raise InputError(
            f"The label {y[~right].tolist()[0]!r} is not among the classes {known.tolist()!r}. "
            "Name all labels that may come with the first block, partial_fit(X, y, "
            "classes=...), or start a new model."
        )
    return codes


class NoProbabilities:
    """A classifier without probabilities: asked for them, it names the way to get them.

    For Python, and for scikit-learn, `predict_proba` is not there.

    Examples
    --------
    >>> class Rule(NoProbabilities):
    ...     pass
    >>> hasattr(Rule(), "predict_proba")
    False
    """

    if not TYPE_CHECKING:  # for a type checker it would have every attribute

        def __getattr__(self, name: str) -> Any:
            if name != "predict_proba":
                return object.__getattribute__(self, name)  # what it raised before, again
            own = type(self).__name__
            raise AttributeError(
                f"{own} has no predict_proba: its scores are no probabilities. Calibrate them, "
                f"bottega.classify.CalibratedClassifierCV({own}(...)), or use decision_function."
            )


def has_probabilities(model: Any) -> bool:
    """Return True, for scikit-learn's `available_if`, unless the model fits indicators of classes.

    A model whose `method` is ``"indicator"`` has fitted values, which leave the interval from 0 to
    1; what its method is by default gives probabilities.
    """
    if model.method == "indicator":
        usual = type(model)().method
        raise AttributeError(
            f"{type(model).__name__}(method='indicator') has no predict_proba: its fitted values "
            f"leave the interval from 0 to 1. Use method={usual!r}."
        )
    return True
