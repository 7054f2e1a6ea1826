"""The normal distribution of several variables: marginals, conditionals, divergence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.entropy import log_of
from bottega.core.errors import InputError, did_you_mean
from bottega.core.frames import make_frame
from bottega.core.params import Integer
from bottega.core.seeds import seed_of
from bottega.core.stored import stored
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray

__all__ = ["MultivariateNormal"]

_ROUNDING = 1e-10  # of a correlation matrix: an eigenvalue below it is zero


@stored
@dataclass(frozen=True, repr=False, eq=False, init=False)
class MultivariateNormal(Shown):
    r"""Jointly normal variables.

    Split into a and b, with means :math:`\mu_a, \mu_b` and covariance blocks
    :math:`\Sigma_{aa}, \Sigma_{ab}, \Sigma_{bb}`, the marginal distribution of a is
    :math:`N(\mu_a, \Sigma_{aa})`, and the conditional one

    .. math:: a \mid b \sim N\bigl(\mu_a + \Sigma_{ab} \Sigma_{bb}^{-1} (b - \mu_b),\;
              \Sigma_{aa} - \Sigma_{ab} \Sigma_{bb}^{-1} \Sigma_{ba}\bigr).

    Parameters
    ----------
    mean : array-like of shape (p,)
        Means.
    covariance : array-like of shape (p, p)
        Symmetric and without negative eigenvalues. It may be singular: variables may be constant,
        or sums of others.
    names : sequence of str, optional
        Names of the variables; ``x1, x2, ...`` unless given.

    Attributes
    ----------
    mean : ndarray of shape (p,)
        Means.
    covariance : ndarray of shape (p, p)
        Covariances.
    names : tuple of str
        Names.

    Notes
    -----
    All is computed from the correlations, so answers follow the units of the variables.
    Conditioning costs the cube of the number of variables that are given.

    References
    ----------
    .. [1] Bishop, C. (2006). Pattern Recognition and Machine Learning, section 2.3. Springer.

    Examples
    --------
    >>> pair = MultivariateNormal([0.0, 10.0], [[1.0, 1.2], [1.2, 4.0]], names=["x", "y"])
    >>> print(pair.condition({"y": 12.0}))
    Normal distribution of 1 variable
    =================================
    variable  mean  std
    x          0.6  0.8
    >>> pair.marginal("y").mean
    array([10.])
    """

    mean: FloatArray
    covariance: FloatArray
    names: tuple[str, ...]

    def __init__(self, mean: Any, covariance: Any, *, names: Sequence[str] | None = None) -> None:
        m, s = np.array(mean, dtype=np.float64, ndmin=1), np.array(covariance, dtype=np.float64)
        if m.ndim != 1 or s.shape != (len(m), len(m)) or not len(m):
            raise InputError(
                f"The mean must have shape (p,) and the covariance (p, p); got {m.shape} and "
                f"{s.shape}."
            )
        if not (np.isfinite(m).all() and np.isfinite(s).all()):
            raise InputError("The mean and the covariance must be finite.")
        found = tuple(f"x{j + 1}" for j in range(len(m))) if names is None else tuple(names)
        if len(found) != len(m) or len(set(found)) < len(found):
            raise InputError(f"names must be {len(m)} different names; got {names!r}.")
        scale, correlation = _correlations(s)
        if not np.allclose(correlation, correlation.T, rtol=0, atol=1e-8):
            raise InputError("The covariance must be symmetric.")
        least = float(np.linalg.eigvalsh((correlation + correlation.T) / 2)[0])
        if not least >= -1e-8 or np.any((scale == 0) & (s != 0).any(axis=0)):
            raise InputError(
                "The covariance has a negative eigenvalue (that of its correlations is "
                f"{least:.3g}), so it is that of no distribution."
            )
        for name, value in (("mean", m), ("covariance", (s + s.T) / 2), ("names", found)):
            object.__setattr__(self, name, value)

    # ---- distributions that follow ---------------------------------------------------------------

    def marginal(self, *names: str) -> "MultivariateNormal":
        """Return the distribution of some of the variables, in the order of the names."""
        at = self._places(names)
        if not at:
            raise InputError(f"marginal needs at least one of {', '.join(self.names)}.")
        return MultivariateNormal(self.mean[at], self.covariance[np.ix_(at, at)], names=names)

    def condition(self, given: Mapping[str, float]) -> "MultivariateNormal":
        """Return the distribution of the other variables given the values of some.

        Parameters
        ----------
        given : mapping of name to number
            What is known.

        Returns
        -------
        MultivariateNormal
            Of the variables that are not given, in their order.
        """
        known = self._places(tuple(given))
        free = [j for j in range(len(self.names)) if j not in known]
        value = np.array([float(each) for each in given.values()])
        if not free or not np.isfinite(value).all():
            raise InputError(
                "condition needs finite numbers for some of the variables, and at least one that "
                f"is not given; got {dict(given)!r}."
            )
        scale, correlation = _correlations(self.covariance)
        gap = _standardized(value - self.mean[known], scale[known])
        root = _inverse_root(correlation[np.ix_(known, known)])
        # What a singular covariance rules out has no density: b - mean must be in its range.
        outside = gap - correlation[np.ix_(known, known)] @ (root @ (root.T @ gap))
        if known and np.abs(outside).max() > 1e-6 * max(1.0, float(np.abs(gap).max())):
            raise InputError(
                f"What is given, {dict(given)!r}, cannot happen: the covariance is singular and "
                "leaves these variables no such values."
            )
        across = correlation[np.ix_(free, known)] @ root
        mean = self.mean[free] + scale[free] * (across @ (root.T @ gap))
        left = correlation[np.ix_(free, free)] - across @ across.T
        unexplained = np.diag(left) > _ROUNDING
        left = np.where(np.outer(unexplained, unexplained), left, 0.0)
        # A variance within rounding of zero is zero: those variables follow from what is given.
        names = [self.names[j] for j in free]
        return MultivariateNormal(mean, left * scale[free] * scale[free][:, None], names=names)

    # ---- numbers ---------------------------------------------------------------------------------

    def logpdf(self, X: Any) -> Any:
        """Return the logarithm of the density at each row of an array of shape (n, p) or (p,)."""
        points = np.asarray(X, dtype=np.float64)
        if points.ndim not in (1, 2) or points.shape[-1] != len(self.mean):
            raise InputError(
                f"logpdf needs an array of shape (n, {len(self.mean)}) or ({len(self.mean)},); got "
                f"{points.shape}."
            )
        scale, root, log_det = self._regular("a density")
        distance = (((points - self.mean) / scale) @ root) ** 2
        found = -0.5 * (distance.sum(axis=-1) + log_det + len(self.mean) * np.log(2 * np.pi))
        return float(found) if found.ndim == 0 else found

    def entropy(self, *, base: float = 2.0) -> float:
        """Return the differential entropy, in bits; it may be negative."""
        _, _, log_det = self._regular("an entropy")
        return 0.5 * (log_det + len(self.mean) * (1 + np.log(2 * np.pi))) / log_of(base)

    def kl(self, other: "MultivariateNormal", *, base: float = 2.0) -> float:
        """Return the Kullback-Leibler divergence of this distribution from another, in bits."""
        if other.names != self.names:
            raise InputError(f"The variables must be the same; got {self.names} and {other.names}.")
        _, _, log_det = self._regular("a divergence")
        scale, root, other_log_det = other._regular("a divergence")
        gap = ((self.mean - other.mean) / scale) @ root
        spread = root.T @ (self.covariance / scale / scale[:, None]) @ root
        twice = np.trace(spread) + gap @ gap - len(gap) + other_log_det - log_det
        return float(max(0.5 * twice, 0.0) / log_of(base))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Any:
        """Draw rows; return a data frame with one column per variable."""
        Integer(1).check("sample", "n_samples", n_samples)
        rng = np.random.default_rng(seed_of(random_state, "sample"))
        scale, correlation = _correlations(self.covariance)
        values, vectors = np.linalg.eigh(correlation)
        half = vectors * np.sqrt(np.maximum(values, 0))
        drawn = self.mean + scale * (rng.normal(size=(n_samples, len(scale))) @ half.T)
        return make_frame(dict(zip(self.names, drawn.T, strict=True)))

    def to_frame(self, like: Any = None) -> Any:
        """Return one row per variable: ``variable, mean, std``, then its covariances."""
        columns = dict(zip(self.names, self.covariance.T, strict=True))
        return make_frame({**self._columns(), **columns}, like)

    def summary(self) -> Summary:
        """Return means and standard deviations as a table that shows itself as text and HTML."""
        count = len(self.names)
        title = f"Normal distribution of {count} variable{'s' if count > 1 else ''}"
        return Summary(title, (Section("", self._columns()),))

    def _columns(self) -> dict[str, Any]:
        std = np.sqrt(np.diag(self.covariance))
        return {"variable": list(self.names), "mean": self.mean, "std": std}

    def _places(self, names: tuple[str, ...]) -> list[int]:
        for name in names:
            if name not in self.names:
                raise InputError(
                    f"{name!r} is not one of the variables {', '.join(self.names)}."
                    f"{did_you_mean(str(name), self.names)}"
                )
        if len(set(names)) < len(names):
            raise InputError(f"A variable is named twice: {names!r}.")
        return [self.names.index(name) for name in names]

    def _regular(self, what: str) -> tuple[FloatArray, FloatArray, float]:
        """Return scales, a root of the inverse correlations and the log determinant, or raise."""
        scale, correlation = _correlations(self.covariance)
        values, vectors = np.linalg.eigh(correlation)
        if values[0] <= _ROUNDING / 100 or not np.all(scale > 0):
            raise InputError(
                f"The covariance is singular, so there is no {what.split()[-1]} over all "
                f"{len(self.names)} variables; take the marginal of some of them."
            )
        log_det = float(np.log(values).sum() + 2 * np.log(scale).sum())
        return scale, vectors / np.sqrt(values), log_det


def _correlations(covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the standard deviations, and the correlations (0 and 1 for what is constant)."""
    variance = np.diag(covariance)
    scale = np.sqrt(np.maximum(variance, 0.0))
    safe = np.where(scale > 0, scale, 1.0)
    found = covariance / safe / safe[:, None]
    return scale, np.asarray(found)


def _standardized(gap: FloatArray, scale: FloatArray) -> FloatArray:
    """Return gaps in standard deviations; of what is constant as they are."""
    return np.asarray(gap / np.where(scale > 0, scale, 1.0))


def _inverse_root(correlation: FloatArray) -> FloatArray:
    """Return R with R R' the (pseudo-)inverse of a correlation matrix."""
    if not len(correlation):
        return np.zeros((0, 0))
    values, vectors = np.linalg.eigh(correlation)
    kept = values > _ROUNDING
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))
