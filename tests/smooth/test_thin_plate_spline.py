"""The thin-plate spline: mgcv's numbers, its limits, exact leave-one-out, bad input."""

import json
from pathlib import Path as FilePath

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.core.errors import InputError, ParameterError
from bottega.smooth import SmoothingSpline, ThinPlateSpline
from bottega.smooth._surface.points import DistinctPoints, make_points, make_scaling, space_filling
from bottega.smooth._surface.thin_plate import decompose

REFERENCE = json.loads(
    (FilePath(__file__).parents[1] / "reference/smooth/surfaces.json").read_text()
)


def surface(n=60, d=2, seed=0, ties=3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 2, size=(n, d))
    X[:ties] = X[n - ties :]
    y = np.sin(2 * X[:, 0]) + (X**2).sum(axis=1) / 2 + 0.3 * rng.normal(size=n)
    return X, y, rng.uniform(0.5, 2, size=n)


@pytest.mark.parametrize("case", REFERENCE["cases"], ids=lambda c: f"d{c['d']}-sp{c['sp']}")
def test_equals_mgcv_at_full_rank(case):
    X, y, weight = (np.array(case[name]) for name in ("X", "y", "weight"))
    # mgcv divides its penalty by a number that it reports.
    model = ThinPlateSpline(case["sp"] / case["scale"]).fit(X, y, sample_weight=weight)
    # Both solve the same system; some digits are lost in it.
    assert model.predict(X) == pytest.approx(case["fitted"], abs=1e-9)
    assert model.predict(case["new"]) == pytest.approx(case["at_new"], abs=1e-9)
    assert model.df_ == pytest.approx(case["edf"], abs=1e-8)
    assert model.gcv_ == pytest.approx(case["gcv"], rel=1e-8)


def test_one_input_is_the_cubic_smoothing_spline():
    X, y, weight = surface(d=1)
    for lam in (1e-4, 0.1, 10.0):
        ours = ThinPlateSpline(lam).fit(X, y, sample_weight=weight)
        cubic = SmoothingSpline(lam).fit(X, y, sample_weight=weight)
        assert ours.predict(X) == pytest.approx(cubic.predict(X), abs=1e-9)
        assert ours.df_ == pytest.approx(cubic.df_, abs=1e-8)
        assert ours.smoother_.trace_sst == pytest.approx(cubic.smoother_.trace_sst, abs=1e-8)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_is_refitting_without_the_row(d, weighted):
    X, y, weight = surface(40, d)
    weight = weight if weighted else None
    model = ThinPlateSpline(0.05).fit(X, y, sample_weight=weight)
    refitted = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        w = None if weight is None else weight[rest]
        left = ThinPlateSpline(0.05).fit(X[rest], y[rest], sample_weight=w)
        refitted.append(y[i] - left.predict(X[i : i + 1])[0])
    assert model.loo_residuals_ == pytest.approx(refitted, abs=1e-8)


def test_leave_one_out_at_fewer_knots_keeps_the_knots():
    X, y, _ = surface(60, ties=0)
    points = make_points(make_scaling(X, None, standardize=False)(X), y, None)
    knots = space_filling(points.u, 25)
    lam = np.array([1e-4])
    fitted, leverage = decompose(points, knots).at_points(lam)
    short = (points.mean - fitted[:, 0]) / (1 - leverage[:, 0])
    for i in range(0, 60, 7):
        rest = np.arange(60) != i
        fewer = DistinctPoints(points.u[rest], points.mean[rest], points.root[rest], np.arange(59))
        left = decompose(fewer, knots)
        ((_, b, shapes),) = left.basis.rows(points.u[i : i + 1])
        guess = b @ left.on_plane + shapes @ left.coordinates(lam)[:, 0]
        assert short[i] == pytest.approx(points.mean[i] - guess[0], abs=1e-8)


@pytest.mark.parametrize("rank", ["auto", 20])
def test_matrix_holds_the_whole_smoother(rank):
    X, y, weight = surface()
    weight[7] = 0.0
    model = ThinPlateSpline(0.01, rank=rank).fit(X, y, sample_weight=weight)
    S = model.matrix(X)
    assert S @ y == pytest.approx(model.predict(X), abs=1e-10)
    assert model.smoother_.fitted == pytest.approx(model.predict(X), abs=1e-9)
    assert np.diagonal(S) == pytest.approx(model.leverage_, abs=1e-9)
    assert np.trace(S) == pytest.approx(model.df_, abs=1e-9)
    assert S.sum(axis=1) == pytest.approx(np.ones(len(y)), abs=1e-9)
    counted = weight > 0
    error = model.sigma_ * np.sqrt((S[:, counted] ** 2 / weight[counted]).sum(axis=1))
    assert model.predict(X, return_std=True)[1] == pytest.approx(error, rel=1e-8)
    root = np.sqrt(weight[counted])
    balanced = root[:, None] * S[np.ix_(counted, counted)] / root
    assert model.smoother_.trace_sst == pytest.approx((balanced**2).sum(), abs=1e-8)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_limits_are_the_plane_and_every_point(d):
    X, y, weight = surface(d=d, ties=0)
    flat = ThinPlateSpline(1e12).fit(X, y, sample_weight=weight)
    A = np.column_stack([np.ones(len(y)), X])
    root = np.sqrt(weight)
    coef = np.linalg.lstsq(root[:, None] * A, root * y, rcond=None)[0]
    assert flat.predict(X) == pytest.approx(A @ coef, abs=1e-8)  # 1 / lam is left of the bending
    assert flat.df_ == pytest.approx(d + 1, abs=1e-8)
    through = ThinPlateSpline(0.0).fit(X, y, sample_weight=weight)
    # The system of an interpolating spline is ill-conditioned where points are close: condition
    # numbers here reach 1e10, and which of the last digits are lost depends on the processor.
    assert through.predict(X) == pytest.approx(y, abs=1e-5)
    assert through.df_ == pytest.approx(len(y))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.floats(-4, 4), st.sampled_from([2, 3]))
def test_a_plane_is_reproduced_at_any_penalty(seed, power, d):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, d))
    y = 3.0 + X @ rng.normal(size=d)
    model = ThinPlateSpline(10.0**power).fit(X, y)
    new = rng.normal(size=(5, d))
    plane = np.linalg.lstsq(np.column_stack([np.ones(25), X]), y, rcond=None)[0]
    assert model.predict(new) == pytest.approx(plane[0] + new @ plane[1:], abs=1e-7)
    assert model.path(X, y).error == pytest.approx(0, abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.floats(0, 6.3), st.floats(0.1, 10))
def test_turned_and_stretched_axes_change_nothing(angle, stretch):
    X, y, _ = surface()
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    plain = ThinPlateSpline().fit(X, y)
    turned = ThinPlateSpline().fit(stretch * X @ turn + 5, y)
    assert turned.predict(stretch * X @ turn + 5) == pytest.approx(plain.predict(X), abs=1e-7)
    # The integral of squared second derivatives over the plane has the unit 1 / length^2.
    assert turned.alpha_ == pytest.approx(plain.alpha_ * stretch**2, rel=1e-6)


@pytest.mark.parametrize("rank", ["auto", 30])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_slopes_are_limits_of_differences(d, rank):
    X, y, weight = surface(d=d)
    X = X * [1.0, 20.0, 0.1][:d]
    model = ThinPlateSpline(0.01, rank=rank, standardize=True).fit(X, y, sample_weight=weight)
    new = np.random.default_rng(5).uniform(X.min(axis=0), X.max(axis=0), size=(20, d))
    slopes, std = model.predict(new, return_std=True, derivative=1)
    slopes, std = slopes.reshape(20, d), std.reshape(20, d)
    for j in range(d):
        step = 1e-5 * np.ptp(X[:, j]) * np.eye(d)[j]
        ahead, behind = (model.predict(new + s * step) for s in (1, -1))
        # A difference over 2e-5 of the range: its own error is some 1e-8 of the slope, and in two
        # and three inputs more near a knot.
        size = np.abs(slopes[:, j]).max()
        found = (ahead - behind) / (2 * step[j])
        assert slopes[:, j] == pytest.approx(found, abs=1e-4 * size)
        rows = (model.matrix(new + step) - model.matrix(new - step)) / (2 * step[j])
        error = model.sigma_ * np.sqrt((rows**2 / weight).sum(axis=1))
        assert std[:, j] == pytest.approx(error, rel=1e-3)
        orders = tuple(int(k == j) for k in range(d))
        assert model.predict(new, derivative=orders) == pytest.approx(slopes[:, j], rel=1e-12)


def test_derivatives_of_one_input_are_those_of_the_cubic_spline():
    X, y, weight = surface(d=1)
    ours = ThinPlateSpline(0.1).fit(X, y, sample_weight=weight)
    cubic = SmoothingSpline(0.1).fit(X, y, sample_weight=weight)
    between = np.sort(np.unique(X))
    middle = ((between[1:] + between[:-1]) / 2)[:, None]
    for derivative in (0, 1, 2, 3):
        expected, error = cubic.predict(middle, return_std=True, derivative=derivative)
        found, std = ours.predict(middle, return_std=True, derivative=derivative)
        assert found == pytest.approx(expected, abs=1e-7 * np.abs(expected).max())
        assert std == pytest.approx(error, rel=1e-5)


def test_derivatives_that_there_are_not():
    X, y, _ = surface()
    model = ThinPlateSpline(0.1).fit(X, y)
    with pytest.raises(InputError, match="has derivatives up to order 1"):
        model.predict(X, derivative=(1, 1))
    with pytest.raises(InputError, match="use 0, 1 for all slopes, or 2 whole numbers"):
        model.predict(X, derivative=2)
    wide = np.column_stack([X[:, 0], np.full(len(y), 7.0)])
    still = ThinPlateSpline(0.1).fit(wide, y)
    assert np.all(still.predict(wide, derivative=1)[:, 1] == 0)
    line = ThinPlateSpline(0.1).fit(X[:, :1], y)
    assert still.predict(wide, derivative=(2, 0)) == pytest.approx(
        line.predict(X[:, :1], derivative=2), rel=1e-6, abs=1e-6
    )


def test_the_mixed_term_counts_twice():
    """D121's misprint: with a single mixed term f = x z would cost half as much after a turn."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(80, 2))
    half = np.sqrt(0.5) * np.array([[1, -1], [1, 1]])
    saddle = X[:, 0] * X[:, 1]
    # Turned by 45 degrees, x z is (x^2 - z^2) / 2, which has no mixed derivative.
    straight = ThinPlateSpline(0.3).fit(X, saddle)
    turned = ThinPlateSpline(0.3).fit(X @ half, saddle)
    assert straight.predict(X) == pytest.approx(turned.predict(X @ half), abs=1e-9)
    assert straight.smoother_.rss > 1e-3  # it does cost


def test_standardised_inputs_forget_their_units():
    X, y, _ = surface()
    units = np.array([1.0, 1000.0])
    one = ThinPlateSpline(standardize=True).fit(X, y)
    other = ThinPlateSpline(standardize=True).fit(X * units, y)
    assert other.predict(X * units) == pytest.approx(one.predict(X), abs=1e-8)
    assert ThinPlateSpline().fit(X * units, y).df_ != pytest.approx(one.df_, abs=0.1)


def test_degrees_of_freedom_along_the_path():
    X, y, _ = surface(ties=0)
    curve = ThinPlateSpline().path(X, y)
    assert curve.df[0] == pytest.approx(3, abs=0.1)
    assert curve.df[-1] > 55
    for i in (5, 25, 40):
        at = curve.at(i)
        assert curve.error[i] == pytest.approx(at.loo_, rel=1e-9)
        assert curve.df[i] == pytest.approx(at.df_, rel=1e-9)
        three = at.smoother_.df_definitions
        assert three["tr SS'"] <= three["tr S"] <= three["tr(2S - SS')"]


def test_fewer_knots_come_near_and_say_how_near():
    X, y, weight = surface(400, seed=3)
    full = ThinPlateSpline(0.05).fit(X, y, sample_weight=weight)
    few = ThinPlateSpline(0.05, rank=120).fit(X, y, sample_weight=weight)
    assert (full.rank_, full.rank_error_) == (397, 0.0)
    assert few.rank_ == 120
    gap = np.sqrt(np.average((full.predict(X) - few.predict(X)) ** 2, weights=weight))
    assert gap <= few.rank_error_
    assert few.rank_error_ < 0.2 * few.sigma_
    # Over a part of the surfaces every shape is fitted less closely, at the same penalty.
    assert 0.8 * full.df_ < few.df_ < full.df_


def test_many_rows_take_fewer_knots_by_themselves():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(2_500, 2))
    truth = np.sin(4 * X[:, 0]) * X[:, 1]
    model = ThinPlateSpline().fit(X, truth + 0.2 * rng.normal(size=len(X)))
    assert model.rank_ == 300
    # With about 20 degrees of freedom the noise alone leaves 0.2 sqrt(20 / 2500) = 0.018.
    assert np.sqrt(np.mean((model.predict(X) - truth) ** 2)) < 0.05


def test_knots_fill_the_space_in_an_order_that_nests():
    u = np.random.default_rng(0).uniform(size=(200, 2))
    many, few = space_filling(u, 40), space_filling(u, 20)
    assert np.array_equal(many[:20], few)
    nearest = np.linalg.norm(u[:, None] - many, axis=2).min(axis=1)
    # 40 discs of this radius must cover the unit square; chance leaves larger holes.
    assert nearest.max() < 0.2
    assert len(np.unique(many, axis=0)) == 40


def test_an_input_that_does_not_vary_is_left_out():
    X, y, _ = surface()
    wide = np.column_stack([X[:, 0], np.full(len(y), 7.0), X[:, 1]])
    assert ThinPlateSpline(0.1).fit(wide, y).predict(wide) == pytest.approx(
        ThinPlateSpline(0.1).fit(X, y).predict(X), abs=1e-12
    )


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((6, 2)), "All 6 rows have the same inputs"),
        (np.arange(10.0)[:, None] * [1.0, 2.0], "All points lie on a line"),
        (np.random.default_rng(0).normal(size=(9, 2)) @ np.ones((2, 3)), "lie on a plane"),
        (np.array([[0.0, 0.0], [1.0, 3.0], [1.0, 3.0]]), "at least 3 distinct points; there are 2"),
        (np.array([[0.0, np.nan], [1.0, 3.0], [1.0, 2.0]]), "NaN"),
    ],
)
def test_bad_points_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        ThinPlateSpline().fit(X, np.arange(float(len(X))))


def test_bad_penalties_are_refused():
    X, y, _ = surface()
    with pytest.raises(ParameterError, match="alpha=-1"):
        ThinPlateSpline(-1).fit(X, y)
    with pytest.raises(InputError, match=r"is not allowed; (alpha must be|give a list)"):
        ThinPlateSpline().path(X, y, values=[1.0, -1.0])
    with pytest.raises(InputError, match="X has 4 columns"):
        ThinPlateSpline().fit(np.ones((9, 4)), np.ones(9))


def test_as_many_points_as_coefficients_pass_through_all():
    X, y = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([1.0, 2.0, 4.0])
    model = ThinPlateSpline(1.0).fit(X, y)
    assert model.predict([[1.0, 1.0]]) == pytest.approx([5.0])
    assert model.df_ == 3
