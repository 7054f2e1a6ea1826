"""What local regression must satisfy whatever the data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.smooth import KERNELS, LocalRegression, kernel_weight

NAMES = list(KERNELS)


def wave(n=60, seed=0, p=1):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 6, size=(n, p))
    return X, np.sin(X[:, 0]) + 0.3 * rng.normal(size=n)


@pytest.mark.parametrize("kernel", NAMES)
def test_closed_form_of_the_notes(kernel):
    """D98: f(x) = n^-1 sum {a2 - a1 (x_i - x)} w(x_i - x; h) y_i / (a2 a0 - a1^2)."""
    X, y = wave()
    x, h = X[:, 0], 1.5
    model = LocalRegression(h, kernel=kernel).fit(X, y)
    rows = []
    for point in x:
        w = kernel_weight(x - point, h, kernel)
        a0, a1, a2 = (np.mean((x - point) ** r * w) for r in range(3))
        rows.append((a2 - a1 * (x - point)) * w / (a2 * a0 - a1**2) / len(x))
    S = np.array(rows)
    assert model.matrix(X) == pytest.approx(S, abs=1e-12)
    assert model.smoother_.fitted == pytest.approx(S @ y, abs=1e-12)
    assert model.leverage_ == pytest.approx(np.diag(S), abs=1e-12)
    found = model.smoother_.df_definitions
    assert list(found.values()) == pytest.approx(
        [np.trace(S), np.sum(S**2), 2 * np.trace(S) - np.sum(S**2)], rel=1e-12
    )
    std = model.predict(X, return_std=True)[1]
    assert std == pytest.approx(model.sigma_ * np.sqrt(np.sum(S**2, axis=1)), rel=1e-12)


def by_least_squares(X, y, w, point, h, kernel, degree):
    """Fit by numpy's least squares: coefficients of 1, x - point and squares."""
    U = X - point
    weight = np.prod([kernel_weight(U[:, c], h[c], kernel) for c in range(X.shape[1])], axis=0) * w
    terms = [np.ones(len(X))]
    if degree:
        terms += list(U.T)
    if degree == 2:
        terms += [U[:, i] * U[:, j] for i in range(X.shape[1]) for j in range(i + 1)]
    root = np.sqrt(weight)
    return np.linalg.lstsq(np.column_stack(terms) * root[:, None], y * root, rcond=None)[0]


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("degree", [0, 1, 2])
@pytest.mark.parametrize("kernel", ["normal", "biquadratic"])
def test_value_and_slopes_are_those_of_weighted_least_squares(p, degree, kernel):
    X, y = wave(80, p=p)
    w = np.random.default_rng(1).uniform(0.2, 2, size=80)
    h = np.array([2.0, 3.0, 2.5])[:p] * (1 if kernel == "normal" else 2)
    model = LocalRegression(h, kernel=kernel, degree=degree).fit(X, y, sample_weight=w)
    points = X[:5] * 0.9 + 0.2
    coef = np.array([by_least_squares(X, y, w, each, h, kernel, degree) for each in points])
    # Two stable ways to solve the same small system.
    assert model.predict(points) == pytest.approx(coef[:, 0], rel=1e-9)
    if degree:
        slopes = model.predict(points, derivative=1)
        assert slopes == pytest.approx(coef[:, 1] if p == 1 else coef[:, 1 : p + 1], rel=1e-8)
    if degree == 2 and p == 1:
        assert model.predict(points, derivative=2) == pytest.approx(2 * coef[:, 2], rel=1e-7)


@pytest.mark.parametrize("method", ["exact", "binned"])
@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize("kind", ["fixed", "nearest"])
def test_matrix_gives_the_predictions_and_its_rows_sum_to_one(method, kernel, kind):
    X, y = wave(50)
    w = np.random.default_rng(1).integers(0, 3, size=50)
    bandwidth = 0.5 if kind == "nearest" else 2.0
    model = LocalRegression(bandwidth, kernel=kernel, kind=kind, method=method)
    model.fit(X, y, sample_weight=w)
    points = np.array([[-0.5], [0.3], [3.0], [7.0]])
    S = model.matrix(points)
    assert S.sum(axis=1) == pytest.approx(1.0, abs=1e-10)
    assert S @ y == pytest.approx(model.predict(points), abs=1e-10)
    assert np.all(S[:, w == 0] == 0)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("weighting", ["product", "spherical"])
def test_loo_shortcut_is_brute_force(p, weighting):
    X, y = wave(40, p=p)
    X = X.round(1)  # some ties
    w = np.random.default_rng(2).uniform(0.5, 2, size=40)
    model = LocalRegression([2.5] * p, kernel="tricube", weighting=weighting)
    shortcut = model.set_params(bandwidth=[3.5] * p).fit(X, y, sample_weight=w).loo_residuals_
    for i in range(40):
        others = np.arange(40) != i
        without = LocalRegression(**model.get_params()).fit(X[others], y[others], w[others])
        assert y[i] - without.predict(X[[i]])[0] == pytest.approx(shortcut[i], abs=1e-8)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(-20, 20), min_size=6, max_size=25, unique=True),
    st.sampled_from(NAMES),
    st.sampled_from([1, 2]),
    st.floats(0.5, 60),
    st.floats(-1e3, 1e3),
)
@pytest.mark.filterwarnings("ignore::bottega.core.errors.DataWarning")  # narrow windows
def test_a_line_is_reproduced_whatever_the_windows(places, kernel, degree, h, slope):
    x = np.array(places, dtype=float)
    y = 3.0 + slope * x
    model = LocalRegression(h, kernel=kernel, degree=degree).fit(x[:, None], y)
    grid = np.linspace(x.min(), x.max(), 17)
    # A window may be nearly degenerate: its two weights far apart.
    assert model.predict(grid[:, None]) == pytest.approx(3 + slope * grid, rel=1e-6, abs=1e-6)


def test_a_plane_is_reproduced():
    """D108."""
    X, _ = wave(60, p=2)
    y = 1 + 2 * X[:, 0] - X[:, 1]
    model = LocalRegression([3.0, 4.0], kernel="epanechnikov").fit(X, y)
    assert model.smoother_.fitted == pytest.approx(y, abs=1e-10)
    assert model.predict(X[:5], derivative=1) == pytest.approx(np.tile([2.0, -1.0], (5, 1)))


def test_degrees_of_freedom_fall_to_those_of_the_polynomial():
    X, y = wave(60)
    for kernel in NAMES:
        for degree in (0, 1, 2):
            found = [
                LocalRegression(h, kernel=kernel, degree=degree).fit(X, y).df_
                for h in (1.5, 4.0, 20.0, 1e5)
            ]
            assert np.all(np.diff(found) < 0)
            assert found[-1] == pytest.approx(degree + 1, abs=1e-6)


def test_ties_are_one_place_with_a_mean():
    X, y = wave(60)
    X = X.round()
    model = LocalRegression(1.0).fit(X, y)
    places, index = np.unique(X[:, 0], return_inverse=True)
    count = np.bincount(index)
    means = np.bincount(index, y) / count
    joined = LocalRegression(1.0).fit(places[:, None], means, sample_weight=count)
    assert model.predict(X) == pytest.approx(joined.predict(X), rel=1e-12)
    assert model.df_ == pytest.approx(joined.df_, rel=1e-12)


def test_scale_and_place_of_the_data_do_not_matter():
    X, y = wave(50)
    base = LocalRegression(0.7).fit(X, y).predict(X)
    moved = LocalRegression(0.7e-6).fit(X * 1e-6 + 1.0, y + 1e6).predict(X * 1e-6 + 1.0) - 1e6
    # x keeps ten digits of its differences, y ten of its own.
    assert moved == pytest.approx(base, abs=1e-8)


def test_one_bandwidth_for_all_is_in_units_of_the_scales():
    X, y = wave(70, p=2)
    stretched = X * [1.0, 1000.0]
    one = LocalRegression(0.8).fit(X, y).predict(X)
    assert LocalRegression(0.8).fit(stretched, y).predict(stretched) == pytest.approx(one, rel=1e-9)
    raw = LocalRegression(0.8, standardize=False).fit(X, y)
    assert raw.predict(X) == pytest.approx(
        LocalRegression([0.8, 0.8]).fit(X, y).predict(X), rel=1e-12
    )


def test_normal_product_and_spherical_are_the_same():
    X, y = wave(40, p=2)
    pair = [
        LocalRegression(0.9, weighting=each).fit(X, y).predict(X)
        for each in ("product", "spherical")
    ]
    assert pair[0] == pytest.approx(pair[1], rel=1e-9)
