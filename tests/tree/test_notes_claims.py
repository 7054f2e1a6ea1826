"""What the notes say about trees, tried out: impurities, instability, overfitting, consistency.

Simulations have fixed seeds, so they are the same every time. Each says how likely a correct
implementation would fail it with another seed.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from bottega.data import make
from bottega.tree import TreeClassifier, TreeRegressor

# ---- which splits the impurities prefer (X9, X10, A33, A56) -------------------------------------


def column(*cells):
    """Write out rows of (value of the column, label, how often)."""
    x = np.concatenate([np.full(count, value, dtype=float) for value, _, count in cells])
    y = np.concatenate([np.full(count, label) for _, label, count in cells])
    return x[:, None], y


SPLIT_A = column((0, 0, 100), (0, 1, 300), (1, 0, 300), (1, 1, 100))
SPLIT_B = column((0, 0, 200), (0, 1, 400), (1, 0, 200))


@pytest.mark.parametrize(
    ("criterion", "gain_a", "gain_b"),
    [
        ("error", 0.25, 0.25),
        ("gini", 0.125, 1 / 6),
        ("entropy", 0.188722, 0.311278),
    ],
)
def test_the_error_rate_cannot_rank_two_splits_that_gini_and_entropy_can(criterion, gain_a, gain_b):
    """X9, numbers of M213: the parent (400, 400) into (100, 300) (300, 100) or (200, 400) (200, 0).

    The root of a stump on each column has the gain of that split.
    """
    for (X, y), gain in ((SPLIT_A, gain_a), (SPLIT_B, gain_b)):
        stump = TreeClassifier(0.0, criterion=criterion).fit(X, y)
        assert stump.nodes_.gain[0] == pytest.approx(gain, abs=1e-6)  # six printed digits


def test_gini_takes_the_split_with_the_pure_child():
    """Both columns on the same 800 rows: class by class, rows paired in any order."""
    a, y = SPLIT_A
    b = np.empty_like(a)
    for label in (0, 1):
        b[y == label] = SPLIT_B[0][SPLIT_B[1] == label]
    X = np.hstack([a, b])
    for criterion in ("gini", "entropy", "sqrt", "deviance"):
        tree = TreeClassifier(0.0, criterion=criterion, max_depth=1).fit(X, y).nodes_
        assert tree.feature[0] == 1, criterion


@pytest.mark.parametrize(
    ("criterion", "gain"), [("error", 0.0), ("gini", 0.053333), ("entropy", 0.170951)]
)
def test_a_split_before_the_one_that_purifies_gains_nothing_by_the_error_rate(criterion, gain):
    """X10, numbers of M214: (160, 40) into (80, 0) and (80, 40), which x2 would then purify."""
    X = np.repeat([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [40, 40, 80, 40], axis=0)
    y = np.repeat([0, 0, 0, 1], [40, 40, 80, 40])
    tree = TreeClassifier(0.0, criterion=criterion).fit(X, y).nodes_
    if criterion == "error":
        assert tree.n_nodes == 1  # neither column changes the number of errors: stalled
        assert tree.risk[0] == pytest.approx(0.2)
    else:
        assert tree.gain[0] >= gain - 1e-6
        assert tree.risk[tree.is_leaf].sum() == 0  # exact: every leaf is pure


@pytest.mark.parametrize("copies", [1, 10, 100])
def test_greedy_growth_by_the_true_error_rate_is_not_consistent(copies):
    """A56 by the numbers of A33: the rows are the distribution itself, so splits see the true risk.

    y = 1 where x1 = 1 or x2 < 6 of ten values. No single split lowers the risk of 0.2, however many
    rows there are; strictly concave impurities reach the Bayes risk of 0.
    """
    X = np.array([[a, b] for a in (0.0, 1.0) for b in range(10)])
    y = ((X[:, 0] == 1) | (X[:, 1] < 6)).astype(int)
    X, y = np.repeat(X, copies, axis=0), np.repeat(y, copies)
    stalled = TreeClassifier(0.0, criterion="error").fit(X, y)
    assert stalled.nodes_.n_leaves == 1
    assert np.mean(stalled.predict(X) != y) == pytest.approx(0.2)
    for criterion in ("gini", "entropy", "sqrt"):
        assert np.all(TreeClassifier(0.0, criterion=criterion).fit(X, y).predict(X) == y)


def test_gini_and_entropy_make_nearly_the_same_splits():
    """E29, D183: over 30 samples, trees of 8 leaves share many first splits and most predictions.

    With other seeds the first split is the very same in 62% and predictions in 93%, with standard
    deviations of these means of 0.09 and 0.01: the limits are four of them away, false alarm below
    1 in 10,000. (Two samples hardly ever share a threshold by chance.)
    """
    same_root, agree = [], []
    for seed in range(30):
        data = make.nested_spheres(300, random_state=seed)
        new = make.nested_spheres(2000, random_state=1000 + seed).X
        gini, entropy = (
            TreeClassifier(n_leaves=8, criterion=name).fit(data.X, data.y)
            for name in ("gini", "entropy")
        )
        roots = [(model.nodes_.feature[0], model.nodes_.threshold[0]) for model in (gini, entropy)]
        same_root.append(roots[0] == roots[1])
        agree.append(np.mean(gini.predict(new) == entropy.predict(new)))
    assert np.mean(same_root) > 0.25
    assert np.mean(agree) > 0.88


# ---- columns with many values (M220, D148, E13) -------------------------------------------------


def test_gain_favours_a_column_that_only_numbers_the_rows():
    """M220: an identifier looks like the best split there is, and is worth nothing on new rows."""
    rng = np.random.default_rng(0)
    n = 300
    useful = rng.normal(size=n)
    y = (useful + rng.normal(size=n) > 0).astype(int)
    table = pd.DataFrame({"useful": useful, "id": [f"row {i:03d}" for i in range(n)]})
    full = TreeClassifier(0.0).fit(table, y)
    names = list(full.columns_in_.names)
    root = full.nodes_.feature[full.nodes_.test_start[0]]
    assert names[root] == "id"
    # Any labels can be told apart by the identifiers, so the first gain is all there is.
    assert full.nodes_.gain[0] == pytest.approx(full.nodes_.impurity[0])
    assert full.feature_importances_[names.index("useful")] == 0
    fresh = rng.normal(size=2000)
    labels = (fresh + rng.normal(size=2000) > 0).astype(int)
    new = pd.DataFrame({"useful": fresh, "id": [f"new {i}" for i in range(2000)]})
    honest = TreeClassifier(0.0, n_leaves=None, max_leaf_nodes=2).fit(table[["useful"]], y)
    wrong = [
        np.mean(model.predict(X) != labels) for model, X in ((full, new), (honest, new[["useful"]]))
    ]
    # Unseen identifiers all go one way: about half are wrong. A stump on the useful column errs on
    # a quarter. Standard errors are 0.011: six of them away.
    assert wrong[0] > 0.43
    assert wrong[1] < 0.32
    # Permutation on new rows is not deceived: the identifier changes nothing there.
    found = full.permutation_importance(new, labels, n_repeats=2, random_state=0)
    assert found["importance"].tolist() == [0.0, 0.0]


def test_gain_favours_noise_with_many_values_over_noise_with_few():
    """E13: neither column is of use; the continuous one takes the first split nearly always.

    A fair choice would be binomial(40, 1/2): 30 or more has probability 0.001. A continuous column
    has some 200 places to split by chance and the binary one a single place, so it wins in about
    37 of 40 (standard deviation 2): false alarm below 1 in 1,000.
    """
    taken = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.integers(0, 2, 200), rng.normal(size=200)])
        stump = TreeClassifier(0.0, max_leaf_nodes=2).fit(X, rng.integers(0, 2, 200))
        taken += int(stump.nodes_.feature[0] == 1)
    assert taken >= 30


# ---- size of the tree (M221, E26, A55) ----------------------------------------------------------


def test_training_error_falls_to_zero_while_held_out_error_turns():
    """M221: along the path from the root to the full tree, on labels that are noisy."""
    data = make.two_gaussians(3000, distance=2.0, random_state=1)
    path = TreeClassifier().path(data.X, data.y)
    assert np.all(np.diff(path.df) > 0)
    assert np.all(np.diff(path.train_error) <= 1e-12)  # sums of the same numbers in another order
    assert path.train_error[-1] == 0
    best = path.best("min")
    assert 0 < best < len(path) - 1
    # The root errs on about half, the best tree on 0.17, the full tree on 0.23; the standard error
    # of a held-out share over 3000 rows is 0.007: false alarm below 1 in 1,000.
    assert path.error[0] > path.error[best] + 0.2
    assert path.error[-1] > path.error[best] + 0.03


def test_trees_are_unstable():
    """E26, C18: trees of two samples disagree far more than linear classifiers of the same samples.

    Over 20 pairs of samples trees disagree on 0.30 of the rows, linear ones on 0.06, with standard
    deviations of the means below 0.01: no false alarm to speak of. A root that never occurs among
    five equal columns in 40 trees has probability 5 * 0.8^40 < 0.001.
    """
    new = make.two_gaussians(2000, distance=2.0, n_features=5, random_state=999).X
    apart = {"tree": [], "linear": []}
    roots = set()
    for seed in range(20):
        pair = [
            make.two_gaussians(200, distance=2.0, n_features=5, random_state=2 * seed + k)
            for k in (0, 1)
        ]
        trees = [TreeClassifier(0.0).fit(data.X, data.y) for data in pair]
        lines = [LogisticRegression().fit(data.X, data.y) for data in pair]
        for name, models in (("tree", trees), ("linear", lines)):
            first, second = (model.predict(new) for model in models)
            apart[name].append(np.mean(first != second))
        roots |= {int(model.nodes_.feature[0]) for model in trees}
    assert np.mean(apart["tree"]) > np.mean(apart["linear"]) + 0.1
    assert roots == {0, 1, 2, 3, 4}  # five exchangeable columns: each leads sometimes


def test_the_penalty_of_aic_overfits_against_held_out_pruning():
    """E26, D145: alpha = 2 sigma^2 ignores the search for splits: larger trees, larger test error.

    On 20 samples of Friedman's function the penalty of AIC leaves 179 leaves of 300 rows, the least
    held-out error 10, reduced error 38. Paired differences of leaves and of test errors are over
    ten standard errors from zero; three are asserted, so a false alarm is out of sight.
    """
    leaves, errors = {}, {}
    test = make.friedman1(5000, random_state=999)
    for seed in range(20):
        data = make.friedman1(300, noise=3.0, random_state=seed)
        for select in ("cp", "min", "reduced_error"):
            model = TreeRegressor(select=select, random_state=0).fit(data.X, data.y)
            leaves.setdefault(select, []).append(model.nodes_.n_leaves)
            # Against the noiseless truth: the noise would be the same for all.
            gap = model.predict(test.X) - test.bayes(test.X)
            errors.setdefault(select, []).append(np.mean(gap**2))
    for honest in ("min", "reduced_error"):
        larger = np.subtract(leaves["cp"], leaves[honest])
        worse = np.subtract(errors["cp"], errors[honest])
        for difference in (larger, worse):
            assert difference.mean() > 3 * difference.std(ddof=1) / np.sqrt(20)


def test_cells_shrink_and_fill_when_the_least_leaf_grows_slowly():
    """A55: a least leaf of order sqrt(m): diameters fall, counts rise, the excess risk vanishes.

    A full tree has leaves of single rows: cells shrink, counts do not grow, and it keeps an excess
    risk of about 0.067 (standard deviation 0.002 over samples) for all m. Diameters fall by factors
    of 3 to 4 in each step; 1.5 is asserted.
    """
    sizes = [200, 2000, 20000]
    test = make.lipschitz(20000, c=float(np.pi), n_features=1, random_state=999)
    diameter, count, excess, full_excess = [], [], [], []
    for m in sizes:
        data = make.lipschitz(m, c=float(np.pi), n_features=1, random_state=m)
        model = TreeClassifier(0.0, min_samples_leaf=int(np.sqrt(m))).fit(data.X, data.y)
        cells = model.leaves()
        diameter.append(float(np.average(cells["diameter"], weights=cells["share"])))
        count.append(int(cells["n"].min()))
        full = TreeClassifier(0.0).fit(data.X, data.y)
        for where, each in ((excess, model), (full_excess, full)):
            # Excess risk by the known probabilities, without the noise of the labels.
            eta = 0.5 + 0.5 * np.cos(2 * np.pi * test.X[:, 0])
            said = each.predict(test.X)
            where.append(float(np.mean(np.abs(2 * eta - 1) * (said != (eta >= 0.5)))))
    assert diameter[0] > 1.5 * diameter[1] > 1.5**2 * diameter[2]
    assert np.all(np.diff(count) > 0)
    assert excess[2] < 0.01
    assert full_excess[2] > 0.05
