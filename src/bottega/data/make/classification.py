"""Generators of classification problems with a known Bayes rule."""

from functools import partial

import numpy as np
from scipy.stats import chi2, norm

from bottega.core.errors import InputError
from bottega.data.make.sample import Sample, check_count, generator

__all__ = ["lipschitz", "nested_spheres", "separable", "two_gaussians", "xor"]


def nested_spheres(n: int, *, useless: int = 0, seed: int = 0) -> Sample:
    """Draw class 0 as four normals, and class 1 as four normals whose sum of squares is in [9, 16].

    Both classes are equally likely; `useless` normal features may be added. The Bayes rule says
    class 1 within the shell: there its density is class 0's divided by the shell's probability. It
    errs on class 0 within the shell only: risk (F(16) - F(9)) / 2 with F of chi-squared, 4 degrees.

    >>> round(nested_spheres(10).bayes_risk, 6)
    0.02904
    """
    check_count("useless", useless, 0)
    rng = generator(n, seed)
    y = rng.integers(0, 2, size=n)
    direction = rng.normal(size=(n, 4))
    low, high = np.asarray(chi2.cdf([9, 16], df=4))
    radius = np.sqrt(chi2.ppf(rng.uniform(low, high, size=n), df=4))
    shell = direction / np.linalg.norm(direction, axis=1, keepdims=True) * radius[:, None]
    X = np.where(y[:, None] == 1, shell, direction)
    X = np.hstack([X, rng.normal(size=(n, useless))])
    return Sample(X, y, _in_shell, float(high - low) / 2, "zero_one", "nested_spheres")


def two_gaussians(
    n: int,
    *,
    distance: float = 2.0,
    features: int = 2,
    prior: float = 0.5,
    correlation: float = 0.0,
    seed: int = 0,
) -> Sample:
    """Draw two normal classes of equal covariance, `distance` (Mahalanobis) apart.

    All pairs of features have the same correlation; `prior` is the probability of class 1. With D
    the distance and t = log((1 - prior) / prior), the Bayes risk is
    prior Phi(-D/2 + t/D) + (1 - prior) Phi(-D/2 - t/D).

    >>> round(two_gaussians(10, distance=2.0, prior=0.5).bayes_risk, 6)
    0.158655
    """
    check_count("features", features, 1)
    if not distance > 0:
        raise InputError(f"distance is above 0, not {distance}.")
    if not 0 < prior < 1:
        raise InputError(f"prior is between 0 and 1, not {prior}.")
    if not -1 / max(features - 1, 1) < correlation < 1:
        raise InputError(f"correlation {correlation} gives no covariance of {features} features.")
    rng = generator(n, seed)
    covariance = np.full((features, features), float(correlation))
    np.fill_diagonal(covariance, 1.0)
    root = np.linalg.cholesky(covariance)
    mean = root @ np.full(features, distance / np.sqrt(features))
    y = (rng.uniform(size=n) < prior).astype(np.int64)
    X = rng.normal(size=(n, features)) @ root.T + (y[:, None] - 0.5) * mean
    t = float(np.log((1 - prior) / prior))
    half, shift = distance / 2, t / distance
    risk = prior * norm.cdf(-half + shift) + (1 - prior) * norm.cdf(-half - shift)
    rule = partial(_half_space, np.linalg.solve(covariance, mean), t)
    return Sample(X, y, rule, float(risk), "zero_one", "two_gaussians")


def lipschitz(n: int, *, c: float = 4.0, features: int = 2, seed: int = 0) -> Sample:
    """Draw x uniform on the cube and y = 1 with probability eta(x) = 1/2 + 1/2 prod_j cos(2 c x_j).

    eta is Lipschitz with constant c exactly: its squared gradient is c^2 times the probability that
    just one of independent events of probabilities sin^2(2 c x_j) happens. The Bayes risk is
    1/2 - 1/2 m^features, m the mean of |cos(2 c x)| over [0, 1], which has a closed form.

    >>> round(lipschitz(10, c=float(np.pi), features=1).bayes_risk, 6)  # 1/2 - 1/pi
    0.18169
    """
    check_count("features", features, 1)
    if not c > 0:
        raise InputError(f"c is above 0, not {c}.")
    rng = generator(n, seed)
    X = rng.uniform(size=(n, features))
    y = (rng.uniform(size=n) < 0.5 + 0.5 * _waves(c, X)).astype(np.int64)
    turns = np.floor(2 * c / np.pi + 0.5)  # each full arch of |cos| has area 2
    mean = (2 * turns + np.sin(2 * c - np.pi * turns)) / (2 * c)
    risk = 0.5 - 0.5 * float(mean) ** features
    return Sample(X, y, partial(_crest, c), risk, "zero_one", "lipschitz")


def xor(n: int, *, spread: float = 0.4, useless: int = 0, seed: int = 0) -> Sample:
    """Draw four normal clusters around (+-1, +-1); opposite corners share a class.

    The Bayes rule is the sign of x1 x2. With p = Phi(-1 / spread) the chance that a coordinate
    strays over its axis, the risk is 2 p (1 - p): one of the two strays.

    >>> round(xor(10, spread=1.0).bayes_risk, 6)
    0.266968
    """
    check_count("useless", useless, 0)
    if not spread > 0:
        raise InputError(f"spread is above 0, not {spread}.")
    rng = generator(n, seed)
    corners = rng.choice([-1.0, 1.0], size=(n, 2))
    y = (corners[:, 0] * corners[:, 1] > 0).astype(np.int64)
    X = corners + spread * rng.normal(size=(n, 2))
    X = np.hstack([X, rng.normal(size=(n, useless))])
    stray = float(norm.cdf(-1 / spread))
    return Sample(X, y, _same_sign, 2 * stray * (1 - stray), "zero_one", "xor")


def separable(n: int, *, margin: float = 0.1, features: int = 2, seed: int = 0) -> Sample:
    """Draw two classes on the two sides of a hyperplane through 0, no point nearer than `margin`.

    Points are uniform on [-1, 1]^features, then moved away from the hyperplane by `margin`. The
    seed fixes the hyperplane too. The Bayes risk is 0.

    >>> separable(10, margin=0.5).bayes_risk
    0.0
    """
    check_count("features", features, 1)
    if not margin >= 0:
        raise InputError(f"margin is 0 or more, not {margin}.")
    rng = generator(n, seed)
    normal = rng.normal(size=features)
    normal /= np.linalg.norm(normal)
    X = rng.uniform(-1, 1, size=(n, features))
    y = (X @ normal >= 0).astype(np.int64)
    away = margin * (1 + 1e-12) + 1e-12  # rounding must not bring a point back inside
    X = X + np.where(y == 1, away, -away)[:, None] * normal
    return Sample(X, y, partial(_half_space, normal, 0.0), 0.0, "zero_one", "separable")


# The predictors are functions of the module, so that a sample can be pickled.


def _in_shell(X: np.ndarray) -> np.ndarray:
    square = np.sum(np.asarray(X)[:, :4] ** 2, axis=1)
    return np.asarray(((square >= 9) & (square <= 16)).astype(np.int64))


def _half_space(direction: np.ndarray, threshold: float, X: np.ndarray) -> np.ndarray:
    return np.asarray((np.asarray(X) @ direction >= threshold).astype(np.int64))


def _waves(c: float, X: np.ndarray) -> np.ndarray:
    return np.asarray(np.prod(np.cos(2 * c * np.asarray(X)), axis=1))


def _crest(c: float, X: np.ndarray) -> np.ndarray:
    return np.asarray((_waves(c, X) >= 0).astype(np.int64))


def _same_sign(X: np.ndarray) -> np.ndarray:
    X = np.asarray(X)
    return np.asarray((X[:, 0] * X[:, 1] >= 0).astype(np.int64))
