"""How much more an online learner may lose than the best fixed predictor in hindsight."""

from typing import Any

import numpy as np

from bottega.risk.bounds._checks import Numbers, count, plain, positive

__all__ = ["ogd_regret", "ogd_strongly_convex_regret"]


def ogd_regret(U: Any, G: Any, T: Any) -> Numbers:
    r"""Return the bound on the average regret of projected online gradient descent.

    :math:`UG\sqrt{8/T}` against every u with :math:`\|u\| \le U`. Assumes convex losses,
    gradients of norm at most G at the points visited, projection on the ball of radius U, and
    steps :math:`\eta/\sqrt{t}` with :math:`\eta = \sqrt{2}U/G`, which the notes leave open. The
    summed regret is T times it, :math:`UG\sqrt{8T}`.

    Parameters
    ----------
    U : float or array-like
        Radius of the ball.
    G : float or array-like
        Largest norm of a gradient.
    T : int or array-like
        Rounds.

    Examples
    --------
    >>> round(ogd_regret(1, 1, 100), 6)
    0.282843
    """
    return plain(positive("U", U) * positive("G", G) * np.sqrt(8 / count("T", T)))


def ogd_strongly_convex_regret(G: Any, sigma: Any, T: Any) -> Numbers:
    r"""Return the bound on the average regret for strongly convex losses.

    :math:`G^2(1 + \ln T) / (2\sigma T)` against every u. Assumes losses that are
    sigma-strongly convex, gradients of norm at most G at the points visited, and steps
    :math:`1/(\sigma t)` without projection.

    Parameters
    ----------
    G : float or array-like
        Largest norm of a gradient.
    sigma : float or array-like
        Strong convexity.
    T : int or array-like
        Rounds.

    Examples
    --------
    >>> round(ogd_strongly_convex_regret(1, 1, 100), 6)
    0.028026
    """
    rounds = count("T", T)
    return plain(
        positive("G", G) ** 2 * (1 + np.log(rounds)) / (2 * positive("sigma", sigma) * rounds)
    )
