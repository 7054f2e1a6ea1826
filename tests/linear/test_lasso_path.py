"""The path of the lasso family: warm and cold, folds, chunks, sparse inputs."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from bottega.core.errors import InputError
from bottega.core.folds import make_folds
from bottega.linear import AdaptiveLasso, ElasticNet, Lasso
from bottega.linear._penalized.work import uses_gram

SHAPES = [(60, 8), (30, 50)]  # one by the Gram matrix, one by the rows


def draw(seed, n, p):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 3, p) + rng.normal(size=p)
    return X, X[:, :3] @ [1.0, -1.0, 0.5] + rng.normal(size=n)


def models(alphas=100):
    found = [Lasso(), ElasticNet(l1_ratio=0.4), Lasso(relax=True), Lasso(fit_intercept=False)]
    return [model.set_params(alphas=alphas) for model in found]


def test_shapes_cover_both_ways():
    assert [uses_gram(*shape) for shape in SHAPES] == [True, False]


@pytest.mark.parametrize("shape", SHAPES)
def test_warm_path_equals_cold_fits(shape):
    X, y = draw(0, *shape)
    for model in models():
        curve = model.path(X, y)
        for k in (0, 20, 60, 99):
            cold = clone(model).set_params(**curve.settings[k]).fit(X, y)
            assert cold.converged_
            assert np.array_equal(curve.at(k).coef_, cold.coef_)
            # Both are exact up to rounding times the condition of the picked columns.
            assert curve.coef[k] == pytest.approx(cold.coef_, abs=1e-8)
            assert curve.train_error[k] == pytest.approx(
                np.mean((y - cold.predict(X)) ** 2), rel=1e-7, abs=1e-12
            )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("weighted", [False, True])
def test_folds_on_the_way_equal_folds_by_hand(shape, weighted):
    X, y = draw(1, *shape)
    w = np.random.default_rng(0).uniform(0.5, 2, shape[0]) if weighted else None
    for model in (*models(alphas=30), AdaptiveLasso(alphas=30)):
        curve = model.path(X, y, sample_weight=w)
        folds = make_folds(10, len(y), X=X, y=y)
        by_hand = model.path(X, y, sample_weight=w, values=curve.values, cv=folds)
        assert curve.error == pytest.approx(by_hand.error, rel=1e-7)
        assert curve.error_se == pytest.approx(by_hand.error_se, rel=1e-6)
        same = type(model)(**{**model.get_params(), "cv": folds}).path(X, y, sample_weight=w)
        assert same.error == pytest.approx(curve.error, rel=1e-7)


def test_without_folds_the_path_is_judged_by_generalised_cross_validation():
    X, y = draw(2, 57, 4)
    curve = Lasso(cv=None).path(X, y)
    assert curve.estimate == "gcv"
    df = np.count_nonzero(curve.coef, axis=1) + 1
    rss = np.array([np.sum((y - Lasso(a).fit(X, y).predict(X)) ** 2) for a in curve.values[::20]])
    gcv = 57 * rss / (57 - np.maximum.accumulate(df)[::20]) ** 2
    assert curve.error[::20] == pytest.approx(gcv, rel=1e-6)
    model = Lasso(cv=None).fit(X, y)
    chunks = Lasso(cv=None).fit_chunks([(X[:20], y[:20]), (X[20:], y[20:])])
    assert chunks.alpha_ == pytest.approx(model.alpha_)
    assert chunks.coef_ == pytest.approx(model.coef_, rel=1e-8, abs=1e-10)


def test_discrete_data_are_judged_as_by_leaving_out_rows():
    """Copies of a row may be in other folds: kept together they would be judged from afar.

    One 0/1 input, 0/1 response: the error of the full fit is near its residual variance, 0.16, and
    far below that of the mean, 0.25.
    """
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, size=(400, 1)).astype(float)
    y = (rng.uniform(size=400) < 0.2 + 0.6 * x[:, 0]).astype(float)
    curve = Lasso().path(x, y)
    assert 0.14 < curve.error[-1] < 0.19
    assert 0.23 < curve.error[0] < 0.27


@pytest.mark.parametrize("shape", SHAPES)
def test_sparse_inputs_give_the_dense_answer(shape):
    X, y = draw(3, *shape)
    X[np.abs(X) < 1] = 0
    w = np.random.default_rng(0).uniform(0.5, 2, shape[0])
    for model in models(alphas=30):
        dense = model.path(X, y, sample_weight=w)
        for form in (sparse.csr_array, sparse.csc_matrix):
            thin = model.path(form(X), y, sample_weight=w)
            assert thin.values == pytest.approx(dense.values, rel=1e-10)
            assert thin.coef == pytest.approx(dense.coef, abs=1e-8)
            assert thin.error == pytest.approx(dense.error, rel=1e-7)
    fitted = Lasso().fit(sparse.csr_array(X), y)
    assert fitted.predict(sparse.csr_array(X)) == pytest.approx(fitted.predict(X))


def test_chunks_give_the_answer_of_all_rows():
    X, y = draw(4, 90, 6)
    w = np.random.default_rng(0).uniform(0.5, 2, 90)
    w[:5] = 0
    for model in (*models(), AdaptiveLasso(), Lasso(0.1), Lasso(select="bic")):
        whole = model.fit(X, y, sample_weight=w)
        expected = whole.alpha_, whole.coef_, whole.intercept_, getattr(whole, "path_", None)
        for cuts in ([], [30, 31, 70]):
            rows = np.split(np.arange(90), cuts)
            parts = model.fit_chunks([(X[at], y[at], w[at]) for at in rows])
            assert parts.alpha_ == pytest.approx(expected[0], rel=1e-10)
            assert parts.coef_ == pytest.approx(expected[1], abs=1e-9)
            assert parts.intercept_ == pytest.approx(expected[2], abs=1e-9)
            if expected[3] is not None:
                assert parts.path_.error == pytest.approx(expected[3].error, rel=1e-9)
                assert parts.path_.error_se == pytest.approx(expected[3].error_se, rel=1e-7)
                for name, column in expected[3].criteria.items():
                    assert parts.path_.criteria[name] == pytest.approx(column, rel=1e-8)


def test_chunks_that_cannot_be_used():
    X, y = draw(5, 20, 3)
    with pytest.raises(InputError, match="no chunks"):
        Lasso().fit_chunks([])
    with pytest.raises(InputError, match="at least 2"):
        Lasso().fit_chunks([(X[:1], y[:1])])
    with pytest.raises(InputError, match="one axis"):
        Lasso().fit_chunks([(X, np.column_stack([y, y]))])
    with pytest.raises(InputError, match="folds of its own"):
        Lasso(cv=[(np.arange(10), np.arange(10, 20))]).fit_chunks([(X, y)])


def test_df_never_decreases_and_counts_the_coefficients():
    X, y = draw(6, 40, 30)
    curve = Lasso().path(X, y)
    size = np.count_nonzero(curve.coef, axis=1) + 1
    assert np.array_equal(curve.df, np.maximum.accumulate(size))
    assert curve.df[0] == 1
    assert curve.train_error[0] == pytest.approx(np.var(y))


def test_numbers_far_from_zero_do_not_harm():
    X, y = draw(7, 60, 5)
    for shift, scale in ((1e6, 1.0), (0.0, 1e6)):
        moved = Lasso(0.1 * np.std(y)).fit(X * scale + shift, y)
        plain = Lasso(0.1 * np.std(y)).fit(X, y)
        # A shift of 1e6 leaves ten digits of the inputs.
        assert moved.coef_ * scale == pytest.approx(plain.coef_, rel=1e-7, abs=1e-9)


def test_many_folds_in_groups_are_the_same(monkeypatch):
    X, y = draw(8, 30, 50)
    together = Lasso().path(X, y)
    monkeypatch.setattr("bottega.linear._penalized.work._TOGETHER", 1)
    assert Lasso().path(X, y).error == pytest.approx(together.error, rel=1e-9)
