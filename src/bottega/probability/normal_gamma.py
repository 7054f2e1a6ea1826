"""Normal observations with a prior on both their mean and their precision."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import stats

from bottega.core.errors import InputError
from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.probability._conjugate.joint import JointNormalGamma
from bottega.probability._conjugate.marginals import Marginal
from bottega.probability._conjugate.model import ConjugateModel, check_finite, check_positive
from bottega.probability._conjugate.seen import MeanAndSpread, read_observations, read_weights
from bottega.probability._conjugate.special import log_rising

__all__ = ["NormalGamma"]

_NOTHING = MeanAndSpread()


@stored
@dataclass(frozen=True, repr=False)
class NormalGamma(ConjugateModel):
    r"""Normal observations with an unknown mean and an unknown precision (one over the variance).

    The prior is :math:`\tau \sim \mathrm{Gamma}(a, b)` (shape, rate) and
    :math:`\mu \mid \tau \sim \mathrm N(m, 1 / (\kappa \tau))`. With n observations of mean
    :math:`\bar x` and sum of squares S around it the posterior is of the same form with

    .. math:: \kappa' = \kappa + n, \quad m' = \frac{\kappa m + n \bar x}{\kappa + n}, \quad
              a' = a + \frac n 2, \quad
              b' = b + \frac S 2 + \frac{\kappa n (\bar x - m)^2}{2 (\kappa + n)};

    alone, the mean and the next observation are Student's t with 2a' degrees of freedom.

    Parameters
    ----------
    prior_mean : float, default=0
        Mean of the prior.
    kappa : float, default=1
        Number of observations that the prior mean is worth.
    a, b : float, default=1
        Shape and rate of the precision: 2a observations with variance b / a.
    seen : MeanAndSpread, optional
        Number, mean and standard deviation of the data seen; `update` keeps it.

    Notes
    -----
    An update takes two passes over its data, everything else a fixed time. Estimates of several
    parameters stand in the order mean, precision. `map` is the mode of both together.

    References
    ----------
    .. [1] Murphy, K. (2007). Conjugate Bayesian analysis of the Gaussian distribution.

    Examples
    --------
    >>> model = NormalGamma(10.0, 1.0, 2.0, 2.0).update([12.1, 11.8, 12.4])
    >>> model.mean().round(4).tolist()
    [11.575, 0.9349]
    >>> low, high = model.interval(0.9)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([10.595, 0.289], [12.555, 1.879])
    """

    prior_mean: float = 0.0
    kappa: float = 1.0
    a: float = 1.0
    b: float = 1.0
    seen: MeanAndSpread = _NOTHING

    title: ClassVar[str] = "Normal observations with a normal-gamma prior"

    def __post_init__(self) -> None:
        check_finite("NormalGamma", {"prior_mean": self.prior_mean})
        check_positive("NormalGamma", {"kappa": self.kappa, "a": self.a, "b": self.b})

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return ("mean", "precision")

    @property
    def n(self) -> float:
        """Number of observations seen, or their total weight."""
        return self.seen.n

    def update(self, data: Any, *, sample_weight: Any = None) -> "NormalGamma":
        """Return the model that has seen these data too.

        Parameters
        ----------
        data : array-like of shape (m,)
            Numbers; it may be empty.
        sample_weight : array-like of shape (m,), optional
            How often each occurred.

        Returns
        -------
        NormalGamma
        """
        values = read_observations(data, "NormalGamma")
        weights = read_weights(sample_weight, len(values), "NormalGamma")
        found = replace(self, seen=self.seen.plus(MeanAndSpread.of(values, weights)))
        if not math.isfinite(found._gained):
            raise InputError(
                "NormalGamma: the sum of squares of the observations overflows (they are as large "
                f"as {np.abs(values).max():.3g}); give them in another unit."
            )
        return found

    def prior(self) -> JointNormalGamma:
        """Return the distribution of mean and precision before any data."""
        return JointNormalGamma(self.prior_mean, self.kappa, self.a, self.b)

    def posterior(self) -> JointNormalGamma:
        """Return the distribution of mean and precision given the data."""
        kappa = self.kappa + self.n
        share = self.n / kappa
        mean = (1 - share) * self.prior_mean + share * self.seen.mean
        return JointNormalGamma(mean, kappa, self.a + self.n / 2, self.b + self._gained)

    def as_prior(self) -> "NormalGamma":
        """Return a model whose prior is this one's posterior, and that has seen nothing yet."""
        found = self.posterior()
        return NormalGamma(found.mean, found.kappa, found.a, found.b)

    def log_likelihood(self, theta: Any) -> Any:
        """Return the log-likelihood of the data seen.

        Parameters
        ----------
        theta : array-like of shape (2,) or (m, 2)
            Mean and precision.

        Returns
        -------
        float or ndarray of shape (m,)
        """
        both = np.asarray(theta, dtype=np.float64)
        if both.ndim not in (1, 2) or both.shape[-1] != 2 or not (both[..., 1] > 0).all():
            raise InputError(
                "NormalGamma: theta must be a mean and a positive precision, or rows of them."
            )
        mean, tau = both[..., 0], both[..., 1]
        root = np.sqrt(tau)
        with np.errstate(over="ignore"):
            square = ((self.seen.mean - mean) * root) ** 2 + (self.seen.std * root) ** 2
        found = 0.5 * self.n * (np.log(tau) - math.log(2 * math.pi) - square)
        return float(found) if both.ndim == 1 else found

    def log_evidence(self) -> float:
        """Return the log density of the data seen under the prior."""
        n = self.n
        return float(
            log_rising(self.a, n / 2)
            - (self.a + n / 2) * math.log1p(self._gained / self.b)
            - n / 2 * math.log(2 * math.pi * self.b)
            - 0.5 * math.log1p(n / self.kappa)
        )

    def predictive(self) -> Any:
        """Return the distribution of the next observation given the data, of `scipy.stats`."""
        now = self.posterior()
        scale = math.sqrt(now.b / now.a) * math.sqrt(1 + 1 / now.kappa)
        return stats.t(2 * now.a, now.mean, scale)

    def plug_in(self, theta: Any) -> Any:
        """Return the distribution of an observation at a given mean and precision."""
        mean, tau = theta
        return stats.norm(mean, 1 / math.sqrt(tau))

    @property
    def _gained(self) -> float:
        """What the data add to the rate of the precision."""
        share = self.kappa / (self.kappa + self.n)
        gap = (self.seen.mean - self.prior_mean) * math.sqrt(share)
        # Not ** 2, which raises where it overflows.
        return 0.5 * self.n * (self.seen.std * self.seen.std + gap * gap)

    def _marginals(self, *, prior: bool = False) -> Mapping[str, Marginal]:
        return (self.prior() if prior else self.posterior()).marginals()

    def mle(self) -> FloatArray:
        """Return the maximum-likelihood estimates of mean and precision."""
        found: FloatArray = super().mle()
        if not np.isfinite(found[1]):
            raise InputError(
                "NormalGamma: all observations are equal, so the likelihood grows without bound "
                "with the precision; there is no maximum-likelihood estimate. Use map() or mean()."
            )
        return found

    def _mle(self) -> FloatArray:
        variance = self.seen.std * self.seen.std
        return np.array([self.seen.mean, 1 / variance if variance > 0 else np.inf])

    def _map(self) -> FloatArray:
        now = self.posterior()
        if now.a <= 0.5:  # the density is highest where the precision is 0, whatever the mean
            return np.full(2, np.nan)
        return np.array([now.mean, (now.a - 0.5) / now.b])

    def _draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        return self.posterior().draw(n, rng)

    def _in_words(self) -> str:
        now = self.posterior()
        return (
            f"posterior of the precision Gamma(shape {now.a:g}, rate {now.b:.6g}), of the mean "
            f"given it normal around {now.mean:.6g} with {now.kappa:g} times its precision."
        )
