"""What projection pursuit must do: find directions, sum functions, walk over terms."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.additive import ProjectionPursuitRegressor
from bottega.linear import LeastSquares
from bottega.risk import split_conformal


def friedman(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 6))
    mean = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    mean += 10 * X[:, 3] + 5 * X[:, 4]
    return X, mean + rng.normal(size=n)


@cache
def fitted():
    X, y = friedman(400)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    return ProjectionPursuitRegressor(4, max_terms=5).fit(frame, y), frame, y


@cache
def several(weight=None):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(250, 4))
    first, second = np.sin(X[:, 0] + X[:, 1]), (X[:, 2] - X[:, 3]) ** 2 / 2
    Y = np.column_stack([first, second, 2 * first - second]) + 0.1 * rng.normal(size=(250, 3))
    given = None if weight is None else np.array(weight)
    return ProjectionPursuitRegressor(2, max_terms=2, response_weight=given).fit(X, Y), X, Y


def test_the_direction_of_a_single_index_is_found():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 5)) @ rng.normal(size=(5, 5))  # correlated
    a = np.array([1.0, -2.0, 0.5, 0.0, 1.0])
    index = X @ a / np.std(X @ a)
    y = np.sin(2 * index) + 0.1 * rng.normal(size=400)
    model = ProjectionPursuitRegressor(1, max_terms=1).fit(X, y)
    assert abs(np.corrcoef(X @ model.directions_[0], index)[0, 1]) > 0.9999
    new = rng.normal(size=(200, 5)) @ np.linalg.cholesky(np.cov(X.T)).T
    inside = np.abs(new @ a / np.std(X @ a)) < 2
    truth = np.sin(2 * new @ a / np.std(X @ a))
    assert np.mean((model.predict(new) - truth)[inside] ** 2) < 0.01


def test_of_a_plane_one_term_is_least_squares():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 3))
    y = X @ [1.0, 2.0, -3.0] + 5
    model = ProjectionPursuitRegressor(1, max_terms=1).fit(X, y)
    plane = LeastSquares().fit(X, y)
    assert model.predict(2 * X) == pytest.approx(plane.predict(2 * X), abs=1e-4)
    # The input that counts most has a positive coefficient.
    assert model.directions_[0] == pytest.approx(np.array([-1, -2, 3]) / np.sqrt(14), abs=1e-5)


def test_an_interaction_is_two_ridges():
    """x1 x2 is {(c x1 + d x2)^2 - (c x1 - d x2)^2} / 4cd, which no sum over single inputs is."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(500, 3))
    y = X[:, 0] * X[:, 1]
    model = ProjectionPursuitRegressor(2, max_terms=2).fit(X, y)
    assert np.mean((model.predict(X) - y) ** 2) < 0.01 * np.var(y)
    one, other = model.directions_
    assert np.abs(one) == pytest.approx(np.abs(other), abs=0.02)
    assert one[0] * one[1] * other[0] * other[1] < 0
    assert abs(one[2]) < 0.02


def test_a_prediction_is_the_sum_of_its_terms():
    model, frame, _ = fitted()
    terms, X = model.terms_, frame.to_numpy()
    found = np.repeat(terms.intercept[0], len(X))
    for direction, function, share in zip(
        model.directions_, model.ridge_functions_, terms.beta[:, 0], strict=True
    ):
        assert direction @ direction == pytest.approx(1)
        found = found + share * function((X - terms.center) @ direction)
    assert model.predict(frame) == pytest.approx(found, rel=1e-12)
    values = model.ridge_values(frame)
    assert values.mean(axis=0) == pytest.approx(np.zeros(4), abs=1e-9)
    assert values.std(axis=0) == pytest.approx(np.ones(4), abs=1e-9)
    assert np.all(np.diff(model.importance_) <= 0)


def test_beyond_the_data_functions_are_straight():
    model, _, _ = fitted()
    for function in model.ridge_functions_:
        low, high = function.knots[[0, -1]]
        for ends in ([high + 1, high + 2, high + 3], [low - 1, low - 2, low - 3]):
            steps = np.diff(function(np.array(ends)))
            assert steps[0] == pytest.approx(steps[1], rel=1e-9)


def test_the_path_finds_how_many_terms_there_are():
    X, y = friedman(500, seed=5)
    model = ProjectionPursuitRegressor(select="min").fit(X, y)
    assert 3 <= model.n_terms_ <= 5
    assert model.path_.values.tolist() == [0, 1, 2, 3, 4, 5]
    assert np.all(np.diff(model.path_.train_error) < 0.01 * model.path_.train_error[:-1])
    assert np.all(np.diff(model.path_.df) > 0)
    new, truth = friedman(2000, seed=6)
    assert np.mean((model.predict(new) - truth) ** 2) < 1.4  # of which the noise is 1


def test_thorough_readjustment_leaves_less():
    _, frame, y = fitted()
    left = []
    for level in range(4):
        model = ProjectionPursuitRegressor(4, max_terms=4, optlevel=level, df=5).fit(frame, y)
        left.append(np.sum((model.predict(frame) - y) ** 2))
    assert left[1] < left[0]
    assert left[2] < left[1]
    assert left[3] < 1.02 * left[2]


def test_terms_beyond_those_wanted_are_removed_again():
    _, frame, y = fitted()
    short, long = (ProjectionPursuitRegressor(2, max_terms=m).fit(frame, y) for m in (2, 5))
    rss = [np.sum((model.predict(frame) - y) ** 2) for model in (short, long)]
    assert rss[1] < 1.001 * rss[0]
    assert short.n_terms_ == long.n_terms_ == 2


def test_degrees_of_freedom_of_splines_are_those_asked_for():
    X, y = friedman(300, seed=7)
    smooth, rough = (ProjectionPursuitRegressor(2, max_terms=2, df=df).fit(X, y) for df in (3, 9))
    # An intercept, and for each term its function's but two, five of the direction, one share.
    assert smooth.df_ == pytest.approx(1 + 2 * (1 + 5 + 1), abs=0.1)
    assert rough.df_ == pytest.approx(1 + 2 * (7 + 5 + 1), abs=0.1)


def test_several_responses_share_directions():
    model, X, Y = several()
    assert model.directions_.shape == (2, 4)
    assert model.predict(X).shape == (250, 3)
    assert np.mean((model.predict(X) - Y) ** 2, axis=0) == pytest.approx(np.full(3, 0.01), rel=0.25)
    # The shares in the third response are those of the first twice, less those of the second.
    assert model.terms_.beta[:, 2] == pytest.approx(
        2 * model.terms_.beta[:, 0] - model.terms_.beta[:, 1], abs=0.1
    )


def test_only_the_ratios_of_response_weights_matter():
    X = several()[1]
    one, other = several((1.0, 2.0, 3.0))[0], several((10.0, 20.0, 30.0))[0]
    assert one.predict(X) == pytest.approx(other.predict(X), rel=1e-9, abs=1e-9)
    unequal = several((1.0, 1e-8, 1e-8))[0]
    Y = several()[2]
    left = np.mean((unequal.predict(X) - Y) ** 2, axis=0)
    assert left[0] < 0.012  # the one that counts is fitted best
    assert left[1] > 0.05


@settings(max_examples=8, deadline=None)
@given(
    st.lists(st.floats(-4, 4), min_size=3, max_size=3),
    st.lists(st.floats(-100, 100), min_size=3, max_size=3),
    st.floats(-3, 3),
)
def test_units_and_origins_do_not_matter(exponents, shift, unit):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(60, 3))
    y = np.sin(X[:, 0] + X[:, 1]) + 0.2 * rng.normal(size=60)
    scale, factor = 10.0 ** np.array(exponents), 10.0**unit
    base = ProjectionPursuitRegressor(1, max_terms=1).fit(X, y).predict(X)
    moved = X * scale + np.array(shift) * scale
    found = ProjectionPursuitRegressor(1, max_terms=1).fit(moved, y * factor + 7).predict(moved)
    assert (found - 7) / factor == pytest.approx(base, rel=1e-5, abs=1e-5)


def test_a_seed_gives_one_answer():
    X, y = friedman(150, seed=9)
    one, other = (ProjectionPursuitRegressor(2, random_state=3).fit(X, y) for _ in range(2))
    assert np.array_equal(one.predict(X), other.predict(X))
    generator = np.random.default_rng(3)
    drawn = ProjectionPursuitRegressor(2, random_state=generator).fit(X, y)
    assert np.mean((drawn.predict(X) - y) ** 2) == pytest.approx(
        np.mean((one.predict(X) - y) ** 2), rel=0.1
    )


def test_a_supersmoother_fits_as_well():
    X, y = friedman(300, seed=10)
    new, truth = friedman(1000, seed=11)
    errors = {}
    for how in ("spline", "supersmoother"):
        model = ProjectionPursuitRegressor(4, max_terms=4, smoother=how).fit(X, y)
        errors[how] = np.mean((model.predict(new) - truth) ** 2)
    assert errors["spline"] < 1.6
    assert errors["supersmoother"] < 2.2
    smooth = ProjectionPursuitRegressor(
        1, max_terms=1, smoother="supersmoother", span=0.9, optlevel=0
    ).fit(X, y)
    wiggly = ProjectionPursuitRegressor(
        1, max_terms=1, smoother="supersmoother", span=0.05, optlevel=0
    ).fit(X, y)
    assert smooth.df_ < wiggly.df_ - 5


def test_conformal_intervals_cover():
    """Of 2,000 new rows 90 % are covered up to 4 %: less has a chance below 1e-4."""
    model = ProjectionPursuitRegressor(3, max_terms=3).fit(*friedman(300, seed=12))
    band = split_conformal(model, *friedman(1000, seed=13))
    new, truth = friedman(2000, seed=14)
    lower, upper = band.interval(new, level=0.9)
    assert 0.86 < np.mean((lower <= truth) & (truth <= upper)) < 0.94
