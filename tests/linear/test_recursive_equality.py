"""Recursive least squares is batch least squares at every moment (D31-D35)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from bottega.linear import LeastSquares, RecursiveLeastSquares, Ridge

# Both sides are backward stable and the data have condition numbers up to about 1e3.
TIGHT = {"rtol": 1e-9, "atol": 1e-9}


def draw(seed=0, n=30, p=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=p)
    return X, 1 + X @ rng.normal(size=p) + rng.normal(size=n), rng.integers(1, 4, size=n) / 2


def design(X):
    return np.column_stack([np.ones(len(X)), X])


def textbook(X, y, beta, V, forgetting=1.0):
    """The recursion of the notes (D33), with forgetting; returns every step."""
    steps = []
    rss = 0.0
    for x, target in zip(X, y, strict=True):
        h = 1 / (forgetting + x @ V @ x)
        e = target - x @ beta
        beta = beta + h * V @ x * e
        V = (V - h * np.outer(V @ x, V @ x)) / forgetting
        rss = forgetting * rss + forgetting * h * e**2
        steps.append((beta, V, e, rss))
    return steps


@pytest.mark.parametrize("row_by_row", [True, False])
@pytest.mark.parametrize("intercept", [True, False])
def test_every_step_is_the_batch_fit(row_by_row, intercept):
    X, y, w = draw()
    model = RecursiveLeastSquares(fit_intercept=intercept)
    for i in range(len(y)):
        model.partial_fit(X[[i]], y[[i]], w[[i]], row_by_row=row_by_row)
        if i < 5:
            continue
        batch = LeastSquares(fit_intercept=intercept).fit(X[: i + 1], y[: i + 1], w[: i + 1])
        assert_allclose(model.coef_, batch.coef_, **TIGHT)
        assert_allclose(model.intercept_, batch.intercept_, **TIGHT)
        assert_allclose(model.sigma_, batch.sigma_, **TIGHT)
        assert model.df_ == batch.df_
        assert model.n_samples_seen_ == i + 1
        for kind in ("confidence", "prediction"):
            assert_allclose(model.interval(X, kind=kind), batch.interval(X, kind=kind), **TIGHT)
    assert_allclose(model.predict(X, return_std=True), batch.predict(X, return_std=True), **TIGHT)
    assert_allclose(model.tidy().iloc[:, 1:], batch.tidy().iloc[:, 1:], **TIGHT)
    assert model.tidy()["term"].tolist() == batch.tidy()["term"].tolist()
    first = int(intercept)
    assert_allclose(model.covariance()[first:, first:], batch.covariance(), **TIGHT)
    row = model.glance().iloc[0]
    assert_allclose(row["deviance"], batch.smoother_.rss, **TIGHT)
    assert row["nobs"] == 30


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    cuts=st.sets(st.integers(1, 29), max_size=4),
    by_row=st.booleans(),
    start=st.sampled_from(["exact", "ridge"]),
    forgetting=st.sampled_from([1.0, 0.9]),
)
def test_blocks_of_any_size_give_the_same(seed, cuts, by_row, start, forgetting):
    X, y, w = draw(seed)
    whole = RecursiveLeastSquares(start=start, forgetting=forgetting).fit(X, y, w)
    parts = np.split(np.arange(30), sorted(cuts))
    stream = RecursiveLeastSquares(start=start, forgetting=forgetting)
    for rows in parts:
        stream.partial_fit(X[rows], y[rows], w[rows], row_by_row=by_row)
    chunked = RecursiveLeastSquares(start=start, forgetting=forgetting)
    chunked.fit_chunks([(X[rows], y[rows], w[rows]) for rows in parts])
    for model in (stream, chunked):
        assert_allclose(model.coef_, whole.coef_, **TIGHT)
        assert_allclose(model.intercept_, whole.intercept_, **TIGHT)
        assert_allclose(model.sigma_, whole.sigma_, **TIGHT)
        assert_allclose(model.covariance(), whole.covariance(), **TIGHT)


@pytest.mark.parametrize("forgetting", [1.0, 0.95])
@pytest.mark.parametrize("start", ["exact", "ridge"])
def test_row_by_row_is_the_gain_form_of_the_notes(start, forgetting):
    X, y, _ = draw(1)
    A, split = design(X), 10
    model = RecursiveLeastSquares(start=start, forgetting=forgetting)
    if start == "exact":  # from the batch solution of the first rows
        model.fit(X[:split], y[:split])
        memory = forgetting ** np.arange(split - 1, -1, -1)
        V = np.linalg.inv(A[:split].T @ (memory[:, None] * A[:split]))
        beta = V @ A[:split].T @ (memory * y[:split])
    else:  # from nothing: (0, I)
        split, V, beta = 0, np.eye(4), np.zeros(4)
    steps = textbook(A[split:], y[split:], beta, V, forgetting)
    model.partial_fit(X[split:], y[split:], row_by_row=True)
    beta, V, _, _ = steps[-1]
    assert_allclose([model.intercept_, *model.coef_], beta, **TIGHT)
    assert_allclose(model.innovations_, [step[2] for step in steps], **TIGHT)
    assert_allclose(model.covariance(), model.sigma_**2 * V, **TIGHT)


def test_residual_sum_grows_by_h_times_the_squared_error():
    # D35, the sum of squares after each row from that before it.
    X, y, _ = draw(2)
    A = design(X)
    model = RecursiveLeastSquares().fit(X[:6], y[:6])
    rss = model.glance()["deviance"][0]
    for i in range(6, 30):
        h = 1 / (1 + A[i] @ np.linalg.solve(A[:i].T @ A[:i], A[i]))
        model.partial_fit(X[[i]], y[[i]], row_by_row=True)
        rss += h * model.innovations_[0] ** 2
        assert_allclose(model.glance()["deviance"][0], rss, rtol=1e-9)
        assert_allclose(model.sigma_**2, rss / (i + 1 - 4), rtol=1e-9)


def test_block_update_is_that_of_woodbury():
    X, y, _ = draw(3)
    A = design(X)
    V = np.linalg.inv(A[:12].T @ A[:12])
    beta = V @ A[:12].T @ y[:12]
    B, target = A[12:], y[12:]
    K = V @ B.T @ np.linalg.inv(np.eye(18) + B @ V @ B.T)
    model = RecursiveLeastSquares().fit(X[:12], y[:12]).partial_fit(X[12:], y[12:])
    assert_allclose([model.intercept_, *model.coef_], beta + K @ (target - B @ beta), **TIGHT)
    assert_allclose(model.covariance(), model.sigma_**2 * (V - K @ B @ V), **TIGHT)


def test_start_at_zero_and_identity_is_ridge_with_the_intercept_penalised():
    X, y, w = draw(4)
    A = design(X)
    model = RecursiveLeastSquares(start="ridge").fit(X, y)
    # D34: (X'X + I)^-1 X'y.
    beta = np.linalg.solve(A.T @ A + np.eye(4), A.T @ y)
    assert_allclose([model.intercept_, *model.coef_], beta, **TIGHT)
    ridge = Ridge(1.0, standardize=False, fit_intercept=False).fit(A, y, w)
    model.fit(X, y, w)
    assert_allclose([model.intercept_, *model.coef_], ridge.coef_, **TIGHT)
    assert_allclose(model.df_, ridge.df_, **TIGHT)
    assert_allclose(model.sigma_, ridge.sigma_, **TIGHT)
    assert_allclose(model.covariance(), ridge.covariance("posterior"), **TIGHT)
    assert model.tidy()[["statistic", "p_value"]].isna().all(axis=None)
    single = RecursiveLeastSquares(start="ridge").fit([[2.0]], [6.0])
    assert_allclose([single.intercept_, *single.coef_], [1.0, 2.0])


def test_cheap_start_is_forgotten_with_many_rows():
    # E25: the distance to least squares falls like 1 / n.
    rng = np.random.default_rng(5)
    X = rng.normal(size=(4000, 2))
    y = 3 + X @ [1.0, -2.0] + rng.normal(size=4000)
    distance = []
    for n in (40, 400, 4000):
        ridge = RecursiveLeastSquares(start="ridge").fit(X[:n], y[:n])
        exact = RecursiveLeastSquares().fit(X[:n], y[:n])
        distance.append(np.abs(ridge.coef_ - exact.coef_).max())
    assert distance[0] > 5 * distance[1] > 25 * distance[2] > 0


def test_forgetting_is_least_squares_with_geometric_weights():
    X, y, w = draw(6)
    memory = 0.9 ** np.arange(29, -1, -1)
    model = RecursiveLeastSquares(forgetting=0.9).fit(X, y, w)
    batch = LeastSquares().fit(X, y, memory * w)
    assert_allclose(model.coef_, batch.coef_, **TIGHT)
    left = memory.sum() - 4
    assert_allclose(model.sigma_, np.sqrt(batch.smoother_.rss / left), **TIGHT)
    assert model.n_samples_seen_ == 30
    # The start (0, I) is forgotten at the same pace.
    A = design(X)
    ridge = RecursiveLeastSquares(start="ridge", forgetting=0.9).fit(X, y)
    gram = A.T @ (memory[:, None] * A) + 0.9**30 * np.eye(4)
    expected = np.linalg.solve(gram, A.T @ (memory * y))
    assert_allclose([ridge.intercept_, *ridge.coef_], expected, **TIGHT)


def test_forgetting_follows_a_relation_that_changes():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(2000, 1))
    slope = np.where(np.arange(2000) < 1000, 1.0, -1.0)
    y = slope * X[:, 0] + 0.1 * rng.normal(size=2000)
    # About a hundred rows are remembered: a standard error of 0.1 / sqrt(100) = 0.01; five of them.
    assert abs(RecursiveLeastSquares(forgetting=0.99).fit(X, y).coef_[0] + 1) < 0.05
    assert abs(RecursiveLeastSquares().fit(X, y).coef_[0]) < 0.1


def test_innovations_predict_each_row_from_those_before():
    X, y, w = draw(8)
    model = RecursiveLeastSquares().partial_fit(X, y, w, row_by_row=True)
    assert np.isnan(model.innovations_[:4]).all()  # four rows for four coefficients
    for i in (4, 5, 17, 29):
        before = LeastSquares().fit(X[:i], y[:i], w[:i]) if i > 4 else None
        if before is not None:
            expected = y[i] - before.predict(X[[i]])[0]
            assert_allclose(model.innovations_[i], expected, **TIGHT)
    assert np.isfinite(model.innovations_[4:]).all()
    weight = np.ones(30)
    weight[20] = 0
    model.fit(X[:10], y[:10]).partial_fit(X[10:], y[10:], weight[10:], row_by_row=True)
    assert_array_equal(np.flatnonzero(np.isnan(model.innovations_)), [10])
    assert model.n_samples_seen_ == 29
    model.partial_fit(X[:1], y[:1])
    assert not hasattr(model, "innovations_")


def test_innovations_have_their_variance():
    # e sqrt(h) / sigma are independent standard normal: a chi-square of 1,996 within six standard
    # deviations raises a false alarm with probability below 1e-8.
    rng = np.random.default_rng(9)
    X = rng.normal(size=(2000, 3))
    y = X @ [1.0, 2.0, 3.0] + 0.5 * rng.normal(size=2000)
    model = RecursiveLeastSquares().partial_fit(X, y, row_by_row=True)
    A = design(X)
    scaled = [
        model.innovations_[i] / np.sqrt(1 + A[i] @ np.linalg.solve(A[:i].T @ A[:i], A[i])) / 0.5
        for i in range(4, 2000)
    ]
    assert abs(np.sum(np.square(scaled)) - 1996) < 6 * np.sqrt(2 * 1996)
    assert_allclose(np.sum(np.square(scaled)) * 0.25, model.glance()["deviance"][0], rtol=1e-8)


def test_prediction_intervals_cover_mid_stream():
    # The next row lies inside its 90 % interval 90 times of 100: of 1,000 rows 900 +- 9.5, and six
    # standard deviations raise a false alarm with probability below 1e-8.
    rng = np.random.default_rng(10)
    X = rng.normal(size=(1010, 2))
    y = X @ [1.0, -1.0] + rng.normal(size=1010)
    model = RecursiveLeastSquares().fit(X[:10], y[:10])
    inside = 0
    for i in range(10, 1010):
        low, high = model.interval(X[[i]], level=0.9, kind="prediction")
        inside += int(low[0] < y[i] < high[0])
        model.partial_fit(X[[i]], y[[i]])
    assert abs(inside - 900) < 6 * np.sqrt(1000 * 0.9 * 0.1)
    assert stats.norm.sf(6) < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("row_by_row", [True, False])
def test_ten_million_rows_keep_six_digits(row_by_row):
    # Badly scaled, shifted inputs; the batch fit streams the same rows through centred moments.
    class Stream:
        def __iter__(self):
            for seed in range(100):
                rng = np.random.default_rng(seed)
                X = rng.normal(size=(100_000, 4)) * [1, 10, 0.1, 1] + [100, 0, 5, -3]
                X[:, 3] += 0.99 * X[:, 0]
                yield X, X @ [1.0, 0.2, 3.0, -1.0] + 10 + rng.normal(size=100_000)

    model = RecursiveLeastSquares()
    for X, y in Stream():
        model.partial_fit(X, y, row_by_row=row_by_row)
    batch = LeastSquares().fit_chunks(Stream())
    assert model.n_samples_seen_ == 10_000_000
    assert_allclose(model.coef_, batch.coef_, rtol=1e-6)
    assert_allclose(model.intercept_, batch.intercept_, rtol=1e-6)
    assert_allclose(model.sigma_, batch.sigma_, rtol=1e-6)
    assert_allclose(model.tidy()["std_error"], batch.tidy()["std_error"], rtol=1e-6)


@pytest.mark.parametrize("row_by_row", [True, False])
@pytest.mark.parametrize("offset", [1e4, 1e7])
def test_a_large_level_of_inputs_and_response_does_no_harm(row_by_row, offset):
    X, y, w = draw(9)
    X, y = X + offset, y + offset
    model = RecursiveLeastSquares()
    for rows in np.split(np.arange(30), [1, 2, 9, 20]):
        model.partial_fit(X[rows], y[rows], w[rows], row_by_row=row_by_row)
    chunked = RecursiveLeastSquares().fit_chunks(
        [(X[:11], y[:11], w[:11]), (X[11:], y[11:], w[11:])]
    )
    merged = RecursiveLeastSquares().fit(X[:8], y[:8], w[:8])
    merged.merge(RecursiveLeastSquares().fit(X[8:], y[8:], w[8:]))
    batch = LeastSquares().fit(X, y, w)
    # Adding the level rounds the numbers to 1e-9 of their spread at 1e7.
    close = {"rtol": 1e-7, "atol": 1e-7}
    for each in (model, chunked, merged):
        assert not each.aliased_.any()
        assert_allclose(each.coef_, batch.coef_, **close)
        assert_allclose(each.sigma_, batch.sigma_, **close)
        assert_allclose(each.predict(X) - offset, batch.predict(X) - offset, **close)
        assert_allclose(
            each.predict(X, return_std=True)[1], batch.predict(X, return_std=True)[1], **close
        )
    # A column whose spread is the rounding of its level does not vary.
    jitter = np.where(np.arange(30) % 2, 7.3, np.nextafter(7.3, 8))
    aliased = RecursiveLeastSquares().fit(np.column_stack([X - offset, jitter]), y).aliased_
    assert_array_equal(aliased, [False, False, False, True])


def test_rows_of_weight_zero_are_not_remembered_and_have_no_innovation():
    X, y, w = draw(10)
    w[[0, 3, 29]] = 0
    for forgetting in (1.0, 0.9):
        model = RecursiveLeastSquares(forgetting=forgetting)
        model.partial_fit(X[:12], y[:12], w[:12]).partial_fit(
            X[12:], y[12:], w[12:], row_by_row=True
        )
        kept = w > 0
        rest = RecursiveLeastSquares(forgetting=forgetting).fit(X[kept], y[kept], w[kept])
        assert_allclose(model.coef_, rest.coef_, **TIGHT)
        assert_allclose(model.sigma_, rest.sigma_, **TIGHT)
        assert_array_equal(np.isnan(model.innovations_), w[12:] == 0)
