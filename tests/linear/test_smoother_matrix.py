"""The matrix S of the linear smoothers: S y is the prediction, its diagonal the leverages."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bottega.core.errors import InputError
from bottega.linear import LeastSquares, PrincipalComponentsRegression, Ridge

MODELS = [
    LeastSquares(),
    LeastSquares(fit_intercept=False, method="cholesky"),
    Ridge(3.0),
    Ridge(0.5, standardize=False, fit_intercept=False),
    PrincipalComponentsRegression(2),
]


def draw(seed=0, n=30, p=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=p)
    return X, rng.normal(size=n), rng.integers(0, 3, n).astype(float)


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_matrix_times_response_is_the_prediction(model, weighted):
    X, y, w = draw()
    w = w if weighted else None
    model.fit(X, y, sample_weight=w)
    new = draw(1)[0][:7]
    S = model.matrix(new)
    assert S.shape == (7, 30)
    assert_allclose(S @ y, model.predict(new), rtol=1e-9, atol=1e-12)
    own = model.matrix(X)
    counts = np.ones(30, dtype=bool) if w is None else w > 0
    assert_allclose(np.diag(own)[counts], model.leverage_[counts], rtol=1e-9, atol=1e-12)
    assert not own[:, ~counts].any()
    # S does not depend on y.
    assert_allclose(model.fit(X, y[::-1], sample_weight=w).matrix(new), S, rtol=1e-8, atol=1e-10)


def test_sums_of_squares_of_the_matrix():
    X, y, _ = draw(2)
    model = Ridge(2.0).fit(X, y)
    S = model.matrix(X)
    assert model.smoother_.df_definitions["tr SS'"] == pytest.approx(np.sum(S**2))
    _, std = model.predict(X, return_std=True)
    assert_allclose(std, model.sigma_ * np.sqrt(np.sum(S**2, axis=1)), rtol=1e-9)


def test_more_columns_than_rows():
    X, y, _ = draw(3, n=12, p=20)
    for model in (Ridge(1.0), PrincipalComponentsRegression(5)):
        assert_allclose(model.fit(X, y).matrix(X) @ y, model.predict(X), rtol=1e-9)


def test_what_is_not_kept_is_refused():
    X, y, _ = draw(4)
    chunked = Ridge(1.0).fit_chunks([(X[:10], y[:10]), (X[10:], y[10:])])
    with pytest.raises(InputError, match="keeps no numbers per row"):
        chunked.matrix(X)
    assert not hasattr(chunked, "leverage_")
    model = Ridge(1.0).fit(X, y)
    content = pickle.dumps(model)
    assert len(content) < len(pickle.dumps(X)) + 8000  # no copy of the inputs in a file
    loaded = pickle.loads(content)
    assert_allclose(loaded.predict(X, return_std=True), model.predict(X, return_std=True))
    with pytest.raises(InputError, match="no training rows"):
        loaded.matrix(X)
