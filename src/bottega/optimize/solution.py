"""What a solver of a constrained problem found: point and multipliers, or why there is none."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.frames import make_frame
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray

__all__ = ["Solution"]

_MOST_ROWS = 20


@dataclass(frozen=True, eq=False, repr=False)
class Solution(Shown):
    r"""The answer to a constrained problem, with what proves it.

    The multipliers are those of the Lagrangian :math:`f(x) + \sum_i \alpha_i f_i(x) +
    \sum_j \nu_j h_j(x)`, for inequalities :math:`f_i(x) \le 0` and equations :math:`h_j(x) = 0`.

    Attributes
    ----------
    method : str
        The kind of problem and the solver.
    x : ndarray of shape (d,) or None
        The point; None if there is none.
    value : float
        f(x); inf if the problem is infeasible, -inf if it is unbounded.
    multipliers : ndarray of shape (m,)
        Of the inequalities, at least 0.
    equality_multipliers : ndarray of shape (p,)
        Of the equations.
    low_multipliers, high_multipliers : ndarray of shape (d,)
        Of the bounds, at least 0; zero where there is no bound.
    dual_value : float
        The value of the dual function at the multipliers: a lower bound of the minimum.
    gap : float
        ``value - dual_value``: x is at most this far from optimal.
    verdict : str
        ``"optimal"``, ``"local"`` (stationary, but the gap is open), ``"infeasible"``,
        ``"unbounded"`` or ``"not converged"``.
    message : str
        The verdict in a sentence.
    certificate : ndarray or None
        Of an infeasible problem: multipliers (of the inequalities, the equations, the upper and
        the lower bounds, in this order) with which the conditions add up to a contradiction. Of an
        unbounded one: a direction along which f falls for ever and no condition is violated.
    n_iter : int
        Iterations of the solver.
    """

    method: str
    x: FloatArray | None
    value: float
    multipliers: FloatArray
    equality_multipliers: FloatArray
    low_multipliers: FloatArray
    high_multipliers: FloatArray
    dual_value: float
    verdict: str
    message: str
    certificate: FloatArray | None = None
    n_iter: int = 0

    @property
    def gap(self) -> float:
        """The value less that of the dual function."""
        if self.value == self.dual_value:  # both may be infinite
            return 0.0
        return self.value - self.dual_value

    @property
    def optimal(self) -> bool:
        """True if the solver met its tolerances."""
        return self.verdict == "optimal"

    def to_frame(self, like: Any = None) -> Any:
        """Return point, multipliers and certificate as a data frame, one row per number.

        Columns: ``part`` ("x", "multiplier", ...), ``entry``, ``value``.
        """
        parts = [
            ("x", self.x),
            ("multiplier", self.multipliers),
            ("equality multiplier", self.equality_multipliers),
            ("low multiplier", self.low_multipliers),
            ("high multiplier", self.high_multipliers),
            ("certificate", self.certificate),
        ]
        kept = [(name, values) for name, values in parts if values is not None and len(values)]
        columns = {
            "part": [name for name, values in kept for _ in values],
            "entry": np.concatenate([np.arange(len(values)) for _, values in kept]),
            "value": np.concatenate([values for _, values in kept]),
        }
        return make_frame(columns, like)

    def summary(self) -> Summary:
        """Return the answer as a table that shows itself."""
        facts = {
            "value": self.value,
            "dual value": self.dual_value,
            "duality gap": self.gap,
            "iterations": self.n_iter,
        }
        sections = [Section("", {"": list(facts), "found": list(facts.values())})]
        for heading, name, values in (
            ("Point", "x", self.x),
            ("Multipliers of the inequalities", "multiplier", self.multipliers),
            ("Multipliers of the equations", "multiplier", self.equality_multipliers),
            ("Certificate", "entry", self.certificate),
        ):
            if values is not None and len(values):
                shown = [float(v) for v in values[:_MOST_ROWS]]
                sections.append(Section(heading, {"": list(range(len(shown))), name: shown}))
        return Summary(
            title=f"{self.method}: {self.verdict}",
            sections=tuple(sections),
            notes=(self.message,),
        )
