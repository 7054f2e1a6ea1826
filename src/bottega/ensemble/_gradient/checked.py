"""Whether boosted trees that were read from a file can be walked.

scikit-learn's trees are walked without looking whether a child or a column is there. Where it
keeps its nodes is no part of its interface, so whatever cannot be recognised is refused.
"""

from typing import Any

import numpy as np

from bottega.core.loaded import insist
from bottega.ensemble._gradient.booster import BoostedTrees
from bottega.ensemble._gradient.inputs import LevelNumbers

_FIELDS = {"left", "right", "feature_idx", "is_leaf", "is_categorical"}


def check_boosted(trees: Any, n_columns: int) -> None:
    """Raise unless rows of `n_columns` columns can walk the trees, and every walk ends."""
    insist(isinstance(trees, BoostedTrees), "the boosted trees")
    inputs = trees.inputs
    insist(isinstance(inputs, LevelNumbers), "the levels of categories")
    insist(len(inputs.n_levels) == len(inputs.means) == n_columns, "the levels of categories")
    if trees.only is not None:
        insist(0 <= trees.only < trees.n_classes, "the class")
        return
    width = len(inputs.source)
    learnt = vars(trees.model)
    insist(learnt.get("n_features_in_") == width, "the columns of the boosted trees")
    insist(learnt.get("_preprocessor") is None, "the columns of the boosted trees")
    categorical = getattr(learnt.get("_bin_mapper"), "is_categorical_", None)
    known = isinstance(categorical, np.ndarray) and categorical.shape == (width,)
    insist(known and not np.any(categorical), "the columns of the boosted trees")
    nodes = [vars(tree).get("nodes") for line in learnt.get("_predictors", ()) for tree in line]
    insist(len(nodes) > 0, "the boosted trees")
    for each in nodes:
        _check_nodes(each, width)


def _check_nodes(nodes: Any, width: int) -> None:
    known = isinstance(nodes, np.ndarray) and nodes.ndim == 1 and len(nodes) > 0
    insist(known and set(nodes.dtype.names or ()) >= _FIELDS, "the nodes of a boosted tree")
    inner = nodes["is_leaf"] == 0
    number = np.arange(len(nodes))[inner]
    for side in ("left", "right"):
        child = nodes[side][inner].astype(np.int64)
        # Children come after their parent: so every walk goes on, and comes to an end.
        insist((child > number) & (child < len(nodes)), "a child is no node")
    column = nodes["feature_idx"][inner]
    insist((column >= 0) & (column < width), "a test on a column that is not there")
    insist(nodes["is_categorical"] == 0, "a test on a category")
