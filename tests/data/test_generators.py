"""Generators: is the stated Bayes risk the risk of the stated Bayes predictor, and the least?

Each simulation compares a mean of n losses with its expectation and allows 4.5 standard errors: a
right value fails with probability 7e-6 for a new seed (the seeds here are fixed).
"""

import pickle

import numpy as np
import pytest
from scipy.stats import kstest

from bottega.core.errors import InputError
from bottega.data import make
from bottega.data.make import classification

SIGMAS = 4.5
N = 200_000
REGRESSION = {
    "sine": {},
    "friedman1": {},
    "friedman2": {},
    "friedman3": {},
    "sparse_linear": {"n_features": 12, "correlation": 0.5},
}
CLASSIFICATION = [
    ("nested_spheres", {}),
    ("nested_spheres", {"useless": 6}),
    ("two_gaussians", {}),
    ("two_gaussians", {"prior": 0.2, "distance": 1.0, "n_features": 3, "correlation": 0.5}),
    ("lipschitz", {}),
    ("lipschitz", {"c": 1.0, "n_features": 3}),
    ("lipschitz", {"c": 0.3, "n_features": 1}),
    ("xor", {}),
    ("xor", {"cluster_std": 1.0, "useless": 2}),
]


@pytest.mark.parametrize("name", REGRESSION)
def test_regression_risk_is_the_noise_variance(name):
    sample = getattr(make, name)(N, random_state=3, **REGRESSION[name])
    residual = sample.y - sample.bayes(sample.X)
    sigma = np.sqrt(sample.bayes_risk)
    assert sample.loss == "squared_error"
    # A squared normal residual has variance 2 sigma^4.
    assert abs(np.mean(residual**2) - sigma**2) < SIGMAS * sigma**2 * np.sqrt(2 / N)
    assert kstest(residual / sigma, "norm").pvalue > 7e-6


@pytest.mark.parametrize(("name", "options"), CLASSIFICATION)
def test_classification_risk(name, options):
    sample = getattr(make, name)(N, random_state=5, **options)
    risk = sample.bayes_risk
    assert sample.loss == "zero_one"
    error = np.mean(sample.bayes(sample.X) != sample.y)
    assert abs(error - risk) < SIGMAS * np.sqrt(risk * (1 - risk) / N)


@pytest.mark.parametrize(("name", "options"), CLASSIFICATION)
def test_no_threshold_beats_the_bayes_rule(name, options):
    """Try 19 thresholds on each input, on its square and on the products, both ways round."""
    sample = getattr(make, name)(N, random_state=6, **options)
    X = sample.X
    tries = [*X.T, *(X**2).T, np.sum(X**2, axis=1), np.sum(X, axis=1), np.prod(X, axis=1)]
    slack = SIGMAS * np.sqrt(0.25 / N)
    for values in tries:
        for threshold in np.quantile(values, np.linspace(0.05, 0.95, 19)):
            error = np.mean((values > threshold) != sample.y)
            assert min(error, 1 - error) > sample.bayes_risk - slack


def test_nested_spheres_are_the_published_set_up():
    sample = make.nested_spheres(N, random_state=0)
    square = np.sum(sample.X**2, axis=1)
    shell = square[sample.y == 1]
    assert shell.min() >= 9
    assert shell.max() <= 16
    assert sample.bayes_risk == pytest.approx(0.029040, abs=5e-7)  # as printed, to six places
    assert kstest(sample.X[sample.y == 0, 0], "norm").pvalue > 7e-6
    # Any direction within the shell is as likely as any other.
    unit = sample.X[sample.y == 1] / np.sqrt(shell)[:, None]
    assert np.abs(unit.mean(axis=0)).max() < SIGMAS * np.sqrt(0.25 / shell.size)


@pytest.mark.parametrize(("c", "features"), [(0.5, 1), (4.0, 2), (7.0, 3)])
def test_lipschitz_constant_is_c(c, features):
    rng = np.random.default_rng(0)
    A, B = rng.uniform(size=(2, 100_000, features))
    B = A + 1e-4 * (B - A)
    slope = (
        np.abs(classification._waves(c, A) - classification._waves(c, B))
        / 2
        / np.linalg.norm(A - B, axis=1)
    )
    assert slope.max() <= c * (1 + 1e-9)
    assert slope.max() > 0.7 * c  # and no smaller constant would do


@pytest.mark.parametrize("c", [0.1, 0.8, 1.0, 2.5, 4.0, 11.0])
def test_lipschitz_risk_by_numeric_integration(c):
    x = (np.arange(200_000) + 0.5) / 200_000
    risk = np.mean(0.5 - 0.5 * np.abs(np.cos(2 * c * x)))
    # The midpoint rule errs by about (c / 200000)^2.
    assert make.lipschitz(1, c=c, n_features=1).bayes_risk == pytest.approx(risk, abs=1e-8)


@pytest.mark.parametrize("margin", [0.0, 0.1, 3.0])
@pytest.mark.parametrize("features", [1, 2, 10])
def test_separable_keeps_its_margin(margin, features):
    for seed in range(5):
        sample = make.separable(500, margin=margin, n_features=features, random_state=seed)
        direction = sample.bayes.args[0]
        assert np.linalg.norm(direction) == pytest.approx(1)
        signed = (2 * sample.y - 1) * (sample.X @ direction)
        assert signed.min() >= margin
        assert sample.bayes_risk == 0
        np.testing.assert_array_equal(sample.bayes(sample.X), sample.y)
        assert set(sample.y) == {0, 1}


def test_two_gaussians_are_as_far_apart_as_stated():
    sample = make.two_gaussians(N, distance=1.5, n_features=3, correlation=0.6, random_state=2)
    a, b = sample.X[sample.y == 0], sample.X[sample.y == 1]
    pooled = (np.cov(a.T) + np.cov(b.T)) / 2
    gap = b.mean(axis=0) - a.mean(axis=0)
    # The error of an estimated distance is about 2 / sqrt(n) a direction.
    assert np.sqrt(gap @ np.linalg.solve(pooled, gap)) == pytest.approx(1.5, abs=0.03)
    assert np.corrcoef(a.T)[0, 2] == pytest.approx(0.6, abs=0.02)


def test_sparse_linear_shape_and_correlation():
    sample = make.sparse_linear(N, n_features=6, n_informative=3, correlation=0.5, random_state=1)
    np.testing.assert_array_equal(sample.bayes(np.eye(6)), [1, 0, -2, 0, 3, 0])
    expected = 0.5 ** np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    # A correlation estimated from n pairs errs by less than 1 / sqrt(n); 36 of them are looked at.
    np.testing.assert_allclose(np.corrcoef(sample.X.T), expected, atol=SIGMAS / np.sqrt(N))


def test_friedman_functions_by_hand():
    x = np.array([[0.5, 1.0, 1.0, 0.2, 0.4] + [9.0] * 5])
    assert make.friedman1(1).bayes(x)[0] == pytest.approx(10 + 5 + 2 + 2)
    x = np.array([[3.0, 2.0, 2.25, 1.0]])  # reactance 2 * 2.25 - 1/2 = 4
    assert make.friedman2(1).bayes(x)[0] == pytest.approx(5)
    assert make.friedman3(1).bayes(x)[0] == pytest.approx(np.arctan(4 / 3))
    assert make.sine(1).bayes(np.array([[0.25], [0.5]])) == pytest.approx([1, 0])


def test_friedman2_noise_is_a_third_of_the_signal():
    sample = make.friedman2(N)
    assert np.std(sample.bayes(sample.X)) / 125 == pytest.approx(3, abs=0.05)


@pytest.mark.parametrize("name", [n for n in make.__all__ if n != "Sample"])
def test_every_generator(name):
    generate = getattr(make, name)
    sample = generate(20, random_state=4)
    assert (len(sample.X), len(sample.y), sample.name) == (20, 20, name)
    np.testing.assert_array_equal(sample.X, generate(20, random_state=4).X)
    assert not np.array_equal(sample.X, generate(20, random_state=5).X)
    copy = pickle.loads(pickle.dumps(sample))
    np.testing.assert_array_equal(copy.bayes(sample.X), sample.bayes(sample.X))
    with pytest.raises(InputError, match="n_samples is a whole number of at least 1, not 0"):
        generate(0)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("sine", {"noise": -1}),
        ("friedman1", {"n_features": 4}),
        ("sparse_linear", {"n_features": 3, "n_informative": 4}),
        ("sparse_linear", {"correlation": 1.0}),
        ("nested_spheres", {"useless": -1}),
        ("two_gaussians", {"distance": 0}),
        ("two_gaussians", {"prior": 1}),
        ("two_gaussians", {"n_features": 3, "correlation": -0.6}),
        ("lipschitz", {"c": 0}),
        ("xor", {"cluster_std": 0}),
        ("separable", {"margin": -1}),
    ],
)
def test_bad_options(name, options):
    with pytest.raises(InputError, match=next(reversed(options))):
        getattr(make, name)(10, **options)
