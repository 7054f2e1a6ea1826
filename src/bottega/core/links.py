r"""Link functions: how a linear predictor becomes a mean."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from scipy import special

from bottega.core.errors import ParameterError, did_you_mean
from bottega.core.stored import stored
from bottega.core.typing import FloatArray

__all__ = ["LINKS", "Link", "get_link"]


class Link(ABC):
    r"""A link :math:`\eta = g(\mu)`, its inverse, and the derivatives of the inverse.

    Attributes
    ----------
    name : str
        Name by which `get_link` finds it.

    Examples
    --------
    >>> LINKS["log"].slopes(np.array([0.0]))
    (array([1.]), array([1.]), array([1.]))
    """

    name: ClassVar[str]

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"get_link({self.name!r})"

    @abstractmethod
    def link(self, mu: FloatArray) -> FloatArray:
        """Return the linear predictor of a mean."""

    @abstractmethod
    def mean(self, eta: FloatArray) -> FloatArray:
        """Return the mean of a linear predictor."""

    @abstractmethod
    def slopes(self, eta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the first three derivatives of the mean in the linear predictor."""


@stored
class _Identity(Link):
    name = "identity"

    def link(self, mu: FloatArray) -> FloatArray:
        return mu

    def mean(self, eta: FloatArray) -> FloatArray:
        return eta

    def slopes(self, eta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        zero = np.zeros_like(eta)
        return np.ones_like(eta), zero, zero


@stored
class _Log(Link):
    name = "log"

    def link(self, mu: FloatArray) -> FloatArray:
        return np.asarray(np.log(mu))

    def mean(self, eta: FloatArray) -> FloatArray:
        return np.asarray(np.exp(eta))

    def slopes(self, eta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        mu = np.asarray(np.exp(eta))
        return mu, mu, mu


@stored
class _Logit(Link):
    name = "logit"

    def link(self, mu: FloatArray) -> FloatArray:
        return np.asarray(special.logit(mu))

    def mean(self, eta: FloatArray) -> FloatArray:
        return np.asarray(special.expit(eta))

    def slopes(self, eta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        mu, rest = special.expit(eta), special.expit(-eta)
        first = np.asarray(mu * rest)
        return first, first * (rest - mu), first * (1 - 6 * first)


@stored
class _Probit(Link):
    name = "probit"

    def link(self, mu: FloatArray) -> FloatArray:
        return np.asarray(special.ndtri(mu))

    def mean(self, eta: FloatArray) -> FloatArray:
        return np.asarray(special.ndtr(eta))

    def slopes(self, eta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        first = np.asarray(np.exp(-0.5 * eta**2) / np.sqrt(2 * np.pi))
        return first, -eta * first, (eta**2 - 1) * first


@stored
class _ComplementaryLogLog(Link):
    name = "cloglog"

    def link(self, mu: FloatArray) -> FloatArray:
        return np.asarray(np.log(-np.log1p(-mu)))

    def mean(self, eta: FloatArray) -> FloatArray:
        return np.asarray(-np.expm1(-np.exp(eta)))

    def slopes(self, eta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        hazard = np.exp(np.minimum(eta, 700.0))
        first = np.asarray(np.exp(eta - hazard))
        return first, first * (1 - hazard), first * ((1 - hazard) ** 2 - hazard)


@stored
class _InverseLink(Link):
    name = "inverse"

    def link(self, mu: FloatArray) -> FloatArray:
        return 1 / mu

    def mean(self, eta: FloatArray) -> FloatArray:
        return 1 / eta

    def slopes(self, eta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        mu = 1 / eta
        return -(mu**2), 2 * mu**3, -6 * mu**4


@stored
class _SquareRoot(Link):
    name = "sqrt"

    def link(self, mu: FloatArray) -> FloatArray:
        return np.asarray(np.sqrt(mu))

    def mean(self, eta: FloatArray) -> FloatArray:
        return np.asarray(eta**2)

    def slopes(self, eta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        return 2 * eta, np.full_like(eta, 2.0), np.zeros_like(eta)


LINKS: dict[str, Link] = {
    each.name: each
    for each in (
        _Identity(),
        _Log(),
        _Logit(),
        _Probit(),
        _ComplementaryLogLog(),
        _InverseLink(),
        _SquareRoot(),
    )
}


def get_link(name: str) -> Link:
    """Return a link by its name."""
    if name not in LINKS:
        raise ParameterError(
            f"link={name!r} is not known; choose one of {', '.join(LINKS)}."
            + did_you_mean(str(name), LINKS)
        )
    return LINKS[name]
