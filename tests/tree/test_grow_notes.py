"""The worked numbers of the course notes: impurities, gains, and where they stall."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bottega.core.errors import InputError
from bottega.core.folds import make_folds
from bottega.tree import TreeClassifier, TreeRegressor, entropy
from bottega.tree._grow.columns import Columns
from bottega.tree._grow.exact import grow
from bottega.tree._grow.options import GrowOptions
from bottega.tree.impurity import class_impurity

# psi1 .. psi4 in units of the criteria: psi3 is half the entropy in bits.
PSI = {"error": 1.0, "gini": 1.0, "entropy": 0.5, "sqrt": 1.0}


def two_classes(*leaves):
    """Return one column that numbers the leaves and classes with the given counts in them."""
    x, y = [], []
    for number, (negative, positive) in enumerate(leaves):
        x += [number] * (negative + positive)
        y += [0] * negative + [1] * positive
    return Columns.numeric(np.array(x, dtype=float)[:, None]), np.array(y)


@pytest.mark.parametrize(
    ("criterion", "gain"),
    [("error", 0.222222), ("gini", 0.149383), ("entropy", 0.114718), ("sqrt", 0.082232)],
)
def test_weather_split_at_humidity_70(criterion, gain):  # A29
    humidity = np.array([85, 76, 55, 65, 82, 35, 94, 66, 48.0])
    y = np.array([1, 0, 1, 0, 0, 1, 0, 1, 1])
    dry = (humidity > 70).astype(float)[:, None]
    tree = grow(Columns.numeric(dry), y, None, GrowOptions(criterion=criterion), n_classes=2)
    assert PSI[criterion] * tree.gain[0] == pytest.approx(gain, abs=5e-7)  # the notes' digits
    assert tree.n.tolist() == [9, 5, 4]
    np.testing.assert_allclose(tree.value[:, 1], [5 / 9, 0.8, 0.25])
    np.testing.assert_allclose(tree.risk * 9, [4, 1, 1])
    if criterion == "entropy":
        assert tree.gain[0] == pytest.approx(0.229437, abs=5e-7)  # information gain in bits


@pytest.mark.parametrize(
    ("share", "values"),
    [
        (0.5, [0.5, 0.5, 0.5, 0.5]),
        (0.8, [0.2, 0.32, 0.360964, 0.4]),
        (0.6, [0.4, 0.48, 0.485475, 0.489898]),
        (0.25, [0.25, 0.375, 0.405639, 0.433013]),
    ],
)
def test_impurities_of_two_classes(share, values):  # A32
    columns, y = two_classes((round(20 * (1 - share)), round(20 * share)))
    found = [
        unit * grow(columns, y, None, GrowOptions(criterion=psi), 2).impurity[0]
        for psi, unit in PSI.items()
    ]
    np.testing.assert_allclose(found, values, atol=5e-7)


def test_the_error_criterion_stalls_where_the_others_split():  # A33
    columns, y = two_classes((4, 6), (0, 10))
    gains = [
        unit * grow(columns, y, None, GrowOptions(criterion=psi), 2).gain[0]
        for psi, unit in PSI.items()
    ]
    np.testing.assert_allclose(gains, [0, 0.08, 0.118226, 0.155051], atol=5e-7)
    assert grow(columns, y, None, GrowOptions(criterion="error"), 2).n_leaves == 1


def test_gini_and_entropy_prefer_the_pure_child():  # M213
    a, b = two_classes((100, 300), (300, 100)), two_classes((200, 400), (200, 0))
    for psi, of_a, of_b in [
        ("error", 0.25, 0.25),
        ("gini", 0.125, 0.16667),
        ("entropy", 0.18872, 0.31128),  # in bits
    ]:
        options = GrowOptions(criterion=psi)
        assert grow(*a, None, options, 2).gain[0] == pytest.approx(of_a, abs=5e-6)
        assert grow(*b, None, options, 2).gain[0] == pytest.approx(of_b, abs=5e-6)


@pytest.mark.parametrize(
    ("leaves", "gini", "entropy"),
    [(((80, 0), (80, 40)), 0.05333, 0.17095), (((120, 40), (40, 0)), 0.02, 0.07291)],
)
def test_error_stops_wrongly(leaves, gini, entropy):  # M214
    columns, y = two_classes(*leaves)
    assert grow(columns, y, None, GrowOptions(criterion="error"), 2).n_leaves == 1
    found = grow(columns, y, None, GrowOptions(criterion="gini"), 2).gain[0]
    assert found == pytest.approx(gini, abs=5e-6)
    bits = grow(columns, y, None, GrowOptions(criterion="entropy"), 2).gain[0]
    assert bits == pytest.approx(entropy, abs=5e-6)


@pytest.mark.parametrize(
    ("counts", "bits"), [((1, 1), 1.0), ((7, 3), 0.881291), ((0, 1), 0.0), ((1, 1, 1, 2), 1.921928)]
)
def test_entropies(counts, bits):  # C12
    y = np.repeat(np.arange(len(counts)), counts)
    columns = Columns.numeric(np.zeros((len(y), 1)))
    tree = grow(columns, y, None, GrowOptions(criterion="entropy"), len(counts))
    assert tree.impurity[0] == pytest.approx(bits, abs=5e-7)
    nats = grow(columns, y, None, GrowOptions(criterion="deviance"), len(counts)).impurity[0]
    assert nats == pytest.approx(2 * np.log(2) * bits, abs=5e-6)


def test_a_balanced_exclusive_or_is_split_although_no_split_gains():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]])
    y = np.array([0, 1, 1, 0])
    for criterion in [*PSI, "deviance", "squared_error"]:
        K = 0 if criterion == "squared_error" else 2
        for demand, leaves in ((0.0, 4), (1e-12, 1)):  # asked to gain, growth stalls
            options = GrowOptions(criterion=criterion, min_impurity_decrease=demand)
            tree = grow(Columns.numeric(X), y, None, options, K)
            assert tree.n_leaves == (1 if criterion == "error" else leaves)
            assert tree.gain[0] == 0


def test_entropy_is_the_number_of_bits_of_a_draw():  # M216
    assert entropy([0.5, 0.5]) == 1
    assert entropy(np.ones(8)) == pytest.approx(3)
    assert entropy([4, 2]) == pytest.approx(0.918296, abs=5e-7)  # M218
    assert entropy([1, 0, 0]) == 0
    assert entropy([1, 3], base=np.e) == pytest.approx(stats.entropy([1, 3]))
    table = np.random.default_rng(0).random((3, 2, 5))
    assert entropy(table) == pytest.approx(stats.entropy(table, base=2, axis=-1))
    assert class_impurity(table[0], "entropy") == pytest.approx(entropy(table[0]))
    for bad in (0.5, [0.0, 0.0], [-0.1, 1.1], [np.nan, 1]):
        with pytest.raises(InputError, match="not negative"):
            entropy(bad)
    with pytest.raises(InputError, match="base=1"):
        entropy([1, 1], base=1)


def test_a_test_may_send_groups_of_levels_to_three_children():  # A26, example (i)
    table = pd.DataFrame({"x": np.repeat(["a", "b", "c", "d"], [3, 2, 4, 3])})
    y = np.repeat(["third", "first", "second"], [5, 4, 3])
    model = TreeClassifier(0.0, multiway=3).fit(table, y)
    assert model.nodes_.n_children.tolist() == [3, 0, 0, 0]
    groups = [model.leaves()["rule"].tolist()[i] for i in np.argsort(model.leaves()["value"])]
    assert groups == ["x = c", "x = d", "x in {a, b}"]
    # Two children are not enough, and a fourth would gain nothing.
    assert TreeClassifier(0.0, multiway=2, max_depth=1).fit(table, y).nodes_.n_leaves == 2
    assert TreeClassifier(0.0, multiway=4).fit(table, y).nodes_.n_children[0] == 3
    assert TreeClassifier(0.0, multiway=True).fit(table, y).nodes_.n_children[0] == 4
    assert np.array_equal(model.predict(table), y)
    with pytest.raises(InputError, match="multiway=3 does not go with thresholds='binned'"):
        TreeClassifier(0.0, multiway=3, thresholds="binned").fit(table, y)


def test_growth_stops_when_validation_accuracy_is_high_enough():  # M224, the fifth rule
    rng = np.random.default_rng(0)
    X = rng.random((600, 4))
    y = np.where((X[:, 0] > 0.5) ^ (X[:, 1] > 0.3), 1, 0) ^ (rng.random(600) < 0.1)
    full = TreeClassifier(0.0).fit(X, y)
    leaves = []
    for target in (0.5, 0.2, 0.15):
        model = TreeClassifier(0.0, target_error=target, validation=0.3).fit(X, y)
        leaves.append(model.nodes_.n_leaves)
        assert model.nodes_.n[0] == 600  # the leaves know all rows
        train, held = make_folds(0.3, 600, strata=y, X=X, y=y)[0]
        # Growth on the training part, one split fewer: the target was not reached yet.
        fewer = TreeClassifier(0.0, max_leaf_nodes=max(leaves[-1] - 1, 1)).fit(X[train], y[train])
        same = TreeClassifier(0.0, max_leaf_nodes=leaves[-1]).fit(X[train], y[train])
        assert np.mean(same.predict(X[held]) != y[held]) <= target
        assert leaves[-1] == 1 or np.mean(fewer.predict(X[held]) != y[held]) > target
        # The same tests, in another order.
        assert np.array_equal(np.sort(same.nodes_.threshold), np.sort(model.nodes_.threshold))
    assert 1 <= leaves[0] < leaves[1] <= leaves[2] < full.nodes_.n_leaves
    never = TreeClassifier(0.0, target_error=0.0).fit(X, y)
    assert never.nodes_.n_leaves > leaves[2]
    signal = X[:, 0] + (X[:, 1] > 0.5)
    for thresholds in ("exact", "binned"):
        number = TreeRegressor(0.0, target_error=0.02, thresholds=thresholds).fit(X, signal)
        assert 3 <= number.nodes_.n_leaves < 30
        assert np.mean((number.predict(X) - signal) ** 2) < 0.03
    assert TreeRegressor(target_error=0.1).fit([[1.0]], [3.0]).predict([[9.0]]) == [3.0]
