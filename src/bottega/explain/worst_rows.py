"""The rows that a model misses by most, with their values."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.frames import make_frame
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.explain._rows.held_out import HeldOut, names_of
from bottega.plot import worst_rows_chart
from bottega.plot.theme import number

__all__ = ["WorstRows"]

COUNT = 10


@dataclass(frozen=True, eq=False, repr=False)
class WorstRows(Shown):
    """The held-out rows of largest loss.

    Attributes
    ----------
    row : ndarray of shape (m,)
        What each row is called: its number in the table, where that was given, else its place among
        the held-out rows; the worst first.
    observed, predicted : ndarray of shape (m,)
        Response and prediction.
    loss : ndarray of shape (m,)
        The loss.
    columns : dict of str to list
        The values of the inputs.
    share : float
        Share of these rows in the loss of all held-out rows.
    n : int
        Number of held-out rows.
    title : str
        Name of the loss.
    """

    row: Array
    observed: Array
    predicted: Array
    loss: FloatArray
    columns: dict[str, list[Any]]
    share: float
    n: int
    title: str
    like: Any = None

    def to_frame(self, like: Any = None) -> Any:
        """Return row, observed, predicted, loss and the inputs, the worst row first.

        An input that is called like one of the first four has a line after its name.
        """
        found: dict[str, Any] = {
            name: getattr(self, name) for name in ("row", "observed", "predicted", "loss")
        }
        for name, values in self.columns.items():
            while name in found:
                name += "_"
            found[name] = values
        return make_frame(found, self.like if like is None else like)

    def summary(self) -> Summary:
        """Return the rows as a table."""
        columns: dict[str, Any] = {
            name: getattr(self, name).tolist() for name in ("row", "observed", "predicted", "loss")
        }
        note = (
            f"these {len(self.row)} of {self.n:,} held-out rows make up {100 * self.share:.3g}% "
            f"of the {self.title}"
        )
        return Summary("Rows that are missed by most", (Section("", columns),), (note,))

    def plot(self) -> Any:
        """Draw the loss of each of the rows."""
        names = [
            f"row {row}: {number(y)}, predicted {number(z)}"
            for row, y, z in zip(
                self.row.tolist(), self.observed.tolist(), self.predicted.tolist(), strict=True
            )
        ]
        return worst_rows_chart(names, self.loss, what=self.title, share=self.share, n=self.n)


def worst_rows_of(held: HeldOut, count: int = COUNT) -> WorstRows:
    """Return the rows of largest loss; of equal losses those of the least probable classes."""
    at = np.flatnonzero(held.weight > 0)
    losses = held.losses[at]
    worst = np.lexsort((-held.doubts[at], -losses))[:count]
    weighted = held.weight[at] * losses
    total = float(weighted.sum())
    rows = at[worst]
    return WorstRows(
        row=held.numbers[rows],
        observed=held.rows.y[rows],
        predicted=held.predicted[rows],
        loss=losses[worst],
        columns=_values(held, rows),
        share=float(weighted[worst].sum()) / total if total > 0 else 0.0,
        n=len(at),
        title=held.row_losses.title,
        like=held.library,
    )


def _values(held: HeldOut, rows: IntArray) -> dict[str, list[Any]]:
    """Return the values of the inputs in some rows."""
    found = held.take(rows)
    if isinstance(found, np.ndarray):
        names = names_of(found)
        return {name: found[:, names.index(name)].tolist() for name in held.columns}
    return {name: found[name].to_list() for name in held.columns}
