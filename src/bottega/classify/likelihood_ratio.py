"""The likelihood-ratio test between nested logistic regressions."""

from bottega.classify._logistic.inference import LikelihoodTest, check_nested, chi_squared
from bottega.classify.logistic import LogisticRegression

__all__ = ["LikelihoodTest", "likelihood_ratio_test"]


def likelihood_ratio_test(small: LogisticRegression, big: LogisticRegression) -> LikelihoodTest:
    """Test whether the bigger of two nested fits without a penalty explains more than chance.

    Parameters
    ----------
    small, big : LogisticRegression
        Fits of the same rows with ``C=np.inf``; the inputs of `small` are among those of `big`.

    Returns
    -------
    LikelihoodTest
        Twice the gain in log-likelihood, against chi-squared with the difference in parameters.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2))
    >>> y = (X[:, 0] + rng.normal(size=100) > 0).astype(int)
    >>> fits = [LogisticRegression(C=np.inf).fit(X[:, :k], y) for k in (1, 2)]
    >>> test = likelihood_ratio_test(*fits)
    >>> test.df, round(test.p_value, 2) > 0.01
    (1.0, True)
    """
    check_nested(small, big)
    gained = small._totals["deviance"] - big._totals["deviance"]
    return chi_squared(max(gained, 0.0), big.df_ - small.df_)
