"""Worked numbers and helpers of the chapters on machine learning."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from bottega import course
from bottega.course.machine_learning import bayesian_regression, decision_trees, tree_splits
from bottega.course.machine_learning.probabilistic_inference import _posterior, estimates
from bottega.data import make
from bottega.linear import (
    BayesianRegression,
    LeastSquares,
)
from bottega.online import Perceptron
from bottega.tree import TreeClassifier


def test_x9_and_x10_the_numbers_of_the_notes():
    frame = course.blind_error_rate().to_frame()
    assert frame["error rate"].tolist() == [0.25, 0.25, 0.0]
    assert frame["Gini"].tolist() == pytest.approx([0.125, 1 / 6, 0.053333], abs=1e-6)
    assert frame["entropy"].tolist() == pytest.approx([0.188722, 0.311278, 0.170951], abs=1e-6)


def test_x11_an_identifier_gains_all_there_is():
    y = np.array([0, 1, 1, 0, 1, 0, 0, 1])
    X = np.column_stack([np.arange(8.0)])
    tree = TreeClassifier(0.0, categorical_features=[0], max_leaf_nodes=2).fit(X, y)
    assert tree.nodes_.gain[0] == pytest.approx(tree.nodes_.impurity[0])
    # A category of two levels has one split; with q levels, 2^(q - 1) - 1 of them.
    assert 2 ** (8 - 1) - 1 == 127


def test_x13_gains_on_a_balanced_xor():
    X = np.array(list(product([-1.0, 1.0], repeat=2)))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    assert TreeClassifier(0.0, min_impurity_decrease=1e-12).fit(X, y).nodes_.n_leaves == 1
    # After the first split each half is pure by the second column.
    assert TreeClassifier(0.0).fit(X[X[:, 0] > 0], y[X[:, 0] > 0]).nodes_.n_leaves == 2


def test_x14_roots_by_brute_force():
    data = make.two_gaussians(20, distance=2.0, n_features=3, random_state=1)
    n, best = len(data.y), None
    for j in range(3):
        order = np.sort(data.X[:, j])
        for cut in (order[:-1] + order[1:]) / 2:
            left = data.X[:, j] <= cut
            loss = sum(
                each.sum() * data.y[each].mean() * (1 - data.y[each].mean())
                for each in (left, ~left)
            )
            if best is None or loss < best[0] - 1e-12:
                best = (loss, j, cut)
    assert best is not None
    root = decision_trees._root(data.X, data.y)
    assert root == (best[1], pytest.approx(best[2]))
    assert n == 20


def test_x16_the_best_tree_by_enumeration():
    """All trees of two levels on eight rows of two columns, written out."""
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(8, 2)), rng.integers(0, 2, 8)

    def errors(rows):
        return min(y[rows].sum(), len(rows) - y[rows].sum()) if len(rows) else 0

    def one(rows):
        return min(
            [errors(rows)]
            + [
                errors(rows[X[rows, j] <= cut]) + errors(rows[X[rows, j] > cut])
                for j in range(2)
                for cut in X[rows, j]
            ]
        )

    every = np.arange(8)
    best = min(
        one(every[X[:, j] <= cut]) + one(every[X[:, j] > cut]) for j in range(2) for cut in X[:, j]
    )
    assert tree_splits.least_errors(X, y, 2) == best
    assert tree_splits.least_errors(X, y, 1) == one(every)


def test_x2_votes_of_the_notes():
    """M106: 6 votes against 4 with a ratio of 4 are 6 against 16."""
    from bottega.neighbors import NearestNeighborsClassifier

    X = np.repeat([[0.0], [9.0]], [10, 10], axis=0)
    y = np.array([0] * 6 + [1] * 4 + [0] * 10)
    model = NearestNeighborsClassifier(10, weights="balanced").fit(X, y)
    assert model.predict_proba([[0.0]])[0] == pytest.approx([6 / 22, 16 / 22])
    assert model.predict([[0.0]]) == [1]
    assert NearestNeighborsClassifier(10).fit(X, y).predict([[0.0]]) == [0]


def test_x6_two_rows_by_hand():
    """E3: with variances 4 and 1 and no correlation, (2, 1) from the origin is sqrt(1 + 1) away."""
    from bottega.neighbors import NeighborSearch

    corners = np.array([[2.0, 1.0], [2.0, -1.0], [-2.0, 1.0], [-2.0, -1.0]])
    scale = np.sqrt(4 / 3)  # divisor n - 1
    found = NeighborSearch(corners, "mahalanobis").distances(np.zeros((1, 2)))[0]
    assert found == pytest.approx(np.full(4, np.sqrt(2) / scale))


def test_x17_worked_numbers():
    """M324: 4 and 8, then 304 and 306, with a = b = 5; M315: two heads give 0.4 where ML is 0."""
    assert estimates(4, 8, 5, 5) == pytest.approx((0.333333, 0.4, 0.409091), abs=1e-6)
    assert estimates(304, 306, 5, 5) == pytest.approx((0.498361, 0.498382, 0.498387), abs=1e-6)
    assert estimates(0, 2, 5, 5) == pytest.approx((0, 0.4, 5 / 12))


def test_x18_a_truncated_posterior():
    found = _posterior(8, 2, 0.6)
    mean = integrate.quad(lambda t: t * t**8 * (1 - t) ** 2, 0, 0.6)[0]
    mass = integrate.quad(lambda t: t**8 * (1 - t) ** 2, 0, 0.6)[0]
    assert found.mean() == pytest.approx(mean / mass, abs=2e-4)  # the step lies within a panel
    assert found.mass[found.theta >= 0.6].sum() == 0


def test_x20_the_mode_by_optimisation():
    for tails, heads, a, b in ((3, 7, 1, 1), (3, 7, 5, 5), (10, 40, 2, 3)):
        best = optimize.minimize_scalar(
            lambda t, p=(tails + a, heads + b): -stats.beta.logpdf(t, *p),
            bounds=(1e-6, 1 - 1e-6),
            method="bounded",
            options={"xatol": 1e-10},
        )
        assert estimates(tails, heads, a, b)[1] == pytest.approx(best.x, abs=1e-6)


def test_x24_to_x26_by_the_formulas():
    """M426 and M432: S^-1 = S0^-1 + beta F'F, m = beta S F'y, variance 1/beta + f'S f."""
    rng = np.random.default_rng(0)
    F, y = rng.normal(size=(12, 3)), rng.normal(size=12)
    alpha, beta = 2.0, 5.0
    model = BayesianRegression(alpha, beta, fit_intercept=False).fit(F, y)
    S = np.linalg.inv(alpha * np.eye(3) + beta * F.T @ F)
    assert model.coef_ == pytest.approx(beta * S @ F.T @ y)
    ridge = np.linalg.solve(F.T @ F + alpha / beta * np.eye(3), F.T @ y)
    assert model.coef_ == pytest.approx(ridge)
    parts = BayesianRegression(alpha, beta, fit_intercept=False)
    for rows in ([0], [1, 2, 3], list(range(4, 12))):
        parts.partial_fit(F[rows], y[rows])
    assert parts.covariance_ == pytest.approx(S)
    f = np.array([[1.0, -1.0, 2.0]])
    std = model.predict(f, return_std=True)[1]  # of the mean; a new response has the noise too
    assert std**2 == pytest.approx(f[0] @ S @ f[0])
    low, high = model.interval(f, level=0.95, kind="prediction")
    assert (high - low) / 2 == pytest.approx(1.959964 * np.sqrt(1 / beta + f[0] @ S @ f[0]))


def test_m429_prior_likelihood_and_posterior_point_by_point():
    """The density that is drawn is the normal posterior, the likelihood that of the last point."""
    chart = bayesian_regression.posterior_sequence(
        counts=(0, 1, 2), noise=0.2, alpha=2.0, random_state=3
    )
    rows = chart.to_dict()["vconcat"]
    assert len(rows) == 3
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, size=2)
    y = -0.3 + 0.5 * x + 0.2 * rng.normal(size=2)
    for n, row in enumerate(rows):
        likelihood, posterior, lines = row["hconcat"]
        F = np.column_stack([np.ones(n), x[:n]])
        S = np.linalg.inv(2 * np.eye(2) + 25 * F.T @ F)
        exact = stats.multivariate_normal(25 * S @ F.T @ y[:n], S)
        w, shown = _cells(posterior)
        expected = exact.pdf(w)
        np.testing.assert_allclose(shown / shown.max(), expected / expected.max(), rtol=1e-5)
        w, shown = _cells(likelihood)
        assert shown.any() == (n > 0)
        if n:
            expected = stats.norm(w[:, 0] + w[:, 1] * x[n - 1], 0.2).pdf(y[n - 1])
            np.testing.assert_allclose(shown / shown.max(), expected / expected.max(), rtol=1e-5)
        drawn, *points = (each.get("data", lines.get("data"))["values"] for each in lines["layer"])
        assert len({each["line"] for each in drawn}) == 6
        points = points[0] if points else []
        assert [each["y"] for each in points] == pytest.approx(y[:n].tolist(), rel=1e-6)


def _cells(panel):
    """Return weights and the densities that a panel computes there; the first layer draws them."""
    w = np.random.default_rng(0).uniform(-1, 1, size=(50, 2))
    (formula,) = [
        each["calculate"] for each in panel["layer"][0]["transform"] if each["as"] == "density"
    ]
    names = {"datum": SimpleNamespace(a=w[:, 0], b=w[:, 1]), "exp": np.exp, "pow": np.power}
    return w, eval(formula, names) + np.zeros(len(w))


def test_x28_the_boundary_of_least_squares_by_hand():
    """Labels 0, 1, 1 at -1, 1 and F: the line crosses 1/2 at a place that moves with F."""
    places = {}
    for far in (1.0, 9.0):
        x = np.array([-1.0, 1.0, far])
        slope, level = np.polyfit(x, [0.0, 1.0, 1.0], 1)
        model = LeastSquares().fit(x[:, None], np.array([0.0, 1.0, 1.0]))
        assert model.coef_[0] == pytest.approx(slope)
        places[far] = (0.5 - level) / slope
    assert places[1.0] == pytest.approx(0)  # midway
    assert places[9.0] > 0.5  # pulled towards the far point, past the middle


def test_x29_a_trace_by_hand():
    """The first row of each order is all it needs: two orders, two planes."""
    X, y = np.array([[1.0, 0.5], [0.2, 1.0], [-1.0, -1.0]]), np.array([1, 1, -1])
    found = {}
    for order in ([0, 1, 2], [1, 2, 0]):
        w, clean = np.zeros(2), False
        while not clean:
            clean = True
            for i in order:
                if y[i] * (w @ X[i]) <= 0:
                    w, clean = w + y[i] * X[i], False
        model = Perceptron(max_iter=1000, until_clean=True, fit_intercept=False).fit(
            X[order], y[order]
        )
        assert model.coef_[0] == pytest.approx(w)
        found[tuple(order)] = w / np.linalg.norm(w)
    first, second = found.values()
    assert abs(first @ second) < 1 - 1e-6  # another plane


def test_x43_five_rows_by_hand():
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 0.5], [0.5, -1.0]])
    y = np.array([1, 1, -1, 1, -1])
    w = np.zeros(3)
    for x, label in zip(np.column_stack([X, np.ones(5)]), y, strict=True):
        if label * (w @ x) < 1e-9:
            w = w + label * x
    model = Perceptron(max_iter=1).fit(X, y)
    assert np.append(model.coef_[0], model.intercept_[0]) == pytest.approx(w)
