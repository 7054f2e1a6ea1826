r"""Families of responses, and what their likelihood says about a model.

Symbols
-------
n     rows
df    degrees of freedom of the mean
rss   sum of w (y - y_hat)^2
p     number of parameters that the likelihood was maximised over
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import special

from bottega.core.errors import ParameterError, did_you_mean
from bottega.core.path import Path
from bottega.core.typing import FloatArray

__all__ = [
    "BINOMIAL",
    "FAMILIES",
    "GAUSSIAN",
    "POISSON",
    "Family",
    "gaussian_criteria",
    "gaussian_path",
    "get_family",
    "information_criteria",
    "residual_scale",
]


@dataclass(frozen=True, repr=False)
class Family:
    r"""A distribution of the response given its mean, with its canonical link.

    The linear predictor is :math:`\eta = g(\mu)`, the variance :math:`V(\mu)` times the dispersion.

    Attributes
    ----------
    name : str
        Name by which `get_family` finds it.
    code : int
        Number by which compiled kernels know it.
    known_scale : bool
        Whether the dispersion is 1 and not estimated.

    Examples
    --------
    >>> BINOMIAL.mean(BINOMIAL.link(0.25)).item()
    0.25
    >>> POISSON.deviance([1, 2], [1, 2]).item()
    0.0
    """

    name: ClassVar[str]
    code: ClassVar[int]
    known_scale: ClassVar[bool] = True

    def __repr__(self) -> str:
        return self.name.upper()

    def link(self, mu: Any) -> FloatArray:
        """Return the linear predictor of a mean."""
        return np.asarray(self._link(np.asarray(mu, dtype=np.float64)))

    def mean(self, eta: Any) -> FloatArray:
        """Return the mean of a linear predictor."""
        return np.asarray(self._mean(np.asarray(eta, dtype=np.float64)))

    def variance(self, mu: Any) -> FloatArray:
        """Return the variance at a mean, up to the dispersion."""
        return np.asarray(self._variance(np.asarray(mu, dtype=np.float64)))

    def unit_deviance(self, y: Any, mu: Any) -> FloatArray:
        """Return twice what the log-likelihood of each response lacks to its greatest value."""
        y, mu = np.asarray(y, dtype=np.float64), np.asarray(mu, dtype=np.float64)
        return np.asarray(np.maximum(self._unit_deviance(y, mu), 0.0))

    def deviance(self, y: Any, mu: Any, weight: Any = None) -> FloatArray:
        """Return the (weighted) sum of the unit deviances over the rows."""
        unit = self.unit_deviance(y, mu)
        return np.asarray(unit.sum(axis=0) if weight is None else np.tensordot(weight, unit, 1))

    def _link(self, mu: FloatArray) -> Any:
        return mu

    def _mean(self, eta: FloatArray) -> Any:
        return eta

    def _variance(self, mu: FloatArray) -> Any:
        return np.ones_like(mu)

    def _unit_deviance(self, y: FloatArray, mu: FloatArray) -> Any:
        return (y - mu) ** 2


class _Gaussian(Family):
    name, code, known_scale = "gaussian", 0, False


class _Binomial(Family):
    name, code = "binomial", 1

    def _link(self, mu: FloatArray) -> Any:
        return special.logit(mu)

    def _mean(self, eta: FloatArray) -> Any:
        return special.expit(eta)

    def _variance(self, mu: FloatArray) -> Any:
        return mu * (1 - mu)

    def _unit_deviance(self, y: FloatArray, mu: FloatArray) -> Any:
        return 2 * (special.xlogy(y, y / mu) + special.xlogy(1 - y, (1 - y) / (1 - mu)))


class _Poisson(Family):
    name, code = "poisson", 2

    def _link(self, mu: FloatArray) -> Any:
        return np.log(mu)

    def _mean(self, eta: FloatArray) -> Any:
        return np.exp(eta)

    def _variance(self, mu: FloatArray) -> Any:
        return mu

    def _unit_deviance(self, y: FloatArray, mu: FloatArray) -> Any:
        return 2 * special.kl_div(y, mu)  # y log(y / mu) - y + mu, 0 where both are 0


GAUSSIAN, BINOMIAL, POISSON = _Gaussian(), _Binomial(), _Poisson()
FAMILIES: dict[str, Family] = {each.name: each for each in (GAUSSIAN, BINOMIAL, POISSON)}


def get_family(family: str | Family) -> Family:
    """Return a family by its name, or the family itself."""
    if isinstance(family, Family):
        return family
    if family not in FAMILIES:
        raise ParameterError(
            f"family={family!r} is not known; choose one of {', '.join(FAMILIES)}."
            + did_you_mean(str(family), FAMILIES)
        )
    return FAMILIES[family]


def information_criteria(
    minus_two_loglik: Any, p: Any, n: int, *, hq_constant: float = 1.0
) -> dict[str, FloatArray]:
    """Return aic, aicc, bic and hq for any number of fits at once.

    Parameters
    ----------
    minus_two_loglik : array_like
        -2 times the maximised log-likelihood, one entry per fit.
    p : array_like
        Number of parameters, one entry per fit.
    n : int
        Number of rows.
    hq_constant : float
        The constant c > 0 of Hannan and Quinn's penalty ``2 c p log log n``; above 1 it finds the
        right model in large samples.

    Notes
    -----
    A fit with too few rows for the small-sample correction has an infinite aicc, never a
    flattering one.
    """
    deviance, p = np.asarray(minus_two_loglik, dtype=np.float64), np.asarray(p, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            "aic": deviance + 2 * p,
            "aicc": np.where(n > p + 1, deviance + 2 * p * n / (n - p - 1), np.inf),
            "bic": deviance + p * np.log(n),
            "hq": deviance + 2 * hq_constant * p * np.log(np.log(n)),
        }


def gaussian_criteria(
    rss: Any,
    df: Any,
    n: int,
    *,
    scale: Any = None,
    log_weights: float = 0.0,
    hq_constant: float = 1.0,
) -> dict[str, FloatArray]:
    """Return aic, aicc, bic, hq, gcv (and cp when `scale` is known) for any number of fits at once.

    Parameters
    ----------
    rss, df : array_like
        Weighted residual sums of squares and degrees of freedom, one entry per fit.
    n : int
        Number of rows.
    scale : float, optional
        Residual standard deviation of a model rich enough to have little bias, for Mallows' Cp.
    log_weights : float
        Sum of the logarithms of the weights.
    hq_constant : float
        As in `information_criteria`.

    Notes
    -----
    The scale is a parameter of the likelihood too, so p = df + 1 (as R's ``AIC`` counts). A fit
    that leaves no degrees of freedom has infinite gcv and aicc, never a flattering value.
    """
    rss, df = np.asarray(rss, dtype=np.float64), np.asarray(df, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        minus_two_loglik = n * (np.log(2 * np.pi * rss / n) + 1) - log_weights
        found = information_criteria(minus_two_loglik, df + 1, n, hq_constant=hq_constant)
        found["gcv"] = np.where(df < n, n * rss / (n - df) ** 2, np.inf)
        if scale is not None:
            found["cp"] = rss / scale**2 - n + 2 * df
    return found


def residual_scale(rss: Any, df: Any, n: int) -> Any:
    """Return the residual standard deviation that Cp measures a path against, or None.

    It is that of the richest model with at most n/2 degrees of freedom: rich enough for little
    bias, and far from reproducing the responses, where the estimate breaks down. Where every
    model is richer, the richest that leaves a degree of freedom serves.

    `rss` has shape (m,) or (m, q) along the path, simplest model first.
    """
    rss, df = np.asarray(rss, dtype=np.float64), np.asarray(df, dtype=np.float64)
    positive = rss > 0 if rss.ndim == 1 else np.all(rss > 0, axis=1)
    for wanted in (df <= n / 2, n - df >= 1):
        rich = np.flatnonzero(wanted & positive)
        if len(rich):
            found = np.sqrt(rss[rich[-1]] / (n - df[rich[-1]]))
            return float(found) if found.ndim == 0 else found
    return None


def gaussian_path(
    settings: Sequence[Mapping[str, Any]],
    *,
    rss: Any,
    df: Any,
    n: int,
    weight: float | None = None,
    log_weights: float = 0.0,
    error: Any = None,
    error_se: Any = None,
    estimate: str | None = None,
    loss: str = "squared error",
    train_error: Any = None,
    coef: Any = None,
    fold_error: Any = None,
    richest: tuple[float, float] | None = None,
    more: Mapping[str, Any] | None = None,
) -> Path:
    """Return the path of fits by (weighted) squares, with all its criteria.

    `settings` come simplest first, with their weighted residual sums of squares `rss` (a column for
    each of several responses) and degrees of freedom, of `n` rows whose weights sum to `weight` (n
    by default) and their logarithms to `log_weights`. `error` and what follows it are as in `Path`;
    ``error="gcv"`` judges by generalised cross-validation. `train_error` is given under a loss
    other than squared error. `richest` is (rss, df) of a model beyond the end of a path that was
    cut, against which Cp may measure; `more` are further criteria.
    """
    rss, df = np.asarray(rss, dtype=np.float64), np.asarray(df, dtype=np.float64)
    several = rss.ndim == 2
    if richest is None:
        scale = residual_scale(rss, df, n)
    else:
        scale = residual_scale(np.append(rss, richest[0]), np.append(df, richest[1]), n)
    found = gaussian_criteria(
        rss, df[:, None] if several else df, n, scale=scale, log_weights=log_weights
    )
    if several:
        found = {
            name: each.mean(axis=1) if name == "gcv" else each.sum(axis=1)
            for name, each in found.items()
        }
    # A fit that reproduces the responses leaves no residuals to judge it by.
    found = {name: np.where(df < n, each, np.inf) for name, each in found.items()}
    if isinstance(error, str):
        error, error_se, estimate = found["gcv"], np.full(len(df), np.nan), "gcv"
    if train_error is None:
        train_error = (rss.mean(axis=1) if several else rss) / (n if weight is None else weight)
    return Path(
        settings,
        df=df,
        train_error=train_error,
        error=error,
        error_se=error_se,
        estimate=estimate,
        loss=loss,
        criteria=found | dict(more or {}),
        scale=scale,
        coef=coef,
        fold_error=fold_error,
    )
