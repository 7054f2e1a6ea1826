"""What a sample is worth whose units were not chosen at random."""

from bottega.core.errors import InputError

__all__ = ["effective_sample_size"]


def effective_sample_size(share: float, correlation: float) -> float:
    r"""Return the size of the simple random sample that errs as much as a biased one.

    For every finite population and every choice of units the mean of the sample is off by
    :math:`\sqrt{(1 - f) / f}\, \sigma \rho`, with f the share sampled, sigma the standard deviation
    of the answers and rho their correlation with being sampled. A random sample of size
    :math:`f / ((1 - f) \rho^2)` has the same mean squared error.

    Parameters
    ----------
    share : float
        Share f of the population that was sampled, between 0 and 1.
    correlation : float
        Correlation rho of the answer and being sampled, not 0.

    Examples
    --------
    An election: one percent of the voters, a correlation of -0.005.

    >>> round(effective_sample_size(0.01, -0.005), 2)
    404.04
    """
    if not 0 < share < 1 or not 0 < abs(correlation) <= 1:
        raise InputError(
            f"share={share!r} must lie between 0 and 1, and correlation={correlation!r} between -1 "
            "and 1 without being 0."
        )
    return share / (1 - share) / correlation**2
