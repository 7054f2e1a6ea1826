"""The weight functions of local regression, with their constants."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray


@dataclass(frozen=True)
class WeightFunction:
    r"""A weight function :math:`w_0`, symmetric and of integral one.

    Attributes
    ----------
    code : int
        Its number in the compiled kernels.
    peak : float
        :math:`w_0(0)`.
    variance : float
        :math:`\sigma^2_w = \int z^2 w_0(z)\,dz`.
    roughness : float
        :math:`\alpha(w) = \int w_0(z)^2\,dz`.
    reach : float
        Rows farther than this many bandwidths have no weight. The normal function, which never
        ends, is cut where it is below 1e-16 of its peak.
    polynomial : tuple of float
        Coefficients of :math:`w_0(u)/w_0(0)` in powers of |u| up to one; empty for the normal.
    """

    code: int
    peak: float
    variance: float
    roughness: float
    reach: float
    polynomial: tuple[float, ...] = ()

    @property
    def deviation(self) -> float:
        """Standard deviation of the weight function: the scale on which kernels compare."""
        return float(np.sqrt(self.variance))


KERNELS = {
    "normal": WeightFunction(
        0, 1 / np.sqrt(2 * np.pi), 1.0, 1 / (2 * np.sqrt(np.pi)), float(np.sqrt(32 * np.log(10)))
    ),
    "biquadratic": WeightFunction(1, 15 / 16, 1 / 7, 5 / 7, 1.0, (1, 0, -2, 0, 1)),
    "tricube": WeightFunction(
        2, 70 / 81, 35 / 243, 175 / 247, 1.0, (1, 0, 0, -3, 0, 0, 3, 0, 0, -1)
    ),
    "epanechnikov": WeightFunction(3, 3 / 4, 1 / 5, 3 / 5, 1.0, (1, 0, -1)),
}


def get_kernel(name: str) -> WeightFunction:
    """Return the weight function of a name."""
    if name not in KERNELS:
        known = ", ".join(repr(each) for each in KERNELS)
        raise InputError(f"kernel={name!r} is not allowed; use one of {known}.")
    return KERNELS[name]


def kernel_weight(t: Any, h: float = 1.0, kernel: str = "normal") -> FloatArray:
    r"""Return :math:`w(t; h) = w_0(t/h)/h` at each t.

    Parameters
    ----------
    t : array-like
        Distances from the centre, with their sign or without.
    h : float
        Bandwidth.
    kernel : {"normal", "biquadratic", "tricube", "epanechnikov"}
        The weight function. All but the normal are zero outside (-h, h).

    Examples
    --------
    >>> kernel_weight([0.0, 0.5, 2.0], kernel="epanechnikov")
    array([0.75  , 0.5625, 0.    ])
    """
    found = get_kernel(kernel)
    if not (np.isfinite(h) and h > 0):
        raise InputError(f"h={h!r} is not allowed; a bandwidth must be above zero.")
    u = np.abs(np.asarray(t, dtype=np.float64)) / h
    if kernel == "normal":
        shape = np.exp(-(u**2) / 2)
    else:
        inside = np.minimum(u, 1.0)
        shape = {
            "biquadratic": (1 - inside**2) ** 2,
            "tricube": (1 - inside**3) ** 3,
            "epanechnikov": 1 - inside**2,
        }[kernel]
    return np.asarray(found.peak / h * shape)
