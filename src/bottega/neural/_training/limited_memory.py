r"""L-BFGS: steps of Newton's kind on all rows at once, for networks of few rows.

The direction is :math:`-H \nabla f`, where H agrees with the last few changes of the gradient; it
is found by two loops over them. The step is halved and doubled until f falls enough and its slope
has flattened (the weak conditions of Wolfe), which can be met at the corners of ReLU too.

References
----------
.. [1] Nocedal, J. and Wright, S. (2006). Numerical Optimization. Springer, algorithm 7.4.
.. [2] Lewis, A. S. and Overton, M. L. (2013). Nonsmooth optimization via quasi-Newton methods.
   Mathematical Programming 141, 135-163.
"""

from collections.abc import Callable
from math import inf, isfinite, nan

import torch

__all__ = ["LimitedMemory"]

_PAIRS = 10  # changes of the gradient that are remembered, as by SciPy's L-BFGS-B
_FALL, _FLAT = 1e-4, 0.9  # shares of the slope, in Wolfe's conditions
_TRIALS = 40  # of one line search
_NOTHING = 2.2e-9  # a fall of f by this share of it is none, as by SciPy's L-BFGS-B

Objective = Callable[[], float]  # the value at the parameters as they are; it renews their gradient


class LimitedMemory:
    """The last changes of the parameters and of the gradient.

    Parameters
    ----------
    w : torch.Tensor of shape (W,)
        The parameters.
    tol : float
        The minimum is found when the largest entry of the gradient is at most this.
    max_fun : int
        Most evaluations of the function.

    Attributes
    ----------
    steps : int
        Steps taken.
    state : dict of str to torch.Tensor
        All else that a step depends on.
    """

    def __init__(self, w: torch.Tensor, tol: float = 1e-4, max_fun: int = 15_000) -> None:
        self.tol, self.max_fun = tol, max_fun
        self.steps = 0
        self.state = {
            "value": torch.full((), nan, dtype=torch.float64),  # where w is now
            "gradient": torch.zeros_like(w),
            "moves": w.new_zeros((_PAIRS, len(w))),
            "changes": w.new_zeros((_PAIRS, len(w))),
            "bends": torch.zeros(_PAIRS, dtype=torch.float64),  # products of the two
            "pairs": torch.zeros((), dtype=torch.int64),  # found so far; the last of them are kept
            "evaluations": torch.zeros((), dtype=torch.int64),
            "converged": torch.zeros((), dtype=torch.bool),
        }

    @property
    def converged(self) -> bool:
        """Whether the gradient is small enough, or f no longer falls."""
        return bool(self.state["converged"])

    @property
    def used_up(self) -> bool:
        """Whether no more evaluations are allowed."""
        return int(self.state["evaluations"]) >= self.max_fun

    def step(self, w: torch.Tensor, g: torch.Tensor, f: Objective) -> float:
        """Move the parameters w downhill; return the value there. The gradient of f is g."""
        state = self.state
        value = float(state["value"])
        if self.steps == 0:
            value = self._evaluated(f)
        else:
            g.copy_(state["gradient"])
        self.steps += 1
        if not isfinite(value) or float(g.abs().max()) <= self.tol:
            state["converged"].fill_(isfinite(value))
            return value
        start, slopes = w.clone(), g.clone()
        found = self._search(w, g, value, f, self._direction(slopes))
        if found == value and state["pairs"] > 0 and not self.used_up:  # what was kept misled
            state["pairs"].zero_()
            found = self._search(w, g, value, f, self._direction(slopes))
        self._remember(w - start, g - slopes)
        state["value"].fill_(found)
        state["gradient"].copy_(g)
        rests = value - found <= _NOTHING * max(abs(value), abs(found), 1.0)
        flat = float(g.abs().max()) <= self.tol
        state["converged"].fill_(flat or (rests and not self.used_up))
        return found

    def _evaluated(self, f: Objective) -> float:
        self.state["evaluations"] += 1
        return f()

    def _direction(self, g: torch.Tensor) -> torch.Tensor:
        """Return -H g by two loops over what is remembered, the latest first, then last."""
        count = int(self.state["pairs"])
        if count == 0:
            return -g / max(1.0, float(g.norm()))
        places = [i % _PAIRS for i in range(max(0, count - _PAIRS), count)]
        kept = [(self.state["moves"][i], self.state["changes"][i]) for i in places]
        bends = self.state["bends"].tolist()
        d, shares = -g, {}
        for i, (s, y) in zip(reversed(places), reversed(kept), strict=True):
            shares[i] = float(s @ d) / bends[i]
            d.sub_(y, alpha=shares[i])
        s, y = kept[-1]
        d.mul_(bends[places[-1]] / float(y @ y))
        for i, (s, y) in zip(places, kept, strict=True):
            d.add_(s, alpha=shares[i] - float(y @ d) / bends[i])
        return d

    def _search(
        self, w: torch.Tensor, g: torch.Tensor, value: float, f: Objective, d: torch.Tensor
    ) -> float:
        """Go along a direction to a point that meets Wolfe's conditions; return f there.

        Where no trial does, it is the lowest that fell, or w and g are as they were.
        """
        start, slopes = w.clone(), g.clone()
        slope = float(slopes @ d)
        best = (value, start, slopes)
        low, high, t = 0.0, inf, 1.0
        for _ in range(_TRIALS if slope < 0 else 0):
            w.copy_(start).add_(d, alpha=t)
            found = self._evaluated(f)
            if not isfinite(found) or found > value + _FALL * t * slope:
                high = t
            else:
                best = (found, w.clone(), g.clone())
                if float(g @ d) >= _FLAT * slope:
                    return found
                low = t
            if self.used_up:
                break
            t = (low + high) / 2 if high < inf else 2 * low
        found, point, gradient = best
        w.copy_(point)
        g.copy_(gradient)
        return found

    def _remember(self, move: torch.Tensor, change: torch.Tensor) -> None:
        """Keep a pair, unless f bends downwards along the move or rounding hides how it bends."""
        eps, bend = torch.finfo(move.dtype).eps, float(move @ change)
        if bend > eps * float(change @ change):
            place = int(self.state["pairs"]) % _PAIRS
            self.state["moves"][place] = move
            self.state["changes"][place] = change
            self.state["bends"][place] = bend
            self.state["pairs"] += 1
