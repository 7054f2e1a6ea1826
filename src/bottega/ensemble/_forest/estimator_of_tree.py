"""A tree of an ensemble as an estimator of its own."""

from typing import Any

import numpy as np

from bottega.core.typing import Array, BoolArray, FloatArray, IntArray
from bottega.tree._grow.columns import Columns
from bottega.tree._grow.structure import Tree

Ranges = tuple[FloatArray, FloatArray, BoolArray, IntArray]


def ranges_of(columns: Columns) -> Ranges:
    """Return the ends, missing values and numbers of levels of the columns: what trees know."""
    low, high = (np.nan_to_num(of.reduce(columns.X, axis=0)) for of in (np.fmin, np.fmax))
    return low, high, columns.has_missing(), columns.n_levels


def estimator_of_tree(template: Any, nodes: Tree, seed: int, ensemble: Any, ranges: Ranges) -> Any:
    """Return a tree estimator that has learnt the nodes, and of the columns what the ensemble has.

    `template` is the estimator as it would have been fitted, and is set.
    """
    model = template.set_params(random_state=seed)
    learnt = ("columns_in_", "n_features_in_", "feature_names_in_", "classes_", "_frame")
    known = {name: getattr(ensemble, name) for name in learnt if hasattr(ensemble, name)}
    low, high, missing, n_levels = ranges
    none: Array = np.zeros(len(low), dtype=bool)
    tried = getattr(ensemble, "max_features_", len(low))
    vars(model).update(
        **known,
        nodes_=nodes,
        n_outputs_=1,
        max_features_=tried,
        ccp_alpha_=0.0,
        _low=low,
        _high=high,
        _missing_seen=missing,
        _n_levels=n_levels,
        _joint=False,
        _seed=seed,
        _weighted=True,
        _costs=None,
        _default=-1,
        _boolean=none,
    )
    return model
