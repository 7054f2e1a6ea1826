"""Filters of columns: what they leave out, and where they fail."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import skops.io
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_selection import VarianceThreshold

from bottega.core.errors import InputError, ParameterError
from bottega.latent import PCA, CorrelationFilter, VarianceFilter
from bottega.workbench import trusted_types


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(50, 4)) * [1.0, 0.1, 2.0, 0.0] + [0, 5, 0, 0.1]


def test_variances_are_those_of_scikit_learn(X):
    for threshold in (0.0, 0.5):
        theirs = VarianceThreshold(threshold).fit(X[:, :3])
        ours = VarianceFilter(threshold).fit(X[:, :3])
        assert_allclose(ours.variances_, theirs.variances_, rtol=1e-10)
        assert np.array_equal(ours.get_support(), theirs.get_support())
        assert_allclose(ours.transform(X[:, :3]), theirs.transform(X[:, :3]))
    assert VarianceFilter().fit(X).get_support(indices=True).tolist() == [0, 1, 2]
    sparse = VarianceFilter(0.5).fit(scipy.sparse.csr_array(X))
    assert_allclose(sparse.variances_, VarianceFilter(0.5).fit(X).variances_, atol=1e-12)
    assert scipy.sparse.issparse(sparse.transform(scipy.sparse.csr_array(X)))


def test_weights_are_repeated_rows(X):
    w = np.random.default_rng(1).integers(0, 3, 50)
    for model in (VarianceFilter(0.001), CorrelationFilter(0.1)):
        weighted = model.fit(X, sample_weight=w).get_support().copy()
        assert np.array_equal(weighted, model.fit(np.repeat(X, w, axis=0)).get_support())
    weighted = VarianceFilter().fit(X, sample_weight=w).variances_
    assert_allclose(weighted, np.repeat(X, w, axis=0).var(axis=0), rtol=1e-10, atol=1e-25)


@pytest.mark.parametrize("angle", [20.0, 45.0, 70.0])
def test_the_variance_filter_fails_on_rotated_data(angle):
    """The same rows, turned: no column varies little any more, but a direction does."""
    rng = np.random.default_rng(2)
    flat = rng.normal(size=(300, 2)) * [3.0, 0.1]
    turn = np.radians(angle)
    F = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    turned = flat @ F
    assert VarianceFilter(0.5).fit(flat).get_support().tolist() == [True, False]
    assert VarianceFilter(0.5).fit(turned).get_support().tolist() == [True, True]
    # The covariance after the transformation is F' S F, the mean m F.
    assert_allclose(np.cov(turned.T), F.T @ np.cov(flat.T) @ F, rtol=1e-9)
    assert_allclose(turned.mean(axis=0), flat.mean(axis=0) @ F, atol=1e-12)
    # Principal components turn back: the second varies as little as the flat column did.
    model = PCA().fit(turned)
    assert model.explained_variance_[1] == pytest.approx(flat[:, 1].var(ddof=1), rel=0.02)
    assert CorrelationFilter(0.9).fit(turned).get_support().sum() == 1


def test_selecting_columns_is_a_linear_map():
    X = np.random.default_rng(0).normal(size=(5, 3)) * [1.0, 0.01, 1.0]
    F = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    assert_allclose(VarianceFilter(0.01).fit(X).transform(X), X @ F)


def test_the_more_central_column_of_a_pair_goes():
    rng = np.random.default_rng(3)
    a = rng.normal(size=400)
    noise = rng.normal(size=(400, 3))
    # a is 0.95 correlated with b, and 0.8 with c; b and c less: a goes for b.
    X = np.column_stack([a, a + 0.3 * noise[:, 0], a + 0.75 * noise[:, 1], noise[:, 2]])
    model = CorrelationFilter(0.9).fit(pd.DataFrame(X, columns=list("abcd")))
    assert model.get_feature_names_out().tolist() == ["b", "c", "d"]
    pairs = model.pairs()
    assert pairs["dropped"].tolist() == ["a"]
    assert pairs["kept"].tolist() == ["b"]
    assert pairs["correlation"][0] == pytest.approx(np.corrcoef(X.T)[0, 1])
    assert_allclose(model.correlation_, np.corrcoef(X.T), atol=1e-12)


def test_among_equals_the_later_column_goes():
    a = np.arange(10.0)
    model = CorrelationFilter().fit(np.column_stack([a, -2 * a, 3 * a + 1, np.ones(10)]))
    assert model.get_support().tolist() == [True, False, False, True]


def test_no_pair_that_is_left_is_above_the_threshold():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(80, 3)) @ rng.normal(size=(3, 12)) + 0.3 * rng.normal(size=(80, 12))
    for threshold in (0.3, 0.7, 0.9):
        Z = CorrelationFilter(threshold).fit_transform(X)
        size = np.abs(np.corrcoef(Z.T)) - np.eye(Z.shape[1])
        assert size.max() <= threshold + 1e-8
    units = np.logspace(-6, 6, 12)
    assert np.array_equal(
        CorrelationFilter(0.7).fit(X).get_support(),
        CorrelationFilter(0.7).fit(X * units + 5 * units).get_support(),
    )


def test_bad_input_is_refused(X):
    with pytest.raises(ParameterError, match="threshold=-1"):
        VarianceFilter(-1).fit(X)
    with pytest.raises(ParameterError, match="threshold=2"):
        CorrelationFilter(2.0).fit(X)
    with pytest.raises(InputError, match="No column"):
        VarianceFilter(100.0).fit(X)
    with pytest.raises(InputError, match="overflow"):
        VarianceFilter().fit(X * 1e160)
    with pytest.raises(InputError, match="overflow"):
        CorrelationFilter().fit(X * 1e160)


def test_saved_filters_select_the_same(X):
    for model in (VarianceFilter(0.5).fit(X), CorrelationFilter(0.1).fit(X)):
        content = skops.io.dumps(model)
        assert not set(skops.io.get_untrusted_types(data=content)) - set(trusted_types())
        for copy in (
            pickle.loads(pickle.dumps(model)),
            skops.io.loads(content, trusted=trusted_types()),
        ):
            assert np.array_equal(copy.transform(X), model.transform(X))


def test_values_that_are_missing_are_left_out_of_variances():
    rng = np.random.default_rng(5)
    X = np.where(rng.random((40, 5)) < 0.5, rng.normal(size=(40, 5)), 0.0)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 3] = np.nan
    X[:, 4] = 0.3
    w = rng.integers(1, 4, 40).astype(float)
    model = VarianceFilter().fit(X)
    assert_allclose(model.variances_[:3], np.nanvar(X[:, :3], axis=0))
    assert model.get_support().tolist() == [True, True, True, False, False]
    assert_array_equal(model.transform(X), X[:, :3])
    repeated = VarianceFilter().fit(np.repeat(X, w.astype(int), axis=0)).variances_
    for table in (X, scipy.sparse.csr_array(X)):
        assert_allclose(VarianceFilter().fit(table).variances_, model.variances_)
        weighted = VarianceFilter().fit(table, sample_weight=w).variances_
        assert_allclose(weighted, repeated, atol=1e-15)


def test_a_sparse_column_that_does_not_vary_is_left_out_and_entries_in_parts_add_up():
    X = np.tile([[-0.13725701, 0.0, 1.0]], (10, 1))
    X[0, 2] = 2.0
    assert VarianceFilter().fit(scipy.sparse.csr_array(X)).get_support(indices=True) == [2]
    halves = scipy.sparse.csc_array((10, 3))
    twice = scipy.sparse.csc_array(X / 2)
    halves.data = np.repeat(twice.data, 2)
    halves.indices = np.repeat(twice.indices, 2)
    halves.indptr = 2 * twice.indptr
    assert_allclose(VarianceFilter().fit(halves).variances_, VarianceFilter().fit(X).variances_)
    assert halves.nnz == 2 * twice.nnz


def test_a_column_whose_squares_vanish_is_not_taken_for_constant():
    X = np.random.default_rng(0).random((20, 2)) * [1.0, 1e-200]
    with pytest.raises(InputError, match=r"column 1 of X .* vanish"):
        VarianceFilter().fit(X)
