r"""What theory says about the regret of a learner.

=================================  ================================================
Learner                            Summed regret at most
=================================  ================================================
gradient descent in a set,         :math:`U G \sqrt{8T}`
"invscaling"
gradient descent,                  :math:`G^2 (1 + \ln T) / (2\alpha)`
"strongly_convex"
gradient descent, other steps      that of the steps taken, `regret_bound_`
online ridge                       :math:`Y^2 \ln\det(A_T / \alpha)`
exponential weights                `regret_bound_`
=================================  ================================================
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.losses import ABSOLUTE_ERROR, HINGE, LOGISTIC, SQUARED_ERROR, Huber, Loss
from bottega.core.typing import FloatArray
from bottega.online._learner.descent import GradientDescent
from bottega.online._regret.setting import RegretSetting
from bottega.online.ridge import OnlineRidge
from bottega.optimize.regions import Ball, Everything, Region, Simplex, get_region
from bottega.risk.bounds import ogd_regret, ogd_strongly_convex_regret


@dataclass(frozen=True)
class RegretBound:
    """What the average regret is at most; NaN where nothing is known, and why.

    `bound` is the theorem's; `of_steps` what the same proof gives for the steps that were taken.
    """

    bound: float
    of_steps: float
    words: str


def slope_of_loss(loss: Loss, losses: FloatArray) -> FloatArray:
    r"""Return the size of the loss's derivative where it has these values.

    Each of these losses grows with its derivative, so the value tells the derivative: no prediction
    is needed for the norm of a gradient, :math:`|\ell'| \|x\|`.

    Examples
    --------
    >>> slope_of_loss(SQUARED_ERROR, np.array([0.0, 4.0]))
    array([0., 4.])
    """
    if loss == SQUARED_ERROR:
        return np.asarray(2 * np.sqrt(losses))
    if loss in (ABSOLUTE_ERROR, HINGE):
        return (losses > 0).astype(np.float64)
    if loss == LOGISTIC:
        return np.asarray(-np.expm1(-losses))
    if isinstance(loss, Huber):
        return np.minimum(np.sqrt(2 * losses), loss.delta)
    return np.full(len(losses), np.nan)


def regret_bound(learner: Any, setting: RegretSetting, rows: int) -> RegretBound:
    """Return a bound on the average regret after `rows` rows."""
    nothing = math.nan
    if setting.kind not in ("experts", "linear") or not hasattr(learner, "regret_bound_"):
        return RegretBound(nothing, nothing, "no bound is known for this learner")
    own = learner.regret_bound_ / rows
    if setting.kind == "experts":
        return RegretBound(own, nothing, "exponential weights")
    if isinstance(learner, OnlineRidge):
        smaller = "" if isinstance(setting.region, Everything) else ", against a smaller set"
        return RegretBound(own, nothing, f"Y^2 ln det(A / alpha){smaller}")
    if not isinstance(learner, GradientDescent):
        return RegretBound(own, nothing, "the learner's own bound")
    if not _covered(learner, setting.region):
        words = f"learning_rate={learner.learning_rate!r} with projection={learner.projection!r}"
        words = f"no bound: the theory of {words} does not cover these comparators"
        return RegretBound(nothing, nothing, words)
    return _of_descent(learner, rows, own if math.isfinite(own) else nothing)


def _of_descent(learner: GradientDescent, rows: int, of_steps: float) -> RegretBound:
    vectors, G, alpha = len(learner._weights), learner.max_gradient_, learner.alpha
    if learner.learning_rate == "strongly_convex":
        bound = vectors * float(ogd_strongly_convex_regret(G, alpha, rows)) if G else 0.0
        words = f"G^2 (1 + ln T) / (2 alpha T), G = {G:.4g}, alpha = {alpha:g}"
        return RegretBound(bound, of_steps, words)
    by_theory = learner.learning_rate == "invscaling" and learner.power_t == 0.5
    in_theory = by_theory and learner.eta0 is None and learner.projection is not None
    if in_theory and (learner.gradient_bound is None or learner.gradient_bound >= G):
        # Steps made for a larger G than was met promise what that G does.
        G, U = max(G, learner.gradient_bound or 0.0), learner._reach()
        bound = vectors * float(ogd_regret(U, G, rows)) if G else 0.0
        return RegretBound(bound, of_steps, f"U G sqrt(8 / T), U = {U:.4g}, G = {G:.4g}")
    if math.isnan(of_steps):
        return RegretBound(
            math.nan, math.nan, f"no bound is known for {learner.learning_rate!r} here"
        )
    return RegretBound(of_steps, math.nan, "the bound of the steps taken")


def _covered(learner: GradientDescent, region: Region | None) -> bool:
    """Return True if the learner's bound holds against a region."""
    if learner.projection is None:
        small = isinstance(region, Ball) and region.radius <= learner.radius
        rule = learner.learning_rate
        return rule == "strongly_convex" or (rule in ("constant", "optimal") and small)
    own = get_region(learner.projection, learner.radius)
    if isinstance(region, Simplex):
        return region == own
    return type(region) is type(own) and region.radius <= own.radius
