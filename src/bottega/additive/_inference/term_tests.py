r"""Tests that a term of an additive model is zero.

Symbols
-------
b     coefficients of the term, V their (Bayesian) covariance
G     X'WX of the term: b'Gb is the squared size of its effect over the rows
F     (X'WX + S)^-1 X'WX of the whole model; its diagonal sums to the degrees of freedom
r     reference degrees of freedom of the term: the sum of diag(2F - FF) over its coefficients
S     sum of the penalties, each times its smoothing parameter
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from bottega.additive._inference.chi_squares import chi_squares_sf
from bottega.additive._penalized.fit import Fit
from bottega.core.typing import FloatArray

__all__ = [
    "TermTest",
    "chosen_df",
    "random_test",
    "reference_df",
    "smooth_test",
    "unshrunk_test",
    "wald_test",
]

_ROUNDING = 1e-11  # eigenvalues this much below the largest one are rounding


@dataclass(frozen=True)
class TermTest:
    """A test of a term.

    Attributes
    ----------
    statistic : float
        An F statistic where the scale is estimated, a chi-square where it is known.
    df : float
        Degrees of freedom of its numerator, or of the chi-square.
    p_value : float
        Probability of a statistic as large under no effect.
    """

    statistic: float
    df: float
    p_value: float


NO_TEST = TermTest(np.nan, np.nan, np.nan)


def reference_df(fit: Fit) -> FloatArray:
    """Return the diagonal of 2F - FF: degrees of freedom that bias does not make too few."""
    if not fit.scale > 0:
        return fit.edf
    F = fit.covariance @ fit.gram / fit.scale
    return np.asarray(2 * fit.edf - np.einsum("ij,ji->i", F, F))


def chosen_df(fit: Fit, part: slice, r: float) -> float:
    """Return the degrees of freedom that the choice of the smoothing parameters adds to a term.

    With these a term has at most its reference degrees of freedom `r`: where the criterion is flat,
    slopes at its minimum say too much.
    """
    if fit.covariance_corrected is None or not fit.scale > 0:
        return 0.0
    added = (fit.covariance_corrected - fit.covariance)[part, part]
    chosen = float(np.sum(added * fit.gram[part, part]) / fit.scale)
    return float(np.clip(chosen, 0.0, max(r - float(fit.edf[part].sum()), 0.0)))


def smooth_test(
    coef: FloatArray,
    covariance: FloatArray,
    gram: FloatArray,
    df: float,
    df_scale: float,
    chosen: float = 0.0,
) -> TermTest:
    r"""Test a smooth term by the size of its effect in the directions that it can move in.

    The statistic is :math:`\hat f' V_f^{r-} \hat f` with the pseudo-inverse of rank r of the
    covariance of the fitted effect [1]_. r is not whole: with k the whole part and
    :math:`\nu` the rest, the statistic is the sum of the squares of the k leading standardised
    components and :math:`\nu` times that of the next. Its distribution under no effect is that of
    :math:`\chi^2_k + \nu \chi^2_1`, over an independent estimate of the scale where that is not
    known. A term with less than one degree of freedom is tested in its leading direction alone.

    So far the smoothing parameters count as given, and with chosen ones p-values are too small. The
    choice adds :math:`\delta` degrees of freedom to the fit, and :math:`2 \delta` to r as that is
    the trace of 2F - FF; the distribution under no effect is that for :math:`r + 2 \delta`.

    Parameters
    ----------
    coef, covariance, gram : ndarray
        b, V and G of the term.
    df : float
        r.
    df_scale : float
        Degrees of freedom of the estimate of the scale; infinite where it is known.
    chosen : float
        Degrees of freedom that the choice of the smoothing parameters adds.

    References
    ----------
    .. [1] Wood, S. N. (2013). On p-values for smooth components of an extended generalized
       additive model. Biometrika 100, 221-228.
    """
    root = _root(gram)
    values, vectors = np.linalg.eigh(root @ covariance @ root.T)
    values, vectors = values[::-1], vectors[:, ::-1]
    rank = int(np.count_nonzero(values > _ROUNDING * values[0])) if values[0] > 0 else 0
    if not rank:
        return NO_TEST
    r = float(np.clip(df, 1.0, rank))
    squares = (vectors[:, :rank].T @ (root @ coef)) ** 2 / values[:rank]
    total = float(_shares(r, rank) @ squares)
    p_value = chi_squares_sf(total, _shares(r + 2 * max(chosen, 0.0), rank), df_scale)
    return TermTest(total if np.isinf(df_scale) else total / r, r, p_value)


def random_test(fit: Fit, part: slice, random: list[slice], df_scale: float) -> TermTest:
    r"""Test that the variance of an effect without a free direction is zero.

    Such an effect (levels drawn from a normal distribution, a cyclic curve, a term with a penalty
    on all of its directions) is shrunk to zero where there is nothing to be seen, so that its
    estimate cannot be held against its own covariance. The statistic is what the effect adds to
    the penalised likelihood, :math:`\hat b' V^{-1} \hat b`. Under no effect it is a weighted sum
    of chi-squares: its weights are the eigenvalues of :math:`V^{-1}` times the covariance of
    :math:`\hat b` from the noise and the other random effects [1]_.

    Parameters
    ----------
    fit : Fit
        The model.
    part : slice
        Coefficients of the effect.
    random : list of slice
        Those of the other effects that are random variables.
    df_scale : float
        As in `smooth_test`.

    References
    ----------
    .. [1] Wood, S. N. (2013). A simple test for random effects in regression models. Biometrika
       100, 1005-1010.
    """
    if not fit.scale > 0:
        return NO_TEST
    V = fit.covariance[part, part] / fit.scale
    values, vectors = np.linalg.eigh((V + V.T) / 2)
    kept = values > _ROUNDING * values[-1]
    if not np.any(kept):
        return NO_TEST
    root = (vectors[:, kept] / np.sqrt(values[kept])).T
    noise = fit.covariance_freq[part, part] / fit.scale
    gain = fit.covariance[part, :] / fit.scale  # b is the gain times X'W z
    for other in random:
        # The other effect has covariance S^-1 in units of the scale, and moves b by gain X'W Z.
        moved = gain @ fit.gram[:, other]
        noise = noise + moved @ np.linalg.pinv(fit.penalty[other, other], hermitian=True) @ moved.T
    total = float(np.sum((root @ fit.coef[part]) ** 2)) / fit.scale
    weights = np.maximum(np.linalg.eigvalsh(root @ noise @ root.T), 0.0)
    if not weights.max() > 0:
        return NO_TEST
    rank = int(np.count_nonzero(weights > _ROUNDING * weights.max()))
    p_value = chi_squares_sf(total, weights, df_scale)
    return TermTest(total if np.isinf(df_scale) else total / rank, float(rank), p_value)


def unshrunk_test(fit: Fit, part: slice, weighted: list[FloatArray], df_scale: float) -> TermTest:
    """Test a term with a penalty on its free directions as if it did not have that penalty.

    Where the smoothing parameters have shrunk a term to nothing, no test of what is left holds; and
    where they have not, they were chosen because there is something to be seen. So the free
    directions of the term are estimated anew without their penalty, the last of the `weighted`
    ones (penalties times their smoothing parameters), all others as they are, and `smooth_test`
    takes the result.
    """
    if not fit.scale > 0:
        return NO_TEST
    own, shrunk = fit.coef[part], fit.covariance[part, part] / fit.scale
    # What the rows say of the term, all other terms given their penalties.
    C = np.linalg.pinv(shrunk, hermitian=True) - sum(weighted)
    V = np.asarray(np.linalg.pinv(C + sum(weighted[:-1]), hermitian=True), dtype=np.float64)
    coef = own + V @ (weighted[-1] @ own)
    F = V @ C
    r = float(2 * np.trace(F) - np.einsum("ij,ji->", F, F))
    chosen = 0.0
    if fit.covariance_corrected is not None:
        # The choice of the smoothing parameters adds J Q J' to the covariance, with J the slopes of
        # b in their logarithms and Q the covariance of these, which follows from what it has added.
        J = np.column_stack([shrunk @ (P @ own) for P in weighted])
        back = np.linalg.pinv(J)
        Q = back @ (fit.covariance_corrected - fit.covariance)[part, part] @ back.T
        free = np.column_stack([V @ (P @ coef) for P in weighted[:-1]])
        added = free @ Q[:-1, :-1] @ free.T
        chosen = float(np.sum(added * fit.gram[part, part]) / fit.scale)
        chosen = float(np.clip(chosen, 0.0, r - np.trace(F)))
    return smooth_test(coef, V * fit.scale, fit.gram[part, part], r, df_scale, chosen)


def wald_test(coef: FloatArray, covariance: FloatArray, df_scale: float) -> TermTest:
    """Test that coefficients without penalty are all zero, by F or chi-square."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > _ROUNDING * values.max(initial=0.0)
    rank = int(np.count_nonzero(kept))
    if not rank:
        return NO_TEST
    total = float(np.sum((vectors[:, kept].T @ coef) ** 2 / values[kept]))
    if np.isinf(df_scale):
        return TermTest(total, float(rank), float(stats.chi2.sf(total, rank)))
    return TermTest(total / rank, float(rank), float(stats.f.sf(total / rank, rank, df_scale)))


def _shares(r: float, count: int) -> FloatArray:
    """Return as many ones as r has whole parts, what is left of it, and zeros."""
    return np.clip(r - np.arange(count), 0.0, 1.0)


def _root(A: FloatArray) -> FloatArray:
    """Return R with R'R = A, of a symmetric matrix without negative eigenvalues but rounding."""
    values, vectors = np.linalg.eigh((A + A.T) / 2)
    return np.asarray(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T)
