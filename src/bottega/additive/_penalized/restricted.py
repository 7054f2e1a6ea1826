"""A likelihood in some of the coefficients, the others zero."""

import numpy as np

from bottega.additive._penalized.problem import LeftOut, LikelihoodProblem, Working
from bottega.core.typing import BoolArray, FloatArray

__all__ = ["Restricted"]


class Restricted:
    """A problem in the coefficients that are kept.

    Parameters
    ----------
    problem : LikelihoodProblem
        In all of them.
    kept : ndarray of bool
        Those that are not zero.
    """

    def __init__(self, problem: LikelihoodProblem, kept: BoolArray) -> None:
        self.problem, self.kept = problem, kept
        self._both = np.ix_(kept, kept)

    @property
    def n(self) -> float:
        """Number of rows."""
        return self.problem.n

    @property
    def size(self) -> float:
        """About what the deviance of a poor fit is, in the units of weights and responses."""
        return self.problem.size

    @property
    def passes(self) -> int:
        """Passes over the rows so far."""
        return self.problem.passes

    @property
    def quadratic(self) -> bool:
        """Whether the deviance is a quadratic function of the coefficients."""
        return self.problem.quadratic

    @staticmethod
    def of(work: Working, kept: BoolArray) -> Working:
        """Return the part of a pass that concerns the kept coefficients."""
        return Working(work.deviance, work.pull[kept], work.gram[np.ix_(kept, kept)])

    def working(self, beta: FloatArray | None) -> Working:
        """Return deviance, pull and gram at coefficients."""
        full = None if beta is None else self._full(beta)
        return self.of(self.problem.working(full), self.kept)

    def trace(self, beta: FloatArray, M: FloatArray) -> FloatArray:
        """Return the derivative of tr(M X'WX) in the coefficients, through W."""
        return self.problem.trace(self._full(beta), self._full_matrix(M))[self.kept]

    def leave_one_out(self, beta: FloatArray, V: FloatArray) -> LeftOut:
        """Return what the rows say when left out."""
        found = self.problem.leave_one_out(self._full(beta), self._full_matrix(V))
        return LeftOut(found.deviance, found.direct[self.kept], found.gram[self._both])

    def _full(self, beta: FloatArray) -> FloatArray:
        found = np.zeros(len(self.kept))
        found[self.kept] = beta
        return found

    def _full_matrix(self, M: FloatArray) -> FloatArray:
        found = np.zeros((len(self.kept), len(self.kept)))
        found[self._both] = M
        return found
