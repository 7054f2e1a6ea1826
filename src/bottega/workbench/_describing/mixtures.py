"""Normal mixtures of the number columns: how many groups there is evidence for."""

import warnings
from dataclasses import dataclass, field

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from bottega.core.interruption import raise_if_pressed
from bottega.core.typing import FloatArray, IntArray

__all__ = ["ChosenMixture", "MixtureStep", "choose_mixture"]

_FAMILIES = ("full", "tied", "diag", "spherical")
_LEAST_ROWS = 8  # of a cluster,
_LEAST_SHARE = 0.02  # and its share of all rows
_HALVES = 10  # random halves that the clusters are found in again
_STABLE = 0.6  # adjusted Rand index with them, on average
_STRONG = 10.0  # difference of criteria that is very strong evidence
_FLOOR = 1e-3  # variance added to each column, whose own is one


@dataclass(frozen=True)
class MixtureStep:
    """The best mixture of one number of components: the shape of its clusters, its criteria."""

    k: int
    family: str
    bic: float
    icl: float


@dataclass(frozen=True)
class ChosenMixture:
    """A mixture and the evidence for the number of its components.

    Attributes
    ----------
    k, family
        Number of components, and the shape of their covariances.
    weights, means, covariances : ndarray
        Of the components: shapes (k,), (k, p) and (k, p, p).
    steps : tuple of MixtureStep
        Best family by number of components.
    stability : float or None
        Mean adjusted Rand index with clusters found in random halves of the rows.
    refused : int or None
        Number of clusters that the criterion asks for and random halves do not find again.
    """

    k: int
    family: str
    weights: FloatArray = field(repr=False)
    means: FloatArray = field(repr=False)
    covariances: FloatArray = field(repr=False)
    steps: tuple[MixtureStep, ...]
    stability: float | None
    refused: int | None = None

    def log_densities(self, X: FloatArray) -> FloatArray:
        """Return the logarithm of weight times density of each row (without gaps) and component."""
        found = np.empty((len(X), self.k))
        for k in range(self.k):
            root = np.linalg.cholesky(self.covariances[k])
            scaled = np.linalg.solve(root, (X - self.means[k]).T)
            log_det = 2 * np.sum(np.log(np.diag(root)))
            found[:, k] = np.log(self.weights[k]) - 0.5 * (
                np.sum(scaled**2, axis=0) + log_det + X.shape[1] * np.log(2 * np.pi)
            )
        return found


def choose_mixture(X: FloatArray, most: int, rng: np.random.Generator) -> ChosenMixture:
    """Choose the number of clusters of rows without gaps by the integrated likelihood (ICL).

    ICL is BIC and a penalty for rows that could belong to several components: a skewed cloud is
    described well by overlapping components, and has no clusters all the same. More than one
    cluster must also be found again in random halves of the rows.
    """
    n, p = X.shape
    fits: dict[tuple[int, str], GaussianMixture] = {}
    steps: list[MixtureStep] = []
    seed = int(rng.integers(2**31))
    least = max(_LEAST_ROWS, int(_LEAST_SHARE * n))
    for k in range(1, most + 1):
        here: list[MixtureStep] = []
        for family in _FAMILIES:
            raise_if_pressed()
            if k > 1 and _parameters(k, p, family) > n / 3:
                continue
            model = _fit(X, k, family, seed)
            if model is None:
                continue
            shares = model.predict_proba(X)
            if k > 1 and np.bincount(shares.argmax(axis=1), minlength=k).min() < least:
                continue
            bic = float(model.bic(X))
            icl = bic - 2 * float(np.sum(np.log(np.maximum(shares.max(axis=1), 1e-300))))
            here.append(MixtureStep(k, family, bic, icl))
            fits[k, family] = model
        if here:
            steps.append(min(here, key=lambda step: step.icl))
        elif k > 2:
            break
    one = steps[0]
    best = min(steps, key=lambda step: (step.icl, step.k))
    if best.k > 1 and one.icl - best.icl < _STRONG:
        best = one
    stability, refused = None, None
    if best.k > 1:
        labels = fits[best.k, best.family].predict(X)
        stability = _stability(X, labels, best, seed, rng)
        if stability < _STABLE:
            best, refused = one, best.k
    model = fits[best.k, best.family]
    return ChosenMixture(
        best.k,
        best.family,
        np.asarray(model.weights_),
        np.asarray(model.means_),
        _full(model, best.family, p),
        tuple(steps),
        stability,
        refused,
    )


def _fit(X: FloatArray, k: int, family: str, seed: int) -> GaussianMixture | None:
    model = GaussianMixture(
        k, covariance_type=family, reg_covar=_FLOOR, n_init=1 if k == 1 else 3, random_state=seed,
        max_iter=200,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            return model.fit(X)
        except ValueError:  # a component collapsed
            return None


def _stability(
    X: FloatArray, labels: IntArray, step: MixtureStep, seed: int, rng: np.random.Generator
) -> float:
    """Return how well clusters found in random halves agree with those of all rows."""
    found = []
    for _ in range(_HALVES):
        raise_if_pressed()
        half = rng.choice(len(X), max(len(X) // 2, step.k + 1), replace=False)
        model = _fit(X[half], step.k, step.family, seed)
        found.append(0.0 if model is None else adjusted_rand_score(labels, model.predict(X)))
    return float(np.mean(found))


def _parameters(k: int, p: int, family: str) -> int:
    covariance = {
        "full": k * p * (p + 1) // 2,
        "tied": p * (p + 1) // 2,
        "diag": k * p,
        "spherical": k,
    }[family]
    return k * p + k - 1 + covariance


def _full(model: GaussianMixture, family: str, p: int) -> FloatArray:
    """Return the covariance matrix of each component."""
    found = np.asarray(model.covariances_)
    if family == "full":
        return found
    if family == "tied":
        return np.broadcast_to(found, (len(model.weights_), p, p)).copy()
    if family == "diag":
        return np.stack([np.diag(row) for row in found])
    return np.stack([value * np.eye(p) for value in found])
