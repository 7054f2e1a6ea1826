"""Ratings that come in chunks: of a list of ratings, or of a matrix with one row per user."""

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags

from bottega.core.chunked import NO_ROWS
from bottega.core.chunks import CheckedChunks, is_empty, parts_of
from bottega.core.engine import working_on
from bottega.core.errors import InputError
from bottega.core.gathered import Gathered
from bottega.core.gathered_matrix import unweighted_blocks
from bottega.core.rows import Rows
from bottega.core.typing import Array, IntArray
from bottega.latent._ratings.observed import (
    Ratings,
    as_labels,
    as_values,
    columns_of,
    ratings_of_matrix,
)

__all__ = ["RatingChunks"]


class RatingChunks(Gathered):
    """Keeps the ratings of chunks as numbers: of each its user, its item and its value."""

    _sparse_chunks: ClassVar[bool] = True
    in_chunks: ClassVar[str] = (
        "Of ratings in chunks users, items and values are kept as numbers, and the answer is "
        "that of `fit`. Rows of a matrix are users, numbered as they come."
    )

    columns: Any

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def _check_chunks(self, chunks: Iterable[Any], **how: Any) -> CheckedChunks:
        with working_on(None):  # labels may be texts, which no worker is to read as numbers
            return super()._check_chunks(chunks, **how)

    def _gather(self, checked: CheckedChunks) -> Rows:
        if self.columns is None:
            return Rows(self._checked(self._of_matrices(checked)))
        for name in ("n_features_in_", "feature_names_in_"):  # which a list of ratings has not
            self.__dict__.pop(name, None)
        return Rows(self._checked(self._of_lists(checked.chunks)))

    def _of_matrices(self, checked: CheckedChunks) -> Ratings:
        """Return the ratings of rows of a matrix, whose users are numbered as they come."""
        parts, n = [], 0
        items = np.arange(checked.n_features)
        for X in unweighted_blocks(checked, type(self).__name__):
            part = ratings_of_matrix(X, np.arange(X.shape[0]), items)
            parts.append((part.user + n, part.item, part.value))
            n += X.shape[0]
        if not parts:
            raise InputError(NO_ROWS)
        user, item, value = map(np.concatenate, zip(*parts, strict=True))
        names = checked.names
        items = items if names is None else np.asarray(names).astype(np.str_)
        return Ratings(np.arange(n), items, user, item, value, np.ones(len(value)))

    def _of_lists(self, chunks: Iterable[Any]) -> Ratings:
        """Return the ratings of lists, not joined yet."""
        users, items = LabelCodes("users"), LabelCodes("items")
        values = []
        for X in (parts_of(chunk)[0] for chunk in chunks):
            if is_empty(X):
                continue
            found = columns_of(X, self.columns)
            users.add(found[0])
            items.add(found[1])
            values.append(as_values(found[2]) if len(found) == 3 else np.ones(len(found[0])))
        if not values:
            raise InputError("The chunks have no ratings; at least 1 is required.")
        value = np.concatenate(values)
        of_users, user = users.joined()
        of_items, item = items.joined()
        return Ratings(of_users, of_items, user, item, value, np.ones(len(value)))


class LabelCodes:
    """Labels of chunks as codes: of each chunk its own, and of all of them in the end."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._parts: list[tuple[Array, IntArray]] = []

    def add(self, column: Any) -> None:
        """Take in the labels of the next chunk."""
        labels, codes = np.unique(as_labels(column, self._name), return_inverse=True)
        if self._parts and (labels.dtype.kind == "U") != (self._parts[0][0].dtype.kind == "U"):
            raise InputError(
                f"The {self._name} are texts in some chunks and numbers in others, such as "
                f"{self._parts[0][0][0]!r} and {labels[0]!r}; make all of them texts."
            )
        self._parts.append((labels, codes.astype(np.int32)))

    def joined(self) -> tuple[Array, IntArray]:
        """Return all labels, sorted, and the position of each row's among them."""
        known = np.unique(np.concatenate([labels for labels, _ in self._parts]))
        places = [np.searchsorted(known, labels)[codes] for labels, codes in self._parts]
        return known, np.concatenate(places)
