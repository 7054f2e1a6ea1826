"""Principal components against R's prcomp, NumPy's SVD and scikit-learn."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import decomposition
from sklearn.datasets import load_digits

from bottega.latent import PCA

CASES = json.loads((Path(__file__).parents[1] / "reference" / "latent" / "pca.json").read_text())[
    "cases"
]
# Two backward-stable decompositions differ by rounding over the relative gap between eigenvalues
# (0.01 here); JSON keeps 15 digits.
TIGHT = {"rtol": 1e-9, "atol": 1e-9}


@pytest.mark.parametrize("solver", ["full", "covariance_eigh"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_components_are_those_of_prcomp(case, solver):
    X = np.array(case["X"], dtype=float)
    model = PCA(svd_solver=solver, standardize=case["scale"]).fit(X)
    # Without variance a direction is any one, so it is left out; R scales by divisor n - 1.
    sdev = np.array(case["sdev"])
    r = int(np.sum(sdev > 1e-8 * sdev[0]))
    unit = len(X) / (len(X) - 1) if case["scale"] else 1.0
    assert_allclose(model.explained_variance_[:r], unit * sdev[:r] ** 2, **TIGHT)
    rotation = np.array(case["rotation"])[:, :r]
    signs = np.sign(np.sum(model.components_[:r].T * rotation, axis=0))
    assert_allclose(model.components_[:r].T * signs, rotation, **TIGHT)
    scores = model.transform(X)[:, :r] * signs
    expected = np.array(case["scores"])[:, :r] * np.sqrt(unit)
    # Scores are of the size of the data (up to 300).
    assert_allclose(scores, expected, rtol=1e-9, atol=1e-7)


def test_it_is_the_svd_of_the_centred_rows():
    X = np.random.default_rng(0).normal(size=(30, 5)) + 3
    A = X - X.mean(axis=0)
    U, d, Vt = np.linalg.svd(A, full_matrices=False)
    model = PCA().fit(X)
    assert_allclose(model.singular_values_, d, rtol=1e-10)
    # Covariance with divisor n: the eigenvalues are the squared singular values over n.
    assert_allclose(model.explained_variance_ * 29 / 30, d**2 / 30, rtol=1e-10)
    assert_allclose(np.abs(model.components_ @ Vt.T), np.eye(5), atol=1e-9)
    assert_allclose(np.abs(model.transform(X)), np.abs(U * d), atol=1e-9)


@pytest.fixture(scope="module")
def digits():
    return load_digits().data[:400]


ATTRIBUTES = (
    *("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_"),
    *("mean_", "n_components_", "noise_variance_", "n_samples_"),
)


@pytest.mark.parametrize("k", [None, 5, 0.8, "mle"])
@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("solver", ["full", "covariance_eigh"])
def test_attributes_are_those_of_scikit_learn(digits, k, whiten, solver):
    X = digits[:, digits.var(axis=0) > 0.5]  # whitening divides by standard deviations
    theirs = decomposition.PCA(k, whiten=whiten, svd_solver="full").fit(X)
    ours = PCA(k, whiten=whiten, svd_solver=solver).fit(X)
    for name in ATTRIBUTES:
        # The covariance squares the condition number (1e3): its last vectors have ten digits.
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-7, atol=1e-8)
    assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-6, atol=1e-7)
    Z = theirs.transform(X)
    assert_allclose(ours.inverse_transform(Z), theirs.inverse_transform(Z), rtol=1e-7, atol=1e-7)
    # Whitening changes the scores and not the model of X; scikit-learn's covariance, and with it
    # the density, multiplies the components by their standard deviations once more.
    theirs = decomposition.PCA(k, svd_solver="full").fit(X)
    assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-7)
    assert_allclose(ours.get_covariance(), theirs.get_covariance(), rtol=1e-7, atol=1e-8)
    assert_allclose(ours.get_precision(), theirs.get_precision(), rtol=1e-6, atol=1e-7)
    assert ours.score(X) == pytest.approx(theirs.score(X), rel=1e-8)
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())


@pytest.mark.parametrize("solver", ["arpack", "randomized", "power"])
@pytest.mark.parametrize("k", [1, 6])
def test_iterated_solvers_find_the_first_components(digits, solver, k):
    theirs = decomposition.PCA(k, svd_solver="full").fit(digits)
    ours = PCA(k, svd_solver=solver, random_state=0).fit(digits)
    assert ours.solver_ == solver
    # Random projections converge by the seventh power of (lambda_17 / lambda_6), about 1e-3.
    loose = 1e-3 if solver == "randomized" else 1e-7
    assert_allclose(ours.components_, theirs.components_, atol=loose)
    assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=loose / 10)
    assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=loose / 10)


def test_the_number_of_components_by_evidence_is_that_of_scikit_learn():
    rng = np.random.default_rng(1)
    for rank in (1, 3, 5):
        X = 2 * rng.normal(size=(80, rank)) @ rng.normal(size=(rank, 8)) + rng.normal(size=(80, 8))
        theirs = decomposition.PCA("mle").fit(X).n_components_
        assert PCA("mle").fit(X).n_components_ == theirs
        assert PCA("auto", select="mle").fit(X).n_components_ == theirs
