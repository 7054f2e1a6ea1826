"""What discriminants are known to be: regression, Bayes' rule, and robust where asked."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.classify import LinearDiscriminant, QuadraticDiscriminant
from bottega.classify._generative.robust import DEGREES
from bottega.data import make
from bottega.linear import LeastSquares, SubsetSelection


def two_classes(sizes=(40, 40), seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat([0.0, 1.0], sizes)
    X = rng.normal(size=(len(y), 5)) @ np.triu(np.ones((5, 5)))
    X += y[:, None] * np.array([1.0, 0.0, 2.0, 0.0, 0.5])
    return X, y


def hyperplane(coef, intercept):
    coef = np.ravel(coef)
    return np.append(coef, intercept) / np.linalg.norm(coef)


def test_balanced_discriminant_is_the_regression_classifier():
    """Two classes of one size: the boundary is that of regression on the class, cut at 1/2."""
    X, y = two_classes()
    regression = LeastSquares().fit(X, y)
    model = LinearDiscriminant(0).fit(X, y)
    ours = hyperplane(model.coef_, model.intercept_[0])
    theirs = hyperplane(regression.coef_, regression.intercept_ - 0.5)
    assert ours == pytest.approx(theirs, rel=1e-9)


def test_unbalanced_discriminant_has_the_direction_of_regression_alone():
    X, y = two_classes((60, 20))
    regression = LeastSquares().fit(X, y)
    model = LinearDiscriminant(0).fit(X, y)
    ours = hyperplane(model.coef_, model.intercept_[0])
    theirs = hyperplane(regression.coef_, regression.intercept_ - 0.5)
    assert ours[:-1] == pytest.approx(theirs[:-1], rel=1e-9)
    assert abs(ours[-1] - theirs[-1]) > 0.01


@pytest.mark.parametrize("sizes", [(40, 40), (60, 20)])
def test_forward_selection_is_that_of_regression_on_the_class(sizes):
    """Wilks' lambda of two classes is 1 - R^2 of the regression of the class on the inputs."""
    X, y = two_classes(sizes)
    table = LinearDiscriminant(0).fit(X, y).selection()
    path = SubsetSelection(method="forward").path(X, y)
    for size in range(1, 6):
        columns = [int(term[1:]) for term in table["term"][:size]]
        fit = LeastSquares().fit(X[:, columns], y)
        r_squared = 1 - np.sum((y - fit.predict(X[:, columns])) ** 2) / np.sum((y - y.mean()) ** 2)
        assert table["wilks_lambda"][size - 1] == pytest.approx(1 - r_squared, rel=1e-9)
        assert sorted(columns) == np.flatnonzero(path.coef[size]).tolist()
    # The F test of what the last input adds is the squared t test of its coefficient.
    full = LeastSquares().fit(X, y).tidy().set_index("term")
    last = table.iloc[4]
    assert last["statistic"] == pytest.approx(full.loc[last["term"], "statistic"] ** 2, rel=1e-9)
    assert last["p_value"] == pytest.approx(full.loc[last["term"], "p_value"], rel=1e-9)


def test_wilks_lambda_of_three_classes_is_a_ratio_of_determinants():
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1, 2], 30)
    X = rng.normal(size=(90, 3)) + y[:, None] * np.array([1.0, 0.2, 0.0])
    table = LinearDiscriminant(0).fit(X, y).selection()
    residual = X - np.array([X[y == k].mean(axis=0) for k in y])
    centred = X - X.mean(axis=0)
    columns = [int(term[1:]) for term in table["term"]]
    for size in (1, 2, 3):
        at = np.ix_(columns[:size], columns[:size])
        ratio = np.linalg.det((residual.T @ residual)[at]) / np.linalg.det(
            (centred.T @ centred)[at]
        )
        assert table["wilks_lambda"][size - 1] == pytest.approx(ratio, rel=1e-9)


def test_selected_inputs_are_those_of_a_fit_to_them_alone():
    X, y = two_classes()
    chosen = LinearDiscriminant(0.1, n_features_to_select=2).fit(X, y)
    assert chosen.selected_.sum() == 2
    alone = LinearDiscriminant(0.1).fit(X[:, chosen.selected_], y)
    assert chosen.predict_proba(X) == pytest.approx(alone.predict_proba(X[:, chosen.selected_]))
    assert np.all(chosen.coef_[:, ~chosen.selected_] == 0)
    by_bic = LinearDiscriminant(0, n_features_to_select="bic").fit(X, y)
    assert by_bic.selected_.sum() == 1 + int(np.argmin(by_bic.selection()["bic"]))


def test_coordinates_have_unit_covariance_and_decide_by_the_nearest_mean():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2, 3], 25)
    X = rng.normal(size=(100, 6)) @ np.triu(np.ones((6, 6))) + 2 * rng.normal(size=(4, 6))[y]
    model = LinearDiscriminant(0).fit(X, y)
    Z = model.transform(X)
    assert Z.shape == (100, 3)
    means = np.array([Z[y == k].mean(axis=0) for k in range(4)])
    residual = Z - means[y]
    assert residual.T @ residual / 96 == pytest.approx(np.eye(3), abs=1e-9)
    nearest = np.argmin(((Z[:, None] - means) ** 2).sum(axis=2), axis=1)  # equal priors
    assert np.array_equal(model.predict(X), nearest)
    spread = np.sum((means - means.mean(axis=0)) ** 2, axis=0)
    assert model.explained_variance_ratio_ == pytest.approx(spread / spread.sum())
    first = LinearDiscriminant(0, n_components=1).fit(X, y).transform(X)
    assert first == pytest.approx(Z[:, :1])


def test_both_reach_the_bayes_risk_where_their_assumptions_hold():
    train, test = (
        make.two_gaussians(4000, distance=2.0, random_state=0),
        make.two_gaussians(20_000, distance=2.0, random_state=1),
    )
    for model in (LinearDiscriminant(0), QuadraticDiscriminant(0)):
        wrong = np.mean(model.fit(train.X, train.y).predict(test.X) != test.y)
        # Four standard errors of the test error, and the excess of an estimate from 4,000 rows.
        limit = 4 * np.sqrt(test.bayes_risk * (1 - test.bayes_risk) / 20_000) + 2e-3
        assert abs(wrong - test.bayes_risk) < limit


def test_robust_covariance_solves_the_equations_of_the_t_distribution():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    X = rng.normal(size=(120, 3)) + y[:, None]
    X[::20] += 50.0
    model = LinearDiscriminant(0, covariance="robust").fit(X, y)
    gap = X - model.means_[y]
    square = np.sum(gap @ np.linalg.inv(model.covariance_) * gap, axis=1)

    def shape_at(c):
        """Return weights and scatter if the shape were c times the covariance."""
        weight = (DEGREES + 3) / (DEGREES + square / c)
        return weight, (gap * weight[:, None]).T @ gap / len(y)

    low, high = 1e-3, 2.0
    for _ in range(100):  # halves of an interval with the c that gives itself
        c = (low + high) / 2
        too_low = np.trace(shape_at(c)[1]) > c * np.trace(model.covariance_)
        low, high = (c, high) if too_low else (low, c)
    weight, shape = shape_at(c)
    assert shape == pytest.approx(c * model.covariance_, rel=1e-6)
    for k in (0, 1):
        mean = weight[y == k] @ X[y == k] / weight[y == k].sum()
        assert model.means_[k] == pytest.approx(mean, rel=1e-6)


def test_robust_covariance_is_right_for_normal_rows_and_not_moved_by_outliers():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 5000)
    X = rng.normal(size=(10_000, 2)) @ [[1.0, 0.5], [0.0, 1.0]]
    truth = np.array([[1.0, 0.5], [0.5, 1.25]])
    clean = LinearDiscriminant(0, covariance="robust").fit(X, y)
    # Entries of a covariance of 10,000 normal rows have standard errors up to 0.02.
    assert clean.covariance_ == pytest.approx(truth, abs=0.08)
    X[:100] = 1e4
    spoilt = LinearDiscriminant(0, covariance="robust").fit(X, y)
    # A row at infinity adds (5 + 2) / n in its direction: together 0.07, over a factor of 0.8.
    assert spoilt.covariance_ == pytest.approx(truth, abs=0.2)
    assert np.max(LinearDiscriminant(0).fit(X, y).covariance_) > 1e5


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["linear", "quadratic"]))
def test_unregularised_discriminants_do_not_depend_on_coordinates(seed, which):
    """Probabilities are the same after any invertible affine map of the inputs."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], 15)
    X = rng.normal(size=(45, 3)) + y[:, None] * rng.normal(size=3)
    turn = rng.normal(size=(3, 3)) + 3 * np.eye(3)
    moved = X @ turn + rng.normal(size=3)
    model = LinearDiscriminant(0) if which == "linear" else QuadraticDiscriminant(0)
    expected = model.fit(X, y).predict_proba(X)
    assert model.fit(moved, y).predict_proba(moved) == pytest.approx(expected, abs=1e-6)


def test_coordinates_are_drawn_with_their_shares():
    X, y = two_classes()
    three = np.where(X[:, 0] > 2, 2.0, y)
    model = LinearDiscriminant(0).fit(X, three)
    chart = model.plot(X, three).to_dict()
    words = str(chart)
    share = f"{100 * model.explained_variance_ratio_[0]:.1f}%"
    assert f"coordinate 1 ({share} between classes)" in words
    assert "coordinate 2" in words
    line = LinearDiscriminant(0).fit(X, y).plot(X, y).to_dict()
    assert "coordinate 1 (100.0% between classes)" in str(line)
