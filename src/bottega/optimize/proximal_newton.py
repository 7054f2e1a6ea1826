"""Logistic and multinomial regression with an l1, l2 or elastic-net penalty, or none, by Newton.

The likelihood is replaced by its quadratic approximation at the current fit, which is the weighted
least-squares problem that the kernels of the lasso solve, for all classes together. A curvature
costs many times what a slope does: it is kept from one step, and one penalty, to the next until
steps get shorter too slowly, and folds start with that of all rows.
"""

from typing import Any

import numpy as np

from bottega.core.sparse import is_sparse
from bottega.core.typing import BoolArray, FloatArray, IntArray
from bottega.optimize._kernels import logistic as newton
from bottega.optimize.multinomial import LikelihoodPoint, LikelihoodRows, MemoryRows
from bottega.optimize.quadratic_model import QuadraticModel, lasso_minimum, smooth_minimum

__all__ = ["LogisticProblem"]

_HALVINGS = 30
# Fall of the objective, against what a small step gains, that is none; and the share of its gain
# that a step must reach.
_LEVEL = 1e-4
# Duality gap that may be rounding of logarithms of probabilities near one.
_ROUNDING = 16 * np.finfo(np.float64).eps
# Share of the least penalty without coefficients below which a lasso is lost in rounding.
_NO_PENALTY = 1e-16
# The size of a step, against the likelihood, whose change of the slope is rounding.
_NOISE = 1e-13
# Numbers that enter a curvature, up to which each step has a new one, and is a kernel's for two
# classes. (By coordinates more classes are slow: the same number may be added to all of them.)
_SMALL = 2**17
# Its steps, before exact ones are taken: those by coordinates are not, where there are ties.
_TRIED = 12
# Numbers of a large table: there degrees of freedom along a path are by a curvature that is there.
_LARGE = 2**19
# The share of absolute values below which the grid of penalties no longer starts higher.
_LEAST_RATIO = 1e-3


class LogisticProblem:
    """A penalised likelihood on `rows`, whose columns are centred by `mean`, scaled by `inverse`.

    `shares` are those of the classes in the weights. Columns that are `constant` stay out.
    """

    model: QuadraticModel | None

    def __init__(
        self,
        rows: LikelihoodRows,
        shares: FloatArray,
        scaling: tuple[FloatArray, FloatArray, BoolArray],
        *,
        l1_ratio: float,
        fit_intercept: bool,
    ) -> None:
        self.rows, self.fit_intercept, self.l1_ratio = rows, fit_intercept, l1_ratio
        self.scores, self.weight = rows.scores, rows.weight
        self.mean, self.inverse, self.constant = scaling
        self.shares = shares
        self.screens = isinstance(rows, MemoryRows)
        self._plain = bool(np.all(self.inverse == 1))  # whether its units are the columns' own
        self.solver = "newton"  # what was used last
        self.start()
        self.null = self.point.nll
        self.top = float(np.max(np.abs(self.Q), initial=0.0)) / max(l1_ratio, _LEAST_RATIO)

    # ---- where the walk is -----------------------------------------------------------------------

    def start(self) -> None:
        """Start from no coefficients."""
        self.move(np.zeros((self.scores, len(self.mean))), self.level_of_shares())

    def level_of_shares(self) -> FloatArray:
        """Return the intercepts without coefficients."""
        if not self.fit_intercept:
            return np.zeros(self.scores)
        logs = np.log(self.shares)
        return np.array([logs[1] - logs[0]]) if self.scores == 1 else logs - logs.mean()

    def glide(
        self, B: FloatArray, b0: FloatArray, model: QuadraticModel | None, alpha: float
    ) -> float:
        """Go to some coefficients with a curvature from elsewhere; return the step that is left.

        None is the own curvature. Infinite where it does not know the columns in use, or others
        should be: then the way there is `move`. Only the slopes are known afterwards.
        """
        rows, used = self.rows, np.any(B != 0, axis=0)
        if model is not None:
            self.W, self.model = model.W, self._adopted(model)
        if self.model is None or not np.all(used <= self._inside()):
            return np.inf
        self.B, self.b0, self._new = B, b0, False
        with np.errstate(over="ignore"):
            self.point = rows.slope_at(self.W, B[:, self.W] * self.inverse[self.W], b0)  # type: ignore[attr-defined]
        size = self._step(alpha, None)[3]
        if len(self.W) < len(self.mean):
            self.screen()
            outside = self.reach() > alpha * self.l1_ratio * (1 + 1e-9)
            outside[self.W] = False
            if np.any(outside & ~self.constant):
                return np.inf
        return size

    def move(self, B: FloatArray, b0: FloatArray, model: QuadraticModel | None = None) -> bool:
        """Go to some coefficients, in the problem's own units, with a curvature from elsewhere.

        Returns whether that curvature serves: it must know the columns in use.
        """
        self.model = None
        return self.move_on(B, b0, model)

    def move_on(self, B: FloatArray, b0: FloatArray, model: QuadraticModel | None) -> bool:
        """Go to coefficients nearby: without a curvature from elsewhere the own one is kept."""
        used = np.any(B != 0, axis=0)
        kept = None if self.model is None or not np.all(used <= self._inside()) else self.model
        self.B, self.b0, self.model = B, b0, kept
        self._new = False  # whether the curvature is that of the current fit
        self.refreshed = False  # whether it was computed since
        self.left, self.level = np.inf, False  # the last step's size, and whether it fell no more
        ready = model is not None and np.count_nonzero(used[model.W]) == np.count_nonzero(used)
        if model is not None and ready:
            self.W, self.model = model.W, self._adopted(model)
        elif kept is None:
            self.W = np.flatnonzero(used) if self.screens else np.arange(len(self.mean))
        self.point = self._at(B[:, self.W], b0)
        if not ready:
            self.screen()
        return ready

    def _inside(self) -> BoolArray:
        """Return which columns are in the working set."""
        found = np.zeros(len(self.mean), dtype=bool)
        found[self.W] = True
        return found

    def return_to(
        self, B: FloatArray, b0: FloatArray, point: LikelihoodPoint, model: QuadraticModel | None
    ) -> None:
        """Go back to an earlier fit on the same columns."""
        self.B, self.b0, self.point, self.model, self._new = B, b0, point, model, False

    def _adopted(self, model: QuadraticModel) -> QuadraticModel:
        """Return a curvature of the shared columns in the problem's own units."""
        return model if self._plain else model.scaled(self.inverse[model.W])

    def shared_model(self, most: int) -> QuadraticModel | None:
        """Return the curvature of the shared columns, for others, if it is not too large."""
        model = self.model
        if model is None or len(model.H) > most:
            return None
        return model if self._plain else model.scaled(self.own(np.ones(len(self.mean)))[model.W])

    def own(self, coef: FloatArray) -> FloatArray:
        """Return coefficients of the shared columns in the problem's own units."""
        return np.divide(coef, self.inverse, out=np.zeros_like(coef), where=~self.constant)

    @property
    def size(self) -> int:
        """Number of coefficients."""
        return self.B.size

    def _at(self, B: FloatArray, b0: FloatArray) -> LikelihoodPoint:
        with np.errstate(over="ignore", invalid="ignore"):
            return self.rows.at(self.W, B * self.inverse[self.W], b0)

    def screen(self) -> None:
        """Bring the products of all columns with the residuals up to date."""
        self.slope = self.point.slope
        if len(self.W) < len(self.mean):
            self.slope = self.rows.correlate(self.point)  # type: ignore[attr-defined]
        self.Q = (self.slope - np.outer(self.point.pull, self.mean)) * self.inverse

    def reach(self) -> FloatArray:
        """Return the largest product of each column with the residuals of any score."""
        return np.max(np.abs(self.Q), axis=0, initial=0.0)

    def look_at(self, W: IntArray) -> None:
        """Change the working set; `screen` comes first."""
        if np.array_equal(W, self.W):
            return
        self.W, self.model = W, None
        old = self.point
        self.point = LikelihoodPoint(old.nll, self.slope[:, W], old.pull, old.entropy, old.parts)

    def alpha_max(self) -> float:
        """Return the smallest alpha at which every coefficient is zero (l2: nearly zero)."""
        return self.top

    def penalty(self, alpha: float, B: FloatArray) -> float:
        """Return the penalty of some coefficients."""
        found = self.l1_ratio * float(np.abs(B).sum()) if self.l1_ratio > 0 else 0.0
        if self.l1_ratio < 1:
            found += 0.5 * (1 - self.l1_ratio) * float(np.vdot(B, B))
        return alpha * found

    def gap(self, alpha: float) -> float:
        """Return the relative duality gap; `screen` comes first.

        The dual point moves the fitted probabilities towards the observed ones until no product
        with an input exceeds its threshold. Without a penalty it is the size of a Newton step.
        """
        if alpha == 0:
            found = self._step(0.0, None)[3] if self.model is not None else np.inf
            return found / self.null if found > _ROUNDING else 0.0
        l1, l2 = alpha * self.l1_ratio, alpha * (1 - self.l1_ratio)
        most = float(np.max(np.abs(self.Q), initial=0.0))
        scale = 1.0 if l2 > 0 or most <= l1 else l1 / most
        B = self.B[:, self.W]
        dual = self.rows.dual(self.W, B * self.inverse[self.W], self.b0, self.point, scale)
        if l2 > 0:
            dual -= float(np.sum(np.maximum(np.abs(self.Q) - l1, 0.0) ** 2)) / (2 * l2)
        found = self.point.nll + self.penalty(alpha, B) - dual
        return found / self.null if found > _ROUNDING else 0.0

    # ---- steps -----------------------------------------------------------------------------------

    def _approximate(self) -> None:
        """Take the curvature at the current fit."""
        B = self.B[:, self.W] * self.inverse[self.W]
        curvature = self.rows.curvature(self.W, B, self.b0)
        self.model = self._adopted(QuadraticModel(self.W, *curvature.reduced(self.fit_intercept)))
        self._new = self.refreshed = True

    def _step(
        self, alpha: float, free: BoolArray | None
    ) -> tuple[FloatArray, FloatArray, float, float]:
        """Return the step to the minimum of the quadratic, the intercepts', its gain and its size.

        The size is half the square of the step by the curvature: near the minimum it is the gain,
        without the rounding. With `free` only these coefficients move, without a penalty.
        """
        model = self.model
        assert model is not None
        T, m = self.scores, len(self.W)
        pull, cross, solved, H = self.point.pull, model.cross, model.solved, model.H
        b = self.B[:, self.W].ravel()
        size = 0.5 * float(pull @ solved @ pull) if self.fit_intercept else 0.0
        g = model.slope(self.point, self.inverse[self.W], self.fit_intercept)
        if free is None and alpha * self.l1_ratio > _NO_PENALTY * self.top:
            target = lasso_minimum(H, g, b, alpha * self.l1_ratio, alpha * (1 - self.l1_ratio))
        else:
            l2 = alpha * (1 - self.l1_ratio) if free is None else 0.0
            target = smooth_minimum(H, g, b, l2, m, None if free is None else free.ravel())
        step = target - b
        square = 0.5 * float(step @ H @ step)
        gained = size + float(g @ step) - square
        if free is None:
            gained -= self.penalty(alpha, target) - self.penalty(alpha, b)
        shift = solved @ (pull - cross.T @ step) if self.fit_intercept else np.zeros(T)
        return step.reshape(T, m), shift, max(gained, 0.0), size + square

    def _go(
        self,
        alpha: float,
        step: FloatArray,
        shift: FloatArray,
        gained: float,
        free: Any,
        telling: bool,
    ) -> float | None:
        """Go along the step as far as the objective falls; return the fall, None if it does not.

        `telling` says that the step is long enough to learn from.
        """

        def value(point: LikelihoodPoint, B: FloatArray) -> float:
            return point.nll + (self.penalty(alpha, B) if free is None else 0.0)

        before_B = self.B[:, self.W]
        before = value(self.point, before_B)
        length = 1.0
        for _ in range(_HALVINGS if self._new else 1):
            B, b0 = before_B + length * step, self.b0 + length * shift
            point = self._at(B, b0)
            now = value(point, B)
            if now <= before - _LEVEL * length * gained + 1e-14 * self.null:
                if telling:
                    self._learn(length * step, point)
                self._new = False
                self.B[:, self.W], self.b0, self.point = B, b0, point
                return before - now
            length /= 2
        return None

    def _learn(self, step: FloatArray, there: LikelihoodPoint) -> None:
        """Correct the curvature by a step to another point."""
        model = self.model
        assert model is not None
        frame = self.inverse[self.W], self.fit_intercept
        before, after = (model.slope(each, *frame) for each in (self.point, there))
        self.model = model.learnt(step.ravel(), before - after)

    def forget_curvature(self) -> None:
        """Have the curvature made anew at the next step."""
        self.model = None

    def _is_slow(self, size: float, last: float, small: float) -> bool:
        """Return whether a new curvature would save more steps than it costs.

        Steps get shorter by a constant factor with an old one: that tells how many are needed.
        """
        if size >= last:
            return True
        m, n = len(self.W), max(self.rows.count, 1)
        q = m * self.scores
        # In multiplications; what is done with a number of the slope or the curvature, measured.
        step = n * self.scores * (4 * m + 60) + (self.rows.count > 0) * q**2 * (150 + q / 6)
        cost = self.rows.pairs * n * m * (m + 4) / step
        return bool(np.log(size / small) > 2 * (cost + 1) * np.log(last / size))

    def is_small(self, m: int) -> bool:
        """Return whether steps on m columns have each a curvature of their own."""
        rows = self.rows
        if not isinstance(rows, MemoryRows) or is_sparse(rows.columns.A):
            return False
        return 0 < rows.count * m * rows.pairs <= _SMALL

    @property
    def is_large(self) -> bool:
        """Whether a sum over the rows takes longer than most of what is done with it."""
        return self.rows.count * len(self.mean) > _LARGE

    def _descend_small(self, alpha: float, small: float, max_iter: int) -> int:
        rows, W = self.rows, self.W
        assert isinstance(rows, MemoryRows)
        n, m = rows.count, len(W)
        b, b0 = self.B[0, W].copy(), self.b0.copy()
        own, level, residual, slope = np.empty(n), np.empty(n), np.empty(n), np.empty(m)
        Z = np.ascontiguousarray(rows.of(W).T)
        numbers = np.array([small, self.null, self.weight, rows.ordinary, self.fit_intercept])
        penalty = alpha * self.l1_ratio, alpha * (1 - self.l1_ratio)
        done, self.left, self.level, *sums = newton.descend(
            Z, rows.codes, rows.v, b, b0, self.inverse[W], *penalty, numbers, max_iter,
            own, level, residual, slope,
        )  # fmt: skip
        nll, entropy, pull = (each / self.weight for each in sums)
        self.B[0, W], self.b0, self.model = b, b0, None
        slopes = slope[None] / self.weight
        parts = [(own, level, residual[None])]
        self.point = LikelihoodPoint(nll, slopes, np.array([pull]), entropy, parts)
        return int(done)

    def descend(self, alpha: float, small: float, max_iter: int, free: Any = None) -> int:
        """Take steps on the working set until they are small; return their number.

        Probabilities near zero may drift on where the objective is level: that ends it too.
        """
        tried = 0
        small_table = self.is_small(len(self.W))
        if free is None and alpha > 0 and small_table and self.scores == 1:
            done = self._descend_small(alpha, small, min(max_iter, _TRIED))
            if self.left <= small or done >= max_iter:
                return done
            tried = done
        if self.model is None:
            self._approximate()
        last = np.inf
        for done in range(tried, max_iter):
            step, shift, gained, size = self._step(alpha, free)
            if size > small and not self._new:
                slow = (small_table and done > tried) or self._is_slow(size, last, small)
            else:
                slow = False
            if slow:
                self._approximate()
                step, shift, gained, size = self._step(alpha, free)
            self.left, self.level = size, False
            if size <= small:
                return done
            fall = self._go(alpha, step, shift, gained, free, size > _NOISE * self.null)
            if fall is None and not self._new:
                self._approximate()
                last = np.inf
                continue
            if fall is None or fall <= _LEVEL * small:
                self.level = True
                return done + 1
            last = size
        return max_iter

    def freedom(self, alpha: float, *, near: bool = False) -> float:
        """Return the degrees of freedom of the coefficients.

        They are the number of those that are not zero, each counting as much as the squares in the
        penalty leave of it: by the curvature here, or with `near` in large tables by one near.
        """
        if self.l1_ratio == 1 or alpha == 0:
            return float(np.count_nonzero(self.B))
        if self.model is None or not (self._new or (near and self.is_large)):
            self._approximate()
        assert self.model is not None
        used = np.flatnonzero(self.B[:, self.W].ravel())
        return self.model.freedom(used, alpha * (1 - self.l1_ratio))
