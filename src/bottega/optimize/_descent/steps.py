"""What the methods with steps of a given length share."""

from typing import Any

import numpy as np

from bottega.optimize._descent.loop import Point, Rule, descend
from bottega.optimize.minimum import Minimum
from bottega.optimize.objective import Objective, starting_point

__all__ = ["largest_entry", "run_rule"]


def largest_entry(at: Point) -> float:
    """Return the largest entry of the gradient."""
    return float(np.max(np.abs(at.gradient)))


def run_rule(
    rule: Rule, f: Any, x0: Any, gradient: Any, *, tol: float, max_iter: int, trace: bool
) -> Minimum:
    """Run a rule on what the user gave, until the gradient is small beside the largest one met."""
    return descend(
        rule,
        Objective(f, gradient),
        starting_point(x0),
        tol=tol,
        max_iter=max_iter,
        trace=trace,
        relative=True,
    )
