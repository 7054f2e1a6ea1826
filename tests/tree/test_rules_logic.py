"""Trees read as logic: rules, disjunctive normal forms, partitions."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.core.errors import InputError
from bottega.tree import TreeClassifier, TreeRegressor, guillotine
from bottega.tree._read.column_conditions import Condition
from bottega.tree.rules import leaf_terms


def mixed(n, seed, missing=0.15):
    """Return a frame of numbers and categories with missing values, and three classes."""
    rng = np.random.default_rng(seed)
    size = rng.integers(0, 6, n).astype(float)
    kind = rng.choice(["a", "b", "c", "d"], n).astype(object)
    weight = rng.normal(size=n).round(1)
    y = np.where(size > 2, np.where(np.isin(kind, ["a", "c"]), "x", "y"), "z").astype(object)
    y[rng.random(n) < 0.3] = "y"
    for column in (size, weight):
        column[rng.random(n) < missing] = np.nan
    kind[rng.random(n) < missing] = None
    return pd.DataFrame({"size": size, "kind": kind, "weight": weight}), y.astype(str)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    leaves=st.integers(1, 25),
    missing=st.sampled_from(["direction", "surrogate"]),
    multiway=st.booleans(),
)
def test_normal_form_is_the_tree_on_every_input(seed, leaves, missing, multiway):
    X, y = mixed(80, seed)
    model = TreeClassifier(ccp_alpha=0, max_leaf_nodes=leaves, missing=missing, multiway=multiway)
    model.fit(X, y)
    new, _ = mixed(200, seed + 1, missing=0.4)
    new.loc[:20, "kind"] = "never seen"
    new.loc[10:30, "size"] = 1e300
    said = model.predict(new)
    for label in model.classes_:
        form = model.dnf(label)
        assert np.array_equal(form.holds(new), said == label)
        assert np.array_equal(form.holds(X), model.predict(X) == label)
        # Never more terms than leaves without surrogates.
        if missing == "direction":
            assert len(form) <= np.count_nonzero(
                model._shown(model.nodes_)[model.nodes_.is_leaf] == label
            )


def test_normal_form_is_short():
    # XOR of two flags needs two terms a class, whatever the tree splits on besides.
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 3)).astype(float)
    y = np.where((X[:, 0] == 1) ^ (X[:, 1] == 1), "odd", "even")
    model = TreeClassifier(ccp_alpha=0).fit(X, y)
    assert len(model.dnf("odd")) == len(model.dnf("even")) == 2
    # "a or b": the tree has the leaves a, (not a and b); the form drops "not a".
    either = np.where((X[:, 0] == 1) | (X[:, 1] == 1), 1, 0)
    form = TreeClassifier(ccp_alpha=0).fit(X, either).dnf(1)
    assert len(form) == 2
    assert all(len(term) == 1 for term in form.terms)
    assert str(form) == "1:\n     x0 > 0.5\n  or x1 > 0.5"
    nothing = TreeClassifier(n_leaves=1).fit(X, either)
    assert str(nothing.dnf(1)) == "1:\n     always"
    assert str(nothing.dnf(0)) == "0: never"
    assert repr(form) == "<DNF of 1 with 2 terms>"
    with pytest.raises(InputError, match="label='b' is not a class"):
        model.dnf("b")


def test_rules_read_like_sentences():
    X, y = mixed(300, 3)
    X["weight"] = 0.0  # no missing value: none is spoken of
    model = TreeClassifier(n_leaves=3).fit(X, y)
    assert model.nodes_.n_leaves == 3
    lines = model.rules()
    assert len(lines) == 3
    assert all("weight" not in line.split("->")[0] for line in lines)
    assert sum("or missing" in line for line in lines) >= 1
    assert any("kind in {a, c}" in line for line in lines)
    assert sum(int(line.rsplit("n = ", 1)[1].rstrip(")")) for line in lines) == 300
    numbers = TreeRegressor(n_leaves=4).fit(np.arange(40.0)[:, None], np.arange(40.0) // 10)
    assert numbers.rules()[0].startswith("x0 <= 9.5 -> 0 (25% of the weight, n = 10)")
    assert any(line.startswith("9.5 < x0 <= 19.5 -> 1 ") for line in numbers.rules())


def test_leaves_of_a_line_have_the_lengths_of_its_pieces():
    X = np.arange(101.0)[:, None]
    model = TreeRegressor(n_leaves=2).fit(X, (X[:, 0] > 24.5).astype(float))
    frame = model.leaves()
    assert frame["diameter"].tolist() == pytest.approx([0.245, 0.755])
    assert frame["n"].sum() == 101
    assert frame["share"].sum() == pytest.approx(1)
    plane = np.column_stack([X, X])
    only = TreeRegressor(n_leaves=1).fit(plane, X[:, 0]).leaves()
    assert only["diameter"].tolist() == pytest.approx([np.sqrt(2)])
    assert only["rule"].tolist() == ["always"]


def test_cells_shrink_and_fill_as_rows_grow():
    # A55: with leaves that grow like log n, diameters fall and counts rise.
    widest, fewest = [], []
    for n in (100, 1000, 10_000):
        rng = np.random.default_rng(0)
        X = rng.random((n, 1))
        model = TreeRegressor(ccp_alpha=0, min_samples_leaf=int(4 * np.log(n))).fit(X, X[:, 0])
        frame = model.leaves()
        widest.append(frame["diameter"].max())
        fewest.append(frame["n"].min())
    assert widest[0] > 3 * widest[1] > 9 * widest[2]
    assert fewest[0] < fewest[1] < fewest[2]


def test_conditions_form_an_algebra():
    low, high = Condition.interval(-np.inf, 1, False), Condition.interval(1, np.inf, True)
    assert low.join(high) == Condition()
    assert Condition().is_full(0)
    assert (low & high).no_value
    assert low.join(Condition.interval(2, 3, False)) is None
    assert low <= Condition()
    assert not Condition() <= low
    only_missing = Condition.interval(3, 2, True)
    assert only_missing == Condition.interval(9, 0, True)
    assert only_missing.join(low) == Condition.interval(-np.inf, 1, True)
    x = np.array([-np.inf, 1.0, 1.5, np.inf, np.nan])
    assert low.holds(x).tolist() == [True, True, False, False, False]
    assert high.holds(x).tolist() == [False, False, True, True, True]
    assert only_missing.holds(x).tolist() == [False] * 4 + [True]
    some = Condition(levels=frozenset([0, 2]), missing=False)
    assert some.holds(np.array([0.0, 1.0, 2.0, np.nan])).tolist() == [True, False, True, False]
    assert some.join(Condition(levels=frozenset([1]), missing=True)).is_full(3)


def test_leaves_cover_every_row_once():
    X, y = mixed(120, 5)
    model = TreeClassifier(ccp_alpha=0, missing="surrogate").fit(X, y)
    matrix = model.columns_in_.read(model, X)
    leaf = model.apply(X)
    for node, terms in leaf_terms(model.nodes_, model._n_levels).items():
        inside = np.zeros(len(matrix), dtype=int)
        for term in terms:
            passes = np.ones(len(matrix), dtype=bool)
            for j, condition in term.items():
                passes &= condition.holds(matrix[:, j])
            inside += passes
        assert np.array_equal(inside, (leaf == node).astype(int))


# ---- D147: partitions that no tree can make ---------------------------------------------------


def test_only_partitions_by_cuts_from_side_to_side_are_trees():
    pinwheel = [
        [[0, 2], [0, 1]],
        [[2, 3], [0, 2]],
        [[1, 3], [2, 3]],
        [[0, 1], [1, 3]],
        [[1, 2], [1, 2]],
    ]
    assert not guillotine(pinwheel)
    beside = [[[3, 4], [0, 3]], *pinwheel]  # one cut is possible, what is left is a pinwheel
    assert not guillotine(beside)
    assert guillotine([[[0, 1], [0, 1]]])
    assert guillotine([[[0, 1], [0, 3]], [[1, 3], [0, 1]], [[1, 2], [1, 3]], [[2, 3], [1, 3]]])
    bricks = [[[0, 2], [0, 1]], [[2, 4], [0, 1]], [[0, 1], [1, 2]], [[1, 4], [1, 2]]]
    assert guillotine(bricks)


def test_cells_of_a_fitted_tree_can_be_cut():
    rng = np.random.default_rng(2)
    X = rng.random((80, 2))
    model = TreeClassifier(ccp_alpha=0).fit(X, rng.integers(0, 2, 80))
    boxes = []
    for terms in leaf_terms(model.nodes_, model._n_levels).values():
        box = [[0.0, 1.0], [0.0, 1.0]]
        for j, condition in terms[0].items():
            box[j] = [max(0.0, condition.low), min(1.0, condition.high)]
        boxes.append(box)
    assert len(boxes) > 10
    assert guillotine(boxes)


def test_boxes_must_be_a_partition():
    with pytest.raises(InputError, match="overlaps"):
        guillotine([[[0, 2], [0, 1]], [[1, 3], [0, 1]]])
    with pytest.raises(InputError, match="gaps"):
        guillotine([[[0, 1], [0, 1]], [[2, 3], [0, 1]]])
    with pytest.raises(InputError, match="shape"):
        guillotine([[0, 1], [0, 1]])
