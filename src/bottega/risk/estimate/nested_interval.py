r"""Intervals for a cross-validated error.

The losses of different folds are not independent: their models share training rows. The root of
their variance over n is therefore too small, and an interval made of it covers too seldom. Nested
cross-validation measures the mean square error of cross-validation itself.

Symbols
-------
K            folds
n            rows
e_k          losses of fold k, by the model fitted without fold k
e_k^in       losses of all other folds j, by models fitted without folds k and j
a_k, b_k     (mean e_k^in - mean e_k)^2 and Var(e_k) / |fold k|

Given the rows outside fold k, mean e_k^in is the cross-validated error of their model and mean e_k
an unbiased estimate of its risk with variance b_k; so E[a_k - b_k] is the mean square error of
cross-validation with n (K-1)/K rows, and (K-1)/K times that is the one with n rows.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import stats

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray

__all__ = [
    "INTERVALS",
    "ErrorInterval",
    "check_folds",
    "nadeau_bengio",
    "naive",
    "nested",
    "pairs_of",
]

INTERVALS = ("nested", "nadeau_bengio", "naive")


@dataclass(frozen=True)
class ErrorInterval:
    """A centre, a standard error and the limits.

    Attributes
    ----------
    estimate : float
        The estimated risk of the model fitted to all rows.
    std_error : float
        Its standard error.
    lower, upper : float
        Limits, before they are cut off where no loss can be.
    inflation : float
        How many times larger the standard error is than the naive one.
    """

    estimate: float
    std_error: float
    lower: float
    upper: float
    inflation: float


def pairs_of(k: int) -> list[tuple[int, int]]:
    """Return the pairs of folds left out together; each model serves both of its folds."""
    return list(combinations(range(k), 2))


def check_folds(sizes: list[list[int]]) -> None:
    """Refuse folds, given by their numbers of rows, that the nested interval cannot use."""
    if min(map(len, sizes)) < 3:
        raise InputError(
            "The nested interval leaves out two folds at once, so it needs at least 3 of them; "
            "give outer=3 or more, or interval='nadeau_bengio'."
        )
    if min(map(min, sizes)) < 2:
        raise InputError(
            "The nested interval needs at least 2 rows in each outer fold; give fewer folds, or "
            "interval='nadeau_bengio'."
        )


def _naive_variance(losses: list[list[FloatArray]]) -> float:
    """Return the variance of the mean with the losses taken as independent."""
    each = [np.concatenate(folds) for folds in losses]
    return float(np.mean([rows.var(ddof=1) / len(rows) for rows in each]))


def _row_mean(losses: list[list[FloatArray]]) -> float:
    return float(np.mean([np.concatenate(folds).mean() for folds in losses]))


def naive(losses: list[list[FloatArray]], delta: float) -> ErrorInterval:
    """Take the losses as independent: too narrow.

    Parameters
    ----------
    losses : list of list of ndarray
        Losses of the rows of each fold, for each repetition.
    delta : float
        Probability with which the interval would miss, if they were.
    """
    mean, se = _row_mean(losses), np.sqrt(_naive_variance(losses))
    half = stats.norm.ppf(1 - delta / 2) * se
    return ErrorInterval(mean, float(se), float(mean - half), float(mean + half), 1.0)


def nadeau_bengio(
    losses: list[list[FloatArray]], train_sizes: list[list[int]], delta: float
) -> ErrorInterval:
    r"""Correct the variance of the fold means for the training rows they share.

    :math:`(1/K + n_{test}/n_{train})` times the variance of the K fold means, with Student's t on
    K - 1 degrees of freedom. Of several partitions the variances are averaged; they all rest on
    the same rows, so their number does not make the interval shorter.
    """
    variances, counts = [], []
    for folds, sizes in zip(losses, train_sizes, strict=True):
        means = np.array([rows.mean() for rows in folds])
        share = np.mean([len(rows) for rows in folds]) / np.mean(sizes)
        variances.append((1 / len(means) + share) * means.var(ddof=1))
        counts.append(len(means))
    se = float(np.sqrt(np.mean(variances)))
    mean = float(np.mean([np.mean([rows.mean() for rows in folds]) for folds in losses]))
    half = float(stats.t.ppf(1 - delta / 2, min(counts) - 1) * se)
    usual = np.sqrt(_naive_variance(losses))
    return ErrorInterval(mean, se, mean - half, mean + half, _ratio(se, usual))


def nested(
    losses: list[list[FloatArray]],
    inner: list[dict[tuple[int, int], FloatArray]],
    delta: float,
) -> ErrorInterval:
    r"""Return the interval of Bates, Hastie and Tibshirani.

    Parameters
    ----------
    losses : list of list of ndarray
        :math:`e_k` for each repetition and fold.
    inner : list of dict
        For each repetition, by ``(k, j)``: losses of fold j by the model fitted without folds k
        and j.
    delta : float
        Probability with which the interval may miss the risk of the model fitted to all rows.

    Notes
    -----
    The mean square error is kept between the naive variance and K times it, its values if the
    folds were independent and if they were copies of one another. The centre is corrected for
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
    for folds, found in zip(losses, inner, strict=True):
        for i, rows in enumerate(folds):
            e_in = np.concatenate([found[i, j] for j in range(k) if j != i])
            inside.append(e_in.mean())
            a.append((e_in.mean() - rows.mean()) ** 2)
            b.append(rows.var(ddof=1) / len(rows))
    usual = _naive_variance(losses)
    variance = (k - 1) / k * (np.mean(a) - np.mean(b))
    variance = float(np.clip(variance, usual, k * usual))
    err_cv, err_ncv = _row_mean(losses), float(np.mean(inside))
    centre = err_ncv - (1 + (k - 2) / k) * (err_ncv - err_cv)
    half = float(stats.norm.ppf(1 - delta / 2) * np.sqrt(variance))
    se = float(np.sqrt(variance))
    return ErrorInterval(centre, se, centre - half, centre + half, _ratio(se, np.sqrt(usual)))


def _ratio(se: float, usual: float) -> float:
    return float(se / usual) if usual > 0 else 1.0
