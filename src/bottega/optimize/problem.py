"""A constrained problem: Lagrangian, dual, conditions of optimality, solution."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError, ParameterError
from bottega.core.typing import FloatArray
from bottega.optimize._problem.ascent import best_multipliers
from bottega.optimize._problem.dual import DualValue, least_value
from bottega.optimize._problem.feasible import SlaterCheck, slater
from bottega.optimize._problem.functions import inputs_of, make_function
from bottega.optimize._problem.kkt import KKTCheck, check_kkt, estimated_multipliers
from bottega.optimize._problem.recipe import polynomial, recipe_text
from bottega.optimize._problem.search import Pieces, solve
from bottega.optimize._program.inputs import vector_of
from bottega.optimize.objective import numbers_of, starting_point
from bottega.optimize.solution import Solution

__all__ = ["DualOptimum", "Problem"]

_STARTS = 5  # of the search for the least value of a Lagrangian that is not quadratic


@dataclass(frozen=True, eq=False)
class DualOptimum:
    """The best lower bound that multipliers give.

    Attributes
    ----------
    value : float
        The largest value of the dual function that was found; inf if it grows without bound, which
        says that the problem is infeasible; -inf if it is -inf everywhere it was looked at.
    multipliers : ndarray of shape (m,)
        Of the inequalities.
    equality_multipliers : ndarray of shape (p,)
        Of the equations.
    x : ndarray of shape (d,) or None
        The point that minimises the Lagrangian there; under strong duality and a single such
        point, the solution.
    verdict : str
        ``"optimal"``, ``"unbounded"``, ``"nowhere finite"`` or ``"not converged"``.
    """

    value: float
    multipliers: FloatArray
    equality_multipliers: FloatArray
    x: FloatArray | None
    verdict: str


class Problem:
    r"""Minimise f under inequalities and equations.

    .. math:: \min_x f(x) \quad\text{subject to}\quad f_i(x) \le 0,\; h_j(x) = 0

    with the Lagrangian :math:`L(x, \alpha, \nu) = f(x) + \sum_i \alpha_i f_i(x) + \sum_j \nu_j
    h_j(x)`, :math:`\alpha_i \ge 0`, whose minimum over x is the dual function g. Every value of g
    is a lower bound of the minimum p* (weak duality); for a convex problem with a strictly feasible
    point the best one is p* itself (strong duality).

    Parameters
    ----------
    f : callable or tuple
        The objective, from a vector to a number. Derivatives are those of methods ``gradient`` and
        ``hessian`` if it has them, or of a tuple ``(f, gradient)`` or ``(f, gradient, hessian)``;
        else differences.
    inequality : sequence of callable or tuple
        Functions that have to be at most 0.
    equality : sequence of callable or tuple
        Functions that have to be 0.
    x0 : array-like of shape (d,), optional
        Where searches start. It also says how many inputs there are, and may be left out if f has
        an attribute ``inputs``.
    recognize : bool, default=True
        Find out which functions are quadratic or affine, from values at some
        :math:`d^2 / 2 + 20` points (up to 40 inputs). They get exact derivatives, an exact dual
        function and the solvers of `linear_program` and `quadratic_program`. Turn it off for a
        function that only looks quadratic up to a distance of a million.

    Attributes
    ----------
    f : ProblemFunction
        The objective.
    inequality, equality : list of ProblemFunction
        The constraints.

    See Also
    --------
    linear_program : With linear functions.
    quadratic_program : With a convex quadratic objective and linear constraints.

    Notes
    -----
    Local searches (`scipy.optimize`'s SLSQP, then trust-constr) find a local minimum: for a problem
    that is not convex look at the duality gap, which proves a global one where it is closed and the
    dual value exact.

    References
    ----------
    .. [1] Boyd, S. and Vandenberghe, L. (2004). Convex Optimization, chapter 5. Cambridge
       University Press.

    Examples
    --------
    >>> problem = Problem(lambda x: -(x[0] + x[1]),
    ...                   inequality=[lambda x: x[0] ** 2 + x[1] ** 2 - 1], x0=[0.0, 0.0])
    >>> found = problem.solve()
    >>> found.x.round(6), round(found.value, 6), found.multipliers.round(6), found.verdict
    (array([0.707107, 0.707107]), -1.414214, array([0.707107]), 'optimal')
    >>> problem.dual([1.0]).value, problem.dual([0.0]).verdict
    (-1.5, 'unbounded')
    >>> problem.kkt([1.0, 0.0]).holds["stationarity"]
    False
    """

    def __init__(
        self,
        f: Any,
        *,
        inequality: Sequence[Any] = (),
        equality: Sequence[Any] = (),
        x0: Any = None,
        recognize: bool = True,
    ) -> None:
        for name, given in (("inequality", inequality), ("equality", equality)):
            if callable(given) or not isinstance(given, Sequence):
                raise ParameterError(f"{name} is not a list; give a list of functions.")
        said = [inputs_of(each) for each in (f, *inequality, *equality)]
        known = {each for each in said if each is not None}
        if x0 is None and not known:
            raise ParameterError(
                "x0 is missing: give a point to start from, which also says how many inputs f has."
            )
        self._start = np.zeros(known.pop()) if x0 is None else starting_point(x0)
        d = len(self._start)
        if known - {d}:
            raise InputError(f"The functions have {sorted(known | {d})} inputs; give one number.")
        self.f = make_function(f, d, "f", recognize)
        self.inequality = [
            make_function(c, d, f"f{i + 1}", recognize) for i, c in enumerate(inequality)
        ]
        self.equality = [
            make_function(c, d, f"h{j + 1}", recognize) for j, c in enumerate(equality)
        ]
        self._pieces = Pieces(self.f, self.inequality, self.equality)
        for each in (self.f, *self.inequality, *self.equality):
            if np.isnan(each.value(self._start)):
                raise InputError(
                    f"{each.name} is not a number at x0; start where all functions are defined."
                )

    def __repr__(self) -> str:
        def shown(function: Any) -> str:
            parts = function.parts
            return polynomial(parts) if parts is not None and len(parts.c) <= 6 else function.name

        lines = [f"minimise {shown(self.f)}"]
        lines += [f"  {shown(c)} <= 0" for c in self.inequality]
        lines += [f"  {shown(c)} = 0" for c in self.equality]
        return "\n".join(lines)

    def lagrangian(
        self, x: Any, multipliers: Any = None, equality_multipliers: Any = None
    ) -> float:
        """Return the Lagrangian at a point and multipliers, those that are not given at 0."""
        at = self._point(x)
        alpha, nu = self._weights(multipliers, equality_multipliers)
        return float(sum(w * g.value(at) for g, w in self._pieces.lagrangian(alpha, nu)))

    def lagrangian_gradient(
        self, x: Any, multipliers: Any = None, equality_multipliers: Any = None
    ) -> FloatArray:
        """Return the gradient of the Lagrangian in x."""
        at = self._point(x)
        alpha, nu = self._weights(multipliers, equality_multipliers)
        return np.asarray(sum(w * g.gradient(at) for g, w in self._pieces.lagrangian(alpha, nu)))

    def dual(self, multipliers: Any = None, equality_multipliers: Any = None) -> DualValue:
        """Return the dual function: the least value of the Lagrangian over x.

        Parameters
        ----------
        multipliers : array-like of shape (m,), optional
            Of the inequalities, at least 0; zeros by default.
        equality_multipliers : array-like of shape (p,), optional
            Of the equations; zeros by default.

        Returns
        -------
        DualValue
            The value, a lower bound of the minimum; -inf with the verdict ``"unbounded"``.
        """
        alpha, nu = self._weights(multipliers, equality_multipliers)
        if np.any(alpha < 0):
            i = int(np.argmin(alpha))
            raise ParameterError(
                f"multipliers[{i}]={alpha[i]:g} is below 0: the dual function is a lower bound for "
                "multipliers of inequalities of at least 0 only."
            )
        return least_value(self._pieces.lagrangian(alpha, nu), self._start, starts=_STARTS)

    def solve_dual(self, *, tol: float = 1e-9, max_iter: int = 2000) -> DualOptimum:
        """Maximise the dual function over multipliers, by projected gradient ascent.

        Its slope is the vector of constraints at the x that minimises the Lagrangian. The ascent
        starts from the multipliers of `solve` where there are such.

        Parameters
        ----------
        tol : float, default=1e-9
            Stop when no entry of the gradient mapping exceeds it.
        max_iter : int, default=2000
            The most steps.

        Returns
        -------
        DualOptimum
            The best lower bound with its multipliers.
        """
        begin = self.solve()
        found = best_multipliers(self._pieces, self._start, begin, tol, max_iter)
        return DualOptimum(*found)

    def slater(self) -> SlaterCheck:
        """Look for a point that fulfils all constraints, those that are not affine strictly.

        With one, and convex functions, the duality gap is zero.

        Returns
        -------
        SlaterCheck
            The verdict, with the point.
        """
        return slater(self.inequality, self.equality, self._start)

    def multipliers(self, x: Any, *, tol: float = 1e-6) -> tuple[FloatArray, FloatArray]:
        """Return the multipliers, of inequalities and equations, nearest to stationarity at x."""
        return estimated_multipliers(self.f, self.inequality, self.equality, self._point(x), tol)

    def kkt(
        self,
        x: Any,
        multipliers: Any = None,
        equality_multipliers: Any = None,
        *,
        tol: float = 1e-6,
    ) -> KKTCheck:
        """Check the conditions of Karush, Kuhn and Tucker.

        Parameters
        ----------
        x : array-like of shape (d,)
            The point.
        multipliers, equality_multipliers : array-like, optional
            Multipliers. If neither is given they are fitted to the point, by non-negative least
            squares on the gradients of the active constraints.
        tol : float, default=1e-6
            The largest residual at which a condition holds.

        Returns
        -------
        KKTCheck
            A residual and a verdict per condition. For a convex problem with strong duality all
            four hold if and only if x is optimal.
        """
        if not tol >= 0:
            raise ParameterError(f"tol={tol!r} is not allowed; give a number that is not negative.")
        at = self._point(x)
        estimated = multipliers is None and equality_multipliers is None
        if estimated:
            alpha, nu = estimated_multipliers(self.f, self.inequality, self.equality, at, tol)
        else:
            alpha, nu = self._weights(multipliers, equality_multipliers)
        return check_kkt(self.f, self.inequality, self.equality, at, alpha, nu, estimated, tol)

    def solve(self) -> Solution:
        """Find the minimum, with its multipliers and the duality gap.

        Returns
        -------
        Solution
            The verdict is ``"optimal"`` if the duality gap is closed, ``"local"`` if it is not,
            ``"infeasible"``, ``"unbounded"`` or ``"not converged"``.

        Warns
        -----
        ConvergenceWarning
            If the search stopped at a point that is not stationary.
        """
        return solve(self._pieces, self._start)

    def recipe(self) -> str:
        """Return the way to the solution in three steps: Lagrangian, dual function, maximum of it.

        Returns
        -------
        str
            The text, with formulas where functions are quadratic, and with all numbers.
        """
        return recipe_text(
            self._pieces, self.solve(), self.solve_dual(), self.slater(), self.dual()
        )

    def plot(self) -> Any:
        """Draw the feasible region, contours of f and the solution; for two inputs.

        Returns
        -------
        altair.LayerChart
            The chart.
        """
        from bottega.plot import problem_chart

        return problem_chart(self)

    def plot_dual(self, high: float | None = None) -> Any:
        """Draw the dual function of a problem with one multiplier.

        Parameters
        ----------
        high : float, optional
            The largest multiplier shown; about twice the best one by default.

        Returns
        -------
        altair.LayerChart
            The chart.
        """
        from bottega.plot import dual_chart

        return dual_chart(self, high=high)

    def _point(self, x: Any) -> FloatArray:
        return vector_of(x, "x", len(self._start))

    def _weights(
        self, multipliers: Any, equality_multipliers: Any
    ) -> tuple[FloatArray, FloatArray]:
        found = []
        for given, count, name in (
            (multipliers, len(self.inequality), "multipliers"),
            (equality_multipliers, len(self.equality), "equality_multipliers"),
        ):
            weights = np.zeros(count) if given is None else np.atleast_1d(numbers_of(given, name))
            if weights.shape != (count,):
                raise InputError(f"{name} has shape {weights.shape}; give {count} of them.")
            if not np.all(np.isfinite(weights)):
                raise InputError(f"{name} has entries that are missing or infinite.")
            found.append(weights)
        return found[0], found[1]
