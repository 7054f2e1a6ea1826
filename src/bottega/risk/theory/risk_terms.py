"""What the risk of a learned hypothesis is made of: estimation, approximation and Bayes risk."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.frames import make_frame
from bottega.core.typing import FloatArray, IntArray
from bottega.risk.theory.finite_distribution import FiniteDistribution
from bottega.risk.theory.hypotheses import minimisers

__all__ = ["RiskTerms", "risk_terms"]


@dataclass(frozen=True)
class RiskTerms:
    """Risk of chosen hypotheses as estimation error, approximation error and Bayes risk.

    Attributes
    ----------
    chosen : ndarray of int
        Positions of the hypotheses.
    best : ndarray of int
        Positions of all hypotheses of least risk in the class.
    risk, estimation : ndarray
        Risk of each chosen hypothesis, and its part above the best of the class.
    approximation : float
        What the best of the class has above the Bayes risk.
    bayes : float
        The Bayes risk.
    """

    chosen: IntArray
    best: IntArray
    risk: FloatArray
    estimation: FloatArray
    approximation: float
    bayes: float

    def to_frame(self, like: Any = None) -> Any:
        """Return the terms as a data frame, one row per chosen hypothesis."""
        same = np.ones(len(self.chosen))
        columns = {
            "hypothesis": self.chosen,
            "risk": self.risk,
            "estimation": self.estimation,
            "approximation": same * self.approximation,
            "bayes": same * self.bayes,
        }
        return make_frame(columns, like)


def risk_terms(hypotheses: Any, distribution: FiniteDistribution, chosen: Any = None) -> RiskTerms:
    r"""Split the risk of hypotheses of a finite class into its three terms.

    .. math:: \ell_D(h) = \underbrace{\ell_D(h) - \ell_D(h^*)}_{estimation}
        + \underbrace{\ell_D(h^*) - \ell_D(f^*)}_{approximation} + \underbrace{\ell_D(f^*)}_{Bayes}

    with h* the best of the class and f* the Bayes predictor. All risks are exact sums over the
    distribution.

    Parameters
    ----------
    hypotheses : array-like of shape (h, k), or sequence of callables or fitted models
        The class, as in `erm`. Labellings must be of the points of the distribution, in order.
    distribution : FiniteDistribution
        The known distribution, with its loss.
    chosen : int or array-like of int, optional
        Which hypotheses to look at, for example ``erm(hypotheses, S).indices``; all by default.

    Returns
    -------
    RiskTerms

    Examples
    --------
    Constant predictors on two points that need different ones:

    >>> D = FiniteDistribution([[0.1, 0.4], [0.4, 0.1]])
    >>> terms = risk_terms([[1, 1], [-1, -1]], D, 0)
    >>> terms.estimation.round(3), round(terms.approximation, 3), round(terms.bayes, 3)
    (array([0.]), 0.3, 0.2)
    """
    if not isinstance(distribution, FiniteDistribution):
        raise InputError(
            f"distribution must be a FiniteDistribution: risks are then exact sums; got "
            f"{type(distribution).__name__}. For other sources use learning_curve."
        )
    risks = distribution.risks(hypotheses)
    everyone = np.arange(len(risks))
    picked = everyone if chosen is None else np.atleast_1d(np.asarray(chosen))
    if picked.dtype.kind not in "iu" or not np.all(np.isin(picked, everyone)):
        raise InputError(
            f"chosen={chosen!r} is not allowed; give positions from 0 to {len(risks) - 1}."
        )
    least = float(risks.min())
    bayes = distribution.bayes_risk
    return RiskTerms(
        picked, minimisers(risks), risks[picked], risks[picked] - least, least - bayes, bayes
    )
