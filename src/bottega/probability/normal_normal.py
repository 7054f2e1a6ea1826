"""Normal observations of known spread with a normal prior on their mean."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import stats

from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.probability._conjugate.marginals import Marginal, NormalMarginal
from bottega.probability._conjugate.model import ConjugateModel, check_finite, check_positive
from bottega.probability._conjugate.seen import MeanAndSpread, read_observations, read_weights

__all__ = ["NormalNormal"]

_NOTHING = MeanAndSpread()

_LOG_2PI = math.log(2 * math.pi)


@stored
@dataclass(frozen=True, repr=False)
class NormalNormal(ConjugateModel):
    r"""Normal observations with an unknown mean and a known standard deviation.

    With n observations of mean :math:`\bar x`, prior :math:`\mathrm N(m, s^2)` and noise
    :math:`\sigma`,

    .. math:: \mu \mid D \sim \mathrm N\Bigl(\frac{m / s^2 + n \bar x / \sigma^2}
              {1 / s^2 + n / \sigma^2},\; \frac{1}{1 / s^2 + n / \sigma^2}\Bigr).

    Parameters
    ----------
    prior_mean : float, default=0
        Mean of the prior.
    prior_std : float, default=1
        Standard deviation of the prior; larger values let the data speak sooner.
    noise_std : float, default=1
        Standard deviation of an observation around the mean, known.
    seen : MeanAndSpread, optional
        Number, mean and standard deviation of the data seen; `update` keeps it.

    Notes
    -----
    An update takes two passes over its data, everything else a fixed time. Where the spread is
    not known use `NormalGamma`; intervals that take an estimate of it for the truth are too short.

    References
    ----------
    .. [1] Gelman, A. et al. (2013). Bayesian Data Analysis, third edition, section 2.5.

    Examples
    --------
    >>> scale = NormalNormal(10.0, 2.0, 1.0).update([12.1, 11.8, 12.4])
    >>> round(scale.mle(), 4), round(scale.map(), 4), round(scale.std(), 4)
    (12.1, 11.9385, 0.5547)
    >>> round(float(scale.predictive().std()), 4)
    1.1435
    """

    prior_mean: float = 0.0
    prior_std: float = 1.0
    noise_std: float = 1.0
    seen: MeanAndSpread = _NOTHING

    title: ClassVar[str] = "Normal observations of known spread with a normal prior"

    def __post_init__(self) -> None:
        check_finite("NormalNormal", {"prior_mean": self.prior_mean})
        check_positive("NormalNormal", {"prior_std": self.prior_std, "noise_std": self.noise_std})

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return ("mean",)

    @property
    def n(self) -> float:
        """Number of observations seen, or their total weight."""
        return self.seen.n

    def update(self, data: Any, *, sample_weight: Any = None) -> "NormalNormal":
        """Return the model that has seen these data too.

        Parameters
        ----------
        data : array-like of shape (m,)
            Numbers; it may be empty.
        sample_weight : array-like of shape (m,), optional
            How often each occurred.

        Returns
        -------
        NormalNormal
        """
        values = read_observations(data, "NormalNormal")
        weights = read_weights(sample_weight, len(values), "NormalNormal")
        return replace(self, seen=self.seen.plus(MeanAndSpread.of(values, weights)))

    def prior(self) -> Any:
        """Return the distribution of the mean before any data, of `scipy.stats`."""
        return stats.norm(self.prior_mean, self.prior_std)

    def posterior(self) -> Any:
        """Return the distribution of the mean given the data, of `scipy.stats`."""
        return stats.norm(*self._both)

    def as_prior(self) -> "NormalNormal":
        """Return a model whose prior is this one's posterior, and that has seen nothing yet."""
        return NormalNormal(*self._both, self.noise_std)

    def log_likelihood(self, theta: Any) -> Any:
        """Return the log-likelihood of the data seen.

        Parameters
        ----------
        theta : float or array-like
            Means.

        Returns
        -------
        float or ndarray
        """
        mean = np.asarray(theta, dtype=np.float64)
        with np.errstate(over="ignore"):
            gap = ((self.seen.mean - mean) / self.noise_std) ** 2
            found = -0.5 * self.n * gap + self._constant
        return float(found) if mean.ndim == 0 else found

    def log_evidence(self) -> float:
        """Return the log density of the data seen under the prior."""
        if self.n == 0:
            return 0.0
        error = self.noise_std / math.sqrt(self.n)
        spread = math.hypot(self.prior_std, error)  # of the mean of the data
        gap = (self.seen.mean - self.prior_mean) / spread
        return self._constant + math.log(error / spread) - 0.5 * gap * gap

    def predictive(self) -> Any:
        """Return the distribution of the next observation given the data, of `scipy.stats`."""
        mean, std = self._both
        return stats.norm(mean, math.hypot(std, self.noise_std))

    def plug_in(self, theta: Any) -> Any:
        """Return the distribution of an observation at a given mean."""
        return stats.norm(theta, self.noise_std)

    @property
    def _constant(self) -> float:
        """The log-likelihood at the mean of the data."""
        ratio = self.seen.std / self.noise_std
        return -0.5 * self.n * (_LOG_2PI + 2 * math.log(self.noise_std) + ratio * ratio)

    @property
    def _both(self) -> tuple[float, float]:
        if self.n == 0:
            return self.prior_mean, self.prior_std
        ratio = self.noise_std / self.prior_std / math.sqrt(self.n)
        share = 1 / (1 + ratio * ratio)  # of the data
        mean = share * self.seen.mean + (1 - share) * self.prior_mean
        return mean, self.noise_std / math.sqrt(self.n) * math.sqrt(share)

    def _marginals(self, *, prior: bool = False) -> Mapping[str, Marginal]:
        return {
            "mean": NormalMarginal(*((self.prior_mean, self.prior_std) if prior else self._both))
        }

    def _mle(self) -> FloatArray:
        return np.array([self.seen.mean])

    def _map(self) -> FloatArray:
        return np.array([self._both[0]])

    def _draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        return rng.normal(*self._both, size=(n, 1))

    def _in_words(self) -> str:
        mean, std = self._both
        return (
            f"prior mean {self.prior_mean:g} and standard deviation {self.prior_std:g}, posterior "
            f"{mean:.6g} and {std:.4g}."
        )
