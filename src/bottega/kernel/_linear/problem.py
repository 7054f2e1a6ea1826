r"""A linear support vector machine of two classes, and its solvers.

.. math:: \min_w \tfrac12 \lVert w \rVert^2 + C \sum_i s_i\, \ell(1 - y_i w^\top x_i)

with the hinge :math:`\ell(t) = \max(0, t)` or its square. The intercept is the weight of a constant
column, and is penalised as the others are. The dual is over :math:`0 \le a_i \le C s_i` (hinge) or
:math:`a_i \ge 0` (squared hinge), with :math:`w = \sum_i a_i y_i x_i`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from bottega.core.errors import InputError
from bottega.core.sparse import is_sparse
from bottega.core.typing import FloatArray, IntArray
from bottega.kernel._kernels.dual_coordinate import dual_csr, dual_dense
from bottega.kernel._kernels.pegasos import pegasos_csr, pegasos_dense

__all__ = ["LinearProblem", "Separator", "readable"]

_LARGEST = 1e145  # sizes of numbers whose squares can be summed
_EXACT = 1e-12  # of the first derivative: what rounding leaves of it
_HALVINGS = 40


def readable(X: Any) -> Any:
    """Return rows in C order, or CSR with indices that kernels take, if they can be squared."""
    values = X.data if is_sparse(X) else X
    size = float(np.max(np.abs(values), initial=0.0))
    if size > _LARGEST:
        raise InputError(
            f"The inputs are up to {size:.3g} in size, and squares of such numbers overflow; bring "
            "them to a scale near one."
        )
    return X.tocsr() if is_sparse(X) else np.ascontiguousarray(X)


@dataclass(frozen=True)
class Separator:
    """A solution: weights (that of the constant last), dual variables, and how it was reached."""

    C: float
    w: FloatArray
    a: FloatArray
    n_iter: int
    converged: bool


@dataclass(frozen=True)
class LinearProblem:
    """Rows, signs, weights of rows, the loss, and the constant whose weight is the last one."""

    X: Any
    y: FloatArray
    s: FloatArray
    squared: bool
    square: FloatArray  # x.x, the constant included
    constant: float  # zero without intercept

    def margins(self, w: FloatArray) -> FloatArray:
        """Return y w.x of each row."""
        return self.y * (np.asarray(self.X @ w[:-1]) + self.constant * w[-1])

    def _sum(self, a: FloatArray) -> FloatArray:
        """Return the sum of a y x over the rows."""
        signed = a * self.y
        return np.append(np.asarray(self.X.T @ signed), self.constant * signed.sum())

    def primal(self, w: FloatArray, C: float) -> float:
        """Return the objective."""
        slack = np.maximum(0.0, 1 - self.margins(w))
        losses = slack**2 if self.squared else slack
        return float(0.5 * (w @ w) + C * (self.s @ losses))

    def dual(self, found: Separator, C: float) -> float:
        """Return the dual objective, never above the primal one."""
        a = found.a
        w = self._sum(a)
        value = float(a.sum() - 0.5 * (w @ w))
        return value - float(np.sum(a**2 / self.s)) / (4 * C) if self.squared else value

    def solve_dual(
        self, C: float, start: Separator | None, tol: float, max_iter: int, seed: int
    ) -> Separator:
        """Return the solution by dual coordinate descent, from that of another C."""
        upper = np.full(len(self.y), np.inf) if self.squared else C * self.s
        ridge = 1 / (2 * C * self.s) if self.squared else np.zeros(len(self.y))
        a = np.zeros(len(self.y))
        if start is not None:  # rows that rest at their limit go on doing so
            a = np.minimum(start.a if self.squared else start.a * (C / start.C), upper)
        w = self._sum(a)
        square = np.maximum(self.square, 1e-300)
        state = np.array([seed], dtype=np.uint64)
        numbers = (self.y, self.constant, upper, ridge, square, a, w, tol, max_iter, state)
        if is_sparse(self.X):
            n_iter, converged = dual_csr(*_parts(self.X), *numbers)
        else:
            n_iter, converged = dual_dense(self.X, *numbers)
        return Separator(C, w, a, int(n_iter), bool(converged))

    def solve_newton(self, C: float, start: Separator | None, max_iter: int) -> Separator:
        """Return the solution for the squared hinge by Newton's steps: exact, as it is quadratic.

        On the rows inside the margin the objective is a quadratic function; once a full step leaves
        the same rows inside, or a step promises nothing more, it has found the least point.
        """
        w = np.zeros(self.X.shape[1] + 1) if start is None else start.w.copy()
        margins = self.margins(w)
        first = None
        for step in range(max_iter):
            inside = np.flatnonzero(margins < 1)
            weight = 2 * C * self.s[inside]
            pull = np.zeros(len(margins))
            pull[inside] = weight * (1 - margins[inside])
            gradient = w - self._sum(pull)
            size = float(np.max(np.abs(gradient)))
            first = size if first is None else first
            if size <= _EXACT * first:
                return self._separator(w, margins, C, step, True)
            gram = self._gram(inside, weight)
            move = -linalg.solve(gram, gradient, assume_a="pos", check_finite=False)
            w, margins, t, gain = self._line_search(w, margins, move, gradient, C)
            same = t == 1.0 and np.array_equal(inside, np.flatnonzero(margins < 1))
            if same or gain <= _EXACT:
                return self._separator(w, margins, C, step + 1, True)
        return self._separator(w, margins, C, max_iter, False)

    def _gram(self, inside: IntArray, weight: FloatArray) -> FloatArray:
        """Return the second derivatives with these rows inside the margin."""
        rows, p = self.X[inside], self.X.shape[1]
        found = np.zeros((p + 1, p + 1))
        if is_sparse(rows):
            found[:p, :p] = (rows.T @ rows.multiply(weight[:, None]).tocsr()).toarray()
        else:
            found[:p, :p] = (rows.T * weight) @ rows
        found[p, :p] = found[:p, p] = self.constant * np.asarray(rows.T @ weight)
        found[p, p] = self.constant**2 * weight.sum()
        found.flat[:: p + 2] += 1.0
        return found

    def _line_search(
        self, w: FloatArray, margins: FloatArray, move: FloatArray, gradient: FloatArray, C: float
    ) -> tuple[FloatArray, FloatArray, float, float]:
        """Return the point after a step that lowers the objective, with its length and promise.

        The promise of a full step is half its slope, relative to the objective.
        """
        along, slope = self.margins(move), float(gradient @ move)
        flat, cross, own = float(w @ w), float(w @ move), float(move @ move)

        def value(t: float) -> float:
            slack = np.maximum(0.0, 1 - margins - t * along)
            return 0.5 * (flat + 2 * t * cross + t * t * own) + C * float(self.s @ slack**2)

        now, t = value(0.0), 1.0
        gain = -0.5 * slope / now
        if gain > _EXACT:
            for _ in range(_HALVINGS):
                if value(t) <= now + 1e-4 * t * slope:
                    break
                t /= 2
        return w + t * move, margins + t * along, t, gain

    def _separator(
        self, w: FloatArray, margins: FloatArray, C: float, n_iter: int, converged: bool
    ) -> Separator:
        return Separator(C, w, 2 * C * self.s * np.maximum(0.0, 1 - margins), n_iter, converged)

    def solve_pegasos(self, C: float, max_iter: int, seed: int) -> Separator:
        """Return an approximate solution for the hinge by random steps, `max_iter` times n."""
        n, p = self.X.shape
        total = float(self.s.sum())
        penalty, steps = 1 / (C * total), max_iter * n
        v, past = np.zeros(p + 1), np.zeros(p + 1)
        state = np.array([seed], dtype=np.uint64)
        numbers = (self.y, self.constant, self.s * (n / total), penalty, steps, v, past, state)
        if is_sparse(self.X):
            harmonic = pegasos_csr(*_parts(self.X), *numbers)
        else:
            harmonic = pegasos_dense(self.X, *numbers)
        w = (harmonic * v - past) / (penalty * (steps - steps // 2))
        # The subgradient at w, as dual variables.
        a = np.where(self.margins(w) < 1, C * self.s, 0.0)
        return Separator(C, w, a, max_iter, True)


def _parts(X: Any) -> tuple[Any, Any, Any]:
    """Return the arrays of CSR rows; places as unsigned numbers, which kernels need not check."""
    unsigned = np.dtype(f"u{X.indices.dtype.itemsize}")
    return X.indptr.view(unsigned), X.indices.view(unsigned), X.data
