"""Cutting a grown tree back along its weakest-link sequence.

Cost-complexity pruning looks for the subtree that minimises ``risk + alpha * leaves``. As alpha
grows the best subtrees are nested, so one number per node, the alpha from which it is a leaf, holds
them all (`PruningSequence.collapse_alpha`).

References
----------
.. [1] Breiman, L., Friedman, J., Olshen, R. and Stone, C. (1984). Classification and Regression
   Trees. Wadsworth. Chapters 3, 8 and 10.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.typing import BoolArray, FloatArray, IntArray
from bottega.tree._grow.structure import Tree
from bottega.tree._kernels import prune as kernels

# Links whose penalties differ by less than this share of the root's risk are one link: the sums
# behind them are not known better.
_TIE = 1e-12
_ALL_UP_TO = 512  # members of a sequence that a path shows one by one
_LEAVES_ONE_BY_ONE = 256


@dataclass(frozen=True, eq=False)
class PruningSequence:
    """The nested subtrees that minimise ``risk + alpha * leaves`` for some alpha.

    A member is the best from its `alpha` (ascending from 0, the tree as it was grown) to the next.
    Splits that lower the risk by nothing go at an alpha of one rounding unit of the root's risk.
    `collapse_alpha` is, for each node, the alpha from which it is a leaf, or is gone with a node
    above it; 0 for a leaf.
    """

    alpha: FloatArray
    n_leaves: IntArray
    risk: FloatArray
    collapse_alpha: FloatArray

    def __len__(self) -> int:
        return len(self.alpha)

    def member(self, alpha: Any) -> IntArray:
        """Return the place of the member that is the best at each alpha."""
        return np.asarray(np.searchsorted(self.alpha, alpha, side="right") - 1)

    def alpha_for(self, n_leaves: int) -> float:
        """Return the alpha of the largest member with at most `n_leaves` leaves."""
        return float(self.alpha[np.flatnonzero(self.n_leaves <= n_leaves)[0]])

    @property
    def beta(self) -> FloatArray:
        """A typical alpha of each member: the geometric mean of the ends of its stretch.

        The last has infinity. The first has 0, the tree as it is grown; unless it has no useless
        split, for then trees of other samples should be rid of theirs: a penalty next to nothing.
        """
        useless = _TIE * self.risk[-1]
        # By powers of four: in their own units products may leave the range of numbers.
        unit = np.ldexp(1.0, np.frexp(self.risk[-1])[1] // 2 * 2)
        alpha = self.alpha / unit
        middle = np.append(np.sqrt(alpha[:-1] * alpha[1:]) * unit, np.inf)
        if len(self) > 1 and self.alpha[1] > useless:
            middle[0] = useless
        return middle


def pruning_sequence(tree: Tree, risk: FloatArray | None = None) -> PruningSequence:
    """Return the weakest-link sequence of a tree; `risk` is what nodes add to the risk as leaves.

    The weakest link is the split whose branch lowers the risk least per leaf. Collapsing it changes
    the branches above it, at most as many as the tree is deep; a heap finds the next. The cost is
    about N (depth + log N) for N nodes.
    """
    risk = np.ascontiguousarray(tree.risk if risk is None else risk, dtype=np.float64)
    limits = np.finfo(np.float64)
    scale = max(float(risk[0]), limits.tiny / limits.eps)
    collapse_alpha, alpha, n_leaves, total = kernels.weakest_links(
        tree.parent, tree.first_child, tree.n_children, risk, _TIE * scale, limits.eps * scale
    )
    return PruningSequence(alpha, n_leaves, total, collapse_alpha)


def members_shown(sequence: PruningSequence) -> IntArray:
    """Return which members of a sequence a path shows, the simplest first.

    All of them, up to 512; of more, those with up to 256 leaves and then about 256 whose numbers
    of leaves grow geometrically, the full tree always.
    """
    places = np.arange(len(sequence))[::-1]
    if len(places) <= _ALL_UP_TO:
        return places
    leaves = sequence.n_leaves[places]
    few = int(np.searchsorted(leaves, _LEAVES_ONE_BY_ONE, side="right"))
    steps = np.geomspace(_LEAVES_ONE_BY_ONE, leaves[-1], _ALL_UP_TO - _LEAVES_ONE_BY_ONE)
    further = np.searchsorted(leaves, np.floor(steps), side="right") - 1
    return places[np.unique(np.concatenate([np.arange(few), further, [len(places) - 1]]))]


def class_counts(tree: Tree, class_scale: FloatArray | None = None) -> FloatArray:
    """Return the weight of each class in each node, before the scale of the priors."""
    shares = tree.value if class_scale is None else tree.value / class_scale
    return np.asarray(tree.weight[:, None] * shares / shares.sum(axis=1, keepdims=True))


def impurity_risk(
    tree: Tree, class_scale: FloatArray | None = None, cost: FloatArray | None = None
) -> FloatArray:
    """Return the impurity of each node times its share of the weight.

    `class_scale` and `cost`, with which the tree was grown, change what a row of a class weighs.
    """
    weight = tree.weight
    if class_scale is not None or cost is not None:
        altered = np.ones(tree.value.shape[1]) if class_scale is None else class_scale
        altered = altered if cost is None else altered * cost.sum(axis=0)
        weight = class_counts(tree, class_scale) @ altered
    return np.asarray(tree.impurity * weight / weight[0])


def cut(tree: Tree, leaf: BoolArray) -> Tree:
    """Return the tree in which the marked nodes are leaves, without what is below them."""
    number, count = kernels.kept_numbers(tree.parent, leaf)
    kept = np.flatnonzero(number >= 0)
    split = (tree.n_children[kept] > 0) & ~leaf[kept]
    if count == tree.n_nodes and np.array_equal(split, ~tree.is_leaf):
        return tree
    parent = tree.parent[kept]
    first = tree.first_child[kept]
    asks = np.where(split, tree.test_stop[kept] - tree.test_start[kept], 0)
    tests = _ranges(tree.test_start[kept], asks)
    has = tree.level_stop[tests] - tree.level_start[tests]
    levels = _ranges(tree.level_start[tests], has)
    test_stop, level_stop = np.cumsum(asks), np.cumsum(has)

    arrays = {
        "parent": np.where(parent < 0, -1, number[parent]),
        "first_child": np.where(split, number[first], -1),
        "n_children": np.where(split, tree.n_children[kept], 0),
        "default_child": np.where(split, tree.default_child[kept], 0),
        "gain": np.where(split, tree.gain[kept], 0.0),
        "test_start": test_stop - asks,
        "test_stop": test_stop,
        "level_start": level_stop - has,
        "level_stop": level_stop,
    }
    for names, places in (
        (("depth", "n", "weight", "value", "impurity", "risk"), kept),
        (("feature", "threshold", "reverse", "agreement"), tests),
        (("levels", "level_child"), levels),
    ):
        arrays |= {name: getattr(tree, name)[places] for name in names}
    return tree.at(**{name: a.astype(getattr(tree, name).dtype) for name, a in arrays.items()})


def _ranges(start: IntArray, length: IntArray) -> IntArray:
    """Return the numbers start[0] .. start[0] + length[0] - 1, start[1] .. and so on."""
    before = np.cumsum(length) - length
    return np.arange(int(length.sum())) + np.repeat(start - before, length)


def prune(tree: Tree, alpha: float, sequence: PruningSequence | None = None) -> Tree:
    """Return the smallest subtree that minimises ``risk + alpha * leaves``; at 0 the tree itself.

    `sequence` is that of the tree, where it is known; by default that of ``tree.risk``.
    """
    sequence = pruning_sequence(tree) if sequence is None else sequence
    return cut(tree, sequence.collapse_alpha <= alpha)
