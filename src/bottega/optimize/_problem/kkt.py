"""The conditions of Karush, Kuhn and Tucker at a point: residuals and verdicts."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.frames import make_frame
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray
from bottega.optimize._problem.functions import ProblemFunction
from bottega.optimize.nonnegative import nonnegative_least_squares

__all__ = ["KKTCheck", "check_kkt", "estimated_multipliers"]

CONDITIONS = (
    "stationarity",
    "primal feasibility",
    "dual feasibility",
    "complementary slackness",
)


@dataclass(frozen=True, eq=False, repr=False)
class KKTCheck(Shown):
    """How far a point and multipliers are from the conditions of optimality.

    Attributes
    ----------
    residuals : dict
        For each condition by how much it is missed, relative to the size of its terms where that
        is above 1: the largest entry of the gradient of the Lagrangian; the largest violation of a
        constraint; the most negative multiplier of an inequality; the largest product of a
        multiplier and its constraint.
    holds : dict
        For each condition whether its residual is at most the tolerance.
    x, multipliers, equality_multipliers : ndarray
        What was checked.
    estimated : bool
        True if the multipliers were not given but fitted to the point.
    tol : float
        The tolerance.
    """

    residuals: dict[str, float]
    x: FloatArray
    multipliers: FloatArray
    equality_multipliers: FloatArray
    estimated: bool
    tol: float

    @property
    def holds(self) -> dict[str, bool]:
        """For each condition whether it holds."""
        return {name: bool(found <= self.tol) for name, found in self.residuals.items()}

    @property
    def passed(self) -> bool:
        """True if all conditions hold."""
        return all(self.holds.values())

    def to_frame(self, like: Any = None) -> Any:
        """Return a data frame, one row per condition: ``condition``, ``residual``, ``holds``."""
        return make_frame(
            {
                "condition": list(self.residuals),
                "residual": np.array(list(self.residuals.values())),
                "holds": np.array(list(self.holds.values())),
            },
            like,
        )

    def summary(self) -> Summary:
        """Return the verdicts as a table that shows itself."""
        broken = [name for name, holds in self.holds.items() if not holds]
        note = (
            f"All four hold to {self.tol:g}. If the problem is convex, x is optimal."
            if not broken
            else f"Missed by more than {self.tol:g}: {', '.join(broken)}."
        )
        origin = ("The multipliers were fitted to the point.",) if self.estimated else ()
        return Summary(
            title="Conditions of Karush, Kuhn and Tucker",
            sections=(
                Section(
                    "",
                    {
                        "condition": list(self.residuals),
                        "residual": list(self.residuals.values()),
                        "verdict": ["holds" if h else "violated" for h in self.holds.values()],
                    },
                ),
            ),
            notes=(note, *origin),
        )


def check_kkt(
    f: ProblemFunction,
    inequality: list[ProblemFunction],
    equality: list[ProblemFunction],
    x: FloatArray,
    alpha: FloatArray,
    nu: FloatArray,
    estimated: bool,
    tol: float,
) -> KKTCheck:
    """Return the residuals of the four conditions."""
    terms = [f.gradient(x)]
    terms += [a * c.gradient(x) for a, c in zip(alpha, inequality, strict=True)]
    terms += [n * c.gradient(x) for n, c in zip(nu, equality, strict=True)]
    total = np.sum(terms, axis=0)
    scale = max(1.0, float(np.max(np.abs(terms))))
    under = np.array([c.value(x) for c in inequality])
    on = np.array([c.value(x) for c in equality])
    size = max(1.0, float(np.max(np.abs(x))))
    residuals = (
        float(np.max(np.abs(total))) / scale,
        max(float(np.max(under, initial=0.0)), float(np.max(np.abs(on), initial=0.0))) / size,
        float(np.max(-alpha, initial=0.0)) + 0.0,
        float(np.max(np.abs(alpha * under), initial=0.0)) / scale / size,
    )
    found = {
        n: (r if np.isfinite(r) else np.inf) for n, r in zip(CONDITIONS, residuals, strict=True)
    }
    return KKTCheck(found, x, alpha, nu, estimated, tol)


def estimated_multipliers(
    f: ProblemFunction,
    inequality: list[ProblemFunction],
    equality: list[ProblemFunction],
    x: FloatArray,
    tol: float,
) -> tuple[FloatArray, FloatArray]:
    """Return the multipliers that come nearest to stationarity at x.

    Non-negative least squares on the gradients of the inequalities that hold with equality, to
    the tolerance; a multiplier of an equation is the difference of two.
    """
    size = max(1.0, float(np.max(np.abs(x))))
    active = [i for i, c in enumerate(inequality) if c.value(x) >= -tol * size]
    columns = [inequality[i].gradient(x) for i in active]
    for c in equality:
        slope = c.gradient(x)
        columns += [slope, -slope]
    alpha, nu = np.zeros(len(inequality)), np.zeros(len(equality))
    if columns:
        found = nonnegative_least_squares(np.column_stack(columns), -f.gradient(x))
        alpha[active] = found[: len(active)]
        nu = found[len(active) :: 2] - found[len(active) + 1 :: 2]
    return alpha, nu
