"""Growing the trees of a forest side by side, and judging it by the rows each tree has not drawn.

Every tree has a seed of its own, and the predictions of the trees are added in their order, so
the answer does not depend on the number of threads.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bottega.core import progress
from bottega.core.parallel import available_cores, in_threads
from bottega.core.rows import split_rows
from bottega.core.seeds import seeds_of
from bottega.core.stored import stored
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.ensemble._forest.packed import Forest, last_bins
from bottega.ensemble._kernels import words as packing
from bottega.ensemble._kernels.draw import draw, gather
from bottega.ensemble._kernels.judge import tally
from bottega.tree._grow.binned import as_tree
from bottega.tree._grow.bins import Bins
from bottega.tree._grow.structure import Tree
from bottega.tree._kernels import grow_binned as binned

SOME = 1e-300  # a split must bring something: a node that none makes purer is a leaf
_PLACES = 1 << 23  # rows times trees of a wave
_JUDGED_ROWS = 1 << 15  # the same blocks for any number of threads, and so the same sums


@stored
@dataclass(frozen=True, eq=False)
class BinnedRows:
    """The training rows of a forest, in an order that depends on their content alone.

    `codes` are their bins, `y` responses or class codes (`n_classes` is 0 for numbers), `weight`
    ones where there are none. `positions` are the rows to draw from, a row of weight k listed k
    times; empty if every row is there once.
    """

    bins: Bins
    codes: Array
    y: FloatArray
    weight: FloatArray
    positions: IntArray
    n_classes: int

    @property
    def responses(self) -> Array:
        """Responses as losses take them: class codes as whole numbers."""
        return self.y.astype(np.intp) if self.n_classes else self.y

    @property
    def weighted(self) -> bool:
        """Whether the rows differ in weight."""
        return not bool(np.all(self.weight == 1.0))


@dataclass(frozen=True, eq=False)
class Tally:
    """How the forest does after each tree.

    `outside` (n, V) sums the predictions of the `n_outside` trees that have not drawn the row,
    `inside` those of all trees, `importance` the gain of the splits on each column. `sums`
    (trees, 7) is what the kernel `tally` returns after each tree, `total` the sum of the weights.
    """

    outside: FloatArray
    n_outside: IntArray
    inside: FloatArray
    importance: FloatArray
    sums: FloatArray
    total: float

    def copy(self) -> "Tally":
        """Return a tally that can go on without changing this one."""
        arrays = ("outside", "n_outside", "inside", "importance")
        return replace(self, **{name: getattr(self, name).copy() for name in arrays})

    @property
    def means(self) -> FloatArray:
        """Mean prediction of the trees that have not drawn the row; NaN where all have."""
        with np.errstate(invalid="ignore"):
            return self.outside / self.n_outside[:, None]

    @property
    def train_error(self) -> FloatArray:
        """Mean loss on the training rows, after each tree."""
        return self.sums[:, 5] / self.total

    @property
    def error(self) -> FloatArray:
        """Mean out-of-bag loss, after each tree; NaN while no row has been left out."""
        with np.errstate(invalid="ignore"):
            return self.sums[:, 1] / self.sums[:, 0]

    @property
    def error_se(self) -> FloatArray:
        """Its standard error."""
        weight, _, squares, first, second, _, count = self.sums.T
        mean = self.error
        with np.errstate(invalid="ignore", divide="ignore"):
            variance = second - 2 * mean * first + mean**2 * squares
            return np.sqrt(np.maximum(variance * count / (count - 1), 0.0)) / weight


@dataclass(frozen=True, eq=False)
class Grown:
    """Trees as words, sets of levels, their left sides and leaf values; and how they do."""

    trees: tuple[tuple[Array, Array, Array, FloatArray], ...]
    tally: Tally

    @property
    def forest(self) -> Forest:
        """The trees joined."""
        return Forest.join(self.trees)


@dataclass(frozen=True)
class Grower:
    """Grows trees on samples of `size` rows.

    `criterion` is that of `bottega.tree._kernels.grow_binned`: SUMS also for two classes by Gini's
    index. With `balanced` the classes weigh alike in each sample.
    """

    rows: BinnedRows
    criterion: int
    max_features: int
    size: int
    replace: bool
    max_depth: int
    max_leaf_nodes: int
    min_samples_split: int
    min_samples_leaf: int
    min_impurity_decrease: float
    balanced: bool

    @property
    def two_class(self) -> bool:
        """Whether the classes are treated as the numbers 0 and 1."""
        return self.rows.n_classes > 0 and self.criterion == binned.SUMS

    @property
    def n_values(self) -> int:
        """How many numbers a leaf holds."""
        return 1 if self.two_class or not self.rows.n_classes else self.rows.n_classes

    def grow(
        self,
        seeds: Sequence[int],
        after: Grown | None = None,
        *,
        keep: bool = True,
        judge: bool = True,
        stage: str,
    ) -> Grown:
        """Return the forest with one more tree per seed, `after` the trees that it has.

        Without `keep` the new trees are judged and not kept, without `judge` they are not judged.
        """
        done = Grown((), self._empty()) if after is None else after
        tally = done.tally if after is None else done.tally.copy()
        trees = list(done.trees)
        sums = list(tally.sums)
        # The places of all rows in the trees of a wave are held until they are judged.
        cores = available_cores()
        wave = min(max(32, 8 * cores), max(2 * cores, _PLACES // max(len(self.rows.y), 1)))
        for start in range(0, len(seeds), wave):
            grown = self._wave(seeds[start : start + wave], judge)
            if judge:
                sums += self._judge(grown, tally, len(sums) + 1)
            for words, set_of, sets, values, _, gain in grown:
                tally.importance[:] += gain / max(gain.sum(), 1e-300)
                if keep:
                    trees.append((words, set_of, sets, values))
            progress.report(stage, min(start + wave, len(seeds)), len(seeds))
        return Grown(tuple(trees), replace(tally, sums=np.array(sums)))

    def again(
        self, trees: Sequence[tuple[Any, ...]], seeds: Sequence[int] | None, importance: FloatArray
    ) -> Grown:
        """Return trees that were grown before, judged by the rows; seeds None: by other rows."""
        done = self._empty()
        done.importance[:] = importance
        judged = []
        for i, (words, set_of, sets, values) in enumerate(trees):
            ends = np.array([0, len(words)])
            walked = packing.leaves_of(self.rows.codes, words, ends, set_of, sets, ends[:1])
            leaf = walked[:, 0]
            placed = ~leaf if seeds is None else np.where(self.counts(seeds[i]) > 0, leaf, ~leaf)
            judged.append((words, set_of, sets, values, placed, None))
        return Grown(tuple(trees), replace(done, sums=np.array(self._judge(judged, done, 1))))

    def _empty(self) -> Tally:
        n, p = self.rows.codes.shape
        return Tally(
            np.zeros((n, self.n_values)),
            np.zeros(n, dtype=np.int32),
            np.zeros((n, self.n_values)),
            np.zeros(p),
            np.zeros((0, 7)),
            float(self.rows.weight.sum()),
        )

    def _judge(self, grown: list[tuple[Any, ...]], done: Tally, first: int) -> list[FloatArray]:
        """Add the predictions of the trees of a wave, block by block of rows."""
        rows = self.rows

        def judge(block: slice) -> list[FloatArray]:
            return [
                tally(
                    placed[block], words, values, rows.y[block], rows.weight[block], rows.n_classes,
                    first + i, done.outside[block], done.n_outside[block], done.inside[block],
                )
                for i, (words, _, _, values, placed, _) in enumerate(grown)
            ]  # fmt: skip

        parts = in_threads(judge, list(split_rows(len(rows.y), _JUDGED_ROWS)))
        return [np.sum(each, axis=0) for each in zip(*parts, strict=True)]

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
        cut = self.rows.bins.cuts[tree.feature, last_bins(words[tree.n_children > 0])]
        return tree.at(threshold=np.where(np.isfinite(tree.threshold), cut, tree.threshold))

    def counts(self, seed: int) -> IntArray:
        """Return how often a tree has drawn each row."""
        return draw(len(self.rows.y), self.rows.positions, self.size, self.replace, seed)

    def _wave(self, seeds: Sequence[int], judge: bool) -> list[tuple[Any, ...]]:
        # A few trees per task: for small data a task costs more than a tree.
        step = max(1, len(seeds) // (4 * available_cores())) if len(self.rows.y) < 5000 else 1
        parts = [seeds[start : start + step] for start in range(0, len(seeds), step)]
        done = in_threads(
            lambda part: [self._grow_one(seed, judge) for seed in part],
            parts,
            stage="groups of trees",
            elsewhere=True,
        )
        return [one for part in done for one in part]

    def _grow_one(self, seed: int, judge: bool) -> tuple[Any, ...]:
        counts, drawn, w, t, center, nodes = self._nodes(seed)
        start, stop, first, _, feature, _, _, reduction, weight, _, _, set_of, sets = nodes
        words, values = self._pack(nodes, w, t, center)
        left = np.ascontiguousarray(sets[:, 0])
        placed = None
        if judge:
            codes = self.rows.codes
            placed = packing.place(codes, counts, drawn, start, stop, first, words, set_of, left)
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
        return packing.pack(
            start, stop, first, feature, sides, missing, weight, total, set_of, w, t,
            self.rows.n_classes, self.two_class, center, self.rows.bins.low, self.rows.bins.high,
        )  # fmt: skip

    def _nodes(self, seed: int) -> tuple[Any, ...]:
        rows = self.rows
        counts = self.counts(seed)
        # Whole weights are copies, which the draw has counted; others multiply the copies drawn.
        weighted = not len(rows.positions) and rows.weighted
        weight = rows.weight
        if self.balanced:
            weight, weighted = self._balanced(counts, weight if weighted else None), True
        drawn, w, t, c, center = gather(
            counts, rows.y, weight, weighted, rows.n_classes, self.two_class
        )
        bins = rows.bins
        nodes = binned.grow(
            rows.codes, bins.n_bins, bins.categorical, drawn, w, t,
            c, weighted, self.criterion, rows.n_classes,
            self.two_class, self.max_features, True, self.max_depth, self.max_leaf_nodes,
            self.min_samples_split, self.min_samples_leaf, max(self.min_impurity_decrease, SOME),
            0.0, seeds_of(seed, 1)[0],  # that of a tree estimator with this random_state
        )  # fmt: skip
        return counts, drawn, w, t, center, nodes

    def _balanced(self, counts: IntArray, weight: FloatArray | None) -> FloatArray:
        """Return the weights times those that make the classes of a sample weigh alike."""
        codes = self.rows.responses
        share = np.bincount(codes, weights=counts, minlength=self.rows.n_classes)
        drawn = np.flatnonzero(share)
        factor = np.ones(len(share))
        factor[drawn] = share.sum() / (len(drawn) * share[drawn])
        return factor[codes] if weight is None else factor[codes] * weight
