"""Whether the weak classifiers that were read from a file can be walked."""

from typing import Any

import numpy as np

from bottega.core.loaded import insist, is_array
from bottega.ensemble._boosting.learners import Stumps, TreeStore, WeakTrees
from bottega.tree._read.checked import check_tree

_NODES, _TESTS, _LEVELS = range(3)


def check_learners(learners: Any, n_columns: int, n_classes: int) -> None:
    """Raise unless rows of `n_columns` columns get votes for one of the classes."""
    if isinstance(learners, WeakTrees):
        for tree in learners.members:
            check_tree(tree, n_columns, n_classes)
    else:
        insist(isinstance(learners, Stumps), "the weak classifiers")
        _check_stumps(learners, n_columns, n_classes)
        if learners.trees is not None:
            _check_store(learners.trees, n_columns, n_classes)


def _check_stumps(stumps: Stumps, n_columns: int, n_classes: int) -> None:
    count = len(stumps.feature)
    for name in ("feature", "low", "high", "other", "level_start", "level_stop"):
        insist(is_array(getattr(stumps, name), np.int64, (count,)), f"{name} of the stumps")
    insist(is_array(stumps.threshold, np.float64, (count,)), "thresholds of the stumps")
    levels = len(stumps.levels)
    for name in ("levels", "level_vote"):
        insist(is_array(getattr(stumps, name), np.int64, (levels,)), f"{name} of the stumps")
    insist((stumps.feature >= -1) & (stumps.feature < n_columns), "a test on a missing column")
    for votes in (stumps.low, stumps.high, stumps.other, stumps.level_vote):
        insist((votes >= 0) & (votes < n_classes), "a vote for no class")
    start, stop = stumps.level_start, stumps.level_stop
    insist((start >= 0) & (start <= stop) & (stop <= levels), "levels of the stumps")


def _check_store(store: Any, n_columns: int, n_classes: int) -> None:
    insist(isinstance(store, TreeStore), "the trees of the stumps")
    starts = store.starts
    insist(is_array(starts, np.int64, (None, 3)) and len(starts) > 1, "places of trees")
    insist(np.all(starts[0] == 0) and np.all(np.diff(starts, axis=0) >= 0), "places of trees")
    for b in range(len(store)):
        check_tree(store[b], n_columns, n_classes)
