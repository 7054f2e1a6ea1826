"""Smoothers of numbers near the ends of floating point: the same curve in other units, or a word.

Inputs are refused beyond 1e100, or where they differ by less than 1e-100: third powers of them, in
a penalty on bending, could not be represented.
"""

import numpy as np
import pandas as pd
import pytest

from bottega.core.errors import DataWarning, InputError
from bottega.smooth import (
    InterpolatingSpline,
    LocalRegression,
    Loess,
    PSpline,
    RegressionSpline,
    SmoothingSpline,
    TensorSpline,
    ThinPlateSpline,
    binned_curve,
    plugin_bandwidth,
)
from bottega.smooth._kernels import local_space, loess_fits
from bottega.smooth._kernels.local_line import fit_line
from bottega.smooth._local.blocks import no_boxes

CURVES = [
    InterpolatingSpline,
    LocalRegression,
    Loess,
    PSpline,
    RegressionSpline,
    SmoothingSpline,
    TensorSpline,
    ThinPlateSpline,
]
SURFACES = [LocalRegression, Loess, TensorSpline, ThinPlateSpline]
SMOOTHERS = [each for each in CURVES if each is not InterpolatingSpline]
RNG = np.random.default_rng(2)
X = RNG.uniform(-1, 1, size=(60, 2))
Y = np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + 0.2 * RNG.normal(size=60)


def columns(each):
    return X[:, :2] if each in SURFACES else X[:, :1]


@pytest.mark.parametrize("each", CURVES)
@pytest.mark.parametrize("scale", [1e150, 1e300, 1e-160, 1e-200, 1e-300])
def test_inputs_beyond_their_powers_are_refused(each, scale):
    frame = pd.DataFrame({"length": X[:, 0] * scale})
    words = "has values up to" if scale > 1 else "differ by"
    with pytest.raises(InputError, match=f"'length'.*{words}|{words}"):
        each().fit(frame, Y)
    model = each().fit(X[:, :1], Y)
    with pytest.raises(InputError, match="leave out those rows"):
        model.predict([[1e300]])


@pytest.mark.parametrize("each", CURVES)
@pytest.mark.parametrize("exponent", [300, -300])
def test_the_unit_of_the_inputs_does_not_matter(each, exponent):
    scale, table = 2.0**exponent, columns(each)
    plain, scaled = each().fit(table, Y), each().fit(table * scale, Y)
    expected = plain.predict(table)
    np.testing.assert_allclose(scaled.predict(table * scale), expected, rtol=1e-6, atol=1e-8)
    if hasattr(plain, "df_"):
        assert scaled.df_ == pytest.approx(plain.df_, rel=1e-6)


@pytest.mark.parametrize("each", CURVES)
@pytest.mark.parametrize("exponent", [430, 200, -200, -430])
def test_the_unit_of_the_response_does_not_matter(each, exponent):
    scale, table = 2.0**exponent, columns(each)
    plain, scaled = each().fit(table, Y), each().fit(table, Y * scale)
    expected = plain.predict(table)
    np.testing.assert_allclose(scaled.predict(table) / scale, expected, rtol=1e-9, atol=1e-12)
    if hasattr(plain, "sigma_"):
        assert scaled.sigma_ / scale == pytest.approx(plain.sigma_)


@pytest.mark.parametrize("each", CURVES)
@pytest.mark.parametrize("scale", [1e-160, 1e300])
def test_responses_without_squares_are_refused(each, scale):
    with pytest.raises(InputError, match="the squares of"):
        each().fit(columns(each), Y * scale)


@pytest.mark.parametrize("each", SMOOTHERS)
def test_weights_are_relative_however_large_they_are(each):
    weight = RNG.integers(1, 5, size=60) + 0.5
    table = columns(each)
    plain = each().fit(table, Y, sample_weight=weight).predict(table)
    for scale in (2.0**-200, 2.0**-20, 3.0 * 2.0**-200):
        found = each().fit(table, Y, sample_weight=weight * scale).predict(table)
        np.testing.assert_allclose(found, plain, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("each", SMOOTHERS)
@pytest.mark.parametrize("high", [1e12, 1e90, 1e300])
@pytest.mark.filterwarnings("ignore::bottega.core.errors.DataWarning")
def test_weights_far_apart_give_numbers_or_a_word(each, high):
    weight = np.where(np.arange(60) % 3 == 0, 1.0, high)
    try:
        found = each().fit(columns(each), Y, sample_weight=weight).predict(columns(each))
    except InputError:
        return
    assert np.all(np.isfinite(found))


@pytest.mark.parametrize("each", SMOOTHERS)
def test_the_order_of_rows_does_not_matter(each):
    order, table = RNG.permutation(60), np.round(columns(each), 1)
    plain, permuted = each().fit(table, Y), each().fit(table[order], Y[order])
    np.testing.assert_allclose(permuted.predict(table), plain.predict(table), rtol=1e-7, atol=1e-9)


def test_functions_of_one_input_say_the_same():
    x, y = X[:, 0], Y
    assert plugin_bandwidth(x * 2.0**300, y) == pytest.approx(plugin_bandwidth(x, y) * 2.0**300)
    with pytest.raises(InputError, match="measure it in larger units"):
        plugin_bandwidth(x * 1e200, y)
    with pytest.raises(InputError, match="measure it in smaller units"):
        binned_curve(x * 1e-200, y, 1e-201)


def test_rows_that_only_their_last_digits_tell_apart():
    x = np.r_[np.arange(10) * 5e-324, 1.0 + np.arange(10) / 10][:, None]
    with pytest.warns(DataWarning, match="were widened"):
        model = LocalRegression(1e-320, kernel="tricube").fit(x, np.arange(20.0))
    assert np.all(np.isfinite(model.predict(x)))


def test_a_window_without_rows_reads_none():
    x = np.arange(3.0)
    ones, far, near = np.ones(3), np.full(1, 1e9), np.full(1, 1e-3)
    line = fit_line(x, x, ones, ones, far, near, near, 1, 2, 1.0, 1, True, no_boxes(1), False)
    X = np.column_stack([x, x])
    space = (X, x, ones, ones, np.full((1, 2), 1e9), near)
    for found, *_ in (
        line,
        local_space.fit_space(*space, near, 1, 2, 1.0, True, 1),
        loess_fits.fit_space(*space, 1, 1),
    ):
        assert np.all(np.isnan(found))
