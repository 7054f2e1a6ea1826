"""Counts of events with a Gamma prior on their rate."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import special, stats

from bottega.core.errors import InputError
from bottega.core.params import Real
from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.probability._conjugate.marginals import GammaMarginal, Marginal
from bottega.probability._conjugate.model import ConjugateModel, check_positive
from bottega.probability._conjugate.seen import Events, read_observations, read_weights
from bottega.probability._conjugate.special import log_rising

__all__ = ["GammaPoisson"]

_NOTHING = Events()


@stored
@dataclass(frozen=True, repr=False)
class GammaPoisson(ConjugateModel):
    r"""Poisson counts with an unknown rate, and a Gamma prior on it.

    With :math:`\sum x_i` events over an exposure of :math:`\sum e_i` (the number of counts, where
    each is of one unit),

    .. math:: \lambda \sim \mathrm{Gamma}(a, b), \qquad x_i \sim \mathrm{Poisson}(\lambda e_i),
              \qquad \lambda \mid D \sim \mathrm{Gamma}\Bigl(a + \sum x_i,\; b + \sum e_i\Bigr),

    and the next count is negative binomial.

    Parameters
    ----------
    a, b : float, default=1
        Shape and rate of the prior, read as `a` events over an exposure of `b` seen before; larger
        values of both pull estimates to a / b.
    seen : Events, optional
        Events and exposure seen; `update` keeps it.

    Notes
    -----
    An update takes one pass over its data, everything else a fixed time. Counts that vary more
    than their mean are not Poisson, and intervals of this model are then too short.

    References
    ----------
    .. [1] Gelman, A. et al. (2013). Bayesian Data Analysis, third edition, section 2.6.

    Examples
    --------
    >>> calls = GammaPoisson(2.0, 1.0).update([3, 5, 4])
    >>> calls.mle(), calls.map(), calls.mean()
    (4.0, 3.25, 3.5)
    >>> round(float(calls.predictive().pmf(0)), 5)
    0.04398
    >>> GammaPoisson(2.0, 1.0).update([12], exposure=[3.0]).mean()
    3.5
    """

    a: float = 1.0
    b: float = 1.0
    seen: Events = _NOTHING

    title: ClassVar[str] = "Poisson counts with a Gamma prior"

    def __post_init__(self) -> None:
        check_positive("GammaPoisson", {"a": self.a, "b": self.b})

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return ("rate",)

    @property
    def n(self) -> float:
        """Number of counts seen, or their total weight."""
        return self.seen.n

    def update(
        self, data: Any, *, exposure: Any = None, sample_weight: Any = None
    ) -> "GammaPoisson":
        """Return the model that has seen these data too.

        Parameters
        ----------
        data : array-like of shape (m,)
            Counts: 0, 1, 2, ...; it may be empty.
        exposure : float or array-like of shape (m,), optional
            Time, area or people that each count is of; 1 by default.
        sample_weight : array-like of shape (m,), optional
            How often each occurred.

        Returns
        -------
        GammaPoisson
        """
        values = read_observations(data, "GammaPoisson")
        weights = read_weights(sample_weight, len(values), "GammaPoisson")
        bad = np.flatnonzero((values < 0) | (values != np.floor(values)))
        if bad.size:
            raise InputError(
                f"GammaPoisson: observation {bad[0]} is {values[bad[0]]:g}; counts must be whole "
                "numbers from 0 on."
            )
        time = np.ones(len(values)) if exposure is None else _exposures(exposure, len(values))
        return replace(self, seen=self.seen.plus(Events.of(values, time, weights)))

    def prior(self) -> Any:
        """Return the distribution of the rate before any data, of `scipy.stats`."""
        return stats.gamma(self.a, scale=1 / self.b)

    def posterior(self) -> Any:
        """Return the distribution of the rate given the data, of `scipy.stats`."""
        a, b = self._both
        return stats.gamma(a, scale=1 / b)

    def as_prior(self) -> "GammaPoisson":
        """Return a model whose prior is this one's posterior, and that has seen nothing yet."""
        return GammaPoisson(*self._both)

    def log_likelihood(self, theta: Any) -> Any:
        """Return the log-likelihood of the data seen.

        Parameters
        ----------
        theta : float or array-like
            Rates, not negative.

        Returns
        -------
        float or ndarray
        """
        rate = np.asarray(theta, dtype=np.float64)
        if not ((rate >= 0) & np.isfinite(rate)).all():
            raise InputError(f"GammaPoisson: a rate is finite and not negative; got {theta!r}.")
        seen = self.seen
        found = special.xlogy(seen.total, rate) - rate * seen.exposure + seen.constant
        return float(found) if rate.ndim == 0 else found

    def log_evidence(self) -> float:
        """Return the log probability of the data seen under the prior."""
        seen = self.seen
        return float(
            log_rising(self.a, seen.total)
            - self.a * math.log1p(seen.exposure / self.b)
            - seen.total * math.log(self.b + seen.exposure)
            + seen.constant
        )

    def predictive(self, exposure: float = 1.0) -> Any:
        """Return the distribution of the next count given the data, of `scipy.stats`.

        Parameters
        ----------
        exposure : float, default=1
            What the next count is of.

        Returns
        -------
        scipy.stats.rv_frozen
            A negative binomial distribution.
        """
        Real(0.0, open_low=True).check("GammaPoisson", "exposure", exposure)
        a, b = self._both
        return stats.nbinom(a, b / (b + exposure))

    def plug_in(self, theta: Any) -> Any:
        """Return the distribution of a count at a given rate."""
        return stats.poisson(theta)

    @property
    def _both(self) -> tuple[float, float]:
        return self.a + self.seen.total, self.b + self.seen.exposure

    def _marginals(self, *, prior: bool = False) -> Mapping[str, Marginal]:
        return {"rate": GammaMarginal(*((self.a, self.b) if prior else self._both))}

    def _mle(self) -> FloatArray:
        return np.array([self.seen.total / self.seen.exposure])

    def _map(self) -> FloatArray:
        return np.array([GammaMarginal(*self._both).mode])

    def _draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        a, b = self._both
        return rng.gamma(a, size=(n, 1)) / b

    def _in_words(self) -> str:
        a, b = self._both
        return f"prior Gamma(shape {self.a:g}, rate {self.b:g}), posterior Gamma({a:g}, {b:g})."


def _exposures(exposure: Any, n: int) -> FloatArray:
    """Return one exposure per count."""
    given = read_observations(exposure, "GammaPoisson (exposure)")
    if given.size == 1:
        given = np.full(n, given[0])
    if given.shape != (n,) or not (given > 0).all():
        raise InputError(
            f"GammaPoisson: exposure must be one positive number per count ({n}), or one for all; "
            f"got {exposure!r}."
        )
    return given
