"""Worked numbers of the chapters on linear classification, with their misprints corrected."""

import numpy as np
import pytest
from scipy import special, stats

from bottega.classify import (
    IndicatorRegression,
    LinearDiscriminant,
    LogisticRegression,
    NaiveBayes,
    hyperplane,
)
from bottega.core.losses import get_loss
from bottega.course.data_mining import discriminants
from bottega.linear import LeastSquares


@pytest.fixture(scope="module")
def two_classes():
    """Return rows of two normal classes, unbalanced."""
    rng = np.random.default_rng(5)
    y = (np.arange(90) < 30).astype(int)
    X = rng.normal(size=(90, 2)) @ [[1.0, 0.4], [0.0, 0.8]] + np.where(y[:, None] == 1, 1.2, 0.0)
    return X, y


def test_m503_to_m505_distances_from_a_plane():
    """w = (3, 4), w0 = -10: the origin is 2 from the plane on its negative side, (3, 4) is +3."""
    w, w0 = np.array([3.0, 4.0]), -10.0
    plane = hyperplane.Hyperplane(w, w0)
    assert plane.distance([[0.0, 0.0], [3.0, 4.0], [2.0, 1.0]]) == pytest.approx([-2.0, 3.0, 0.0])
    assert plane.offset == pytest.approx(-w0 / np.linalg.norm(w))
    assert plane.foot == pytest.approx(-w0 / (w @ w) * w)  # (1.2, 1.6)
    assert plane.distance([plane.foot]) == pytest.approx([0.0])


def test_m509_least_squares_on_codes_is_moved_by_points_that_are_too_correct():
    x = np.array([-1.0, -1.0, 1.0, 1.0])
    y = np.array([0, 0, 1, 1])
    model = LeastSquares().fit(x[:, None], y.astype(float))
    far = LeastSquares().fit(np.append(x, 19.0)[:, None], np.append(y, 1.0))
    place = [(0.5 - float(m.intercept_)) / float(m.coef_[0]) for m in (model, far)]
    assert place[0] == pytest.approx(0)
    assert place[1] == pytest.approx(0.75)  # nearly at the points of its own class


def test_m520_and_m521_the_prior_is_the_share_of_the_class():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [9.0]])
    y = np.array([1, 1, 1, 1, 2])
    X = np.vstack([X, X + 0.5])
    y = np.concatenate([y, y])
    model = NaiveBayes().fit(X, y)
    assert np.asarray(model.priors_) == pytest.approx([0.8, 0.2])


def test_m522_the_density_of_a_class(two_classes):
    """p((1, 1.5) | y = 1) under the normal class of a common covariance."""
    X, y = two_classes
    model = LinearDiscriminant(shrinkage=0.0).fit(X, y)
    centred = X - np.array([X[y == k].mean(axis=0) for k in (0, 1)])[y]
    S = centred.T @ centred / (len(y) - 2)
    x = np.array([1.0, 1.5])
    by_hand = stats.multivariate_normal(X[y == 1].mean(axis=0), S).pdf(x)
    other = stats.multivariate_normal(X[y == 0].mean(axis=0), S).pdf(x)
    posterior = 30 * by_hand / (30 * by_hand + 60 * other)
    assert model.predict_proba([x])[0, 1] == pytest.approx(posterior, rel=1e-9)


def test_m524_and_m527_sigmoid_and_softmax():
    """E30: softmax of (1, 2, 3) is (0.090031, 0.244728, 0.665241), in rising order.

    The probabilities of a fitted model are the softmax of its scores.
    """
    assert special.softmax([1, 2, 3]) == pytest.approx([0.090031, 0.244728, 0.665241], abs=5e-7)
    assert special.expit(0) == 0.5
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 2)) + y[:, None]
    for model in (LogisticRegression(), LinearDiscriminant(shrinkage=0.0)):
        model.fit(X, y)
        scores = X @ model.coef_.T + model.intercept_
        assert model.predict_proba(X) == pytest.approx(special.softmax(scores, axis=1))


def test_m525_and_m526_weights_of_discriminant_analysis(two_classes):
    """Two classes: w = S^-1 (m1 - m0); two of K classes are two classes."""
    X, y = two_classes
    model = LinearDiscriminant(shrinkage=0.0).fit(X, y)
    m0, m1 = (X[y == k].mean(axis=0) for k in (0, 1))
    centred = X - np.array([m0, m1])[y]
    S = centred.T @ centred / (len(y) - 2)  # D201's divisor; with n the plane moves a little
    w = np.linalg.solve(S, m1 - m0)
    w0 = -m1 @ np.linalg.solve(S, m1) / 2 + m0 @ np.linalg.solve(S, m0) / 2 + np.log(30 / 60)
    assert model.coef_[0] == pytest.approx(w)
    assert model.intercept_[0] == pytest.approx(w0)
    assert model.predict_proba(X)[:, 1] == pytest.approx(special.expit(X @ w + w0))


def test_m528_the_quadratic_form_of_naive_bayes(two_classes):
    """a = x'W2 x + w1'x + w0 with diagonal covariances of each class."""
    X, y = two_classes
    model = NaiveBayes().fit(X, y)
    (m0, v0), (m1, v1) = ((X[y == k].mean(axis=0), X[y == k].var(axis=0, ddof=1)) for k in (0, 1))
    w2 = (1 / v0 - 1 / v1) / 2
    w1 = m1 / v1 - m0 / v0
    w0 = (np.sum(m0**2 / v0 - m1**2 / v1) + np.sum(np.log(v0 / v1))) / 2 + np.log(30 / 60)
    assert model.decision_function(X) == pytest.approx(X**2 @ w2 + X @ w1 + w0, abs=1e-6)


def test_m530_parameters_of_both_routes():
    """M weights against M(M + 5) / 2 + 1: two means, one covariance, one prior."""
    for M, printed in ((2, 8), (10, 76), (100, 5251)):
        assert 2 * M + M * (M + 1) // 2 + 1 == M * (M + 5) // 2 + 1 == printed


def test_m531_and_m532_the_gradient_is_zero_at_the_estimate(two_classes):
    """Sum of (sigma(w'x) - t) x, by the formula and by differences; zero at the maximum."""
    X, y = two_classes
    F = np.column_stack([np.ones(len(y)), X])

    def cross_entropy(w):
        a = F @ w
        return float(-np.sum(y * special.log_expit(a) + (1 - y) * special.log_expit(-a)))

    w = np.array([0.3, -0.2, 0.5])
    gradient = (special.expit(F @ w) - y) @ F
    h = 1e-6
    numeric = [(cross_entropy(w + h * e) - cross_entropy(w - h * e)) / (2 * h) for e in np.eye(3)]
    assert gradient == pytest.approx(numeric, rel=1e-6)
    model = LogisticRegression(C=np.inf).fit(X, y)
    best = np.append(model.intercept_, model.coef_[0])
    assert (special.expit(F @ best) - y) @ F == pytest.approx(np.zeros(3), abs=1e-5)
    assert model.glance()["loglik"].item() == pytest.approx(-cross_entropy(best))
    assert get_loss("log_loss").of_rows(y, model.predict_proba(X)).sum() == pytest.approx(
        cross_entropy(best)
    )


def test_d162_fitted_indicators_sum_to_one_and_d163_two_classes(two_classes):
    X, y = two_classes
    rng = np.random.default_rng(1)
    three = rng.integers(0, 3, size=len(y))
    scores = IndicatorRegression().fit(X, three).decision_function(X)
    assert scores.sum(axis=1) == pytest.approx(np.ones(len(y)))
    line = LeastSquares().fit(X, y.astype(float)).predict(X)
    assert (IndicatorRegression().fit(X, y).predict(X) == (line > 0.5)).all()


def test_e14_masking_is_diagnosed():
    rng = np.random.default_rng(0)
    X, y = discriminants._aligned(300, rng)
    model = IndicatorRegression().fit(X, y)
    table = model.masking()
    assert table["masked"].tolist() == [False, True, False]


def test_e18_one_distance_by_hand():
    """Means 1 and 4, pooled variance 2: (4 - 1)^2 / 2."""
    X, y = np.array([[0.0], [2.0], [3.0], [5.0]]), np.array([0, 0, 1, 1])
    squared = discriminants.mahalanobis_of_means(X, y)
    assert squared == pytest.approx(4.5)
    # R^2 = D^2 / (D^2 + n (n - 2) / (n1 n2)) = 4.5 / (4.5 + 2)
    assert LeastSquares().fit(X, y).score(X, y) == pytest.approx(4.5 / 6.5)
