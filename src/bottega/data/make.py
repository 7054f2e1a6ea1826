"""Generators with known truth: data whose best possible predictor and its risk are known.

Each takes the number of rows and a seed and returns a `Sample`. The risk of the Bayes predictor is
exact (a closed form), so that a method's excess risk can be computed and not only estimated.

>>> from bottega.data import make
>>> sample = make.two_gaussians(100, distance=2.0)
>>> round(sample.bayes_risk, 4)
0.1587
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.stats import chi2, norm

from bottega.core.errors import InputError

__all__ = [
    "Sample",
    "friedman1",
    "friedman2",
    "friedman3",
    "lipschitz",
    "nested_spheres",
    "separable",
    "sine",
    "sparse_linear",
    "two_gaussians",
    "xor",
]


@dataclass(frozen=True)
class Sample:
    """Generated data and the truth about them.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The inputs.
    y : ndarray of shape (n,)
        Numbers for regression, labels 0 and 1 for classification.
    bayes : callable
        From inputs to the best possible predictions.
    bayes_risk : float
        The expected loss of `bayes`: no method has a smaller one.
    loss : {"squared_error", "zero_one"}
        The loss meant.
    name : str
        Which generator made it.
    """

    X: np.ndarray
    y: np.ndarray
    bayes: Callable[[np.ndarray], np.ndarray]
    bayes_risk: float
    loss: str
    name: str


def sine(n: int, *, noise: float = 0.3, seed: int = 0) -> Sample:
    """Draw x uniform on [0, 1] and y = sin(2 pi x) + noise * N(0, 1).

    >>> round(sine(10, noise=0.5).bayes_risk, 2)
    0.25
    """
    rng = _generator(n, seed)
    X = rng.uniform(size=(n, 1))
    return _regression(X, _sine, noise, rng, "sine")


def friedman1(n: int, *, noise: float = 1.0, features: int = 10, seed: int = 0) -> Sample:
    """Draw x uniform on [0, 1]^features and y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5.

    Normal noise is added; the features after the fifth are of no use.

    >>> friedman1(10).X.shape
    (10, 10)
    """
    _check("features", features, 5)
    rng = _generator(n, seed)
    return _regression(rng.uniform(size=(n, features)), _friedman1, noise, rng, "friedman1")


def friedman2(n: int, *, noise: float = 125.0, seed: int = 0) -> Sample:
    """Draw an electric circuit's impedance y = sqrt(x1^2 + (x2 x3 - 1 / (x2 x4))^2), with noise.

    x1 is uniform on [0, 100], x2 on [40 pi, 560 pi], x3 on [0, 1], x4 on [1, 11]. The default noise
    is a third of the signal's standard deviation.

    >>> friedman2(10).bayes_risk
    15625.0
    """
    rng = _generator(n, seed)
    return _regression(_circuit(n, rng), _friedman2, noise, rng, "friedman2")


def friedman3(n: int, *, noise: float = 0.1, seed: int = 0) -> Sample:
    """Draw the phase y = arctan((x2 x3 - 1 / (x2 x4)) / x1) of the circuit of `friedman2`.

    >>> round(friedman3(10).bayes_risk, 4)
    0.01
    """
    rng = _generator(n, seed)
    return _regression(_circuit(n, rng), _friedman3, noise, rng, "friedman3")


def sparse_linear(
    n: int,
    *,
    features: int = 50,
    nonzero: int = 5,
    noise: float = 1.0,
    correlation: float = 0.0,
    seed: int = 0,
) -> Sample:
    """Draw normal x with correlations falling off and y = x b + noise, with b mostly zero.

    Columns i and j have correlation ``correlation ** abs(i - j)``.

    The nonzero coefficients are 1, -2, 3, ... in turn, at places spread evenly over the features;
    ``sample.bayes(np.eye(features))`` returns b.

    >>> sample = sparse_linear(10, features=6, nonzero=2)
    >>> sample.bayes(np.eye(6)).tolist()
    [1.0, 0.0, 0.0, -2.0, 0.0, 0.0]
    """
    _check("features", features, 1)
    if not 0 <= nonzero <= features:
        raise InputError(f"nonzero is between 0 and features={features}, not {nonzero}.")
    if not -1 < correlation < 1:
        raise InputError(f"correlation is between -1 and 1, not {correlation}.")
    rng = _generator(n, seed)
    X = rng.normal(size=(n, features))
    for j in range(1, features):  # an autoregression gives the powers of the correlation
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    coefficients = np.zeros(features)
    places = np.arange(nonzero) * features // max(nonzero, 1)
    coefficients[places] = np.arange(1, nonzero + 1) * (-1.0) ** np.arange(nonzero)
    return _regression(X, partial(_linear, coefficients), noise, rng, "sparse_linear")


def nested_spheres(n: int, *, useless: int = 0, seed: int = 0) -> Sample:
    """Draw class 0 as four normals, and class 1 as four normals whose sum of squares is in [9, 16].

    Both classes are equally likely; `useless` normal features may be added. The Bayes rule says
    class 1 within the shell: there its density is class 0's divided by the shell's probability. It
    errs on class 0 within the shell only: risk (F(16) - F(9)) / 2 with F of chi-squared, 4 degrees.

    >>> round(nested_spheres(10).bayes_risk, 6)
    0.02904
    """
    _check("useless", useless, 0)
    rng = _generator(n, seed)
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
    _check("features", features, 1)
    if not distance > 0:
        raise InputError(f"distance is above 0, not {distance}.")
    if not 0 < prior < 1:
        raise InputError(f"prior is between 0 and 1, not {prior}.")
    if not -1 / max(features - 1, 1) < correlation < 1:
        raise InputError(f"correlation {correlation} gives no covariance of {features} features.")
    rng = _generator(n, seed)
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
    _check("features", features, 1)
    if not c > 0:
        raise InputError(f"c is above 0, not {c}.")
    rng = _generator(n, seed)
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
    _check("useless", useless, 0)
    if not spread > 0:
        raise InputError(f"spread is above 0, not {spread}.")
    rng = _generator(n, seed)
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
    _check("features", features, 1)
    if not margin >= 0:
        raise InputError(f"margin is 0 or more, not {margin}.")
    rng = _generator(n, seed)
    normal = rng.normal(size=features)
    normal /= np.linalg.norm(normal)
    X = rng.uniform(-1, 1, size=(n, features))
    y = (X @ normal >= 0).astype(np.int64)
    away = margin * (1 + 1e-12) + 1e-12  # rounding must not bring a point back inside
    X = X + np.where(y == 1, away, -away)[:, None] * normal
    return Sample(X, y, partial(_half_space, normal, 0.0), 0.0, "zero_one", "separable")


# The predictors are functions of the module, so that a sample can be pickled.


def _sine(X: np.ndarray) -> np.ndarray:
    return np.asarray(np.sin(2 * np.pi * np.asarray(X)[:, 0]))


def _friedman1(X: np.ndarray) -> np.ndarray:
    a, b, c, d, e = np.asarray(X).T[:5]
    return np.asarray(10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e)


def _reactance(X: np.ndarray) -> np.ndarray:
    _, b, c, d = np.asarray(X).T
    return np.asarray(b * c - 1 / (b * d))


def _friedman2(X: np.ndarray) -> np.ndarray:
    return np.asarray(np.hypot(np.asarray(X)[:, 0], _reactance(X)))


def _friedman3(X: np.ndarray) -> np.ndarray:
    return np.asarray(np.arctan(_reactance(X) / np.asarray(X)[:, 0]))


def _linear(coefficients: np.ndarray, X: np.ndarray) -> np.ndarray:
    return np.asarray(np.asarray(X) @ coefficients)


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


def _circuit(n: int, rng: np.random.Generator) -> np.ndarray:
    low = np.array([0, 40 * np.pi, 0, 1])
    high = np.array([100, 560 * np.pi, 1, 11])
    return np.asarray(rng.uniform(low, high, size=(n, 4)))


def _regression(
    X: np.ndarray,
    truth: Callable[[np.ndarray], np.ndarray],
    noise: float,
    rng: np.random.Generator,
    name: str,
) -> Sample:
    if not noise >= 0:
        raise InputError(f"noise is 0 or more, not {noise}.")
    y = truth(X) + noise * rng.normal(size=len(X))
    return Sample(X, y, truth, float(noise) ** 2, "squared_error", name)


def _generator(n: int, seed: int) -> np.random.Generator:
    _check("n", n, 1)
    return np.random.default_rng(seed)


def _check(name: str, value: int, least: int) -> None:
    if not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} is a whole number of at least {least}, not {value!r}.")
