"""Observed classes and the probabilities of all classes, checked."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.rows import check_weight
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.core.validate import refuse_masked
from bottega.metrics.balance import check_labels

__all__ = ["read_probabilities"]

_ROUNDING = 1e-6  # by which probabilities may miss a sum of one


def read_probabilities(
    y_true: Any, probability: Any, classes: Any = None, sample_weight: Any = None
) -> tuple[IntArray, FloatArray, FloatArray, Array]:
    """Return codes, probabilities (a column per class), weights and classes of the rows that count.

    Of two classes the probability of the second alone will do.
    """
    labels = check_labels("y_true", y_true)
    refuse_masked(probability=probability, sample_weight=sample_weight)
    shares = np.asarray(probability, dtype=np.float64)
    known = np.unique(labels) if classes is None else np.asarray(classes)
    if len(np.unique(known)) < len(known):
        raise InputError(f"classes holds a class twice: {known.tolist()}.")
    if len(known) == 1 and classes is None and known[0] in (0, 1):
        known = np.array([0, 1]).astype(known.dtype)
    if shares.ndim == 1 and len(known) == 2:
        shares = np.column_stack([1 - shares, shares])
    if shares.shape != (len(labels), len(known)):
        raise InputError(
            f"probability has shape {shares.shape}; {len(labels)} rows of the {len(known)} classes "
            f"{', '.join(map(str, known.tolist()))} need ({len(labels)}, {len(known)}). Name all "
            "classes with classes=... if some do not occur."
        )
    if not np.all((shares >= 0) & (shares <= 1)):
        raise InputError("probability must lie between 0 and 1 in every row, without gaps.")
    total = shares.sum(axis=1)
    if np.any(np.abs(total - 1) > _ROUNDING):
        row = int(np.argmax(np.abs(total - 1)))
        raise InputError(
            f"The probabilities of a row must sum to 1; those of row {row} sum to {total[row]:.6g}."
        )
    order = np.argsort(known, kind="stable")
    at = np.clip(np.searchsorted(known[order], labels), 0, len(known) - 1)
    strange = known[order][at] != labels
    if strange.any():
        found = sorted(set(map(str, labels[strange].tolist())))
        raise InputError(f"These labels occur but are not among classes: {', '.join(found)}.")
    weight = check_weight(sample_weight, len(labels))
    codes = order[at]
    if weight is None:
        return codes, shares, np.ones(len(labels)), known
    kept = weight > 0
    return codes[kept], shares[kept], weight[kept], known
