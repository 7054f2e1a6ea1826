"""The weak learners of a boosted model: three kinds with one interface.

Each says how many there are (`len`), the class codes that learner b predicts (`labels`), the
weighted votes of all of them (`votes`).
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from bottega.core.classes import decided
from bottega.core.stored import stored
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.ensemble._kernels import stumps as kernels
from bottega.tree._grow.structure import Tree
from bottega.tree._kernels.walk import apply

_NODES = (
    *("parent", "depth", "first_child", "n_children", "default_child", "test_start", "test_stop"),
    *("n", "weight", "value", "impurity", "risk", "gain"),
)
_TESTS = ("feature", "threshold", "reverse", "agreement", "level_start", "level_stop")
_LEVELS = ("levels", "level_child")


@stored
@dataclass(frozen=True, eq=False)
class TreeStore:
    """Trees one behind the other in one array per kind of number, so that many take little room.

    `starts` has a row per tree (and one for the end): where its nodes, tests and levels start.
    """

    arrays: dict[str, Array]
    starts: IntArray

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> Self:
        """Return the trees stored."""
        names = (*_NODES, *_TESTS, *_LEVELS)
        arrays = {name: np.concatenate([getattr(t, name) for t in trees]) for name in names}
        sizes = [(len(t.parent), len(t.feature), len(t.levels)) for t in trees]
        return cls(arrays, np.cumsum([(0, 0, 0), *sizes], axis=0))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, b: int) -> Tree:
        first, last = self.starts[b], self.starts[b + 1]
        parts = {}
        for kind, names in enumerate((_NODES, _TESTS, _LEVELS)):
            for name in names:
                parts[name] = self.arrays[name][first[kind] : last[kind]]
        return Tree(**parts)


@stored
@dataclass(frozen=True, eq=False)
class Stumps:
    """Trees with one split at most, one entry per stump; see `_kernels.stumps` for the symbols."""

    feature: IntArray
    threshold: FloatArray
    low: IntArray
    high: IntArray
    other: IntArray
    level_start: IntArray
    level_stop: IntArray
    levels: IntArray
    level_vote: IntArray
    trees: TreeStore | None = None  # all that is known of the stumps, where they are kept

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> Self:
        """Return what is left of the trees when only the votes count."""
        count = len(trees)
        columns: dict[str, Any] = {
            "feature": np.full(count, -1),
            "threshold": np.full(count, np.nan),
            **{name: np.zeros(count, dtype=np.int64) for name in ("low", "high", "other")},
        }
        stops, levels, votes = [0], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for b, tree in enumerate(trees):
            label = decided(tree.value)
            columns["other"][b] = label[0]
            if tree.n_nodes > 1:
                children = label[tree.first_child[0] :]
                columns["feature"][b] = tree.feature[0]
                columns["threshold"][b] = tree.threshold[0]
                columns["low"][b], columns["high"][b] = children[0], children[1]
                columns["other"][b] = children[tree.default_child[0]]
                some = slice(tree.level_start[0], tree.level_stop[0])
                levels.append(tree.levels[some])
                votes.append(children[tree.level_child[some]])
            stops.append(stops[-1] + len(levels[-1]) if tree.n_nodes > 1 else stops[-1])
        return cls(
            **columns,
            level_start=np.array(stops[:-1], dtype=np.int64),
            level_stop=np.array(stops[1:], dtype=np.int64),
            levels=np.concatenate(levels),
            level_vote=np.concatenate(votes),
        )

    def __len__(self) -> int:
        return len(self.feature)

    @property
    def _arrays(self) -> tuple[Array, ...]:
        return tuple(getattr(self, each.name) for each in fields(self) if each.name != "trees")

    def labels(self, X: FloatArray, b: int) -> IntArray:
        """Return the class codes that stump b votes for."""
        return kernels.stump_labels(X, b, *self._arrays)

    def votes(self, X: FloatArray, alphas: FloatArray, n_classes: int) -> FloatArray:
        """Return the sum of `alphas` over the stumps that vote for each class: (rows, K)."""
        votes = np.zeros((len(X), n_classes))
        kernels.add_votes(X, alphas, votes, *self._arrays)
        return votes


class _LearnersInList:
    """Learners in a list."""

    members: list[Any]

    def __len__(self) -> int:
        return len(self.members)

    @abstractmethod
    def labels(self, X: Any, b: int) -> IntArray:
        """Return the class codes that learner b predicts."""

    def votes(self, X: Any, alphas: FloatArray, n_classes: int) -> FloatArray:
        """Return the sum of `alphas` over the learners that predict each class: (rows, K)."""
        votes = np.zeros((X.shape[0], n_classes))
        rows = np.arange(len(votes))
        for b in range(len(self)):
            votes[rows, self.labels(X, b)] += alphas[b]
        return votes


@stored
class WeakTrees(_LearnersInList):
    """Trees of any size."""

    def __init__(self, members: list[Tree]) -> None:
        self.members = members

    @property
    def trees(self) -> list[Tree]:
        """The trees, under the name that stumps have for theirs."""
        return self.members

    def labels(self, X: FloatArray, b: int) -> IntArray:
        """Return the class codes that tree b predicts."""
        tree = self.members[b]
        return decided(tree.value)[apply(X, *tree.walk)]


@stored
class WeakModels(_LearnersInList):
    """Fitted estimators, which predict labels."""

    def __init__(self, members: list[Any], classes: Array) -> None:
        self.members = members
        self.classes = classes

    def labels(self, X: Any, b: int) -> IntArray:
        """Return the class codes that model b predicts."""
        return np.searchsorted(self.classes, self.members[b].predict(X))
