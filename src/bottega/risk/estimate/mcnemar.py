"""McNemar's tests: whether two classifiers err equally often on the same rows."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from bottega.core.errors import InputError
from bottega.core.typing import IntArray

__all__ = ["McNemar", "mcnemar"]


@dataclass(frozen=True)
class McNemar:
    r"""McNemar's tests of whether two classifiers err equally often.

    Only the rows on which one is right and the other wrong tell them apart; if both err equally
    often, each of these rows is a fair coin.

    Attributes
    ----------
    table : ndarray of shape (2, 2)
        Rows: the first model right, wrong. Columns: the second right, wrong.
    exact : float
        Two-sided p-value of the binomial test: never too small.
    mid_p : float
        The same with half of the probability of what was seen: less cautious, and close to its
        level.
    statistic, chi2 : float
        :math:`(|b - c| - 1)^2 / (b + c)` and its p-value by the chi-squared distribution.
    statistic_uncorrected, chi2_uncorrected : float
        The same without the correction for continuity.
    """

    table: IntArray
    exact: float
    mid_p: float
    statistic: float
    chi2: float
    statistic_uncorrected: float
    chi2_uncorrected: float


def mcnemar(table: Any) -> McNemar:
    """Test a table of paired right and wrong answers.

    Parameters
    ----------
    table : array-like of shape (2, 2)
        Rows: the first model right, wrong. Columns: the second right, wrong.

    References
    ----------
    .. [1] McNemar, Q. (1947). Note on the sampling error of the difference between correlated
       proportions or percentages. Psychometrika 12, 153-157.
    .. [2] Fagerland, M. W., Lydersen, S. and Laake, P. (2013). The McNemar test for binary
       matched-pairs data: mid-p and asymptotic are better than exact conditional. BMC Medical
       Research Methodology 13, 91.

    Examples
    --------
    >>> found = mcnemar([[59, 6], [16, 80]])
    >>> round(found.exact, 4), round(found.mid_p, 4), round(found.chi2, 4)
    (0.0525, 0.0347, 0.055)
    """
    counts = np.asarray(table)
    if counts.shape != (2, 2) or counts.dtype.kind not in "iuf" or np.any(counts < 0):
        raise InputError(f"The table has two rows and two columns of counts; got {table!r}.")
    if np.any(counts != np.floor(counts)):
        raise InputError(f"The table holds counts, whole numbers; got {table!r}.")
    b, c = int(counts[0, 1]), int(counts[1, 0])
    fewer, total = min(b, c), b + c
    twice = 2 * float(stats.binom.cdf(fewer, total, 0.5))
    mid = twice - float(stats.binom.pmf(fewer, total, 0.5))
    apart = abs(b - c)
    if total:
        plain = apart**2 / total
        corrected = (apart - 1) ** 2 / total if apart else 0.0
    else:  # no row tells the two apart
        plain = corrected = math.nan
    return McNemar(
        table=counts.astype(np.int64),
        exact=min(1.0, twice),
        mid_p=min(1.0, mid) if total else 1.0,
        statistic=corrected,
        chi2=float(stats.chi2.sf(corrected, 1)),
        statistic_uncorrected=plain,
        chi2_uncorrected=float(stats.chi2.sf(plain, 1)),
    )
