"""How many components: the share of variance, parallel analysis, and the evidence."""

from typing import Any

import numpy as np
from scipy.special import gammaln

from bottega.core.errors import InputError
from bottega.core.rows import split_rows
from bottega.core.typing import FloatArray
from bottega.latent._pca.decomposed import Directions

__all__ = [
    "MOST_SIMULATED",
    "SHARE",
    "criteria_of",
    "evidence",
    "parallel_limits",
    "reaching_share",
]

SHARE = 0.9  # the rule of 90 %
MOST_SIMULATED = 200  # directions up to which parallel analysis comes with every path
_ROUNDING = 1e-12  # of a share
_LEVEL = 0.95
_AT_ONCE = 1e6  # numbers that are simulated at once


def reaching_share(variances: FloatArray, total: float, share: float) -> int:
    """Return the least number of components with more than a share of the variance.

    Examples
    --------
    >>> reaching_share(np.array([6.0, 3.0, 1.0]), 10.0, 0.8)
    2
    """
    if total <= 0:
        return min(1, len(variances))
    reached = np.cumsum(variances) / total
    more = np.flatnonzero(reached > share + _ROUNDING)
    return int(more[0]) + 1 if len(more) else len(variances)


def shortfall(found: Directions, share: float) -> FloatArray:
    """Return by how much 0, 1, 2, ... components miss a share of the variance."""
    kept = 1 - found.discarded(np.arange(len(found.variances) + 1)) / (found.total or 1.0)
    short = np.maximum(share - kept, 0.0)
    short[short < _ROUNDING] = 0.0
    return short


def evidence(variances: FloatArray, n: float) -> FloatArray:
    """Return Minka's log evidence for 0, 1, ..., d components of d variances.

    Laplace's approximation of the probability of the data under probabilistic components. It is
    NaN for none and for all of them, as in scikit-learn, and where a variance kept is zero.

    Parameters
    ----------
    variances : ndarray of shape (d,)
        All eigenvalues of the covariance matrix, largest first.
    n : float
        Number of rows.

    Returns
    -------
    ndarray of shape (d + 1,)
        Higher is better.
    """
    d = len(variances)
    found = np.full(d + 1, np.nan)
    rank = int(np.count_nonzero(variances > 1e-15 * max(variances[0], 1e-300))) if d else 0
    most = min(rank, d - 1)
    if most < 1:
        return found
    lam = variances / variances[0]  # the unit adds the same to all
    tiny = np.finfo(np.float64).eps
    i = np.arange(1, most + 1)
    sphere = np.cumsum(-np.log(2) + gammaln((d - i + 1) / 2) - np.log(np.pi) * (d - i + 1) / 2)
    gaps = np.maximum(lam[:most, None] - lam[None, :], tiny)
    beyond = np.triu(np.ones((most, d), dtype=bool), 1)
    spread = np.cumsum(np.sum(np.log(gaps), axis=1, where=beyond) + np.log(n) * (d - i))
    inverse = np.maximum(1 / lam[None, :most] - 1 / lam[:most, None], tiny)
    pairs = np.log(inverse) * np.triu(np.ones((most, most)), 1)
    within = np.cumsum(pairs.sum(axis=0))  # of all pairs among the first k
    for k in range(1, most + 1):
        noise = max(float(lam[k:].mean()), tiny)
        m = d * k - k * (k + 1) / 2
        rest = (d - k) * np.sum(np.log(np.maximum(1 / noise - 1 / lam[:k], tiny)))
        curvature = spread[k - 1] + within[k - 1] + rest
        found[k] = (
            sphere[k - 1]
            - n / 2 * np.sum(np.log(lam[:k]))
            - n * (d - k) / 2 * np.log(noise)
            + np.log(2 * np.pi) * (m + k) / 2
            - curvature / 2
            - k * np.log(n) / 2
        )
    return found


def parallel_limits(
    n: int, column_variances: FloatArray, *, count: int, seed: int = 0
) -> FloatArray:
    """Return what eigenvalues of independent normal columns seldom exceed (parallel analysis).

    Simulated columns get the variances of the data exactly, as if the values of each column had
    been shuffled.

    Parameters
    ----------
    n : int
        Number of rows.
    column_variances : ndarray of shape (p,)
        Variances of the columns, which are independent under the null hypothesis.
    count : int
        How many of the eigenvalues.
    seed : int
        Of the simulations.

    Returns
    -------
    ndarray of shape (count,)
        The 95 % quantile of each eigenvalue.
    """
    p, df = len(column_variances), n - 1
    root = np.sqrt(column_variances)
    small = min(p, df)
    times = int(np.clip(4e7 / max(small, 1) ** 3, 20, 1000))
    at_once = max(1, int(_AT_ONCE / max(small * p, 1)))
    rng = np.random.default_rng(seed)
    limits = np.zeros((times, count))
    for part in split_rows(times, at_once):
        Z = _wishart_roots(rng, part.stop - part.start, p, df)
        size = np.sqrt(np.einsum("tij,tij->tj", Z, Z))
        Z *= (root / np.where(size > 0, size, 1.0))[:, None, :]
        turned = np.swapaxes(Z, 1, 2)
        found = np.linalg.eigvalsh(Z @ turned if Z.shape[1] < p else turned @ Z)[:, ::-1]
        shown = min(count, found.shape[1])
        limits[part, :shown] = found[:, :shown]
    return np.asarray(np.quantile(limits, _LEVEL, axis=0))


def _wishart_roots(rng: np.random.Generator, times: int, p: int, df: int) -> FloatArray:
    """Return matrices Z, Z'Z of the law of df normal rows: triangular (Bartlett) where df >= p."""
    if df < p:
        return rng.normal(size=(times, df, p))
    Z = np.triu(rng.normal(size=(times, p, p)), 1)
    place = np.arange(p)
    Z[:, place, place] = np.sqrt(rng.chisquare(df - place, size=(times, p)))
    return Z


def criteria_of(found: Directions, counts: Any, *, parallel: bool, seed: int) -> dict[str, Any]:
    """Return criteria to be minimised over numbers of components, and what they are made from.

    ``share``: by how much 90 % of the variance is missed, so the least number that reaches it
    wins. ``parallel``: minus the sum of what the first eigenvalues exceed those of independent
    columns by, up to the first that does not. ``mle``: minus Minka's log evidence.
    """
    m = len(found.variances)
    columns = {"share": shortfall(found, SHARE)}
    if parallel:
        limits = parallel_limits(found.n, found.column_variances, count=m, seed=seed)
        columns["parallel"] = 0.0 - np.concatenate([[0.0], excess(found.variances, limits)])
    if found.complete and found.n > found.p:
        columns["mle"] = -evidence(found.variances, found.weight)
    criteria = {name: column[counts] for name, column in columns.items()}
    share = 1 - found.discarded(counts) / (found.total if found.total > 0 else 1.0)
    measured = {name: -column for name, column in criteria.items()} | {"share": share}
    return {"criteria": criteria, "measured": measured}


def excess(variances: FloatArray, limits: FloatArray) -> FloatArray:
    """Return the running sum of variances above their limits; it falls from the first below."""
    gap = variances - limits
    below = np.flatnonzero(gap <= 0)
    if len(below):
        gap[below[0] :] = -np.abs(gap[below[0] :]) - np.finfo(np.float64).tiny
    return np.asarray(np.cumsum(gap))


def by_evidence(found: Directions) -> int:
    """Return the number of components of the largest evidence."""
    if not found.complete or found.n < found.p:
        raise InputError(
            f"n_components='mle' needs at least as many rows as columns; found {found.n} rows of "
            f"{found.p} columns. Give a number, a share, or 'auto'."
        )
    column = evidence(found.variances, found.weight)
    if not np.any(np.isfinite(column)):
        return min(1, found.size)
    return int(np.nanargmax(column))
