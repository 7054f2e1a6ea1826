"""Worked numbers and helpers of the lectures on data mining."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from scipy import optimize, stats
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

from bottega import course
from bottega.basis import Polynomial
from bottega.core.path import Path
from bottega.course import _designs
from bottega.course.data_mining import lasso, linear_regression, samples, strengths, trees
from bottega.course.machine_learning import tree_splits
from bottega.data import effective_sample_size, make
from bottega.linear import (
    Lasso,
    LeastSquares,
    PrincipalComponentsRegression,
    Ridge,
    SubsetSelection,
)
from bottega.optimize.nonnegative import nonnegative_least_squares
from bottega.smooth import SmoothingSpline, ball_volume
from bottega.tree import TreeClassifier, TreeRegressor


def test_e1_the_election_as_printed():
    """D20 and D21: a sample of one percent with a correlation of -0.005."""
    assert effective_sample_size(0.01, -0.005) == pytest.approx(404.04, abs=0.005)


def test_e2_p_values_are_those_of_simple_regressions():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 4)), rng.normal(size=20)
    found = samples.slope_p_values(X, y)
    for j in range(4):
        assert found[j] == pytest.approx(stats.linregress(X[:, j], y).pvalue)
        assert found[j] == pytest.approx(LeastSquares().fit(X[:, [j]], y).tidy()["p_value"][1])


def test_e28_shares_of_chi_squared():
    """D52: prices of 1 and 2 let a column of noise in with probabilities 0.317 and 0.157."""
    assert stats.chi2.sf([1, 2], 1) == pytest.approx([0.3173, 0.1573], abs=5e-5)
    frame = course.cost_of_a_superfluous_parameter(rows=2000, repeats=50).to_frame()
    at = dict(zip(frame["penalty"], frame["exact"], strict=True))
    assert [at[1.0], at[2.0]] == pytest.approx([0.3173, 0.1573], abs=1e-3)  # n is large


def test_e5_inflation_of_the_variance():
    X = _designs.equicorrelated_design(40, 2, 0.9, np.random.default_rng(0))
    assert np.linalg.inv(X.T @ X)[0, 0] == pytest.approx(1 / (40 * (1 - 0.81)))
    y = X.sum(axis=1) + np.random.default_rng(1).normal(size=40)
    assert np.asarray(LeastSquares().fit(X, y).vif()["vif"]) == pytest.approx(1 / (1 - 0.81))


def test_e7_zeros_of_an_orthonormal_design():
    """D82: the lasso is soft thresholding, ridge division."""
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(20, 4)))[0] * math.sqrt(20)
    y = Q @ [2.0, 0.3, -1.0, 0.1]
    lasso = Lasso(0.5, standardize=False, fit_intercept=False).fit(Q, y).coef_
    assert lasso == pytest.approx([1.5, 0, -0.5, 0], abs=1e-6)  # to a duality gap of 1e-6
    assert np.sum(lasso == 0) == 2
    ridge = Ridge(20.0, standardize=False, fit_intercept=False).fit(Q, y).coef_
    assert ridge == pytest.approx([1.0, 0.15, -0.5, 0.05])


@pytest.mark.parametrize("lean", [0.25, 0.45])
def test_e8_the_condition_is_three_times_the_lean(lean):
    X, _ = lasso.leaning_design(100_000, lean, 1.0, np.random.default_rng(0))
    weights = np.linalg.lstsq(X[:, :3], X[:, 3], rcond=None)[0]
    # Each weight has a standard error of 0.003 at most: four of their sum.
    assert weights.sum() == pytest.approx(3 * lean, abs=0.024)


def test_e30_all_components_are_least_squares():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4)) * [8, 4, 2, 1]
    y = X @ [0.0, 0.0, 0.0, 1.0] + rng.normal(size=30)
    full = PrincipalComponentsRegression(4, standardize=False).fit(X, y)
    assert full.coef_ == pytest.approx(LinearRegression().fit(X, y).coef_)


def test_e31_the_rule_by_its_definition():
    path = Lasso(cv=5).path(*_sparse())
    least = int(np.argmin(path.error))
    limit = path.error[least] + path.error_se[least]
    inside = np.flatnonzero(path.error <= limit)
    assert path.best("one_se") == inside.min()
    assert isinstance(path, Path)


def _sparse():
    data = make.sparse_linear(60, n_features=10, n_informative=3, random_state=1)
    return data.X, data.y


def test_e39_first_steps_by_brute_force():
    X, y = _sparse()
    forward = SubsetSelection(10, method="forward").fit(X, y)
    backward = SubsetSelection(10, method="backward").fit(X, y)

    def rss(columns):
        design = np.column_stack([np.ones(len(y)), X[:, list(columns)]])
        return float(np.linalg.lstsq(design, y, rcond=None)[1][0])

    assert forward.rss_[1] == pytest.approx(min(rss([j]) for j in range(10)))
    nine = [rss(each) for each in combinations(range(10), 9)]
    assert backward.rss_[9] == pytest.approx(min(nine))


def test_e37_both_ways_on_a_good_design():
    X, y = _sparse()
    theirs = np.linalg.lstsq(X, y, rcond=None)[0]
    for method in ("qr", "cholesky"):
        model = LeastSquares(method=method, fit_intercept=False).fit(X, y)
        assert model.coef_ == pytest.approx(theirs, rel=1e-9)


def test_e38_the_matrix_of_lauchli():
    """Columns (1, e, 0, 0), (1, 0, e, 0), (1, 0, 0, e) with e^2 lost beside 1.

    The printed formula leaves the last two at an angle of 60 degrees, the modified one nearly
    orthogonal.
    """
    e = 1e-8
    X = np.vstack([np.ones(3), e * np.eye(3)])
    Z = linear_regression.printed_gram_schmidt(X)
    Q = Z / np.linalg.norm(Z, axis=0)
    assert Q[:, 1] @ Q[:, 2] == pytest.approx(0.5, abs=1e-6)
    X = np.vstack([np.ones(3), 1e-4 * np.eye(3)])
    assert np.abs(_cosines(linear_regression.gram_schmidt(X, intercept=False)[0])).max() < 1e-10


def _cosines(Z):
    Q = Z / np.linalg.norm(Z, axis=0)
    return Q.T @ Q - np.eye(Q.shape[1])


def test_e21_printed_numbers_and_volumes():
    """D110 to D112 with the corrected volume of the ball."""
    frame = course.curse_of_dimensionality(inputs=(2, 3, 10, 20), repeats=8, rows=1000)
    theory = frame.to_frame()["theory"]
    assert theory[2] == pytest.approx(0.4831, abs=5e-5)
    assert theory[3] == pytest.approx(0.6951, abs=5e-5)
    assert ball_volume([2, 3, 10, 20]) == pytest.approx([3.1416, 4.1888, 2.5502, 0.02581], rel=2e-4)
    inside = frame.to_frame()["ball in cube"]
    assert inside[0] == pytest.approx(math.pi / 4)
    assert frame.to_frame()["edge of 1 %"][2] == pytest.approx(0.01**0.1)


def test_e32_degrees_of_freedom_are_the_trace():
    x = np.linspace(0, 1, 12)[:, None]
    model = SmoothingSpline(1e-3).fit(x, np.zeros(12))
    S = np.column_stack([SmoothingSpline(1e-3).fit(x, each).predict(x) for each in np.eye(12)])
    assert model.df_ == pytest.approx(np.trace(S), rel=1e-6)


def test_e13_the_gain_of_noise_by_brute_force():
    """The best of 99 cuts of a normal column beats the only cut of a coin."""
    rng = np.random.default_rng(0)
    coin, noise, y = rng.integers(0, 2, 100), rng.normal(size=100), rng.normal(size=100)

    def gain(left):
        parts = [y[left], y[~left]]
        return y.var() - sum(len(each) * each.var() for each in parts) / 100

    cuts = np.sort(noise)[:-1]
    best = max(gain(noise <= cut) for cut in cuts)
    for column, expected in ((coin, gain(coin == 0)), (noise, best)):
        stump = TreeRegressor(0.0, max_leaf_nodes=2).fit(column[:, None].astype(float), y)
        assert stump.nodes_.importance(1)[0] == pytest.approx(expected)
    assert best > gain(coin == 0)


def test_e15_the_bayes_risk_of_the_spheres():
    low, high = stats.chi2.cdf([9, 16], 4)
    assert make.nested_spheres(1).bayes_risk == pytest.approx((high - low) / 2)
    assert make.nested_spheres(1).bayes_risk == pytest.approx(0.02904, abs=5e-6)


def test_e33_weights_satisfy_the_conditions_of_the_optimum():
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(30, 3)), rng.normal(size=30)
    w = nonnegative_least_squares(A, b)
    assert w == pytest.approx(optimize.nnls(A, b)[0])
    gradient = A.T @ (A @ w - b)
    assert np.all(gradient > -1e-9)
    assert w @ gradient == pytest.approx(0, abs=1e-9)
    x = np.linspace(0, 1, 20)[:, None]
    y = rng.normal(size=20)
    designs = [Polynomial(d).fit(x).transform(x) for d in (1, 3, 6)]
    fits = np.column_stack([LeastSquares().fit(each, y).predict(each) for each in designs])
    # Nested models: on fitted values the largest is already the best combination.
    assert np.linalg.lstsq(fits, y, rcond=None)[0] == pytest.approx([0, 0, 1], abs=1e-9)


def test_e34_five_leaves_make_a_box():
    X = np.array(list(product(np.linspace(0, 1, 21), repeat=2)))
    y = np.all((X > 0.25) & (X < 0.8), axis=1)
    tree = TreeClassifier(0.0).fit(X, y)
    assert np.all(tree.predict(X) == y)
    assert tree.nodes_.n_leaves == 5


def test_e35_the_ring_and_its_best_error():
    """Radii overlap in [0.45, 0.55]: the best rule errs there on class 0, (0.1 / 0.75) / 2."""
    X, y = strengths._ring(200_000, 0.5, np.random.default_rng(0))
    radius = np.hypot(X[:, 0], X[:, 1])
    assert np.mean((radius < 0.55) != (y == 1)) == pytest.approx(0.1 / 0.75 / 2, abs=0.003)
    assert radius[y == 1].max() <= 0.55
    assert radius[y == 0].min() >= 0.45


def test_e36_no_first_split_gains_on_the_grid():
    ticks = np.linspace(-1, 1, 10)
    X = np.array(list(product(ticks, repeat=2)))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    for j in range(2):
        for cut in ticks[:-1]:
            assert np.mean(y[X[:, j] <= cut]) == 0.5
    assert tree_splits.least_errors(X, y, 2) == 0
    assert tree_splits.least_errors(X, y, 1) == 50


def test_e26_partitions_that_refine():
    coarse = np.array([0, 0, 0, 1, 1])
    assert trees._refines(np.array([0, 0, 1, 2, 2]), coarse)
    assert not trees._refines(np.array([0, 0, 1, 1, 2]), coarse)


def test_e29_the_same_roots_in_scikit_learn():
    for seed in range(5):
        data = make.nested_spheres(300, random_state=seed)
        for criterion in ("gini", "entropy"):
            ours = TreeClassifier(0.0, criterion=criterion, max_leaf_nodes=2).fit(data.X, data.y)
            theirs = DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(data.X, data.y)
            assert ours.nodes_.feature[0] == theirs.tree_.feature[0]
            assert ours.nodes_.threshold[0] == pytest.approx(theirs.tree_.threshold[0])
