"""Mixtures on bad and degenerate input: what is wrong is said."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from bottega.cluster import GaussianMixture
from bottega.core.errors import BottegaError, DataWarning, InputError, MissingExtra, ParameterError

X = np.random.default_rng(0).normal(size=(40, 2))


def test_more_components_than_rows_are_refused():
    with pytest.raises(InputError, match="n_components=5 is more than the 4 rows"):
        GaussianMixture(5).fit(X[:4])


def test_rows_and_columns_without_any_value_are_refused():
    bad = X.copy()
    bad[7] = np.nan
    with pytest.raises(InputError, match="Row 7 has no value at all"):
        GaussianMixture(2).fit(bad)
    bad = X.copy()
    bad[:, 1] = np.nan
    with pytest.raises(InputError, match="Column 'x1' has no value"):
        GaussianMixture(2).fit(bad)
    with pytest.raises(InputError, match="Column 'b' has no value"):
        GaussianMixture(2).fit(pd.DataFrame(bad, columns=["a", "b"]))
    with pytest.raises(InputError, match="Column 'x1' has no value"):
        GaussianMixture(2).fit_chunks([bad[:20], bad[20:]])


def test_infinite_and_huge_values_are_refused():
    bad = X.copy()
    bad[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        GaussianMixture(2).fit(bad)
    bad[0, 0] = 1e200
    with pytest.raises(InputError, match="rescale"):
        GaussianMixture(2).fit(bad)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"weights_init": [0.5, 0.6]}, "sum to 1"),
        ({"weights_init": [1.0]}, r"weights_init has shape \(1,\)"),
        ({"means_init": [[0.0, 0.0]]}, r"means_init has shape \(1, 2\)"),
        ({"precisions_init": np.zeros((2, 2, 2))}, "positive definite"),
        ({"precisions_init": [1.0, 1.0]}, "precisions_init has shape"),
        ({"init_params": "kmean"}, "init_params"),
        ({"init_params": np.zeros((40, 3))}, "init_params has shape"),
        ({"init_params": -np.ones((40, 2))}, "not negative"),
        ({"init_params": np.arange(40)}, "40 labels"),
        ({"covariance_type": "round"}, "covariance_type"),
        ({"covariance_type": ["VVV", "round"]}, "covariance_type"),
        ({"n_components": 0}, "n_components"),
        ({"select": "best"}, "select"),
    ],
)
def test_bad_parameters(given, words):
    with pytest.raises(BottegaError, match=words):
        GaussianMixture(**{"n_components": 2, **given}).fit(X)


def test_a_component_that_shrinks_onto_a_row_is_held_and_said():
    rows = np.concatenate([X, [[30.0, 30.0]]])
    labels = np.append(np.zeros(40, int), 1)
    with pytest.warns(DataWarning, match="component 1 shrank"):
        model = GaussianMixture(2, init_params=labels).fit(rows)
    assert model.degenerate_.tolist() == [False, True]
    assert np.all(np.isfinite(model.score_samples(rows)))
    assert model.trace_.monotone
    spread = rows.var(axis=0)
    # The least variance is the given share of each column's.
    assert np.diag(model.covariances_[1]) == pytest.approx(1e-6 * spread, rel=1e-6)


def test_a_degenerate_model_is_not_picked_from_the_path():
    rows = np.concatenate([X, np.repeat([[6.0, 6.0]], 6, axis=0)])
    curve = GaussianMixture("auto", random_state=0).path(rows, values=[1, 2, 3])
    spoilt = np.isnan(curve.criteria["bic"])
    assert spoilt.any()
    assert not spoilt[curve.best("bic")]


def test_constant_columns_are_said():
    rows = np.column_stack([X, np.full(40, 3.0)])
    with pytest.warns(DataWarning, match=r"1 column \('x2'\) does not vary"):
        model = GaussianMixture(2, random_state=0, max_iter=500).fit(rows)
    assert not model.degenerate_.any()
    plain = GaussianMixture(2, random_state=0, max_iter=500).fit(X)
    assert np.array_equal(model.predict(rows), plain.predict(X))


def test_all_rows_alike():
    with pytest.warns(DataWarning, match="do not vary"):
        model = GaussianMixture(2, random_state=0).fit(np.full((5, 2), 7.0))
    assert model.means_ == pytest.approx(np.full((2, 2), 7.0))
    assert np.all(np.isfinite(model.score_samples(np.full((1, 2), 7.0))))


def test_duplicated_rows_and_two_rows():
    rows = np.repeat([[0.0, 0.0], [5.0, 1.0]], 10, axis=0)
    with pytest.warns(DataWarning, match="shrank"):
        model = GaussianMixture(3, covariance_type="diag", random_state=0).fit(rows)
    assert np.all(np.isfinite(model.means_))
    assert np.ptp(model.predict(rows[:10])) == 0
    with pytest.warns(DataWarning, match="shrank"):
        two = GaussianMixture(1).fit(rows[9:11])
    assert two.means_[0] == pytest.approx([2.5, 0.5])


def test_more_columns_than_rows():
    wide = np.random.default_rng(1).normal(size=(10, 30))
    model = GaussianMixture(1, covariance_type="diag").fit(wide)
    assert model.covariances_[0] == pytest.approx(wide.var(axis=0))
    with pytest.warns(DataWarning, match="shrank"):
        GaussianMixture(1).fit(wide)


def test_too_few_iterations_are_said():
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        model = GaussianMixture(3, max_iter=1, tol=0.0, random_state=0).fit(X)
    assert not model.converged_


def test_starts_row_by_row_do_not_fit_chunks():
    with pytest.raises(ParameterError, match="in chunks cannot start"):
        GaussianMixture(2, init_params=np.arange(40) % 2).fit_chunks([X[:20], X[20:]])


def test_samples_of_no_rows_are_refused():
    with pytest.raises(ParameterError, match="n_samples=0"):
        GaussianMixture(1).fit(X).sample(0)


def test_a_device_without_pytorch_is_said():
    try:
        import torch  # noqa: F401
    except ImportError:
        with pytest.raises(MissingExtra, match="torch"):
            GaussianMixture(2, device="cpu").fit(X)
    else:
        with pytest.raises(ParameterError, match="cannot be used here"):
            GaussianMixture(2, device="nowhere").fit(X)


def test_pytorch_gives_the_same_answer():
    pytest.importorskip("torch")
    for kind in ("full", "diag", "VEV"):
        options = {"covariance_type": kind, "random_state": 0, "max_iter": 300}
        here = GaussianMixture(2, **options).fit(X)
        there = GaussianMixture(2, device="cpu", **options).fit(X)
        assert there.means_ == pytest.approx(here.means_, rel=1e-8)
        assert there.bic_ == pytest.approx(here.bic_)
    holed = X.copy()
    holed[0, 0] = np.nan
    with pytest.raises(InputError, match="missing values"):
        GaussianMixture(2, device="cpu").fit(holed)
    with pytest.raises(InputError, match="a fit in chunks runs on this processor"):
        GaussianMixture(2, device="cpu").fit_chunks([X[:20], X[20:]])


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_pytorch_takes_rows_about_the_means_where_the_processor_does(kind):
    pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    # Components far smaller than the distance between them: squares must not be expanded.
    tight = np.r_[rng.normal(0, 1e-5, (40, 2)), rng.normal(1, 1e-5, (40, 2))]
    wide = np.r_[rng.normal(0, 1, (200, 60)), rng.normal(4, 1, (200, 60))]
    for table, reg_covar in ((tight, 1e-12), (wide, 1e-6)):
        options = {"covariance_type": kind, "random_state": 0, "reg_covar": reg_covar}
        here = GaussianMixture(2, **options).fit(table)
        there = GaussianMixture(2, device="cpu", **options).fit(table)
        assert there.means_ == pytest.approx(here.means_, rel=1e-8, abs=1e-12)
        assert there.covariances_ == pytest.approx(here.covariances_, rel=1e-6, abs=1e-14)
        assert there.log_likelihood_ == pytest.approx(here.log_likelihood_, rel=1e-9)


def test_weights_that_are_shares_pick_the_same_model():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, (60, 2)), rng.normal(7, 1, (40, 2))]
    raw = rng.uniform(0.5, 1.5, 100)
    w = raw * (100 / raw.sum())
    models = [
        GaussianMixture("auto", random_state=0).fit(X, sample_weight=w * factor)
        for factor in (1.0, 0.01, 1e-99, 1e99)
    ]
    assert [model.n_components_ for model in models] == [2] * 4
    for model in models[1:]:
        assert model.score_samples(X) == pytest.approx(models[0].score_samples(X), abs=1e-9)
        assert model.bic_ == pytest.approx(models[0].bic_)
    plain = GaussianMixture(2, random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for size in (0.01, 1e-100, 1e100):
            same = GaussianMixture(2, random_state=0).fit(X, sample_weight=np.full(100, size))
            assert same.score_samples(X) == pytest.approx(plain.score_samples(X), abs=1e-9)


def test_whole_weights_stay_repeated_rows():
    rng = np.random.default_rng(1)
    X = np.r_[rng.normal(0, 1, (40, 2)), rng.normal(7, 1, (30, 2))]
    times = rng.integers(1, 4, 70)
    weighted = GaussianMixture(2, random_state=0).fit(X, sample_weight=times)
    repeated = GaussianMixture(2, random_state=0).fit(np.repeat(X, times, axis=0))
    assert weighted.bic_ == pytest.approx(repeated.bic_)


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_rows_too_far_out_for_squares_have_no_density(kind):
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, (60, 2)), rng.normal(7, 2, (40, 2))]
    model = GaussianMixture(2, covariance_type=kind, random_state=0).fit(X)
    for far in (X[:3] * 1e200, X[:3] * 1e307, np.array([[np.nan, 1e250]])):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.all(np.isneginf(model.score_samples(far)))
            assert model.predict_proba(far).sum(axis=1) == pytest.approx(1)
            assert np.all(model.outlier_scores(far) > 1e6)
            # The wider component, as for rows that are merely far.
            assert model.predict(far).tolist() == model.predict(far / 1e195).tolist()
    mixed = np.r_[X[:2], X[:1] * 1e200]
    assert model.score_samples(mixed)[:2].tolist() == model.score_samples(X[:2]).tolist()


def test_collinear_columns_are_said_and_not_followed_by_many_components():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    X["copy"] = X["a"]
    with pytest.warns(DataWarning, match=r"of the columns 'a', 'copy' at least one .*VVI\)"):
        model = GaussianMixture("auto", covariance_type="auto", random_state=0).fit(X)
    assert model.n_components_ == 1
    assert not model.covariance_type_.endswith("I")
    # Nothing is left out where nothing else is allowed, nor where columns are merely alike.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GaussianMixture(1, covariance_type=["EEI", "VVI"], random_state=0).fit(X)
        X["copy"] += 1e-2 * rng.normal(size=200)
        near = GaussianMixture(1, covariance_type=["EEI", "EEE"], random_state=0).fit(X)
    assert near.covariance_type_ == "EEE"
    assert len(near.path_.settings) == 2


def test_weights_that_are_shares_count_the_same_in_chunks():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, (60, 2)), rng.normal(7, 1, (40, 2))]
    w = rng.uniform(0.5, 1.5, 100) / 100
    whole = GaussianMixture("auto", random_state=0).fit(X, sample_weight=w)
    for factor in (1.0, 1e-90):
        chunks = [(X[i::2], None, w[i::2] * factor) for i in range(2)]
        model = GaussianMixture("auto", random_state=0).fit_chunks(chunks)
        assert model.n_components_ == whole.n_components_ == 2
        assert model.bic_ == pytest.approx(whole.bic_)
    times = rng.integers(0, 2, 100).astype(float)  # rows of no weight are not counted
    chunks = [(X[i::2], None, times[i::2]) for i in range(2)]
    some = GaussianMixture(2, random_state=0).fit_chunks(chunks)
    assert some.bic_ == pytest.approx(GaussianMixture(2, random_state=0).fit(X[times > 0]).bic_)


def test_no_iteration_keeps_the_start_without_a_warning():
    model = GaussianMixture(2, means_init=[[0.0, 1.0], [2.0, 3.0]], max_iter=0, random_state=0)
    model.fit(X)
    assert model.means_ == pytest.approx(np.array([[0.0, 1.0], [2.0, 3.0]]))
    assert model.n_iter_ == 0
    assert not model.converged_
    assert model.score(X) * len(X) == pytest.approx(model.log_likelihood_)
