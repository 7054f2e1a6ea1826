"""The rows that the folds held out, all in one, and the models that have not seen them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.errors import InputError, did_you_mean
from bottega.core.frames import backend_of, default_names
from bottega.core.lazy import cached_property
from bottega.core.sparse import is_sparse
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.data import convert
from bottega.explain._rows.columns import ColumnValues, read_column
from bottega.risk.estimate.judged_rows import (
    JudgedRows,
    RowLosses,
    check_rows,
    class_probabilities,
    task_of,
)

DELTA = 0.05  # probability with which an interval may miss


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows by their position, fold after fold; each is predicted by the model of its fold.

    New rows are made of these: some columns of a row may take the values of other rows.
    """

    X: Any  # a frame of narwhals, or a matrix
    rows: JudgedRows
    fold: IntArray
    models: tuple[Any, ...]
    columns: tuple[str, ...]  # those to be explained
    row_losses: RowLosses
    label: Any  # the class whose probability is explained; None for numbers
    target: str
    numbers: Array  # what a row is called

    @classmethod
    def of(
        cls,
        fits: Sequence[tuple[Any, ...]],
        *,
        loss: Any = None,
        columns: Sequence[str] | None = None,
        groups: Sequence[Any] | None = None,
        rows: Sequence[Any] | None = None,
        label: Any = None,
        target: str = "response",
    ) -> "HeldOut":
        """Put the rows of all folds together."""
        fits = list(fits)
        if not fits or any(len(each) not in (3, 4) for each in fits):
            raise InputError(
                "fits must be a list of (model, X, y, sample_weight), one per fold, with at least "
                "one fold."
            )
        parts = [check_rows(each[1], each[2]) for each in fits]
        weights = [each[3] if len(each) == 4 else None for each in fits]
        sizes = [len(y) for _, y in parts]
        weight = None
        if any(each is not None for each in weights):
            weight = np.concatenate(
                [np.ones(n) if w is None else w for w, n in zip(weights, sizes, strict=True)]
            )
        task = task_of(fits[0][0])
        y = np.concatenate([y for _, y in parts])
        judged = JudgedRows(y, task, weight, _together("groups", groups, sizes))
        X = _stacked([X for X, _ in parts])
        names = names_of(X)
        for name in columns or ():
            if name not in names:
                raise InputError(
                    f"There is no column {name!r} among the inputs.{did_you_mean(name, names)}"
                )
        numbers = _together("rows", rows, sizes)
        return cls(
            X=X,
            rows=judged,
            fold=np.repeat(np.arange(len(fits)), sizes),
            models=tuple(each[0] for each in fits),
            columns=tuple(names if columns is None else columns),
            row_losses=RowLosses(loss, task, judged.classes),
            label=_label(judged, label),
            target=target,
            numbers=np.arange(len(y)) if numbers is None else numbers,
        )

    def __len__(self) -> int:
        return len(self.fold)

    @property
    def weight(self) -> FloatArray:
        """What each row counts."""
        return np.ones(len(self)) if self.rows.weight is None else self.rows.weight

    @property
    def classes(self) -> Array | None:
        """All labels that a row has or a model knows; None for numbers."""
        if self.rows.classes is None:
            return None
        known = [getattr(model, "classes_", self.rows.classes) for model in self.models]
        return np.unique(np.concatenate([self.rows.classes, *known]))

    @property
    def has_probabilities(self) -> bool:
        """Whether the models give probabilities of classes."""
        return self.label is not None and all(hasattr(m, "predict_proba") for m in self.models)

    @property
    def outcome(self) -> str:
        """What the effects are effects on, in words."""
        if self.label is None:
            return f"predicted {self.target}"
        if self.has_probabilities:
            return f"probability of {self.target} = {self.label}"
        return f"share predicted {self.target} = {self.label}"

    def outcome_of(self, model: Any, X: Any) -> FloatArray:
        """Return predicted numbers, or the probability of the class (1 or 0 where it has none)."""
        if self.label is None:
            return np.asarray(model.predict(X), dtype=np.float64)
        if not self.has_probabilities:
            return (np.asarray(model.predict(X)) == self.label).astype(np.float64)
        classes = self.classes
        place = int(np.flatnonzero(classes == self.label)[0])
        return class_probabilities(model, X, classes, "explanation")[:, place]

    @cached_property
    def outcomes(self) -> FloatArray:
        """The outcome of every row by the model that has not seen it."""
        return self.predict(np.arange(len(self)))

    @cached_property
    def predicted(self) -> Array:
        """What is predicted for every row: a number or a label."""
        parts = [
            np.asarray(model.predict(self.swap(self.take(at))))
            for model, at in zip(self.models, self.by_fold(np.arange(len(self))), strict=True)
        ]
        return np.concatenate(parts)

    @cached_property
    def losses(self) -> FloatArray:
        """The loss of every row."""
        parts = [
            self.losses_of(k, self.swap(self.take(at)), self.rows.y[at])
            for k, at in enumerate(self.by_fold(np.arange(len(self))))
        ]
        return np.concatenate(parts)

    @cached_property
    def doubts(self) -> FloatArray:
        """One minus the probability of the observed class of each row; zero without any."""
        found = np.zeros(len(self))
        if self.has_probabilities:
            classes = self.classes
            own = np.searchsorted(classes, self.rows.y)  # type: ignore[arg-type]
            for k, at in enumerate(self.by_fold(np.arange(len(self)))):
                X = self.swap(self.take(at))
                shares = class_probabilities(self.models[k], X, classes, "explanation")
                found[at] = 1 - shares[np.arange(len(at)), own[at]]
        return found

    def losses_of(self, fold: int, X: Any, y: Array) -> FloatArray:
        """Return the losses of rows by the model of a fold."""
        model, classes = self.models[fold], self.classes
        return self.row_losses(y, self.row_losses.predictions(model, X, classes), classes)

    def by_fold(self, at: IntArray) -> list[IntArray]:
        """Return some rows as one list per fold."""
        return [at[self.fold[at] == k] for k in range(len(self.models))]

    def sample(self, most: int, rng: np.random.Generator) -> IntArray:
        """Return the rows that count, or at most so many of them drawn at random, in order."""
        counted = np.flatnonzero(self.weight > 0)
        if len(counted) <= most:
            return counted
        return np.sort(rng.choice(counted, most, replace=False))

    def column(self, name: str) -> ColumnValues:
        """Return the values of a column."""
        return read_column(_series(self.X, name), name)

    def take(self, at: IntArray) -> Any:
        """Return rows to be passed to `swap`."""
        if isinstance(self.X, np.ndarray):
            return self.X[at]
        return nw.maybe_reset_index(self.X[at, :])

    def swap(self, base: Any, donors: Mapping[str, IntArray] | None = None) -> Any:
        """Return rows as models take them; named columns take the values of the rows `donors`."""
        donors = donors or {}
        if isinstance(self.X, np.ndarray):
            found = base.copy() if donors else base
            for name, at in donors.items():
                j = names_of(self.X).index(name)
                found[:, j] = self.X[at, j]
            return found
        if not donors:
            return base.to_native()
        columns = {name: self.X[name][at] for name, at in donors.items()}
        if base.implementation.is_pandas():  # which takes long to join many columns
            return base.to_native().assign(
                **{name: column.to_native().array for name, column in columns.items()}
            )
        return base.with_columns(*columns.values()).to_native()

    def predict(self, at: IntArray, donors: Mapping[str, IntArray] | None = None) -> FloatArray:
        """Return the outcome of each row by the model of its fold."""
        found = np.empty(len(at))
        for k, model in enumerate(self.models):
            mine = np.flatnonzero(self.fold[at] == k)
            if len(mine):
                swaps = {name: other[mine] for name, other in (donors or {}).items()}
                found[mine] = self.outcome_of(model, self.swap(self.take(at[mine]), swaps))
        return found

    @property
    def library(self) -> str | None:
        """Name of the library of the rows, in which tables are shown; None for a matrix."""
        return None if isinstance(self.X, np.ndarray) else backend_of(self.X.to_native())


def _stacked(parts: list[Any]) -> Any:
    """Return the inputs of all folds as one frame or matrix."""
    if any(is_sparse(part) for part in parts):
        raise InputError("Sparse inputs cannot be explained column by column; give them dense.")
    frames = [convert.frame_or_none(part) for part in parts]
    if all(frame is None for frame in frames):
        matrix = np.concatenate([np.asarray(part) for part in parts])
        if matrix.ndim != 2:
            raise InputError(f"X must have rows and columns; got shape {matrix.shape}.")
        return matrix
    if any(frame is None or frame.columns != frames[0].columns for frame in frames):  # type: ignore[union-attr]
        raise InputError("The inputs of all folds must be frames with the same columns.")
    return nw.maybe_reset_index(nw.concat(frames, how="vertical"))  # type: ignore[type-var]


def names_of(X: Any) -> list[str]:
    """Return the names of the columns; those of a matrix are x0, x1, ..."""
    if isinstance(X, np.ndarray):
        return default_names(X.shape[1])
    return list(X.columns)


def _series(X: Any, name: str) -> Any:
    return X[:, names_of(X).index(name)] if isinstance(X, np.ndarray) else X[name]


def _together(what: str, parts: Sequence[Any] | None, sizes: list[int]) -> Array | None:
    """Return what is given for the rows of each fold as one array."""
    if parts is None:
        return None
    if [len(part) for part in parts] != sizes:
        raise InputError(
            f"{what} must have one entry per row of each fold, {sizes}; got "
            f"{[len(part) for part in parts]}."
        )
    return np.concatenate([np.asarray(part) for part in parts])


def _label(rows: JudgedRows, label: Any) -> Any:
    """Return the class to explain: the given one, the second of two, or the most frequent."""
    if rows.classes is None:
        if label is not None:
            raise InputError(f"label={label!r} is for classification; the response is a number.")
        return None
    classes = rows.classes
    if label is not None:
        if label not in classes.tolist():
            known = ", ".join(map(str, classes.tolist()[:10]))
            raise InputError(
                f"label={label!r} is no class of the held-out rows; there are {known}."
            )
        return label
    if len(classes) == 2:
        return classes.tolist()[1]
    return classes.tolist()[int(np.argmax(np.bincount(np.asarray(rows.codes))))]
