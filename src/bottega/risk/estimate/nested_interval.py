r"""Intervals for a cross-validated error.

The losses of different folds are not independent: their models share training rows. The root of
their variance over n is therefore too small, and an interval made of it covers too seldom. Nested
cross-validation measures the mean square error of cross-validation itself.

Symbols
-------
K            folds
n            rows, or groups of rows: the independent units
e_k          losses of fold k, by the model fitted without fold k
e_k^in       losses of all other folds j, by models fitted without folds k and j
a_k, b_k     (mean e_k^in - mean e_k)^2 and the variance of mean e_k
q_k          share of fold k in the weight of all folds

Given the rows outside fold k, mean e_k^in is the cross-validated error of their model and mean e_k
an unbiased estimate of its risk with variance b_k; so E[a_k - b_k] is the mean square error of
cross-validation with n (K-1)/K rows, and (K-1)/K times that is the one with n rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from scipy import stats

from bottega.core.errors import InputError
from bottega.core.proportion import exact_limits
from bottega.core.typing import FloatArray

INTERVALS = ("auto", "nested", "nadeau_bengio", "naive")

# For each repetition, for each fold: one number per unit.
ByFold: TypeAlias = list[list[FloatArray]]


@dataclass(frozen=True)
class ErrorInterval:
    """Risk of the model fitted to all rows: its limits may lie where no loss can be."""

    estimate: float
    std_error: float
    lower: float
    upper: float
    inflation: float  # how many times larger the standard error is than the naive one


def pairs_of(k: int) -> list[tuple[int, int]]:
    """Return the pairs of folds left out together; each model serves both of its folds."""
    return list(combinations(range(k), 2))


def check_folds(sizes: list[list[int]]) -> None:
    """Refuse folds, given by their numbers of units, that the nested interval cannot use."""
    if min(map(len, sizes)) < 3:
        raise InputError(
            "The nested interval leaves out two folds at once, so it needs at least 3 of them; "
            "give outer=3 or more, or interval='nadeau_bengio'."
        )
    if min(map(min, sizes)) < 2:
        raise InputError(
            "The nested interval needs at least 2 rows in each outer fold (2 groups, where rows "
            "are grouped); give fewer folds, or interval='nadeau_bengio'."
        )


def effective_size(weight: FloatArray) -> float:
    """Return how many units of equal weight would vary as much in their mean (Kish)."""
    return float(weight.sum() ** 2 / np.sum(weight**2))


def mean_and_variance(losses: FloatArray, weight: FloatArray) -> tuple[float, float]:
    """Return the mean of independent losses and its variance."""
    n = len(losses)
    share = weight / weight.sum()
    mean = float(share @ losses)
    squares = float(share**2 @ (losses - mean) ** 2)
    return mean, squares * n / (n - 1) if n > 1 else np.nan


def _weights_of(losses: ByFold, weights: ByFold | None) -> ByFold:
    if weights is not None:
        return weights
    return [[np.ones(len(rows)) for rows in folds] for folds in losses]


def _all_folds(losses: ByFold, weights: ByFold) -> tuple[float, float]:
    """Return the mean over all units, and its variance with the losses taken as independent."""
    each = [
        mean_and_variance(np.concatenate(folds), np.concatenate(weight))
        for folds, weight in zip(losses, weights, strict=True)
    ]
    mean, variance = np.mean(each, axis=0).tolist()
    return mean, variance


def naive(losses: ByFold, delta: float, weights: ByFold | None = None) -> ErrorInterval:
    """Take the losses of the units of each fold as independent: too narrow."""
    mean, variance = _all_folds(losses, _weights_of(losses, weights))
    return _interval(mean, variance, delta, variance)


def corrected_variance(
    means: FloatArray, shares: FloatArray, n_test: FloatArray, n_train: FloatArray
) -> float:
    r"""Return the variance of a mean of fold means, corrected for the training rows they share.

    Nadeau and Bengio take the means of two folds as correlated by :math:`\rho = n_{test} /
    (n_{test} + n_{train})`. With folds of several sizes, :math:`\mathrm{Var}(m_k) = \tau^2 / n_k`
    and the correlation of two folds is :math:`\sqrt{\rho_k \rho_l}`. The scale :math:`\tau^2` is
    estimated without bias, under this model, from the spread of the fold means. With equal folds
    the answer is :math:`(1/K + n_{test}/n_{train})` times the variance of the K means.

    All arrays have one entry per fold: the mean loss (or difference of two losses), its weight in
    the mean of all, and the numbers of units that the fold tests on and trains on.

    References
    ----------
    .. [1] Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine
       Learning 52, 239-281.

    Examples
    --------
    >>> means = np.array([1.0, 2.0, 4.0])
    >>> found = corrected_variance(means, np.full(3, 1 / 3), np.full(3, 20), np.full(3, 40))
    >>> bool(np.isclose(found, (1 / 3 + 20 / 40) * means.var(ddof=1)))
    True
    """
    shared = np.sqrt(1 / (n_test + n_train))  # the root of rho_k / n_k
    own = 1 / n_test - shared**2
    of_mean = float(shares @ shared) ** 2 + float(shares**2 @ own)
    within = float(shares @ (1 / n_test)) - of_mean  # expected spread of the means around theirs
    spread = float(shares @ (means - shares @ means) ** 2)
    return spread * of_mean / within


def nadeau_bengio(
    losses: ByFold, train_sizes: Any, delta: float, weights: ByFold | None = None
) -> ErrorInterval:
    """Correct the variance of the fold means for the training rows they share.

    `corrected_variance`, with Student's t on K - 1 degrees of freedom. The variances of several
    partitions are averaged; they all rest on the same rows, so their number does not make the
    interval shorter. `train_sizes` has the (effective) number of training units of each fold.
    The interval is never narrower than that of independent losses: folds that are stratified by
    class may have nearly the same mean by construction.
    """
    weights = _weights_of(losses, weights)
    variances = [
        corrected_variance(*fold_means(folds, weight), np.asarray(sizes, dtype=np.float64))
        for folds, weight, sizes in zip(losses, weights, train_sizes, strict=True)
    ]
    mean, usual = _all_folds(losses, weights)
    se, half = widest(float(np.mean(variances)), min(map(len, losses)) - 1, usual, delta)
    return ErrorInterval(mean, se, mean - half, mean + half, se / usual**0.5 if usual > 0 else 1.0)


def widest(variance: float, df: int, usual: float, delta: float) -> tuple[float, float]:
    """Return a standard error and half the width of an interval: the larger of two each.

    One pair is of a corrected variance, with Student's t; the other of the variance if the losses
    were independent (NaN: not known), with normal limits.
    """
    half = stats.t.ppf(1 - delta / 2, df) * np.sqrt(variance)
    normal = stats.norm.ppf(1 - delta / 2) * np.sqrt(usual)
    return float(np.sqrt(np.fmax(variance, usual))), float(np.fmax(half, normal))


def limits_of_equal(
    value: float, low: float, high: float, n: float, delta: float
) -> tuple[float, float]:
    """Return limits of a mean after n units that all had the same value, low <= value <= high.

    No spread was seen, and none is no proof that there is none: with probability 1 - delta/2 at
    most a share 1 - (delta/2)^(1/n) of other units has another value (Clopper and Pearson), and
    these may lie at either end. The units are taken as independent.

    Examples
    --------
    >>> low, high = limits_of_equal(0.0, 0.0, 1.0, 133, 0.05)  # no error in 133 rows
    >>> low, round(high, 4)
    (0.0, 0.0274)
    """
    share = float(exact_limits(0, n, delta / 2)[1])
    return value - share * (value - low), value + share * (high - value)


def fold_means(
    folds: Sequence[FloatArray], weights: Sequence[FloatArray]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean, the share of the weight and the effective size of each fold."""
    means = [np.average(rows, weights=w) for rows, w in zip(folds, weights, strict=True)]
    totals = np.array([weight.sum() for weight in weights])
    sizes = [effective_size(weight) for weight in weights]
    return np.array(means), totals / totals.sum(), np.array(sizes)


def nested(
    losses: ByFold,
    inner: list[dict[tuple[int, int], FloatArray]],
    delta: float,
    weights: ByFold | None = None,
) -> ErrorInterval:
    r"""Return the interval of Bates, Hastie and Tibshirani.

    `losses` has :math:`e_k` for each repetition and fold; `inner`, for each repetition and by
    ``(k, j)``, the losses of fold j by the model fitted without folds k and j.

    Notes
    -----
    The mean square error is kept between the naive variance and K times it, its values if the
    folds were independent and if they were copies of one another. The center is corrected for
    the models having been fitted to fewer rows than there are, with the excess risk taken as
    proportional to one over their number: by
    :math:`(1 + (K-2)/K)(\mathrm{Err}^{ncv} - \mathrm{Err}^{cv})`.

    References
    ----------
    .. [1] Bates, S., Hastie, T. and Tibshirani, R. (2024). Cross-validation: what does it
       estimate and how well does it do it? Journal of the American Statistical Association 119,
       1434-1445.
    """
    k = len(losses[0])
    check_folds([[len(rows) for rows in folds] for folds in losses])
    a, b, inside = [], [], []
    weights = _weights_of(losses, weights)
    for folds, found, weight in zip(losses, inner, weights, strict=True):
        for i, rows in enumerate(folds):
            others = [j for j in range(k) if j != i]
            e_in = np.concatenate([found[i, j] for j in others])
            mean_in = float(np.average(e_in, weights=np.concatenate([weight[j] for j in others])))
            mean_out, variance_out = mean_and_variance(rows, weight[i])
            inside.append(mean_in)
            a.append((mean_in - mean_out) ** 2)
            b.append(variance_out)
    err_cv, usual = _all_folds(losses, weights)
    measured = (k - 1) / k * (np.mean(a) - np.mean(b))
    variance = float(np.clip(measured, usual, k * usual))
    err_ncv = float(np.mean(inside))
    center = err_ncv - (1 + (k - 2) / k) * (err_ncv - err_cv)
    return _interval(center, variance, delta, usual)


def _interval(center: float, variance: float, delta: float, usual: float) -> ErrorInterval:
    se = float(np.sqrt(variance))
    half = float(stats.norm.ppf(1 - delta / 2)) * se
    inflation = se / float(np.sqrt(usual)) if usual > 0 else 1.0
    return ErrorInterval(center, se, center - half, center + half, inflation)
