r"""Families of responses, and what their likelihood says about a model.

Symbols
-------
n     rows
df    degrees of freedom of the mean
rss   sum of w (y - y_hat)^2
p     number of parameters that the likelihood was maximised over
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bottega.core.families import (
    BINOMIAL,
    FAMILIES,
    GAMMA,
    GAUSSIAN,
    POISSON,
    Family,
    NegativeBinomial,
    get_family,
)
from bottega.core.path import Path
from bottega.core.typing import FloatArray

__all__ = [
    "BINOMIAL",
    "FAMILIES",
    "GAMMA",
    "GAUSSIAN",
    "POISSON",
    "Family",
    "NegativeBinomial",
    "gaussian_criteria",
    "gaussian_path",
    "get_family",
    "information_criteria",
    "residual_scale",
]


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
