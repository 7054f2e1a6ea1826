"""Texts that may have several labels: a matrix of zeros and ones, a column per label."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.frames import is_frame
from bottega.core.sparse import is_sparse
from bottega.core.typing import Array, IntArray

__all__ = ["check_labels", "label_names", "labels_as_table", "place_of", "refuse_lists_of_labels"]


def refuse_lists_of_labels(D: Any) -> None:
    """Refuse texts whose labels come as a list or set each.

    Examples
    --------
    >>> refuse_lists_of_labels([["price"], ["price", "staff"]])
    Traceback (most recent call last):
        ...
    bottega.core.errors.InputError: The tags of a text are of type list; for several labels give a \
matrix of zeros and ones with a column per label, such as \
sklearn.preprocessing.MultiLabelBinarizer().fit_transform(D).
    """
    if isinstance(D, list | tuple):
        given = D
    elif getattr(D, "ndim", 0) == 1 and str(getattr(D, "dtype", "")) == "object":
        given = list(D)
    else:
        return
    lists = [each for each in given if isinstance(each, list | tuple | set | frozenset)]
    words = any(isinstance(word, str) for each in lists for word in each)
    if words or len({len(each) for each in lists}) > 1:
        raise InputError(
            f"The tags of a text are of type {type(lists[0]).__name__}; for several labels give a "
            "matrix of zeros and ones with a column per label, such as "
            "sklearn.preprocessing.MultiLabelBinarizer().fit_transform(D)."
        )


def labels_as_table(D: Any) -> Any:
    """Return tags as an array: (n,) of one label each, or (n, L) of zeros and ones."""
    table = D.toarray() if is_sparse(D) else D
    if table.ndim == 1 or table.shape[1] == 1:
        return table.ravel()
    found = np.unique(table)
    if found.dtype.kind in "bif" and set(found.tolist()) <= {0, 1}:
        return table.astype(np.int64)
    other = next(each for each in found.tolist() if each not in (0, 1))
    raise InputError(
        f"The tags have {table.shape[1]} columns, and {other!r} is among their values. For several "
        "labels give a column of zeros and ones for each; where a text has one label, give one "
        "column."
    )


def label_names(D: Any, count: int, classes: Any) -> Array:
    """Return the names of the labels: those of a frame's columns, or `classes`, or numbers.

    Examples
    --------
    >>> label_names(np.zeros((3, 2)), 2, ["price", "staff"]).tolist()
    ['price', 'staff']
    """
    named = None if classes is None else np.asarray(classes).tolist()
    if is_frame(D):
        names = [str(name) for name in D.columns]
        if named is not None and sorted(map(str, named)) != sorted(names):
            raise InputError(f"classes={named!r} are not the columns of the tags, {names!r}.")
        return np.array(names, dtype=object)
    if named is None:
        return np.arange(count)
    if len(named) != count or len(set(named)) < count:
        raise InputError(
            f"The tags have {count} columns, one per label, and classes={named!r} does not name "
            "each of them once."
        )
    return np.array(named, dtype=object)


def check_labels(names: Array, table: IntArray) -> None:
    """Refuse a label that fewer than two texts have, or that fewer than two do not have."""
    for name, having in zip(names.tolist(), table.sum(axis=0).tolist(), strict=True):
        lacking = len(table) - having
        if min(having, lacking) >= 2:
            continue
        few, what = (having, "has") if having < lacking else (lacking, "is without")
        count = "No tagged text" if few == 0 else "Only one tagged text"
        raise InputError(
            f"{count} {what} the label {name!r}, and at least two are needed: each is answered by "
            "a model of the others. Tag more, or leave the label out."
        )


def place_of(label: Any, known: list[Any] | None) -> int | None:
    """Return which of several labels is meant; None where each text has one label.

    Examples
    --------
    >>> place_of("staff", ["price", "staff"])
    1
    """
    if known is None:
        if label is not None:
            raise InputError(f"label={label!r}: each text has one label here; leave it out.")
        return None
    if label not in known:
        raise InputError(f"Texts have several labels; give label= one of {known!r}, not {label!r}.")
    return known.index(label)
