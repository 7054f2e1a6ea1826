"""Support vectors of one class against e1071 and scikit-learn, and what nu means."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import OneClassSVM
from sklearn.utils.estimator_checks import parametrize_with_checks

from bottega.core.errors import InputError, ParameterError
from bottega.kernel import GaussianKernel, OneClass
from bottega.workbench import trusted_types

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference" / "kernel" / "support_vectors.json").read_text()
)
X, NEW = np.array(REFERENCE["X"]), np.array(REFERENCE["new"])


@pytest.fixture(scope="module")
def model():
    return OneClass(nu=0.2, gamma=0.3).fit(X)


def test_it_is_that_of_e1071(model):
    expected = REFERENCE["one_class"]
    decisions = np.array(expected["decisions"])[:, 0]
    # libsvm keeps its kernels in single precision.
    assert model.decision_function(NEW) == pytest.approx(decisions, abs=2e-5)
    assert np.array_equal(model.support_, expected["support"])
    assert np.array_equal(model.predict(NEW) > 0, expected["predicted"])


@pytest.mark.parametrize("given", [{"nu": 0.1}, {"nu": 0.9}, {"kernel": "poly", "coef0": 1.0}])
def test_attributes_are_those_of_scikit_learn(given):
    weight = np.random.default_rng(0).integers(1, 4, len(X)).astype(float)
    for w in (None, weight):
        gamma = {"gamma": 0.3}
        theirs = OneClassSVM(tol=1e-6, **given, **gamma).fit(X, sample_weight=w)
        ours = OneClass(**given, **gamma).fit(X, sample_weight=w)
        scale = np.max(np.abs(theirs.score_samples(NEW)))
        gap = ours.score_samples(NEW) - theirs.score_samples(NEW)
        assert np.max(np.abs(gap)) < 1e-5 * scale
        assert np.array_equal(ours.support_, theirs.support_)
        assert ours.offset_ == pytest.approx(theirs.offset_, rel=1e-5)


def test_with_nu_one_all_rows_are_support_vectors():
    model = OneClass(nu=1.0, gamma=0.3).fit(X)  # scikit-learn has no finite level here
    assert np.array_equal(model.dual_coef_, np.ones((1, len(X))))
    assert np.isfinite(model.offset_)
    assert model.score_samples(NEW) == pytest.approx(GaussianKernel(0.3)(NEW, X).sum(axis=1))


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), nu=st.floats(0.02, 0.98), gamma=st.floats(0.05, 5))
def test_nu_bounds_outliers_and_support_vectors(seed, nu, gamma):
    Z = np.random.default_rng(seed).normal(size=(50, 2))
    model = OneClass(nu, gamma=gamma).fit(Z)
    assert np.mean(model.decision_function(Z) < -1e-8) <= nu + 1e-9
    assert len(model.support_) / 50 >= nu - 1e-9
    assert model.dual_coef_.sum() == pytest.approx(nu * 50)
    assert model.primal_objective_ == pytest.approx(model.dual_objective_, rel=1e-8)
    assert model.kkt_residual_ < 1e-8


def test_weights_are_repeated_rows():
    weight = np.random.default_rng(1).integers(0, 3, len(X))
    weighted = OneClass(nu=0.3).fit(X, sample_weight=weight)
    repeated = OneClass(nu=0.3).fit(np.repeat(X, weight, axis=0))
    assert weighted.decision_function(NEW) == pytest.approx(
        repeated.decision_function(NEW), abs=1e-7
    )


def test_a_kernel_may_be_an_object_or_a_matrix(model):
    kernel, expected = GaussianKernel(0.3), model.decision_function(NEW)
    found = OneClass(nu=0.2, kernel=kernel).fit(X).decision_function(NEW)
    assert found == pytest.approx(expected, abs=1e-9)
    matrix = OneClass(nu=0.2, kernel="precomputed").fit(kernel(X))
    assert matrix.decision_function(kernel(NEW, X)) == pytest.approx(expected, abs=1e-9)


def test_saved_models_decide_the_same(model):
    content = skops.io.dumps(model)
    assert set(skops.io.get_untrusted_types(data=content)) <= set(trusted_types())
    for copy in (
        pickle.loads(pickle.dumps(model)),
        skops.io.loads(content, trusted=trusted_types()),
    ):
        assert np.array_equal(copy.decision_function(NEW), model.decision_function(NEW))


def test_results_are_shown(model):
    row = model.glance().iloc[0]
    assert row["nobs"] == len(X)
    assert row["n_support"] == len(model.support_)
    assert "One-class support vectors" in str(model.summary())


def test_bad_input_is_named():
    for bad in ({"nu": 0.0}, {"nu": 1.2}, {"gamma": 0.0}, {"max_iter": 0}):
        name = next(iter(bad))
        with pytest.raises(ParameterError, match=f"OneClass: {name}="):
            OneClass(**bad).fit(X)
    with pytest.raises(ValueError, match="NaN"):
        OneClass().fit(np.where(X > 2, np.nan, X))
    with pytest.raises(InputError, match="square matrix"):
        OneClass(kernel="precomputed").fit(X)


@pytest.mark.slow
@parametrize_with_checks([OneClass()])
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)
