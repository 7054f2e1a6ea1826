"""Bias, variance and noise: closed forms, the exact sum, standard errors, input."""

from functools import partial

import numpy as np
import pytest

from bottega.core import BaselineRegressor
from bottega.core.errors import InputError
from bottega.data import make
from bottega.data.make import Sample
from bottega.linear import Ridge
from bottega.risk import bias_variance
from bottega.risk.theory.bias_variance import _split
from bottega.risk.theory.simulation import draw_seeds

NOISE = 0.3


def polynomial(X, y, degree):
    fitted = np.polynomial.Polynomial.fit(X[:, 0], y, degree, domain=[0, 1])
    return lambda X_new: fitted(X_new[:, 0])


def test_the_mean_has_known_bias_and_variance_at_each_point():
    """The mean of n responses has expectation 0, so bias -sin(2 pi x), and variance
    (1/2 + noise^2)/n everywhere.

    400 repeats: a mean of 20 responses is nearly normal, so the mean prediction has standard
    deviation sqrt(v/400) and the variance v sqrt(2/400); limits of 5 of them fail once in a
    million runs.
    """
    points = np.array([0.0, 0.1, 0.25, 0.6])
    n, repeats = 20, 400
    found = bias_variance(BaselineRegressor(), make.sine, n=n, points=points, n_repeats=repeats)
    v = (0.5 + NOISE**2) / n
    truth = np.sin(2 * np.pi * points)
    np.testing.assert_allclose(found.truth, truth)
    np.testing.assert_allclose(found.point_bias[0], -truth, rtol=0, atol=5 * np.sqrt(v / repeats))
    np.testing.assert_allclose(found.point_variance[0], v, rtol=5 * np.sqrt(2 / repeats))
    assert found.noise == pytest.approx(NOISE**2)
    assert np.isnan(found.test_error[0])


def test_least_squares_has_no_bias_and_the_known_variance():
    """With normal inputs, E (X'X)^-1 = I / (n - p - 1), so the variance at x is
    sigma^2 |x|^2 / (n - p - 1) and the bias 0.

    Limits of 5 standard errors: false alarm below one in a million for each of the two.
    """
    n, p, sigma = 30, 4, 0.7
    source = partial(make.sparse_linear, n_features=p, n_informative=2, noise=sigma)

    def least_squares(X, y):
        coef = np.linalg.lstsq(X, y, rcond=None)[0]
        return lambda X_new: X_new @ coef

    found = bias_variance(least_squares, source, n=n, n_test=50, n_repeats=300)
    expected = sigma**2 * np.mean(np.sum(found.points**2, axis=1)) / (n - p - 1)
    assert abs(found.variance[0] - expected) < 5 * found.variance_se[0]
    assert abs(found.bias2[0]) < 5 * found.bias2_se[0]
    assert found.variance_se[0] < expected / 8  # the limits are worth something


def test_the_sum_is_the_distance_of_the_simulated_predictions_from_the_truth():
    """Exact on the simulated sets: recomputed here from the same seeds."""
    degrees = [0, 2, 5]
    found = bias_variance(
        polynomial, make.sine, n=25, n_test=40, n_repeats=12, values=degrees, random_state=3
    )
    point_seed, *seeds = draw_seeds(3, 13)
    points = make.sine(40, random_state=point_seed)
    np.testing.assert_array_equal(found.points, points.X)
    for k, degree in enumerate(degrees):
        away = []
        for seed in seeds:
            sample = make.sine(25 + 40, random_state=seed)
            model = polynomial(sample.X[:25], sample.y[:25], degree)
            away.append(model(points.X) - points.bayes(points.X))
        error = np.mean(np.square(away))
        # Sums of a few hundred numbers of order one: rounding only.
        assert found.bias2[k] + found.variance[k] == pytest.approx(error, rel=1e-12)
        assert found.error[k] == pytest.approx(error + NOISE**2, rel=1e-12)
        assert found.variance[k] == pytest.approx(np.var(away, axis=0, ddof=1).mean(), rel=1e-12)
        assert found.variance[k] == pytest.approx(found.point_variance[k].mean(), rel=1e-12)


def test_the_sum_is_the_error_on_fresh_rows():
    """The error on fresh rows knows nothing of the three terms. Its distance from their sum has
    three independent parts of randomness (repeats on both sides, the points); 5 standard
    deviations fail once in a million.
    """
    found = bias_variance(polynomial, make.sine, n=30, n_test=400, n_repeats=150, values=[1, 3, 6])
    at_points = found.point_bias**2 + found.point_variance
    points_se = at_points.std(axis=1, ddof=1) / np.sqrt(400)
    spread = np.sqrt(found.error_se**2 + found.test_error_se**2 + points_se**2)
    assert np.all(np.abs(found.error - found.test_error) < 5 * spread)
    assert np.all(found.train_error < found.test_error)


def fixed_design(n, *, random_state=0):
    """A sine at the same evenly spread points each time: only the noise is random."""
    X = (np.arange(n)[:, None] + 0.5) / n
    rng = np.random.default_rng(random_state)
    truth = make.sine(1).bayes
    return Sample(
        X, truth(X) + NOISE * rng.normal(size=n), truth, NOISE**2, "squared_error", "fixed"
    )


def test_bias_falls_and_variance_rises_with_the_degree():
    """D39, D40. With a fixed design the mean variance at its points is sigma^2 (degree + 1) / n
    exactly, and the expected training error is bias^2 + sigma^2 (1 - (degree + 1) / n).

    5 standard errors: false alarm below 1e-5 over the six degrees. (With random inputs variance
    need not rise: a model that is too poor also varies with where the inputs fall.)
    """
    degrees, n = [0, 1, 3, 5, 7, 9], 30
    points = fixed_design(n).X
    found = bias_variance(
        polynomial, fixed_design, n=n, points=points, n_repeats=300, values=degrees
    )
    share = (np.array(degrees) + 1) / n
    assert np.all(np.abs(found.variance - NOISE**2 * share) < 5 * found.variance_se)
    assert np.all(np.diff(found.variance) > 0)
    assert np.all(np.diff(found.bias2[:4]) < 0)
    assert np.all(np.abs(found.bias2[4:]) < 1e-3)
    assert np.all(np.diff(found.train_error) < 0)
    assert degrees[found.best] in (3, 5)
    # The residual variance of 300 training sets: 5 standard deviations of a chi-squared mean.
    np.testing.assert_allclose(
        found.train_error, found.bias2 + NOISE**2 * (1 - share), rtol=5 * np.sqrt(2 / (300 * 20))
    )


def test_standard_errors_are_the_jackknife():
    rng = np.random.default_rng(5)
    away = rng.normal(0.5, 1.0, size=(9, 2, 7))
    *_, spread = _split(away)
    for place in range(3):
        left_out = [_split(np.delete(away, r, axis=0))[place] for r in range(9)]
        expected = np.sqrt(8 / 9 * np.sum((left_out - np.mean(left_out, axis=0)) ** 2, axis=0))
        np.testing.assert_allclose(spread[place], expected, rtol=1e-10)


def test_estimates_are_unbiased_and_their_standard_errors_are_right():
    """2000 simulations of 12 repeats: bias^2 = 0.25 and variance 1 at each of 5 points.

    The mean of the estimates has its own standard error: 5 of them fail once in a million. The
    jackknife overstates the variance of so small a simulation on average (Efron and Stein), by
    less than a third here.
    """
    rng = np.random.default_rng(11)
    away = rng.normal(0.5, 1.0, size=(12, 2000, 5))  # each value of the knob is one simulation
    bias2, variance, _, spread = _split(away)
    for found, expected, said in ((bias2, 0.25, spread[0]), (variance, 1.0, spread[1])):
        scatter = found.std(ddof=1)
        assert abs(found.mean() - expected) < 5 * scatter / np.sqrt(2000)
        assert 0.9 < np.sqrt(np.mean(said**2)) / scatter < 1.15


def test_an_estimator_is_varied_along_its_own_knob():
    """With random inputs more shrinkage leaves more bias; ridge's variance in the slopes falls."""
    source = partial(make.sparse_linear, n_features=6, n_informative=3, noise=3.0)
    found = bias_variance(
        Ridge(), source, n=20, n_test=50, n_repeats=60, values=[0.01, 10.0, 1000.0]
    )
    assert found.knob == "alpha"
    assert np.all(np.diff(found.bias2) > 0)
    assert found.variance[1] < found.variance[0] - 3 * found.variance_se[0]
    one = bias_variance(Ridge(alpha=10.0), source, n=20, n_test=50, n_repeats=60)
    np.testing.assert_allclose(one.mean[0], found.mean[1], rtol=1e-12)


def test_the_seed_decides_everything():
    once = bias_variance(BaselineRegressor(), make.sine, n_repeats=5, random_state=1)
    again = bias_variance(BaselineRegressor(), make.sine, n_repeats=5, random_state=1)
    other = bias_variance(BaselineRegressor(), make.sine, n_repeats=5, random_state=2)
    np.testing.assert_array_equal(once.mean, again.mean)
    assert not np.array_equal(once.mean, other.mean)


def test_frames():
    found = bias_variance(polynomial, make.sine, n_repeats=5, n_test=8, values=[1, 2])
    frame = found.to_frame()
    assert frame["value"].tolist() == [1, 2]
    np.testing.assert_allclose(frame["bias2"] + frame["variance"] + frame["noise"], frame["error"])
    points = found.point_frame(1, like="polars")
    assert points.columns == ["x0", "truth", "mean", "bias", "variance"]
    np.testing.assert_allclose(points["mean"] - points["truth"], points["bias"])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"n_repeats": 2}, "n_repeats=2 is not allowed"),
        ({"n": 0}, "n=0 is not allowed"),
        ({"n_test": 0}, "n_test=0 is not allowed"),
        ({"random_state": -1}, "random_state=-1 is not allowed"),
        ({"knob": "alpha"}, "without values"),
        ({"values": [1]}, "does not name its knob"),
        ({"values": []}, "values is empty"),
        ({"points": np.zeros((3, 2))}, "1 columns"),
    ],
)
def test_bad_options_are_refused(options, says):
    with pytest.raises(InputError, match=says):
        bias_variance(BaselineRegressor(), make.sine, **options)


def no_predictor(X, y):
    return 3.0


def no_numbers(X, y):
    return lambda X_new: np.full(len(X_new), np.nan)


def no_sample(n, random_state):
    return np.zeros(n)


def test_bad_procedures_and_generators_are_refused():
    with pytest.raises(InputError, match="for squared loss"):
        bias_variance(BaselineRegressor(), make.xor)
    with pytest.raises(InputError, match="procedure must be"):
        bias_variance("ridge", make.sine)
    with pytest.raises(InputError, match="must return a predictor"):
        bias_variance(no_predictor, make.sine)
    with pytest.raises(InputError, match="one finite number per row"):
        bias_variance(no_numbers, make.sine)
    with pytest.raises(InputError, match="generator must be"):
        bias_variance(BaselineRegressor(), "sine")
    with pytest.raises(InputError, match=r"must return a bottega\.data\.make\.Sample"):
        bias_variance(BaselineRegressor(), no_sample)
    with pytest.raises(InputError, match="asked for 250 rows"):
        bias_variance(
            BaselineRegressor(),
            lambda n, random_state: make.sine(n if n == 200 else 7, random_state=random_state),
        )
