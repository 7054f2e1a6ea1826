"""Splits, surrogates and leaves against R's rpart on its own data sets."""

import json
from pathlib import Path

import numpy as np
import pytest

from bottega.tree._grow.columns import Columns
from bottega.tree._grow.exact import grow
from bottega.tree._grow.options import GrowOptions
from bottega.tree._kernels.walk import apply

FILE = Path(__file__).parents[1] / "reference" / "tree" / "rpart_grow.json"
CASES = json.loads(FILE.read_text())["cases"]


def grown(case):
    X = np.array(
        [[np.nan if v is None else v for v in column] for column in case["x"]], dtype=float
    ).T
    categorical = np.array(case["categorical"])
    X[:, categorical] -= 1
    columns = Columns(np.asfortranarray(X), categorical, np.where(categorical, case["levels"], 0))
    options = GrowOptions(
        criterion="gini" if case["classes"] else "squared_error",
        missing="surrogate",
        n_surrogates=case["surrogates"],
        max_depth=4,
        min_samples_split=2 * case["bucket"],
        min_samples_leaf=case["bucket"],
    )
    return columns, grow(columns, np.array(case["y"]), None, options, n_classes=case["classes"])


def goes_right(tree, s, case, k):
    """Tell whether our child 0 of test s is rpart's right child."""
    ncat, index = case["split_ncat"][k], case["split_index"][k]
    if abs(ncat) == 1:
        return ncat == 1
    directions = case["level_directions"][int(index) - 1]  # 1: left, 3: right
    if not case["categorical"][tree.feature[s]]:  # rpart writes ordered factors as levels
        return directions[0] == 3
    first = tree.level_start[s]
    ours = tree.level_child[first : tree.level_stop[s]] == 1
    theirs = np.array(directions)[tree.levels[first : tree.level_stop[s]]] == 3
    assert np.array_equal(ours, theirs) or np.array_equal(ours, ~theirs)
    return (directions[tree.levels[first]] == 3) != (tree.level_child[first] == 1)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_rpart_grows_the_same_tree(case):
    columns, tree = grown(case)
    place = {node: i for i, node in enumerate(case["node"])}
    is_leaf = [name == "<leaf>" for name in case["variable"]]
    own = [0 if leaf else 1 + n for leaf, n in zip(is_leaf, case["n_surrogates"], strict=True)]
    first_row = np.cumsum([0, *own])
    total = len(case["y"])

    def same(a, node):
        i = place[node]
        assert tree.n[a] == case["n"][i]
        # rpart's dev: misclassified rows or the sum of squares; sums in another order
        assert tree.risk[a] * total == pytest.approx(case["deviance"][i], rel=1e-9, abs=1e-9)
        assert (tree.n_children[a] == 0) == is_leaf[i]
        if is_leaf[i]:
            return
        s, k = tree.test_start[a], first_row[i]
        assert tree.test_stop[a] - s == own[i]
        for q in range(own[i]):
            name = case["columns"][tree.feature[s + q]]
            assert name == case["split_variable"][k + q]
            if abs(case["split_ncat"][k + q]) == 1:
                cut = case["split_index"][k + q]
                assert tree.threshold[s + q] == pytest.approx(cut, rel=1e-12)
            if q:
                agreement = case["split_improve"][k + q]
                assert tree.agreement[s + q] == pytest.approx(agreement, rel=1e-12)
        swapped = int(goes_right(tree, s, case, k))
        same(tree.first_child[a], 2 * node + swapped)
        same(tree.first_child[a] + 1, 2 * node + 1 - swapped)

    same(0, 1)
    leaf = apply(columns.X, *tree.walk)
    pairs = set(zip(leaf.tolist(), case["where"], strict=True))
    assert len(pairs) == len(set(case["where"])) == tree.n_leaves


def test_the_data_sets_do_have_missing_values():
    gaps = {case["name"]: sum(v is None for c in case["x"] for v in c) for case in CASES}
    assert sum(count > 0 for count in gaps.values()) >= 4, gaps
