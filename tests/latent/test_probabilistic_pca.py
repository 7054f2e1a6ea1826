"""Probabilistic principal components of complete rows: closed form, EM, gradient, the notes."""

import pickle

import numpy as np
import pytest
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn import decomposition

from bottega.core.errors import ConvergenceWarning, DataWarning, InputError
from bottega.latent import ProbabilisticPCA
from bottega.workbench import trusted_types


def table(n=120, p=5, K=2, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, K)) @ rng.normal(size=(K, p)) + 3.0 + noise * rng.normal(size=(n, p))


def angle(a, b):
    """Return the angle between two directions, in degrees."""
    return float(np.degrees(np.arccos(min(1.0, abs(a @ b)))))


@pytest.fixture(scope="module")
def X():
    return table()


def test_both_forms_of_the_likelihood_agree(X):
    """N135: by the trace of C^-1 S, and as the sum of densities; N134 with E18: C has sigma^2 I."""
    model = ProbabilisticPCA(2).fit(X)
    n, p = X.shape
    C = model.loadings_ @ model.loadings_.T + model.noise_variance_ * np.eye(p)
    assert model.get_covariance() == pytest.approx(C)
    S = np.cov(X.T, bias=True)
    by_trace = (
        -n / 2 * (p * np.log(2 * np.pi) + np.linalg.slogdet(C)[1] + np.trace(np.linalg.solve(C, S)))
    )
    rows = multivariate_normal(model.mean_, C).logpdf(X)
    assert model.log_likelihood_ == pytest.approx(by_trace, rel=1e-11)
    assert model.score_samples(X) == pytest.approx(rows, rel=1e-10)
    assert model.log_likelihood_ == pytest.approx(rows.sum(), rel=1e-11)


def test_the_closed_form_is_that_of_the_notes(X):
    """N136: noise is the mean of the discarded eigenvalues; W is U (Lambda - sigma^2)^1/2."""
    model = ProbabilisticPCA(2).fit(X)
    values, vectors = np.linalg.eigh(np.cov(X.T, bias=True))
    assert model.noise_variance_ == pytest.approx(values[:3].mean(), rel=1e-11)
    for k in range(2):
        axis = vectors[:, -1 - k] * np.sqrt(values[-1 - k] - model.noise_variance_)
        axis = axis * np.sign(axis[np.argmax(np.abs(axis))])  # N148
        assert model.loadings_[:, k] == pytest.approx(axis, rel=1e-8)
        assert np.max(model.loadings_[:, k]) == np.max(np.abs(model.loadings_[:, k]))
    assert model.explained_variance_ == pytest.approx(values[:2:-1], rel=1e-10)


def test_perturbations_lower_the_likelihood(X):
    model = ProbabilisticPCA(2).fit(X)
    rng = np.random.default_rng(1)
    for _ in range(20):
        W = model.loadings_ + 0.05 * rng.normal(size=model.loadings_.shape)
        mean = model.mean_ + 0.05 * rng.normal(size=5)
        C = W @ W.T + model.noise_variance_ * np.exp(0.1 * rng.normal()) * np.eye(5)
        assert multivariate_normal(mean, C).logpdf(X).sum() < model.log_likelihood_


def test_likelihoods_are_those_of_scikit_learn(X):
    """Its PCA divides by n - 1, so its maximum is another one, but its score is the same function
    of a covariance: on data whose divisor does not matter both agree.
    """
    theirs = decomposition.PCA(2).fit(X)
    n = len(X)
    model = ProbabilisticPCA(2).fit(X)
    assert model.noise_variance_ == pytest.approx(theirs.noise_variance_ * (n - 1) / n, rel=1e-10)
    assert model.get_covariance() == pytest.approx(theirs.get_covariance() * (n - 1) / n, rel=1e-9)
    assert model.components_ == pytest.approx(
        theirs.components_
        * np.sign(np.sum(model.components_ * theirs.components_, axis=1))[:, None]
    )
    assert model.score(X) > theirs.score(X)
    model.model_ = type(model.model_)(
        theirs.mean_, model.loadings_ * np.sqrt(n / (n - 1)), theirs.noise_variance_
    )
    assert model.score(X) == pytest.approx(theirs.score(X), rel=1e-11)


@pytest.mark.parametrize("method", ["em", "gradient"])
@pytest.mark.parametrize("K", [1, 2, 4])
def test_em_and_gradient_find_the_closed_form(X, method, K):
    """N137."""
    exact = ProbabilisticPCA(K).fit(X)
    model = ProbabilisticPCA(K, method=method, tol=1e-13, max_iter=5000).fit(X)
    assert model.log_likelihood_ == pytest.approx(exact.log_likelihood_, rel=1e-9)
    # The likelihood is flat at its maximum: parameters have half of its digits.
    assert model.noise_variance_ == pytest.approx(exact.noise_variance_, rel=1e-4)
    assert model.get_covariance() == pytest.approx(exact.get_covariance(), rel=1e-3, abs=1e-4)
    assert np.all(np.diff(model.trace_) >= 0)


def test_posterior_of_the_latent_variables(X):
    """N138, and its equal by conditioning the joint normal of (z, x)."""
    model = ProbabilisticPCA(2).fit(X)
    mean, covariance = model.posterior(X[:7])
    W, noise = model.loadings_, model.noise_variance_
    M = W.T @ W + noise * np.eye(2)
    assert covariance == pytest.approx(np.broadcast_to(noise * np.linalg.inv(M), (7, 2, 2)))
    C = model.get_covariance()
    joint = (X[:7] - model.mean_) @ np.linalg.solve(C, W)
    assert mean == pytest.approx(joint, rel=1e-9)
    assert covariance[0] == pytest.approx(np.eye(2) - W.T @ np.linalg.solve(C, W), rel=1e-9)
    assert np.array_equal(model.transform(X[:7]), mean)


def test_without_noise_it_is_pca():
    """N139: W -> U Lambda^1/2 and the posterior mean is the projection."""
    X = table(noise=1e-3)
    model = ProbabilisticPCA(2).fit(X)
    pca = decomposition.PCA(2).fit(X)
    assert model.inverse_transform(model.transform(X)) == pytest.approx(
        pca.inverse_transform(pca.transform(X)), abs=2e-5
    )


def test_samples_have_the_moments_of_the_model(X):
    model = ProbabilisticPCA(2).fit(X)
    drawn = model.sample(40_000, random_state=0)
    spread = np.sqrt(np.diag(model.get_covariance()))
    # Means are within 5 standard errors, covariances within 5 of theirs: alarms once in 10^5.
    assert np.all(np.abs(drawn.mean(axis=0) - model.mean_) < 5 * spread / 200)
    limit = 5 * np.sqrt(2) * np.outer(spread, spread) / 200
    assert np.all(np.abs(np.cov(drawn.T) - model.get_covariance()) < limit)
    assert np.array_equal(model.sample(3, random_state=4), model.sample(3, random_state=4))


def test_the_path_finds_the_number_of_components():
    X = table(n=400, p=8, K=3, noise=0.5)
    for select in ("min", "bic"):
        assert ProbabilisticPCA(select=select).fit(X).n_components_ == 3
    curve = ProbabilisticPCA().path(X)
    assert np.array_equal(curve.values, np.arange(8))
    assert curve.df[-1] == 8 + 8 * 9 / 2  # any covariance
    assert np.all(np.diff(curve.train_error) < 0)
    best = curve.at(3)
    assert curve.criteria["bic"][3] == pytest.approx(
        -2 * best.log_likelihood_ + np.log(400) * curve.df[3]
    )


def test_folds_by_hand(X):
    folds = [(np.setdiff1d(np.arange(120), test), test) for test in np.split(np.arange(120), 3)]
    curve = ProbabilisticPCA().path(X, cv=folds)
    for k, setting in enumerate(curve.settings):
        by_hand = [
            -ProbabilisticPCA(**setting).fit(X[train]).score(X[test]) for train, test in folds
        ]
        assert curve.fold_error[:, k] == pytest.approx(by_hand, rel=1e-9)


def test_chunks_give_the_same_fit(X):
    whole = ProbabilisticPCA(2).fit(X)
    chunked = ProbabilisticPCA(2).fit_chunks([X[:50], X[50:]])
    assert chunked.loadings_ == pytest.approx(whole.loadings_, rel=1e-9)
    assert chunked.log_likelihood_ == pytest.approx(whole.log_likelihood_, rel=1e-10)
    picked = ProbabilisticPCA(select="bic").fit_chunks([X[:50], X[50:]])
    assert picked.n_components_ == 2
    with pytest.raises(InputError, match="give n_components"):
        ProbabilisticPCA().fit_chunks([X])


def test_weights_are_repeated_rows_and_order_does_not_matter(X):
    w = np.random.default_rng(1).integers(0, 4, len(X))
    weighted = ProbabilisticPCA(2).fit(X, sample_weight=w)
    repeated = ProbabilisticPCA(2).fit(np.repeat(X, w, axis=0))
    assert weighted.loadings_ == pytest.approx(repeated.loadings_, rel=1e-9)
    assert weighted.log_likelihood_ == pytest.approx(repeated.log_likelihood_, rel=1e-10)
    assert ProbabilisticPCA(2).fit(X[::-1]).loadings_ == pytest.approx(repeated_free(X), rel=1e-9)


def repeated_free(X):
    return ProbabilisticPCA(2).fit(X).loadings_


def test_more_columns_than_rows():
    X = table(n=12, p=40, K=2)
    model = ProbabilisticPCA(2).fit(X)
    C = model.get_covariance()
    values = np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1]
    assert model.noise_variance_ == pytest.approx(values[2:].sum() / 38, rel=1e-9)
    assert model.score_samples(X) == pytest.approx(multivariate_normal(model.mean_, C).logpdf(X))
    assert len(ProbabilisticPCA(cv=3).path(X)) == 11  # at most as many as leave noise


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10**6),
    st.floats(-1e7, 1e7),
    st.sampled_from([1e-130, 1e-3, 1.0, 1e6, 1e130]),
)
def test_units_and_origin(seed, shift, scale):
    X = table(n=30, p=4, seed=seed)
    plain = ProbabilisticPCA(2).fit(X)
    moved = ProbabilisticPCA(2).fit((X + shift) * scale)
    # Digits that a large shift takes from X are lost to both.
    tolerance = 1e-9 + 1e-15 * abs(shift) * 100
    assert moved.loadings_ / scale == pytest.approx(plain.loadings_, rel=1e3 * tolerance,
                                                    abs=1e3 * tolerance)  # fmt: skip
    assert moved.score((X + shift) * scale) == pytest.approx(
        plain.score(X) - 4 * np.log(scale), rel=1e3 * tolerance, abs=1e3 * tolerance
    )


def test_extremes_are_refused_or_survived(X):
    for factor in (1e150, 1e-150):
        with pytest.raises(InputError, match="units"):
            ProbabilisticPCA(1).fit(X * factor)
    with pytest.raises(InputError, match="do not differ"):
        ProbabilisticPCA(1).fit(np.ones((5, 3)))
    with pytest.raises(InputError, match="at most 4"):
        ProbabilisticPCA(5).fit(X)
    with pytest.raises(ValueError, match="infinity"):
        ProbabilisticPCA(1).fit(np.where(X[3, 2] == X, np.inf, X))
    constant = np.column_stack([X, np.full(len(X), 7.0)])
    model = ProbabilisticPCA(2).fit(constant)
    assert model.mean_[-1] == pytest.approx(7.0)
    assert np.all(np.isfinite(model.score_samples(constant)))


def test_rows_in_a_plane_are_said():
    X = table(n=2, p=3)
    with pytest.warns(DataWarning, match="plane of n_components=1 dimensions"):
        model = ProbabilisticPCA(1).fit(X)
    assert np.all(np.isfinite(model.score_samples(X)))
    assert ProbabilisticPCA(0).fit(X).noise_variance_ == pytest.approx(X.var(axis=0).mean())


def test_too_few_iterations_are_said(X):
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        assert not ProbabilisticPCA(2, method="em", max_iter=1).fit(X).converged_


def test_saved_models_say_the_same(X):
    model = ProbabilisticPCA().fit(X)
    content = skops.io.dumps(model)
    copies = [pickle.loads(pickle.dumps(model)), skops.io.loads(content, trusted=trusted_types())]
    for copy in copies:
        assert np.array_equal(copy.score_samples(X), model.score_samples(X))


def test_summary_names_the_columns_that_lead(X):
    import pandas as pd

    frame = pd.DataFrame(X, columns=list("abcde"))
    text = str(ProbabilisticPCA(2).fit(frame).summary())
    assert "2 components" in text
    assert "noise variance" in text
    assert any(f"{name} +" in text for name in "abcde")


# ---- the claim that it is robust (N142, E20) -----------------------------------------------------


def turned_by_one_outlier(distance, seed=0):
    """Return by how many degrees one outlier turns the first axis of PCA and of probabilistic PCA.

    100 rows vary along the first column (standard deviation 2) and little along the second (0.3);
    the outlier is far along the second.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(100, 2)) * [2.0, 0.3]
    spoilt = np.vstack([X, [0.0, distance]])
    axes = {}
    for name, make in (("pca", decomposition.PCA), ("ppca", ProbabilisticPCA)):
        before, after = make(1).fit(X).components_[0], make(1).fit(spoilt).components_[0]
        axes[name] = angle(before, after)
    return axes


def test_one_outlier_turns_both_alike():
    for distance in (5.0, 15.0, 30.0, 100.0):
        turned = turned_by_one_outlier(distance)
        # The axes are eigenvectors of one matrix; the angle has half the digits near zero.
        assert turned["ppca"] == pytest.approx(turned["pca"], abs=1e-5)
    assert turned_by_one_outlier(30.0)["ppca"] > 80
    assert turned_by_one_outlier(5.0)["ppca"] < 10


def test_two_rows_are_too_few_to_hold_one_out():
    X = np.array([[0.0, 1.0, 2.0, 3.0], [5.0, 4.0, 6.0, 1.0]])
    with pytest.raises(InputError, match="leaves one row to fit"):
        ProbabilisticPCA().fit(X)
    with pytest.raises(InputError, match="do not differ"):
        ProbabilisticPCA().fit(X[[0, 0, 1]])
    assert ProbabilisticPCA(0).fit(X).n_components_ == 0


@pytest.mark.filterwarnings("error")
def test_rows_whose_squares_overflow_have_no_density():
    X = np.random.default_rng(1).normal(size=(60, 4)) * [1.0, 2.0, 3.0, 0.5]
    X[30:] += 9.0
    model = ProbabilisticPCA(2).fit(X)
    assert np.all(np.isneginf(model.score_samples(X[:3] * 1e200)))
    gaps = np.where(np.eye(3, 4) > 0, np.nan, X[:3])
    assert np.all(np.isneginf(model.score_samples(gaps * 1e200)))
    assert np.all(np.isfinite(model.score_samples(gaps)))


@pytest.mark.parametrize("missing", [False, True])
def test_the_unit_of_weights_that_are_shares_does_not_matter(missing):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 1)) + 0.5 * rng.normal(size=(50, 5))
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    w = rng.uniform(0.5, 1.5, size=50)
    w *= 50 / w.sum()
    plain = ProbabilisticPCA(select="bic").fit(X, sample_weight=w)
    for factor in (1 / 50, 1e-90, 1e90):
        model = ProbabilisticPCA(select="bic").fit(X, sample_weight=w * factor)
        assert model.n_components_ == plain.n_components_
        assert np.allclose(model.path_.criteria["bic"], plain.path_.criteria["bic"])
        chunks = [(X[:20], None, w[:20] * factor), (X[20:], None, w[20:] * factor)]
        model = ProbabilisticPCA(1).fit_chunks(chunks)
        whole = ProbabilisticPCA(1).fit(X, sample_weight=w)
        assert np.isclose(model.log_likelihood_, whole.log_likelihood_)
