r"""How far gradient descent goes at row t, and what that promises about the regret.

================== ========================================== ===================================
Rule               Step at row t                              Meant for
================== ========================================== ===================================
`sqrt`             :math:`\eta / \sqrt t`                     a stream without known end, in a
                                                              bounded set
`constant`         :math:`\eta`                               a known number of rows
`strongly_convex`  :math:`1 / (\sigma t)`                     losses with an L2 penalty
                                                              :math:`\sigma > 0`
`adagrad`          :math:`\eta / \sqrt{\sum_{s \le t}         columns on different scales, or rare
                   g_{s,j}^2}` for weight j                   ones
================== ========================================== ===================================

Where :math:`\eta` is not given it is :math:`\sqrt 2\, U / G` (over :math:`\sqrt T` for `constant`,
and :math:`\sqrt 2\, U` for `adagrad`): U is the radius of the comparators in Euclidean norm, G
bounds the norm of every gradient. Where G is not known either, the largest gradient so far stands
for it. The steps still never grow, and the proof goes through with the largest gradient of all for
G: what is promised is the same.
"""

import math
from dataclasses import dataclass

from bottega.core.errors import ParameterError
from bottega.core.typing import FloatArray
from bottega.online._kernels import gradient_descent as _kernels
from bottega.optimize._kernels import projections as _sets

STEPS = {
    "sqrt": _kernels.SQRT,
    "constant": _kernels.CONSTANT,
    "strongly_convex": _kernels.STRONGLY_CONVEX,
    "adagrad": _kernels.ADAGRAD,
}
PROJECTIONS = {
    None: _sets.NOWHERE,
    "ball": _sets.BALL,
    "box": _sets.BOX,
    "simplex": _sets.SIMPLEX,
    "l1_ball": _sets.L1_BALL,
}


@dataclass(frozen=True)
class StepRule:
    r"""A step rule in a set of weights.

    Attributes
    ----------
    step : {"sqrt", "constant", "strongly_convex", "adagrad"}
        The rule, see the module.
    eta : float or None
        The factor, if given.
    gradient_bound : float or None
        G, if known.
    horizon : int or None
        T, for `constant`.
    sigma : float
        L2 penalty.
    projection : {None, "ball", "box", "simplex", "l1_ball"}
        The set.
    radius : float
        Its radius U; without a set, the radius of the comparators.
    """

    step: str
    eta: float | None
    gradient_bound: float | None
    horizon: int | None
    sigma: float
    projection: str | None
    radius: float

    def __post_init__(self) -> None:
        if self.step == "strongly_convex" and not self.sigma > 0:
            raise ParameterError(
                "step='strongly_convex' divides by the L2 penalty, which is "
                f"penalty={self.sigma!r}; give a penalty above 0 or another step rule."
            )
        if self.step == "constant" and self.eta is None and self.horizon is None:
            raise ParameterError(
                "step='constant' needs eta, or horizon (the number of rows to come) to choose it "
                "by; give one of them, or use step='sqrt', which needs neither."
            )

    def reach(self, d: int) -> float:
        """Return the largest norm of a comparator with d weights."""
        return self.radius * math.sqrt(d) if self.projection == "box" else self.radius

    def factor(self, d: int) -> tuple[float, float]:
        """Return eta (0: to be found from the gradients) and the reach that it is found with."""
        reach = self.reach(d)
        if self.eta is not None:
            return float(self.eta), reach
        if self.step == "adagrad":
            return math.sqrt(2.0) * self.radius, reach
        if self.step == "constant":
            assert self.horizon is not None
            reach /= math.sqrt(self.horizon)
        return 0.0, reach

    def regret_bound(self, d: int, state: FloatArray, squares: FloatArray) -> float:
        r"""Return a bound on the summed regret so far; infinite where none is known.

        For steps :math:`\eta_t` that never grow, in a set of diameter D, the regret is at most
        :math:`D^2 / (2 \eta_T) + \tfrac12 \sum_t \eta_t \lVert g_t \rVert^2`; with a constant step
        D is only the distance of the comparator from the start, and no set is needed. With
        :math:`\eta_t = \sqrt 2 U / (G \sqrt t)` on the ball this is at most
        :math:`U G \sqrt{8 T}`; with :math:`1 / (\sigma t)` the first term is paid by the
        strong convexity. AdaGrad in the box has
        :math:`(2U^2 / \eta + \eta) \sum_j \sqrt{\sum_t g_{t,j}^2}`; in other sets its proof needs
        another projection than the nearest point.
        """
        if self.step == "strongly_convex":
            return float(state[_kernels.SPENT]) / 2
        if self.step == "adagrad":
            if self.projection != "box":
                return math.inf
            eta, _ = self.factor(d)
            return float((2 * self.radius**2 / eta + eta) * (squares**0.5).sum())
        rate, spent = float(state[_kernels.RATE]), float(state[_kernels.SPENT])
        if rate == 0:  # every gradient was zero: each loss was already at its least
            return 0.0
        fixed = self.step == "constant" and (
            self.eta is not None or self.gradient_bound is not None
        )
        if fixed:
            square = self.reach(d) ** 2
        elif self.projection is None:
            return math.inf
        else:
            diameter = {"simplex": math.sqrt(2.0)}.get(self.projection, 2.0) * self.reach(d)
            square = diameter**2
        return square / (2 * rate) + spent / 2
