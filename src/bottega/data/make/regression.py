"""Generators of regression problems with a known regression function."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.data.make.sample import Sample, check_count, generator

__all__ = ["friedman1", "friedman2", "friedman3", "sine", "sparse_linear"]


def sine(n_samples: int, *, noise: float = 0.3, random_state: Any = 0) -> Sample:
    """Draw x uniform on [0, 1] and y = sin(2 pi x) + noise * N(0, 1).

    >>> round(sine(10, noise=0.5).bayes_risk, 2)
    0.25
    """
    rng = generator(n_samples, random_state)
    X = rng.uniform(size=(n_samples, 1))
    return _regression(X, _sine, noise, rng, "sine")


def friedman1(
    n_samples: int, *, noise: float = 1.0, n_features: int = 10, random_state: Any = 0
) -> Sample:
    """Draw x uniform on [0, 1]^d and y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5.

    Normal noise is added; the features after the fifth are of no use.

    >>> friedman1(10).X.shape
    (10, 10)
    """
    check_count("n_features", n_features, 5)
    rng = generator(n_samples, random_state)
    return _regression(
        rng.uniform(size=(n_samples, n_features)), _friedman1, noise, rng, "friedman1"
    )


def friedman2(n_samples: int, *, noise: float = 125.0, random_state: Any = 0) -> Sample:
    """Draw an electric circuit's impedance y = sqrt(x1^2 + (x2 x3 - 1 / (x2 x4))^2), with noise.

    x1 is uniform on [0, 100], x2 on [40 pi, 560 pi], x3 on [0, 1], x4 on [1, 11]. The default noise
    is a third of the signal's standard deviation.

    >>> friedman2(10).bayes_risk
    15625.0
    """
    rng = generator(n_samples, random_state)
    return _regression(_circuit(n_samples, rng), _friedman2, noise, rng, "friedman2")


def friedman3(n_samples: int, *, noise: float = 0.1, random_state: Any = 0) -> Sample:
    """Draw the phase y = arctan((x2 x3 - 1 / (x2 x4)) / x1) of the circuit of `friedman2`.

    >>> round(friedman3(10).bayes_risk, 4)
    0.01
    """
    rng = generator(n_samples, random_state)
    return _regression(_circuit(n_samples, rng), _friedman3, noise, rng, "friedman3")


def sparse_linear(
    n_samples: int,
    *,
    n_features: int = 50,
    n_informative: int = 5,
    noise: float = 1.0,
    correlation: float = 0.0,
    random_state: Any = 0,
) -> Sample:
    """Draw normal x with correlations falling off and y = x b + noise, with b mostly zero.

    Columns i and j have correlation ``correlation ** abs(i - j)``.

    The nonzero coefficients are 1, -2, 3, ... in turn, at places spread evenly over the features;
    ``sample.bayes(np.eye(n_features))`` returns b.

    >>> sample = sparse_linear(10, n_features=6, n_informative=2)
    >>> sample.bayes(np.eye(6)).tolist()
    [1.0, 0.0, 0.0, -2.0, 0.0, 0.0]
    """
    check_count("n_features", n_features, 1)
    if not 0 <= n_informative <= n_features:
        raise InputError(
            f"n_informative is between 0 and n_features={n_features}, not {n_informative}."
        )
    if not -1 < correlation < 1:
        raise InputError(f"correlation is between -1 and 1, not {correlation}.")
    rng = generator(n_samples, random_state)
    X = rng.normal(size=(n_samples, n_features))
    for j in range(1, n_features):  # an autoregression gives the powers of the correlation
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    coefficients = np.zeros(n_features)
    places = np.arange(n_informative) * n_features // max(n_informative, 1)
    coefficients[places] = np.arange(1, n_informative + 1) * (-1.0) ** np.arange(n_informative)
    return _regression(X, partial(_linear, coefficients), noise, rng, "sparse_linear")


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


def _circuit(n_samples: int, rng: np.random.Generator) -> np.ndarray:
    low = np.array([0, 40 * np.pi, 0, 1])
    high = np.array([100, 560 * np.pi, 1, 11])
    return np.asarray(rng.uniform(low, high, size=(n_samples, 4)))


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
