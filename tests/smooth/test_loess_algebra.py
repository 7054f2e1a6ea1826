"""Loess as a linear smoother: leave-one-out, the rows of its matrix, and statistics from them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.core.smoother import f_test
from bottega.smooth import Loess
from bottega.smooth._kernels import nearest as windows
from bottega.smooth._local import blocks
from bottega.smooth._loess import blended, fits


def sample(n=70, p=1, seed=0, ties=False):
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(n, p))
    if ties:
        X = X.round(1)
    y = np.sin(2 * X[:, 0]) + X[:, -1] ** 2 / 4 + 0.3 * rng.normal(size=n)
    return X, y, rng.uniform(0.5, 2, size=n)


def terms(U, degree):
    """Return 1, u, and the products of u's: written apart from the kernels."""
    columns = [np.ones(len(U))]
    if degree >= 1:
        columns += list(U.T)
    if degree == 2:
        p = U.shape[1]
        columns += [U[:, i] * U[:, j] for i in range(p) for j in range(i, p)]
    return np.column_stack(columns)


def local_fit(X, y, weight, point, radius, degree):
    """Return the value at a point of the weighted polynomial, by numpy's least squares."""
    distance = np.linalg.norm(X - point, axis=1) / radius
    root = np.sqrt(weight * np.clip(1 - distance**3, 0, None) ** 3)
    B = terms((X - point) / radius, degree)
    return np.linalg.lstsq(root[:, None] * B, root * y, rcond=None)[0][0]


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("degree", [0, 1, 2])
@pytest.mark.parametrize("p", [1, 2])
def test_leave_one_out_is_a_refit_without_the_row_in_the_same_window(p, degree, ties):
    X, y, w = sample(p=p, ties=ties)
    model = Loess(0.5, degree=degree, standardize=False, span_of="rows").fit(X, y, sample_weight=w)
    distance = np.linalg.norm(X[:, None] - X[None], axis=2)
    radius = np.sort(distance, axis=1)[:, 34]
    without = [
        local_fit(np.delete(X, i, 0), np.delete(y, i), np.delete(w, i), X[i], radius[i], degree)
        for i in range(len(y))
    ]
    assert model.loo_residuals_ == pytest.approx(y - without, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("surface", ["direct", "interpolate"])
@pytest.mark.parametrize(("p", "degree"), [(1, 0), (1, 1), (1, 2), (2, 0), (2, 2), (3, 1)])
def test_everything_follows_from_the_rows_of_the_matrix(p, degree, surface):
    X, y, w = sample(p=p)
    model = Loess(0.6, degree=degree, surface=surface, statistics="exact", span_of="rows")
    model.fit(X, y, sample_weight=w)
    S = model.matrix(X)
    # All are the same sums in another order.
    close = {"rel": 1e-9, "abs": 1e-10}
    assert S.sum(axis=1) == pytest.approx(np.ones(len(y)), **close)
    assert S @ y == pytest.approx(model.smoother_.fitted, **close)
    assert model.predict(X) == pytest.approx(model.smoother_.fitted, **close)
    assert np.diag(S) == pytest.approx(model.leverage_, **close)
    assert model.df_ == pytest.approx(np.trace(S), **close)
    rest = np.eye(len(y)) - S
    D = rest @ rest.T
    expected = {
        "trace": np.trace(S),
        "enp": np.sum(S**2),
        "one_delta": np.trace(D),
        "two_delta": np.sum(D**2),
    }
    assert model.statistics_ == pytest.approx(expected, **close)
    assert model.smoother_.df_definitions["tr SS'"] == pytest.approx(np.sum(S**2), **close)
    s = np.sqrt(np.sum(w * (y - S @ y) ** 2) / np.trace(D))
    assert model.sigma_ == pytest.approx(s, **close)
    new = sample(n=20, p=p, seed=5)[0]  # some of them outside the rows
    mean, std = model.predict(new, return_std=True)
    S_new = model.matrix(new)
    assert mean == pytest.approx(S_new @ y, rel=1e-7, abs=1e-7)  # far outside: a digit or two less
    assert std == pytest.approx(s * np.sqrt(np.sum(S_new**2 / w, axis=1)), rel=1e-7)


@pytest.mark.parametrize("surface", ["direct", "interpolate"])
def test_work_in_blocks_and_threads_changes_nothing(surface, monkeypatch):
    X, y, _ = sample(n=150, p=2)
    settings = {"span": 0.4, "surface": surface, "statistics": "exact"}
    whole = Loess(**settings).fit(X, y)
    monkeypatch.setattr(fits, "_BLOCK", 7)
    monkeypatch.setattr(blocks, "_THREADS_FROM", 0)
    monkeypatch.setattr(blended, "_ENTRIES", 60)
    parts = Loess(**settings).fit(X, y)
    assert np.array_equal(parts.predict(X), whole.predict(X))
    # The sums are taken in another order.
    assert parts.statistics_ == pytest.approx(whole.statistics_, rel=1e-11)
    assert parts.leverage_ == pytest.approx(whole.leverage_, rel=1e-9)


@pytest.mark.parametrize("degree", [0, 1, 2])
@pytest.mark.parametrize("p", [1, 2, 3])
def test_polynomials_of_its_degree_come_back_exactly(p, degree):
    X = sample(n=80, p=p)[0]
    rng = np.random.default_rng(1)
    B = terms(X, degree)
    y = B @ rng.normal(size=B.shape[1])
    assert Loess(0.7, degree=degree, surface="direct").fit(X, y).predict(X) == pytest.approx(
        y, rel=1e-9, abs=1e-9
    )
    if p == 1 or degree < 2:  # cubics along the edges hold a quadratic; blends of them do not
        blended = Loess(0.7, degree=degree, surface="interpolate").fit(X, y)
        assert blended.predict(X) == pytest.approx(y, rel=1e-9, abs=1e-9)


def test_derivatives_of_a_quadratic_are_exact():
    x = np.linspace(-1, 2, 40)
    model = Loess(0.5).fit(x[:, None], 3 + 2 * x - 1.5 * x**2)
    at = np.array([[-0.7], [0.3], [1.9]])
    assert model.predict(at, derivative=1) == pytest.approx(2 - 3 * at[:, 0], abs=1e-10)
    assert model.predict(at, derivative=2) == pytest.approx(np.full(3, -3.0), abs=1e-9)
    X = np.random.default_rng(0).normal(size=(80, 2)) * [1, 10]
    plane = Loess(0.6, degree=2).fit(X, X[:, 0] ** 2 - 0.1 * X[:, 1])
    slopes = plane.predict(X[:5], derivative=1)
    assert slopes == pytest.approx(
        np.column_stack([2 * X[:5, 0], np.full(5, -0.1)]), rel=1e-8, abs=1e-8
    )


def test_intervals_use_the_degrees_of_freedom_of_two_delta_where_it_is_known():
    X, y, _ = sample()
    exact, plain = (Loess(0.5, statistics=kind).fit(X, y) for kind in ("exact", "plain"))
    one, two = exact.statistics_["one_delta"], exact.statistics_["two_delta"]
    assert exact.smoother_.df_residual == pytest.approx(one**2 / two, rel=1e-12)
    assert np.isnan(plain.statistics_["two_delta"])
    assert plain.smoother_.df_residual == pytest.approx(len(y) - plain.df_, rel=1e-12)
    widths = [np.subtract(*model.interval(X[:3])[::-1]) for model in (exact, plain)]
    assert widths[0] == pytest.approx(widths[1], rel=0.01)  # t quantiles hardly differ
    assert exact.glance()["sigma"][0] == exact.sigma_


def test_f_test_between_nested_spans():
    X, y, _ = sample(n=150)
    small, big = Loess(2.0, degree=1).fit(X, y), Loess(0.5, degree=1).fit(X, y)
    found = f_test(small, big)
    rss = [np.sum((y - model.predict(X)) ** 2) for model in (small, big)]
    gained, left = big.df_ - small.df_, big.smoother_.df_residual
    assert found.statistic == pytest.approx((rss[0] - rss[1]) / gained / (rss[1] / left), rel=1e-9)
    assert found.p_value < 1e-3  # the truth is far from a line


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 4)), min_size=2, max_size=40),
    st.floats(0.05, 1.0),
    st.integers(1, 2),
)
def test_radii_reach_the_mass_asked_for(pairs, share, p):
    x, mass = (np.array(column, dtype=float) for column in zip(*sorted(pairs), strict=True))
    mass[0] += 1
    X = np.column_stack([x, (x * 7) % 5])[:, :p].copy()
    target = max(np.floor(share * mass.sum()), 1.0)
    w = np.ones(len(x))
    if p == 1:
        sums = np.concatenate([[0.0], np.cumsum(mass)])
        found, widened = windows.radii_line(x, w, sums, target, 1.0, x, 0)
    else:
        found, widened = windows.radii_space(X, w, mass, target, 1.0, X, 0)
    for point, radius in zip(X, found, strict=True):
        distance = np.linalg.norm(X - point, axis=1)
        order = np.argsort(distance, kind="stable")
        enough = np.flatnonzero(np.cumsum(mass[order]) >= target)[0]
        assert radius == pytest.approx(distance[order[enough]], abs=1e-12)
    assert not widened.any()


@settings(max_examples=15, deadline=None)
@given(st.floats(-50, 50), st.floats(0.1, 20), st.floats(-50, 50), st.floats(0.1, 20))
def test_units_do_not_matter(shift_x, scale_x, shift_y, scale_y):
    X, y, _ = sample(n=40, p=2, seed=3)
    plain = Loess(0.7).fit(X, y).predict(X)
    moved = Loess(0.7).fit(shift_x + scale_x * X, shift_y + scale_y * y)
    # Shifts of up to 500 spreads cost digits of the distances.
    assert moved.predict(shift_x + scale_x * X) == pytest.approx(
        shift_y + scale_y * plain, rel=1e-7, abs=1e-7
    )
