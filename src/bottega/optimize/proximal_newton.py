"""Logistic and multinomial regression with a lasso or elastic-net penalty, by proximal Newton.

The likelihood is replaced by its quadratic approximation at the current fit, which is the weighted
least-squares problem that the kernels of the lasso solve, for all classes together.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.sparse import is_sparse
from bottega.core.typing import FloatArray, IntArray
from bottega.optimize._kernels import coordinate as kernels
from bottega.optimize.coordinate import FLOOR
from bottega.optimize.coordinate_columns import InputColumns

__all__ = ["LogisticProblem", "LogisticSolution", "with_reference"]

# Products of two probabilities below this would divide by nothing. They are taken to be so large
# for rows of ordinary weight: a row of large weight may be fitted much closer.
_LEAST = 1e-9
_HALVINGS = 30
# Fall of the objective, against a small step, that is none.
_LEVEL = 1e-4
# Sweeps of coordinate descent within a Newton step.
_SWEEPS = 10_000
# Duality gap that may be rounding of logarithms of probabilities near one.
_ROUNDING = 16 * np.finfo(np.float64).eps
# Numbers in the products of all pairs of scores up to which they are computed at once.
_TOGETHER = 2**19


@dataclass(frozen=True)
class LogisticSolution:
    """Fits at m alphas, on the original scale; one score per class, or one for two classes."""

    alphas: FloatArray
    coef: FloatArray  # (m, T, p)
    intercept: FloatArray  # (m, T)
    deviance: FloatArray  # twice the (weighted) mean negative log-likelihood
    gap: FloatArray  # against the mean negative log-likelihood without inputs
    n_iter: IntArray  # Newton steps


class LogisticProblem:
    """A penalised likelihood on rows with positive weights `v`.

    The classes `codes` are 0, ..., K - 1, each of them present.
    """

    def __init__(
        self,
        columns: InputColumns,
        codes: IntArray,
        v: FloatArray,
        *,
        l1_ratio: float,
        standardize: bool,
        fit_intercept: bool,
    ) -> None:
        self.columns, self.v, self.fit_intercept = columns, v, fit_intercept
        self.l1_ratio = l1_ratio
        self.weight = float(v.sum())
        self._least = _LEAST * np.minimum(v, np.median(v))
        K = int(codes.max()) + 1
        self.Y = (codes[:, None] == np.arange(K)).astype(np.float64)
        self._own = np.arange(len(codes)), codes  # where each row's own class stands
        self.scores = 1 if K == 2 else K
        self.mean, self.inverse, self.constant = columns.scaling(
            v, standardize=standardize, fit_intercept=fit_intercept
        )
        self._begin()
        self.null = self.nll
        self.top = float(np.max(np.abs(self.Q), initial=0.0)) / l1_ratio

    def _begin(self) -> None:
        """Start from no coefficients."""
        self.B, self.b0 = np.zeros((self.scores, len(self.mean))), np.zeros(self.scores)
        if self.fit_intercept:
            logs = np.log(self.v @ self.Y / self.weight)
            self.b0 = np.array([logs[1] - logs[0]]) if self.scores == 1 else logs - logs.mean()
        self.eta = np.tile(self.b0, (len(self.v), 1))
        self._kept: Any = None
        self._likelihood()
        self.screen()

    def _likelihood(self) -> None:
        scores = with_reference(self.eta)
        scores = scores - scores.max(axis=1, keepdims=True)
        odds = np.exp(scores)
        total = odds.sum(axis=1)
        self.P = odds / total[:, None]
        self.nll = float(self.v @ (np.log(total) - scores[self._own])) / self.weight

    def _penalty(self, alpha: float) -> float:
        size = np.abs(self.B).sum() * self.l1_ratio
        return alpha * float(size + 0.5 * (1 - self.l1_ratio) * np.sum(self.B**2))

    def _residual(self) -> FloatArray:
        """Return weighted observed minus fitted probabilities, one column per score."""
        found = self.v[:, None] * (self.Y - self.P)
        return found[:, 1:] if self.scores == 1 else found

    def screen(self) -> None:
        """Bring the products of all columns with the residuals up to date."""
        R = self._residual()
        product = self.columns.correlate(R) - np.outer(self.mean, R.sum(axis=0))
        self.Q = (product * self.inverse[:, None]).T / self.weight

    def alpha_max(self) -> float:
        """Return the smallest alpha at which every coefficient is zero."""
        return self.top

    def gap(self, alpha: float) -> float:
        """Return the relative duality gap; `screen` comes first.

        The dual point moves the fitted probabilities towards the observed ones until no product
        with an input exceeds its threshold.
        """
        l1, l2 = alpha * self.l1_ratio, alpha * (1 - self.l1_ratio)
        most = float(np.max(np.abs(self.Q), initial=0.0))
        scale = 1.0 if l2 > 0 or most <= l1 else l1 / most
        mixed = self.Y + scale * (self.P - self.Y)
        with np.errstate(divide="ignore", invalid="ignore"):
            entropy = -np.sum(np.where(mixed > 0, mixed * np.log(mixed), 0.0), axis=1)
        dual = float(self.v @ entropy) / self.weight
        if l2 > 0:
            dual -= float(np.sum(np.maximum(np.abs(self.Q) - l1, 0.0) ** 2)) / (2 * l2)
        found = self.nll + self._penalty(alpha) - dual
        return found / self.null if found > _ROUNDING else 0.0

    def _newton(self, alpha: float, W: IntArray) -> float:
        """Take a step for the coefficients of the columns W; return its squared size.

        The intercepts are not penalised and follow from the coefficients: their block of the
        Hessian, singular where there are several, is taken out of it.
        """
        T, m, Z = self.scores, len(W), self._block(W)
        residual = self._residual()
        pull = residual.sum(axis=0)
        G, toward, total = self._hessian(Z, m)
        inverse = np.tile(self.inverse[W], T)
        b = self.B[:, W].ravel()
        step, solved = np.zeros(T * m), _inverse(total)
        cross = toward.reshape(T * m, T)
        if m:
            H = G.reshape(T * m, T * m)
            g = np.asarray(Z.T @ residual).T.ravel()
            if self.fit_intercept:
                H = H - cross @ solved @ cross.T
                g = g - cross @ (solved @ pull)
            H = np.ascontiguousarray(H * np.outer(inverse, inverse)) / self.weight
            step = self._lasso(alpha, H, g * inverse / self.weight, b) - b
        beta = (step * inverse).reshape(T, m)
        shift = solved @ (pull - cross.T @ beta.ravel()) if self.fit_intercept else np.zeros(T)
        change = np.asarray(Z @ beta.T) + shift
        return self._line_search(alpha, W, step.reshape(T, m), shift, change)

    def _hessian(self, Z: Any, m: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return second derivatives: of coefficients, of these and intercepts, of intercepts."""
        T, n = self.scores, len(self.v)
        if n * T * T * (m + 1) <= _TOGETHER and not is_sparse(Z):
            h = self._curvatures()
            flat = h.reshape(n, T * T)
            weighted = (flat[:, :, None] * Z[:, None, :]).reshape(n, T * T * m)
            G = (Z.T @ weighted).reshape(m, T, T, m).transpose(1, 0, 2, 3)
            toward = (Z.T @ flat).reshape(m, T, T).transpose(1, 0, 2)
            return np.ascontiguousarray(G), np.ascontiguousarray(toward), h.sum(axis=0)
        G, toward, total = np.zeros((T, m, T, m)), np.zeros((T, m, T)), np.zeros((T, T))
        for t in range(T):
            for u in range(t, T):
                h = self._curvature(t, u)
                total[t, u] = total[u, t] = h.sum()
                if m:
                    G[t, :, u, :] = _gram(Z, h)
                    G[u, :, t, :] = G[t, :, u, :]
                    toward[t, :, u] = toward[u, :, t] = Z.T @ h
        return G, toward, total

    def _curvatures(self) -> FloatArray:
        """Return `_curvature` of all pairs of scores, (n, T, T)."""
        if self.scores == 1:
            return self._curvature(0, 0)[:, None, None]
        weighted = self.P * self.v[:, None]
        found = np.maximum(self.P[:, :, None] * weighted[:, None, :], self._least[:, None, None])
        each = np.arange(self.scores)
        found[:, each, each] = 0.0
        np.negative(found, out=found)
        found[:, each, each] = -found.sum(axis=2)
        return np.asarray(found)

    def _block(self, W: IntArray) -> Any:
        """Return the columns W, kept from one Newton step to the next."""
        if self._kept is None or not np.array_equal(self._kept[0], W):
            self._kept = (W, self.columns.block(W))
        return self._kept[1]

    def _curvature(self, t: int, u: int) -> FloatArray:
        """Return each row's second derivative by two scores; over all scores the sum is 0."""
        if self.scores == 1:
            return np.maximum(self.v * self.P[:, 0] * self.P[:, 1], self._least)
        if t != u:
            return -np.maximum(self.v * self.P[:, t] * self.P[:, u], self._least)
        others = np.delete(self.P, t, axis=1) * self.v[:, None]
        return np.maximum(self.P[:, [t]] * others, self._least[:, None]).sum(axis=1)

    def _lasso(self, alpha: float, H: FloatArray, g: FloatArray, b: FloatArray) -> FloatArray:
        """Return the minimum of the quadratic approximation with its penalty."""
        m = len(b)
        c = H @ b + g
        l1, l2 = np.full(m, alpha * self.l1_ratio), np.full(m, alpha * (1 - self.l1_ratio))
        floor = FLOOR * float(np.max(np.abs(c), initial=0.0))
        found = b.copy()
        kernels.solve_on_gram(
            H, m, c, np.empty(m), found, l1, l2, floor, floor, _SWEEPS,
            np.empty((m, m)), np.empty(m, np.intp), np.zeros(1, np.intp),
        )  # fmt: skip
        return found

    def _line_search(
        self, alpha: float, W: IntArray, step: FloatArray, shift: FloatArray, change: FloatArray
    ) -> float:
        """Go along the step as far as the objective falls; return the squared size of the step."""
        before = self.nll + self._penalty(alpha)
        eta, b, b0 = self.eta, self.B[:, W], self.b0
        length = 1.0
        for _ in range(_HALVINGS):
            self.B[:, W] = b + length * step
            self.b0 = b0 + length * shift
            self.eta = eta + length * change
            self._likelihood()
            if self.nll + self._penalty(alpha) <= before + 1e-14 * self.null:
                return length**2 * float(np.max(self.v @ change**2)) / self.weight
            length /= 2
        self.B[:, W], self.b0, self.eta = b, b0, eta
        self._likelihood()
        return 0.0

    def _descend(self, alpha: float, W: IntArray, small: float, max_iter: int) -> int:
        """Take Newton steps on the working set until they are small; return their number.

        Probabilities near zero may drift on where the objective is level: that ends it too.
        """
        before = self.nll + self._penalty(alpha)
        for done in range(1, max_iter + 1):
            size = self._newton(alpha, W)
            now = self.nll + self._penalty(alpha)
            if size <= small or before - now <= _LEVEL * small * self.null:
                return done
            before = now
        return max_iter

    def path(self, alphas: FloatArray, tol: float, max_iter: int) -> LogisticSolution:
        """Return the fits at `alphas`, descending."""
        count, p = len(alphas), self.B.shape[1]
        coef, intercept = np.zeros((count, self.scores, p)), np.zeros((count, self.scores))
        deviance, gap = np.zeros(count), np.zeros(count)
        n_iter = np.zeros(count, np.intp)
        self._begin()
        last = max(self.alpha_max(), alphas[0])
        for k, alpha in enumerate(alphas):
            # Columns whose product may pass the threshold if it moves as fast as alpha does.
            reach = np.max(np.abs(self.Q), axis=0)
            candidate = reach > self.l1_ratio * (2 * alpha - last)
            W = np.flatnonzero((candidate | np.any(self.B != 0, axis=0)) & ~self.constant)
            small = tol
            while True:
                n_iter[k] += self._descend(alpha, W, small, max(1, max_iter - n_iter[k]))
                self.screen()
                reach = np.max(np.abs(self.Q), axis=0)
                outside = reach > alpha * self.l1_ratio * (1 + 1e-9)
                outside[W] = False
                gap[k] = self.gap(alpha)
                if n_iter[k] >= max_iter or small < 1e-30:
                    break
                if np.any(outside):
                    W = np.union1d(W, np.flatnonzero(outside))
                elif gap[k] <= tol:
                    break
                else:
                    small *= 1e-3
            deviance[k] = 2 * self.nll
            coef[k] = self.B * (self.inverse * self.columns.factor)
            intercept[k] = self.b0 - coef[k] @ self.columns.shift
            last = alpha
        if self.scores > 1:
            intercept -= intercept.mean(axis=1, keepdims=True)
        if not self.fit_intercept:
            intercept = np.zeros_like(intercept)
        return LogisticSolution(alphas, coef, intercept, deviance, gap, n_iter)


def with_reference(scores: FloatArray) -> FloatArray:
    """Return the scores of all classes: of two, that of the first is zero and left out."""
    return np.column_stack([np.zeros(len(scores)), scores]) if scores.shape[1] == 1 else scores


def _gram(Z: Any, h: FloatArray) -> FloatArray:
    """Return Z' diag(h) Z."""
    if is_sparse(Z):
        return np.asarray((Z.multiply(h[:, None]).T @ Z).toarray())
    return np.asarray((Z * h[:, None]).T @ Z)


def _inverse(total: FloatArray) -> FloatArray:
    """Return the inverse on contrasts of the scores: the same number added to all does nothing."""
    T = len(total)
    if T == 1:
        return 1 / total
    size = np.trace(total) / T
    return np.linalg.inv(total + size / T) - 1 / (T * size)
