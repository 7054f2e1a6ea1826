"""What online learners share with scikit-learn's: weights, schedules, penalties, stopping."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.linear_model import Perceptron as SklearnPerceptron
from sklearn.linear_model import SGDClassifier
from sklearn.utils import compute_sample_weight

from bottega.core.errors import ConvergenceWarning, InputError, ParameterError
from bottega.linear import Ridge
from bottega.online import (
    OnlineGradientDescentClassifier,
    OnlineGradientDescentRegressor,
    OnlineRidge,
    Perceptron,
)

# The same operations in another order: rounding, amplified by some hundred steps.
SAME = {"rel": 1e-7, "abs": 1e-10}


def noisy(n=200, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0.3, 1, -1), rng.uniform(0, 2, size=n)


def weights(model):
    return np.append(model.coef_.ravel(), model.intercept_)


# ---- the perceptron ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        {"eta0": 0.3},
        {"penalty": "l2", "alpha": 0.01},
        {"penalty": "l2", "alpha": 0.01, "eta0": 0.2},
        {"penalty": "elasticnet", "l1_ratio": 0.0, "alpha": 0.02},
        {"class_weight": {-1: 0.5, 1: 3.0}},
        {"class_weight": "balanced", "penalty": "l2"},
        {"tol": 1e-3, "max_iter": 500},
        {"tol": 1e-2, "max_iter": 500, "penalty": "l2", "alpha": 1e-3, "n_iter_no_change": 3},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", [np.array, sparse.csr_matrix])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_perceptron_takes_scikit_learns_steps(given, kind, weighted):
    X, y, weight = noisy()
    weight = weight if weighted else None
    given = {"max_iter": 4, "tol": None, **given}
    peer = SklearnPerceptron(shuffle=False, **given).fit(X, y, sample_weight=weight)
    model = Perceptron(**given).fit(kind(X), y, sample_weight=weight)
    assert weights(model) == pytest.approx(weights(peer), **SAME)
    assert model.n_iter_ == peer.n_iter_


def test_an_l1_penalty_sets_weights_to_zero():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 20))
    y = np.where(X[:, 0] > 0, 1, -1)
    model = Perceptron(penalty="l1", alpha=0.1).fit(X, y)
    assert np.count_nonzero(model.coef_ == 0) >= 5
    assert np.all(Perceptron(penalty="l2", alpha=0.1).fit(X, y).coef_ != 0)
    half = Perceptron(penalty="elasticnet", l1_ratio=1.0, alpha=0.1).fit(X, y)
    assert np.array_equal(half.coef_, model.coef_)


def test_several_classes_are_weighted_and_averaged_by_the_definition():
    X, y = make_blobs(120, centers=3, n_features=3, cluster_std=4.0, random_state=1)
    weight = np.random.default_rng(0).uniform(0.5, 2, size=120)
    W, total = np.zeros((3, 4)), np.zeros((3, 4))
    for x, label, c in zip(np.column_stack([X, np.ones(120)]), y, weight, strict=True):
        scores = W @ x
        rivals = np.where(np.arange(3) == label, -np.inf, scores)
        W[:, :3] *= 1 - 0.5 * 0.01
        if scores[label] <= rivals.max():
            W[label] += 0.5 * c * x
            W[np.argmax(rivals)] -= 0.5 * c * x
        total += W
    model = Perceptron(max_iter=1, penalty="l2", alpha=0.01, eta0=0.5, average=True)
    model.fit(X, y, sample_weight=weight)
    assert np.column_stack([model.coef_, model.intercept_]) == pytest.approx(total / 120, **SAME)
    parts = Perceptron(penalty="l2", alpha=0.01, eta0=0.5, average=True)
    for rows in (slice(0, 50), slice(50, 120)):
        parts.partial_fit(X[rows], y[rows], [0, 1, 2], weight[rows])
    assert parts.coef_ == pytest.approx(model.coef_, **SAME)


def test_rows_of_weight_zero_count_for_nothing():
    X, y, weight = noisy()
    weight[::3] = 0
    kept = weight > 0
    for make in (Perceptron, OnlineGradientDescentClassifier):
        model = make().fit(X, y, sample_weight=weight)
        same = make().fit(X[kept], y[kept], sample_weight=weight[kept])
        assert weights(model) == pytest.approx(weights(same))
        assert model.n_samples_seen_ == same.n_samples_seen_
        stream = make().partial_fit(X, y, sample_weight=weight)
        assert stream.n_samples_seen_ == kept.sum()
    rows = Perceptron().fit(X, y, sample_weight=kept.astype(float)).updated_rows_
    assert np.all(kept[rows])


def test_shuffling_takes_another_order_in_every_pass_by_the_seed():
    X, y, _ = noisy()
    one, same, other = (Perceptron(shuffle=True, random_state=s).fit(X, y) for s in (1, 1, 2))
    assert np.array_equal(one.coef_, same.coef_)
    assert not np.array_equal(one.coef_, other.coef_)
    rng, by_hand = np.random.default_rng(1), Perceptron()
    for _ in range(10):
        order = rng.permutation(len(y))
        by_hand.partial_fit(X[order], y[order])
    assert np.array_equal(by_hand.coef_, one.coef_)
    # Rows outside `updated_rows_` never caused an update, whatever the order.
    assert one.error_outside_ == np.mean(np.delete(one.predict(X) != y, one.updated_rows_))


def test_early_stopping_holds_rows_out_and_stops_by_their_error():
    X, y, _ = noisy(1000)
    given = {"max_iter": 500, "tol": 1e-3, "early_stopping": True, "n_iter_no_change": 3}
    model = Perceptron(average=True, **given).fit(X, y)
    assert 3 < model.n_iter_ < 500
    assert model.n_samples_seen_ == pytest.approx(900 * model.n_iter_, rel=0.01)
    assert model.score(X, y) > 0.8


def test_a_warm_start_goes_on_from_the_last_weights():
    X, y, _ = noisy()
    model = Perceptron(max_iter=3, warm_start=True).fit(X, y).fit(X, y)
    assert weights(model) == pytest.approx(weights(Perceptron(max_iter=6).fit(X, y)))
    with pytest.raises(InputError, match="other classes or columns"):
        model.fit(X[:, :2], y)
    assert not hasattr(model, "coef_")
    model.fit(X[:, :2], y)  # what failed is forgotten: this one starts afresh
    assert weights(model) == pytest.approx(weights(Perceptron(max_iter=3).fit(X[:, :2], y)))


def test_too_few_passes_for_the_tolerance_are_warned_of():
    X, y, _ = noisy()
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        model = Perceptron(max_iter=2, tol=1e-3).fit(X, y)
    assert not model.converged_


@pytest.mark.parametrize(
    "given",
    [
        {"until_clean": True, "tol": 1e-3},
        {"until_clean": True, "early_stopping": True},
        {"trace": True, "penalty": "l2"},
        {"penalty": "l3"},
        {"tol": -1.0},
        {"validation_fraction": 1.0},
        {"class_weight": "even"},
    ],
    ids=str,
)
def test_parameters_that_contradict_each_other_are_refused(given):
    X, y, _ = noisy()
    with pytest.raises(ParameterError):
        Perceptron(**given).fit(X, y)


@pytest.mark.parametrize("given", [{"penalty": "l2"}, {"tol": 0.5}, {"class_weight": "balanced"}])
def test_theorems_about_the_plain_rule_are_not_claimed_for_another(given):
    X, y, weight = noisy()
    for model in (Perceptron(max_iter=50, **given).fit(X, y), Perceptron().fit(X, y, weight)):
        with pytest.raises(InputError, match="plain rule"):
            model.certificate()
    with pytest.raises(InputError, match="plain rule"):
        Perceptron(penalty="l2").fit(X, y).mistake_bound(np.ones(4), X, y)


# ---- gradient descent ----------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["log_loss", "hinge"])
@pytest.mark.parametrize(
    "given",
    [
        {"learning_rate": "invscaling", "eta0": 0.1, "power_t": 0.5},
        {"learning_rate": "invscaling", "eta0": 0.1, "power_t": 0.25},
        {"learning_rate": "optimal", "alpha": 0.01},
        {"learning_rate": "optimal", "alpha": 1e-4, "class_weight": {-1: 2.0}},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", [np.array, sparse.csr_matrix])
def test_scikit_learns_schedules(loss, given, kind):
    X, y, weight = noisy()
    given = {"alpha": 0.0, **given}
    # Without an intercept, which scikit-learn does not shrink.
    shared = {"loss": loss, "fit_intercept": False, "max_iter": 3, "shuffle": False, **given}
    peer = SGDClassifier(tol=None, **shared).fit(X, y, sample_weight=weight)
    model = OnlineGradientDescentClassifier(**shared).fit(kind(X), y, sample_weight=weight)
    assert model.coef_ == pytest.approx(peer.coef_, **SAME)
    assert model.n_iter_ == 3


@pytest.mark.parametrize("projection", [None, "ball", "simplex"])
@pytest.mark.parametrize("alpha", [0.01, 0.3, 3.0])
def test_the_regret_bound_of_optimal_steps_holds(projection, alpha):
    rng = np.random.default_rng(0)
    for seed in range(20):
        X, y, _ = noisy(100, seed=seed)
        model = OnlineGradientDescentRegressor(
            loss="absolute_error",
            learning_rate="optimal",
            alpha=alpha,
            fit_intercept=False,
            projection=projection,
        )
        losses = model.learn_block(X, y.astype(float))
        u = rng.dirichlet(np.ones(3)) if projection == "simplex" else rng.normal(size=3)
        u /= 1 if projection == "simplex" else max(1, np.linalg.norm(u))
        best = np.sum(np.abs(y - X @ u)) + 100 * alpha / 2 * u @ u
        assert losses.sum() - best <= model.regret_bound_ * (1 + 1e-12)


def test_a_weight_is_a_factor_on_the_loss():
    X, y, weight = noisy()
    known = OnlineGradientDescentClassifier(learning_rate="constant", eta0=0.1)
    known.partial_fit(X, y, [-1, 1], weight)
    w = np.zeros(4)
    for x, truth, c in zip(np.column_stack([X, np.ones(200)]), y, weight, strict=True):
        w += 0.1 * c * truth * x / (1 + np.exp(truth * w @ x))
    assert weights(known) == pytest.approx(w, **SAME)
    twice = OnlineGradientDescentClassifier(
        learning_rate="constant", eta0=0.1, class_weight={-1: 2.0, 1: 2.0}
    )
    double = OnlineGradientDescentClassifier(learning_rate="constant", eta0=0.2)
    charged = double.learn_block(X, y)
    assert twice.learn_block(X, y) == pytest.approx(2 * charged, **SAME)
    assert weights(twice) == pytest.approx(weights(double), **SAME)


def test_balanced_weights_need_all_rows():
    X, y, _ = noisy()
    balanced = OnlineGradientDescentClassifier(class_weight="balanced").fit(X, y)
    weight = compute_sample_weight("balanced", y)
    by_hand = OnlineGradientDescentClassifier().fit(X, y, sample_weight=weight)
    assert weights(balanced) == pytest.approx(weights(by_hand))
    for make in (Perceptron, OnlineGradientDescentClassifier):
        with pytest.raises(ParameterError, match="a stream does not know"):
            make(class_weight="balanced").partial_fit(X, y)


@pytest.mark.parametrize("forecaster", ["ridge", "vovk"])
@pytest.mark.parametrize("intercept", [True, False])
def test_weighted_online_ridge_is_weighted_ridge(forecaster, intercept):
    X, _, weight = noisy()
    y = X @ [1.0, -2.0, 0.5] + 1
    weight[:5] = 0
    model = OnlineRidge(alpha=2.0, forecaster=forecaster, fit_intercept=intercept)
    model.partial_fit(X[:90], y[:90], weight[:90]).partial_fit(X[90:], y[90:], weight[90:])
    design = np.column_stack([X, np.ones(200)]) if intercept else X
    batch = Ridge(alpha=2.0, standardize=False, fit_intercept=False)
    batch.fit(design, y, sample_weight=weight)
    found = np.append(model.coef_, model.intercept_) if intercept else model.coef_
    assert found == pytest.approx(batch.coef_, rel=1e-9)


# ---- a failing fit -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [Perceptron, OnlineGradientDescentClassifier, OnlineGradientDescentRegressor, OnlineRidge],
)
def test_a_failing_fit_leaves_nothing_of_the_old_one(make):
    X, y, _ = noisy()
    model = make().fit(X, y)
    # The second is found while learning; the triangle of online ridge holds larger numbers.
    for bad in (np.nan, np.inf if make is OnlineRidge else 1e200):
        model.fit(X, y)
        with pytest.raises(ValueError, match=r"NaN|infinity|overflow"):
            model.fit(np.where(np.arange(3) == 1, bad, X), y)
        assert vars(model) == vars(make())
