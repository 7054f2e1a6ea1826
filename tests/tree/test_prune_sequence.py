"""The weakest-link sequence against scikit-learn and brute force; validation pruning; refitting."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from bottega.core.folds import make_folds
from bottega.core.judge import mean_and_se
from bottega.core.losses import ZERO_ONE, Cost, get_loss
from bottega.tree import TreeClassifier, TreeRegressor
from bottega.tree._grow.columns import Columns
from bottega.tree._grow.exact import grow
from bottega.tree._grow.options import GrowOptions
from bottega.tree._kernels import prune as kernels
from bottega.tree._kernels.walk import apply
from bottega.tree._prune.losses import leaf_labels, node_losses, sums_at
from bottega.tree._prune.sequence import (
    PruningSequence,
    cut,
    impurity_risk,
    members_shown,
    prune,
    pruning_sequence,
)
from bottega.tree._prune.validation import reduced_error, refit_leaves, stopped_at
from bottega.tree.impurity import class_impurity


def sample(n=150, p=4, seed=0, classes=0):
    rng = np.random.default_rng(seed)
    # scikit-learn's trees keep their inputs in single precision.
    X = rng.normal(size=(n, p)).astype(np.float32).astype(np.float64)
    signal = X[:, 0] - X[:, 1] ** 2 + 0.5 * rng.normal(size=n)
    if not classes:
        return X, signal
    return X, np.searchsorted(np.quantile(signal, np.arange(1, classes) / classes), signal)


def grown(seed=0, classes=0, n=150, **options):
    X, y = sample(seed=seed, classes=classes, n=n)
    criterion = "gini" if classes else "squared_error"
    options = GrowOptions(**{"criterion": criterion, **options})
    return grow(Columns.numeric(X), y, None, options, n_classes=classes), X, y


def last_of_each(alpha, *columns):
    """Return the last row of each run of equal alphas: scikit-learn lists every collapse."""
    last = np.append(np.diff(alpha) > 1e-12, True)
    return alpha[last], *(column[last] for column in columns)


@pytest.mark.parametrize("classes", [0, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_path_equals_that_of_scikit_learn(classes, weighted):
    X, y = sample(classes=classes)
    w = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else None
    if classes:
        peer, criterion = DecisionTreeClassifier(random_state=0), "gini"
    else:
        peer, criterion = DecisionTreeRegressor(random_state=0), "squared_error"
    listed = peer.cost_complexity_pruning_path(X, y, sample_weight=w)
    alpha, risk = last_of_each(listed.ccp_alphas, listed.impurities)
    tree = grow(Columns.numeric(X), y, w, GrowOptions(criterion=criterion), n_classes=classes)
    sequence = pruning_sequence(tree, impurity_risk(tree))
    assert len(sequence) == len(alpha) > 5
    # Sums of at most 150 numbers of one size.
    assert sequence.alpha == pytest.approx(alpha, abs=1e-10)
    assert sequence.risk == pytest.approx(risk, abs=1e-10)


@pytest.mark.parametrize("place", [0.2, 0.5, 0.8])
def test_pruned_trees_predict_like_those_of_scikit_learn(place):
    # Leaves of five rows at least: in smaller nodes several columns split alike, and scikit-learn
    # draws one of them.
    X, y = sample(n=400)
    curve = TreeRegressor(min_samples_leaf=5).path(X, y)
    k = int(place * len(curve))
    alpha = np.sqrt(curve.values[k] * curve.values[k - 1])  # within the stretch of member k
    peer = DecisionTreeRegressor(ccp_alpha=alpha, min_samples_leaf=5, random_state=0).fit(X, y)
    ours = TreeRegressor(ccp_alpha=alpha, min_samples_leaf=5).fit(X, y)
    assert ours.nodes_.n_leaves == peer.get_n_leaves() == curve.df[k]
    X_new = sample(seed=5)[0]
    assert ours.predict(X_new) == pytest.approx(peer.predict(X_new), rel=1e-12)
    X, y = sample(n=400, classes=3)
    ours = TreeClassifier(prune_by="impurity", min_samples_leaf=5).fit(X, y)
    alpha = ours.ccp_alpha_ * (1 + 1e-9)
    peer = DecisionTreeClassifier(ccp_alpha=alpha, min_samples_leaf=5, random_state=0).fit(X, y)
    assert ours.predict_proba(X_new) == pytest.approx(peer.predict_proba(X_new), abs=1e-12)
    passed = ours.decision_path(X_new)
    assert passed.sum() == peer.decision_path(X_new).sum()
    leaf = ours.apply(X_new)
    assert np.array_equal(passed[np.arange(len(leaf)), leaf].ravel(), np.ones((1, len(leaf))))


def every_subtree(tree, node=0):
    """Return (risk, leaves) of every pruned version of a branch."""
    found = [(tree.risk[node], 1)]
    if tree.n_children[node]:
        parts = [every_subtree(tree, child) for child in tree.children(node)]
        rest = [(0.0, 0)]
        for part in parts:
            rest = [(a + c, b + d) for a, b in rest for c, d in part]
        found += rest
    return found


@pytest.mark.parametrize("classes", [0, 3])
def test_each_member_is_the_best_of_all_subtrees_on_its_stretch(classes):
    tree, _, _ = grown(classes=classes, max_leaf_nodes=9)
    sequence = pruning_sequence(tree)
    everything = np.array(every_subtree(tree))
    ends = np.append(sequence.alpha[1:], 2 * sequence.alpha[-1])
    for k in range(1, len(sequence)):
        for alpha in np.linspace(sequence.alpha[k], ends[k], 4)[:-1]:
            cost = everything[:, 0] + alpha * everything[:, 1]
            best = cost.min()
            assert sequence.risk[k] + alpha * sequence.n_leaves[k] == pytest.approx(best, abs=1e-12)
            small = prune(tree, alpha, sequence)
            assert small.n_leaves == sequence.n_leaves[k]
            # the smallest of the best
            assert small.n_leaves == everything[cost <= best + 1e-11][:, 1].min()


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), classes=st.sampled_from([0, 2, 3]), leaf=st.integers(1, 5))
def test_members_are_nested_and_pruning_again_changes_nothing(seed, classes, leaf):
    tree, X, _ = grown(seed=seed, classes=classes, n=60, min_samples_leaf=leaf)
    sequence = pruning_sequence(tree)
    assert np.all(np.diff(sequence.alpha) > 0)
    assert np.all(np.diff(sequence.n_leaves) < 0)
    assert np.all(np.diff(sequence.risk) > -1e-12)
    inner = ~tree.is_leaf
    below = tree.parent[1:]
    # A node is gone no later than the node above it becomes a leaf: all members are nested.
    assert np.all(sequence.collapse_alpha[1:] <= sequence.collapse_alpha[below])
    assert np.all(sequence.collapse_alpha[inner] > 0)
    assert prune(tree, 0.0) is tree
    for k in range(1, len(sequence)):
        alpha = sequence.alpha[k]
        small = prune(tree, alpha, sequence)
        assert small.n_leaves == sequence.n_leaves[k]
        assert small.risk[small.is_leaf].sum() == pytest.approx(sequence.risk[k], abs=1e-12)
        assert prune(small, alpha).n_leaves == small.n_leaves
        stops = kernels.stops(tree.parent, sequence.collapse_alpha <= alpha)
        leaf_of = apply(X, *small.walk)
        assert np.array_equal(small.value[leaf_of], tree.value[stops[apply(X, *tree.walk)]])
        first = small.first_child[small.n_children > 0]
        assert np.all(small.parent[first] == small.parent[first + 1])
    assert prune(tree, sequence.alpha_for(1)).n_nodes == 1
    some = prune(tree, sequence.alpha_for(5))
    assert some.n_leaves == sequence.n_leaves[sequence.n_leaves <= 5].max()


def test_a_node_with_many_children_counts_its_leaves():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (200, 1)).astype(float)
    y = X[:, 0] ** 2 + rng.normal(size=200)
    columns = Columns(np.asfortranarray(X), np.array([True]), np.array([5]))
    tree = grow(columns, y, None, GrowOptions(criterion="squared_error", multiway=True))
    sequence = pruning_sequence(tree)
    assert sequence.n_leaves.tolist() == [5, 1]
    gain = tree.risk[0] - tree.risk[1:].sum()
    assert sequence.alpha[1] == pytest.approx(gain / 4)


def test_equal_links_collapse_together_and_useless_splits_first():
    # Four pairs; the two halves are mirror images, so their links have one price.
    X = np.arange(8.0)[:, None]
    y = np.array([0.0, 0.0, 1.0, 1.0, 10.0, 10.0, 11.0, 11.0])
    tree = grow(Columns.numeric(X), y, None, GrowOptions(criterion="squared_error"))
    sequence = pruning_sequence(tree)
    assert sequence.n_leaves.tolist() == [4, 2, 1]
    assert sequence.alpha == pytest.approx([0, 0.125, 25])
    # The error does not see the second split; pruning by the error drops it at almost nothing.
    tree = grow(
        Columns.numeric(np.repeat([0.0, 1.0, 2.0], [10, 10, 10])[:, None]),
        np.repeat([0, 1, 0, 1, 0], [10, 3, 7, 1, 9]),
        None,
        GrowOptions(),
        n_classes=2,
    )
    sequence = pruning_sequence(tree)
    assert sequence.n_leaves.tolist() == [3, 1]
    assert 0 < sequence.alpha[1] < 1e-15
    assert sequence.beta[0] == 0
    assert prune(tree, 0.0).n_leaves == 3


def test_losses_along_the_path_equal_those_of_each_pruned_tree():
    tree, _, _ = grown(n=100)
    sequence = pruning_sequence(tree)
    X, y = sample(n=57, seed=3)
    w = np.random.default_rng(0).uniform(0.5, 3, 57)
    leaf = apply(X, *tree.walk)
    betas = sequence.beta
    sums = sums_at(tree, sequence.collapse_alpha, node_losses(tree, leaf, y, w), betas)
    for k, beta in enumerate(betas):
        small = prune(tree, beta, sequence)
        loss = (y - small.value[apply(X, *small.walk), 0]) ** 2
        expected = [np.sum(w * loss), np.sum(w**2 * loss), np.sum(w**2 * loss**2)]
        assert sums[k] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
def test_cross_validated_error_is_the_mean_over_held_out_rows(weighted):
    X, y = sample(n=80)
    w = np.random.default_rng(2).uniform(0.2, 2, 80) if weighted else None
    model = TreeRegressor(cv=4)
    curve = model.path(X, y, sample_weight=w)
    folds = make_folds(4, 80, X=X, y=y)
    tree = grow(Columns.numeric(X), y, w, GrowOptions(criterion="squared_error"))
    sequence = pruning_sequence(tree)
    betas = sequence.beta[::-1]
    loss = np.empty((80, len(curve)))
    for train, test in folds:
        part = None if w is None else w[train]
        own = grow(Columns.numeric(X[train]), y[train], part, GrowOptions("squared_error"))
        for k, beta in enumerate(betas):
            small = prune(own, beta)
            loss[test, k] = (y[test] - small.value[apply(X[test], *small.walk), 0]) ** 2
    mean, se = mean_and_se(loss, w)
    assert curve.error == pytest.approx(mean, rel=1e-9)
    assert curve.error_se == pytest.approx(se, rel=1e-7)
    by_fold = [
        np.average(loss[test], axis=0, weights=None if w is None else w[test]) for _, test in folds
    ]
    assert curve.fold_error == pytest.approx(np.stack(by_fold), rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("classes", "name"),
    [
        (0, "absolute_error"),
        (0, "huber"),
        (3, "zero_one"),
        (3, "log_loss"),
        (3, "brier_score"),
        (3, Cost([[0, 1, 2], [3, 0, 1], [1, 5, 0]])),
        (3, lambda y, said: np.abs(y - said)),
    ],
)
def test_the_path_is_judged_by_any_loss(classes, name, weighted):
    """Held-out and training error against those of each pruned tree of each fold."""
    X, y = sample(n=92, classes=classes)
    w = np.random.default_rng(2).uniform(0.2, 2, 92) if weighted else None
    model = (
        TreeClassifier(cv=3, min_samples_leaf=5)
        if classes
        else TreeRegressor(cv=3, min_samples_leaf=5)
    )
    curve = model.path(X, y, sample_weight=w, loss=name)
    loss = get_loss(name)
    loss = loss.for_classes(np.arange(3)) if classes else loss
    whole = model.path(X, y, sample_weight=w)
    assert len(whole) == len(curve)
    options = GrowOptions("gini" if classes else "squared_error", min_samples_leaf=5)

    def losses(tree, betas, X, y):
        found = np.empty((len(y), len(betas)))
        for k, beta in enumerate(betas):
            small = prune(tree, beta)
            value = small.value[apply(X, *small.walk)]
            if loss.method == "predict":
                value = leaf_labels(value) if classes else value[:, 0]
            found[:, k] = loss.of_rows(y, value)
        return found

    tree = grow(Columns.numeric(X), y, w, options, n_classes=classes)
    betas = pruning_sequence(tree).beta[::-1]
    held = np.empty((92, len(curve)))
    for train, test in make_folds(3, 92, strata=y if classes else None, X=X, y=y):
        part = None if w is None else w[train]
        own = grow(Columns.numeric(X[train]), y[train], part, options, n_classes=classes)
        held[test] = losses(own, betas, X[test], y[test])
    mean, se = mean_and_se(held, w)
    assert curve.error == pytest.approx(mean, rel=1e-9)
    # A root of a difference of sums of squares: 1e-16 in them is 1e-8 in it.
    assert curve.error_se == pytest.approx(se, rel=1e-7, abs=1e-8)
    trained = np.average(losses(tree, curve.values, X, y), axis=0, weights=w)
    assert curve.train_error == pytest.approx(trained, rel=1e-9, abs=1e-12)
    assert curve.loss == loss.title


def test_long_sequences_are_shown_in_part():
    n = 3000
    alpha = np.linspace(0, 1, n)
    leaves = np.arange(n, 0, -1)
    shown = members_shown(PruningSequence(alpha, leaves, alpha, alpha))
    kept = leaves[shown]
    assert np.all(np.diff(kept) > 0)
    assert kept[:256].tolist() == list(range(1, 257))
    assert kept[-1] == n
    assert len(kept) <= 520
    assert np.max(kept[256:] / kept[255:-1]) < 1.02


# ---- a validation set ---------------------------------------------------------------------------


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), classes=st.sampled_from([0, 3]))
def test_reduced_error_pruning_finds_the_smallest_of_the_best(seed, classes):
    tree, _, _ = grown(seed=seed, classes=classes, n=60, max_leaf_nodes=8)
    X, y = sample(n=40, seed=seed + 1, classes=classes)
    label = leaf_labels(tree.value) if classes else None
    leaf = apply(X, *tree.walk)
    loss = node_losses(tree, leaf, y, None, *((ZERO_ONE, label) if classes else ()))[:, 0]
    everything = np.array(every_subtree(tree.at(risk=loss)))
    small = reduced_error(tree, loss)
    ends = apply(X, *small.walk)
    if classes:
        found = np.count_nonzero(leaf_labels(small.value)[ends] != y)
    else:
        found = np.sum((small.value[ends, 0] - y) ** 2)
    best = everything[:, 0].min()
    # Never above the full tree's error, and the least of all pruned trees.
    assert found == pytest.approx(best, abs=1e-9)
    if classes:  # counts are exact, so equals are equal
        assert small.n_leaves == everything[everything[:, 0] == best][:, 1].min()


@pytest.mark.parametrize("classes", [0, 3])
def test_growth_that_stops_is_growth_with_fewer_leaves(classes):
    X, y = sample(n=80, seed=9, classes=classes)
    tree, _, _ = grown(classes=classes, max_leaf_nodes=30)
    judged = (ZERO_ONE, leaf_labels(tree.value)) if classes else ()
    loss = node_losses(tree, apply(X, *tree.walk), y, None, *judged)[:, 0]
    errors = []
    for leaves in range(1, 31):
        small, _, _ = grown(classes=classes, max_leaf_nodes=leaves)
        leaf = apply(X, *small.walk)
        wrong = leaf_labels(small.value)[leaf] != y if classes else (small.value[leaf, 0] - y) ** 2
        errors.append(wrong.sum())
    for target in np.quantile(errors, [0, 0.3, 0.7, 1]):
        first = int(np.flatnonzero(np.array(errors) <= target * (1 + 1e-12))[0])
        expected, _, _ = grown(classes=classes, max_leaf_nodes=first + 1)
        found = stopped_at(tree, loss, float(target))
        assert found.n_leaves == expected.n_leaves == first + 1
        np.testing.assert_array_equal(np.sort(found.threshold), np.sort(expected.threshold))
    assert stopped_at(tree, loss, -1.0) is tree


@pytest.mark.parametrize("classes", [0, 3])
@pytest.mark.parametrize("priors", [False, True])
def test_refitting_on_the_same_rows_changes_nothing(classes, priors):
    X, y = sample(classes=classes)
    w = np.random.default_rng(1).uniform(0.5, 2, len(y))
    target, criterion = {}, "squared_error"
    if classes:
        criterion = "entropy"
        target = {"n_classes": classes}
        if priors:
            cost = np.array([[0, 1, 2], [1, 0, 1], [3, 1, 0.0]])
            target |= {"class_scale": np.array([0.5, 1.0, 2.0]), "cost": cost}
    columns = Columns.numeric(X)
    tree = grow(columns, y, w, GrowOptions(criterion=criterion, max_leaf_nodes=12), **target)
    again = refit_leaves(tree, columns, y, w, criterion=criterion, **target)
    for name in ("n", "weight", "value", "impurity", "risk", "gain"):
        expected = getattr(tree, name)
        assert getattr(again, name) == pytest.approx(expected, rel=1e-9, abs=1e-12), name
    if classes:
        risk = impurity_risk(tree, target.get("class_scale"), target.get("cost"))
        assert risk[0] - risk[1:3].sum() == pytest.approx(tree.gain[0], rel=1e-9)


def test_refitted_leaves_know_training_and_validation_rows():
    X, y = sample(n=200, classes=2)
    model = TreeClassifier(select="reduced_error", validation=0.3).fit(X, y)
    assert model.nodes_.n[0] == 200
    assert np.isnan(model.ccp_alpha_)
    leaf = model.apply(X)
    for one in np.unique(leaf):
        share = np.bincount(y[leaf == one], minlength=2) / np.count_nonzero(leaf == one)
        assert model.nodes_.value[one] == pytest.approx(share)
    assert 1 < model.nodes_.n_leaves < TreeClassifier(ccp_alpha=0).fit(X, y).nodes_.n_leaves
    numbers = TreeRegressor(select="reduced_error").fit(X, X[:, 0])
    assert numbers.predict(X).mean() == pytest.approx(X[:, 0].mean())


def test_cutting_keeps_tests_levels_and_children_in_order():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=300), rng.integers(0, 6, 300)])
    y = np.sin(2 * X[:, 0]) + np.array([0, 2, 0, 1, 2, 1])[X[:, 1].astype(int)]
    X[rng.random((300, 2)) < 0.1] = np.nan
    columns = Columns(np.asfortranarray(X), np.array([False, True]), np.array([0, 6]))
    options = GrowOptions(criterion="squared_error", missing="surrogate", max_leaf_nodes=20)
    tree = grow(columns, y, None, options)
    marked = np.zeros(tree.n_nodes, dtype=bool)
    marked[np.flatnonzero(tree.depth == 3)] = True
    small = cut(tree, marked)
    assert small.max_depth == 3
    stops = kernels.stops(tree.parent, marked)
    found = small.value[apply(X, *small.walk)]
    assert np.array_equal(found, tree.value[stops[apply(X, *tree.walk)]])
    assert small.test_stop[-1] <= len(small.feature) < len(tree.feature)


def test_impurities_of_the_notes():
    # A32 and M212, M215, M218: shares 0.8 and counts (4, 2).
    one = np.array([[0.8, 0.2]])
    found = [class_impurity(one, name)[0] for name in ("error", "gini", "entropy", "sqrt")]
    assert found == pytest.approx([0.2, 0.32, 2 * 0.360964, 0.4], abs=2e-6)  # psi3 is half the bits
    two = np.array([[4.0, 2.0]])
    assert class_impurity(two, "gini")[0] == pytest.approx(4 / 9)
    assert class_impurity(two, "entropy")[0] == pytest.approx(0.91830, abs=1e-5)
    assert class_impurity(np.zeros((1, 2)), "error")[0] == 0


@pytest.mark.parametrize(
    ("options", "outputs"),
    [({}, 1), ({}, 2), ({"criterion": "absolute_error"}, 1), ({"target_error": 0.5}, 1)],
)
def test_the_size_that_is_chosen_does_not_depend_on_the_unit_of_the_responses(options, outputs):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = 2 * X[:, :outputs] + X[:, 1:2] + rng.normal(size=(150, outputs))
    y = y[:, 0] if outputs == 1 else y
    whole = TreeRegressor(**options).fit(X, y)
    assert len(np.unique(whole.predict(X), axis=0)) > 2
    for power in (-470, -300, 260, 470):
        unit = 2.0**power
        of_loss = unit if "criterion" in options else unit**2
        changed = {"target_error": 0.5 * of_loss} if "target_error" in options else {}
        model = TreeRegressor(**options | changed).fit(X, y * unit)
        np.testing.assert_array_equal(model.predict(X) / unit, whole.predict(X))
        np.testing.assert_array_equal(model.path_.error / of_loss, whole.path_.error)
        np.testing.assert_array_equal(model.path_.error_se / of_loss, whole.path_.error_se)
        assert model.ccp_alpha_ / of_loss == whole.ccp_alpha_
