"""Precisions by evidence maximisation, against R's optim, scikit-learn and MacKay's equations."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.linear_model import BayesianRidge

from bottega.core.errors import ConvergenceWarning, InputError, ParameterError
from bottega.linear import BayesianRegression
from bottega.linear._bayesian.evidence import Evidence

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference" / "linear" / "bayesian.json").read_text()
)
X_SWISS, Y_SWISS = np.array(REFERENCE["X"]), np.array(REFERENCE["y"])


def draw(seed=0, n=40, p=3, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=p)
    return X, 1 + X @ rng.normal(size=p) + noise * rng.normal(size=n)


def contrasts(n):
    """Orthonormal rows without the constant: what integrating out a flat intercept leaves."""
    return np.linalg.qr(np.column_stack([np.ones(n), np.eye(n)[:, : n - 1]]))[0][:, 1:].T


@pytest.mark.parametrize("intercept", [True, False])
def test_maximum_is_that_of_optim_in_r(intercept):
    expected = REFERENCE["intercept" if intercept else "no_intercept"]
    model = BayesianRegression(fit_intercept=intercept).fit(X_SWISS, Y_SWISS)
    # A maximum is flat: the evidence to 1e-10 leaves its place to the root of that.
    assert_allclose(model.evidence_, expected["evidence"], rtol=1e-10)
    assert_allclose(model.lambda_, expected["alpha"], rtol=1e-5)
    assert_allclose(model.alpha_, expected["beta"], rtol=1e-5)
    assert model.converged_
    assert model.n_iter_ > 0


def wide(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(15, 20))
    return X, X @ rng.normal(size=20) + 0.5 * rng.normal(size=15)


@pytest.mark.parametrize(
    "data", [*(draw(seed) for seed in range(4)), *(wide(seed) for seed in (1, 2, 3, 6))]
)
def test_precisions_are_those_of_scikit_learn(data):
    X, y = data
    flat = {"alpha_1": 1e-14, "alpha_2": 1e-14, "lambda_1": 1e-14, "lambda_2": 1e-14}
    how = {"tol": 1e-10, "max_iter": 100_000, "fit_intercept": False, **flat}
    ours = BayesianRegression(fit_intercept=False).fit(X, y)
    theirs = BayesianRidge(**how).fit(X, y)
    # Their names are the other way round. They stop when the coefficients settle: 1e-4.
    assert_allclose(ours.alpha_, theirs.alpha_, rtol=1e-4)
    assert_allclose(ours.lambda_, theirs.lambda_, rtol=1e-4)
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-6)
    assert_allclose(ours.covariance_, theirs.sigma_, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_a_flat_intercept_leaves_the_contrasts_of_the_rows(seed):
    # scikit-learn counts n observations with an intercept; the integral over a flat one leaves
    # n - 1, the contrasts.
    X, y = draw(seed)
    K = contrasts(len(X))
    ours = BayesianRegression().fit(X, y)
    theirs = BayesianRegression(fit_intercept=False).fit(K @ X, K @ y)
    assert_allclose([ours.lambda_, ours.alpha_], [theirs.lambda_, theirs.alpha_], rtol=1e-7)
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)
    assert_allclose(ours.evidence_, theirs.evidence_ - 0.5 * np.log(40), rtol=1e-9)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    alpha=st.sampled_from(["auto", 0.5]),
    beta=st.sampled_from(["auto", 2.0]),
    intercept=st.booleans(),
)
def test_mackay_equations_hold_and_nothing_near_is_better(seed, alpha, beta, intercept):
    X, y = draw(seed, noise=0.7)
    model = BayesianRegression(alpha, beta, fit_intercept=intercept).fit(X, y)
    n = 40 - intercept
    rss = np.sum((y - model.predict(X)) ** 2)
    if np.isfinite(model.lambda_):
        if alpha == "auto":
            assert_allclose(model.lambda_ * np.sum(model.coef_**2), model.gamma_, rtol=1e-7)
        if beta == "auto":
            assert_allclose(model.alpha_ * rss, n - model.gamma_, rtol=1e-7)
    for factor in (0.5, 0.9, 1.1, 2.0):
        near = (
            model.lambda_ * (factor if alpha == "auto" else 1),
            model.alpha_ * (factor if beta == "auto" else 1),
        )
        if np.isfinite(near[0]):
            other = BayesianRegression(*near, fit_intercept=intercept).fit(X, y)
            assert other.evidence_ <= model.evidence_ + 1e-9


def test_weights_are_copies():
    X, y = draw(1)
    w = np.random.default_rng(1).integers(0, 4, size=40)
    weighted, copies = BayesianRegression(), BayesianRegression()
    weighted.fit(X, y, w.astype(float))
    copies.fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert_allclose(weighted.evidence_, copies.evidence_, rtol=1e-9)
    assert_allclose(weighted.alpha_, copies.alpha_, rtol=1e-7)
    assert_allclose(weighted.covariance_, copies.covariance_, rtol=1e-7)


def test_useless_inputs_leave_the_mean():
    # The response is orthogonal to the inputs: the evidence rises with alpha to the empty model.
    rng = np.random.default_rng(2)
    Q = np.linalg.qr(np.column_stack([np.ones(30), rng.normal(size=(30, 4))]))[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = BayesianRegression().fit(Q[:, 1:4], 3 + Q[:, 4])
    assert model.lambda_ == np.inf
    assert_allclose(model.coef_, 0)
    assert_allclose(model.intercept_, 3)
    assert model.gamma_ == 0
    assert model.converged_
    assert_allclose(model.alpha_, 29)  # sum of squares one, from 29 contrasts
    assert_allclose(model.covariance_[1:], 0)
    assert np.isfinite(model.evidence_)


def test_prior_mean_moves_what_is_shrunk_towards():
    X, y = draw(3)
    moved = BayesianRegression(2.0, 1.0, prior_mean=[1.0, 2.0, 3.0]).fit(X, y)
    plain = BayesianRegression(2.0, 1.0).fit(X, y - X @ [1.0, 2.0, 3.0])
    assert_allclose(moved.coef_, plain.coef_ + np.array([1, 2, 3]), rtol=1e-9)
    assert_allclose(moved.evidence_, plain.evidence_, rtol=1e-9)


def test_constant_and_duplicated_columns_are_shrunk_to_the_prior():
    X, y = draw(4)
    doubled = np.column_stack([X, X[:, 0], np.full(40, 2.0)])
    model = BayesianRegression().fit(doubled, y)
    assert_allclose(model.coef_[0], model.coef_[3], rtol=1e-9)
    assert_allclose(model.coef_[4], 0, atol=1e-9)
    assert_allclose(model.covariance_[5, 5], 1 / model.lambda_, rtol=1e-9)


def test_the_greatest_of_several_maxima_is_found():
    # Strong directions of little power and weak ones of much: two local maxima in alpha / beta.
    evidence = Evidence(
        np.array([1e6, 1e6, 1e6, 1e-2, 1e-2]), np.array([9.0, 9, 9, 40, 40]), 10.0, 15.0
    )
    found = evidence.maximize(None, None)
    ratios = np.exp(np.linspace(np.log(1e-12), np.log(1e14), 4001))
    noise = 15.0 / (10.0 + (1 / (1 + evidence.lam / ratios[:, None])) @ evidence.power)
    heights = evidence(ratios * noise, noise)
    inner = (heights[1:-1] > heights[:-2]) & (heights[1:-1] > heights[2:])
    assert np.count_nonzero(inner) >= 2
    assert evidence(found.weight_precision, found.noise_precision) >= heights.max() - 1e-9


def test_a_fit_without_error_is_said():
    X = np.eye(3)
    y = np.array([1.0, 2.0, 4.0])
    message = "inputs fit y without error.*give a number as noise_precision"
    with pytest.warns(ConvergenceWarning, match=message):
        model = BayesianRegression(1e-3, fit_intercept=False).fit(X[:, :2], [1.0, 2.0, 0.0])
    assert not model.converged_
    with pytest.warns(ConvergenceWarning, match=message):  # more columns than rows, see above
        assert not BayesianRegression(fit_intercept=False).fit(*wide(0)).converged_
    assert BayesianRegression(1e-3, 10.0, fit_intercept=False).fit(X, y).converged_


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e9])
def test_a_fit_without_error_is_said_whatever_rounding_leaves(size):
    """The residuals are zero; how far from it they are computed depends on the processor."""
    X = np.repeat([[1.0, 3.0], [2.0, 1.0], [3.0, 3.0], [4.0, 1.0]], 4, axis=0)
    y = size * (5 - X[:, 1]) / 2
    with pytest.warns(ConvergenceWarning, match="inputs fit y without error"):
        model = BayesianRegression().fit(X, y)
    assert not model.converged_
    assert model.predict(X) == pytest.approx(y)


def test_bad_priors_and_rows_are_named():
    X, y = draw(5)
    for bad in (
        {"weight_precision": 0.0},
        {"weight_precision": "all"},
        {"noise_precision": -1.0},
        {"fit_intercept": 3},
    ):
        name = next(iter(bad))
        with pytest.raises(ParameterError, match=f"BayesianRegression: {name}="):
            BayesianRegression(**bad).fit(X, y)
    identity = np.eye(3)
    for bad, message in (
        ({"prior_covariance": np.eye(2)}, r"shape \(2, 2\).*\(3, 3\) or \(4, 4\)"),
        ({"prior_covariance": np.eye(4), "fit_intercept": False}, r"must be \(3, 3\)\."),
        ({"prior_covariance": 2.0}, "shape"),
        ({"prior_covariance": -identity}, "positive definite"),
        ({"prior_covariance": identity + np.triu(np.ones((3, 3)), 1)}, "symmetric"),
        ({"prior_covariance": identity * np.nan}, "finite"),
        ({"prior_covariance": identity, "weight_precision": 2.0}, "not both"),
        ({"prior_mean": [1.0, 2.0]}, "needs 3 finite numbers"),
        ({"prior_mean": [1.0, 2.0, np.nan]}, "needs 3 finite numbers"),
    ):
        with pytest.raises(InputError, match=message):
            BayesianRegression(**bad).fit(X, y)
    with pytest.raises(InputError, match="y does not vary"):
        BayesianRegression().fit(X, np.ones(40))
    with pytest.raises(InputError, match="no input varies"):
        BayesianRegression().fit(np.ones((40, 1)), y)
    with pytest.raises(ValueError, match="NaN"):
        BayesianRegression().fit(X * np.nan, y)
    with pytest.raises(InputError, match="no chunks"):
        BayesianRegression().fit_chunks([])
    with pytest.raises(InputError, match="y must have one axis"):
        BayesianRegression().fit_chunks([(X, np.column_stack([y, y]))])
    model = BayesianRegression().fit(X, y)
    with pytest.raises(InputError, match="level=1"):
        model.interval(X, level=1)
    with pytest.raises(InputError, match="kind='mean'"):
        model.interval(X, kind="mean")
    with pytest.raises(InputError, match="call fit to start afresh"):
        model.set_params(fit_intercept=False).partial_fit(X, y)


def test_a_refused_update_changes_nothing():
    stream = BayesianRegression()
    with pytest.raises(InputError, match="n_samples = 1"):
        stream.partial_fit([[1.0]], [2.0])
    X, y = draw(6)
    model = BayesianRegression().fit(X, y)
    before = model.coef_.copy()
    with pytest.raises(InputError, match="needs 3 finite"):
        model.set_params(prior_mean=[1.0]).partial_fit(X, y)
    model.set_params(prior_mean=None).partial_fit(X[:1], y[:1])
    assert model.n_samples_seen_ == 41
    assert np.any(model.coef_ != before)
