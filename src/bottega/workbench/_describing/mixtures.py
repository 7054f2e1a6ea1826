"""Normal mixtures of the number columns: how many clusters there is evidence for."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from sklearn.metrics import adjusted_rand_score

from bottega.cluster import GaussianMixture
from bottega.core.errors import ConvergenceWarning, DataWarning
from bottega.core.interruption import raise_if_pressed
from bottega.core.typing import FloatArray, IntArray

__all__ = ["ChosenMixture", "MixtureStep", "choose_mixture"]

_FAMILIES = ("EII", "VII", "EEI", "VVI", "EEE", "EEV", "VEV", "VVV")
_DIAGONAL = ("EII", "VII", "EEI", "VVI")
_LEAST_ROWS = 8  # of a cluster,
_LEAST_SHARE = 0.02  # and its share of all rows
_FEW = 0.05  # share of the rows that may be in clusters of a few rows
_APART = 2.0  # standard deviations between means: less, and two normal clouds have one summit
_HALVES = 10  # random halves that the clusters are found in again
_STABLE = 0.55  # adjusted Rand index with them, on average
_STRONG = 10.0  # difference of criteria that is very strong evidence
_TRIED = 8  # mixtures, the best first, that are looked at more closely
_LATER = 3  # further numbers of clusters, none of them better, after which no more are tried
_FLOOR = 1e-3  # least variance of a cluster, as a share of the table's


@dataclass(frozen=True)
class MixtureStep:
    """The best mixture of one number of components: its family, its criteria."""

    k: int
    family: str
    bic: float
    icl: float


@dataclass(frozen=True)
class ChosenMixture:
    """A mixture and the evidence for the number of its components.

    Attributes
    ----------
    model : GaussianMixture
        Fitted.
    steps : tuple of MixtureStep
        Best family by number of components.
    stability : float or None
        Mean adjusted Rand index with clusters found in random halves of the rows.
    separation : float or None
        Least distance between the means of two clusters, in standard deviations.
    refused : tuple of int and str, or None
        Number of clusters that the criterion asks for, and why they are not claimed.
    """

    model: GaussianMixture = field(repr=False)
    steps: tuple[MixtureStep, ...]
    stability: float | None = None
    separation: float | None = None
    refused: tuple[int, str] | None = None

    @property
    def k(self) -> int:
        """Number of components."""
        return int(self.model.n_components_)


def choose_mixture(
    X: FloatArray, most: int, rng: np.random.Generator, rounds: int = 2
) -> ChosenMixture:
    """Choose the number of clusters by the integrated classification likelihood (ICL).

    ICL is BIC and a penalty for rows that could belong to several components: a skewed cloud is
    described well by overlapping components, and has no clusters all the same. Clusters are claimed
    if ICL prefers them to one by 10 or more, their means are at least two standard deviations
    apart, and random halves of the rows have them too. Values may be missing (NaN). Clusters of a
    few rows are outliers: the choice is made again without them, up to `rounds` times.
    """
    n, p = X.shape
    families = _FAMILIES if n > 3 * p else _DIAGONAL
    most = int(max(1, min(most, n // (2 * _LEAST_ROWS))))
    seed = int(rng.integers(2**31))
    with _quiet():
        steps, ranked = _walk(X, most, families, seed)
    one = next(step for step in ranked if step.k == 1)
    refused: tuple[int, str] | None = None
    with _quiet():
        for step in ranked[:_TRIED]:
            raise_if_pressed()
            if one.icl - step.icl < _STRONG:
                break
            model = _mixture(step.k, step.family, seed).fit(X)
            labels = model.predict(X)
            apart = separation(model)
            stability, why = None, ""
            small = np.bincount(labels, minlength=step.k) < max(_LEAST_ROWS, _LEAST_SHARE * n)
            if small.any():
                why = "one of them has very few rows"
                few = small[labels]
                if rounds and 0 < few.sum() <= _FEW * n:
                    return choose_mixture(X[~few], most, rng, rounds - 1)
            elif apart < _APART:
                why = "they overlap: their centres are less than two standard deviations apart"
            else:
                stability = _stability(X, labels, step, seed, rng)
                if stability < _STABLE:
                    why = "random halves of the rows do not give the same clusters"
            if not why:
                return ChosenMixture(model, steps, stability, apart, refused)
            refused = refused or (step.k, why)
        return ChosenMixture(_mixture(1, one.family, seed).fit(X), steps, refused=refused)


def separation(model: GaussianMixture) -> float:
    """Return the least distance between two means, in standard deviations of both clusters."""
    covariances = model.full_covariances()
    least = np.inf
    for i in range(model.n_components_):
        for j in range(i):
            gap = model.means_[i] - model.means_[j]
            middle = (covariances[i] + covariances[j]) / 2
            least = min(least, float(np.sqrt(gap @ np.linalg.solve(middle, gap))))
    return least


def _walk(
    X: FloatArray, most: int, families: tuple[str, ...], seed: int
) -> tuple[tuple[MixtureStep, ...], list[MixtureStep]]:
    """Return the best family by number of components, and all settings, the least ICL first."""
    found = []
    for k in range(1, most + 1):
        raise_if_pressed()
        model = _mixture(k, list(families), seed).fit(X)
        criteria = model.path_.criteria
        for i, setting in enumerate(model.path_.settings):
            bic, icl = float(criteria["bic"][i]), float(criteria["icl"][i])
            if np.isfinite(icl):
                found.append(MixtureStep(k, setting["covariance_type"], bic, icl))
        if min(found, key=lambda step: step.icl).k <= k - _LATER:
            break
    ranked = sorted(found, key=lambda step: (step.icl, step.k, step.family))
    sizes = sorted({step.k for step in found})
    steps = tuple(next(step for step in ranked if step.k == k) for k in sizes)
    return steps, ranked


def _mixture(k: int, family: str | list[str], seed: int) -> GaussianMixture:
    return GaussianMixture(
        k,
        covariance_type=family,
        init_params="hierarchical",
        reg_covar=_FLOOR,
        max_iter=200,
        select="icl",
        random_state=seed,
    )


def _stability(
    X: FloatArray, labels: IntArray, step: MixtureStep, seed: int, rng: np.random.Generator
) -> float:
    """Return how well clusters found in random halves agree with those of all rows."""
    found = []
    for half in _halves(len(X), step.k, rng):
        raise_if_pressed()
        model = _mixture(step.k, step.family, seed).fit(X[half])
        found.append(adjusted_rand_score(labels, model.predict(X)))
    return float(np.mean(found))


def _halves(n: int, k: int, rng: np.random.Generator) -> Iterator[IntArray]:
    for _ in range(_HALVES):
        yield np.sort(rng.choice(n, max(n // 2, k + 1), replace=False))


class _quiet(warnings.catch_warnings):  # noqa: N801 - a context, as its parent
    """Let trials of mixtures fail to converge, or shrink, without a word."""

    def __enter__(self) -> None:
        super().__enter__()
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DataWarning)
