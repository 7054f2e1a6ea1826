"""The approximate test of a small additive model inside a big one."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from sklearn.utils.validation import check_is_fitted

from bottega.core.errors import InputError
from bottega.core.tables import Section, Shown, Summary

__all__ = ["DevianceTest", "deviance_test"]


@dataclass(frozen=True, repr=False)
class DevianceTest(Shown):
    """The approximate test between nested additive models.

    Attributes
    ----------
    statistic : float
        F where the scale is estimated, the difference of the deviances (chi-square) where it is
        known.
    df : tuple of float
        Degrees of freedom that the bigger model adds, and those of its residuals (infinite where
        the scale is known).
    p_value : float
        Probability of a statistic as large if the small model holds.
    """

    statistic: float
    df: tuple[float, float]
    p_value: float

    def summary(self) -> Summary:
        """Return the test as a table."""
        name = "chi-square" if np.isinf(self.df[1]) else "F"
        row = {name: [self.statistic], "df": [self.df[0]]}
        if np.isfinite(self.df[1]):
            row["df residual"] = [self.df[1]]
        row["p value"] = [self.p_value]
        note = "Approximate: degrees of freedom are those of penalised or smoothed effects."
        return Summary("Test between nested additive models", (Section("", row),), (note,))


def deviance_test(small: Any, big: Any) -> DevianceTest:
    r"""Test whether the bigger of two nested additive models explains more than noise.

    Parameters
    ----------
    small, big : AdditiveModel or AdditiveClassifier
        Fitted to the same rows; the terms of `small` are among those of `big`. Either engine.

    Returns
    -------
    DevianceTest
        With deviances D and degrees of freedom d, the statistic is
        :math:`(D_0 - D_1) / (d_1 - d_0)` over the scale of the bigger model, against F with
        :math:`d_1 - d_0` and :math:`n - d_1` degrees of freedom; where the scale is known,
        :math:`D_0 - D_1` against chi-square.

    Notes
    -----
    The reference distributions are those of unpenalised models, and approximate here: with chosen
    smoothing parameters p-values are somewhat too small. To test one term, the tests of ``tidy()``
    (for ``engine="penalized"``) are better.

    References
    ----------
    .. [1] Hastie, T. and Tibshirani, R. (1990). Generalized additive models. Chapman and Hall.

    Examples
    --------
    >>> import numpy as np
    >>> from bottega.additive import AdditiveModel
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(200, 2))
    >>> y = np.sin(6 * X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.normal(size=200)
    >>> small = AdditiveModel("smooth(0)", engine="backfitting").fit(X, y)
    >>> big = AdditiveModel("smooth(0) + smooth(1)", engine="backfitting").fit(X, y)
    >>> deviance_test(small, big).p_value < 0.001
    True
    """
    for model in (small, big):
        check_is_fitted(model)
    first, second = small.fit_, big.fit_
    if first.family.name != second.family.name or first.n_predictors != second.n_predictors:
        raise InputError(
            f"Both models must be of one family; these are of {first.family.name} and "
            f"{second.family.name}."
        )
    if first.n != second.n or not np.isclose(first.null_deviance, second.null_deviance):
        raise InputError(
            f"Both models must be fitted to the same rows; they have {first.n} and {second.n} rows "
            f"and null deviances {first.null_deviance:.6g} and {second.null_deviance:.6g}."
        )
    gained = float(second.df - first.df)
    if not gained > 0:
        raise InputError(
            f"The first model must be the smaller: df {first.df:.4g} is not below {second.df:.4g}."
        )
    lost = max(float(first.deviance - second.deviance), 0.0)
    if second.scale_known:
        return DevianceTest(lost, (gained, np.inf), float(stats.chi2.sf(lost, gained)))
    rest = float(second.df_residual)
    if not rest > 0:
        raise InputError("The bigger model leaves no degrees of freedom for the residuals.")
    statistic = lost / gained / float(second.scale)
    return DevianceTest(statistic, (gained, rest), float(stats.f.sf(statistic, gained, rest)))
