r"""What a regret is about: the loss a learner is charged, its opponents, and what theory promises.

==================================  ==========================  ===================================
Learner                             Opponents                   Promise (summed regret at most)
==================================  ==========================  ===================================
gradient descent in a set, "sqrt"   the set                     :math:`U G \sqrt{8T}` (A71)
gradient descent,                   all vectors, or the set     :math:`G^2 (1 + \ln T) / (2\sigma)`
"strongly_convex"                                               (A74)
gradient descent, other steps       the set; the ball of the    that of the steps taken,
                                    radius without one          `regret_bound_`
online ridge                        all vectors, penalised      :math:`Y^2 \ln\det(A_T / \alpha)`
exponential weights                 the experts                 `regret_bound_`
perceptron                          all vectors (hinge loss)    the mistake bound (A66)
==================================  ==========================  ===================================
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import ParameterError
from bottega.core.typing import FloatArray
from bottega.online.experts import ExponentialWeights
from bottega.online.perceptron import Perceptron
from bottega.online.regions import Ball, Everything, Region, Simplex, get_region
from bottega.online.ridge import OnlineRidge
from bottega.online.steps import StepRule
from bottega.risk.bounds import ogd_regret, ogd_strongly_convex_regret
from bottega.core.losses import (
    ABSOLUTE_ERROR,
    HINGE,
    LOGISTIC,
    SQUARED_ERROR,
    ZERO_ONE,
    Huber,
    Loss,
    get_loss,
)

__all__ = ["Game", "Promise", "game_of", "promise", "slope_of_loss"]


@dataclass(frozen=True)
class Game:
    """The loss, who is compared with, and what kind of learner it is."""

    kind: str  # "linear", "experts", "perceptron", or "alone" where nobody is compared with
    loss: Loss | None
    region: Region | None = None
    row_penalty: float = 0.0  # sigma: sigma/2 ||u||^2 is part of every row's loss
    penalty: float = 0.0  # alpha: alpha ||u||^2 is added once
    constant: bool = False  # the constant 1 is the last input


@dataclass(frozen=True)
class Promise:
    """What the average regret is at most; nan where nothing is promised, and why.

    `bound` is the theorem's; `of_steps` what the same proof gives for the steps that were taken.
    """

    bound: float
    of_steps: float
    words: str


def game_of(
    learner: Any, loss: str | Loss | None, comparator: str | Region | None, radius: float | None
) -> Game:
    """Read from a learner what its regret is about, with what the user said instead."""
    charged = _charged_loss(learner, loss)
    constant = bool(getattr(learner, "fit_intercept", False))
    if comparator is None:
        return Game("alone", charged, constant=constant)
    auto = isinstance(comparator, str) and comparator == "auto"
    if isinstance(learner, ExponentialWeights):
        if not auto:
            raise ParameterError(
                f"comparator={comparator!r}: exponential weights are compared with their experts; "
                "leave comparator out."
            )
        return Game("experts", charged)
    if isinstance(learner, Perceptron):
        return Game("perceptron", ZERO_ONE, Everything(), constant=constant)
    if charged is None:
        raise ParameterError(
            f"{type(learner).__name__} does not say which loss it is charged; give loss=, or "
            "comparator=None to follow its sequential risk alone."
        )
    if isinstance(comparator, str) and comparator == "auto":
        comparator = _own_region(learner)
    if radius is None and isinstance(comparator, str):
        radius = getattr(learner, "radius", None)
        if radius is None and comparator != "all":
            raise ParameterError(
                f"The {comparator} of comparators needs a radius; give radius=, or "
                "comparator='all'."
            )
    return Game(
        "linear",
        charged,
        get_region(comparator, radius),
        row_penalty=float(getattr(learner, "penalty", 0.0) or 0.0),
        penalty=float(learner.alpha) if isinstance(learner, OnlineRidge) else 0.0,
        constant=constant,
    )


def _charged_loss(learner: Any, given: str | Loss | None) -> Loss | None:
    if isinstance(learner, Perceptron):
        own: Any = ZERO_ONE
    elif isinstance(learner, OnlineRidge):
        own = SQUARED_ERROR
    else:
        own = getattr(learner, "loss", None)
    if own is None:
        return None if given is None else get_loss(given)
    own = get_loss(own)
    if isinstance(own, Huber):
        own = Huber(float(getattr(learner, "delta", own.delta)))
    if given is not None and get_loss(given).name != own.name:
        raise ParameterError(
            f"loss={given!r}, but {type(learner).__name__} is charged its {own.name} loss, and "
            "regret compares like with like; leave loss out, or give the learner that loss."
        )
    return own


def _own_region(learner: Any) -> str:
    if getattr(learner, "projection", None) is not None:
        return str(learner.projection)
    unbounded = isinstance(learner, OnlineRidge) or (
        getattr(learner, "step", None) == "strongly_convex"
    )
    return "all" if unbounded else "ball"


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


def promise(learner: Any, game: Game, rows: int) -> Promise:
    """Return what is promised about the average regret after `rows` rows."""
    if game.kind == "experts":
        return Promise(learner.regret_bound_ / rows, math.nan, "exponential weights")
    if game.kind != "linear" or not hasattr(learner, "regret_bound_"):
        return Promise(math.nan, math.nan, "no bound is known for this learner")
    if isinstance(learner, OnlineRidge):
        words = "Y^2 ln det(A / alpha)"
        if isinstance(game.region, Everything):
            return Promise(learner.regret_bound_ / rows, math.nan, words)
        return Promise(learner.regret_bound_ / rows, math.nan, f"{words}, against a smaller set")
    if not hasattr(learner, "_rule"):
        return Promise(learner.regret_bound_ / rows, math.nan, "the learner's own bound")
    rule: StepRule = learner._rule()
    if not _covered(rule, game.region):
        return Promise(
            math.nan,
            math.nan,
            f"no bound: the theory of step={rule.step!r} with projection={rule.projection!r} does "
            "not speak of these comparators",
        )
    return _of_descent(learner, rule, rows)


def _of_descent(learner: Any, rule: StepRule, rows: int) -> Promise:
    vectors, d = learner._weights.shape
    G, own = float(learner.max_gradient_), learner.regret_bound_ / rows
    of_steps = own if math.isfinite(own) else math.nan
    if rule.step == "strongly_convex":
        bound = vectors * float(ogd_strongly_convex_regret(G, rule.sigma, rows)) if G else 0.0
        return Promise(
            bound, of_steps, f"G^2 (1 + ln T) / (2 sigma T), G = {G:.4g}, sigma = {rule.sigma:g}"
        )
    in_theory = rule.step == "sqrt" and rule.eta is None and rule.projection is not None
    if in_theory and (rule.gradient_bound is None or rule.gradient_bound >= G):
        # Steps made for a larger G than was met promise what that G does.
        G, U = max(G, rule.gradient_bound or 0.0), rule.reach(d)
        bound = vectors * float(ogd_regret(U, G, rows)) if G else 0.0
        return Promise(bound, of_steps, f"U G sqrt(8 / T), U = {U:.4g}, G = {G:.4g}")
    if math.isnan(of_steps):
        return Promise(math.nan, math.nan, f"no bound is known for step={rule.step!r} here")
    return Promise(of_steps, math.nan, "the bound of the steps taken")


def _covered(rule: StepRule, region: Region | None) -> bool:
    """Tell whether the learner's bound holds against a region."""
    if rule.projection is None:
        if rule.step == "strongly_convex":
            return True
        return rule.step == "constant" and isinstance(region, Ball) and region.radius <= rule.radius
    own = get_region(rule.projection, rule.radius)
    if isinstance(region, Simplex):
        return region == own
    return type(region) is type(own) and region.radius <= own.radius
