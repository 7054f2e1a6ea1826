"""Texts answered by the cells of random blocks of stems that they are in."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.rows import Rows
from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.text._proportions.cells import Ones, StemCells
from bottega.text._proportions.equations import Equations
from bottega.text._proportions.held_out import held_out

__all__ = ["METHODS", "BlockAnswers", "cell_ratios"]

METHODS = ("inversion", "least_squares")
_PRIOR_TEXTS = 1.0  # with which the share of a cell in a class is drawn towards that in all


@stored
@dataclass(frozen=True, eq=False)
class BlockAnswers:
    """StemCells of tagged and unread texts, or one number per class that follows from them.

    Attributes
    ----------
    method : str
        One of `METHODS`.
    cells : StemCells
        The blocks.
    tagged : ndarray of shape (n, K), or Ones
        Out of fold the mean ratios of the cells of each tagged text, or the cells themselves.
    n_classes : int
        Number of classes, K.
    table : ndarray of shape (R 2^m, K) or None
        Ratios by cell and class.
    """

    method: str
    cells: StemCells
    tagged: Any
    n_classes: int
    table: FloatArray | None

    @classmethod
    def fitted(cls, method: str, cells: StemCells, rows: Rows, cv: Any, K: int) -> "BlockAnswers":
        """Look up the cells of the tagged texts."""
        if method == "least_squares":
            return cls(method, cells, Ones.of(cells.indicators(rows.X)), K, None)
        table, tagged = cell_ratios(cells, rows, cv, K)
        return cls(method, cells, tagged, K, table)

    def of(self, S: Any) -> Any:
        """Return the answers of unread texts."""
        inside = self.cells.indicators(S)
        return inside if self.table is None else self.cells.mean_of(self.table, inside)

    def system(
        self, answers: Any, rows: Any, weight: FloatArray, codes: Any, tagged_weight: FloatArray
    ) -> Equations:
        """Return what the proportions of some rows of the unread texts follow from."""
        K, unread = self.n_classes, answers[rows]
        if self.table is not None:
            return Equations(self.tagged, unread, codes, tagged_weight, weight, K)
        tagged, complete = self.tagged.matrix, self.cells.completed
        return Equations(tagged, unread, codes, tagged_weight, weight, K, complete)


def cell_ratios(cells: StemCells, rows: Rows, cv: Any, K: int) -> tuple[FloatArray, FloatArray]:
    r"""Return ratios by cell and class, and their means over the cells of each tagged text.

    In the least squares :math:`\min_\pi \sum_s (P(s) - \sum_k P(s \mid k) \pi_k)^2 / P(s)`, which
    weigh cells by the inverse of their variance, texts enter by the ratios
    :math:`P(s \mid k) / P(s)` of their cells. Those of a tagged text come from the other folds:
    from all texts, its own among them, they would be too large. The table is the mean over folds.

    Returns
    -------
    table : ndarray of shape (R 2^m, K)
        Ratios less one.
    tagged : ndarray of shape (n, K)
        Of the tagged texts, the mean over blocks.
    """
    inside = cells.indicators(rows.X)
    belongs = np.eye(K)[rows.y] * rows.weights[:, None]
    folds, times = held_out(rows, cv)
    table, tagged = np.zeros((inside.shape[1], K)), np.zeros((len(rows), K))
    for train, test in folds:
        size = belongs[train].sum(axis=0)
        shares = cells.completed(np.asarray(inside[train].T @ (belongs[train] / size)).T).T
        everywhere = (shares @ (size / size.sum()))[:, None]
        seen = everywhere > 0
        ratio = np.where(seen, shares / np.where(seen, everywhere, 1.0), 1.0)
        found = (ratio - 1.0) * (size / (size + _PRIOR_TEXTS))
        table += found / len(folds)
        tagged[test] += cells.mean_of(found, inside[test])
    return table, tagged / times[:, None]
