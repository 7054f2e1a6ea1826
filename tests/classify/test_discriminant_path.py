"""Paths of the discriminants: by folds, in chunks and from streams, the same answers."""

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.classify import LinearDiscriminant, QuadraticDiscriminant
from bottega.classify._generative import common_covariance
from bottega.classify._generative.moments import class_moments
from bottega.core import chunks, deal
from bottega.core.errors import DataWarning

CLASSES = ["a", "b", "c"]


def sample(n=120, p=4, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, n)
    spread = np.array([1.0, 2.0, 0.5])[codes, None]
    X = spread * rng.normal(size=(n, p)) @ np.triu(np.ones((p, p))) + codes[:, None]
    return X, np.array(CLASSES)[codes]


X, Y = sample()
WEIGHT = np.random.default_rng(1).integers(0, 4, len(Y)).astype(float)
CHUNKS = [(X[i::3], Y[i::3], WEIGHT[i::3]) for i in range(3)]


@pytest.mark.parametrize("model", [LinearDiscriminant(), QuadraticDiscriminant()])
def test_own_folds_are_those_that_core_would_hold_out(model):
    """The moments of the folds give what fits to each training part give."""
    by_moments = model.path(X, Y, sample_weight=WEIGHT)
    by_fits = model.path(X, Y, sample_weight=WEIGHT, cv=10)
    assert by_moments.error == pytest.approx(by_fits.error, rel=1e-12)
    assert by_moments.error_se == pytest.approx(by_fits.error_se, rel=1e-12)
    assert by_moments.fold_error == pytest.approx(by_fits.fold_error, rel=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        LinearDiscriminant(),
        LinearDiscriminant("ledoit_wolf"),
        LinearDiscriminant(0.1, covariance="robust"),
        LinearDiscriminant(0.1, n_features_to_select=2),
        QuadraticDiscriminant(),
        QuadraticDiscriminant(shrinkage="auto"),
    ],
    ids=repr,
)
def test_chunks_give_the_answer_of_all_rows(model):
    together = model.fit(X, Y, sample_weight=WEIGHT)
    probabilities, knob = together.predict_proba(X), getattr(together, f"{model.knob}_")
    in_chunks = model.fit_chunks(CHUNKS)
    assert getattr(in_chunks, f"{model.knob}_") == pytest.approx(knob, rel=1e-9)
    assert in_chunks.predict_proba(X) == pytest.approx(probabilities, abs=1e-7)


def test_rows_too_many_to_be_put_in_order_get_the_same_folds_in_chunks(monkeypatch):
    for module in (chunks, deal):
        monkeypatch.setattr(module, "MOST_ORDERED", 50)
    parts = [(X[:70], Y[:70]), (X[70:], Y[70:])]
    together = LinearDiscriminant().fit(X, Y)
    in_chunks = LinearDiscriminant().fit_chunks(parts)
    assert in_chunks.path_.fold_error == pytest.approx(together.path_.fold_error)


def test_stream_is_the_fit_to_all_rows_so_far():
    model = LinearDiscriminant(0.2)
    for X_part, y_part, w_part in CHUNKS:
        model.partial_fit(X_part, y_part, classes=CLASSES, sample_weight=w_part)
    expected = LinearDiscriminant(0.2).fit(X, Y, sample_weight=WEIGHT)
    assert model.coef_ == pytest.approx(expected.coef_, rel=1e-9)
    assert model.covariance_ == pytest.approx(expected.covariance_, rel=1e-9)
    more = expected.partial_fit(X[:5], Y[:5])  # a fit can go on as a stream
    rows = np.r_[np.arange(len(Y)), np.arange(5)]
    again = LinearDiscriminant(0.2).fit(X[rows], Y[rows], np.r_[WEIGHT, np.ones(5)])
    assert more.coef_ == pytest.approx(again.coef_, rel=1e-9)


def test_stream_without_a_given_shrinkage_takes_the_formula_for_normal_rows():
    model = LinearDiscriminant().partial_fit(X, Y)
    expected = LinearDiscriminant("oas").fit(X, Y)
    assert model.shrinkage_ == pytest.approx(expected.shrinkage_)
    assert model.coef_ == pytest.approx(expected.coef_)


def test_stream_may_begin_with_one_row_and_one_class():
    model = LinearDiscriminant(0).partial_fit(X[:1], ["b"], classes=CLASSES)
    assert model.predict(X[:3]).tolist() == ["b"] * 3
    assert model.predict_proba(X[:1]).tolist() == [[0.0, 1.0, 0.0]]
    model.partial_fit(X[1:], Y[1:])
    assert model.predict(X).shape == Y.shape


def test_path_ends_are_the_methods_themselves():
    quadratic = QuadraticDiscriminant().path(X, Y, values=[0.0, 1.0])
    linear = LinearDiscriminant(0).fit(X, Y)
    assert quadratic.values.tolist() == [1.0, 0.0]
    pooled = quadratic.at(0)
    assert pooled.predict_proba(X) == pytest.approx(linear.predict_proba(X), abs=1e-10)
    independent = LinearDiscriminant(1.0).fit(X, Y)
    assert independent.covariance_ == pytest.approx(np.diag(np.diag(linear.covariance_)))


def test_both_knobs_can_be_chosen_together():
    model = QuadraticDiscriminant(shrinkage="auto").fit(X, Y)
    assert {"pooling": model.pooling_, "shrinkage": model.shrinkage_} in model.path_.settings
    assert len({setting["shrinkage"] for setting in model.path_.settings}) > 1
    assert np.min(model.path_.error) <= np.min(QuadraticDiscriminant().path(X, Y).error)


def test_settings_without_an_inverse_are_left_off_the_path():
    rows = np.r_[np.flatnonzero(Y != "c"), np.flatnonzero(Y == "c")[:3]]  # 3 rows, 4 columns
    curve = QuadraticDiscriminant().path(X[rows], Y[rows])
    assert 0.0 not in curve.values
    assert 1.0 in curve.values
    wide = np.random.default_rng(0).normal(size=(30, 50))
    assert 0.0 not in LinearDiscriminant().path(wide, Y[:30]).values


@pytest.mark.parametrize("shrinkage", [0.0, 0.1, 1.0])
def test_few_rows_of_many_columns_are_decomposed_by_rows(shrinkage, monkeypatch):
    """The products of the rows give what those of the columns give, at the cost of fewer."""
    rng = np.random.default_rng(0)
    wide, labels, new = rng.normal(size=(40, 60)), np.arange(40) % 3, rng.normal(size=(9, 60))
    weight = rng.integers(1, 3, 40)
    model = LinearDiscriminant(shrinkage)
    found = []
    for by_rows in (True, False):
        if not by_rows:
            alone = partial(_without_rows, common_covariance.decomposed)
            monkeypatch.setattr(common_covariance, "decomposed", alone)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # of directions without shrinkage
            model.fit(wide, labels, sample_weight=weight)
        numbers = (model.predict_proba(new), model.transform(new), model.log_density(new))
        found.append((*numbers, model.covariance_, model.coef_))
    for ours, theirs in zip(*found, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-8, abs=1e-8)


def _without_rows(decomposed, moments, scale, used, rows):
    return decomposed(moments, scale, used, None)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.booleans(), st.booleans())
def test_moments_are_those_of_each_class(seed, K, pooled, weighted):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(1, 40)), int(rng.integers(1, 4))
    Z, codes = 1e3 + rng.normal(size=(n, p)), rng.integers(0, K, n)
    w = rng.integers(1, 4, n).astype(float) if weighted else None
    found = class_moments(Z, codes, w, K, pooled=pooled)
    cut = n // 2
    halves = [
        class_moments(Z[part], codes[part], None if w is None else w[part], K, pooled=pooled)
        for part in (slice(0, cut), slice(cut, n))
    ]
    times = np.ones(n, dtype=int) if w is None else w.astype(int)
    for moments in (found, halves[0].merge(halves[1])):
        for k in np.unique(codes):
            rows = np.repeat(Z[codes == k], times[codes == k], axis=0)
            assert moments.mean[k] == pytest.approx(rows.mean(axis=0), rel=1e-12)
            assert moments.weight[k] == len(rows)
            if not pooled:
                expected = (rows - rows.mean(axis=0)).T @ (rows - rows.mean(axis=0))
                assert moments.scatter[k] == pytest.approx(expected, abs=1e-8)
    if not pooled:
        together = class_moments(Z, codes, w, K, pooled=True)
        assert together.within() == pytest.approx(found.within(), abs=1e-8)
