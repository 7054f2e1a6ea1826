"""Tosses of a coin with a Beta prior on its probability."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import special, stats

from bottega.core.errors import InputError
from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.probability._conjugate.marginals import BetaMarginal, Marginal
from bottega.probability._conjugate.model import ConjugateModel, check_positive
from bottega.probability._conjugate.seen import Counts, read_observations, read_weights
from bottega.probability._conjugate.special import log_rising

__all__ = ["BetaBernoulli"]

_NOTHING = Counts((0.0, 0.0))


@stored
@dataclass(frozen=True, repr=False)
class BetaBernoulli(ConjugateModel):
    r"""Observations of 0 and 1 with an unknown probability of 1, and a Beta prior on it.

    With s ones and f zeros seen,

    .. math:: p(\theta) \propto \theta^{a-1} (1-\theta)^{b-1}, \qquad
              p(D \mid \theta) = \theta^s (1-\theta)^f, \qquad
              p(\theta \mid D) = \mathrm{Beta}(a + s, b + f),

    and the next observation is 1 with probability (a + s) / (a + b + s + f).

    Parameters
    ----------
    a, b : float, default=1
        Parameters of the prior, read as ones and zeros seen before. Both 1 is uniform; larger
        values pull estimates to a / (a + b), and values below 1 favour probabilities near 0 and 1.
    seen : Counts, optional
        Zeros and ones seen; `update` keeps it.

    Notes
    -----
    An update takes one pass over its data, everything else a fixed time. The likelihood is that of
    a sequence; that of the number of ones alone has a binomial coefficient more, which changes
    the evidence and nothing else.

    References
    ----------
    .. [1] Gelman, A. et al. (2013). Bayesian Data Analysis, third edition, chapter 2.

    Examples
    --------
    >>> coin = BetaBernoulli(5, 5).update([1, 0], sample_weight=[4, 8])
    >>> round(coin.mle(), 4), round(coin.map(), 4), round(coin.mean(), 4)
    (0.3333, 0.4, 0.4091)
    >>> coin == BetaBernoulli(5, 5).update([0] * 8).update([1] * 4)
    True
    >>> [round(end, 4) for end in coin.interval(0.95)]
    [0.2182, 0.6156]
    >>> round(coin.evidence(), 8)
    0.00023815
    """

    a: float = 1.0
    b: float = 1.0
    seen: Counts = _NOTHING

    title: ClassVar[str] = "Bernoulli observations with a Beta prior"

    def __post_init__(self) -> None:
        check_positive("BetaBernoulli", {"a": self.a, "b": self.b})

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return ("probability",)

    @property
    def n(self) -> float:
        """Number of observations seen, or their total weight."""
        return self.seen.n

    def update(self, data: Any, *, sample_weight: Any = None) -> "BetaBernoulli":
        """Return the model that has seen these data too.

        Parameters
        ----------
        data : array-like of shape (m,)
            Zeros and ones, or False and True; it may be empty.
        sample_weight : array-like of shape (m,), optional
            How often each occurred: counts of zeros and ones are ``update([0, 1],
            sample_weight=counts)``.

        Returns
        -------
        BetaBernoulli
        """
        values = read_observations(data, "BetaBernoulli")
        weights = read_weights(sample_weight, len(values), "BetaBernoulli")
        bad = np.flatnonzero((values != 0) & (values != 1))
        if bad.size:
            raise InputError(
                f"BetaBernoulli: observation {bad[0]} is {values[bad[0]]:g}; each must be 0 or 1. "
                "For more than two outcomes use DirichletCategorical, for counts GammaPoisson."
            )
        found = Counts((float(weights[values == 0].sum()), float(weights[values == 1].sum())))
        return replace(self, seen=self.seen.plus(found))

    def prior(self) -> Any:
        """Return the distribution of the parameter before any data, of `scipy.stats`."""
        return stats.beta(self.a, self.b)

    def posterior(self) -> Any:
        """Return the distribution of the parameter given the data, of `scipy.stats`."""
        return stats.beta(*self._both)

    def as_prior(self) -> "BetaBernoulli":
        """Return a model whose prior is this one's posterior, and that has seen nothing yet."""
        return BetaBernoulli(*self._both)

    def log_likelihood(self, theta: Any) -> Any:
        """Return the log-likelihood of the data seen, in their order.

        Parameters
        ----------
        theta : float or array-like
            Probabilities of 1, between 0 and 1.

        Returns
        -------
        float or ndarray
        """
        p = np.asarray(theta, dtype=np.float64)
        if not ((p >= 0) & (p <= 1)).all():
            raise InputError(f"BetaBernoulli: a probability is between 0 and 1; got {theta!r}.")
        zeros, ones = self.seen.of
        found = special.xlogy(ones, p) + special.xlog1py(zeros, -p)
        return float(found) if p.ndim == 0 else found

    def log_evidence(self) -> float:
        """Return the log probability of the data seen, in their order, under the prior."""
        zeros, ones = self.seen.of
        each = log_rising([self.a, self.b], [ones, zeros])
        return float(each.sum() - log_rising(self.a + self.b, self.n))

    def predictive(self) -> Any:
        """Return the distribution of the next observation given the data, of `scipy.stats`."""
        a, b = self._both
        return stats.bernoulli(a / (a + b))

    def plug_in(self, theta: Any) -> Any:
        """Return the distribution of an observation at a given probability."""
        return stats.bernoulli(theta)

    @property
    def _both(self) -> tuple[float, float]:
        zeros, ones = self.seen.of
        return self.a + ones, self.b + zeros

    def _marginals(self, *, prior: bool = False) -> Mapping[str, Marginal]:
        return {"probability": BetaMarginal(*((self.a, self.b) if prior else self._both))}

    def _mle(self) -> FloatArray:
        return np.array([self.seen.of[1] / self.n])

    def _map(self) -> FloatArray:
        return np.array([BetaMarginal(*self._both).mode])

    def _draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        return rng.beta(*self._both, size=(n, 1))

    def _in_words(self) -> str:
        a, b = self._both
        return f"prior Beta({self.a:g}, {self.b:g}), posterior Beta({a:g}, {b:g})."
