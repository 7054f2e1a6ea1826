"""Forests of whole tree estimators: several responses, other criteria, pruning, monotone columns.

They cost more time and memory than packed trees, and grow on exact thresholds.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import compute_sample_weight

from bottega.core.classes import spread
from bottega.core.parallel import in_threads
from bottega.core.stored import stored
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.ensemble._kernels.draw import draw
from bottega.tree._grow.columns import Columns


@stored
@dataclass(frozen=True, eq=False)
class TreeRows:
    """The rows that whole trees are fitted to, and how they are drawn.

    `y` are responses as trees take them, in the own order of the rows; `positions` are those of
    the packed forest.
    """

    columns: Columns | None
    y: Array
    weight: FloatArray | None
    positions: IntArray
    size: int
    bootstrap: bool
    balanced: bool

    def counts(self, seed: int) -> IntArray:
        """Return how often a tree has drawn each row."""
        return draw(len(self.y), self.positions, self.size, self.bootstrap, seed)

    def fit(self, template: Any, seed: int) -> Any:
        """Return a tree fitted to a sample."""
        rows = np.repeat(np.arange(len(self.y)), self.counts(seed))
        y = self.y[rows]
        weight = None if self.weight is None or len(self.positions) else self.weight[rows]
        if self.balanced:
            factor = compute_sample_weight("balanced", y)
            weight = factor if weight is None else factor * weight
        assert self.columns is not None
        model = clone(template).set_params(random_state=seed)
        return model.fit(self.columns.X[rows], y, sample_weight=weight)

    def fit_all(self, template: Any, seeds: list[int]) -> list[Any]:
        """Return a tree for each seed."""
        return in_threads(
            lambda seed: self.fit(template, seed), seeds, stage="trees", elsewhere=True
        )

    def left_out(self, trees: list[Any], seeds: list[int], classes: Any) -> FloatArray:
        """Return the mean outputs of the trees that have not drawn the row; NaN where all have."""
        assert self.columns is not None
        total: Any = 0.0
        count = np.zeros(len(self.y))
        for tree, seed in zip(trees, seeds, strict=True):
            out = self.counts(seed) == 0
            found = np.stack(outputs(tree, self.columns.X, classes), axis=-1)
            total = total + np.where(out[:, None, None], found, 0.0)
            count += out
        with np.errstate(invalid="ignore"):
            return total / count[:, None, None]


def outputs(tree: Any, matrix: FloatArray, classes: list[Array] | None) -> list[FloatArray]:
    """Return what a tree gives for each response: (rows, K) shares of classes, or (rows, 1)."""
    if classes is None:
        found = np.asarray(tree.predict(matrix))
        return [column[:, None] for column in found.reshape(len(found), -1).T]
    shares = tree.predict_proba(matrix)
    if not isinstance(shares, list):
        shares, known = [shares], [tree.classes_]
    else:
        known = tree.classes_
    return [spread(*each) for each in zip(shares, known, classes, strict=True)]


def mean_outputs(
    trees: list[Any], matrix: FloatArray, classes: list[Array] | None
) -> list[FloatArray]:
    """Return the mean outputs of the trees, one array per response."""
    found = in_threads(lambda tree: outputs(tree, matrix, classes), trees)
    return [np.mean(each, axis=0) for each in zip(*found, strict=True)]


def classes_of(forest: Any) -> list[Array] | None:
    """Return the classes of each response; None for numbers."""
    if not is_classifier(forest):
        return None
    return forest.classes_ if isinstance(forest.classes_, list) else [forest.classes_]


def tree_options(forest: Any, max_features: int) -> dict[str, Any]:
    """Return the parameters of a tree as the forest fits it to a sample."""
    same = (
        *("max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf"),
        *("max_leaf_nodes", "min_impurity_decrease", "ccp_alpha", "monotonic_cst"),
    )
    categories = [j for j, levels in enumerate(forest.columns_in_.levels) if levels is not None]
    return {
        **{name: getattr(forest, name) for name in same},
        "max_features": max_features,
        "thresholds": forest._thresholds,
        "categorical_features": categories or "auto",
    }
