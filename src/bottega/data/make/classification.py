"""Generators of classification problems with a known Bayes rule."""

from functools import partial
from typing import Any

import numpy as np
from scipy.stats import chi2, norm

from bottega.core.errors import InputError
from bottega.data.make.sample import Sample, check_count, generator

__all__ = ["lipschitz", "nested_spheres", "separable", "two_gaussians", "xor"]


def nested_spheres(n_samples: int, *, useless: int = 0, random_state: Any = 0) -> Sample:
    """Draw class 0 as four normals, and class 1 as four normals whose sum of squares is in [9, 16].

    Both classes are equally likely; `useless` normal features may be added. The Bayes rule says
    class 1 within the shell: there its density is class 0's divided by the shell's probability. It
    errs on class 0 within the shell only: risk (F(16) - F(9)) / 2 with F of chi-squared, 4 degrees.

    >>> round(nested_spheres(10).bayes_risk, 6)
    0.02904
    """
    check_count("useless", useless, 0)
    rng = generator(n_samples, random_state)
    y = rng.integers(0, 2, size=n_samples)
    direction = rng.normal(size=(n_samples, 4))
    low, high = np.asarray(chi2.cdf([9, 16], df=4))
    radius = np.sqrt(chi2.ppf(rng.uniform(low, high, size=n_samples), df=4))
    shell = direction / np.linalg.norm(direction, axis=1, keepdims=True) * radius[:, None]
    X = np.where(y[:, None] == 1, shell, direction)
    X = np.hstack([X, rng.normal(size=(n_samples, useless))])
    return Sample(X, y, _in_shell, float(high - low) / 2, "zero_one", "nested_spheres")


def two_gaussians(
    n_samples: int,
    *,
    distance: float = 2.0,
    n_features: int = 2,
    prior: float = 0.5,
    correlation: float = 0.0,
    random_state: Any = 0,
) -> Sample:
    """Draw two normal classes of equal covariance, `distance` (Mahalanobis) apart.

    All pairs of features have the same correlation; `prior` is the probability of class 1. With D
    the distance and t = log((1 - prior) / prior), the Bayes risk is
    prior Phi(-D/2 + t/D) + (1 - prior) Phi(-D/2 - t/D).

    >>> round(two_gaussians(10, distance=2.0, prior=0.5).bayes_risk, 6)
    0.158655
    """
    check_count("n_features", n_features, 1)
    if not distance > 0:
        raise InputError(f"distance is above 0, not {distance}.")
    if not 0 < prior < 1:
        raise InputError(f"prior is between 0 and 1, not {prior}.")
    if not -1 / max(n_features - 1, 1) < correlation < 1:
        raise InputError(f"correlation {correlation} gives no covariance of {n_features} features.")
    rng = generator(n_samples, random_state)
    covariance = np.full((n_features, n_features), float(correlation))
    np.fill_diagonal(covariance, 1.0)
    root = np.linalg.cholesky(covariance)
    mean = root @ np.full(n_features, distance / np.sqrt(n_features))
    y = (rng.uniform(size=n_samples) < prior).astype(np.int64)
    X = rng.normal(size=(n_samples, n_features)) @ root.T + (y[:, None] - 0.5) * mean
    t = float(np.log((1 - prior) / prior))
    half, shift = distance / 2, t / distance
    risk = prior * norm.cdf(-half + shift) + (1 - prior) * norm.cdf(-half - shift)
    rule = partial(_half_space, np.linalg.solve(covariance, mean), t)
    return Sample(X, y, rule, float(risk), "zero_one", "two_gaussians")


def lipschitz(
    n_samples: int, *, c: float = 4.0, n_features: int = 2, random_state: Any = 0
) -> Sample:
    """Draw x uniform on the cube and y = 1 with probability eta(x) = 1/2 + 1/2 prod_j cos(2 c x_j).

    eta is Lipschitz with constant c exactly: its squared gradient is c^2 times the probability that
    just one of independent events of probabilities sin^2(2 c x_j) happens. The Bayes risk is
    1/2 - 1/2 m^d, m the mean of |cos(2 c x)| over [0, 1], which has a closed form.

    >>> round(lipschitz(10, c=float(np.pi), n_features=1).bayes_risk, 6)  # 1/2 - 1/pi
    0.18169
    """
    check_count("n_features", n_features, 1)
    if not c > 0:
        raise InputError(f"c is above 0, not {c}.")
    rng = generator(n_samples, random_state)
    X = rng.uniform(size=(n_samples, n_features))
    y = (rng.uniform(size=n_samples) < 0.5 + 0.5 * _waves(c, X)).astype(np.int64)
    turns = np.floor(2 * c / np.pi + 0.5)  # each full arch of |cos| has area 2
    mean = (2 * turns + np.sin(2 * c - np.pi * turns)) / (2 * c)
    risk = 0.5 - 0.5 * float(mean) ** n_features
    return Sample(X, y, partial(_crest, c), risk, "zero_one", "lipschitz")


def xor(
    n_samples: int, *, cluster_std: float = 0.4, useless: int = 0, random_state: Any = 0
) -> Sample:
    """Draw four normal clusters around (+-1, +-1); opposite corners share a class.

    The Bayes rule is the sign of x1 x2. With p = Phi(-1 / cluster_std) the chance that a coordinate
    strays over its axis, the risk is 2 p (1 - p): one of the two strays.

    >>> round(xor(10, cluster_std=1.0).bayes_risk, 6)
    0.266968
    """
    check_count("useless", useless, 0)
    if not cluster_std > 0:
        raise InputError(f"cluster_std is above 0, not {cluster_std}.")
    rng = generator(n_samples, random_state)
    corners = rng.choice([-1.0, 1.0], size=(n_samples, 2))
    y = (corners[:, 0] * corners[:, 1] > 0).astype(np.int64)
    X = corners + cluster_std * rng.normal(size=(n_samples, 2))
    X = np.hstack([X, rng.normal(size=(n_samples, useless))])
    stray = float(norm.cdf(-1 / cluster_std))
    return Sample(X, y, _same_sign, 2 * stray * (1 - stray), "zero_one", "xor")


def separable(
    n_samples: int, *, margin: float = 0.1, n_features: int = 2, random_state: Any = 0
) -> Sample:
    """Draw two classes on the two sides of a hyperplane through 0, no point nearer than `margin`.

    Points are uniform on [-1, 1]^d, then moved away from the hyperplane by `margin`. The
    random state fixes the hyperplane too. The Bayes risk is 0.

    >>> separable(10, margin=0.5).bayes_risk
    0.0
    """
    check_count("n_features", n_features, 1)
    if not margin >= 0:
        raise InputError(f"margin is 0 or more, not {margin}.")
    rng = generator(n_samples, random_state)
    normal = rng.normal(size=n_features)
    normal /= np.linalg.norm(normal)
    X = rng.uniform(-1, 1, size=(n_samples, n_features))
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
