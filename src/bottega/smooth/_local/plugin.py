"""The bandwidth of least asymptotic error, with its unknowns estimated."""

from typing import Any

import numpy as np
from numpy.polynomial import legendre

from bottega.core.errors import InputError
from bottega.core.rows import check_weight
from bottega.core.typing import FloatArray
from bottega.core.validate import refuse_masked
from bottega.smooth._local.weights import WeightFunction, get_kernel
from bottega.smooth._path.in_range import check_range

_MOST_BLOCKS = 5
_ROWS_A_BLOCK = 20
_TERMS = 5  # of a quartic


def plugin_bandwidth(x: Any, y: Any, *, kernel: str = "normal", sample_weight: Any = None) -> float:
    r"""Return a bandwidth for local linear regression of one input, without a path.

    Averaged over the rows, the asymptotic error of the fit is

    .. math:: \frac{h^4 \sigma_w^4}{4} E f''(X)^2 + \frac{\sigma^2 \alpha(w)(b - a)}{nh},
        \qquad h_{opt} = \left\{\frac{\sigma^2\alpha(w)(b-a)}
        {\sigma_w^4 \, E f''(X)^2 \, n}\right\}^{1/5}

    with a, b the ends of the data. The curvature and the noise are taken from a rough pilot: the
    rows, sorted by x, are cut into 1 to 5 blocks of at least 20, each with its own quartic by least
    squares; Mallows' Cp says how many blocks.

    Parameters
    ----------
    x, y : array-like of shape (n,)
        Rows, in any order; at least 6 distinct x.
    kernel : {"normal", "biquadratic", "tricube", "epanechnikov"}
        Weight function that the bandwidth is for.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows in the pilot.

    Returns
    -------
    float
        Bandwidth, at most the range of x (where the pilot sees no curvature).

    Notes
    -----
    It takes f to have two derivatives and the noise to be even. Where the truth has a jump, a kink
    or fine structure in a small part of the range, the pilot averages it away and leave-one-out
    does better.

    References
    ----------
    .. [1] Ruppert, D., Sheather, S. J. and Wand, M. P. (1995). An effective bandwidth selector for
       local least squares regression. JASA 90, 1257-1270.

    Examples
    --------
    >>> x = np.linspace(0, 1, 200)
    >>> y = np.sin(6 * x) + 0.2 * np.random.default_rng(0).normal(size=200)
    >>> round(plugin_bandwidth(x, y), 3)
    0.037
    """
    constants = get_kernel(kernel)
    refuse_masked(x=x, y=y)
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise InputError(f"x and y must be rows of one length; got {x.shape} and {y.shape}.")
    if not (np.all(np.isfinite(x)) and np.all(np.isfinite(y))):
        raise InputError("x and y must be finite; leave out or fill in the rows that are not.")
    weight = check_weight(sample_weight, len(y))
    weight = np.ones(len(y)) if weight is None else weight
    order = np.lexsort((weight, y, x))  # of equal x by y: the order of the rows has no meaning
    order = order[weight[order] > 0]
    x, y, weight = x[order], y[order], weight[order]
    if len(np.unique(x)) <= _TERMS:
        raise InputError(
            f"A plug-in bandwidth needs at least {_TERMS + 1} distinct x; there are "
            f"{len(np.unique(x))}. Give the bandwidth."
        )
    check_range(x, "x")
    # In a unit in which the range is near one: its fifth power is that of an ordinary number.
    unit = 0.5 ** int(np.frexp(x[-1] - x[0])[1])
    return _bandwidth(x * unit, y, weight, constants) / unit


def _bandwidth(
    x: FloatArray, y: FloatArray, weight: FloatArray, constants: WeightFunction
) -> float:
    sigma2, curvature2 = _pilot(x, y, weight)
    spread = float(x[-1] - x[0])
    numerator = sigma2 * constants.roughness * spread
    # The noise is that of a row of weight one.
    denominator = constants.variance**2 * curvature2 * float(weight.sum())
    # No noise asks for no smoothing, no curvature for all of it.
    if not numerator > 0:
        return spread / len(x)
    if not numerator < denominator * spread**5:
        return spread
    return float((numerator / denominator) ** 0.2)


def _pilot(x: FloatArray, y: FloatArray, weight: FloatArray) -> tuple[float, float]:
    """Return the noise variance and the mean squared curvature of quartics in blocks."""
    n = len(x)
    most = max(min(n // _ROWS_A_BLOCK, _MOST_BLOCKS), 1)
    found = [_quartics(x, y, weight, blocks) for blocks in range(1, most + 1)]
    noise = found[-1][0] / (n - _TERMS * most)
    # Cp, up to a constant: rss / noise + 2 parameters.
    cp = [rss + 2 * _TERMS * (i + 1) * noise for i, (rss, _) in enumerate(found)]
    best = int(np.argmin(cp))
    rss, curvature2 = found[best]
    return rss / (n - _TERMS * (best + 1)), curvature2


def _quartics(x: FloatArray, y: FloatArray, weight: FloatArray, blocks: int) -> tuple[float, float]:
    rss = total = 0.0
    for part in np.array_split(np.arange(len(x)), blocks):
        low, half = x[part[0]], (x[part[-1]] - x[part[0]]) / 2
        if half == 0:  # all at one place
            rss += float(
                np.sum(weight[part] * (y[part] - np.average(y[part], weights=weight[part])) ** 2)
            )
            continue
        u = (x[part] - low) / half - 1
        root = np.sqrt(weight[part])
        design = legendre.legvander(u, _TERMS - 1)
        coef = np.linalg.lstsq(design * root[:, None], y[part] * root, rcond=None)[0]
        rss += float(np.sum(weight[part] * (y[part] - design @ coef) ** 2))
        bend = legendre.legval(u, legendre.legder(coef, 2)) / half**2
        total += float(np.sum(weight[part] * bend**2))
    return rss, total / float(weight.sum())
