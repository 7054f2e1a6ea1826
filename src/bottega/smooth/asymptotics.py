r"""What local linear regression can do as n grows: bias, variance, best bandwidth, rate.

With :math:`\sigma^2_w = \int z^2 w_0`, :math:`\alpha(w) = \int w_0^2` of the weight function, g the
density of x, inside the range of the data:

.. math::
    E\hat f(x) - f(x) \approx \tfrac{1}{2} h^2 \sigma^2_w f''(x), \qquad
    V\hat f(x) \approx \frac{\sigma^2 \alpha(w)}{n h\, g(x)}.

Their best balance has a mean squared error of order :math:`n^{-4/5}`; a linear model that is right
has :math:`n^{-1}`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.frames import make_frame
from bottega.core.seeds import seed_of
from bottega.core.typing import FloatArray
from bottega.plot import bias_variance_chart, rate_chart
from bottega.smooth._local.exact import exact_rows
from bottega.smooth._local.rows import make_rows
from bottega.smooth._local.weights import get_kernel
from bottega.smooth._local.windows import Recipe, Window

__all__ = [
    "BiasVariance",
    "RateExperiment",
    "asymptotic_bias",
    "asymptotic_variance",
    "bias_and_variance",
    "optimal_bandwidth",
    "rate_experiment",
]


def asymptotic_bias(bandwidth: Any, curvature: Any, *, kernel: str = "normal") -> Any:
    r"""Return :math:`h^2 \sigma^2_w f''(x) / 2`, for given bandwidths and second derivatives.

    Examples
    --------
    >>> round(float(asymptotic_bias(0.1, -8.0)), 6)
    -0.04
    """
    return np.square(bandwidth) * get_kernel(kernel).variance * np.asarray(curvature) / 2


def asymptotic_variance(
    bandwidth: Any, sigma2: Any, density: Any, n: int, *, kernel: str = "normal"
) -> Any:
    r"""Return :math:`\sigma^2 \alpha(w) / (n h g(x))`, for given bandwidths and densities of x.

    Examples
    --------
    >>> round(float(asymptotic_variance(0.1, 1.0, 1.0, 100)), 6)
    0.028209
    """
    roughness = get_kernel(kernel).roughness
    return np.asarray(sigma2) * roughness / (n * np.asarray(bandwidth) * np.asarray(density))


def optimal_bandwidth(
    sigma2: Any, curvature: Any, density: Any, n: int, *, kernel: str = "normal"
) -> Any:
    r"""Return the bandwidth of least asymptotic mean squared error at a point.

    .. math:: h_{opt} = \left\{\frac{\sigma^2\alpha(w)}{\sigma_w^4 f''(x)^2 g(x) n}\right\}^{1/5}

    It needs the truth: `plugin_bandwidth` estimates it, leave-one-out does without.

    Parameters
    ----------
    sigma2, curvature, density : float or ndarray
        Noise variance, second derivative of the truth, density of x.
    n : int
        Number of rows.
    kernel : str
        Weight function.

    Returns
    -------
    float or ndarray
        Infinite where the curvature is zero: there is no bias to fear.

    Examples
    --------
    >>> round(float(optimal_bandwidth(0.04, 36.0, 1.0, 500)), 4)
    0.0281
    """
    constants = get_kernel(kernel)
    bend = constants.variance**2 * np.square(curvature) * np.asarray(density) * n
    with np.errstate(divide="ignore"):
        return (np.asarray(sigma2) * constants.roughness / bend) ** 0.2


@dataclass(frozen=True)
class BiasVariance:
    """Bias and variance of local linear regression at one point, exact and asymptotic.

    Attributes
    ----------
    point : float
        Where.
    bandwidth, bias, variance, asymptotic_bias, asymptotic_variance : ndarray
        One entry per bandwidth; the exact ones are conditional on the rows' x.
    """

    point: float
    bandwidth: FloatArray
    bias: FloatArray
    variance: FloatArray
    asymptotic_bias: FloatArray
    asymptotic_variance: FloatArray

    def to_frame(self, like: Any = None) -> Any:
        """Return the numbers as a data frame."""
        names = ("bandwidth", "bias", "variance", "asymptotic_bias", "asymptotic_variance")
        return make_frame({name: getattr(self, name) for name in names}, like)

    def plot(self) -> Any:
        """Draw squared bias and variance against the bandwidth, exact and asymptotic."""
        return bias_variance_chart(self)


def _local_rows(
    x: FloatArray, truth: FloatArray, points: FloatArray, bandwidth: float, kernel: str
) -> tuple[FloatArray, FloatArray]:
    """Return the mean of the local linear fit at points, and its variance over sigma^2."""
    data = exact_rows(make_rows(x[:, None], truth, None, standardize=False, by_weight=True))
    window = Window(data, Recipe(kernel, 1), bandwidth)
    mean, length = window.evaluate(points[:, None], lengths=True)
    return mean[:, 0], length[:, 0]


def bias_and_variance(
    f: Callable[[FloatArray], FloatArray],
    curvature: Callable[[FloatArray], FloatArray],
    x: Any,
    point: float,
    bandwidths: Any,
    *,
    sigma: float = 1.0,
    density: float,
    kernel: str = "normal",
) -> BiasVariance:
    r"""Compare the exact bias and variance at a point with the asymptotic ones.

    The fit is :math:`s^\top y`, so given x its bias is :math:`s^\top f(x) - f(x_0)` and its
    variance :math:`\sigma^2 s^\top s`: no simulation is needed.

    Parameters
    ----------
    f, curvature : callable
        The truth and its second derivative.
    x : array-like of shape (n,)
        Rows.
    point : float
        Where the fit is looked at.
    bandwidths : array-like
        Bandwidths.
    sigma : float
        Standard deviation of the noise.
    density : float
        Density of x at the point.
    kernel : str
        Weight function.

    Returns
    -------
    BiasVariance

    Examples
    --------
    >>> x = (np.arange(1000) + 0.5) / 1000
    >>> found = bias_and_variance(np.square, lambda x: 2 + 0 * x, x, 0.5, [0.1], density=1.0)
    >>> found.bias.round(4), found.asymptotic_bias.round(4)
    (array([0.01]), array([0.01]))
    """
    x = np.asarray(x, dtype=np.float64)
    bandwidths = np.atleast_1d(np.asarray(bandwidths, dtype=np.float64))
    at = np.array([float(point)])
    pairs = [_local_rows(x, f(x), at, h, kernel) for h in bandwidths.tolist()]
    return BiasVariance(
        float(point),
        bandwidths,
        np.array([mean[0] for mean, _ in pairs]) - f(at)[0],
        sigma**2 * np.array([length[0] for _, length in pairs]),
        np.asarray(asymptotic_bias(bandwidths, curvature(at)[0], kernel=kernel)),
        np.asarray(asymptotic_variance(bandwidths, sigma**2, density, len(x), kernel=kernel)),
    )


@dataclass(frozen=True)
class RateExperiment:
    """Mean squared error against n, of local linear regression and of a line that is right.

    Attributes
    ----------
    n : ndarray of int
        Numbers of rows.
    bandwidth : ndarray
        Best asymptotic bandwidth for each.
    local, linear : ndarray
        Mean squared errors, averaged over designs and points.
    """

    n: FloatArray
    bandwidth: FloatArray
    local: FloatArray
    linear: FloatArray

    @property
    def slopes(self) -> dict[str, float]:
        """Slopes of log error against log n; theory says -4/5 and -1."""
        return {
            name: float(np.polyfit(np.log(self.n), np.log(getattr(self, name)), 1)[0])
            for name in ("local", "linear")
        }

    def to_frame(self, like: Any = None) -> Any:
        """Return the numbers as a data frame."""
        names = ("n", "bandwidth", "local", "linear")
        return make_frame({name: getattr(self, name) for name in names}, like)

    def plot(self) -> Any:
        """Draw both errors against n, on logarithmic axes."""
        return rate_chart(self)


def rate_experiment(
    sizes: Sequence[int] = (100, 300, 1000, 3000, 10_000),
    *,
    sigma: float = 0.5,
    designs: int = 5,
    kernel: str = "normal",
    random_state: Any = 0,
) -> RateExperiment:
    r"""Watch the error of local linear regression fall as :math:`n^{-4/5}`, a line's as 1/n.

    The truth is :math:`\sin 2\pi x` (for the line, a line), x uniform on (0, 1). Errors are taken
    over the middle 60 %, where the asymptotic formulas hold, and are exact given x: only the
    designs are random. The bandwidth is the best asymptotic one for the average error.

    Parameters
    ----------
    sizes : sequence of int
        Numbers of rows.
    sigma : float
        Standard deviation of the noise.
    designs : int
        How many draws of x to average over.
    kernel : str
        Weight function.
    random_state : int, RandomState, Generator or None
        Seed.

    Returns
    -------
    RateExperiment

    Examples
    --------
    >>> slopes = rate_experiment((200, 800, 3200)).slopes
    >>> round(slopes["local"], 1), round(slopes["linear"], 1)
    (-0.8, -1.0)
    """
    if len(sizes) < 2 or min(sizes) < 10:
        raise InputError(f"sizes={sizes!r} is not allowed; give at least two, each 10 or more.")
    rng = np.random.default_rng(seed_of(random_state, "rate_experiment"))
    points = np.linspace(0.2, 0.8, 25)
    truth = np.sin(2 * np.pi * points)
    bend = np.sqrt(np.mean(((2 * np.pi) ** 2 * truth) ** 2))
    best = [float(optimal_bandwidth(sigma**2, bend, 1.0, n, kernel=kernel)) for n in sizes]
    local, linear = np.zeros(len(sizes)), np.zeros(len(sizes))
    for i, (n, h) in enumerate(zip(sizes, best, strict=True)):
        for _ in range(designs):
            x = rng.uniform(size=n)
            mean, length = _local_rows(x, np.sin(2 * np.pi * x), points, h, kernel)
            local[i] += np.mean((mean - truth) ** 2 + sigma**2 * length) / designs
            gap = (points - x.mean()) ** 2 / np.sum((x - x.mean()) ** 2)
            linear[i] += sigma**2 * np.mean(1 / n + gap) / designs
    return RateExperiment(np.asarray(sizes), np.array(best), local, linear)
