"""Loess on data and settings at the edge of sense."""

import warnings

import numpy as np
import pytest

from bottega.core.errors import DataWarning, InputError, ParameterError
from bottega.smooth import Loess


def wave(n=60, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 6, size=n)
    return x[:, None], np.sin(x) + 0.2 * rng.normal(size=n)


@pytest.mark.parametrize("span", ["auto", 0.5])
@pytest.mark.parametrize("surface", ["direct", "interpolate"])
def test_equal_inputs_give_the_mean(span, surface):
    X, y = np.full((20, 1), 3.0), np.arange(20.0)
    with pytest.warns(DataWarning, match="too few places"):
        model = Loess(span, surface=surface).fit(X, y)
    assert model.degree_ == 0
    assert model.df_ == pytest.approx(1, rel=1e-12)
    assert model.predict([[3.0], [7.0]]) == pytest.approx([9.5, 9.5], rel=1e-12)


@pytest.mark.parametrize("surface", ["direct", "interpolate"])
@pytest.mark.parametrize("p", [1, 2])
def test_narrow_windows_are_widened_and_it_is_said(surface, p):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(50, p))
    y = X[:, 0] ** 2
    with pytest.warns(DataWarning, match=r"windows held fewer than \d distinct rows"):
        model = Loess(0.02, surface=surface).fit(X, y)
    if surface == "direct":  # enough rows for the quadratic, so it is met
        assert model.predict(X) == pytest.approx(y, abs=1e-6)
    assert np.all(np.isfinite(model.predict(X)))


def test_a_widened_window_holds_as_many_places_as_coefficients():
    x = np.repeat([0.0, 1.0, 2.0, 4.0], 25)[:, None]
    y = np.repeat([0.0, 1.0, 4.0, 16.0], 25)
    with pytest.warns(DataWarning, match="100 windows"):
        model = Loess(0.1).fit(x, y)
    assert model.predict(x) == pytest.approx(y, abs=1e-10)
    assert model.predict([[3.0]]) == pytest.approx([9.0], abs=1e-9)


def test_duplicated_inputs_are_as_good_as_any():
    X, y = wave()
    X = X.round(1)
    model = Loess(0.5).fit(X, y)
    same = X[:, 0] == X[0, 0]
    assert len(np.unique(model.smoother_.fitted[same])) == 1


def test_few_rows_lower_the_degree():
    with pytest.warns(DataWarning, match="degree 1 is used"):
        model = Loess(1.5).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    assert model.predict([[1.5]]) == pytest.approx([1.5], abs=1e-9)
    with pytest.warns(DataWarning, match="degree 0 is used"):
        assert Loess(1.0).fit([[0.0], [1.0]], [1.0, 3.0]).degree_ == 0


def test_missing_values_are_refused():
    X, y = wave()
    X[3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        Loess().fit(X, y)


@pytest.mark.parametrize("degree", [0, 1, 2])
def test_a_huge_span_is_one_polynomial(degree):
    X, y = wave()
    expected = np.polyval(np.polyfit(X[:, 0], y, degree), X[:, 0])
    model = Loess(1e8, degree=degree).fit(X, y)
    # Weights differ from one by (1 / sqrt(span))^3.
    assert model.predict(X) == pytest.approx(expected, abs=1e-8)
    assert model.df_ == pytest.approx(degree + 1, rel=1e-8)


def test_rows_on_a_line_in_the_plane_are_survived():
    x = np.linspace(0, 1, 40)
    X = np.column_stack([x, 2 * x])
    y = x**2
    model = Loess(0.6).fit(X, y)
    assert model.predict(X) == pytest.approx(y, abs=1e-9)


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("surface", ["direct", "interpolate"])
@pytest.mark.filterwarnings("ignore::bottega.core.errors.DataWarning")
def test_windows_of_the_point_alone_are_never_empty(n, surface):
    # The only other row stands on the border, inside or outside by rounding.
    for seed in range(10):
        X = np.random.default_rng(seed).normal(size=(n, 2))
        for span in ("auto", 0.1, 0.6):
            model = Loess(span, degree=1, surface=surface).fit(X, X[:, 0])
            assert np.all(np.isfinite(model.predict(X)))
            assert np.all(np.isfinite(model.predict(3 * X + 1)))


@pytest.mark.parametrize("p", [1, 2])
def test_a_large_common_level_costs_no_digits(p):
    X = np.random.default_rng(0).uniform(size=(80, p))
    y = np.sin(6 * X[:, 0])
    plain, lifted = (Loess(0.5).fit(X, y + level).predict(X) for level in (0.0, 2.0**30))
    # y itself keeps 7 digits after the point beside 2^30.
    assert lifted - 2.0**30 == pytest.approx(plain, abs=2e-6)


def test_a_constant_input_is_left_out():
    X, y = wave()
    more = np.column_stack([np.full(len(y), 2.0), X[:, 0]])
    assert np.array_equal(Loess(0.5).fit(more, y).predict(more), Loess(0.5).fit(X, y).predict(X))
    slopes = Loess(0.5).fit(more, y).predict(more, derivative=1)
    assert np.all(slopes[:, 0] == 0)


@pytest.mark.parametrize("surface", ["direct", "interpolate"])
def test_outside_the_rows(surface):
    X, y = wave()
    new = np.array([[-3.0], [3.0], [9.0]])
    model = Loess(0.5, surface=surface, outside="nan").fit(X, y)
    assert np.isnan(model.predict(new)).tolist() == [True, False, True]
    mean, std = model.predict(new, return_std=True)
    assert np.isnan(mean).tolist() == np.isnan(std).tolist() == [True, False, True]
    low, high = model.interval(new)
    assert np.isnan(low).tolist() == np.isnan(high).tolist() == [True, False, True]
    with pytest.warns(DataWarning, match="2 of 3 points lie outside"):
        warned = Loess(0.5, surface=surface, outside="warn").fit(X, y).predict(new)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quiet = Loess(0.5, surface=surface).fit(X, y).predict(new)
    assert np.array_equal(warned, quiet)
    assert np.all(np.isfinite(quiet))


def test_what_weights_mean():
    X, y = wave(50)
    w = np.random.default_rng(1).integers(0, 4, size=50)
    copies = Loess(0.4).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    weighted = Loess(0.4).fit(X, y, sample_weight=w)
    assert weighted.predict(X) == pytest.approx(copies.predict(X), rel=1e-9)
    # Weights that are no counts: only their proportions matter.
    u = np.random.default_rng(2).uniform(0.1, 1, size=50)
    small, large = (Loess(0.4).fit(X, y, sample_weight=c * u).predict(X) for c in (0.01, 77.7))
    assert small == pytest.approx(large, rel=1e-9)
    assert np.all(weighted.leverage_[w == 0] == 0)
    assert weighted.matrix(X).shape == (50, 50)
    assert weighted.matrix(X) @ y == pytest.approx(weighted.predict(X), rel=1e-9)


def test_too_many_inputs_for_a_blended_surface():
    X = np.random.default_rng(0).normal(size=(60, 5))
    with pytest.raises(InputError, match="at most 4 inputs"):
        Loess(0.9, degree=1, surface="interpolate").fit(X, X[:, 0])


@pytest.mark.parametrize(
    "settings",
    [{"span": 0}, {"span": -1}, {"degree": 3}, {"family": "cauchy"}, {"cell": 0}, {"span": np.nan}],
)
def test_bad_settings_are_refused(settings):
    with pytest.raises(ParameterError, match=next(iter(settings))):
        Loess(**settings).fit(*wave())


def test_derivatives_that_are_not_there():
    X, y = wave()
    model = Loess(0.5, degree=1).fit(X, y)
    with pytest.raises(InputError, match="have degree 1"):
        model.predict(X, derivative=2)
    with pytest.raises(InputError, match="for the mean alone"):
        model.predict(X, derivative=1, return_std=True)
