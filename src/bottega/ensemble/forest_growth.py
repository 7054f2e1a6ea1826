"""Growing the trees of a forest side by side, and judging it by the rows each tree has not drawn.

Every tree has a seed of its own, and the predictions of the trees are added in their order, so
the answer does not depend on the number of threads.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bottega.core import progress
from bottega.core.chunks import split_rows
from bottega.core.parallel import available_cores, in_threads
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.ensemble import _kernels_forest as kernels
from bottega.ensemble.forest_trees import Forest
from bottega.tree._grow.binned import as_tree
from bottega.tree._grow.bins import Bins
from bottega.tree._grow.structure import Tree
from bottega.tree._kernels import grow_binned as binned

__all__ = ["Curve", "Grower", "Rows"]

_JUDGED_ROWS = 1 << 15  # the same blocks for any number of threads, and so the same sums


@dataclass(frozen=True, eq=False)
class Rows:
    """The training rows of a forest, in an order of their own.

    Attributes
    ----------
    bins : Bins
        Where the columns are cut.
    codes : ndarray of uint8 of shape (n, p)
        The bins of the rows.
    y : ndarray of float64
        Responses, or class codes.
    weight : ndarray of float64
        Row weights; 1 without.
    positions : ndarray of int64
        The rows to draw from, a row of weight k listed k times; empty if every row is there once.
    n_classes : int
        0 for regression.
    """

    bins: Bins
    codes: Array
    y: FloatArray
    weight: FloatArray
    positions: IntArray
    n_classes: int


@dataclass
class Curve:
    """How the forest does after each tree.

    Attributes
    ----------
    sums : list of ndarray
        What `_kernels_forest.tally` returns after each tree.
    outside : ndarray of shape (n, V)
        Sum of the predictions of the trees that have not drawn the row.
    n_outside : ndarray of int32
        How many those are.
    inside : ndarray of shape (n, V)
        Sum of the predictions of all trees.
    importance : ndarray of shape (p,)
        Sum over trees of the gain of the splits on each column.
    """

    outside: FloatArray
    n_outside: IntArray
    inside: FloatArray
    importance: FloatArray
    sums: list[FloatArray] = field(default_factory=list)

    @property
    def train_error(self) -> FloatArray:
        """Mean loss on the training rows, after each tree."""
        return np.array([each[5] for each in self.sums]) / self._total

    @property
    def error(self) -> FloatArray:
        """Mean out-of-bag loss, after each tree; NaN while no row has been left out."""
        sums = np.array(self.sums)
        with np.errstate(invalid="ignore"):
            return np.asarray(sums[:, 1] / sums[:, 0])

    @property
    def error_se(self) -> FloatArray:
        """Its standard error."""
        weight, _, squares, first, second, _ = np.array(self.sums).T
        mean = self.error
        with np.errstate(invalid="ignore"):
            variance = second - 2 * mean * first + mean**2 * squares
            return np.sqrt(np.maximum(variance, 0.0)) / weight

    _total: float = 1.0


@dataclass(frozen=True)
class Grower:
    """Grows trees on samples of the rows.

    Attributes
    ----------
    rows : Rows
        The training rows.
    criterion : int
        Of `bottega.tree._kernels.grow_binned`; SUMS also for two classes by Gini's index.
    max_features : int
        Columns drawn for each split.
    size : int
        Rows drawn for each tree.
    replace : bool
        Whether with replacement.
    max_depth, max_leaves, min_leaf : int
        Stop rules.
    """

    rows: Rows
    criterion: int
    max_features: int
    size: int
    replace: bool
    max_depth: int
    max_leaves: int
    min_leaf: int

    @property
    def two_class(self) -> bool:
        """Whether the classes are treated as the numbers 0 and 1."""
        return self.rows.n_classes > 0 and self.criterion == binned.SUMS

    @property
    def n_values(self) -> int:
        """How many numbers a leaf holds."""
        return 1 if self.two_class or not self.rows.n_classes else self.rows.n_classes

    def grow(
        self, seeds: Sequence[int], *, keep: bool = True, stage: str = "trees"
    ) -> tuple[Forest | None, Curve]:
        """Grow one tree a seed; return the forest (if it is to be kept) and how it does."""
        rows = self.rows
        n, p = rows.codes.shape
        total = float(rows.weight.sum())
        curve = Curve(
            np.zeros((n, self.n_values)),
            np.zeros(n, dtype=np.int32),
            np.zeros((n, self.n_values)),
            np.zeros(p),
            _total=total,
        )
        packed: list[tuple[Array, Array, Array, FloatArray]] = []
        wave = max(32, 8 * available_cores())
        for start in range(0, len(seeds), wave):
            grown = self._wave(seeds[start : start + wave])
            self._judge(grown, curve)
            for words, set_of, sets, values, _, gain in grown:
                curve.importance += gain
                if keep:
                    packed.append((words, set_of, sets, values))
            progress.report(stage, min(start + wave, len(seeds)), len(seeds))
        return (Forest.join(packed) if keep else None), curve

    def _judge(self, grown: list[tuple[Any, ...]], curve: Curve) -> None:
        """Add the predictions of the trees of a wave, block by block of rows."""
        rows, first = self.rows, len(curve.sums) + 1

        def judge(block: slice) -> list[FloatArray]:
            return [
                kernels.tally(
                    placed[block], words, values, rows.y[block], rows.weight[block], rows.n_classes,
                    first + i, curve.outside[block], curve.n_outside[block], curve.inside[block],
                )
                for i, (words, _, _, values, placed, _) in enumerate(grown)
            ]  # fmt: skip

        parts = in_threads(judge, list(split_rows(len(rows.y), _JUDGED_ROWS)))
        curve.sums += [np.sum(each, axis=0) for each in zip(*parts, strict=True)]

    def tree(self, seed: int) -> Tree:
        """Grow one tree again, with all that is known of its nodes."""
        _, _, w, t, center, nodes = self._nodes(seed)
        words, _ = self._pack(nodes, w, t, center)
        loss, sums = binned.describe(
            nodes[0], nodes[1], nodes[2], nodes[7], w, t, self.criterion, self.rows.n_classes,
            self.two_class,
        )  # fmt: skip
        n_classes = self.rows.n_classes
        tree = as_tree(nodes, loss, sums, self.rows.bins, self.two_class, n_classes, center)
        # Rows are placed by their codes: the threshold is the cut point behind the last left bin.
        word = words[tree.n_children > 0]
        last = ((word >> np.uint64(52)) & np.uint64(255)) - ((word >> np.uint64(60)) & np.uint64(1))
        cut = self.rows.bins.cuts[tree.feature, last.astype(np.intp)]
        return tree.at(threshold=np.where(np.isfinite(tree.threshold), cut, tree.threshold))

    def counts(self, seed: int) -> IntArray:
        """Return how often a tree has drawn each row."""
        found: IntArray = kernels.draw(
            len(self.rows.y), self.rows.positions, self.size, self.replace, seed
        )
        return found

    def _wave(self, seeds: Sequence[int]) -> list[tuple[Any, ...]]:
        # A few trees a task: for small data a task costs more than a tree.
        step = max(1, len(seeds) // (4 * available_cores())) if len(self.rows.y) < 5000 else 1
        parts = [seeds[start : start + step] for start in range(0, len(seeds), step)]
        done = in_threads(lambda part: [self._grow_one(seed) for seed in part], parts)
        return [one for part in done for one in part]

    def _grow_one(self, seed: int) -> tuple[Any, ...]:
        counts, drawn, w, t, center, nodes = self._nodes(seed)
        start, stop, first, _, feature, _, _, reduction, weight, _, _, set_of, sets = nodes
        words, values = self._pack(nodes, w, t, center)
        left = np.ascontiguousarray(sets[:, 0])
        placed = kernels.place(
            self.rows.codes, counts, drawn, start, stop, first, words, set_of, left
        )
        split = np.flatnonzero(first >= 0)
        scale = (2.0 if self.two_class else 1.0) / weight[0]
        gain = np.bincount(
            feature[split], weights=scale * reduction[split], minlength=self.rows.codes.shape[1]
        )
        return words, set_of, left, values, placed, gain

    def _pack(
        self, nodes: tuple[Any, ...], w: FloatArray, t: FloatArray, center: float
    ) -> tuple[Array, FloatArray]:
        start, stop, first, _, feature, sides, missing, _, weight, total, _, set_of, _ = nodes
        words, values = kernels.pack(
            start, stop, first, feature, sides, missing, weight, total, set_of, w, t,
            self.rows.n_classes, self.two_class, center, self.rows.bins.low, self.rows.bins.high,
        )  # fmt: skip
        return words, values

    def _nodes(self, seed: int) -> tuple[Any, ...]:
        rows = self.rows
        counts = self.counts(seed)
        # Whole weights are copies, which the draw has counted; others multiply the copies drawn.
        weighted = not len(rows.positions) and not np.all(rows.weight == 1.0)
        drawn, w, t, c, center = kernels.gather(
            counts, rows.y, rows.weight, weighted, rows.n_classes, self.two_class
        )
        bins = rows.bins
        nodes = binned.grow(
            rows.codes, bins.n_bins, bins.categorical, drawn, w, t,
            c, weighted, self.criterion, rows.n_classes,
            self.two_class, self.max_features, True, self.max_depth, self.max_leaves, 2,
            self.min_leaf, 0.0, 0.0, seed + 1,
        )  # fmt: skip
        return counts, drawn, w, t, center, nodes
