"""How balanced the classes are, before anything is learned: the constant majority predictor."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.frames import make_frame
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.core.validate import refuse_masked
from bottega.plot import target_chart

__all__ = ["Balance", "balance"]


def check_labels(name: str, y: Any) -> Array:
    """Return labels as a column without gaps."""
    refuse_masked(**{name: y})
    y = np.asarray(y)
    if y.ndim != 1 or not y.size:
        raise InputError(f"{name} must be a column of at least one label; its shape is {y.shape}.")
    missing: Any = False  # texts, whole numbers and truth values have no gaps
    if y.dtype.kind == "f":
        missing = np.isnan(y)
    elif y.dtype.kind not in "biuUS":
        missing = np.array([v is None or v != v for v in y])
    if np.any(missing):
        raise InputError(
            f"{name} has {int(np.count_nonzero(missing))} missing labels; leave those rows out."
        )
    return y


@dataclass(frozen=True)
class Balance:
    """Class frequencies, and what always predicting the most frequent class would reach.

    Attributes
    ----------
    labels : ndarray
        The classes, sorted.
    counts : ndarray of int
        Rows of each.
    """

    labels: Array
    counts: IntArray

    @property
    def shares(self) -> FloatArray:
        """Share of each class."""
        return self.counts / self.counts.sum()

    @property
    def majority(self) -> Any:
        """The most frequent class; the first of equals."""
        return self.labels[np.argmax(self.counts)]

    @property
    def majority_accuracy(self) -> float:
        """Accuracy of the constant predictor of the most frequent class."""
        return float(self.shares.max())

    @property
    def imbalance(self) -> float:
        """How many times the most frequent class is more frequent than the rarest."""
        return float(self.counts.max() / self.counts.min())

    def tidy(self, like: Any = None) -> Any:
        """Return the frequencies as a data frame."""
        return make_frame({"label": self.labels, "rows": self.counts, "share": self.shares}, like)

    def to_frame(self, like: Any = None) -> Any:
        """Return the frequencies as a data frame, as `tidy` does."""
        return self.tidy(like)

    def plot(self) -> Any:
        """Draw the frequencies."""
        y = np.repeat(self.labels, self.counts)
        return target_chart(y, "classification", name="class")

    def __str__(self) -> str:
        return (
            f"{len(self.labels)} classes; always predicting {self.majority!s} has accuracy "
            f"{self.majority_accuracy:.4g}, which a model has to beat."
        )


def balance(y: Any) -> Balance:
    """Return how balanced the classes are.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels.

    Returns
    -------
    Balance

    Examples
    --------
    >>> print(balance(["blue"] * 90 + ["green"] * 10))
    2 classes; always predicting blue has accuracy 0.9, which a model has to beat.
    """
    labels, counts = np.unique(check_labels("y", y), return_counts=True)
    return Balance(labels, counts)
