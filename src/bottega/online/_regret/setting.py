"""What a regret is about: the loss a learner is charged, and whom it is compared with."""

from dataclasses import dataclass
from typing import Any

from bottega.core.errors import ParameterError
from bottega.core.losses import ZERO_ONE, Loss, get_loss
from bottega.online._learner.base import OnlineModel
from bottega.online._learner.descent import GradientDescent
from bottega.online.experts import ExponentialWeights
from bottega.online.perceptron import Perceptron
from bottega.online.ridge import OnlineRidge
from bottega.optimize.regions import Everything, Region, get_region


@dataclass(frozen=True)
class RegretSetting:
    """The loss, who is compared with, and what kind of learner it is."""

    kind: str  # "linear", "experts", "perceptron", or "alone" where nobody is compared with
    loss: Loss | None
    region: Region | None = None
    row_penalty: float = 0.0  # alpha: alpha/2 ||u||^2 is part of every row's loss
    penalty: float = 0.0  # alpha: alpha ||u||^2 is added once
    constant: bool = False  # the constant 1 is the last input


def setting_of(
    learner: Any, loss: str | Loss | None, comparator: str | Region | None, radius: float | None
) -> RegretSetting:
    """Read from a learner what its regret is about, with what the user said instead."""
    charged = _charged_loss(learner, loss)
    constant = bool(getattr(learner, "fit_intercept", False))
    if comparator is None:
        return RegretSetting("alone", charged, constant=constant)
    auto = isinstance(comparator, str) and comparator == "auto"
    if isinstance(learner, ExponentialWeights):
        if not auto:
            raise ParameterError(
                f"comparator={comparator!r}: exponential weights are compared with their experts; "
                "leave comparator out."
            )
        return RegretSetting("experts", charged)
    if isinstance(learner, Perceptron):
        return RegretSetting("perceptron", ZERO_ONE, Everything(), constant=constant)
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
    return RegretSetting(
        "linear",
        charged,
        get_region(comparator, radius),
        row_penalty=float(learner.alpha) if isinstance(learner, GradientDescent) else 0.0,
        penalty=float(learner.alpha) if isinstance(learner, OnlineRidge) else 0.0,
        constant=constant,
    )


def _charged_loss(learner: Any, given: str | Loss | None) -> Loss | None:
    own = learner._charged_loss() if isinstance(learner, OnlineModel) else None
    own = own or getattr(learner, "loss", None)
    if own is None:
        return None if given is None else get_loss(given)
    own = get_loss(own)
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
        getattr(learner, "learning_rate", None) == "strongly_convex"
    )
    return "all" if unbounded else "ball"
