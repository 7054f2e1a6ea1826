"""One row explained: what each of its values adds to the prediction."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.pipeline import Pipeline

from bottega.core.errors import InputError, did_you_mean
from bottega.core.frames import make_frame
from bottega.core.tables import Section, Shown, Summary, show
from bottega.core.typing import FloatArray, IntArray
from bottega.data import convert
from bottega.explain._rows.held_out import HeldOut, names_of
from bottega.plot import contributions_chart

__all__ = ["RowExplanation"]

_PAIRS = 500  # pairs of orders, each with a row to start from
_LEAST_PAIRS = 50
_MOST_PREDICTIONS = 100_000
_BLOCK = 5_000_000  # cells of rows that are predicted at a time
_ADDITIVE = 1e-8


@dataclass(frozen=True, eq=False, repr=False)
class RowExplanation(Shown):
    r"""What each value of a row adds to the prediction; the contributions add up.

    Attributes
    ----------
    columns : tuple of str
        The inputs, those of the largest contribution first.
    values : tuple
        Their values in the row.
    contribution : ndarray of shape (p,)
        Shapley values: their sum is `prediction` minus `average`.
    std_error : ndarray of shape (p,)
        Standard errors of the sampling; zero where the values are exact.
    prediction, average : float
        Prediction of the row, and mean prediction of the rows it is compared with.
    exact : bool
        Whether nothing was sampled.
    outcome : str
        What is predicted.

    Notes
    -----
    The contribution of a column is the change of the prediction when the column takes the value of
    this row instead of that of another row, averaged over the other rows and over all orders in
    which columns can be changed one after the other [1]_. A linear model needs no orders. Otherwise
    500 rows are compared with (fewer where there are very many columns), each along a random order
    and its reverse, whose errors partly cancel.

    Columns that are associated share what they know: changing one of them alone may ask for the
    prediction of rows that do not exist.

    References
    ----------
    .. [1] Strumbelj, E. and Kononenko, I. (2014). Explaining prediction models and individual
       predictions with feature contributions. Knowledge and Information Systems 41, 647-665.
    """

    columns: tuple[str, ...]
    values: tuple[Any, ...]
    contribution: FloatArray
    std_error: FloatArray
    prediction: float
    average: float
    exact: bool
    outcome: str
    like: Any = None

    def to_frame(self, like: Any = None) -> Any:
        """Return column, value (as text), contribution and std_error, the largest first."""
        columns = {
            "column": list(self.columns),
            "value": [_in_words(value) for value in self.values],
            "contribution": self.contribution,
            "std_error": self.std_error,
        }
        return make_frame(columns, self.like if like is None else like)

    def summary(self) -> Summary:
        """Return the contributions as a table."""
        columns: dict[str, Any] = {
            "column": list(self.columns),
            "value": [_in_words(value) for value in self.values],
            "contribution": self.contribution.tolist(),
        }
        notes = [
            f"{self.outcome}: {self.prediction:.4g}, which is the average of {self.average:.4g} "
            "plus the contributions"
        ]
        if not self.exact:
            columns["std. error"] = self.std_error.tolist()
        return Summary("One row explained", (Section("", columns),), tuple(notes))

    def plot(self, *, most: int = 12) -> Any:
        """Draw the contributions as steps from the average to the prediction."""
        names = [
            f"{name} = {_in_words(value)}"
            for name, value in zip(self.columns, self.values, strict=True)
        ]
        return contributions_chart(
            names,
            self.contribution,
            average=self.average,
            std_error=None if self.exact else self.std_error,
            what=self.outcome,
            most=most,
        )


def _in_words(value: Any) -> str:
    """Write a value; of a date without a time the day."""
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return value.date().isoformat()
    return show(value)


def row_of(held: HeldOut, model: Any, row: Any, seed: int) -> RowExplanation:
    """Explain the prediction of a model for one row, given as `Explanation.row` takes it."""
    rng = np.random.default_rng([seed, 3])
    rows = replace(held, X=_with_row(held, row))
    names, new = names_of(rows.X), len(held)
    pairs = min(_PAIRS, max(_LEAST_PAIRS, _MOST_PREDICTIONS // (2 * (len(names) + 1))))
    background = _background(held, pairs, rng)
    prediction = float(_outcome(rows, model, np.array([new]), {})[0])
    start = _outcome(rows, model, background, {})
    average = float(start.mean())
    found, exact = None, False
    if held.label is None and hasattr(_last(model), "coef_"):
        found = _alone(rows, model, background, new, names) - average
        scale = np.abs(found).sum() + np.abs(start).max()
        exact = bool(abs(found.sum() - (prediction - average)) <= _ADDITIVE * scale)
    error = np.zeros(len(names))
    if found is None or not exact:
        found, error = _sampled(rows, model, background, new, names, rng)
    values = _values(rows, names, new)
    order = np.argsort(-np.abs(found), kind="stable")
    return RowExplanation(
        columns=tuple(names[j] for j in order),
        values=tuple(values[j] for j in order),
        contribution=found[order],
        std_error=error[order],
        prediction=prediction,
        average=average,
        exact=exact,
        outcome=held.outcome,
        like=held.library,
    )


def _background(held: HeldOut, pairs: int, rng: np.random.Generator) -> IntArray:
    """Return the rows to compare with, all equally often; by their weights where they have any."""
    counted = np.flatnonzero(held.weight > 0)
    if held.rows.weight is not None:
        return rng.choice(counted, pairs, p=held.weight[counted] / held.weight[counted].sum())
    if len(counted) >= pairs:
        return rng.choice(counted, pairs, replace=False)
    return np.tile(counted, -(-pairs // len(counted)))


def _alone(
    rows: HeldOut, model: Any, background: IntArray, new: int, names: list[str]
) -> FloatArray:
    """Return the mean outcome of a background when one column has the value of the new row."""
    found = np.empty(len(names))
    block = max(1, _BLOCK // (len(background) * len(names)))
    for first in range(0, len(names), block):
        part = names[first : first + block]
        at = np.tile(background, len(part))
        own = np.repeat(np.arange(len(part)), len(background))
        donors = {name: np.where(own == j, new, at) for j, name in enumerate(part)}
        outcome = _outcome(rows, model, at, donors).reshape(len(part), -1)
        found[first : first + block] = outcome.mean(axis=1)
    return found


def _sampled(
    rows: HeldOut,
    model: Any,
    background: IntArray,
    new: int,
    names: list[str],
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Return Shapley values and their standard errors, from pairs of an order and its reverse."""
    p = len(names)
    order = np.argsort(rng.random((len(background), p)), axis=1)
    # The place of each column in an order; in the reverse order it is p - 1 - place.
    place = np.argsort(order, axis=1)
    found = np.empty((len(background), p))
    block = max(1, _BLOCK // (2 * (p + 1) * p))
    steps = np.arange(p + 1)
    for first in range(0, len(background), block):
        part = slice(first, first + block)
        both = np.stack([place[part], p - 1 - place[part]], axis=1)  # (pairs, 2, columns)
        others = np.broadcast_to(background[part, None, None], (len(both), 2, p + 1))
        donors = {
            name: np.where(steps > both[:, :, j, None], new, others).ravel()
            for j, name in enumerate(names)
        }
        height = _outcome(rows, model, others.ravel(), donors).reshape(len(both), 2, p + 1)
        rise = np.take_along_axis(np.diff(height, axis=2), both, axis=2)
        found[part] = rise.mean(axis=1)
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    return found.mean(axis=0), error


def _outcome(rows: HeldOut, model: Any, at: IntArray, donors: Mapping[str, IntArray]) -> FloatArray:
    return rows.outcome_of(model, rows.swap(rows.take(at), donors))


def _last(model: Any) -> Any:
    return model.steps[-1][1] if isinstance(model, Pipeline) else model


def _values(rows: HeldOut, names: list[str], at: int) -> list[Any]:
    one = rows.take(np.array([at]))
    if isinstance(one, np.ndarray):
        return one[0].tolist()
    return [one[name].to_list()[0] for name in names]


def _with_row(held: HeldOut, row: Any) -> Any:
    """Return the held-out rows with one more after them."""
    if isinstance(row, int | np.integer) and not isinstance(row, bool):
        places = np.flatnonzero(held.numbers == row)
        if not len(places):
            raise InputError(
                f"There is no held-out row {row}; give a number as in worst_rows, or the row."
            )
        one = held.take(places[:1])
    elif isinstance(held.X, np.ndarray):
        one = np.atleast_2d(np.asarray(row, dtype=held.X.dtype))
        if one.shape != (1, held.X.shape[1]):
            raise InputError(f"One row of {held.X.shape[1]} numbers is needed; got {one.shape}.")
    else:
        one = _as_frame(held, row)
    if isinstance(held.X, np.ndarray):
        return np.concatenate([held.X, one])
    return nw.maybe_reset_index(nw.concat([held.X, one], how="vertical"))


def _as_frame(held: HeldOut, row: Any) -> Any:
    """Return a row given as a frame, or as values by name, as a frame like the held-out rows."""
    frame = convert.frame_or_none(row)
    if frame is None:
        given = dict(row) if isinstance(row, Mapping) or hasattr(row, "keys") else None
        if given is None:
            raise InputError(
                "One row is a data frame of one row, values by the names of the columns, or the "
                f"number of a held-out row; got {type(row).__name__}."
            )
        columns = {str(name): [value] for name, value in given.items()}
        frame = nw.from_native(make_frame(columns, held.library), eager_only=True)
    elif frame.implementation != held.X.implementation:
        columns = {name: frame[name].to_list() for name in frame.columns}
        frame = nw.from_native(make_frame(columns, held.library), eager_only=True)
    if len(frame) != 1:
        raise InputError(f"One row is explained at a time; got {len(frame)}.")
    names = names_of(held.X)
    for name in names:
        if name not in frame.columns:
            raise InputError(f"The row has no column {name!r}.{did_you_mean(name, frame.columns)}")
    frame, schema = frame.select(names), held.X.schema
    for name in names:
        if frame.schema[name] != schema[name]:
            try:
                frame = frame.with_columns(nw.col(name).cast(schema[name]))
            except Exception as error:
                raise InputError(
                    f"The value {show(frame[name].to_list()[0])} of column {name!r} cannot be read "
                    f"as {schema[name]}."
                ) from error
    return frame
