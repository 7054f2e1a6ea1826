"""Local regression on data that are hard or wrong, and the convex hull."""

import numpy as np
import pytest

from bottega.core.errors import DataWarning, InputError, ParameterError
from bottega.smooth import LocalRegression, binned_curve, inside_hull, kernel_weight


def wave(n=50, seed=0):
    x = np.random.default_rng(seed).uniform(0, 6, size=n)
    return x[:, None], np.sin(x)


GAPPY = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 50.0, 100.0, 100.1, 100.2, 100.3])


@pytest.mark.parametrize("kernel", ["normal", "tricube"])
@pytest.mark.parametrize("degree", [1, 2])
def test_windows_with_too_few_places_are_widened_and_said_once(kernel, degree):
    y = np.arange(10.0)
    model = LocalRegression(0.01, kernel=kernel, degree=degree)
    with pytest.warns(DataWarning, match=f"fewer than {degree + 1} distinct rows") as raised:
        model.fit(GAPPY[:, None], y)
    assert len(raised) == 1
    assert np.all(np.isfinite(model.predict(np.linspace(-5, 110, 50)[:, None])))
    # Just enough rows in each window: the polynomial goes through those nearest.
    assert model.predict(GAPPY[:, None]) == pytest.approx(y)
    nearest = np.argsort(np.abs(GAPPY - 40))[: degree + 1]
    through = np.polyval(np.polyfit(GAPPY[nearest], y[nearest], degree), 40.0)
    assert model.predict([[40.0]])[0] == pytest.approx(through)


@pytest.mark.parametrize("kernel", ["normal", "tricube"])
def test_empty_windows_of_new_points_take_the_nearest_row(kernel):
    model = LocalRegression(0.01, kernel=kernel, degree=0).fit(GAPPY[:, None], np.arange(10.0))
    assert model.predict([[26.0], [-9.0], [80.0]]) == pytest.approx([5.0, 0.0, 6.0])


def test_fewer_places_than_coefficients_lower_the_degree():
    X, y = np.array([[1.0], [1.0], [2.0], [2.0]]), np.array([1.0, 3.0, 5.0, 7.0])
    with pytest.warns(DataWarning, match="too few places for the 2 coefficients of degree 1"):
        model = LocalRegression(1e3).fit(X, y)
    assert model.degree_ == 0
    assert model.predict(X) == pytest.approx(4.0, abs=1e-5)
    with pytest.warns(DataWarning, match="degree 0 is used"):
        LocalRegression(method="binned").fit(X, y)


@pytest.mark.filterwarnings("ignore:The rows lie at too few places")
@pytest.mark.parametrize("bandwidth", [0.5, "auto"])
def test_all_inputs_equal_give_the_mean(bandwidth):
    y = np.array([1.0, 2.0, 6.0])
    model = LocalRegression(bandwidth).fit(np.ones((3, 1)), y)
    assert model.predict([[1.0], [5.0]]) == pytest.approx(3.0)
    assert model.df_ == pytest.approx(1.0)


def test_unsorted_and_duplicated_rows():
    X, y = wave()
    X2, y2 = np.vstack([X, X])[::-1], np.append(y, y)[::-1]
    doubled, single = LocalRegression(0.8).fit(X2, y2), LocalRegression(0.8).fit(X, y)
    assert doubled.predict(X) == pytest.approx(single.predict(X), rel=1e-12)


def test_huge_and_tiny_bandwidths():
    X, y = wave()
    line = np.polyval(np.polyfit(X[:, 0], y, 1), X[:, 0])
    for kernel in ("normal", "tricube"):
        assert LocalRegression(1e9, kernel=kernel).fit(X, y).predict(X) == pytest.approx(line)
    with pytest.warns(DataWarning, match="widened"):
        model = LocalRegression(1e-9).fit(X, y)
    # Two places in each window: the curve goes through every row.
    assert model.predict(X) == pytest.approx(y)
    assert model.df_ == pytest.approx(50)


def test_parameters_that_cannot_be():
    X, y = wave()
    for wrong in (0, -1.0, np.nan, np.inf, "wide", [], [1.0, -1.0], None):
        with pytest.raises(ParameterError, match="bandwidth="):
            LocalRegression(wrong).fit(X, y)
    for name, wrong in (
        ("kernel", "uniform"),
        ("degree", 3),
        ("kind", "adaptive"),
        ("method", "fft"),
        ("n_bins", 5),
        ("outside", "clip"),
    ):
        with pytest.raises(ParameterError, match=f"{name}="):
            LocalRegression(**{name: wrong}).fit(X, y)
    with pytest.raises(InputError, match="2 numbers and X has 1 columns"):
        LocalRegression([1.0, 2.0]).fit(X, y)
    with pytest.raises(InputError, match="one fraction for all"):
        LocalRegression([0.5], kind="nearest").fit(X, y)
    with pytest.raises(InputError, match="'binned' is for one input"):
        LocalRegression(method="binned").fit(np.column_stack([X, X**2]), y)
    with pytest.raises(InputError, match="'binned' is for one input that varies"):
        LocalRegression(method="binned").fit(np.ones((50, 1)), y)
    with pytest.raises(
        InputError, match=r"is not allowed; (bandwidth must be|give a list of values of bandwidth)"
    ):
        LocalRegression().path(X, y, values=[1.0, 0.0])
    with pytest.raises(ValueError, match="NaN"):
        LocalRegression(1.0).fit(np.where(X > 3, np.nan, X), y)


def test_derivatives_that_are_not_there():
    X, y = wave()
    for degree, derivative in ((0, 1), (1, 2), (2, 3), (1, -1)):
        model = LocalRegression(1.0, degree=degree).fit(X, y)
        with pytest.raises(InputError, match=f"derivative={derivative} is not available"):
            model.predict(X, derivative=derivative)
    model = LocalRegression(1.0, degree=2).fit(np.column_stack([X, X**2]), y)
    with pytest.raises(InputError, match="only slopes"):
        model.predict(np.ones((2, 2)), derivative=2)


def test_derivative_with_its_standard_error():
    X, y = wave(80)
    y = y + 0.2 * np.random.default_rng(1).normal(size=80)
    for method in ("exact", "binned"):
        model = LocalRegression(0.8, degree=2, method=method).fit(X, y)
        slope, std = model.predict([[2.0]], return_std=True, derivative=1)
        # By hand: the slope is linear in y, so each response moves it by its entry.
        moved = [
            LocalRegression(0.8, degree=2).fit(X, np.eye(80)[i]).predict([[2.0]], derivative=1)[0]
            for i in range(80)
        ]
        # Binned: within a thousandth.
        assert slope[0] == pytest.approx(np.dot(moved, y), rel=1e-9 if method == "exact" else 1e-3)
        by_hand = model.sigma_ * np.linalg.norm(moved)
        assert std[0] == pytest.approx(by_hand, rel=1e-9 if method == "exact" else 1e-3)


@pytest.mark.parametrize("method", ["exact", "binned"])
def test_points_outside_follow_the_rule(method):
    X, y = wave()
    inside, outside = [[3.0]], [[3.0], [7.0], [-1.0]]
    free = LocalRegression(1.0, method=method).fit(X, y).predict(outside)
    assert np.all(np.isfinite(free))
    gaps = LocalRegression(1.0, method=method, outside="nan").fit(X, y)
    mean, std = gaps.predict(outside, return_std=True)
    assert np.isnan(mean).tolist() == np.isnan(std).tolist() == [False, True, True]
    assert mean[0] == free[0]
    warned = LocalRegression(1.0, method=method, outside="warn").fit(X, y)
    with pytest.warns(DataWarning, match="2 of 3 points lie outside the convex hull"):
        assert np.array_equal(warned.predict(outside), free)
    warned.predict(inside)
    warned.predict(X)  # the rows themselves are inside: no warning


def test_outside_of_a_plane_and_of_an_input_that_was_constant():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=40), np.full(40, 2.0), rng.normal(size=40)])
    model = LocalRegression(1.0, outside="nan").fit(X, X[:, 0])
    found = model.predict([[0.0, 2.0, 0.0], [0.0, 2.5, 0.0], [9.0, 2.0, 0.0]])
    assert np.isnan(found).tolist() == [False, True, True]


def test_hull_of_flat_and_full_sets():
    triangle = [[0, 0], [1, 0], [0, 1]]
    points = [[0.5, 0.5], [0.51, 0.51], [0, 0], [-0.01, 0.5], [0.3, 0.3]]
    assert inside_hull(triangle, points).tolist() == [True, False, True, False, True]
    segment = [[0, 0], [1, 1], [2, 2]]
    points = [[0.5, 0.5], [0.5, 0.6], [2.1, 2.1], [2, 2]]
    assert inside_hull(segment, points).tolist() == [True, False, False, True]
    assert inside_hull([[1, 2], [1, 2]], [[1, 2], [1, 3]]).tolist() == [True, False]
    assert inside_hull([[3.0], [1.0]], [[1.0], [2.0], [3.1]]).tolist() == [True, True, False]
    assert inside_hull(triangle, np.empty((0, 2))).tolist() == []
    with pytest.raises(InputError, match="same columns"):
        inside_hull(triangle, [[1.0]])
    with pytest.raises(InputError, match="at least one row"):
        inside_hull(np.empty((0, 2)), triangle)


@pytest.mark.parametrize("p", [2, 3, 4, 5])
def test_mixtures_are_inside_and_reflections_outside(p):
    rng = np.random.default_rng(p)
    data = rng.normal(size=(40, p)) * rng.uniform(0.1, 1e4, size=p)
    mixtures = rng.dirichlet(np.full(40, 0.5), size=12) @ data
    assert np.all(inside_hull(data, mixtures))
    assert np.all(inside_hull(data, data))
    # Beyond the row that is farthest in some direction nothing is inside.
    scaled = data / data.std(axis=0)
    far = np.argmax(scaled @ rng.normal(size=(p, 6)), axis=0)
    away = data.mean(axis=0) + 1.01 * (data[far] - data.mean(axis=0))
    assert not np.any(inside_hull(data, away))


def test_functions_refuse_what_they_cannot_use():
    x = np.arange(5.0)
    with pytest.raises(InputError, match="kernel='box'"):
        kernel_weight(x, kernel="box")
    with pytest.raises(InputError, match="above zero"):
        kernel_weight(x, h=0)
    for options, match in (
        ({"bandwidth": 0.0}, "bandwidth=0.0"),
        ({"degree": 3}, "degree=3"),
        ({"derivative": 2}, "derivative=2"),
        ({"n_bins": 2}, "n_bins=2"),
        ({"limits": (1.0, 1.0)}, "from 1.0 to 1.0"),
        ({"kernel": "box"}, "kernel='box'"),
        ({"limits": (9.0, 10.0)}, "Only 0 bins"),
    ):
        with pytest.raises(InputError, match=match):
            binned_curve(x, x, **{"bandwidth": 1.0, **options})
    with pytest.raises(InputError, match="one length"):
        binned_curve(x, x[:3], 1.0)
