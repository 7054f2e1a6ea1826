r"""Families of responses: distributions with a mean, a variance at it, and a link.

Symbols
-------
mu      mean
eta     linear predictor, ``eta = g(mu)``
V       variance at a mean, up to the dispersion
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy import special

from bottega.core.errors import ParameterError, did_you_mean
from bottega.core.links import Link, get_link
from bottega.core.stored import stored
from bottega.core.typing import FloatArray

__all__ = [
    "BINOMIAL",
    "FAMILIES",
    "GAMMA",
    "GAUSSIAN",
    "POISSON",
    "Family",
    "NegativeBinomial",
    "get_family",
]


@dataclass(frozen=True, repr=False)
class Family:
    r"""A distribution of the response given its mean, with a link.

    The linear predictor is :math:`\eta = g(\mu)`, the variance :math:`V(\mu)` times the dispersion.

    Parameters
    ----------
    link_name : str, optional
        The link; empty for the usual one of the family.

    Attributes
    ----------
    name : str
        Name by which `get_family` finds it.
    code : int
        Number by which compiled kernels know it.
    known_scale : bool
        Whether the dispersion is 1 and not estimated.
    links : tuple of str
        The links it can have, the usual one first.

    Examples
    --------
    >>> BINOMIAL.mean(BINOMIAL.link(0.25)).item()
    0.25
    >>> POISSON.deviance([1, 2], [1, 2]).item()
    0.0
    >>> BINOMIAL.with_link("probit").mean(0.0).item()
    0.5
    """

    link_name: str = ""

    name: ClassVar[str]
    code: ClassVar[int]
    known_scale: ClassVar[bool] = True
    links: ClassVar[tuple[str, ...]]
    canonical: ClassVar[str]

    def __repr__(self) -> str:
        shown = self.name.upper()
        return shown if not self.link_name else f"{shown}.with_link({self.link_name!r})"

    @property
    def the_link(self) -> Link:
        """The link function with its derivatives."""
        return get_link(self.link_name or self.links[0])

    @property
    def is_canonical(self) -> bool:
        """Whether the slope of the mean is the variance."""
        return self.the_link.name == self.canonical

    def with_link(self, name: str | None) -> Self:
        """Return the family with another link; None is the usual one."""
        if name is not None and name not in self.links:
            get_link(name)
            raise ParameterError(
                f"link={name!r} does not suit family={self.name!r}; choose one of "
                f"{', '.join(self.links)}."
            )
        chosen = "" if name is None or name == self.links[0] else name
        return self if chosen == self.link_name else replace(self, link_name=chosen)

    def link(self, mu: Any) -> FloatArray:
        """Return the linear predictor of a mean."""
        return np.asarray(self.the_link.link(np.asarray(mu, dtype=np.float64)))

    def mean(self, eta: Any) -> FloatArray:
        """Return the mean of a linear predictor."""
        return np.asarray(self.the_link.mean(np.asarray(eta, dtype=np.float64)))

    def mean_slope(self, eta: Any) -> FloatArray:
        """Return the derivative of the mean in the linear predictor."""
        return np.asarray(self.the_link.slopes(np.asarray(eta, dtype=np.float64))[0])

    def variance(self, mu: Any) -> FloatArray:
        """Return the variance at a mean, up to the dispersion."""
        return np.asarray(self.variances(np.asarray(mu, dtype=np.float64))[0])

    def variances(self, mu: FloatArray) -> tuple[Any, Any, Any]:
        """Return the variance at a mean and its first two derivatives."""
        return np.ones_like(mu), 0.0, 0.0

    def unit_deviance(self, y: Any, mu: Any) -> FloatArray:
        """Return twice what the log-likelihood of each response lacks to its greatest value."""
        y, mu = np.asarray(y, dtype=np.float64), np.asarray(mu, dtype=np.float64)
        return np.asarray(np.maximum(self._unit_deviance(y, mu), 0.0))

    def deviance(self, y: Any, mu: Any, weight: Any = None) -> FloatArray:
        """Return the (weighted) sum of the unit deviances over the rows."""
        unit = self.unit_deviance(y, mu)
        return np.asarray(unit.sum(axis=0) if weight is None else np.tensordot(weight, unit, 1))

    def scores(
        self, eta: FloatArray, y: FloatArray, weight: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the slope of each row's log-likelihood in its predictor and the information.

        Both are times the dispersion; the information is the expected curvature.
        """
        mu = self.mean(eta)
        variance, slope = self.variance(mu), self.mean_slope(eta)
        with np.errstate(all="ignore"):
            # Where both vanish, far out, the mean no longer moves: the ratio is that of the
            # canonical link.
            ratio = np.where(variance > 0, slope / variance, 1.0)
        return weight * (y - mu) * ratio, weight * slope * ratio

    def saturated(self, y: FloatArray, weight: FloatArray, scale: float) -> FloatArray:
        """Return the sum of the greatest log-likelihoods, and two derivatives in log scale.

        A weight divides the dispersion; that of a binomial row is its number of trials. The
        log-likelihood at means is this sum less half the deviance over the scale.
        """
        logs = float(np.sum(np.log(weight))) / 2
        value = -0.5 * len(y) * np.log(2 * np.pi * scale) + logs
        return np.array([value, -0.5 * len(y), 0.0])

    def start(self, y: FloatArray, weight: FloatArray) -> FloatArray:
        """Return means near the responses at which the link is finite."""
        return y

    def valid(self, eta: FloatArray, mu: FloatArray) -> bool:
        """Return whether all means are possible ones."""
        return bool(np.all(np.isfinite(mu)))

    def _unit_deviance(self, y: FloatArray, mu: FloatArray) -> Any:
        return (y - mu) ** 2


@stored
class _Gaussian(Family):
    name, code, known_scale = "gaussian", 0, False
    links, canonical = ("identity", "log", "inverse"), "identity"

    def start(self, y: FloatArray, weight: FloatArray) -> FloatArray:
        if self.the_link.name == "identity":
            return y
        low = 0.1 * float(np.mean(np.abs(y))) or 1.0
        return np.maximum(y, low)


@stored
class _Binomial(Family):
    name, code = "binomial", 1
    links, canonical = ("logit", "probit", "cloglog"), "logit"

    def variances(self, mu: FloatArray) -> tuple[Any, Any, Any]:
        return mu * (1 - mu), 1 - 2 * mu, -2.0

    def saturated(self, y: FloatArray, weight: FloatArray, scale: float) -> FloatArray:
        m, hits = weight, weight * y
        ways = special.gammaln(m + 1) - special.gammaln(hits + 1) - special.gammaln(m - hits + 1)
        held = special.xlogy(hits, y) + special.xlogy(m - hits, 1 - y)
        return np.array([float(np.sum(ways + held)), 0.0, 0.0])

    def start(self, y: FloatArray, weight: FloatArray) -> FloatArray:
        return (weight * y + 0.5) / (weight + 1)

    def _unit_deviance(self, y: FloatArray, mu: FloatArray) -> Any:
        if np.all((y == 0) | (y == 1)):
            return -2 * np.log1p(-np.abs(y - mu))
        return 2 * (special.xlogy(y, y / mu) + special.xlogy(1 - y, (1 - y) / (1 - mu)))


@stored
class _Poisson(Family):
    name, code = "poisson", 2
    links, canonical = ("log", "identity", "sqrt"), "log"

    def variances(self, mu: FloatArray) -> tuple[Any, Any, Any]:
        return mu, 1.0, 0.0

    def saturated(self, y: FloatArray, weight: FloatArray, scale: float) -> FloatArray:
        each = special.xlogy(y, y) - y - special.gammaln(y + 1)
        return np.array([float(weight @ each), 0.0, 0.0])

    def start(self, y: FloatArray, weight: FloatArray) -> FloatArray:
        return y + 0.1

    def valid(self, eta: FloatArray, mu: FloatArray) -> bool:
        return _all_above_zero(self, eta, mu)

    def _unit_deviance(self, y: FloatArray, mu: FloatArray) -> Any:
        return 2 * special.kl_div(y, mu)  # y log(y / mu) - y + mu, 0 where both are 0


@stored
class _Gamma(Family):
    name, code, known_scale = "gamma", 3, False
    links, canonical = ("log", "inverse", "identity"), "inverse"

    @property
    def is_canonical(self) -> bool:
        """Whether the slope of the mean is the variance: that of 1/mu is minus it."""
        return False

    def variances(self, mu: FloatArray) -> tuple[Any, Any, Any]:
        return mu**2, 2 * mu, 2.0

    def saturated(self, y: FloatArray, weight: FloatArray, scale: float) -> FloatArray:
        shape = weight / scale
        logs = np.log(shape)
        each = shape * logs - shape - special.gammaln(shape) - np.log(y)
        slope = shape * (logs - special.digamma(shape))
        bend = slope + shape - shape**2 * special.polygamma(1, shape)
        return np.array([float(each.sum()), -float(slope.sum()), float(bend.sum())])

    def valid(self, eta: FloatArray, mu: FloatArray) -> bool:
        return _all_above_zero(self, eta, mu)

    def _unit_deviance(self, y: FloatArray, mu: FloatArray) -> Any:
        return 2 * ((y - mu) / mu - np.log(y / mu))


@stored
@dataclass(frozen=True, repr=False)
class NegativeBinomial(Family):
    r"""Counts whose variance is :math:`\mu + \mu^2 / \theta`.

    Parameters
    ----------
    link_name : str, optional
        The link; empty for the logarithm.
    theta : float
        Large: close to the Poisson.

    Examples
    --------
    >>> NegativeBinomial(theta=2.0).variance(4.0).item()
    12.0
    """

    theta: float = 1.0

    name: ClassVar[str] = "negative_binomial"
    code: ClassVar[int] = 4
    links: ClassVar[tuple[str, ...]] = ("log", "identity", "sqrt")
    canonical: ClassVar[str] = ""

    def __repr__(self) -> str:
        chosen = f"{self.link_name!r}, " if self.link_name else ""
        return f"NegativeBinomial({chosen}theta={self.theta:.4g})"

    def variances(self, mu: FloatArray) -> tuple[Any, Any, Any]:
        """Return the variance at a mean and its first two derivatives."""
        return mu + mu**2 / self.theta, 1 + 2 * mu / self.theta, 2 / self.theta

    def saturated(self, y: FloatArray, weight: FloatArray, scale: float) -> FloatArray:
        """Return the sum of the greatest log-likelihoods, and two derivatives in log scale."""
        t = self.theta
        each = special.gammaln(y + t) - special.gammaln(t) - special.gammaln(y + 1)
        each += t * np.log(t) + special.xlogy(y, y) - (y + t) * np.log(y + t)
        return np.array([float(weight @ each), 0.0, 0.0])

    def start(self, y: FloatArray, weight: FloatArray) -> FloatArray:
        """Return means near the responses at which the link is finite."""
        return np.asarray(y + (y == 0) / 6)

    def valid(self, eta: FloatArray, mu: FloatArray) -> bool:
        """Return whether all means are possible ones."""
        return _all_above_zero(self, eta, mu)

    def _unit_deviance(self, y: FloatArray, mu: FloatArray) -> Any:
        t = self.theta
        return 2 * (special.xlogy(y, y / mu) - (y + t) * np.log((y + t) / (mu + t)))


def _all_above_zero(family: Family, eta: FloatArray, mu: FloatArray) -> bool:
    # One square root: the same mean has two predictors.
    rising = family.the_link.name != "sqrt" or bool(np.all(eta > 0))
    return rising and bool(np.all(np.isfinite(mu)) and np.all(mu > 0))


GAUSSIAN, BINOMIAL, POISSON, GAMMA = _Gaussian(), _Binomial(), _Poisson(), _Gamma()
FAMILIES: dict[str, Family] = {
    each.name: each for each in (GAUSSIAN, BINOMIAL, POISSON, GAMMA, NegativeBinomial())
}


def get_family(family: str | Family, link: str | None = None) -> Family:
    """Return a family by its name, or the family itself; with a link where one is given."""
    if isinstance(family, Family):
        return family if link is None else family.with_link(link)
    if family not in FAMILIES:
        raise ParameterError(
            f"family={family!r} is not known; choose one of {', '.join(FAMILIES)}."
            + did_you_mean(str(family), FAMILIES)
        )
    return FAMILIES[family].with_link(link)
